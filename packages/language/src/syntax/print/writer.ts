/**
 * Where formatted text is collected: indentation, the present column, and the comments that are still to be written.
 *
 * Comments belong to no node. They are written in source order whenever the layout comes past their place: before a node that begins
 * after them, after one that ends before them on their line, or at the latest at the end of the statement they stand in.
 *
 * WI1: every comment is written once, in order.
 * WI2: what is tried on one line (`fits`) goes through the same functions as what is broken; where it does not go on one, nothing is left of it.
 */
import type { Range } from "../../text/source.ts";
import type { Block, Comment, Node } from "../tree.ts";

const WIDTH = 100;
const INDENT = "    ";

export interface Writer {
    /** Writes a block: expressions hold some, and `print.ts` gives it. */
    readonly block: (w: Writer, node: Block) => void;
    /** The source: literals stay as they are written there. */
    readonly text: string;
    readonly comments: readonly Comment[];
    /** For people to read, not for the parser: one line, strings as JSON, keys bare, only needed parentheses. */
    readonly display: boolean;
    /** The column that one line may reach where something is tried on it; undefined where lines may break. */
    limit: number | undefined;
    /** What is tried does not go on one line. */
    failed: boolean;
    out: string;
    /** Offset in `out` of the present line. */
    lineStart: number;
    /** Nothing has been written on the present line. */
    fresh: boolean;
    /** A space is due before the next text on this line. */
    space: boolean;
    /** What was written last ends in a space. */
    spaced: boolean;
    indent: number;
    /** Index of the first comment not yet written. */
    next: number;
    /** A comment in the middle of a node was written, perhaps after it: written once more, the node may go on one line. */
    moved: boolean;
    /** Offset in the source after what was written last; for blank lines. */
    at: number;
}

/** `from`: what is written; absent for an expression that is shown. */
export function newWriter(block: Writer["block"], from?: { readonly text: string; readonly comments: readonly Comment[] }): Writer {
    return {
        block,
        text: from?.text ?? "",
        comments: from?.comments ?? [],
        display: from === undefined,
        limit: from === undefined ? Number.POSITIVE_INFINITY : undefined,
        failed: false,
        out: "",
        lineStart: 0,
        fresh: true,
        space: false,
        spaced: false,
        indent: 0,
        next: 0,
        moved: false,
        at: 0,
    };
}

export function put(w: Writer, text: string): void {
    if (text === "" || w.failed) return;
    const breakAt = text.lastIndexOf("\n");
    if (w.limit !== undefined && (breakAt >= 0 || text.includes("\r"))) {
        w.failed = true;
        return;
    }
    if (w.fresh) {
        w.out += INDENT.repeat(w.indent);
        w.fresh = false;
    } else if (w.space) w.out += " ";
    w.space = false;
    w.spaced = text.endsWith(" ");
    if (breakAt >= 0) w.lineStart = w.out.length + breakAt + 1;
    w.out += text;
    if (w.limit !== undefined && w.out.length - w.lineStart > w.limit) w.failed = true;
}

/** Writes what goes on the present line with `tail` characters to follow; false: it does not, and nothing is written. */
export function fits(w: Writer, tail: number, write: () => void): boolean {
    const { out, fresh, space, spaced } = w;
    w.limit = WIDTH - tail;
    write();
    w.limit = undefined;
    if (!w.failed) return true;
    Object.assign(w, { out, fresh, space, spaced, failed: false });
    return false;
}

/** Whether lines may break here; what is tried on one line does not go on one then. */
export function mayBreak(w: Writer): boolean {
    w.failed ||= w.limit !== undefined;
    return !w.failed;
}

/** A line of a block string; nothing stands on an empty one. */
export function putLine(w: Writer, text: string): void {
    newline(w);
    put(w, text);
}

export function newline(w: Writer): void {
    w.out += "\n";
    w.lineStart = w.out.length;
    w.fresh = true;
    w.space = false;
}

// ---- comments ----------------------------------------------------------------------------------------------------

function pending(w: Writer, limit: number): Comment | undefined {
    const comment = w.comments[w.next];
    return comment !== undefined && comment.range.start < limit ? comment : undefined;
}

/** Whether a comment stands inside a node. */
export function hasComments(w: Writer, range: Range): boolean {
    return pending(w, range.end) !== undefined;
}

/** Whether a comment is still to be written before an offset. */
export function commentsBefore(w: Writer, offset: number): boolean {
    return pending(w, offset) !== undefined;
}

/** Whether a comment is still to be written between two offsets. */
export function commentsAfter(w: Writer, from: number, to: number): boolean {
    for (let i = w.next; i < w.comments.length; i++) {
        const at = (w.comments[i] as Comment).range.start;
        if (at >= to) return false;
        if (at >= from) return true;
    }
    return false;
}

/** The first offset from `from` on that is no white space, no comma and in no comment: where the closing bracket of a sequence stands. */
export function significant(w: Writer, from: number): number {
    let at = from;
    let next = w.next;
    for (;;) {
        const comment = w.comments[next];
        if (comment !== undefined && comment.range.start < at) next++;
        else if (comment !== undefined && comment.range.start === at) at = comment.range.end;
        else if (/[\s,\ufeff]/.test(w.text[at] ?? "x")) at++;
        else return at;
    }
}

function isLine(comment: Comment): boolean {
    return comment.text.startsWith("//");
}

function putComment(w: Writer, comment: Comment): void {
    const text = isLine(comment) ? comment.text.trimEnd() : comment.text.replace(/\r\n?/g, "\n");
    put(w, text);
    w.next++;
    w.at = Math.max(w.at, comment.range.end);
}

