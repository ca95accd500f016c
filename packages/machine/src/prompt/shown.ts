/**
 * What a model is shown of the result of a tool that it called.
 *
 * Boundary: JSON in, JSON out. The ledger keeps the whole result; only the conversation with the model has the shorter one.
 *
 * SHO1: no result takes more than `RESULT_LIMIT` UTF-16 units of a conversation, the mark that says so aside.
 * SHO2: what is cut says so in its last line, with both sizes; a character is never split.
 * SHO3: a picture in a result (a content block as MCP has it, or what `use image` takes) is taken out and given beside it; a line stands in its place.
 */

import { isObject, type Json } from "@remit/language";
import { wholeBefore } from "../value/text.ts";
import { BASE64, type FilePart, PICTURE_TYPES } from "./image.ts";

/** UTF-16 units of a text, or of a value printed as JSON. */
export const RESULT_LIMIT = 65_536;
/** Of one result. */
const MAX_PICTURES = 8;

export interface ShownResult {
    readonly result: Json;
    /** Pictures of the result. */
    readonly files: readonly FilePart[];
    /** Set where the model is shown less than the whole. */
    readonly cut?: { readonly limit: number; readonly original_size: number; readonly clipped_size: number };
}

/** A result as the model sees it: as it is, else the beginning of its text. */
export function shownResult(whole: Json, limit: number = RESULT_LIMIT): ShownResult {
    const files: FilePart[] = [];
    const value = withoutPictures(whole, files);
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (text.length <= limit) return { result: value, files };
    const { result, kept } = beginningOf(text, limit);
    return { result, files, cut: { limit, original_size: text.length, clipped_size: kept } };
}

/** A longer text's beginning, with a line that says what is missing. `kept`: UTF-16 units of it. */
export function beginningOf(text: string, limit: number = RESULT_LIMIT): { readonly result: string; readonly kept: number } {
    const kept = wholeBefore(text, limit);
    return { result: `${text.slice(0, kept)}\n[cut here: ${kept} of ${text.length} characters are shown]`, kept };
}

/** SHO3. `files`: takes the pictures. */
function withoutPictures(value: Json, files: FilePart[]): Json {
    if (Array.isArray(value)) return value.map((one) => block(one, files));
    if (!isObject(value)) return value;
    if (Array.isArray(value.content)) return { ...value, content: value.content.map((one) => block(one, files)) };
    const said = take(value.media_type, value.data, files);
    return said === null ? value : { ...value, data: said };
}

function block(value: Json, files: FilePart[]): Json {
    if (!isObject(value) || value.type !== "image") return value;
    const said = take(value.mimeType, value.data, files);
    return said === null ? value : { type: "text", text: said };
}

/** The line in place of a picture; null where it is none. */
function take(mediaType: Json | undefined, data: Json | undefined, files: FilePart[]): string | null {
    if (typeof mediaType !== "string" || !PICTURE_TYPES.includes(mediaType)) return null;
    if (typeof data !== "string" || data === "" || !BASE64.test(data)) return null;
    const what = `${mediaType}, ${Math.floor((data.length * 3) / 4)} bytes`;
    if (files.length >= MAX_PICTURES) return `[a picture was left out: ${what}; ${MAX_PICTURES} are shown of one result]`;
    files.push({ mediaType, data, optional: true });
    return `[picture ${files.length}: ${what}; it follows]`;
}
