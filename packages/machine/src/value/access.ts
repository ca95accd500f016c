/**
 * Reading and writing members and items.
 *
 * Boundary: own keys of objects and items of lists. Built-in properties (`length`, `summary`) are rows of the built-in table, which the
 * caller looks up; here they are what is left when no own key answers.
 *
 * ACC3: what is read through a labelled reference has its label; an index lends its label to what it chose.
 */
import { didYouMean, type Site, withArticle } from "@remit/language";
import { violation } from "../effect/broken.ts";
import { Fail } from "../effect/failure.ts";
import { aNameOf, type Joins, join } from "./operators.ts";
import { Capability, type Heap, Labelled, List, Obj, type Value } from "./value.ts";

/** How many keys a hint names, and how much of each. */
const SHOWN_KEYS = 8;
const SHOWN_UNITS = 40;

/** Keys that are looked at for the one that was meant. */
const LOOKED_AT = 500;

/** `l`: with the label of the object's keys, which the hint names. */
export function unknownProperty(key: string, object: Obj, at: Site | null, l: number, isIndexed = false): Fail {
    // Those of now: an object of many keys has a shape of its own, which grows.
    const { length } = object.shape.keys;
    const keys = object.shape.keys.slice(0, LOOKED_AT);
    const hint = (): string =>
        didYouMean(key, keys) ??
        `${length === 0 ? "the object is empty" : listed(keys, length)}; where it may be absent, ${optional(key, isIndexed)}`;
    return new Fail("value", `Unknown object property '${key}'`, { site: at, labels: l, hint });
}

/** How a key that some values do not have is read: one branch of an answer, `data` or `error`, say. */
const optional = (key: string, isIndexed: boolean): string =>
    !isIndexed && /^[A-Za-z_]\w*$/.test(key) && key.length <= SHOWN_UNITS ? `?.${key} gives none` : "get(key) gives none";

function listed(keys: readonly string[], length: number): string {
    const some = keys.slice(0, SHOWN_KEYS).map((one) => (one.length > SHOWN_UNITS ? `${one.slice(0, SHOWN_UNITS)}…` : one));
    return `it has ${some.join(", ")}${length > some.length ? `, and ${length - some.length} more` : ""}`;
}

/** `object[index]`: an item of a list by a whole number from 0, or an own key of an object by a string. */
export function readIndex(m: Joins, object: Value, index: Value, at: Site | null): Value {
    let l = 0;
    if (object instanceof Labelled) {
        l = object.l;
        object = object.v;
    }
    if (index instanceof Labelled) {
        l = m.labels.union(l, index.l);
        index = index.v;
    }
    if (object instanceof List) {
        if (typeof index !== "number" || !Number.isInteger(index) || index < 0)
            throw new Fail("value", "a list index must be a whole number from 0", { site: at, labels: l });
        const item = object.items[index];
        if (item === undefined)
            throw new Fail("value", `list index ${index} is out of range (length ${object.items.length})`, { site: at, labels: l });
        return join(m, item, l);
    }
    if (object instanceof Obj) {
        if (typeof index !== "string") throw new Fail("value", "an object is indexed by a string", { site: at, labels: l });
        const value = object.get(index);
        if (value === undefined) throw unknownProperty(index, object, at, m.labels.union(l, object.keyLabel), true);
        return join(m, value, l);
    }
    throw new Fail("value", `${aNameOf(object)} cannot be indexed`, { site: at, labels: l });
}

/** `object[index] = value`. A list does not grow this way; an object gets the key, and its keys the label of the index. */
export function writeIndex(m: Joins & { readonly heap: Heap }, object: Value, index: Value, value: Value, at: Site | null): void {
    let l = 0;
    let chosen = 0;
    if (object instanceof Labelled) {
        l = object.l;
        object = object.v;
    }
    if (index instanceof Labelled) {
        chosen = index.l;
        l = m.labels.union(l, chosen);
        value = join(m, value, chosen);
        index = index.v;
    }
    try {
        if (object instanceof List) {
            if (typeof index !== "number" || !Number.isInteger(index) || index < 0)
                throw new Fail("value", "a list index must be a whole number from 0", { labels: l });
            if (index >= object.items.length)
                throw new Fail("value", `list index ${index} is out of range (length ${object.items.length})`, { labels: l });
            m.heap.setItem(object, index, value);
        } else if (object instanceof Obj) {
            if (typeof index !== "string") throw new Fail("value", "an object is indexed by a string", { labels: l });
            if (chosen === 0) m.heap.set(object, index, value);
            else m.heap.setChosen(object, index, value, m.labels.union(object.keyLabel, chosen));
        } else throw new Fail("value", `an item of ${aNameOf(object)} cannot be assigned`, { labels: l });
    } catch (error) {
        throw located(error, at);
    }
}

/** `object.key = value`. */
export function writeMember(heap: Heap, object: Value, key: string, value: Value, at: Site | null): void {
    const l = object instanceof Labelled ? object.l : 0;
    const target = object instanceof Labelled ? object.v : object;
    if (!(target instanceof Obj)) {
        if (target instanceof Capability)
            throw violation(
                { why: "data", capability: target.name },
                { message: `${target.name} is ${withArticle(target.kind)} and cannot be changed`, site: at, labels: l },
            );
        throw new Fail("value", `property '${key}' of ${aNameOf(target)} cannot be assigned`, {
            site: at,
            labels: l,
        });
    }
    try {
        heap.set(target, key, value);
    } catch (error) {
        throw located(error, at);
    }
}

/** A failure with its place, where it has none yet. Anything else is passed on as it is. */
export function located(error: unknown, at: Site | null): unknown {
    if (error instanceof Fail && error.site === null) error.site = at;
    return error;
}