function breaksBetween(text: string, from: number, to: number): number {
    let count = 0;
    for (let i = from; i < to && count < 2; i++) {
        const c = text.charCodeAt(i);
        if (c === 10 || (c === 13 && text.charCodeAt(i + 1) !== 10)) count++;
    }
    return count;
}

/** One empty line if the source has any between what was written last and `offset`. */
export function keepBlank(w: Writer, offset: number): void {
    if (offset > w.at && breaksBetween(w.text, w.at, offset) > 1) newline(w);
}

/** At the beginning of a line: the comments before an element, each on its line, or before it on the same line. */
export function leading(w: Writer, start: number, first: boolean): void {
    let begin = first;
    for (let comment = pending(w, start); comment !== undefined; comment = pending(w, start)) {
        if (!begin && w.fresh) keepBlank(w, comment.range.start);
        begin = false;
        putComment(w, comment);
        const following = pending(w, start);
        const next = following?.range.start ?? start;
        if (isLine(comment) || breaksBetween(w.text, comment.range.end, next) > 0) newline(w);
        else w.space = true;
    }
    if (!begin && w.fresh) keepBlank(w, start);
}

/** The comments before a closing bracket, each on its line; the present line is fresh before and after. */
export function leadingClose(w: Writer, close: number, first: boolean): void {
    let begin = first;
    for (let comment = pending(w, close); comment !== undefined; comment = pending(w, close)) {
        if (!begin && w.fresh) keepBlank(w, comment.range.start);
        begin = false;
        putComment(w, comment);
        const following = pending(w, close);
        const same = following !== undefined && breaksBetween(w.text, comment.range.end, following.range.start) === 0;
        if (same) w.space = true;
        else newline(w);
    }
}

/**
 * After an element that ends at `end`: the comments inside it that found no place, and those after it on its line. `limit`: where the
 * next element or the closing bracket begins; a block comment on the line of a next element belongs to that.
 */
export function trailing(w: Writer, end: number, limit: number, closing: boolean): void {
    w.at = Math.max(w.at, end);
    let from = end;
    let line = false;
    for (let comment = pending(w, limit); comment !== undefined; comment = pending(w, limit)) {
        if (comment.range.start >= end) {
            if (breaksBetween(w.text, from, comment.range.start) > 0) return;
            if (!isLine(comment) && !closing && breaksBetween(w.text, comment.range.end, limit) === 0) return;
        } else w.moved = true;
        if (line) newline(w);
        else if (!w.fresh) w.space = true;
        line = isLine(comment);
        putComment(w, comment);
        from = Math.max(end, comment.range.end);
    }
}

/** In the middle of an expression: the comments before a part of it. After a line comment the part begins a new line. */
export function between(w: Writer, start: number): void {
    for (let comment = pending(w, start); comment !== undefined; comment = pending(w, start)) {
        w.moved = true;
        if (!w.fresh && !w.spaced) w.space = true;
        putComment(w, comment);
        if (isLine(comment)) newline(w);
        else w.space = true;
    }
}

// ---- elements on lines of their own ------------------------------------------------------------------------------

/** A pair of brackets: `from` after the opening one in the source, `close` at the closing one. */
export interface Brackets {
    readonly open: "(" | "[" | "{";
    readonly from: number;
    readonly close: number;
    /** Written between the elements; a comma where nothing else is said. */
    readonly comma?: string;
}

const CLOSING = { "(": ")", "[": "]", "{": "}" } as const;

/** `tail`: what follows on the last line, where they may all stand on one line; absent where that has been tried. */
export function sequence<X extends Node>(
    w: Writer,
    brackets: Brackets,
    items: readonly X[],
    write: (w: Writer, item: X, tail: number) => void,
    tail?: number,
): void {
    const { open, close, comma = "," } = brackets;
    const onOneLine = (): void => {
        const pad = open === "{" && items.length > 0 ? " " : "";
        put(w, open + pad);
        for (let i = 0; i < items.length && !w.failed; i++) {
            if (i > 0) put(w, ", ");
            write(w, items[i] as X, 1);
        }
        put(w, pad + CLOSING[open]);
    };
    const hasInside = commentsBefore(w, close);
    if (w.limit !== undefined || (items.length === 0 && !hasInside)) onOneLine();
    else if (tail === undefined || hasInside || !fits(w, tail, onOneLine)) {
        put(w, open);
        indented(w, brackets, items, (item, index) => {
            write(w, item, 1);
            if (index < items.length - 1) put(w, comma);
        });
        put(w, CLOSING[open]);
    }
}

/** What stands between two brackets, on lines of its own. Comments on the line of the opening one stay there. */
export function indented<X extends Node>(
    w: Writer,
    { from, close }: Pick<Brackets, "from" | "close">,
    items: readonly X[],
    write: (item: X, index: number) => void,
    isApart?: (item: X, before: X) => boolean,
): void {
    const next = w.comments[w.next];
    w.indent++;
    w.at = Math.max(w.at, from);
    if (next !== undefined && next.range.start >= from) trailing(w, from, items[0]?.range.start ?? close, false);
    newline(w);
    elements(w, close, items, write, isApart);
    w.indent--;
}

/** One element a line, with the comments around it. `isApart`: it is set apart from the one before by an empty line. */
export function elements<X extends Node>(
    w: Writer,
    close: number,
    items: readonly X[],
    write: (item: X, index: number) => void,
    isApart: (item: X, before: X) => boolean = () => false,
): void {
    items.forEach((item, index) => {
        const before = items[index - 1];
        const apart = before !== undefined && isApart(item, before);
        if (apart) newline(w);
        leading(w, item.range.start, index === 0 || apart);
        write(item, index);
        const next = items[index + 1]?.range.start;
        trailing(w, item.range.end, next ?? close, next === undefined);
        newline(w);
    });
    leadingClose(w, close, items.length === 0);
}
