/**
 * The canonical JSON text of a value (RFC 8785): keys sorted by UTF-16 code units, no white space, numbers and texts as JavaScript
 * writes them. What is hashed.
 *
 * Boundary: text only; hashing is the caller's.
 *
 * CAN1: two forms that differ in the order of keys have the same text. N2: absent keys and keys that hold nothing are the same.
 */
import type { Json } from "../contract/contract.ts";

/** Deeper values than forms and machine values can be are refused, with an error. */
const MAX_DEPTH = 3000;

export function canonicalJson(value: Json): string {
    return write(value, 0);
}

function write(value: Json | undefined, depth: number): string {
    if (value === null || value === undefined || typeof value !== "object") return JSON.stringify(value ?? null);
    if (depth > MAX_DEPTH) throw new RangeError(`a value nested more than ${MAX_DEPTH} deep has no canonical text`);
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
