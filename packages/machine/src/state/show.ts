/**
 * Values as the ledger shows them.
 *
 * V6: unlike `toJson` it never fails: a capability shows as a reference, a cycle as `"[Circular]"`, what is nested too deep as `"[Deep]"`, what
 *     is beyond the size of one shown value as `"[Large]"`.
 */
import type { Json } from "@remit/language";
import type { Labels } from "../value/label.ts";
import { heldIn, Capability, Labelled, List, type Obj, type Value } from "../value/value.ts";

const MAX_DEPTH = 100;
/** Bytes, as in `toJson`. */
const MAX_SHOWN = 16 * 1024 * 1024;

/** `most`: bytes of what is shown. `cut`: something was left out. */
export function show(value: Value, labels: Labels, most = MAX_SHOWN): { json: Json; labels: number; size: number; cut: boolean } {
    let met = 0;
    let size = 0;
    let cut = false;
    const open = new Set<List | Obj>();
    const left = (instead: string): Json => {
        cut = true;
        return instead;
    };
    const walk = (given: Value, depth: number): Json => {
        let v = given;
        if (v instanceof Labelled) {
            met = labels.union(met, v.l);
            v = v.v;
        }
        size += typeof v === "string" ? 8 + 2 * v.length : v !== null && typeof v === "object" ? 200 : 8;
        if (size > most) return left("[Large]");
        if (typeof v === "number" && !Number.isFinite(v)) return String(v);
        if (v === 0) return 0;
        if (v === null || typeof v !== "object") return v;
        if (v instanceof Capability) return { $capability: { kind: v.kind, name: v.name } };
        if (open.has(v)) return left("[Circular]");
        if (depth > MAX_DEPTH) return left("[Deep]");
        open.add(v);
        let out: Json;
        met = labels.union(met, heldIn(labels, v));
        if (v instanceof List) {
            out = [];
            for (const item of v.items) {
                out.push(walk(item, depth + 1));
                if (size > most) break;
            }
        } else {
            const made: { [key: string]: Json } = Object.create(null);
            for (const [slot, key] of v.shape.keys.entries()) {
                made[key] = walk(v.slots[slot] as Value, depth + 1);
                if (size > most) break;
            }
            out = made;
        }
        open.delete(v);
        return out;
    };
    const json = walk(value, 0);
    return { json, labels: met, size, cut };
}
