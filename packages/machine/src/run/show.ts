/**
 * Values as the ledger shows them.
 *
 * V6: unlike `toJson` it never fails: a capability shows as a reference, a cycle as `"[Circular]"`, what is nested too deep as `"[Deep]"`.
 */
import type { Json } from "@remit/language";
import type { Labels } from "../value/label.ts";
import { Capability, Labelled, List, type Obj, type Value } from "../value/value.ts";

const MAX_DEPTH = 100;

export function show(value: Value, labels: Labels): { json: Json; labels: number } {
    let met = 0;
    const open = new Set<List | Obj>();
    const walk = (given: Value, depth: number): Json => {
        let v = given;
        if (v instanceof Labelled) {
            met = labels.union(met, v.l);
            v = v.v;
        }
        if (typeof v === "number" && !Number.isFinite(v)) return String(v);
        if (v === null || typeof v !== "object") return v;
        if (v instanceof Capability) return { $capability: { kind: v.kind, name: v.name } };
        if (open.has(v)) return "[Circular]";
        if (depth > MAX_DEPTH) return "[Deep]";
        open.add(v);
        let out: Json;
        if (v instanceof List) out = v.items.map((item) => walk(item, depth + 1));
        else {
            const made: { [key: string]: Json } = Object.create(null);
            v.shape.keys.forEach((key, slot) => {
                made[key] = walk((v as Obj).slots[slot] as Value, depth + 1);
            });
            out = made;
        }
        open.delete(v);
        return out;
    };
    const json = walk(value, 0);
    return { json, labels: met };
}
