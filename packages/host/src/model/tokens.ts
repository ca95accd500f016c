/**
 * Counting tokens, and cutting texts to so many.
 *
 * Boundary: an approximation where the model's own tokenizer is not known; the reply says which one counted. The tables are loaded at the first
 * count.
 *
 * TK1: what is kept never has more tokens than `max`, by the tokenizer that is named.
 * TK2: a text is never cut inside a character (a surrogate pair, a base and its combining marks).
 */
import type { CountReply, ModelCount } from "@remit/machine";

export interface Tokenizer {
    readonly name: string;
    count(text: string): number;
    /** The tokens of a text, each as the text it stands for; a token can be part of a character, so pieces are only measured together. */
    encode(text: string): number[];
    decode(tokens: readonly number[]): string;
}

/** Encoding of a model: o200k for OpenAI's since 4o, cl100k for those before; for all others o200k as the nearest known. */
export function encodingOf(model: string): { readonly encoding: "o200k_base" | "cl100k_base"; readonly exact: boolean } {
    const name = model.slice(model.lastIndexOf("/") + 1);
    if (/^(?:gpt-4o|gpt-4\.|gpt-5|gpt-6|chatgpt|o[1-9])/.test(name)) return { encoding: "o200k_base", exact: true };
    if (/^(?:gpt-4|gpt-3\.5|text-embedding)/.test(name)) return { encoding: "cl100k_base", exact: true };
    return { encoding: "o200k_base", exact: false };
}

const loaded = new Map<string, Promise<Tokenizer>>();

/** The tokenizer for a model, `o200k_base` or `o200k_base (nearest known)`. */
export function tokenizerOf(model: string): Promise<Tokenizer> {
    const { encoding, exact } = encodingOf(model);
    const name = exact ? encoding : `${encoding} (nearest known)`;
    let known = loaded.get(name);
    if (known === undefined) {
        known = load(encoding, name);
        loaded.set(name, known);
    }
    return known;
}

async function load(encoding: "o200k_base" | "cl100k_base", name: string): Promise<Tokenizer> {
    const tables =
        encoding === "o200k_base" ? await import("gpt-tokenizer/encoding/o200k_base") : await import("gpt-tokenizer/encoding/cl100k_base");
    // Text like `<|endoftext|>` in data is text.
    const options = { disallowedSpecial: new Set<string>() };
    return {
        name,
        count: (text) => tables.countTokens(text, options),
        encode: (text) => tables.encode(text, options),
        decode: (tokens) => tables.decode(tokens),
    };
}

/** Answers a count effect. `limit`: UTF-16 units looked at in one item, so that a huge text costs no more than what can fit. */
export function countItems(request: ModelCount, tokenizer: Tokenizer): CountReply {
    return {
        tokenizer: tokenizer.name,
        items: request.items.map((item) => (item.whole ? wholePieces(item, tokenizer) : cutText(item, tokenizer))),
    };
}

type Item = ModelCount["items"][number];
type Counted = CountReply["items"][number];

function wholePieces(item: Item, tokenizer: Tokenizer): Counted {
    const fromEnd = item.keep === "end";
    const total = countLong(item.pieces.join(""), tokenizer);
    if (total <= item.max) return { fits: item.pieces.length, tokens: total, total };
    // Tokens can join at the seams of pieces, so the text kept is counted as one: find the largest number of pieces by halving.
    const textOf = (count: number): string =>
        (fromEnd ? item.pieces.slice(item.pieces.length - count) : item.pieces.slice(0, count)).join("");
    let low = 0;
    let high = item.pieces.length - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (countLong(textOf(middle), tokenizer) <= item.max) low = middle;
        else high = middle - 1;
    }
    return { fits: low, tokens: low === 0 ? 0 : countLong(textOf(low), tokenizer), total };
}

function cutText(item: Item, tokenizer: Tokenizer): Counted {
    const text = item.pieces.join("");
    const total = countLong(text, tokenizer);
    if (total <= item.max) return { fits: text.length, tokens: total, total };
    const fromEnd = item.keep === "end";
    // A token is at most a few hundred characters: only that much of the text can fit.
    const window = Math.min(text.length, item.max * 400 + 400);
    const part = fromEnd ? text.slice(text.length - window) : text.slice(0, window);
    const tokens = slices(part).flatMap((slice) => tokenizer.encode(slice));
    let keep = Math.max(0, Math.min(item.max, tokens.length));
    while (keep > 0) {
        const shown = tokenizer.decode(fromEnd ? tokens.slice(tokens.length - keep) : tokens.slice(0, keep));
        const fits = boundary(text, fromEnd ? text.length - sameEnd(part, shown) : sameStart(part, shown), fromEnd);
        const kept = fromEnd ? text.slice(text.length - fits) : text.slice(0, fits);
        const count = countLong(kept, tokenizer);
        // Cutting can make other tokens of the same characters, and more of them.
        if (count <= item.max) return { fits, tokens: count, total };
        keep -= Math.max(1, count - item.max);
    }
    return { fits: 0, tokens: 0, total };
}

/** Units at the start that are the same: a token that ends inside a character decodes to something else there. */
function sameStart(text: string, shown: string): number {
    let at = 0;
    while (at < shown.length && text[at] === shown[at]) at++;
    return at;
}

function sameEnd(text: string, shown: string): number {
    let at = 0;
    while (at < shown.length && text[text.length - 1 - at] === shown[shown.length - 1 - at]) at++;
    return at;
}

/** Units kept so that no character is cut: `at` is the first unit cut (from the start) or the first kept (from the end). */
function boundary(text: string, at: number, fromEnd: boolean): number {
    let cut = at;
    const inside = (index: number): boolean => index > 0 && index < text.length && (isLow(text, index) || isMark(text, index));
    if (fromEnd) {
        while (inside(cut)) cut++;
        return text.length - cut;
    }
    while (inside(cut)) cut--;
    return cut;
}

function isLow(text: string, index: number): boolean {
    const code = text.charCodeAt(index);
    return code >= 0xdc00 && code <= 0xdfff;
}

function isMark(text: string, index: number): boolean {
    return /^(?:\p{M}|\u200d|\ufe0f)/u.test(text.slice(index, index + 2)) || text[index - 1] === "\u200d";
}

function countLong(text: string, tokenizer: Tokenizer): number {
    if (text.length <= SLICE) return tokenizer.count(text);
    return slices(text).reduce((sum, slice) => sum + tokenizer.count(slice), 0);
}

/** Units of a slice. A run without a break costs a tokenizer its length squared, so long texts are taken in slices, at spaces where there are any. */
const SLICE = 2048;

function slices(text: string): string[] {
    const out: string[] = [];
    for (let at = 0; at < text.length; ) {
        let end = Math.min(text.length, at + SLICE);
        if (end < text.length) {
            const near = Math.max(text.lastIndexOf(" ", end), text.lastIndexOf("\n", end));
            if (near > at + SLICE / 2) end = near;
            else if (isLow(text, end)) end++;
        }
        out.push(text.slice(at, end));
        at = end;
    }
    return out;
}
