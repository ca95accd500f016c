/**
 * Operators over values: the slow paths, and the only place besides the built-ins that knows labels.
 *
 * Boundary: operands in, value out. Fast paths over raw numbers and strings are in `../compile/operators.ts` and fall back to these.
 * A step is never counted here.
 *
 * OE3: the result of an operator has the labels of its operands, and of whatever it read inside them, and no others.
 * OP1: every failure names its operator and its place.
 */

import { type Site, withArticle } from "@remit/language";
import { Fail } from "../effect/failure.ts";
import { capabilityIsNotData } from "./json.ts";
import type { Labels } from "./label.ts";
import { Capability, type Heap, heldIn, Labelled, List, MAX_STRING, Obj, type Raw, type Value } from "./value.ts";
import { WORK } from "./work.ts";

/** What operators need of a run. */
export interface Joins {
    readonly labels: Labels;
    /** Work that is no step (`Runtime.work`). */
    work(units: number): void;
    /** Bytes of data that grew. */
    charge(bytes: number): void;
    fresh(): void;
    readonly heap: Heap;
}

/** Strings from this length on are compared where the work is counted. */
export const LONG = 256;

/** Deepest nesting that equality follows, as in `toJson`. */
const MAX_EQUAL_DEPTH = 500;

export function join(m: Joins, value: Value, l: number): Value {
    if (l === 0) return value;
    if (!(value instanceof Labelled)) return new Labelled(value, l);
    const all = m.labels.union(value.l, l);
    return all === value.l ? value : new Labelled(value.v, all);
}

export function rawOf(value: Value): Raw {
    return value instanceof Labelled ? value.v : value;
}

export function labelOf(value: Value): number {
    return value instanceof Labelled ? value.l : 0;
}

/** What a value is called in messages. */
export function nameOf(v: Raw): string {
    if (v === null) return "none";
    if (typeof v === "string" || typeof v === "number" || typeof v === "boolean") return typeof v;
    if (v instanceof List) return "list";
    if (v instanceof Obj) return "object";
    return `${v.kind} ${v.name}`;
}

/** With its article, for messages: `none`, `a string`, `an object`. */
export function aNameOf(v: Raw): string {
    const name = nameOf(v);
    return v === null ? name : withArticle(name);
}

/** `none`, `false`, `0`, `""` and `[]` are false; every object and every capability is true. */
export function truthy(value: Value): boolean {
    const v = value instanceof Labelled ? value.v : value;
    // What tests nearly always are.
    if (typeof v === "boolean") return v;
    if (v === null || v === 0 || v === "") return false;
    if (v instanceof List) return v.items.length > 0;
    return !Number.isNaN(v);
}

// ---- arithmetic ------------------------------------------------------------------------------------------------------

export type NumberOp = "-" | "*" | "/" | "%" | "<" | "<=" | ">" | ">=";

function wantsNumbers(op: string, at: Site | null, l: number): Fail {
    return new Fail("value", `operator '${op}' requires number operands`, { site: at, labels: l });
}

/** Any operator that needs two numbers. */
export function numeric(m: Joins, op: NumberOp, a: Value, b: Value, at: Site | null): Value {
    let l = 0;
    if (a instanceof Labelled) {
        l = a.l;
        a = a.v;
    }
    if (b instanceof Labelled) {
        l = l === 0 ? b.l : m.labels.union(l, b.l);
        b = b.v;
    }
    if (typeof a !== "number" || typeof b !== "number") throw wantsNumbers(op, at, l);
    let r: Raw;
    switch (op) {
        case "-":
            r = a - b;
            break;
        case "*":
            r = a * b;
            break;
        case "/":
            if (b === 0) throw new Fail("value", "division by zero", { site: at, labels: l });
            r = a / b;
            break;
        case "%":
            if (b === 0) throw new Fail("value", "division by zero", { site: at, labels: l });
            r = a % b;
            break;
        case "<":
            r = a < b;
            break;
        case "<=":
            r = a <= b;
            break;
        case ">":
            r = a > b;
            break;
        case ">=":
            r = a >= b;
            break;
    }
    return l === 0 ? r : new Labelled(r, l);
}

