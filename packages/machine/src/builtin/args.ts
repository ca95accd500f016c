/**
 * Reading the operands of built-ins, and making their results.
 *
 * Boundary: what all rows of the table share. No row's meaning is here.
 *
 * AR1: an operand that a built-in does not take is a `value` failure that names the built-in, the parameter and what came.
 * AR2: what a failure shows carries its labels.
 * AR3: what grows is charged before it is made.
 */
import { Fail } from "../effect/failure.ts";
import { capabilityIsNotData } from "../value/json.ts";
import { aNameOf, join, labelOf, rawOf } from "../value/operators.ts";
import { Capability, Labelled, List, MAX_ITEMS, MAX_STRING, Obj, type Value } from "../value/value.ts";
import type { Lambda, Runtime } from "./builtin.ts";

export type Arg = Value | Lambda;

/** The most arguments a built-in takes that takes any number. */
export const ANY_NUMBER = 255;

/** Units of a text that a failure shows. */
const MAX_SHOWN = 40;

/** The label set of an operand, joined to `l`. */
export function labelsWith(rt: Runtime, l: number, arg: Arg | undefined): number {
    return arg instanceof Labelled ? rt.labels.union(l, arg.l) : l;
}

export function isLambda(arg: Arg | undefined): arg is Lambda {
    return typeof arg === "object" && arg !== null && "call" in arg && "arity" in arg;
}

export function wrong(call: string, param: string, wanted: string, arg: Arg | undefined): Fail {
    if (isLambda(arg)) return new Fail("value", `${call}: ${param} must be ${wanted}, not a function`);
    const raw = arg === undefined ? null : rawOf(arg);
    if (raw instanceof Capability) return capabilityIsNotData(raw, arg === undefined ? 0 : labelOf(arg));
    return new Fail("value", `${call}: ${param} must be ${wanted}, not ${aNameOf(raw)}`, { labels: arg === undefined ? 0 : labelOf(arg) });
}

/** As `wrong`, of an operand whose kind is right: it is shown itself, where it is short. */
export function wrongValue(call: string, param: string, wanted: string, arg: Arg | undefined): Fail {
    const raw = arg === undefined || isLambda(arg) ? null : rawOf(arg);
    if (typeof raw !== "number" && (typeof raw !== "string" || raw.length > MAX_SHOWN)) return wrong(call, param, wanted, arg);
    return new Fail("value", `${call}: ${param} must be ${wanted}, not ${JSON.stringify(raw)}`, { labels: labelOf(arg as Value) });
}

export function textOf(call: string, param: string, arg: Arg | undefined): string {
    const raw = arg === undefined || isLambda(arg) ? null : rawOf(arg);
    if (typeof raw !== "string") throw wrong(call, param, "a string", arg);
    return raw;
}

export function numberOf(call: string, param: string, arg: Arg | undefined): number {
    const raw = arg === undefined || isLambda(arg) ? null : rawOf(arg);
    if (typeof raw !== "number") throw wrong(call, param, "a number", arg);
    return raw;
}

/** A whole number; `absent` where the argument is missing or none. */
export function wholeOf(call: string, param: string, arg: Arg | undefined, absent: number): number {
    if (arg === undefined) return absent;
    const raw = isLambda(arg) ? false : rawOf(arg);
    if (raw === null) return absent;
    if (typeof raw !== "number" || !Number.isInteger(raw)) throw wrongValue(call, param, "a whole number", arg);
    return raw;
}

export function listOf(call: string, param: string, arg: Arg | undefined): List {
    const raw = arg === undefined || isLambda(arg) ? null : rawOf(arg);
    if (!(raw instanceof List)) throw wrong(call, param, "a list", arg);
    return raw;
}

export function objectOf(call: string, param: string, arg: Arg | undefined): Obj {
    const raw = arg === undefined || isLambda(arg) ? null : rawOf(arg);
    if (!(raw instanceof Obj)) throw wrong(call, param, "an object", arg);
    return raw;
}

export function lambdaOf(call: string, arg: Arg | undefined): Lambda {
    if (!isLambda(arg)) throw wrong(call, "its argument", "a function such as (x) => x", arg);
    return arg;
}

/** The start and the end of a `slice` within 0…length: negative positions count from the end, what lies outside is drawn in. */
export function rangeOf(length: number, from: Arg | undefined, to: Arg | undefined): [number, number] {
    const place = (at: number): number => Math.min(length, Math.max(0, at < 0 ? length + at : at));
    const start = place(wholeOf("slice", "from", from, 0));
    return [start, Math.max(start, place(wholeOf("slice", "to", to, length)))];
}

// ---- results -----------------------------------------------------------------------------------------------------------

/** Room for a text of this many UTF-16 units. */
export function room(rt: Runtime, units: number): void {
    if (units > MAX_STRING) throw new Fail("limit.bytes", `a string may hold ${MAX_STRING} characters`, { here: true });
    rt.heap.take(units >>> 3);
    rt.charge(2 * units);
}

/** Texts up to this length may be held for the sake of a part. */
export const LARGE = 4096;

/** A part of a text. */
export function cut(text: string, from: number, to: number): string {
    return part(text.slice(from, to), text);
}

/**
 * A small part of a large text, copied: engines keep the whole text for as long as a part of it is held, which no measurement of memory sees.
 */
export function part(of: string, text: string): string {
    return of.length > 12 && text.length > LARGE && of.length < text.length / 4 ? ` ${of}`.slice(1) : of;
}

/** Room for a list of this many items. */
export function roomForItems(rt: Runtime, items: number): void {
    if (items > MAX_ITEMS) throw new Fail("limit.bytes", `a list may hold ${MAX_ITEMS} items`, { here: true });
    rt.charge(8 * items);
}

/** A result with its labels; `label(rt, v, 0)` is `v`. */
export function label(rt: Runtime, value: Value, l: number): Value {
    return join(rt, value, l);
}
