/**
 * What is certain of a value before the run: which origins it carries whatever way the program takes, and what is in it.
 *
 * Boundary: values and how they are joined; the walk over a function is `walk.ts`, clauses are `rules.ts`.
 *
 * VA1: a fact is in a value only if every run that gets there has it. Where two ways meet, what one of them does not have is dropped.
 * VA2: what a reference carries (`top`) holds whatever is put into the thing later; what is known of its inside (`fields`, `items`, `inner`)
 *     only while nothing else can change it, which `sharing.ts` says.
 * VA3: what is known grows with the text of the program and no faster: nesting and size are bounded, and less is known beyond.
 */
import type { Range } from "../../text/source.ts";
import type { Binding, FileScope } from "../../scope/model.ts";

/** Where something entered the program. */
export interface Source {
    /** The import, or agent. */
    readonly name: string;
    readonly file: FileScope;
    readonly range: Range;
}

/** `tool:Mail`; `!`: some origin that is not trusted; `r`: not every principal may read it; `r:["bob"]`: only these may; `p…`: what a parameter carries. */
export interface Fact {
    readonly key: string;
    readonly trusted?: boolean;
    readonly source?: Source;
    /** Names of the functions that it was returned by. */
    readonly via?: readonly string[];
    readonly readers?: readonly string[];
    /** In strict code: it is not in the value, but in what decided over it. */
    readonly decides?: true;
    readonly param?: { readonly index: number; readonly path: readonly string[]; readonly deep: boolean };
}

export type Facts = ReadonlyMap<string, Fact>;

/** What a capability's name stands for. */
export interface Cap {
    readonly binding: Binding;
    readonly file: FileScope;
}

export interface Val {
    /** What the value itself carries, and so everything that is read through it. */
    readonly top: Facts;
    /** What is certainly somewhere in it, besides `fields`. */
    readonly inner: Facts;
    /** What certain keys hold; of a list, what certain places from 0 do. */
    readonly fields: ReadonlyMap<string, Val> | null;
    /** What every item of a list has. */
    readonly items: Val | null;
    readonly is: "object" | "list" | "plain" | null;
    readonly cap: Cap | null;
    /** A literal text. */
    readonly text: string | null;
    /** A text that is certain to hold an address, whatever else is in it. */
    readonly address: boolean;
    /** It is what a parameter holds, or what stands in it at a path. */
    readonly param: { readonly index: number; readonly path: readonly string[] } | null;
    readonly depth: number;
    readonly weight: number;
}

export const NO_FACTS: Facts = new Map();

const MAX_DEPTH = 4;
const MAX_WEIGHT = 150;
const MAX_PATH = 3;
/** Functions that are told of the way of a fact. */
const MAX_VIA = 6;
/** The path of any item of a list. */
export const ITEM = "\u0000";

const BARE: Val = {
    top: NO_FACTS,
    inner: NO_FACTS,
    fields: null,
    items: null,
    is: null,
    cap: null,
    text: null,
    address: false,
    param: null,
    depth: 0,
    weight: 1,
};

/** Nothing is known of it. */
export const UNKNOWN: Val = BARE;
/** A number, a text, none, true or false without an origin. */
export const PLAIN: Val = { ...BARE, is: "plain" };
/** What a way that is never taken gives. */
export const NEVER: Val = { ...BARE };

export function textVal(text: string): Val {
    return { ...PLAIN, text, address: ADDRESS.test(text) };
}

/** What leads somewhere whatever stands before and behind it; a run counts more as an address, and nothing of this less. */
const ADDRESS = /:\/\/|[A-Za-z0-9]@[A-Za-z0-9]/;

export function capVal(cap: Cap): Val {
    return { ...BARE, cap };
}

/** A value that carries these and of which no more is known. */
export function carrying(top: Facts, is: Val["is"] = null): Val {
    return top.size === 0 ? (is === "plain" ? PLAIN : is === null ? UNKNOWN : { ...BARE, is }) : { ...BARE, top, is };
}

export function paramVal(index: number, path: readonly string[] = []): Val {
    const fact = paramFact(index, path, false);
    return { ...BARE, top: new Map([[fact.key, fact]]), param: { index, path } };
}

function paramFact(index: number, path: readonly string[], deep: boolean): Fact {
    return { key: `p${deep ? "*" : ""}${index}/${path.join("/")}`, param: { index, path, deep } };
}

