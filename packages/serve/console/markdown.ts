/**
 * What of Markdown an answer is shown with: headings, emphasis, lists, quotes, code, tables, links. Everything else stays the text that it is.
 *
 * Boundary: pure; from text to pieces and marks. Nodes are `words.ts`'s.
 *
 * MDN1: hostile text costs time in proportion to its length: no mark is looked for twice, nothing nests deeper than `DEEPEST`.
 * MDN2: text that still grows changes the last two pieces alone: the last line, half there, may be taken for a piece of its own.
 */

export type Piece =
    | { readonly kind: "paragraph"; readonly text: string }
    | { readonly kind: "heading"; readonly level: number; readonly text: string }
    | { readonly kind: "code"; readonly text: string }
    | { readonly kind: "quote"; readonly text: string }
    /** `start`: the number of the first item; null: without numbers. */
    | { readonly kind: "list"; readonly start: number | null; readonly items: readonly Item[] }
    | {
          readonly kind: "table";
          readonly head: readonly string[];
          readonly rows: readonly (readonly string[])[];
          readonly sides: readonly Side[];
      }
    | { readonly kind: "rule" };

export interface Item {
    readonly text: string;
    /** Of a list of tasks; null: it is no task. */
    readonly isDone: boolean | null;
}

/** Where the text of a column stands; null: nothing is said. */
export type Side = "left" | "center" | "right" | null;

export type Mark =
    | string
    | { readonly kind: "code"; readonly text: string }
    | { readonly kind: "link"; readonly text: string; readonly address: string }
    | { readonly kind: Emphasis; readonly marks: readonly Mark[] };

export type Emphasis = "em" | "strong" | "del";

/** Lists and quotes inside each other. */
export const DEEPEST = 6;
/** What is indented by so much more than an item is inside it: models do so below a number, too. */
const INSIDE = 2;
/** Columns up to the next of which a tab leads. */
const TAB = 4;
/** Columns of a table. */
const WIDEST = 40;

const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/;
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})(?:([-*+])|(\d{1,9})[.)])(?:(?:\t| {1,4})(?=\S)|[ \t]*$)/;
const TASK = /^\[([ xX])\][ \t]+(?=\S)/;
const BLANK = /^[ \t]*$/;
const DELIMITER = /^[ \t]*:?-+:?[ \t]*$/;

/** The pieces of a text, each with the text that it was read from. `depth`: of the list or quote that the text stands in. */
export function piecesOf(text: string, depth = 0): { readonly raw: string; readonly piece: Piece }[] {
    const lines = text.split("\n");
    const pieces: { raw: string; piece: Piece }[] = [];
    for (let at = 0; at < lines.length; ) {
        if (BLANK.test(lines[at] as string)) {
            at++;
            continue;
        }
        const { piece, to } = pieceAt(lines, at, depth);
        pieces.push({ raw: lines.slice(at, to).join("\n"), piece });
        at = to;
    }
    return pieces;
}

interface Read {
    readonly piece: Piece;
    /** The line after it. */
    readonly to: number;
}

function pieceAt(lines: readonly string[], at: number, depth: number): Read {
    const line = lines[at] as string;
    const fence = FENCE.exec(line)?.[1];
    if (fence !== undefined) return codeAt(lines, at, fence);
    const heading = HEADING.exec(line);
    if (heading !== null) {
        const [, marks = "", text = ""] = heading;
        return { piece: { kind: "heading", level: marks.length, text: withoutClosing(text) }, to: at + 1 };
    }
    if (RULE.test(line)) return { piece: { kind: "rule" }, to: at + 1 };
    if (depth < DEEPEST && QUOTE.test(line)) {
        const to = endOf(lines, at, (one) => QUOTE.test(one));
        const inner = lines.slice(at, to).map((one) => one.replace(QUOTE, ""));
        return { piece: { kind: "quote", text: inner.join("\n") }, to };
    }
    if (depth < DEEPEST && ITEM.test(line)) return listAt(lines, at);
    const table = tableAt(lines, at);
    if (table !== null) return table;
    const to = endOf(lines, at, (one, n) => n === at || !(BLANK.test(one) || begins(lines, n, depth)));
    return { piece: { kind: "paragraph", text: lines.slice(at, to).join("\n").trimEnd() }, to };
}

/** A piece that needs no blank line before it begins at this line. */
function begins(lines: readonly string[], at: number, depth: number): boolean {
    const line = lines[at] as string;
    if (FENCE.test(line) || HEADING.test(line) || RULE.test(line)) return true;
    return (depth < DEEPEST && (QUOTE.test(line) || ITEM.test(line))) || isTable(lines, at);
}

/** The first line from `at` on that does not belong. */
function endOf(lines: readonly string[], at: number, belongs: (line: string, at: number) => boolean): number {
    let to = at;
    while (to < lines.length && belongs(lines[to] as string, to)) to++;
    return to;
}

/** `## Title ##` is the title alone. */
function withoutClosing(text: string): string {
    const trimmed = text.trim();
    let end = trimmed.length;
    while (trimmed[end - 1] === "#") end--;
    return end === 0 || /[ \t]/.test(trimmed[end - 1] as string) ? trimmed.slice(0, end).trim() : trimmed;
}

