/**
 * Sequences in brackets: separators, what to do when one is missing, and the closing bracket.
 *
 * BC1: after `separated` returned true an element begins; after false the sequence is over (its closer may be missing).
 */
import type { Fix } from "../../diagnostics/diagnostic.ts";
import { position } from "../../text/source.ts";
import { SYMBOLS, T } from "../tokens.ts";
import {
    advance,
    expected,
    insertion,
    isWord,
    jump,
    lineBreakBefore,
    oldSpelling,
    onNewLine,
    peek,
    prevEnd,
    type State,
    skip,
    enter,
    leave,
} from "./state.ts";

/** Out of a bracket whose content cannot be read. */
export function leaveBrace(p: State, open: number): void {
    const partner = p.tokens.match[open] as number;
    if (partner > open) jump(p, partner + 1);
    else while (p.k !== T.EOF && p.k !== T.RBrace) advance(p);
}

/**
 * The bracket at the present token and what stands in it, which is read in a mode of its own; undefined: it is too deep, and skipped. It ends at
 * `prevEnd`.
 */
export function bracketed<X>(p: State, close: number, read: (p: State, open: number) => X, inside = 0): X | undefined {
    const open = p.pos;
    if (!enter(p)) return undefined;
    const { mode } = p;
    p.mode = inside;
    advance(p);
    const inner = read(p, open);
    closed(p, open, close);
    p.mode = mode;
    leave(p);
    return inner;
}

/** Elements with their separators up to the closing bracket; `p.height` is that of the highest. What could not be read is left out. */
export function several<X>(p: State, open: number, close: number, read: (p: State) => X | undefined): X[] {
    const items: X[] = [];
    let height = 0;
    if (p.k !== close) {
        do {
            const item = read(p);
            if (item !== undefined) items.push(item);
            height = Math.max(height, p.height);
        } while (separated(p, open, close, close === T.RBrace));
    }
    p.height = height;
    return items;
}

/** A key and a colon are next. */
export function atEntry(p: State): boolean {
    return (isWord(p.k) || p.k === T.String) && peek(p, 1) === T.Colon;
}

/**
 * After an element of the bracket opened at token `open`. `oldLines`: a line break between entries was a separator once (object fields
 * before commas were required).
 */
export function separated(p: State, open: number, close: number, oldLines: boolean): boolean {
    if (p.k === T.Comma) {
        p.run = false;
        advance(p);
        return p.k !== close && p.k !== T.EOF;
    }
    const again = p.run && !onNewLine(p);
    p.run = false;
    if (p.k === close || p.k === T.EOF) return false;
    if (oldLines && onNewLine(p) && (atEntry(p) || p.k === T.Spread)) {
        const at = prevEnd(p);
        const range = { start: at, end: at };
        oldSpelling(p, "Entries are separated by commas.", range, "Insert a comma", [{ range, text: "," }]);
        return true;
    }
    const element = startsElement(p);
    const limit = p.tokens.match[open] as number;
    // A line that begins behind a bracket without a partner is seldom one more element.
    const ends = limit < 0 && (onNewLine(p) || (close === T.RParen && p.k === T.LBrace));
    const symbol = SYMBOLS[close] as string;
    const fixes: readonly Fix[] | undefined = ends
        ? insertion(`Insert \`${symbol}\``, prevEnd(p), symbol, false)
        : element
          ? insertion("Insert a comma", prevEnd(p), ",", false)
          : undefined;
    // The element itself was not read: this token has to be left behind.
    const stuck = p.errorAt === p.pos;
    const each =
        p.k === T.For && close === T.RBracket
            ? "A list of other items is `items.map(x => x.name)`."
            : (p.k === T.If && !onNewLine(p)) || p.k === T.Question
              ? "A choice is written `if a { b } else { c }`."
              : undefined;
    const hint = each ?? (ends ? openedOn(p, open, close) : undefined);
    if (!again) expected(p, `\`,\` or \`${symbol}\``, hint, each === undefined ? fixes : undefined);
    p.run = true;
    if (ends) return false;
    if (element && !stuck && !onNewLine(p)) return true;
    // Without a partner, or where the braces do not add up, what follows on the next line belongs to the code around.
    if (limit < 0 || (!p.tokens.balanced && onNewLine(p))) return false;
    while (p.pos < limit) {
        if (p.k === T.Comma) {
            advance(p);
            return p.k !== close;
        }
        if (oldLines && !stuck && onNewLine(p) && atEntry(p)) return true;
        skip(p, limit);
    }
    return false;
}

