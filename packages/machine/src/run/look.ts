/**
 * Looking into values for a debugger: one line each, their parts on demand, a page at a time.
 *
 * Boundary: reading only; nothing here changes a value, counts a step or writes an event.
 *
 * LO1: whatever the size and shape of a value, one look costs at most what its caps allow: `MAX_TEXT` units of text, `MAX_PAGE` parts,
 *     `MAX_WALK` parts walked for the origins inside.
 *     What must not be shown is taken out before anything is cut, so that no beginning of it is left before a cut.
 * LO2: the origins of a part are those that reading it gives: its own and those of everything it was reached through (V3).
 */
import { heldIn, Capability, CAPABILITY_KINDS, Labelled, List, type Value } from "../value/value.ts";
import { count, flag, list, one, orNull, ref, says, shape, type Told, text } from "../shape/build.ts";
import type { Labels } from "../value/label.ts";
import { methodsOf } from "../state/delegations.ts";

export const MAX_TEXT = 200;
export const MAX_PAGE = 1000;
export const MAX_WALK = 2000;
/** Longest text of a string that is looked at by itself. */
export const MAX_WHOLE = 65_536;

export const RIGHT = shape(
    { holder: text, from: text, layers: count, methods: says(orNull(list(text)), "null: all of them"), live: flag },
    {},
);
/** What a capability was given with. `live` false: the block or call it was given for has ended. */
export type RightView = Told<typeof RIGHT>;

export const VALUE = shape(
    {
        name: text,
        type: one(["none", "boolean", "number", "string", "list", "object", "capability"]),
        text: says(text, "one line, cut where it is long"),
        /** Items of a list, keys of an object, UTF-16 units of a string; 0 for others. */
        size: count,
        /** Of the value as it is read here. */
        origins: list(text),
        /** As far as `MAX_WALK` parts go. */
        inside: says(list(text), "further origins of parts inside it"),
    },
    {
        /** For a capability. */
        kind: one(CAPABILITY_KINDS),
        /** For a capability that a principal was given; absent where the run's own principal holds it. */
        right: ref<RightView>("Right"),
    },
);
export type ValueView = Told<typeof VALUE>;
export type ValueType = ValueView["type"];

/**
 * The beginning of a text without what must not be shown: as far as `room` units of the text go and then to the end of what begins there. `more`:
 * something of the text comes after it.
 */
export type Clean = (text: string, room: number) => { readonly text: string; readonly more: boolean };

/** What looking needs of a run. */
export interface Looker {
    readonly labels: Labels;
    readonly alive: ReadonlySet<number>;
    /** Absent: everything may be shown. */
    readonly clean?: Clean;
}

/** `inherited`: the label of what the value was reached through. */
export function viewOf(at: Looker, name: string, value: Value, inherited = 0): ValueView {
    const { labels } = at;
    const { raw, label } = opened(at, value, inherited);
    const text = preview(at, raw, MAX_TEXT);
    const size = typeof raw === "string" ? raw.length : raw instanceof List ? raw.items.length : isObject(raw) ? raw.shape.keys.length : 0;
    const origins = labels.origins(label);
    const inside = labels.origins(within(labels, raw)).filter((origin) => !origins.includes(origin));
    const base = { name, type: typeOf(raw), text, size, origins, inside };
    if (!(raw instanceof Capability)) return base;
    const { right } = raw;
    if (right === null) return { ...base, kind: raw.kind };
    const alive = (tokens: readonly number[]): boolean => tokens.every((token) => at.alive.has(token));
    const live = alive(right.alive) && right.ways.some((way) => alive(way.alive));
    const layers = right.only.length + Math.max(0, ...right.ways.map((way) => way.layers.length));
    return { ...base, kind: raw.kind, right: { holder: right.holder, from: right.from, layers, methods: methodsOf(right), live } };
}

/** The part of a value at a key or index; undefined where there is none. `label`: what reading it joins. */
export function partOf(
    at: Looker,
    value: Value,
    key: string | number,
    inherited: number,
): { readonly value: Value; readonly label: number } | undefined {
    const { raw, label } = opened(at, value, inherited);
    if (raw instanceof List) {
        const index = typeof key === "number" ? key : /^\d{1,9}$/.test(key) ? Number(key) : -1;
        const item = raw.items[index];
        return item === undefined ? undefined : { value: item, label };
    }
    if (!isObject(raw)) return undefined;
    const own = raw.get(String(key));
    return own === undefined ? undefined : { value: own, label };
}

