/**
 * Values as keys, and copies of values.
 *
 * Boundary: walks lists and objects; says nothing about prompts (`../prompt/render.ts`) or JSON (`json.ts`).
 *
 * C1: two values have the same canonical text exactly where `==` calls them equal (deep, whatever the order of keys).
 * C2: a capability is never compared, and a cycle or a nesting beyond `MAX_DEPTH` is a failure.
 */
import { Fail } from "../failure.ts";
import { capabilityIsNotData, MAX_DEPTH } from "../value/json.ts";
import { Capability, Labelled, List, type Obj, type Raw, type Value } from "../value/value.ts";
import { room, roomForItems } from "./args.ts";
import type { Runtime } from "./builtin.ts";

/** The canonical text of a value and the labels of all that is in it. */
export function canonicalKey(value: Value, rt: Runtime): { text: string; labels: number } {
    let labels = 0;
    const above = new Set<Raw>();
    const write = (v: Value, depth: number): string => {
        if (v instanceof Labelled) {
            labels = rt.labels.union(labels, v.l);
            v = v.v;
        }
        if (typeof v === "string") return JSON.stringify(v);
        if (v === null || typeof v !== "object") return String(v);
        if (v instanceof Capability) throw capabilityIsNotData(v);
        enter(above, v, depth, labels);
        const text =
            v instanceof List
                ? `[${v.items.map((item) => write(item, depth + 1)).join(",")}]`
                : `{${[...v.shape.keys]
                      .sort()
                      .map((key) => `${JSON.stringify(key)}:${write((v as Obj).get(key) as Value, depth + 1)}`)
                      .join(",")}}`;
        above.delete(v);
        room(rt, text.length);
        return text;
    };
    const text = write(value, 0);
    return { text, labels };
}

/** A deep copy that shares nothing with its original; what was shared inside is shared inside the copy. Labels stay where they are. */
export function copyOf(value: Raw, rt: Runtime): Raw {
    const made = new Map<Raw, Raw>();
    const above = new Set<Raw>();
    const copy = (v: Value, depth: number): Value => {
        if (v instanceof Labelled) return new Labelled(copy(v.v, depth) as Raw, v.l);
        if (v === null || typeof v !== "object") return v;
        if (v instanceof Capability) throw capabilityIsNotData(v);
        const known = made.get(v);
        if (known !== undefined) return known;
        enter(above, v, depth, 0);
        let out: Raw;
        if (v instanceof List) {
            roomForItems(rt, v.items.length);
            out = rt.heap.list(v.items.map((item) => copy(item, depth + 1)));
        } else {
            roomForItems(rt, v.slots.length);
            out = rt.heap.object(v.shape.keys.map((key, slot) => [key, copy((v as Obj).slots[slot] as Value, depth + 1)] as const));
        }
        above.delete(v);
        made.set(v, out);
        return out;
    };
    return copy(value, 0) as Raw;
}

function enter(above: Set<Raw>, v: Raw, depth: number, labels: number): void {
    if (above.has(v)) throw new Fail("value", "this value contains itself", { labels });
    if (depth > MAX_DEPTH) throw new Fail("value", `this value is nested more than ${MAX_DEPTH} deep`, { labels });
    above.add(v);
}