export function union(a: Facts, b: Facts): Facts {
    if (b.size === 0 || a === b) return a;
    if (a.size === 0) return b;
    let out: Map<string, Fact> | null = null;
    for (const [key, fact] of b) {
        if (a.has(key)) continue;
        out ??= new Map(a);
        out.set(key, fact);
    }
    return out ?? a;
}

function common(a: Facts, b: Facts): Facts {
    if (a === b) return a;
    if (a.size === 0 || b.size === 0) return NO_FACTS;
    const out = new Map<string, Fact>();
    for (const [key, fact] of a) if (b.has(key)) out.set(key, fact);
    return out.size === a.size ? a : out;
}

/** Everything that is certainly carried somewhere in it: what the receiver of the whole gets. */
export function deep(v: Val): Facts {
    let all = union(v.top, v.inner);
    if (v.fields !== null) for (const field of v.fields.values()) all = union(all, deep(field));
    if (v.param !== null) {
        const fact = paramFact(v.param.index, v.param.path, true);
        all = union(all, new Map([[fact.key, fact]]));
    }
    return all;
}

/** The same with more that it carries. */
export function with_(v: Val, more: Facts): Val {
    const top = union(v.top, more);
    return top === v.top || v === NEVER ? v : { ...v, top };
}

/** What is left where something else may have changed its inside. */
export function shell(v: Val): Val {
    return v === NEVER || (v.fields === null && v.items === null && v.inner.size === 0 && v.param === null)
        ? v
        : { ...BARE, top: v.top, is: v.is, cap: v.cap, text: v.text };
}

export function objectVal(fields: ReadonlyMap<string, Val>, top: Facts = NO_FACTS): Val {
    return bounded({ ...BARE, top, fields, is: "object" });
}

/** `places`: what stands at certain places from 0. */
export function listVal(places: readonly Val[], items: Val, inner: Facts, top: Facts = NO_FACTS): Val {
    return bounded({ ...BARE, top, inner, items, is: "list", fields: new Map(places.map((v, i) => [String(i), v])) });
}

function bounded(v: Val): Val {
    let depth = 1 + (v.items?.depth ?? 0);
    let weight = 1 + (v.items?.weight ?? 0);
    for (const field of v.fields?.values() ?? []) {
        depth = Math.max(depth, 1 + field.depth);
        weight += field.weight;
    }
    if (depth <= MAX_DEPTH && weight <= MAX_WEIGHT) return { ...v, depth, weight };
    return { ...BARE, top: v.top, inner: deep(v), is: v.is };
}

/** What both ways give. */
export function join(a: Val, b: Val): Val {
    if (a === b || b === NEVER) return a;
    if (a === NEVER) return b;
    if (a === UNKNOWN || b === UNKNOWN) return UNKNOWN;
    const fields = a.fields === null || b.fields === null ? null : new Map<string, Val>();
    if (fields !== null)
        for (const [key, v] of a.fields as ReadonlyMap<string, Val>) {
            const other = b.fields?.get(key);
            if (other !== undefined) fields.set(key, join(v, other));
        }
    const same = a.param !== null && b.param !== null && a.param.index === b.param.index && sameFacts(a.top, b.top);
    return bounded({
        ...BARE,
        top: common(a.top, b.top),
        inner: a.inner.size === 0 && a.fields === null && a.param === null ? NO_FACTS : common(deep(a), deep(b)),
        fields,
        items: a.items === null || b.items === null ? null : join(a.items, b.items),
        is: a.is === b.is ? a.is : null,
        cap: a.cap !== null && a.cap.binding === b.cap?.binding ? a.cap : null,
        text: a.text === b.text ? a.text : null,
        address: a.address && b.address,
        param: same && a.param?.path.join("/") === b.param?.path.join("/") ? a.param : null,
    });
}

function sameFacts(a: Facts, b: Facts): boolean {
    if (a === b) return true;
    if (a.size !== b.size) return false;
    for (const key of a.keys()) if (!b.has(key)) return false;
    return true;
}

export function sameVal(a: Val, b: Val): boolean {
    if (a === b) return true;
    if (a === NEVER || b === NEVER || a.is !== b.is || a.text !== b.text || a.address !== b.address || a.cap?.binding !== b.cap?.binding)
        return false;
    if (!sameFacts(a.top, b.top) || !sameFacts(a.inner, b.inner)) return false;
    if (a.param?.index !== b.param?.index || a.param?.path.join("/") !== b.param?.path.join("/")) return false;
    if (a.items !== b.items && (a.items === null || b.items === null || !sameVal(a.items, b.items))) return false;
    if (a.fields === b.fields) return true;
    if (a.fields === null || b.fields === null || a.fields.size !== b.fields.size) return false;
    for (const [key, v] of a.fields) {
        const other = b.fields.get(key);
        if (other === undefined || !sameVal(v, other)) return false;
    }
    return true;
}