/** `numeric` where only the way that is taken depends on it: what does not carry its labels needs no box. */
export function compares(m: Joins, op: NumberOp, a: Value, b: Value, at: Site | null): Value {
    const x = a instanceof Labelled ? a.v : a;
    const y = b instanceof Labelled ? b.v : b;
    if (typeof x === "number" && typeof y === "number") {
        if (op === "<") return x < y;
        if (op === "<=") return x <= y;
        if (op === ">") return x > y;
        if (op === ">=") return x >= y;
    }
    return numeric(m, op, a, b, at);
}

/** `a - b`. What most labelled numbers meet is a plain one, or one with the same labels: small enough to stand where it is called. */
export function minus(m: Joins, a: Value, b: Value, at: Site | null): Value {
    if (a instanceof Labelled && typeof a.v === "number") {
        if (typeof b === "number") return new Labelled(a.v - b, a.l);
        if (b instanceof Labelled && b.l === a.l && typeof b.v === "number") return new Labelled(a.v - b.v, a.l);
    }
    return numeric(m, "-", a, b, at);
}

/** `a * b`, as `minus`. */
export function times(m: Joins, a: Value, b: Value, at: Site | null): Value {
    if (a instanceof Labelled && typeof a.v === "number") {
        if (typeof b === "number") return new Labelled(a.v * b, a.l);
        if (b instanceof Labelled && b.l === a.l && typeof b.v === "number") return new Labelled(a.v * b.v, a.l);
    }
    return numeric(m, "*", a, b, at);
}

/** Adds two numbers, or joins texts where one side is a string: the other side shows if it is a string, number or boolean. As `minus`. */
export function plus(m: Joins, a: Value, b: Value, at: Site | null): Value {
    if (a instanceof Labelled && typeof a.v === "number") {
        if (typeof b === "number") return new Labelled(a.v + b, a.l);
        if (b instanceof Labelled && b.l === a.l && typeof b.v === "number") return new Labelled(a.v + b.v, a.l);
    }
    return plusAny(m, a, b, at);
}

function plusAny(m: Joins, a: Value, b: Value, at: Site | null): Value {
    let l = 0;
    if (a instanceof Labelled) {
        l = a.l;
        a = a.v;
    }
    if (b instanceof Labelled) {
        l = l === 0 ? b.l : m.labels.union(l, b.l);
        b = b.v;
    }
    let r: Raw;
    if (typeof a === "number" && typeof b === "number") r = a + b;
    else if (typeof a === "string" || typeof b === "string") {
        refuseCapability(a, at, l);
        refuseCapability(b, at, l);
        r = concat(m, shown(a), shown(b), at);
    } else throw wantsNumbers("+", at, l);
    return l === 0 ? r : new Labelled(r, l);
}

/** The joined text, or the failure of a string beyond the limit. */
export function concat(m: Joins, a: string, b: string, at: Site | null): string {
    const r = a + b;
    // The longer one is held as it is until the whole is looked at, which counts it then.
    const shorter = a.length < b.length ? a.length : b.length;
    if (shorter > LONG) m.heap.take(shorter >>> 3);
    if (r.length > MAX_STRING) throw tooLong(at);
    // What is added by and by in small pieces is bounded by its steps.
    if (shorter > LONG) m.charge(2 * shorter);
    return r;
}

function tooLong(at: Site | null): Fail {
    return new Fail("limit.bytes", `a string may hold ${MAX_STRING} characters`, { site: at, here: true });
}

function shown(v: Raw): string {
    return typeof v === "string" ? v : typeof v === "number" || typeof v === "boolean" ? String(v) : "";
}

export function negate(value: Value, at: Site | null): Value {
    const l = labelOf(value);
    const v = rawOf(value);
    if (typeof v !== "number") throw new Fail("value", "operator '-' requires a number operand", { site: at, labels: l });
    return l === 0 ? -v : new Labelled(-v, l);
}

export function not(value: Value): Value {
    return value instanceof Labelled ? new Labelled(!truthy(value), value.l) : !truthy(value);
}

// ---- equality --------------------------------------------------------------------------------------------------------

function refuseCapability(v: Raw, at: Site | null, l: number): void {
    if (!(v instanceof Capability)) return;
    const fail = capabilityIsNotData(v, l);
    fail.site = at;
    throw fail;
}

