/**
 * Finds what may be an answer in a reply: JSON values outside of what the model only thought, with where each stands.
 *
 * Boundary: places and syntax. Which one counts is decided in `choose.ts`.
 *
 * FIN1: a mark (fence, tag, backtick) inside a value that reads as JSON is text of that value.
 * FIN2: a piece that looked like JSON and broke is kept as broken, and nothing inside it is offered as an answer of its own.
 * FIN3: linear: every character is passed once, but for the first characters of brackets in prose.
 */
import { MAX_NESTING, type Parsed, readValue } from "./lenient.ts";
import { Bare, Loose, type Value } from "./loose.ts";
import { ANSWER_TAGS, THINK_TAGS } from "./words.ts";

export interface Piece {
    readonly start: number;
    readonly end: number;
    /** Where it stands. `think` only where a think block is never closed. */
    readonly zone: "prose" | "fence" | "tag" | "think";
    /** Language of the fence, lower case. */
    readonly fence: string;
    /** Index of the fence or tag it stands in, the same for all pieces in it; -1 in prose. */
    readonly block: number;
    /** One reading, or two where quotes inside texts allow two. */
    readonly readings: readonly Parsed[];
    /** The text between the mark or piece before and this one, its last 200 characters. */
    readonly before: string;
}

export interface Fence {
    readonly lang: string;
    readonly text: string;
    readonly closed: boolean;
    /** Where its contents begin. */
    readonly start: number;
}

export interface Found {
    readonly pieces: readonly Piece[];
    /** The reply without think blocks. */
    readonly spoken: string;
    /** There was a think block, closed or not. */
    readonly thought: boolean;
    /** A think block began and never ended: everything after it is in zone `think`. */
    readonly openThought: boolean;
    /** The contents of fences, for answers that are not JSON. */
    readonly fences: readonly Fence[];
    /** The reply itself. */
    readonly text: string;
    /** The text after the last piece. */
    readonly after: string;
    /** Brackets cost more effort than a reply is worth: what was found is not all there is. */
    readonly gaveUp: boolean;
}

const TAG = /<(\/?)\|?([a-zA-Z_]{2,20})\|?(?:\s[^<>\n]{0,60})?>/y;
const CHANNEL_FINAL = "<|channel|>final<|message|>";
/** Work that brackets in prose may cost before looking stops, in characters per character of the text. */
const EFFORT = 6;

/** Why it is long: one pass over the characters, whose cases share the open fence and tag, the last mark and the effort that is left. */
export function find(text: string): Found {
    const pieces: Piece[] = [];
    const fences: Fence[] = [];
    const missing = new Set<string>();
    let lower: string | null = null;
    let spoken = "";
    let from = 0;
    let mark = 0;
    let thought = false;
    let open = false;
    let fence: { lang: string; start: number; run: string } | null = null;
    let tag = "";
    let block = 0;
    let i = 0;
    let effort = text.length * EFFORT + 2000;
    const translations = { left: 3 };
    const ink = { first: text.search(/\S/), last: text.trimEnd().length };
    const say = (to: number): void => {
        spoken += text.slice(from, to);
    };
    const forget = (next: number): void => {
        pieces.length = 0;
        fences.length = 0;
        fence = null;
        spoken = "";
        from = next;
        mark = next;
        thought = true;
        open = false;
    };
    while (i < text.length) {
        const ch = text[i] as string;
        if (ch === "<") {
            if (text.startsWith(CHANNEL_FINAL, i)) {
                i += CHANNEL_FINAL.length;
                forget(i);
                continue;
            }
            TAG.lastIndex = i;
            const found = TAG.exec(text);
            const name = found?.[2]?.toLowerCase() ?? "";
            if (found !== null && THINK_TAGS.has(name)) {
                const next = i + found[0].length;
                if (found[1] === "/") {
                    // Closed without having been opened: all before it was thought.
                    forget(next);
                    i = next;
                    continue;
                }
                thought = true;
                say(i);
                let close = -1;
                if (!missing.has(name)) {
                    lower ??= text.toLowerCase();
                    close = lower.length === text.length ? lower.indexOf(`</${name}`, next) : text.indexOf(`</${name}`, next);
                    if (close < 0) missing.add(name);
                }
                if (close < 0) {
                    open = true;
                    i = next;
                } else {
                    const end = text.indexOf(">", close);
                    i = end < 0 ? text.length : end + 1;
                }
                from = i;
                mark = i;
                continue;
            }
            if (found !== null && ANSWER_TAGS.has(name)) {
                tag = found[1] === "/" ? "" : name;
                block = i;
                i += found[0].length;
                mark = i;
                continue;
            }
        } else if ((ch === "`" && text.startsWith("```", i)) || (ch === "~" && text.startsWith("~~~", i) && lineStart(text, i))) {
            let end = i + 3;
            while (text[end] === ch) end++;
            if (fence !== null && ch === fence.run) {
                fences.push({ lang: fence.lang, text: text.slice(fence.start, i), closed: true, start: fence.start });
                fence = null;
                mark = end;
            } else if (fence === null) {
                const lang = /[A-Za-z0-9_+-]*/y;
                lang.lastIndex = end;
                const word = lang.exec(text)?.[0] ?? "";
                end += word.length;
                fence = { lang: word.toLowerCase(), start: end, run: ch };
            }
            i = end;
            continue;
        } else if (ch === "{" || ch === "[" || ch === "｛" || ch === "［") {
            if (effort <= 0) break;
            const readings = readAt(text, i, translations);
            const first = readings[0] as Parsed;
            const longest = Math.max(...readings.map((reading) => reading.end));
            effort -= longest - i;
            // Deeper than anything is read: it is broken, and what stands inside it is no answer of its own (FIN2).
            const deep = first.state === "broken" && first.depth > MAX_NESTING;
            const opaque = !deep && first.state !== "complete" && !first.evidence && !(first.state === "cut" && startsJson(text, i));
            const link = first.state === "complete" && text[first.end] === "(" && ch === "[";
            const words = ch === "[" && fence === null && first.state === "complete" && onlyBare(first.value);
            if (opaque || link || (words && !(i === ink.first && first.end === ink.last))) {
                // Nothing in it was JSON. A long run of brackets is passed at once, so that each is not tried in turn.
                while (text[i] === ch) i++;
                continue;
            }
            pieces.push({
                start: i,
                end: longest,
                zone: open ? "think" : tag !== "" ? "tag" : fence !== null ? "fence" : "prose",
                fence: fence?.lang ?? "",
                block: fence?.start ?? (tag === "" ? -1 : block),
                readings,
                before: text.slice(Math.max(mark, i - 200), i),
            });
            i = Math.max(longest, i + 1);
            if (first.state === "broken") i = pastBroken(text, i, first.depth);
            mark = i;
            continue;
        }
        i++;
    }
    if (fence !== null) {
        const { lang, start } = fence as { lang: string; start: number };
        fences.push({ lang, text: text.slice(start), closed: false, start });
    }
    say(text.length);
    return { text, pieces, spoken, thought, openThought: open, fences, after: text.slice(mark), gaveUp: effort <= 0 };
}

