/**
 * Text to tokens. Tokens live in parallel arrays (kind, start, end, matching bracket, "a line break stands before"); no object and no
 * substring is made for one, which is what keeps reading fast.
 *
 * Boundary: knows characters and `tokens.ts`; knows nothing of the grammar. String contents are decoded later (`strings.ts`).
 *
 * LE1: never throws, whatever the text, and takes time linear in it.
 * LE2: tokens and comments are in source order, do not overlap, and the last token is `EOF` at the end of the text.
 * LE3: every bracket that has a partner knows it (`match`), every other has -1.
 *
 * Why it is long: reading is one function over its own cursor and arrays; cut into several, each would have to pass
 * them on at every character.
 */
import { fix } from "../text/fix.ts";
import type { Diagnostic, Fix } from "../diagnostics/diagnostic.ts";
import type { Source } from "../text/source.ts";
import { SYNTAX_CODES, type SyntaxCodeName } from "./codes.ts";
import { checkEscapes } from "./strings.ts";
import { piecesOf, TEMPLATE_ESCAPES, templateEnd } from "./templates.ts";
import { SYMBOLS, T, WORDS } from "./tokens.ts";
import type { Comment } from "./tree.ts";

export interface Tokens {
    /** Number of tokens, `EOF` included; the arrays may be longer. */
    readonly count: number;
    readonly kind: Uint8Array;
    readonly start: Int32Array;
    readonly end: Int32Array;
    /** Index of the partner of a bracket token, else -1. */
    readonly match: Int32Array;
    /** 1 where a line break stands between this token and the one before. */
    readonly newline: Uint8Array;
    /** Every brace has a partner. */
    readonly balanced: boolean;
    /** A string, a block string or a text in backticks has no end. */
    readonly unclosed: boolean;
}

export interface Lexed {
    readonly tokens: Tokens;
    readonly comments: readonly Comment[];
    readonly diagnostics: readonly Diagnostic[];
}

/** At most so many errors are reported for one text. */
export const MAX_ERRORS = 1000;

const MAX_SAFE_DIGITS = "9007199254740992";

// Classes of ASCII characters.
const LETTER = 1;
const DIGIT = 2;
const CLASS = new Uint8Array(128);
for (let c = 97; c <= 122; c++) CLASS[c] = CLASS[c - 32] = LETTER;
CLASS[95] = LETTER;
for (let c = 48; c <= 57; c++) CLASS[c] = DIGIT;

// Symbols of one character, and longer ones by their first, the longest first.
const ONE = new Uint8Array(128);
const LONGER: [text: string, kind: number][][] = Array.from({ length: 128 }, () => []);
for (const [kind, text] of Object.entries(SYMBOLS).sort(([, a], [, b]) => b.length - a.length))
    if (text.length === 1) ONE[text.charCodeAt(0)] = Number(kind);
    else LONGER[text.charCodeAt(0)]?.push([text, Number(kind)]);

/** Operators of other languages, read as ours. */
const FOREIGN: readonly (readonly [found: string, write: string, kind: number])[] = [
    ["===", "==", T.Eq],
    ["!==", "!=", T.Ne],
    ["||", "or", T.Or],
    ["&&", "and", T.And],
];

/** Characters that begin more than a symbol of one. */
const LOOK = new Uint8Array(128);
for (const text of ["//", ...LONGER.flat().map(([found]) => found), ...FOREIGN.map(([found]) => found)]) LOOK[text.charCodeAt(0)] = 1;

// Words by hash, open addressing. A slot holds a kind or 0.
const WORD_SLOTS = new Uint8Array(1024);
const WORD_MAX = Math.max(...WORDS.map((word) => word.length));
for (let i = 0; i < WORDS.length; i++) {
    let hash = 0;
    for (const char of WORDS[i] as string) hash = (Math.imul(hash, 33) + char.charCodeAt(0)) | 0;
    let slot = hash & 1023;
    while (WORD_SLOTS[slot] !== 0) slot = (slot + 1) & 1023;
    WORD_SLOTS[slot] = T.Word + 1 + i;
}

function wordKind(text: string, start: number, end: number, hash: number): number {
    let slot = hash & 1023;
    for (;;) {
        const kind = WORD_SLOTS[slot] as number;
        if (kind === 0) return T.Word;
        const word = WORDS[kind - T.Word - 1] as string;
        if (word.length === end - start && text.startsWith(word, start)) return kind;
        slot = (slot + 1) & 1023;
    }
}