/** To the end of the text where nothing closes it: it may still come. */
function codeAt(lines: readonly string[], at: number, fence: string): Read {
    const closes = (line: string): boolean => {
        const text = line.trim();
        return text.length >= fence.length && text === (fence[0] as string).repeat(text.length);
    };
    const end = endOf(lines, at + 1, (line) => !closes(line));
    const indent = (lines[at] as string).indexOf(fence);
    const text = lines.slice(at + 1, end).map((line) => without(line, indent));
    return { piece: { kind: "code", text: text.join("\n") }, to: Math.min(end + 1, lines.length) };
}

function listAt(lines: readonly string[], at: number): Read {
    const first = ITEM.exec(lines[at] as string) as RegExpExecArray;
    const isNumbered = first[3] !== undefined;
    const items: string[][] = [];
    let width = 0;
    let inside = INSIDE;
    let to = at;
    while (to < lines.length) {
        const line = lines[to] as string;
        const item = ITEM.exec(line);
        const last = items.at(-1) ?? [];
        const indent = indentOf(line);
        if (BLANK.test(line)) {
            // Blank lines belong to the list where the list goes on after them.
            const after = endOf(lines, to, (one) => BLANK.test(one));
            const next = lines[after];
            if (next === undefined || !(indentOf(next) >= inside || isSibling(ITEM.exec(next), isNumbered))) break;
            last.push("");
            to = after;
            continue;
        }
        if (to > at && indent >= inside) last.push(without(line, width));
        else if (item !== null && isSibling(item, isNumbered) && !RULE.test(line)) {
            width = item[0].length;
            inside = indent + INSIDE;
            items.push([line.slice(width)]);
        } else if (item === null && last.at(-1) !== "" && !begins(lines, to, 0)) last.push(line.trimStart());
        else break;
        to++;
    }
    return { piece: { kind: "list", start: isNumbered ? Number(first[3]) : null, items: items.map((one) => itemOf(one.join("\n"))) }, to };
}

function itemOf(text: string): Item {
    const task = TASK.exec(text);
    return task === null ? { text, isDone: null } : { text: text.slice(task[0].length), isDone: task[1] !== " " };
}

/** Columns. */
function indentOf(line: string): number {
    let columns = 0;
    for (const char of line)
        if (char === "\t") columns += TAB - (columns % TAB);
        else if (/\s/.test(char)) columns++;
        else break;
    return columns;
}

/** The line without so many columns of its indent; of a tab that reaches further, blanks stay. */
function without(line: string, columns: number): string {
    let [at, gone] = [0, 0];
    for (; gone < columns && /\s/.test(line[at] ?? "x"); at++) gone += line[at] === "\t" ? TAB - (gone % TAB) : 1;
    return " ".repeat(Math.max(0, gone - columns)) + line.slice(at);
}

function isSibling(item: RegExpExecArray | null, isNumbered: boolean): boolean {
    return item !== null && (item[3] !== undefined) === isNumbered;
}

function isTable(lines: readonly string[], at: number): boolean {
    const [line, next] = [lines[at] as string, lines[at + 1]];
    if (next === undefined || !line.includes("|") || !next.includes("-")) return false;
    const delimiters = cellsOf(next);
    return delimiters.every((cell) => DELIMITER.test(cell)) && delimiters.length === cellsOf(line).length;
}

function tableAt(lines: readonly string[], at: number): Read | null {
    if (!isTable(lines, at)) return null;
    const head = cellsOf(lines[at] as string);
    if (head.length > WIDEST) return null;
    const to = endOf(lines, at + 2, (line) => line.includes("|") && !BLANK.test(line));
    // A short row stays short (MDN1): filled up, a bar in each line were forty cells.
    const rows = lines.slice(at + 2, to).map((line) => within(cellsOf(line), head.length));
    const sides = cellsOf(lines[at + 1] as string).map(sideOf);
    return { piece: { kind: "table", head, rows, sides }, to };
}

function sideOf(delimiter: string): Side {
    const [left, right] = [delimiter.startsWith(":"), delimiter.endsWith(":")];
    return left && right ? "center" : right ? "right" : left ? "left" : null;
}

/** What a row has more than its head stands in its last cell, so that no letter is lost. */
function within(cells: readonly string[], columns: number): readonly string[] {
    return cells.length <= columns ? cells : [...cells.slice(0, columns - 1), cells.slice(columns - 1).join(" | ")];
}

/** Between bars; an escaped one is text. */
function cellsOf(line: string): string[] {
    const cells = line.trim().split(/(?<!\\)\|/);
    if (cells[0] === "") cells.shift();
    if (cells.at(-1)?.trim() === "") cells.pop();
    return cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
}

// ---- inside a piece ----

