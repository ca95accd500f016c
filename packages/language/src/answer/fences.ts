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
    for (let at = 0, end = 0; at <= text.length; at = end + 1) {
        const next = text.indexOf("\n", at);
        end = next < 0 ? text.length : next;
        if (!mayBeFence(text, at, end)) continue;
        const line = text.slice(at, end).replace(/\r$/, "");
        if (inside === null) {
            const opening = OPENING.exec(line);
            if (opening !== null) inside = { mark: opening[1] as string, tag: (opening[2] as string).toLowerCase(), from: end + 1 };
            continue;
        }
        const close = line.trim();
        if (close.length < inside.mark.length || close !== (inside.mark[0] as string).repeat(close.length)) continue;
        found.push({ tag: inside.tag, text: text.slice(inside.from, Math.max(inside.from, at - 1)), open: false });
        inside = null;
    }
    if (inside !== null) found.push({ tag: inside.tag, text: text.slice(inside.from), open: true });
    return found;
}

/** Whether a line begins with a mark of fences behind its spaces, whatever of Unicode may be one: few lines do. */
function mayBeFence(text: string, from: number, end: number): boolean {
    let at = from;
    while (at < end && (text.charCodeAt(at) <= 0x20 || text.charCodeAt(at) > 0x7e)) at++;
    const c = at < end ? text.charCodeAt(at) : 0;
    return c === 0x60 || c === 0x7e;
}

/** Comments and blank lines, then the head of a function or a shape. Each way through it consumes what no other does: it is linear. */
const SOURCE = /^\s*(?:(?:\/\/[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)\s*)*(?:(?:main\s+)?func\b|shape\s+[\p{L}_][\p{L}\p{N}_]*\s*\{)/u;

/** A text that is nothing but source: it begins with what an answer may declare, and holds no block of its own. */
export function isSource(text: string): boolean {
    return SOURCE.test(text) && fencesOf(text).length === 0;
}
