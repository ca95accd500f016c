/** Replacements of text that cure what is said about it. */
import type { Range } from "./source.ts";

/** Edits of one fix do not overlap. */
export interface Fix {
    readonly title: string;
    readonly edits: readonly { readonly range: Range; readonly text: string }[];
    /** True where `fmt --fix` may apply it unasked: the meaning stays what the author meant. */
    readonly safe: boolean;
}

/** One place, where another text should stand. */
export function fix(title: string, range: Range, text: string, safe = false): Fix {
    return { title, safe, edits: [{ range, text }] };
}

/** What stands in one place, with texts before and behind it. */
export function around(title: string, { start, end }: Range, before: string, behind: string, safe = false): Fix {
    const edits = [
        { range: { start, end: start }, text: before },
        { range: { start: end, end }, text: behind },
    ];
    return { title, safe, edits };
}