const ESCAPED = /[!-/:-@[-`{-~]/;
const LINK = /!?\[([^[\]\n]{1,500})\]\(<?([^\s()<>]{1,2000})>?(?:[ \t]+"[^"\n]{0,500}")?\)/y;
/** What ends a stretch of ordinary text. */
const SPECIAL = /[\\`*_~[!]/g;
/** `snake_case` and `2*3*4` are no emphasis. A star is one between letters of writings without blanks. */
const IN_WORD: { readonly [by: string]: RegExp } = { _: /[\p{L}\p{N}]/u, "*": /[A-Za-z0-9]/, "~": /[A-Za-z0-9]/ };

interface Open {
    readonly kind: Emphasis;
    readonly by: string;
    readonly marks: Mark[];
}

export function marksOf(text: string): Mark[] {
    const root: Mark[] = [];
    const open: Open[] = [];
    const put = (mark: Mark): void => void (open.at(-1)?.marks ?? root).push(mark);
    /** An emphasis that nothing closes is text. */
    const leave = (): void => {
        const { by, marks } = open.pop() as Open;
        for (const one of [by, ...marks]) put(one);
    };
    const code = codeSpans(text);
    for (let at = 0; at < text.length; ) {
        SPECIAL.lastIndex = at;
        const special = SPECIAL.exec(text)?.index ?? text.length;
        if (special > at) put(text.slice(at, special));
        at = special;
        const char = text[at];
        if (char === undefined) break;
        const next = text[at + 1] ?? "";
        if (char === "\\" && ESCAPED.test(next)) {
            put(next);
            at += 2;
        } else if (char === "`") {
            const span = code(at);
            put(span.mark);
            at = span.to;
        } else if (char === "[" || (char === "!" && next === "[")) {
            LINK.lastIndex = at;
            const link = LINK.exec(text);
            put(link === null ? char : { kind: "link", text: link[1] as string, address: link[2] as string });
            at += link?.[0].length ?? 1;
        } else if (char === "*" || char === "_" || char === "~") {
            let to = at;
            while (text[to] === char) to++;
            emphasis(text, at, to, { open, put, leave });
            at = to;
        } else {
            put(char);
            at++;
        }
    }
    while (open.length > 0) leave();
    return joined(root);
}

/** A run of `*`, `_` or `~`: what it closes, then what it opens; the rest is text. */
function emphasis(
    text: string,
    at: number,
    to: number,
    { open, put, leave }: { readonly open: Open[]; put(mark: Mark): void; leave(): void },
): void {
    const by = text[at] as string;
    const [before, after] = [text[at - 1] ?? " ", text[to] ?? " "];
    const letter = IN_WORD[by] as RegExp;
    let left = to - at;
    const isOpen = (mark: string): boolean => open.some((one) => one.by === mark);
    const may = left <= 3 && !(letter.test(before) && letter.test(after)) && (by !== "~" || left === 2);
    if (may && !/\s/.test(before))
        // The mark that was opened last is closed first: `***both***`.
        for (const mark of open.map((one) => one.by).reverse()) {
            if (mark[0] !== by || mark.length > left || !isOpen(mark)) continue;
            while (open.at(-1)?.by !== mark) leave();
            const { kind, marks } = open.pop() as Open;
            put({ kind, marks: joined(marks) });
            left -= mark.length;
        }
    if (may && !/\s/.test(after))
        for (const length of [2, 1]) {
            const mark = by.repeat(length);
            // No kind inside itself (MDN1).
            if (left < length || isOpen(mark) || (by === "~" && length === 1)) continue;
            open.push({ kind: by === "~" ? "del" : length === 2 ? "strong" : "em", by: mark, marks: [] });
            left -= length;
        }
    if (left > 0) put(by.repeat(left));
}

/** The code that begins at a run of backticks, up to the next run of the same length; without one the run is text. */
function codeSpans(text: string): (at: number) => { readonly mark: Mark; readonly to: number } {
    const runs = new Map<number, number[]>();
    for (const { 0: run, index } of text.matchAll(/`+/g)) {
        const same = runs.get(run.length);
        if (same === undefined) runs.set(run.length, [index]);
        else same.push(index);
    }
    for (const same of runs.values()) same.reverse();
    return (at) => {
        let length = 0;
        while (text[at + length] === "`") length++;
        const same = runs.get(length) ?? [];
        while ((same.at(-1) ?? Infinity) <= at) same.pop();
        const end = same.at(-1);
        if (end === undefined) return { mark: text.slice(at, at + length), to: at + length };
        const inner = text.slice(at + length, end).replaceAll("\n", " ");
        const isPadded = inner.startsWith(" ") && inner.endsWith(" ") && inner.trim() !== "";
        return { mark: { kind: "code", text: isPadded ? inner.slice(1, -1) : inner }, to: end + length };
    };
}

/** Texts beside each other are one. */
function joined(marks: readonly Mark[]): Mark[] {
    const all: Mark[] = [];
    let text: string[] = [];
    const flush = (): void => {
        if (text.length > 0) all.push(text.join(""));
        text = [];
    };
    for (const mark of marks) {
        if (typeof mark === "string") text.push(mark);
        else {
            flush();
            all.push(mark);
        }
    }
    flush();
    return all;
}
