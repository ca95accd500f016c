/**
 * Between values and JSON.
 *
 * V6: going out collects the labels of everything met; a capability, a cycle or a nesting beyond `MAX_DEPTH` is a failure, never text.
 */
import type { Json } from "@remit/language";
import { Fail } from "../failure.ts";
import type { Labels } from "./label.ts";
import { Capability, type Heap, Labelled, List, type Obj, type Raw, type Value } from "./value.ts";

export const MAX_DEPTH = 500;

export function fromJson(json: Json, heap: Heap): Raw {
    if (json === null || typeof json !== "object") return json;
    if (Array.isArray(json)) return heap.list(json.map((item) => fromJson(item, heap)));
    return heap.object(Object.keys(json).map((key) => [key, fromJson(json[key] as Json, heap)] as const));
}

/** Plain JSON of a value and the union of all labels in it. Objects come out with a null prototype. */
export function toJson(value: Value, labels: Labels): { json: Json; labels: number } {
    let met = 0;
    const open = new Set<List | Obj>();
    const walk = (v: Value, depth: number): Json => {
        if (v instanceof Labelled) {
            met = labels.union(met, v.l);
            v = v.v;
        }
        if (typeof v === "number" && !Number.isFinite(v)) throw new Fail("value", `${v} cannot be written as JSON`, { labels: met });
        if (v === null || typeof v !== "object") return v;
        if (v instanceof Capability) throw capabilityIsNotData(v);
        if (open.has(v)) throw new Fail("value", "this value contains itself", { labels: met });
        if (depth > MAX_DEPTH) throw new Fail("value", `this value is nested more than ${MAX_DEPTH} deep`, { labels: met });
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

export function capabilityIsNotData(c: Capability): Fail {
    return new Fail("violation.capability", `${c.name} is a ${c.kind}, which is never data`, {
        hint: "call one of its methods and use the result",
    });
}
