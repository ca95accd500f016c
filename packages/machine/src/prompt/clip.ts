/**
 * Cutting a rendered body to a budget, keeping whole items, whole fields and whole characters.
 *
 * Boundary: bodies in, bodies out. Where a budget is counted in tokens the count is an effect; this file says what to count and reads the
 * answer.
 *
 * CP1: a clipped body is never larger than its budget, measured on the text that is really shown (DC4).
 * CP2: a character (Unicode code point) is never split; a string whose own ends are halves of characters is kept as it is.
 * CP3: what is kept is the longest prefix (suffix with `keep end`) of whole items that fits; nothing is ranked, summed up or marked.
 * CP4: a number, boolean or none that does not fit is dropped whole: a part of a number is another number. The same goes for a list or
 *     object for which even `[]` is too long.
 */

import type { BudgetForm, Json } from "@remit/language";
import type { CountReply, ModelCount } from "../effect/effect.ts";
import { wholeAfter, wholeBefore } from "../value/text.ts";
import { type Body, sizeOf, textOf } from "./render.ts";

/** `whole`: nothing was cut; `start`, `end`: which end was kept; `dropped`: nothing of it is left. */
export type ClipStrategy = "whole" | "start" | "end" | "dropped";

export interface Clip {
    readonly body: Body;
    readonly clipped: boolean;
    /** In the unit of the budget: UTF-16 units or tokens. */
    readonly original_size: number;
    readonly clipped_size: number;
    readonly strategy: ClipStrategy;
}

export type Keep = "start" | "end";

/** A body cut to at most `max` UTF-16 units (floor of `max`). */
export function clipChars(body: Body, max: number, keep: Keep = "start"): Clip {
    const limit = Math.max(0, Math.floor(max));
    const original_size = sizeOf(body);
    if (original_size <= limit) return whole(body, original_size);
    return clipped(keepSome(body, fitsChars(body, limit, keep), keep, limit >= 2), original_size, keep);
}

/** How much of a body fits: UTF-16 units of a string, parts of a list or object; 0 for a scalar. */
function fitsChars(body: Body, limit: number, keep: Keep): number {
    if (body.kind === "string") return limit;
    if (body.kind === "scalar") return 0;
    let size = 4;
    let fits = 0;
    for (; fits < body.parts.length; fits++) {
        const part = body.parts[keep === "end" ? body.parts.length - 1 - fits : fits] as string;
        const next = size + part.length + (fits > 0 ? 2 : 0);
        if (next > limit) break;
        size = next;
    }
    return fits;
}

/** The body of which `fits` units or parts are kept; null where nothing may be shown. */
function keepSome(body: Body, fits: number, keep: Keep, brackets: boolean): Body | null {
    if (body.kind === "scalar") return null;
    if (body.kind === "string") {
        const text = body.parts[0] as string;
        const kept = keep === "end" ? text.slice(wholeAfter(text, text.length - fits)) : text.slice(0, wholeBefore(text, fits));
        return kept === "" ? null : { ...body, parts: [kept] };
    }
    if (fits === 0 && !brackets) return null;
    const from = keep === "end" ? body.parts.length - fits : 0;
    return { ...body, parts: body.parts.slice(from, from + fits), marks: body.marks.slice(from, from + fits) };
}

function whole(body: Body, size: number): Clip {
    return { body, clipped: false, original_size: size, clipped_size: size, strategy: "whole" };
}

function clipped(body: Body | null, original_size: number, keep: Keep, clipped_size?: number): Clip {
    if (body === null) return { body: NOTHING, clipped: true, original_size, clipped_size: 0, strategy: "dropped" };
    return { body, clipped: true, original_size, clipped_size: clipped_size ?? sizeOf(body), strategy: keep };
}

/** What is left of a body that was dropped: no text and no origins. */
export const NOTHING: Body = { kind: "string", parts: [""], own: 0, marks: [], sets: [[]] };

// ---- tokens ------------------------------------------------------------------------------------------------------------

/** Tokens kept free for the bracket line that a count of whole parts does not see: no tokenizer makes more than two tokens of two bytes. */
const BRACKET_TOKENS = 2;

type CountItem = ModelCount["items"][number];

/**
 * What to count for a budget in tokens. Two entries a body: the whole of it against the whole budget, then its parts against the budget
 * less a bracket line.
 */
export function countItems(body: Body, max: number, keep: Keep = "start"): CountItem[] {
    const limit = Math.max(0, Math.floor(max));
    if (body.kind === "string") return [{ pieces: [body.parts[0] as string], whole: false, max: limit, keep }];
    const all: CountItem = { pieces: [textOf(body)], whole: true, max: limit, keep };
    if (body.kind === "scalar" || body.parts.length === 0) return [all];
    const [open, close] = body.kind === "list" ? "[]" : "{}";
    const last = body.parts.length - 1;
    const pieces =
        keep === "end"
            ? body.parts.map((part, at) => (at === last ? `${part}\n${close}` : `${part},\n`))
            : body.parts.map((part, at) => (at === 0 ? `${open}\n${part}` : `,\n${part}`));
    return [all, { pieces, whole: true, max: Math.max(0, limit - BRACKET_TOKENS), keep }];
}

/** A body cut by the answers to `countItems` of the same body and budget. */
export function clipTokens(body: Body, max: number, answers: CountReply["items"], keep: Keep = "start"): Clip {
    const first = answers[0] ?? { fits: 0, tokens: 0, total: 0 };
    const original_size = first.total;
    const limit = Math.max(0, Math.floor(max));
    if (first.total <= limit) return whole(body, original_size);
    if (body.kind === "string")
        return clipped(keepSome(body, clamp(first.fits, (body.parts[0] as string).length), keep, false), original_size, keep, first.tokens);
    const second = answers[1] ?? { fits: 0, tokens: 0, total: 0 };
    const fits = clamp(second.fits, body.parts.length);
    const tokens = fits === 0 ? BRACKET_TOKENS : second.tokens + BRACKET_TOKENS;
    return clipped(keepSome(body, fits, keep, limit >= BRACKET_TOKENS), original_size, keep, Math.min(tokens, limit));
}

/** A count is a host's number: whole and between 0 and `most`. */
function clamp(count: number, most: number): number {
    return Number.isFinite(count) ? Math.min(most, Math.max(0, Math.floor(count))) : 0;
}

// ---- one item ----------------------------------------------------------------------------------------------------------

/** What the ledger says of a clip. */
export function clipReport(clip: Clip, budget: BudgetForm | undefined): { [key: string]: Json } {
    return {
        budget: budget === undefined ? null : { amount: budget.amount, unit: budget.unit, text: budget.text, keep: budget.keep ?? "start" },
        clipped: clip.clipped,
        original_size: clip.original_size,
        clipped_size: clip.clipped_size,
        strategy: clip.strategy,
    };
}
