/**
 * JSON cut short for a reader that only looks: long texts, and lists where a bound is given. Objects keep their keys.
 *
 * Boundary: no secret is known here: what takes them out comes before (the beginning of one would be left).
 */
import type { Json } from "@remit/language";

export interface ClipBounds {
    /** UTF-16 units of a text. */
    readonly text: number;
    /** Items of a list; absent: all. */
    readonly items?: number;
}

export function clipped(json: Json, bounds: ClipBounds): Json {
    if (typeof json === "string") {
        const { text } = bounds;
        return json.length > text ? `${json.slice(0, text).toWellFormed()}… (${json.length} characters)` : json;
    }
    if (Array.isArray(json)) return json.slice(0, bounds.items).map((one) => clipped(one, bounds));
    if (json === null || typeof json !== "object") return json;
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, clipped(value, bounds)]));
}