/** Letters of other alphabets: read as part of a name, so that one bad name is one error. */
function isForeignLetter(c: number): boolean {
    if (c < 0xaa || c === 0xd7 || c === 0xf7) return false;
    if (c >= 0x2000 && c <= 0x206f) return false;
    if (c >= 0x3000 && c <= 0x303f) return false;
    return c < 0xfe00 || (c > 0xff20 && c < 0xfff0);
}

function isForeignSpace(c: number): boolean {
    return (
        c === 0xa0 || c === 0xfeff || c === 0x3000 || (c >= 0x2000 && c <= 0x200b) || c === 0x202f || c === 0x0b || c === 0x0c || c === 0x85
    );
}

/** What to write instead of a character that is none of ours. */
const INSTEAD: Readonly<Record<string, string>> = {
    ";": "Statements need no separator; leave the semicolon out.",
    "&": "Write `and`.",
    "“": 'Use the straight quotes `"`.',
    "”": 'Use the straight quotes `"`.',
    "‘": "Use the straight quotes `'`.",
    "’": "Use the straight quotes `'`.",
    "\\": "A backslash has a meaning inside strings only.",
};

function instead(char: string): string | undefined {
    return Object.hasOwn(INSTEAD, char) ? INSTEAD[char] : undefined;
}

/**
 * A quote that is never closed turns every later string inside out, and the error would be found at the last one. So where the quotes
 * do not add up, the first string of several lines with which all adds up is taken for the one that was meant to end on its line. A text
 * in backticks that has no end may hold others that do.
 */
export function lex(src: Source): Lexed {
    const first = scan(src, -1);
    if (!first.tokens.unclosed) return first;
    const { kind, start, end, count } = first.tokens;
    const several: number[] = [];
    for (let i = 0; i < count && several.length < MAX_TRIES; i++)
        if (kind[i] === T.String && /[\n\r]/.test(src.text.slice(start[i], end[i]))) several.push(start[i] as number);
    const open = unclosedIn(first);
    if (open.length > 1) several.push((open[0] as Diagnostic).range.start);
    for (const from of several) {
        const second = scan(src, from);
        if (unclosedIn(second).length === 1) return second;
    }
    return first;
}

/** Strings of several lines that are taken for the one without an end. */
const MAX_TRIES = 8;

function unclosedIn({ diagnostics }: Lexed): Diagnostic[] {
    return diagnostics.filter((one) => one.code === "UNTERMINATED_STRING");
}

/** The tokens between two offsets of a text, as those of an expression in a template. Comments do not stand there. */
export function lexPart(src: Source, from: number, to: number): Pick<Lexed, "tokens" | "diagnostics"> {
    const { tokens, comments, diagnostics } = scan({ ...src, text: src.text.slice(0, to) }, -1, from);
    const hint = "Write it beside the text.";
    const inside = comments.map(
        ({ range }): Diagnostic => ({
            ...{ code: "SYNTAX", severity: "error", message: "No comment stands inside a text in backticks.", file: src.file, range, hint },
        }),
    );
    return { tokens, diagnostics: [...diagnostics, ...inside] };
}

/**
 * `cut`: a string that begins here ends on its line. `from`: where the tokens begin.
 *
 * Why it is long: one loop over local variables; the rows on lexing in `bench/` get worse where a character passes a call.
 */
