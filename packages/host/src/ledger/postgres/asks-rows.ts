/**
 * The rows of questions in PostgreSQL.
 *
 * Boundary: rows; the rules are in `../asks.ts`.
 */
import type { AskChange, AskNoteRow, AskRow, AskRows } from "../asks.ts";
import { askChange, askRow, MOST_NOTES } from "../asks-rows.ts";
import type { Writing } from "../thread.ts";
import type { Connections } from "./connections.ts";

const COLUMNS = "id, run, path, pending, request, bound, schema, owner, asked, expires, mac, state, decision, decider, decided, seal";

/** `waits`: whether a run waits for an effect. */
export function postgresAskRows(
    { rows }: Pick<Connections, "rows">,
    writing: Writing,
    waits: (run: string, pending: string) => Promise<boolean>,
): AskRows {
    const asks = (where: string, ...values: string[]): Promise<AskRow[]> => rows(`SELECT ${COLUMNS} FROM asks ${where}`, values);
    return {
        insert: async (row, changes) => {
            await writing.run({ statements: [...changes.map(askChange), askRow(row)] });
        },
        byId: (id) => asks("WHERE id >= $1 AND id < $2 LIMIT 2", id, `${id}\uffff`),
        open: () => asks("WHERE state = 'open' ORDER BY asked, row"),
        all: (run) => (run === undefined ? asks("ORDER BY asked, row") : asks("WHERE run = $1 ORDER BY asked, row", run)),
        ofPath: (run, path) => asks("WHERE run = $1 AND path = $2 ORDER BY asked DESC, row DESC", run, path),
        update: async (one: AskChange) => (await writing.run({ statements: [askChange(one)] }))[0] === 1,
        waits,
        note: async ({ ask, run, at, kind, who, text, mac }) => {
            await writing.run({ statements: [["insertNote", ask, run, at, kind, who, text, mac, MOST_NOTES]] });
        },
        notes: (ask) => rows<AskNoteRow>("SELECT ask, run, at, kind, who, text, mac FROM ask_notes WHERE ask = $1 ORDER BY row", [ask]),
    };
}
