/**
 * Passes of a `parallel for` that failed alike: the first is told whole, and one line stands for all others.
 *
 * Boundary: rows of a trace in, rows out. What failures have in common is read from the rows, numbers aside (of an item, a port, a time).
 *
 * ALK1: every pass that was left out is counted by a line, and no pass that did not fail is left out.
 */
import type { TraceRow } from "./trace.ts";

/** How many passes a line names. */
const NAMED = 10;

interface Group {
    readonly first: TraceRow;
    /** Index of the row behind the first pass. */
    readonly end: number;
    readonly others: TraceRow[];
}

export function withoutAlike(rows: readonly TraceRow[]): TraceRow[] {
    const groups = new Map<string, Group>();
    const kept: number[] = [];
    for (let at = 0; at < rows.length; at++) {
        const row = rows[at] as TraceRow;
        const end = row.family === "iteration" ? endOf(rows, at) : at + 1;
        const key = row.family === "iteration" ? keyOf(rows, at, end) : null;
        const group = key === null ? undefined : groups.get(key);
        if (group !== undefined) {
            group.others.push(row);
            at = end - 1;
            continue;
        }
        if (key !== null) groups.set(key, { first: row, end, others: [] });
        kept.push(at);
    }
    return told(rows, kept, [...groups.values()]);
}

/** The kept rows, each first pass with the line of the others behind it; of passes that end at one row the inner one comes first. */
function told(rows: readonly TraceRow[], kept: readonly number[], groups: readonly Group[]): TraceRow[] {
    const open = groups.filter(({ others }) => others.length > 0).sort((a, b) => a.end - b.end || b.first.depth - a.first.depth);
    const out: TraceRow[] = [];
    for (const at of kept) {
        while (open[0] !== undefined && open[0].end <= at) out.push(lineOf(open.shift() as Group));
        out.push(rows[at] as TraceRow);
    }
    return [...out, ...open.map(lineOf)];
}

function endOf(rows: readonly TraceRow[], at: number): number {
    const { depth } = rows[at] as TraceRow;
    let end = at + 1;
    while (end < rows.length && (rows[end] as TraceRow).depth > depth) end++;
    return end;
}

/** What passes of one loop have in common that did the same kinds of things and failed for the same reason; null: it did not fail. */
function keyOf(rows: readonly TraceRow[], at: number, end: number): string | null {
    const own = rows.slice(at + 1, end);
    if (!own.some(({ bad }) => bad)) return null;
    const { path, depth } = rows[at] as TraceRow;
    const parts = own.map((row) => [row.depth - depth, row.family, row.bad ? row.came.replace(/\d+/g, "#") : ""]);
    return JSON.stringify([path.replace(/\[\d+\]$/, ""), parts]);
}

function lineOf({ first, others }: Group): TraceRow {
    const names = others.map(({ path }) => /\[(\d+)\]$/.exec(path)?.[1] ?? "?");
    const more = names.length - NAMED;
    const which = `${names.slice(0, NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    const what = `iteration${names.length === 1 ? "" : "s"} [${which}]`;
    const [of] = /\[\d+\]$/.exec(first.path) ?? [first.what];
    return { ...first, family: "iterations", what, came: `failed like ${of}`, bad: true };
}