/** Reads at `i`; a value whose quotes are all escaped (`{\"a\"…`) or written as `&quot;` is read as what it stands for. */
function readAt(text: string, i: number, translations: { left: number }): Parsed[] {
    const head = text.slice(i, i + 24);
    if (!/[\\&]/.test(head) || translations.left-- <= 0) return readValue(text, i);
    if (/^[{[]\s*(?:\\n\s*)*[{[]?\s*\\"/.test(head))
        return translated(text, i, /\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g, escaped, "one level of escapes removed");
    if (/^[{[]\s*[{[]?\s*&quot;/.test(head))
        return translated(text, i, /&(quot|amp|lt|gt|#39|apos);/g, entity, "character references of HTML read");
    return readValue(text, i);
}

const LETTERS: { readonly [letter: string]: string } = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };
function escaped(match: RegExpExecArray): string {
    return match[1] !== undefined
        ? String.fromCharCode(Number.parseInt(match[1], 16))
        : (LETTERS[match[2] as string] ?? (match[2] as string));
}
const ENTITIES: { readonly [name: string]: string } = { quot: '"', amp: "&", lt: "<", gt: ">", "#39": "'", apos: "'" };
function entity(match: RegExpExecArray): string {
    return ENTITIES[match[1] as string] as string;
}

/** Reads the rest of the text after a translation, and gives the end back in terms of the text itself. */
function translated(text: string, i: number, pattern: RegExp, to: (match: RegExpExecArray) => string, repair: string): Parsed[] {
    let made = "";
    let from = i;
    const stops: { at: number; source: number }[] = [];
    pattern.lastIndex = i;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
        made += text.slice(from, match.index) + to(match);
        from = match.index + match[0].length;
        stops.push({ at: made.length, source: from });
    }
    made += text.slice(from);
    return readValue(made, 0).map((parsed) => {
        const before = stops.findLast((place) => place.at <= parsed.end) ?? { at: 0, source: i };
        const end = Math.min(text.length, before.source + (parsed.end - before.at));
        return { ...parsed, end, repairs: [...parsed.repairs, repair] };
    });
}

/** The end of a piece that broke at `at` with `depth` brackets open: where they close, or a fence or tag ends it. */
function pastBroken(text: string, at: number, depth: number): number {
    let left = depth;
    let i = at;
    for (; i < text.length && left > 0; i++) {
        const ch = text[i];
        if (ch === "{" || ch === "[") left++;
        else if (ch === "}" || ch === "]") left--;
        else if ((ch === "`" && text.startsWith("```", i)) || (ch === "<" && text.startsWith("</", i))) break;
    }
    return i;
}

function lineStart(text: string, i: number): boolean {
    return /(?:^|\n)[\s>*-]*$/.test(text.slice(Math.max(0, i - 12), i));
}

function startsJson(text: string, i: number): boolean {
    return /^[{[]\s*(?:$|["'“]|[{[]\s*["'“]|[A-Za-z_]\w{0,40}\s*:)/.test(text.slice(i, i + 60));
}

function onlyBare(value: Value): boolean {
    return Array.isArray(value) && value.some((item) => item instanceof Bare) && !value.some((item) => item instanceof Loose);
}