function scan(src: Source, cut: number, from = 0): Lexed {
    const text = src.text;
    const length = text.length;
    let capacity = ((length - from) >> 2) + 16;
    let kind = new Uint8Array(capacity);
    let start = new Int32Array(capacity);
    let end = new Int32Array(capacity);
    let match = new Int32Array(capacity);
    let newline = new Uint8Array(capacity);
    const comments: Comment[] = [];
    const diagnostics: Diagnostic[] = [];
    const open: number[] = [];
    const openCount = [0, 0, 0];
    let count = 0;
    let balanced = true;
    let broken = 0;
    let errors = 0;
    let i = from === 0 && text.charCodeAt(0) === 0xfeff ? 1 : from;
    // Once a delimiter has been found to have no partner, none of its later ones has: looking again would make reading quadratic.
    let doubleOpen = false;
    let singleOpen = false;
    let blockOpen = false;
    let templateOpen = false;
    let wasCut = false;
    let commentOpen = false;

    /** Why so many: they are the parts of a diagnostic, of which most callers give four. */
    function report(code: SyntaxCodeName, message: string, from: number, to: number, hint?: string, fixes?: readonly Fix[]): void {
        const severity = SYNTAX_CODES[code].severity;
        if (severity === "error" && ++errors > MAX_ERRORS + 1) return;
        const diagnostic = { code, severity, message, file: src.file, range: { start: from, end: to }, hint, fixes };
        diagnostics.push(diagnostic);
    }

    function push(tokenKind: number, from: number, to: number): void {
        if (count === capacity) {
            capacity *= 2;
            kind = grown(kind, new Uint8Array(capacity));
            newline = grown(newline, new Uint8Array(capacity));
            start = grown(start, new Int32Array(capacity));
            end = grown(end, new Int32Array(capacity));
            match = grown(match, new Int32Array(capacity));
        }
        kind[count] = tokenKind;
        start[count] = from;
        end[count] = to;
        match[count] = -1;
        newline[count] = broken;
        broken = 0;
        count++;
    }

    function opener(tokenKind: number): void {
        open.push(count);
        const which = (tokenKind - T.LBrace) >> 1;
        openCount[which] = (openCount[which] as number) + 1;
        push(tokenKind, i, i + 1);
    }

    function closer(tokenKind: number): void {
        const which = (tokenKind - T.LBrace) >> 1;
        push(tokenKind, i, i + 1);
        if (openCount[which] === 0) {
            if (tokenKind === T.RBrace) balanced = false;
            return;
        }
        if (isStray(tokenKind)) {
            if (tokenKind === T.RBrace) balanced = false;
            return;
        }
        // Brackets opened inside and not closed have no partner.
        for (;;) {
            const index = open.pop() as number;
            const openKind = kind[index] as number;
            const of = (openKind - T.LBrace) >> 1;
            openCount[of] = (openCount[of] as number) - 1;
            if (openKind === tokenKind - 1) {
                match[index] = count - 1;
                match[count - 1] = index;
                return;
            }
            if (openKind === T.LBrace) balanced = false;
        }
    }

    /**
     * The closer at `i` is of another kind than the innermost opener. Either that was never closed, or the closer's own opener is what
     * is missing, which is so where the closer stands on the line of the innermost opener and its partner would not, or begins a line
     * that is not further left.
     */
    function isStray(tokenKind: number): boolean {
        const top = open[open.length - 1] as number;
        if (kind[top] === tokenKind - 1) return false;
        let below = open.length - 2;
        while (below > 0 && kind[open[below] as number] !== tokenKind - 1) below--;
        const topLine = lineStart(start[top] as number);
        const ownLineStart = lineStart(i);
        if (topLine === ownLineStart) return lineStart(start[open[below] as number] as number) !== topLine;
        return ownLine(i) && i - ownLineStart >= indent(topLine);
    }

    function lineStart(from: number): number {
        let at = from;
        while (at > 0) {
            const c = text.charCodeAt(at - 1);
            if (c === 10 || c === 13) break;
            at--;
        }
        return at;
    }

    function indent(from: number): number {
        let at = from;
        while (text.charCodeAt(at) === 32 || text.charCodeAt(at) === 9) at++;
        return at - from;
    }

    function lineEnd(from: number): number {
        let at = from;
        while (at < length) {
            const c = text.charCodeAt(at);
            if (c === 10 || c === 13) break;
            at++;
        }
        return at;
    }

    function ownLine(from: number): boolean {
        for (let at = from - 1; at >= 0; at--) {
            const c = text.charCodeAt(at);
            if (c === 10 || c === 13) return true;
            if (c !== 32 && c !== 9 && c !== 0xfeff) return false;
        }
        return true;
    }

    /** `i` is at the opening quote. */
    function readString(quote: number): void {
        const from = i;
        const bounded = quote === 34 ? doubleOpen : singleOpen;
        let at = from + 1;
        let escaped = false;
        while (at < length && from !== cut) {
            const c = text.charCodeAt(at);
            if (c === quote) {
                i = at + 1;
                push(T.String, from, i);
                if (escaped) checkEscapes(text, from + 1, at, report);
                return;
            }
            if (c === 92) {
                escaped = true;
                at++;
            } else if (bounded && (c === 10 || c === 13)) break;
            at++;
        }
        if (from === cut) wasCut = true;
        else if (quote === 34) doubleOpen = true;
        else singleOpen = true;
        i = lineEnd(from + 1);
        const char = quote === 34 ? '"' : "'";
        const hint = `Close it with \`${char}\`. Up to there the rest of the line was read as its text.`;
        report("UNTERMINATED_STRING", "This string is never closed.", from, from + 1, hint);
        push(T.String, from, i);
    }

    function readBlock(): void {
        const from = i;
        if (!blockOpen) {
            let at = from + 3;
            let escaped = false;
            while (at < length) {
                const c = text.charCodeAt(at);
                if (c === 92) {
                    escaped = true;
                    at++;
                } else if (c === 34 && text.startsWith('""', at + 1)) {
                    i = at + 3;
                    push(T.Block, from, i);
                    if (escaped) checkEscapes(text, from + 3, at, report);
                    return;
                }
                at++;
            }
            blockOpen = true;
        }
        i = lineEnd(from + 3);
        report("UNTERMINATED_STRING", "This block string is never closed.", from, from + 3, 'Close it with `"""`.');
        push(T.Block, from, i);
    }

    /** `i` is at the backtick. */
    function readTemplate(): void {
        const from = i;
        const end = templateOpen || from === cut ? -1 : templateEnd(text, from);
        if (end < 0) {
            if (from === cut) wasCut = true;
            else templateOpen = true;
            i = lineEnd(from + 1);
            const hint = "Close it with a backtick, and each `{` in it with `}`; `\\{` is a brace.";
            report("UNTERMINATED_STRING", "This text in backticks, or an expression in it, is never closed.", from, from + 1, hint);
            push(T.String, from, i);
            return;
        }
        i = end;
        push(T.String, from, end);
        for (const piece of piecesOf(text, { start: from, end }))
            if (piece.kind === "text") checkEscapes(text, piece.start, piece.end, report, TEMPLATE_ESCAPES);
    }

    function readNumber(): void {
        const from = i;
        let at = i + 1;
        let fraction = false;
        while (at < length && CLASS[text.charCodeAt(at)] === DIGIT) at++;
        if (text.charCodeAt(at) === 46 && CLASS[text.charCodeAt(at + 1)] === DIGIT) {
            fraction = true;
            at += 2;
            while (at < length && CLASS[text.charCodeAt(at)] === DIGIT) at++;
        }
        const digitsEnd = at;
        while (at < length && (CLASS[text.charCodeAt(at)] as number) > 0) at++;
        push(at === digitsEnd ? T.Number : T.Quantity, from, at);
        i = at;
        if (digitsEnd - from > 15) {
            const digits = text.slice(from, digitsEnd).replace(/^0+(?=\d)/, "");
            const size = digits.length - MAX_SAFE_DIGITS.length;
            const tooLarge = fraction ? Number(digits) === Infinity : size > 0 || (size === 0 && digits > MAX_SAFE_DIGITS);
            if (tooLarge) {
                const hint = "Numbers are exact up to 2^53 (9007199254740992). Write it as a string if it is an identifier.";
                report("NUMBER_TOO_LARGE", "This number is too large to be kept exactly.", from, at, hint);
            }
        }
    }

    /** A name with letters that no name may have. */
    function readForeignName(from: number): void {
        let at = from;
        while (at < length) {
            const c = text.charCodeAt(at);
            if (c < 128 ? CLASS[c] === 0 : !isForeignLetter(c) && (c < 0xd800 || c > 0xdfff)) break;
            at++;
        }
        const hint = "Text in any language can stand in strings, comments and labels.";
        report("UNEXPECTED_CHARACTER", "A name is made of the letters a–z and A–Z, digits and `_`.", from, at, hint);
        push(T.Word, from, at);
        i = at;
    }

    function readUnknown(): void {
        const from = i;
        const c = text.charCodeAt(i);
        if (isForeignSpace(c)) {
            while (i < length && isForeignSpace(text.charCodeAt(i))) i++;
            const fixes = [fix("Replace it by a space", { start: from, end: i }, " ", true)];
            report("UNEXPECTED_CHARACTER", "This is a space of a kind that is not read as one.", from, i, "Type an ordinary space.", fixes);
            return;
        }
        if (c === 35) {
            i = lineEnd(i);
            report("UNEXPECTED_CHARACTER", "A comment begins with `//`.", from, from + 1, "Write `//` instead of `#`.", [
                fix("Write `//`", { start: from, end: from + 1 }, "//", true),
            ]);
            return;
        }
        const first = text.slice(i, i + (c >= 0xd800 && c < 0xdc00 ? 2 : 1));
        i += first.length;
        while (i < length && text.startsWith(first, i)) i += first.length;
        const shown = c < 32 || c === 127 ? `U+${c.toString(16).toUpperCase().padStart(4, "0")}` : `\`${first}\``;
        const range = { start: from, end: i };
        const fixes = first === ";" ? [fix("Leave it out", range, "", true)] : undefined;
        report("UNEXPECTED_CHARACTER", `The character ${shown} means nothing here.`, from, i, instead(first), fixes);
    }

    /** An operator of other languages at `i`, read as ours; false: there is none. */
    function readForeignOperator(): boolean {
        for (const [found, write, tokenKind] of FOREIGN) {
            if (!text.startsWith(found, i)) continue;
            const range = { start: i, end: i + found.length };
            const fixes = [fix(`Write \`${write}\``, range, write, true)];
            const message = `The operator \`${found}\` is written \`${write}\` here.`;
            const other = found === "||" ? " For the value of what may be absent write `a ?? b`." : "";
            report("UNEXPECTED_CHARACTER", message, range.start, range.end, `Write \`${write}\`.${other}`, fixes);
            push(tokenKind, i, range.end);
            i = range.end;
            return true;
        }
        return false;
    }

    /** `i` is at the slash; false: no comment begins there. */
    function readComment(second: number): boolean {
        if (second !== 47 && second !== 42) return false;
        const from = i;
        const close = second === 47 || commentOpen ? -1 : text.indexOf("*/", i + 2);
        i = close < 0 ? lineEnd(i + 2) : close + 2;
        if (second === 42 && close < 0) {
            commentOpen = true;
            report("UNTERMINATED_COMMENT", "This comment is never closed.", from, from + 2, "Close it with `*/`.");
        }
        const body = text.slice(from, i);
        if (second === 42 && /[\n\r]/.test(body)) broken = 1;
        comments.push({ range: { start: from, end: i }, text: body, ownLine: ownLine(from) });
        return true;
    }

    while (i < length) {
        const c = text.charCodeAt(i);
        if (c === 32 || c === 9) {
            i++;
            continue;
        }
        if (c === 10 || c === 13) {
            broken = 1;
            i++;
            continue;
        }
        if (c >= 128) {
            if (isForeignLetter(c)) readForeignName(i);
            else readUnknown();
            continue;
        }
        const charClass = CLASS[c];
        if (charClass === LETTER) {
            const from = i;
            let hash = c;
            let next = 0;
            i++;
            while (i < length) {
                next = text.charCodeAt(i);
                if (next >= 128 || CLASS[next] === 0) break;
                hash = (Math.imul(hash, 33) + next) | 0;
                i++;
            }
            if (i < length && next >= 128 && isForeignLetter(next)) readForeignName(from);
            else push(i - from > WORD_MAX ? T.Word : wordKind(text, from, i, hash), from, i);
            continue;
        }
        if (charClass === DIGIT) {
            readNumber();
            continue;
        }
        if (c === 34 || c === 39) {
            if (c === 34 && text.startsWith('""', i + 1)) readBlock();
            else readString(c);
            continue;
        }
        if (c === 96) {
            readTemplate();
            continue;
        }
        let symbol = ONE[c] as number;
        let size = 1;
        if (symbol >= T.LBrace && symbol <= T.RBracket) {
            if (symbol % 2 === T.LBrace % 2) opener(symbol);
            else closer(symbol);
            i++;
            continue;
        }
        if (LOOK[c] === 1) {
            const second = text.charCodeAt(i + 1);
            if (c === 47 ? readComment(second) : (second === c || second === 61) && readForeignOperator()) continue;
            for (const [found, longer] of LONGER[c] as (typeof LONGER)[number])
                if (size === 1 && text.startsWith(found, i)) {
                    symbol = longer;
                    size = found.length;
                }
        }
        if (symbol === 0) {
            readUnknown();
            continue;
        }
        push(symbol, i, i + size);
        i += size;
    }
    push(T.EOF, length, length);
    for (const index of open) if (kind[index] === T.LBrace) balanced = false;
    return {
        tokens: {
            count,
            kind,
            start,
            end,
            match,
            newline,
            balanced,
            unclosed: doubleOpen || singleOpen || blockOpen || templateOpen || wasCut,
        },
        comments,
        diagnostics,
    };
}

function grown<A extends Uint8Array | Int32Array>(from: A, to: A): A {
    to.set(from);
    return to;
}