function startsElement(p: State): boolean {
    return p.k >= T.Word || (p.k >= T.Number && p.k <= T.Block) || p.k === T.LBrace;
}

/** Consumes the closing bracket or says that it is missing. Returns the end of the construct. */
export function closed(p: State, open: number, close: number): number {
    if (p.k === close) {
        const end = p.ends[p.pos] as number;
        advance(p);
        return end;
    }
    const at = prevEnd(p);
    // The rest of a line that was read as an unclosed string may have held the bracket.
    if (p.k === T.EOF && p.tokens.unclosed) return at;
    const opened = openedOn(p, open, close);
    const other = close === T.RBrace && p.errorAt !== p.pos ? culprit(p, open) : undefined;
    const hint = other === undefined ? opened : `${opened} ${other}`;
    const fix = insertion(`Insert \`${SYMBOLS[close]}\``, at, SYMBOLS[close] as string, false);
    expected(p, `\`${SYMBOLS[close]}\``, hint, fix, close === T.RBrace);
    return at;
}

function openedOn(p: State, open: number, close: number): string {
    return `The bracket \`${SYMBOLS[close - 1]}\` was opened on line ${lineOf(p, p.starts[open] as number)}.`;
}

/**
 * Where a brace is missing, the culprit is seldom the one that is found open: it is the first whose partner stands further left than
 * its own line begins.
 */
function culprit(p: State, open: number): string | undefined {
    for (let i = open + 1; i < p.pos; i++) {
        const partner = p.tokens.match[i] as number;
        if (p.kinds[i] !== T.LBrace || partner < i || p.tokens.newline[partner] !== 1) continue;
        const from = p.starts[i] as number;
        const to = p.starts[partner] as number;
        if (indentOf(p, to) < indentOf(p, from))
            return `Perhaps the \`{\` on line ${lineOf(p, from)} is meant: its \`}\` on line ${lineOf(p, to)} stands further left.`;
    }
    return undefined;
}

function indentOf(p: State, offset: number): number {
    const from = p.src.lineStarts[lineOf(p, offset) - 1] as number;
    let at = from;
    while (p.text.charCodeAt(at) === 32 || p.text.charCodeAt(at) === 9) at++;
    return at - from;
}

function lineOf(p: State, offset: number): number {
    return position(p.src, offset).line;
}

/** Skips to the next token that begins a line outside brackets, to a closing brace, or to the end. Always moves when `force`. */
export function skipLine(p: State, force: boolean): void {
    const from = p.pos;
    while (p.k !== T.EOF) {
        if (p.pos > from || !force) {
            if (p.k === T.RBrace) return;
            if (p.pos > from && lineBreakBefore(p, 0)) return;
        }
        skip(p);
    }
}

/**
 * In a file whose braces do not add up: the present line is the head of a function, a shape, an agent or an import, so a brace is missing
 * before it.
 */
export function startsDeclaration(p: State): boolean {
    const at = p.k === T.Main ? 1 : 0;
    const word = peek(p, at);
    if (word === T.Func) {
        const paren = isWord(peek(p, at + 1)) ? at + 2 : at + 1;
        if (peek(p, paren) !== T.LParen || lineBreakBefore(p, paren)) return false;
        const close = p.tokens.match[p.pos + paren] as number;
        return close > 0 && (p.kinds[close + 1] === T.LBrace || p.kinds[close + 1] === T.Arrow) && onNewLine(p);
    }
    if (word === T.Agent) return isWord(peek(p, at + 1)) ? peek(p, at + 2) === T.LBrace : at === 1 && peek(p, 2) === T.LBrace;
    if (p.k === T.Shape) return isWord(peek(p, 1)) && peek(p, 2) === T.LBrace && onNewLine(p);
    return p.k === T.Import && isWord(peek(p, 1)) && isWord(peek(p, 2)) && peek(p, 3) === T.From && peek(p, 4) === T.String;
}
