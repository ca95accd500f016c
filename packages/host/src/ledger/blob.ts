/**
 * Large values, kept once: JSON in which every text above the threshold is replaced by a reference to a blob.
 *
 * Boundary: JSON in, JSON out; where blobs lie is the caller's (`put`, `get`).
 *
 * B1: `unpack(pack(x))` equals `x` for every JSON value, also one that looks like a reference: such an object is wrapped in `$plain`.
 * B2: a blob is named by the SHA-256 of its bytes (UTF-8 of the text), so the same text is one blob in every host.
 */
import { hash } from "node:crypto";
import type { Json } from "@remit/language";

/** Texts longer than this many UTF-16 code units become blobs; so does a field of a value whose JSON is longer. */
export const BLOB_THRESHOLD = 16 * 1024;

export interface Blobs {
    put(sha256: string, text: string): void;
    /** Throws where there is no such blob. */
    get(sha256: string): string;
}

export function sha256(text: string): string {
    return hash("sha256", text, "hex");
}

/**
 * JSON text with large texts put into `blobs`. A small value costs one `JSON.stringify`. With `fields` the outermost fields whose JSON is
 * still large become blobs too: right for what is written once, wrong for a state that changes a little at a time.
 */
export function pack(json: Json, blobs: Blobs, fields = true, threshold = BLOB_THRESHOLD): string {
    const text = JSON.stringify(json);
    if (text.length <= threshold && !text.includes('"$')) return text;
    return JSON.stringify(packed(json, blobs, fields, threshold));
}

function packed(json: Json, blobs: Blobs, top: boolean, threshold: number): Json {
    if (typeof json === "string") {
        if (json.length <= threshold) return json;
        const name = sha256(json);
        blobs.put(name, json);
        return { $blob: name, of: "text" };
    }
    if (json === null || typeof json !== "object") return json;
    if (Array.isArray(json)) return json.map((item) => packed(item, blobs, false, threshold));
    const out: { [key: string]: Json } = {};
    for (const key of Object.keys(json)) {
        let value = packed(json[key] as Json, blobs, false, threshold);
        if (top && typeof value === "object" && value !== null) {
            const text = JSON.stringify(value);
            if (text.length > threshold) {
                const name = sha256(text);
                blobs.put(name, text);
                value = { $blob: name, of: "json" };
            }
        }
        define(out, key, value);
    }
    return Object.hasOwn(out, "$blob") || Object.hasOwn(out, "$plain") ? { $plain: out } : out;
}

export function unpack(text: string, blobs: Blobs): Json {
    const json = JSON.parse(text) as Json;
    return text.includes('"$') ? unpacked(json, blobs) : json;
}

function unpacked(json: Json, blobs: Blobs): Json {
    if (json === null || typeof json !== "object") return json;
    if (Array.isArray(json)) return json.map((item) => unpacked(item, blobs));
    if (Object.hasOwn(json, "$blob")) {
        const text = blobs.get(json.$blob as string);
        return json.of === "json" ? unpacked(JSON.parse(text) as Json, blobs) : text;
    }
    const from = Object.hasOwn(json, "$plain") ? (json.$plain as { [key: string]: Json }) : json;
    const out: { [key: string]: Json } = {};
    for (const key of Object.keys(from)) define(out, key, unpacked(from[key] as Json, blobs));
    return out;
}

/** Sets an own property whatever its name is: `__proto__` is a key like any other in data. */
function define(target: { [key: string]: Json }, key: string, value: Json): void {
    if (key === "__proto__") Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
    else target[key] = value;
}

/** Names of all blobs that a packed text refers to. */
export function blobsOf(text: string): readonly string[] {
    return [...text.matchAll(/"\$blob":"([0-9a-f]{64})"/g)].map((match) => match[1] as string);
}
