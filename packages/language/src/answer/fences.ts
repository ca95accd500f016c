/**
 * Fenced blocks of a text, as CommonMark has them (section 4.5): three or more backticks or tildes, closed by at least as many.
 *
 * Boundary: a text in, blocks out; linear, whatever the text.
 */

export interface Fence {
    /** First word behind the opening fence, lower case. */
    readonly tag: string;
    readonly text: string;
    /** The text ended before the block was closed. */
    readonly open: boolean;
}

const OPENING = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*$/;

export function fencesOf(text: string): Fence[] {
    const found: Fence[] = [];
    let inside: { readonly mark: string; readonly tag: string; readonly from: number } | null = null;
    const lines = text.split("\n");
    const take = (from: number, to: number): string => lines.slice(from, to).join("\n");
    for (let i = 0; i < lines.length; i++) {
        const line = (lines[i] as string).replace(/\r$/, "");
        if (inside === null) {
            const opening = OPENING.exec(line);
            if (opening !== null) inside = { mark: opening[1] as string, tag: (opening[2] as string).toLowerCase(), from: i + 1 };
            continue;
        }
        const close = line.trim();
        if (close.length < inside.mark.length || close !== (inside.mark[0] as string).repeat(close.length)) continue;
        found.push({ tag: inside.tag, text: take(inside.from, i), open: false });
        inside = null;
    }
    if (inside !== null) found.push({ tag: inside.tag, text: take(inside.from, lines.length), open: true });
    return found;
}

/** Comments and blank lines, then the head of a function or a shape. Each way through it consumes what no other does: it is linear. */
const SOURCE = /^\s*(?:(?:\/\/[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)\s*)*(?:(?:main\s+)?func\b|shape\s+[\p{L}_][\p{L}\p{N}_]*\s*\{)/u;

/** A text that is nothing but source: it begins with what an answer may declare, and holds no block of its own. */
export function isSource(text: string): boolean {
    return SOURCE.test(text) && fencesOf(text).length === 0;
}
