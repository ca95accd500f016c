/**
 * Texts in backticks as they stand in a file: where one ends, and what in it is text and what an expression.
 *
 * Boundary: knows characters only. What an expression in it is, the parser reads.
 *
 * TPL1: takes time linear in the text, however templates stand inside one another: deeper than `MAX_INSIDE` they are not looked into.
 */

const [BACKTICK, BACKSLASH, OPEN, CLOSE, DOUBLE, SINGLE, SLASH] = [96, 92, 123, 125, 34, 39, 47];
/** Templates inside the expressions of templates. */
export const MAX_INSIDE = 8;

/** Characters after a backslash that stand for themselves in a template, besides those of any string. */
export const TEMPLATE_ESCAPES = "`{}";

/** Behind the backtick that ends the template at `from`; -1 where none does. */
export function templateEnd(text: string, from: number, inside = 0): number {
    if (inside > MAX_INSIDE) return -1;
    for (let at = from + 1; at < text.length; at++) {
        const c = text.charCodeAt(at);
        if (c === BACKSLASH) at = escapeEnd(text, at);
        else if (c === BACKTICK) return at + 1;
        else if (c === OPEN) {
            at = holeEnd(text, at, inside);
            if (at < 0) return -1;
        }
    }
    return -1;
}

const CODE_POINT = /^\\u\{[0-9a-fA-F]{1,6}\}/;

/** The last character of the escape that begins at the backslash: the braces of `\u{…}` are its own. */
function escapeEnd(text: string, from: number): number {
    const point = CODE_POINT.exec(text.slice(from, from + 10));
    return point === null ? from + 1 : from + point[0].length - 1;
}

/** The brace that ends the expression behind the one at `from`; -1 where none does. */
function holeEnd(text: string, from: number, inside: number): number {
    let depth = 0;
    for (let at = from; at < text.length; at++) {
        const c = text.charCodeAt(at);
        if (c === OPEN) depth++;
        else if (c === CLOSE && --depth === 0) return at;
        else if (c === BACKTICK) {
            const end = templateEnd(text, at, inside + 1);
            if (end < 0) return -1;
            at = end - 1;
        } else if (c === DOUBLE || c === SINGLE) {
            const end = quotedEnd(text, at);
            if (end < 0) return -1;
            at = end;
        } else if (c === SLASH && text.charCodeAt(at + 1) === SLASH) {
            const end = text.slice(at).search(/[\r\n]/);
            if (end < 0) return -1;
            at += end;
        }
    }
    return -1;
}

/** The last character of the string in quotes, or of the block string, that begins at `from`; -1 where it has no end. */
function quotedEnd(text: string, from: number): number {
    const quotes = text.startsWith('"""', from) ? '"""' : (text[from] as string);
    for (let at = from + quotes.length; at < text.length; at++) {
        if (text.charCodeAt(at) === BACKSLASH) at++;
        else if (text.startsWith(quotes, at)) return at + quotes.length - 1;
    }
    return -1;
}

/** A piece of a template between two offsets: text, or an expression without its braces. */
export interface Piece {
    readonly kind: "text" | "hole";
    readonly start: number;
    readonly end: number;
}

/** Of a whole template: a text, and behind each expression a text, either of which may be empty. None of one that is not closed. */
export function piecesOf(text: string, { start, end }: { readonly start: number; readonly end: number }): Piece[] {
    if (end - start < 2 || text.charCodeAt(end - 1) !== BACKTICK) return [];
    const pieces: Piece[] = [];
    let from = start + 1;
    for (let at = from; at < end - 1; at++) {
        const c = text.charCodeAt(at);
        if (c === BACKSLASH) at = escapeEnd(text, at);
        else if (c === OPEN) {
            const close = holeEnd(text, at, 0);
            if (close < 0 || close >= end) return [];
            pieces.push({ kind: "text", start: from, end: at }, { kind: "hole", start: at + 1, end: close });
            from = close + 1;
            at = close;
        }
    }
    pieces.push({ kind: "text", start: from, end: end - 1 });
    return pieces;
}

/** As it stands between the backticks, for a text of which no character means anything. */
export function templateText(value: string): string {
    return value.replace(/(?![\t\n])[\p{Cc}\p{Cs}\\`{\u2028\u2029\ufeff]/gu, (char) =>
        char === "\\" || char === "`" || char === "{"
            ? `\\${char}`
            : char === "\r"
              ? "\\r"
              : `\\u{${(char.codePointAt(0) as number).toString(16).toUpperCase()}}`,
    );
}
