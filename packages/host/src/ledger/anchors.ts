/**
 * Anchors of runs in a ledger that is not a file: kept on each machine that writes, for the runs that it wrote.
 *
 * Boundary: one SQLite file in the user's state folder, for one ledger. What an anchor says is `anchor.ts`'s.
 *
 * ANP1: a user who can write the database, but not the files of a server, cannot take back what that server anchored. A run that moved has an anchor on
 *       each machine that had it, and each says what is true of it: at least so many events, with these heads.
 * ANP2: processes of one user share the file; it is not synced, since an anchor that is lost makes a run unsure and never wrong.
 */
import type { KeyObject } from "node:crypto";
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { isSameCode } from "./code.ts";
import { type Anchor, anchorCode } from "./anchor.ts";
import { guarded } from "./error.ts";
import { privateFile } from "./place.ts";

export interface Anchors {
    write(anchor: Anchor): void;
    /** Undefined where there is none, or it was not made with this key. */
    of(run: string): Anchor | undefined;
    runs(): string[];
    drop(run: string): void;
    close(): void;
}

type Row = Anchor & { readonly code: string };

/** `path`: of the file, made with the first anchor that is written. All of it throws `LedgerError`. */
export function anchorsIn(path: string, key: () => KeyObject, readOnly: boolean): Anchors {
    let open: DatabaseSync | null = null;
    const db = (): DatabaseSync => {
        if (open !== null) return open;
        if (readOnly && existsSync(path)) open = new DatabaseSync(path, { timeout: 5_000, readOnly });
        else {
            if (!readOnly) privateFile(path);
            open = new DatabaseSync(readOnly ? ":memory:" : path, { timeout: 5_000 });
            open.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
                CREATE TABLE IF NOT EXISTS anchors (
                    run TEXT PRIMARY KEY, count INTEGER NOT NULL, head TEXT NOT NULL, answers INTEGER NOT NULL, answered TEXT NOT NULL, code TEXT NOT NULL
                ) STRICT, WITHOUT ROWID`);
        }
        return open;
    };
    const sound = (row: Row | undefined): Anchor | undefined => {
        if (row === undefined) return undefined;
        const { code, ...anchor } = row;
        const expected = anchorCode(key(), anchor);
        return isSameCode(code, expected) ? anchor : undefined;
    };
    const found = (run: string): Anchor | undefined =>
        sound(
            db().prepare("SELECT run, count, head, answers, answered, code FROM anchors WHERE run = ?").get(run) as unknown as
                | Row
                | undefined,
        );
    return {
        write: (anchor) =>
            guarded(path, () => {
                const before = found(anchor.run);
                if (before !== undefined && before.count > anchor.count) return;
                const { run, count, head, answers, answered } = anchor;
                db()
                    .prepare("INSERT OR REPLACE INTO anchors VALUES (?, ?, ?, ?, ?, ?)")
                    .run(run, count, head, answers, answered, anchorCode(key(), anchor));
            }),
        of: (run) => guarded(path, () => found(run)),
        runs: () =>
            guarded(path, () => {
                const all = db().prepare("SELECT run, count, head, answers, answered, code FROM anchors").all() as unknown as Row[];
                return all.filter((row) => sound(row) !== undefined).map(({ run }) => run);
            }),
        drop: (run) => guarded(path, () => void db().prepare("DELETE FROM anchors WHERE run = ?").run(run)),
        close: () => {
            open?.close();
            open = null;
        },
    };
}
