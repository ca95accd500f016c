/**
 * Values as keys, and copies of values.
 *
 * Boundary: walks lists and objects; says nothing about prompts (`../prompt/render.ts`) or JSON (`json.ts`).
 *
 * CI1: two values have the same key exactly where `==` calls them equal (deep, whatever the order of keys).
 * CI2: a capability is never compared, and a cycle or a nesting beyond `MAX_DEPTH` is a failure.
 * CI3: what is shared is looked at once: the work is in proportion to what is in memory, not to the text it would make.
 */

import { Fail } from "../effect/failure.ts";
import { capabilityIsNotData, MAX_DEPTH } from "../value/json.ts";
import { Capability, heldIn, Labelled, List, type Obj, type Raw, type Value } from "../value/value.ts";
import { WORK } from "../value/work.ts";
import { roomForItems } from "./args.ts";
import type { Runtime } from "./builtin.ts";

interface Key {
    readonly key: number;
    /** Labels of all that is in the value. */
    readonly labels: number;
}

/** Numbers for values, one for all that are equal. */
export class Keys {
    private readonly rt: Runtime;
    private readonly plain = new Map<Raw, number>();
    /** By the keys of what is in them, in order; of objects with their names. */
    private readonly made = new Map<string, number>();
    private readonly known = new Map<Raw, Key>();
    private readonly above = new Set<Raw>();
    private next = 0;
    /** Labels met so far: those of a failure. */
    private met = 0;

    constructor(rt: Runtime) {
        this.rt = rt;
    }

    of(value: Value, depth = 0): Key {
        if (value instanceof Labelled) {
            this.met = this.rt.labels.union(this.met, value.l);
            const { key, labels } = this.of(value.v, depth);
            return { key, labels: this.rt.labels.union(value.l, labels) };
        }
        if (value === null || typeof value !== "object") {
            this.rt.work(WORK.values(1) + (typeof value === "string" ? WORK.chars(value.length) : 0));
            return { key: this.number(this.plain, value), labels: 0 };
        }
        if (value instanceof Capability) throw capabilityIsNotData(value, this.met);
        const known = this.known.get(value);
        if (known !== undefined) return known;
        enter(this.above, value, depth, this.met);
        let labels = heldIn(this.rt.labels, value);
        const inner = (item: Value): number => {
            const found = this.of(item, depth + 1);
            labels = this.rt.labels.union(labels, found.labels);
            return found.key;
        };
        const { items, names } = value instanceof List ? { items: value.items, names: null } : sorted(value);
        this.rt.work(WORK.values(2 * (1 + items.length)));
        let text = names === null ? "[" : "{";
        for (let at = 0; at < items.length; at++) {
            if (names !== null) text += `${inner(names[at] as string)}:`;
            text += `${inner(items[at] as Value)},`;
        }
        this.above.delete(value);
        const key = { key: this.number(this.made, text), labels };
        this.known.set(value, key);
        return key;
    }

    private number<T>(numbers: Map<T, number>, of: T): number {
        let number = numbers.get(of);
        if (number === undefined) {
            number = this.next++;
            numbers.set(of, number);
        }
        return number;
    }
}

function sorted(obj: Obj): { items: Value[]; names: string[] } {
    const names = [...obj.shape.keys].sort();
    return { items: names.map((name) => obj.get(name) as Value), names };
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
        let out: List | Obj;
        const size = v instanceof List ? v.items.length : v.slots.length;
        roomForItems(rt, size);
        rt.work(WORK.values(2) + size);
        if (v instanceof List) out = rt.heap.list(v.items.map((item) => copy(item, depth + 1)));
        else {
            const of = v;
            out = rt.heap.object(of.shape.keys.map((key, slot) => [key, copy(of.slots[slot] as Value, depth + 1)] as const));
            out.keyLabel = of.keyLabel;
        }
        out.label = v.label;
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