/** Parts of a list or object in order, `from` (0-based) on, at most `count`. */
export function partsOf(at: Looker, value: Value, inherited: number, from: number, count: number): ValueView[] {
    const { raw, label } = opened(at, value, inherited);
    const start = Math.max(0, Math.floor(from) || 0);
    const end = start + Math.min(MAX_PAGE, Math.max(0, Math.floor(count) || 0));
    if (raw instanceof List) return raw.items.slice(start, end).map((item, i) => viewOf(at, `[${start + i}]`, item, label));
    if (!isObject(raw)) return [];
    return raw.shape.keys.slice(start, end).map((key, i) => viewOf(at, key, raw.slots[start + i] as Value, label));
}

/** The whole of a string, up to `MAX_WHOLE`; the one line of anything else. */
export function wholeOf(at: Looker, value: Value): string {
    const { raw } = opened(at, value, 0);
    return typeof raw === "string" ? quoted(at, raw, MAX_WHOLE) : preview(at, raw, MAX_WHOLE);
}

function opened(at: Looker, value: Value, inherited: number): { raw: Exclude<Value, Labelled>; label: number } {
    if (!(value instanceof Labelled)) return { raw: value, label: inherited };
    return { raw: value.v, label: at.labels.union(inherited, value.l) };
}

function isObject(raw: Exclude<Value, Labelled>): raw is Exclude<Value, Labelled | null | boolean | number | string | List | Capability> {
    return raw !== null && typeof raw === "object" && !(raw instanceof List) && !(raw instanceof Capability);
}

function typeOf(raw: Exclude<Value, Labelled>): ValueType {
    if (raw === null) return "none";
    if (raw instanceof Capability) return "capability";
    if (raw instanceof List) return "list";
    return typeof raw as "boolean" | "number" | "string" | "object";
}

/** The union of the labels inside a value. */
function within(labels: Labels, value: Value): number {
    if (value === null || typeof value !== "object") return 0;
    let met = 0;
    let walked = 0;
    const seen = new Set<object>();
    const rest: Value[] = [value];
    for (let v = rest.pop(); v !== undefined && walked < MAX_WALK; v = rest.pop()) {
        walked++;
        let raw = v;
        if (raw instanceof Labelled) {
            met = labels.union(met, raw.l);
            raw = raw.v;
        }
        if (raw === null || typeof raw !== "object" || raw instanceof Capability || raw instanceof Labelled || seen.has(raw)) continue;
        seen.add(raw);
        const parts = raw instanceof List ? raw.items : raw.slots;
        met = labels.union(met, heldIn(labels, raw));
        for (let i = Math.min(parts.length, MAX_WALK - walked) - 1; i >= 0; i--) rest.push(parts[i] as Value);
    }
    return met;
}

/** The first `room` units of a text as it may be shown. */
export function begun(at: Looker, text: string, room: number): { readonly text: string; readonly more: boolean } {
    const own = at.clean === undefined ? { text, more: false } : at.clean(text, room);
    return own.text.length > room ? { text: own.text.slice(0, room), more: true } : own;
}

function quoted(at: Looker, text: string, room: number): string {
    const { text: cut, more } = begun(at, text, room);
    return `${JSON.stringify(cut)}${more ? "…" : ""}`;
}

/** JSON's look, one line, within so much room. */
function preview(at: Looker, value: Value, room: number): string {
    let out = "";
    const put = (text: string): boolean => {
        out += text;
        return out.length < room;
    };
    const walk = (given: Value, depth: number): boolean => {
        const v = given instanceof Labelled ? given.v : given;
        if (v === null) return put("none");
        if (typeof v === "string") return put(quoted(at, v, Math.max(8, room - out.length)));
        if (typeof v === "number" || typeof v === "boolean") return put(Object.is(v, -0) ? "-0" : begun(at, String(v), room).text);
        if (v instanceof Capability) return put(`<${v.kind} ${v.agent === null ? "" : `${v.agent}.`}${v.name}>`);
        const list = v instanceof List;
        const size = list ? v.items.length : v.slots.length;
        if (size === 0) return put(list ? "[]" : "{}");
        if (depth > 4) return put(list ? "[…]" : "{…}");
        if (!put(list ? "[" : "{ ")) return false;
        for (let i = 0; i < size; i++) {
            if (i > 0 && !put(", ")) return false;
            if (!list) {
                const key = v.shape.keys[i] as string;
                if (!put(`${/^[A-Za-z_]\w{0,40}$/.test(key) ? begun(at, key, 41).text : quoted(at, key, 40)}: `)) return false;
            }
            if (!walk((list ? v.items : v.slots)[i] as Value, depth + 1)) return false;
        }
        return put(list ? "]" : " }");
    };
    return walk(value, 0) || out.length <= room ? out : `${out.slice(0, room)}…`;
}
