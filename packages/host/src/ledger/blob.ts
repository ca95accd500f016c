/**
 * Large values, kept once: JSON in which every text above the threshold is replaced by a reference to a blob.
 *
 * Boundary: JSON in, JSON out; where blobs lie is the caller's. How references stand in JSON is the machine package's (`referred`), which keeps large
 * texts of a continuation the same way.
 *
 * B1: `unpack(pack(x))` equals `x` for every JSON value, also one that looks like a reference.
 * B2: a blob is named by the SHA-256 of its bytes (UTF-8 of the text), so the same text is one blob in every host.
 */
import { hash } from "node:crypto";
import { isObject, type Json } from "@remit/language";
import { LARGE_TEXT, referred, restored } from "@remit/machine";

/** Texts longer than this many UTF-16 code units become blobs; so does a field of a value whose JSON is longer. */
export const BLOB_THRESHOLD = LARGE_TEXT;

/** Blobs of one commit, texts and their names: each text is hashed once. */
export type NewBlobs = Map<string, string>;

/** Throws where there is no such blob. */
export type Blobs = (sha256: string) => string;

export function sha256(text: string): string {
    return hash("sha256", text, "hex");
}

/**
 * JSON text with large texts put into `blobs`. A small value costs one `JSON.stringify`. With `fields` the outermost fields whose JSON is
 * still large become blobs too: right for what is written once, wrong for a state that changes a little at a time.
 */
export function pack(json: Json, blobs: NewBlobs, fields = true, threshold = BLOB_THRESHOLD): string {
    const text = JSON.stringify(json);
    if (text.length <= threshold && !text.includes('"$')) return text;
    const put = (text: string): string => {
        const name = blobs.get(text) ?? sha256(text);
        blobs.set(text, name);
        return name;
    };
    const held = referred(json, "$blob", put, threshold);
    if (!fields || !isObject(held) || Object.keys(held).some((key) => key.startsWith("$"))) return JSON.stringify(held);
    const texts = Object.entries(held).map(([key, value]): string => {
        const field = JSON.stringify(value);
        const isLarge = value !== null && typeof value === "object" && field.length > threshold;
        return `${JSON.stringify(key)}:${isLarge ? JSON.stringify({ $blob: put(field), of: "json" }) : field}`;
    });
    return `{${texts.join(",")}}`;
}

export function unpack(text: string, blobs: Blobs): Json {
    const json = JSON.parse(text) as Json;
    if (!text.includes('"$')) return json;
    return restored(json, "$blob", (name) => blobs(name as string));
}

/** Names of all blobs that a packed text refers to. */
export function blobsOf(text: string): readonly string[] {
    return [...text.matchAll(/"\$blob":"([0-9a-f]{64})"/g)].map((match) => match[1] as string);
}
