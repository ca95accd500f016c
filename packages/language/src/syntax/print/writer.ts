/**
 * Where formatted text is collected: indentation, the present column, and the comments that are still to be written.
 *
 * Comments belong to no node. They are written in source order whenever the layout comes past their place: before a node that begins
 * after them, after one that ends before them on their line, or at the latest at the end of the statement they stand in.
 *
 * WI1: every comment is written once, in order.
 */
import type { Range } from "../../text/source.ts";
import type { Block, Comment, File } from "../tree.ts";

export const WIDTH = 100;
const INDENT = "    ";

export interface Writer {
    /** Writes a block: expressions hold some, and `print.ts` gives it. */
    readonly block: (w: Writer, node: Block) => void;
    readonly text: string;
    readonly comments: readonly Comment[];
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

export function newWriter(file: File, block: Writer["block"]): Writer {
    return {
        block,
        text: file.source.text,
        comments: file.comments,
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
    if (text === "") return;
    if (w.fresh) {
        w.out += INDENT.repeat(w.indent);
        w.fresh = false;
    } else if (w.space) w.out += " ";
    w.space = false;
    w.spaced = text.endsWith(" ");
    const breakAt = text.lastIndexOf("\n");
    if (breakAt >= 0) w.lineStart = w.out.length + breakAt + 1;
    w.out += text;
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

/** Columns left on the present line. */
export function room(w: Writer): number {
    return WIDTH - (w.fresh ? INDENT.length * w.indent : w.out.length - w.lineStart);
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

/** Comments on the line of an opening brace stay there. */
export function trailingOpen(w: Writer, from: number, limit: number): void {
    const next = w.comments[w.next];
    if (next !== undefined && next.range.start >= from) trailing(w, from, limit, false);
}
