/**
 * Caps: how large, deep and long a foreign form may be. The first thing that is looked at.
 *
 * Boundary: knows JSON, not forms. No recursion: the work is bounded by the caps, whatever comes.
 *
 * C1: a text is measured before it is parsed, a value before anything else reads it. Values that are shared are counted each time.
 */
import type { Json } from "../contract/contract.ts";
import type { Errors, Place } from "./errors.ts";

export interface Caps {
    /** UTF-8 bytes of the form's JSON text. */
    readonly bytes: number;
    /** Values: objects, lists, texts, numbers and so on. */
    readonly nodes: number;
    /** Objects and lists inside one another. */
    readonly depth: number;
    /** UTF-16 code units of one text or key. */
    readonly string: number;
}

/** For what an agent answered. */
export const DEFAULT_CAPS: Caps = { bytes: 1 << 20, nodes: 100_000, depth: 512, string: 1 << 18 };

/** For what was compiled from the author's own files. */
export const AUTHOR_CAPS: Caps = { bytes: 1 << 26, nodes: 5_000_000, depth: 2560, string: 1 << 24 };

/** The value of a JSON text within the caps; undefined where an error was added. */
export function parseWithin(text: string, caps: Caps, errors: Errors): Json | undefined {
    if (!withinBytes(text, caps.bytes)) {
        errors.add("FORM_BYTES", null, `the text has more than ${caps.bytes} bytes`);
        return undefined;
    }
    if (deepest(text, caps.depth) > caps.depth) {
        errors.add("FORM_DEPTH", null, `the form is nested more than ${caps.depth} deep`);
        return undefined;
    }
    try {
        return JSON.parse(text) as Json;
    } catch (error) {
        errors.add("FORM_JSON", null, `the text is not JSON: ${(error as Error).message}`);
        return undefined;
    }
}

function withinBytes(text: string, most: number): boolean {
    if (text.length > most) return false;
    if (text.length * 3 <= most) return true;
    let bytes = 0;
    for (let i = 0; i < text.length; i++) {
        const c = text.charCodeAt(i);
        if (c < 0x80) bytes += 1;
        else if (c < 0x800) bytes += 2;
        else if (c >= 0xd800 && c < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
            bytes += 4;
            i++;
        } else bytes += 3;
    }
    return bytes <= most;
}

/** The deepest nesting of brackets outside texts; stops beyond `most`. */
function deepest(text: string, most: number): number {
    let depth = 0;
    let max = 0;
    for (let i = 0; i < text.length; i++) {
        const c = text.charCodeAt(i);
        if (c === 0x22) {
            for (i++; i < text.length; i++) {
                const inner = text.charCodeAt(i);
                if (inner === 0x5c) i++;
                else if (inner === 0x22) break;
            }
        } else if (c === 0x7b || c === 0x5b) {
            if (++depth > max) max = depth;
            if (max > most) return max;
        } else if (c === 0x7d || c === 0x5d) depth--;
    }
    return max;
}

/** A list or object under way. `keys`: null for a list. */
interface Open {
    readonly value: { readonly [key: string]: unknown };
    readonly keys: readonly string[] | null;
    readonly size: number;
    next: number;
}

/** Whether a value is JSON within the caps. The first thing that is wrong is added, and nothing after it is looked at. */
export function measure(root: unknown, caps: Caps, errors: Errors): boolean {
    const open: Open[] = [];
    let nodes = 0;
    let units = 0;
    let value = root;
    const wrong = (code: "FORM_JSON" | "FORM_STRING", message: string): false => {
        errors.add(code, placeOf(open), message);
        return false;
    };
    for (;;) {
        if (++nodes > caps.nodes) {
            errors.add("FORM_NODES", null, `the form has more than ${caps.nodes} values`);
            return false;
        }
        if (typeof value === "string") {
            if (value.length > caps.string) return wrong("FORM_STRING", `the text has more than ${caps.string} characters`);
            units += value.length + 2;
        } else if (typeof value === "number") {
            if (!Number.isFinite(value)) return wrong("FORM_JSON", `${value} is no JSON number`);
            units += 1;
        } else if (value === null || typeof value === "boolean") units += 4;
        else if (typeof value !== "object") return wrong("FORM_JSON", `${typeof value} is no JSON value`);
        else {
            if (open.length >= caps.depth) {
                errors.add("FORM_DEPTH", null, `the form is nested more than ${caps.depth} deep`);
                return false;
            }
            const keys = Array.isArray(value) ? null : Object.keys(value);
            if (keys !== null && !isRecord(value)) return wrong("FORM_JSON", "this object is no plain JSON object");
            units += 2;
            open.push({ value: value as Open["value"], keys, size: keys?.length ?? (value as unknown[]).length, next: 0 });
        }
        if (units > caps.bytes) {
            errors.add("FORM_BYTES", null, `the form has more than ${caps.bytes} bytes`);
            return false;
        }
        let at = open[open.length - 1];
        while (at !== undefined && at.next >= at.size) {
            open.pop();
            at = open[open.length - 1];
        }
        if (at === undefined) return true;
        const i = at.next++;
        if (at.keys === null) value = (at.value as unknown as readonly unknown[])[i];
        else {
            const key = at.keys[i] as string;
            if (key.length > caps.string) return wrong("FORM_STRING", `a key has more than ${caps.string} characters`);
            units += key.length + 3;
            value = at.value[key];
        }
    }
}

/** The place of the value that is being looked at. */
function placeOf(open: readonly Open[]): Place | null {
    let place: Place | null = null;
    for (const { keys, next } of open) place = { up: place, key: keys === null ? next - 1 : (keys[next - 1] as string) };
    return place;
}

/** Not an instance of anything. */
export function isRecord(value: object): boolean {
    const proto: unknown = Object.getPrototypeOf(value);
    return proto === null || Object.getPrototypeOf(proto) === null;
}
