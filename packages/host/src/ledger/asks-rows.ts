/**
 * The rows of questions: in a ledger's file, or in memory.
 *
 * Boundary: one table of its own in the ledger's file, made when the first question is kept; the rules are in `asks.ts`.
 */
import type { DatabaseSync } from "node:sqlite";
import type { AskChange, AskNoteRow, AskRow, AskRows } from "./asks.ts";
import type { Job } from "./jobs.ts";
import { queriesOf } from "./reading.ts";
import type { Writing } from "./thread.ts";

/** What a job writes of a question that is asked. */
export function askRow(row: AskRow): Job["statements"][number] {
    const { id, run, path, pending, request, bound, schema, owner, asked, expires, mac, state, decision, decider, decided, seal } = row;
    const about = [id, run, path, pending, request, bound, schema, owner, asked, expires, mac] as const;
    return ["insertAsk", ...about, state, decision, decider, decided, seal];
}
export function askChange({ row: r, from }: AskChange): Job["statements"][number] {
    return ["changeAsk", r.state, r.decision, r.decider, r.decided, r.seal, r.id, from];
}

/** `read`: reads, its errors told in the ledger's words. `waits`: whether a run waits for an effect. */
export function sqliteAskRows(
    db: DatabaseSync,
    writing: Writing,
    read: <T>(work: () => T) => T,
    waits: (run: string, pending: string) => boolean,
): AskRows {
    const query = queriesOf(db);
    let known = false;
    let noted = false;
    const there = (): boolean => {
        known ||= db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'asks'").get() !== undefined;
        return known;
    };
    const rows = (sql: string, ...values: string[]): AskRow[] =>
        read(() => (there() ? (query(sql).all(...values) as unknown as AskRow[]) : []));
    return {
        insert: async (row, changes) => {
            const table: Job["statements"] = there() ? [] : [["makeAsks"], ["indexAsks"]];
            await writing.run({ statements: [...table, ...changes.map(askChange), askRow(row)] });
        },
        byId: async (id) => rows("SELECT * FROM asks WHERE id >= ? AND id < ? LIMIT 2", id, `${id}\uffff`),
        all: async (run) =>
            run === undefined
                ? rows("SELECT * FROM asks ORDER BY asked, rowid")
                : rows("SELECT * FROM asks WHERE run = ? ORDER BY asked, rowid", run),
        open: async () => rows("SELECT * FROM asks WHERE state = 'open' ORDER BY asked, rowid"),
        ofPath: async (run, path) => rows("SELECT * FROM asks WHERE run = ? AND path = ? ORDER BY asked DESC, rowid DESC", run, path),
        update: async (one) => there() && (await writing.run({ statements: [askChange(one)] }))[0] === 1,
        waits: async (run, pending) => read(() => waits(run, pending)),
        note: async ({ ask, run, at, kind, who, text, mac }) => {
            const table: Job["statements"] = [["makeNotes"], ["indexNotes"]];
            await writing.run({ statements: [...table, ["insertNote", ask, run, at, kind, who, text, mac, MOST_NOTES]] });
        },
        notes: async (ask) =>
            read(() => {
                noted ||= db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'ask_notes'").get() !== undefined;
                const sql = "SELECT * FROM ask_notes WHERE ask = ? ORDER BY rowid";
                return noted ? (query(sql).all(ask) as unknown as AskNoteRow[]) : [];
            }),
    };
}

/** Notes kept of one question: a user who is refused again and again fills no disk. */
export const MOST_NOTES = 200;

export function memoryAskRows(waits: (run: string, pending: string) => boolean): AskRows {
    let kept: AskRow[] = [];
    const notes: AskNoteRow[] = [];
    const change = ({ row, from }: AskChange): boolean => {
        const was = kept.find((r) => r.id === row.id && r.state === from);
        kept = kept.map((r) => (r === was ? row : r));
        return was !== undefined;
    };
    return {
        insert: async (row, changes) => {
            changes.forEach(change);
            kept.push(row);
        },
        byId: async (id) => kept.filter((r) => r.id.startsWith(id)).slice(0, 2),
        all: async (run) => kept.filter((r) => run === undefined || r.run === run),
        open: async () => kept.filter(({ state }) => state === "open"),
        ofPath: async (run, path) => kept.filter((r) => r.run === run && r.path === path).reverse(),
        update: async (one) => change(one),
        waits: async (run, pending) => waits(run, pending),
        note: async (row) => {
            if (notes.filter(({ ask }) => ask === row.ask).length < MOST_NOTES) notes.push(row);
        },
        notes: async (ask) => notes.filter((one) => one.ask === ask),
    };
}
