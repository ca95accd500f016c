/**
 * What is written to the embedded ledger: jobs of prepared statements, many in one transaction.
 *
 * Boundary: statements and one connection. It runs in the thread that owns the writing (`thread-worker.ts`) and, where no such thread runs, in the
 * caller's; so it imports nothing but Node and the ledger's small modules.
 *
 * G1: jobs that come together are one transaction and one sync. Each has a savepoint: one that fails fails alone, the others are kept.
 * G2: where the transaction as a whole cannot be kept (a full disk), each job is tried alone.
 * G8: at the first "no space left" the ballast is released, and what found no room is tried once more (BL1).
 * G3: an anchor is written after the transaction that it speaks of (AN2).
 */
import type { KeyObject } from "node:crypto";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { type Anchor, writeAnchor } from "./anchor.ts";
import { ballastOf } from "./ballast.ts";
import { LedgerError, type LedgerErrorCode, ledgerError } from "./error.ts";

/** Statements that only a store with a team has (`team.ts`). */
export type TeamStatement = "share" | "changeShared" | "dropShared";

export const SQL = {
    insertRun: `INSERT INTO runs (id, program, file, root, options, started, status, usage, steps, effects, count, head, answers, answered, owner, beat, bound)
        VALUES (?, ?, ?, ?, ?, ?, 'running', '{}', 0, 0, 0, ?, 0, '', ?, ?, ?)`,
    program: "INSERT OR IGNORE INTO programs (hash, form) VALUES (?, ?)",
    // CPR2: what is written alone may be a base, so it stands alone from now on.
    blob: `INSERT INTO blobs (sha256, bytes, packed) VALUES (?, ?, ?) ON CONFLICT (sha256) DO UPDATE SET bytes = excluded.bytes, packed = excluded.packed
        WHERE substr(blobs.packed, 1, 1) = x'01' AND substr(excluded.packed, 1, 1) IS NOT x'01'`,
    event: `INSERT INTO events (at, run, seq, time, path, parent, kind, principal, site, labels, data, prev, hash, salt)
        VALUES (?1 * 268435456 + ?2, ?1, ?3, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    outcome: `INSERT INTO events (at, run, n, attempt, time, path, data, hash) VALUES (?1 * 268435456 + ?2, ?1, ?3, ?, ?, ?, ?, ?)`,
    early: "INSERT INTO early (run, key, text) VALUES (?, ?, ?)",
    settleEarly: "DELETE FROM early WHERE run = ? AND key = ?",
    state: "INSERT OR REPLACE INTO continuations (at, run, n, kind, outcomes, state, packed) VALUES (?1 * 268435456 + ?2, ?1, ?3, ?, ?, ?, ?)",
    forgetAll: "DELETE FROM continuations WHERE at >= ?1 * 268435456 AND at < (?1 + 1) * 268435456",
    progress: `UPDATE runs SET status = ?, result = ?, ended = ?, usage = ?, steps = ?, effects = ?, count = ?, head = ?, answers = ?, answered = ?, owner = ?, beat = ?,
        spent = ?, bound = ?, batches = ?, pending = ? WHERE key = ? AND epoch = ? AND owner IS ? AND bound = ?`,
    hold: "UPDATE runs SET beat = ? WHERE key = ? AND epoch = ? AND bound = ?",
    take: `UPDATE runs SET owner = ?, beat = ?, status = 'running', bound = ?, pending = ?, epoch = epoch + 1
        WHERE key = ? AND owner IS ? AND epoch = ? AND bound = ?`,
    makeAsks: `CREATE TABLE IF NOT EXISTS asks (
        id TEXT PRIMARY KEY, run TEXT NOT NULL, path TEXT NOT NULL, pending TEXT NOT NULL, request TEXT NOT NULL, bound TEXT NOT NULL,
        schema TEXT NOT NULL, owner TEXT NOT NULL, asked INTEGER NOT NULL, expires INTEGER NOT NULL, mac TEXT NOT NULL,
        state TEXT NOT NULL, decision TEXT, decider TEXT, decided INTEGER, seal TEXT
    ) STRICT`,
    makeClaims:
        "CREATE TABLE IF NOT EXISTS claims (run TEXT NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (run, sha256)) STRICT, WITHOUT ROWID",
    insertClaim: "INSERT OR IGNORE INTO claims (run, sha256) VALUES (?, ?)",
    indexAsks: "CREATE INDEX IF NOT EXISTS asks_run ON asks (run, path)",
    insertAsk: "INSERT INTO asks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    makeNotes: `CREATE TABLE IF NOT EXISTS ask_notes (
        ask TEXT NOT NULL, run TEXT NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, who TEXT NOT NULL, text TEXT NOT NULL, mac TEXT NOT NULL
    ) STRICT`,
    indexNotes: "CREATE INDEX IF NOT EXISTS ask_notes_ask ON ask_notes (ask)",
    insertNote: "INSERT INTO ask_notes SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE (SELECT count(*) FROM ask_notes WHERE ask = ?1) < ?8",
    /** Earlier versions counted, without a key, in a table `uses`. */
    makeUses: `CREATE TABLE IF NOT EXISTS counters (
        counter TEXT PRIMARY KEY, version INTEGER NOT NULL, series TEXT NOT NULL, uses TEXT NOT NULL, mac TEXT NOT NULL
    ) STRICT, WITHOUT ROWID`,
    insertUses: "INSERT OR IGNORE INTO counters VALUES (?, ?, ?, ?, ?)",
    changeUses: "UPDATE counters SET version = ?, series = ?, uses = ?, mac = ? WHERE counter = ? AND mac = ?",
    changeAsk: "UPDATE asks SET state = ?, decision = ?, decider = ?, decided = ?, seal = ? WHERE id = ? AND state = ?",
} as const;

export interface Job {
    /** Run in order. */
    readonly statements: readonly (readonly [keyof typeof SQL | TeamStatement, ...SQLInputValue[]])[];
    /** The first statement has to change a row; where it changes none the job is refused as `owned` with this text. */
    readonly claim?: string;
    /** Synced with the next job that is synced (Q4). */
    readonly light?: true;
    readonly anchor?: Anchor;
    /** The run that it is about, where it is about one; `key` is 0 while it is made. */
    readonly run?: { readonly key: number; readonly id: string };
}

/** Rows that each statement changed, or why nothing of the job was kept. */
export type Done = { readonly changes: readonly number[] } | { readonly code: LedgerErrorCode | null; readonly message: string };

export interface Connection {
    readonly path: string;
    readonly db: DatabaseSync;
    readonly anchors: string;
    readonly key: () => KeyObject;
}

/** One write transaction, on the disk when it returns; on any error nothing of it is kept. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
    db.exec("BEGIN IMMEDIATE");
    try {
        const out = work();
        db.exec("COMMIT");
        return out;
    } catch (error) {
        // A full disk ends the transaction by itself.
        if (db.isTransaction) db.exec("ROLLBACK");
        throw error;
    }
}

/** Performs jobs over one connection, which nothing else writes through at the same time. */
export function performing({ path, db, anchors, key }: Connection): (jobs: readonly Job[]) => Done[] {
    const ballast = ballastOf(path);
    const cache = new Map<keyof typeof SQL, StatementSync>();
    const statement = (name: keyof typeof SQL): StatementSync => {
        let made = cache.get(name);
        if (made === undefined) {
            made = db.prepare(SQL[name]);
            cache.set(name, made);
        }
        return made;
    };
    const failed = (error: unknown): Done => {
        const told = ledgerError(path, error);
        if (told instanceof LedgerError) return { code: told.code, message: told.message };
        return { code: null, message: Error.isError(told) ? (told.stack ?? told.message) : String(told) };
    };
    function one(job: Job): Done {
        const changes: number[] = [];
        for (const [name, ...values] of job.statements) {
            if (!(name in SQL)) throw new LedgerError("io", `the ledger ${path} keeps nothing that servers share`);
            changes.push(Number(statement(name as keyof typeof SQL).run(...values).changes));
            if (changes.length === 1 && job.claim !== undefined && changes[0] !== 1) throw new LedgerError("owned", job.claim);
        }
        return { changes };
    }
    function apart(job: Job): Done {
        db.exec("SAVEPOINT job");
        try {
            return one(job);
        } catch (error) {
            if (!db.isTransaction) throw error;
            db.exec("ROLLBACK TO job");
            return failed(error);
        } finally {
            if (db.isTransaction) db.exec("RELEASE job");
        }
    }
    function together(jobs: readonly Job[]): Done[] {
        const light = jobs.every((job) => job.light === true);
        try {
            if (light) db.exec("PRAGMA synchronous = NORMAL");
            const [only] = jobs;
            return transaction(db, () => (jobs.length === 1 && only !== undefined ? [one(only)] : jobs.map(apart)));
        } catch (error) {
            return jobs.length === 1 ? [failed(error)] : jobs.flatMap((job) => together([job]));
        } finally {
            if (light) db.exec("PRAGMA synchronous = FULL");
        }
    }
    function anchored(anchor: Anchor): Done {
        try {
            transaction(db, () => writeAnchor(anchors, key(), anchor));
            return { changes: [] };
        } catch (error) {
            return failed(error);
        }
    }
    /** G8. */
    const withRoom = (done: Done, again: () => Done): Done =>
        "code" in done && done.code === "full" && ballast.release() ? again() : done;
    return (jobs) => {
        const done = together(jobs).map((one, i) => withRoom(one, () => together([jobs[i] as Job])[0] as Done));
        for (const [i, { anchor }] of jobs.entries()) {
            if (anchor === undefined || "code" in (done[i] as Done)) continue;
            const said = withRoom(anchored(anchor), () => anchored(anchor));
            if ("code" in said) done[i] = said;
        }
        if (done.some((one) => "changes" in one)) ballast.renew();
        return done;
    };
}
