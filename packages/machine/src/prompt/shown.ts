/**
 * What a model is shown of the result of a tool that it called.
 *
 * Boundary: JSON in, JSON out. The ledger keeps the whole result; only the conversation with the model has the shorter one.
 *
 * SHO1: no result takes more than `RESULT_LIMIT` UTF-16 units of a conversation, the mark that says so aside.
 * SHO2: what is cut says so in its last line, with both sizes; a character is never split.
 */

import type { Json } from "@remit/language";
import { wholeBefore } from "../value/text.ts";

/** UTF-16 units of a text, or of a value printed as JSON. */
export const RESULT_LIMIT = 65_536;

export interface ShownResult {
    readonly result: Json;
    /** Set where the model is shown less than the whole. */
    readonly cut?: { readonly limit: number; readonly original_size: number; readonly clipped_size: number };
}

/** A result as the model sees it: as it is, else the beginning of its text. */
export function shownResult(value: Json, limit: number = RESULT_LIMIT): ShownResult {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (text.length <= limit) return { result: value };
    const kept = text.slice(0, wholeBefore(text, limit));
    const result = `${kept}\n[cut here: ${kept.length} of ${text.length} characters are shown]`;
    return { result, cut: { limit, original_size: text.length, clipped_size: kept.length } };
}
