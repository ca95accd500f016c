/**
 * Diagnostics as text for people: place, code, message, the line with the range underlined, what to do.
 *
 * Boundary: a diagnostic and its source in, lines out; decides nothing and knows no terminal.
 *
 * RED1: what a terminal would obey (`text/plain.ts`) is shown as `·`, so that a source cannot move the cursor, turn or hide text.
 */
import { plainColumns } from "../text/plain.ts";
import { lineText, position, type Range, type Source } from "../text/source.ts";
import { CODES } from "./codes.ts";
import type { Diagnostic } from "./diagnostic.ts";

export interface RenderOptions {
    /** Use ANSI colours. */
    readonly color?: boolean;
    /** Columns of the terminal, which would break a longer line of the source and lose its underline. */
    readonly columns?: number;
}

const COLORS = { error: "31", warning: "33", note: "36" } as const;
/** Columns shown of a long line, around the range; at least so many. */
const WIDTH = 160;
const MIN_WIDTH = 20;

/**
 * `file:line:column: error CODE: message`, then the line, a caret underline, the hint and the titles of the fixes.
 * Without its source only the first line and the hint. Ends without a line break.
 */
export function renderDiagnostic(d: Diagnostic, source?: Source, options: RenderOptions = {}): string {
    const paint = (code: string, text: string): string => (options.color === true ? `\u001b[${code}m${text}\u001b[0m` : text);
    const color = COLORS[d.severity];
    const at = source === undefined ? "" : `:${where(source, d.range.start)}`;
    const lines = [`${paint("1", `${clean(d.file)}${at}:`)} ${paint(color, `${d.severity} ${d.code}`)}: ${clean(d.message)}`];
    if (source !== undefined) lines.push(...excerpt(source, d.range, { columns: options.columns, paint: (text) => paint(color, text) }));
    const hint = d.hint ?? CODES[d.code].hint;
    if (hint !== undefined) lines.push(`  ${paint("2", "hint:")} ${clean(hint)}`);
    for (const fix of d.fixes ?? []) lines.push(`  ${paint("2", "fix:")} ${clean(fix.title)}`);
    for (const one of d.related ?? []) {
        const place = source !== undefined && source.file === one.file ? `:${where(source, one.range.start)}` : "";
        lines.push(`  ${paint("2", "see:")} ${clean(one.file)}${place}: ${clean(one.message)}`);
    }
    return lines.join("\n");
}

function where(source: Source, offset: number): string {
    const { line, column } = position(source, offset);
    return `${line}:${column}`;
}

interface Marking {
    readonly columns: number | undefined;
    readonly paint: (text: string) => string;
}

function excerpt(source: Source, range: Range, marking: Marking): string[] {
    const { line, column } = position(source, range.start);
    return markedLine(lineText(source, line), { line, column, length: range.end - range.start }, marking);
}

/** A line of a source with its number, and an underline below the place; of a long line what is around the place. */
export function markedLine(
    whole: string,
    { line, column, length }: { readonly line: number; readonly column: number; readonly length: number },
    { columns = Number.POSITIVE_INFINITY, paint }: Marking,
): string[] {
    const number = String(line);
    // what stands before it, with the mark of a cut, and the last column, which stays free
    const width = Math.max(MIN_WIDTH, Math.min(WIDTH, columns - number.length - 8));
    const before = Math.min(40, Math.floor(width / 4));
    const from = column - 1 > width - before ? column - 1 - before : 0;
    const text = clean(whole.slice(from, from + width));
    const start = column - 1 - from;
    const under = " ".repeat(Math.max(0, start)) + paint("^".repeat(Math.max(1, Math.min(length, text.length - start))));
    const gap = " ".repeat(number.length);
    return [`  ${number} | ${from > 0 ? "…" : ""}${text}`, `  ${gap} | ${from > 0 ? " " : ""}${under}`];
}

/** One unit for each, so that the underline stays below its text. */
function clean(text: string): string {
    return plainColumns(text, "·");
}