/** Deep equality that does not depend on the order of keys. Carries the labels of everything in both sides. */
export function equals(m: Joins, a: Value, b: Value, wanted: boolean, at: Site | null): Value {
    let l = 0;
    if (a instanceof Labelled) {
        l = a.l;
        a = a.v;
    }
    if (b instanceof Labelled) {
        l = l === 0 ? b.l : m.labels.union(l, b.l);
        b = b.v;
    }
    let same: boolean;
    m.fresh();
    if (a === null || b === null || typeof a !== "object" || typeof b !== "object") {
        if (a !== null && b !== null) {
            refuseCapability(a, at, l);
            refuseCapability(b, at, l);
        }
        same = alike(m, a, b, at, l);
        // Whether a capability is there is no comparison of capabilities: against none it is not looked at.
        if (typeof a === "object" && a !== null && !(a instanceof Capability)) l = m.labels.union(l, deepLabels(m, a, at));
        if (typeof b === "object" && b !== null && !(b instanceof Capability)) l = m.labels.union(l, deepLabels(m, b, at));
    } else {
        l = m.labels.union(l, m.labels.union(deepLabels(m, a, at), deepLabels(m, b, at)));
        same = alike(m, a, b, at, l);
    }
    const r = same === wanted;
    return l === 0 ? r : new Labelled(r, l);
}

/** Labels of everything inside a list or object. Refuses capabilities. */
export function deepLabels(m: Joins, top: Raw, at: Site | null): number {
    let l = 0;
    const seen = new Set<Raw>();
    const rest: Raw[] = [top];
    for (let v = rest.pop(); v !== undefined; v = rest.pop()) {
        refuseCapability(v, at, l);
        if (v === null || typeof v !== "object" || seen.has(v)) continue;
        seen.add(v);
        const items = v instanceof List ? v.items : (v as Obj).slots;
        l = m.labels.union(l, heldIn(m.labels, v as List | Obj));
        m.work(WORK.values(1) + items.length);
        for (const item of items) {
            if (item instanceof Labelled) {
                l = m.labels.union(l, item.l);
                rest.push(item.v);
            } else if (item !== null && typeof item === "object") rest.push(item);
        }
    }
    return l;
}

/**
 * Deep equality. Lists and objects under comparison or found equal are put together in classes: a cycle is equal to one of the same form, and
 * everything is looked at once for each time two classes become one, so the work is in proportion to what is in memory.
 */
function alike(m: Joins, left: Value, right: Value, at: Site | null, l: number): boolean {
    const classes = new Map<Raw, Raw>();
    const classOf = (v: Raw): Raw => {
        let top = v;
        for (let up = classes.get(top); up !== undefined; up = classes.get(top)) top = up;
        for (let from = v; from !== top; ) {
            const up = classes.get(from) as Raw;
            classes.set(from, top);
            from = up;
        }
        return top;
    };
    const same = (x: Value, y: Value, depth: number): boolean => {
        let a = rawOf(x);
        let b = rawOf(y);
        if (a === null || b === null || typeof a !== "object" || typeof b !== "object") {
            if (typeof a === "string" && typeof b === "string" && a.length === b.length) {
                m.work(WORK.chars(a.length));
                if (a.length >= LONG) m.heap.take(a.length >>> 2);
            }
            return a === b;
        }
        if (depth > MAX_EQUAL_DEPTH)
            throw new Fail("value", `values nested more than ${MAX_EQUAL_DEPTH} deep cannot be compared`, { site: at, labels: l });
        a = classOf(a);
        b = classOf(b);
        if (a === b) return true;
        if (a instanceof List) {
            if (!(b instanceof List) || a.items.length !== b.items.length) return false;
            m.work(WORK.values(1) + a.items.length);
            classes.set(a, b);
            for (let i = 0; i < a.items.length; i++) if (!same(a.items[i] as Value, b.items[i] as Value, depth + 1)) return false;
            return true;
        }
        if (!(a instanceof Obj) || !(b instanceof Obj) || a.slots.length !== b.slots.length) return false;
        m.work(WORK.values(1 + a.slots.length));
        classes.set(a, b);
        for (const key of a.shape.keys) {
            const other = b.get(key);
            if (other === undefined || !same(a.get(key) as Value, other, depth + 1)) return false;
        }
        return true;
    };
    return same(left, right, 0);
}