/** What reading a key, or a place of a list, gives. `ITEM`: any item. */
export function read(v: Val, key: string): Val {
    if (v === NEVER) return NEVER;
    if (v.param !== null) {
        const { index, path } = v.param;
        return path.length >= MAX_PATH ? carrying(v.top) : with_(paramVal(index, [...path, key]), v.top);
    }
    const found = (key === ITEM ? null : v.fields?.get(key)) ?? (key === ITEM || /^[0-9]+$/.test(key) ? v.items : null);
    return found === null || found === undefined ? carrying(v.top) : with_(found, v.top);
}

/** The same with another value at a path; what is not known for certain is forgotten. */
export function written(v: Val, path: readonly string[], value: Val): Val {
    const [key, ...rest] = path;
    if (key === undefined) return value;
    if (v === NEVER) return v;
    // An item of a list, or a key of a thing that is not known to have any: nothing else of it changes.
    const fields = new Map(v.fields ?? []);
    const at = fields.get(key);
    if (rest.length > 0 && at === undefined) return shell(v);
    fields.set(key, rest.length === 0 ? value : written(at as Val, rest, value));
    if (v.is === "list") return bounded({ ...BARE, top: v.top, fields, is: "list", items: v.items === null ? null : join(v.items, value) });
    return bounded({ ...BARE, top: v.top, fields, is: v.is });
}

/** A list with one more item. */
export function added(v: Val, item: Val): Val {
    if (v === NEVER) return v;
    if (v.is !== "list") return carrying(v.top);
    return bounded({ ...v, inner: union(v.inner, deep(item)), items: v.items === null ? null : join(v.items, item) });
}

/** What a function's value is where it is called with these. `name`: of the function, which it came through. */
export function given(v: Val, args: readonly Val[], name: string): Val {
    if (v === NEVER || (v.weight === 1 && v.top.size === 0 && v.inner.size === 0 && v.param === null)) return v;
    if (v.param !== null) return with_(at(args[v.param.index], v.param.path), giveFacts(v.top, args, name));
    const fields = v.fields === null ? null : new Map([...v.fields].map(([key, field]) => [key, given(field, args, name)]));
    return bounded({
        ...v,
        top: giveFacts(v.top, args, name),
        inner: giveFacts(v.inner, args, name),
        fields,
        items: v.items === null ? null : given(v.items, args, name),
    });
}

function at(arg: Val | undefined, path: readonly string[]): Val {
    let v = arg ?? UNKNOWN;
    for (const key of path) v = read(v, key);
    return v;
}

/** The same as what decides over something. */
export function deciding(facts: Facts): Facts {
    for (const fact of facts.values())
        if (fact.decides !== true) return new Map([...facts].map(([key, one]) => [key, { ...one, decides: true }]));
    return facts;
}

function giveFacts(facts: Facts, args: readonly Val[], name: string): Facts {
    let out: Facts = NO_FACTS;
    for (const [key, fact] of facts) {
        if (fact.param === undefined) out = union(out, through(new Map([[key, fact]]), name));
        else {
            const v = at(args[fact.param.index], fact.param.path);
            const found = fact.param.deep ? deep(v) : v.top;
            if (v !== NEVER) out = union(out, through(fact.decides === true ? deciding(found) : found, name));
        }
    }
    return out;
}

function through(facts: Facts, name: string): Facts {
    if (name === "") return facts;
    return new Map(
        [...facts].map(([key, fact]) => {
            const via = fact.via ?? [];
            return [
                key,
                via.length >= MAX_VIA || via[via.length - 1] === name || fact.source === undefined
                    ? fact
                    : { ...fact, via: [...via, name] },
            ];
        }),
    );
}

/** Whether it depends on what a parameter holds. */
export function isOpen(v: Val): boolean {
    if (v.param !== null) return true;
    for (const fact of v.top.values()) if (fact.param !== undefined) return true;
    for (const fact of v.inner.values()) if (fact.param !== undefined) return true;
    for (const field of v.fields?.values() ?? []) if (isOpen(field)) return true;
    return v.items !== null && isOpen(v.items);
}
