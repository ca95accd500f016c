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

interface Visit {
    readonly value: unknown;
    readonly depth: number;
    readonly place: Place | null;
}

/** Whether a value is JSON within the caps. The first thing that is wrong is added, and nothing after it is looked at. */
export function measure(value: unknown, caps: Caps, errors: Errors): boolean {
    const work: Visit[] = [{ value, depth: 0, place: null }];
    let nodes = 0;
    let units = 0;
    for (let at = work.pop(); at !== undefined; at = work.pop()) {
        if (++nodes > caps.nodes) {
            errors.add("FORM_NODES", null, `the form has more than ${caps.nodes} values`);
            return false;
        }
        const { value: v, place } = at;
        switch (typeof v) {
            case "string":
                if (v.length > caps.string) {
                    errors.add("FORM_STRING", place, `the text has more than ${caps.string} characters`);
                    return false;
                }
                units += v.length + 2;
                break;
            case "number":
                if (!Number.isFinite(v)) {
                    errors.add("FORM_JSON", place, `${v} is no JSON number`);
                    return false;
                }
                units += 1;
                break;
            case "boolean":
                units += 4;
                break;
            case "object": {
                if (v === null) {
                    units += 4;
                    break;
                }
                if (at.depth >= caps.depth) {
                    errors.add("FORM_DEPTH", null, `the form is nested more than ${caps.depth} deep`);
                    return false;
                }
                const size = Array.isArray(v) ? v.length : undefined;
                if (size !== undefined && nodes + work.length + size > caps.nodes) {
                    errors.add("FORM_NODES", null, `the form has more than ${caps.nodes} values`);
                    return false;
                }
                if (size === undefined && !isRecord(v)) {
                    errors.add("FORM_JSON", place, "this object is no plain JSON object");
                    return false;
                }
                units += 2;
                if (Array.isArray(v))
                    for (let i = v.length - 1; i >= 0; i--) work.push({ value: v[i], depth: at.depth + 1, place: { up: place, key: i } });
                else {
                    const keys = Object.keys(v);
                    for (let i = keys.length - 1; i >= 0; i--) {
                        const key = keys[i] as string;
                        if (key.length > caps.string) {
                            errors.add("FORM_STRING", place, `a key has more than ${caps.string} characters`);
                            return false;
                        }
                        units += key.length + 3;
                        work.push({ value: (v as { [key: string]: unknown })[key], depth: at.depth + 1, place: { up: place, key } });
                    }
                }
                break;
            }
            default:
                errors.add("FORM_JSON", place, `${typeof v} is no JSON value`);
                return false;
        }
        if (units > caps.bytes) {
            errors.add("FORM_BYTES", null, `the form has more than ${caps.bytes} bytes`);
            return false;
        }
    }
    return true;
}

function isRecord(value: object): boolean {
    const proto: unknown = Object.getPrototypeOf(value);
    return proto === null || Object.getPrototypeOf(proto) === null;
}
