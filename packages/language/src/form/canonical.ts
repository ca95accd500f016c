/**
 * The canonical JSON text of a value (RFC 8785): keys sorted by UTF-16 code units, no white space, numbers and texts as JavaScript
 * writes them. What is hashed.
 *
 * Boundary: text only; hashing is the caller's.
 *
 * CAN1: two forms that differ in the order of keys have the same text. N2: absent keys and keys that hold nothing are the same.
 */
import type { Json } from "../contract/contract.ts";
import { setOwn } from "../contract/open.ts";

/** Deeper values than forms and machine values can be are refused, with an error. */
const MAX_DEPTH = 3000;

export function canonicalJson(value: Json): string {
    const all = ordered(value, 0);
    // Written in one go where it can be: piece by piece, the text of an event took twice the time and five times the memory.
    return all === undefined ? write(value, 0) : JSON.stringify(all);
}

function tooDeep(depth: number): void {
    if (depth > MAX_DEPTH) throw new RangeError(`a value nested more than ${MAX_DEPTH} deep has no canonical text`);
}

/**
 * The same value with the keys of every object in their order, copied only where they are not; undefined where no object can have them in that order:
 * a key that is a whole number stands before all others.
 */
function ordered(value: Json | undefined, depth: number): Json | undefined {
    if (value === null || value === undefined) return null;
    if (typeof value !== "object") return value;
    tooDeep(depth);
    if (Array.isArray(value)) {
        let copy: Json[] | null = null;
        for (let i = 0; i < value.length; i++) {
            const one = ordered(value[i], depth + 1);
            if (one === undefined) return undefined;
            if (copy === null && one !== value[i]) copy = value.slice(0, i);
            copy?.push(one);
        }
        return copy ?? value;
    }
    const keys = Object.keys(value);
    const first = keys[0]?.charCodeAt(0) ?? 0;
    if (first >= ZERO && first <= NINE) return undefined;
    let isSame = !sort(keys);
    const copy: { [key: string]: Json } = {};
    for (const key of keys) {
        const member = value[key];
        // CAN1: as one that is not there.
        if (member === undefined) continue;
        const one = ordered(member, depth + 1);
        if (one === undefined) return undefined;
        isSame &&= one === member;
        setOwn(copy, key, one);
    }
    return isSame ? value : copy;
}

const ZERO = 48;
const NINE = 57;
/** So many are sorted in place: `sort` makes lists of its own. */
const FEW = 32;

/** Whether that changed anything. */
function sort(keys: string[]): boolean {
    if (keys.length > FEW) {
        keys.sort();
        return true;
    }
    let changed = false;
    for (let i = 1; i < keys.length; i++) {
        const key = keys[i] as string;
        let at = i;
        for (; at > 0 && (keys[at - 1] as string) > key; at--) keys[at] = keys[at - 1] as string;
        keys[at] = key;
        changed ||= at !== i;
    }
    return changed;
}

function write(value: Json | undefined, depth: number): string {
    if (value === null || value === undefined || typeof value !== "object") return JSON.stringify(value ?? null);
    tooDeep(depth);
    if (Array.isArray(value)) {
        let list = "[";
        for (let i = 0; i < value.length; i++) list += (i === 0 ? "" : ",") + write(value[i], depth + 1);
        return `${list}]`;
    }
    let object = "{";
    for (const key of Object.keys(value).sort()) {
        const member = value[key];
        if (member === undefined) continue;
        object += `${object === "{" ? "" : ","}${JSON.stringify(key)}:${write(member, depth + 1)}`;
    }
    return `${object}}`;
}
