/**
 * Between values and JSON.
 *
 * JSO6: going out collects the labels of everything met; a capability, a cycle, a nesting beyond `MAX_DEPTH` or a size beyond `MAX_SIZE` is a
 *     failure, never text. (A value whose parts are shared can be exponentially larger as JSON than it is in memory.)
 */
import { type Json, withArticle } from "@remit/language";
import { violation } from "../effect/broken.ts";
import { Fail } from "../effect/failure.ts";
import type { Labels } from "./label.ts";
import { Capability, type Heap, heldIn, Labelled, List, MAX_ITEMS, MAX_STRING, type Obj, type Raw, type Value } from "./value.ts";

export const MAX_DEPTH = 500;
/** About how many bytes one value may take as JSON: 200 for each list and object in it, 8 for each other value, 2 for each UTF-16 unit. */
export const MAX_SIZE = 128 * 1024 * 1024;

/** Why a value that comes from outside is not let in: a text or a list in it is larger than any that a program makes; null where none is. */
export function outsized(json: Json): string | null {
    const rest: Json[] = [json];
    const isMore = (one: Json): boolean => typeof one === "string" || (typeof one === "object" && one !== null);
    for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
        if (typeof one === "string" && one.length > MAX_STRING)
            return `a string may hold ${MAX_STRING} characters, and this one has ${one.length}`;
        if (one === null || typeof one !== "object") continue;
        if (Array.isArray(one) && one.length > MAX_ITEMS) return `a list may hold ${MAX_ITEMS} items, and this one has ${one.length}`;
        // A list is gone through by itself: the names of its places would be most of the work.
        if (!Array.isArray(one)) for (const key of Object.keys(one)) if (key.length > MAX_STRING) rest.push(key);
        for (const item of Array.isArray(one) ? one : Object.values(one)) if (isMore(item)) rest.push(item);
    }
    return null;
}

export function fromJson(json: Json, heap: Heap, depth = 0): Raw {
    if (json === null || typeof json !== "object") return json;
    if (depth > MAX_DEPTH) throw new Fail("value", `this value is nested more than ${MAX_DEPTH} deep`);
    if (Array.isArray(json)) return heap.list(json.map((item) => fromJson(item, heap, depth + 1)));
    return heap.object(Object.keys(json).map((key) => [key, fromJson(json[key] as Json, heap, depth + 1)] as const));
}

/** A value made from JSON with further origins on parts of it, by JSON Pointer (RFC 6901); pointers that lead nowhere label the whole. */
export function labelParts(root: Raw, parts: { readonly [pointer: string]: readonly string[] }, labels: Labels): Value {
    let whole: Value = root;
    for (const [pointer, origins] of Object.entries(parts)) {
        const l = labels.of(origins);
        if (l === 0) continue;
        const keys =
            pointer === ""
                ? []
                : pointer
                      .slice(1)
                      .split("/")
                      .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
        if (!labelAt(root, keys, l, labels))
            whole = whole instanceof Labelled ? new Labelled(whole.v, labels.union(whole.l, l)) : new Labelled(whole, l);
    }
    return whole;
}

function labelAt(root: Raw, keys: readonly string[], l: number, labels: Labels): boolean {
    let at: Raw = root;
    for (let i = 0; i < keys.length; i++) {
        const key = keys[i] as string;
        const slot: number | undefined =
            at instanceof List
                ? /^(?:0|[1-9][0-9]*)$/.test(key)
                    ? Number(key)
                    : undefined
                : isObj(at)
                  ? at.shape.index.get(key)
                  : undefined;
        const held: Value[] | null = at instanceof List ? at.items : isObj(at) ? at.slots : null;
        if (slot === undefined || held === null || slot >= held.length) return false;
        const value = held[slot] as Value;
        const raw = value instanceof Labelled ? value.v : value;
        if (i === keys.length - 1) {
            held[slot] = new Labelled(raw, value instanceof Labelled ? labels.union(value.l, l) : l);
            return true;
        }
        at = raw;
    }
    return false;
}

function isObj(v: Raw): v is Obj {
    return v !== null && typeof v === "object" && "shape" in v;
}

/** What a walk through a value tells its run: labels that it met, and work as it goes. */
export interface Walking {
    readonly labels: Labels;
    work(units: number): void;
}

/** Plain JSON of a value, the union of all labels in it, and its size in bytes. Objects come out with a null prototype. */
export function toJson(value: Value, run: Walking): { json: Json; labels: number; size: number } {
    // The usual case, and nothing to walk through.
    const plain = value instanceof Labelled ? value.v : value;
    if (plain === null || typeof plain === "boolean" || (typeof plain === "number" && Number.isFinite(plain)))
        return { json: plain, labels: value instanceof Labelled ? value.l : 0, size: 8 };
    if (typeof plain === "string" && 8 + 2 * plain.length <= MAX_SIZE)
        return { json: plain, labels: value instanceof Labelled ? value.l : 0, size: 8 + 2 * plain.length };
    const walk = new Walk(run);
    const json = walk.of(value, 0);
    return { json, labels: walk.met, size: walk.size };
}

class Walk {
    met = 0;
    size = 0;
    private readonly labels: Labels;
    private readonly run: Walking;
    /** Lists and objects around the present one. */
    private top: List | Obj | null = null;
    private open: Set<List | Obj> | null = null;

    constructor(run: Walking) {
        this.run = run;
        this.labels = run.labels;
    }

    of(v: Value, depth: number): Json {
        if (v instanceof Labelled) {
            this.met = this.labels.union(this.met, v.l);
            v = v.v;
        }
        this.size += typeof v === "string" ? 8 + 2 * v.length : v !== null && typeof v === "object" ? 200 : 8;
        if (this.size > MAX_SIZE) throw new Fail("limit.bytes", `one value may take ${MAX_SIZE} bytes as JSON`, { here: true });
        if (typeof v === "number" && !Number.isFinite(v)) throw new Fail("value", `${v} cannot be written as JSON`, { labels: this.met });
        // As JSON writes minus zero: a run that was saved in between gives the same.
        if (v === 0) return 0;
        if (v === null || typeof v !== "object") return v;
        if (v instanceof Capability) throw capabilityIsNotData(v, this.met);
        if (v === this.top || this.open?.has(v) === true) throw new Fail("value", "this value contains itself", { labels: this.met });
        if (depth > MAX_DEPTH) throw new Fail("value", `this value is nested more than ${MAX_DEPTH} deep`, { labels: this.met });
        if (depth === 0) {
            this.top = v;
            return this.inside(v, depth);
        }
        this.open ??= new Set();
        this.open.add(v);
        const out = this.inside(v, depth);
        this.open.delete(v);
        return out;
    }

    private inside(v: List | Obj, depth: number): Json {
        this.run.work(8 + (v instanceof List ? v.items : v.slots).length);
        this.met = this.labels.union(this.met, heldIn(this.labels, v));
        if (v instanceof List) return v.items.map((item) => this.of(item, depth + 1));
        const made: { [key: string]: Json } = Object.create(null);
        const { keys } = v.shape;
        for (let slot = 0; slot < keys.length; slot++) made[keys[slot] as string] = this.of(v.slots[slot] as Value, depth + 1);
        return made;
    }
}

/** `labels`: of what led to it. */
export function capabilityIsNotData(c: Capability, labels = 0): Fail {
    const message = `${c.name} is ${withArticle(c.kind)}, which is never data`;
    return violation({ why: "data", capability: c.name }, { message, labels });
}
