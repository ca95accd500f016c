/**
 * Caps: how large, deep and long a foreign form may be, and reading a text within them.
 *
 * Boundary: knows JSON, not forms; the walk through a value (`structure.ts`) holds it to the caps.
 *
 * ME1: a text is measured before it is parsed, a value before anything else reads it. Values that are shared are counted each time.
 * ME2: a text with a key twice in one object is refused (RFC 8259 section 4: its meaning differs from reader to reader), however the key is spelled.
 */
import type { Json } from "../contract/contract.ts";
import { type Errors, MAX_ERRORS, type Place } from "./errors.ts";

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
        errors.add("FORM_BYTES", [], `the text has more than ${caps.bytes} bytes`);
        return undefined;
    }
    if (deepest(text, caps.depth) > caps.depth) {
        errors.add("FORM_DEPTH", [], `the form is nested more than ${caps.depth} deep`);
        return undefined;
    }
    try {
        const value = JSON.parse(text) as Json;
        for (const place of repeated(text)) {
            const key = String(place[place.length - 1]);
            errors.add("FORM_TWICE", place, `the key '${key}' stands twice in one object: readers differ on which of them counts`);
        }
        return errors.found.length > 0 ? undefined : value;
    } catch (error) {
        errors.add("FORM_JSON", [], `the text is not JSON: ${(error as Error).message}`);
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

/** Texts and brackets of JSON, and what stands between values. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** Places of keys that stood in the same object before, in a text that is JSON; the first `MAX_ERRORS` of them. */
function repeated(text: string): Place[] {
    const found: Place[] = [];
    /** Of each object around this place its keys, of each list null; beside it, where in it the reader is. */
    const open: { readonly keys: Set<string> | null; at: string | number }[] = [];
    let last = "";
    for (const [token] of text.matchAll(TOKENS)) {
        const inner = open[open.length - 1];
        if (token === "{") open.push({ keys: new Set(), at: "" });
        else if (token === "[") open.push({ keys: null, at: 0 });
        else if (token === "}" || token === "]") open.pop();
        else if (token === ",") {
            if (inner !== undefined && typeof inner.at === "number") inner.at++;
        } else if (token === ":") {
            const key = JSON.parse(last) as string;
            if (inner === undefined || inner.keys === null) continue;
            inner.at = key;
            if (inner.keys.has(key) && found.push(open.map(({ at }) => at)) >= MAX_ERRORS) return found;
            inner.keys.add(key);
        } else last = token;
    }
    return found;
}
