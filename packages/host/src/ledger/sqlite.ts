/**
 * The embedded ledger: one SQLite file (`node:sqlite`), write-ahead log, every commit synced to the disk.
 *
 * Boundary: rows and reading. Writing a run is `writer.ts`, what is written `jobs.ts`, where `thread.ts`, sealing `seal.ts`, binding `bound.ts`, anchors `anchor.ts`, liveness
 * `lease.ts`. Loaded only when a ledger file is used.
 *
 * Q4: two writes are not synced at once: a run's row when it is made, and its owner when it is taken over. Nothing can be lost by it that
 *     anybody was told: no effect is begun and no event shown before the run's first commit, which is synced, and with it all that stands
 *     before it in the write-ahead log (recovery takes frames in order up to the first that is not whole, so a later commit is never there
 *     without an earlier one). A loss of power before that takes a run of which nothing has happened, or gives it back to an owner that the
 *     loss of power has ended too. Against the end of the process alone both are safe at once.
 */
import type { StatementSync } from "node:sqlite";
import { join, resolve } from "node:path";
import { amountOf, canonicalJson, type Json, type Program } from "@remit/language";
import { GENESIS, type Outcome, type SealedEvent, whatIsNew } from "@remit/machine";
import { readAnchors } from "./anchor.ts";
import { sqliteAskRows } from "./asks-rows.ts";
import { asksOver } from "./asks.ts";
import { type Blobs, pack, sha256, unpack } from "./blob.ts";
import { type BoundParts, type BoundRow, NO_STATE, bind, held, pendingHash, stateHash } from "./bound.ts";
import { type SqliteOptions, connect } from "./connect.ts";
import { LedgerError, guarded, ledgerError } from "./error.ts";
import { BEAT_MS, isLive, parseOwner, thisOwner } from "./lease.ts";
import { configFolder, privateKey, stateFolder } from "./place.ts";
import { removeRuns } from "./prune.ts";
import { type EventRow, type OutcomeRow, RUN_COLUMNS, type RunRow, eventOf, infoOf } from "./rows.ts";
import { salts } from "./seal.ts";
import { unusedIn } from "./unused.ts";
import type { LedgerStore, NewRun, PendingEffect, RecordedOutcome, SavedState, Verification } from "./store.ts";
import { writingTo } from "./thread.ts";
import { chainOutcome, verifyRun } from "./verify.ts";
import { type LedgerFile, type Standing, writerOf } from "./writer.ts";

/** What `at` is: the run's key times this, and the number in the run (S3). */
const RUN_ROOM = 268_435_456;

/** A run's row when it is made. */
const FRESH: Omit<BoundRow, "id" | "program" | "file" | "root" | "started"> = {
    ended: null,
    status: "running",
    result: null,
    usage: "{}",
    steps: 0,
    effects: 0,
    count: 0,
    head: GENESIS,
    answers: 0,
    answered: "",
    spent: 0,
};

/** Opens or makes the ledger. Throws `LedgerError`. */
export function openSqlite(file: string, options: SqliteOptions = {}): LedgerStore {
    const path = resolve(file);
    const db = guarded(path, () => connect(path, options));
    const config = options.config ?? configFolder();
    const anchors = `${path}.anchors`;
    const adhoc = new Map<string, StatementSync>();
    const query = (sql: string): StatementSync => {
        let statement = adhoc.get(sql);
        if (statement === undefined) {
            statement = db.prepare(sql);
            adhoc.set(sql, statement);
        }
        return statement;
    };
    const salt = salts();
    let read: Buffer | null = null;
    const key = (): Buffer => {
        read ??= privateKey(config);
        return read;
    };

    const stored: Blobs = {
        put: () => {
            throw new LedgerError("io", "blobs are written with a commit");
        },
        get: (name) => {
            const row = query("SELECT bytes FROM blobs WHERE sha256 = ?").get(name) as { bytes: string } | undefined;
            if (row === undefined || sha256(row.bytes) !== name)
                throw new LedgerError("tampered", `the ledger ${path} ${row === undefined ? "lacks" : "has a changed"} blob ${name}`);
            return row.bytes;
        },
    };

    const connection = { path, db, anchors, key };
    const writing = writingTo(connection, options);
    const beats = new Set<() => void>();
    const beating = setInterval(() => {
        for (const beat of beats) beat();
    }, options.beat ?? BEAT_MS);
    beating.unref();
    const ledger: LedgerFile = { writing, blobs: stored, salt, key, beats };

    /** One write transaction on this connection; on any error nothing of it is kept. */
    function transaction<T>(work: () => T): T {
        db.exec("BEGIN IMMEDIATE");
        try {
            const out = work();
            db.exec("COMMIT");
            return out;
        } catch (error) {
            if (db.isTransaction) db.exec("ROLLBACK");
            throw error;
        }
    }

    function rowOf(id: string): RunRow {
        const sql = `SELECT ${RUN_COLUMNS} FROM runs`;
        if (id === "last") {
            const row = query(`${sql} ORDER BY key DESC LIMIT 1`).get() as RunRow | undefined;
            if (row === undefined) throw new LedgerError("unknown", `the ledger ${path} holds no run yet`);
            return row;
        }
        const exact = query(`${sql} WHERE id = ?`).get(id) as RunRow | undefined;
        if (exact !== undefined) return exact;
        const some = query(`${sql} WHERE id >= ? AND id < ? LIMIT 2`).all(id, `${id}\uffff`) as unknown as RunRow[];
        if (id === "" || some.length === 0) throw new LedgerError("unknown", `the ledger ${path} has no run ${id}`);
        if (some.length > 1) throw new LedgerError("unknown", `more than one run in ${path} begins with ${id}`);
        return some[0] as RunRow;
    }

    function* eventsOf(row: RunRow, from: number): Generator<SealedEvent> {
        // Read in pieces: an open cursor would keep the write-ahead log from being folded in while a slow reader looks at it.
        for (let seq = from; ; ) {
            const rows = query(
                "SELECT * FROM events WHERE at >= ?1 * 268435456 + ?2 AND at < (?1 + 1) * 268435456 ORDER BY at LIMIT 256",
            ).all(row.key, seq) as unknown as EventRow[];
            for (const one of rows) yield eventOf(one, row.id, stored);
            const last = rows.at(-1);
            if (last === undefined || rows.length < 256) return;
            // By its place, not by the number that the row says: that may have been changed.
            seq = last.at - row.key * RUN_ROOM + 1;
        }
    }
    function* outcomesOf(row: RunRow, after: number): Generator<RecordedOutcome & { readonly hash: string; readonly text: string }> {
        for (let n = after; ; ) {
            const rows = query(
                "SELECT * FROM outcomes WHERE at > ?1 * 268435456 + ?2 AND at < (?1 + 1) * 268435456 ORDER BY at LIMIT 256",
            ).all(row.key, n) as unknown as OutcomeRow[];
            for (const one of rows)
                yield {
                    n: one.n,
                    time: one.time,
                    path: one.path,
                    outcome: unpack(one.outcome, stored) as unknown as Outcome,
                    hash: one.hash,
                    text: one.outcome,
                };
            const last = rows.at(-1);
            if (last === undefined || rows.length < 256) return;
            n = last.at - row.key * RUN_ROOM;
        }
    }

    function statesOf(row: RunRow): { kind: string; outcomes: number; state: string }[] {
        const rows = query(
            "SELECT kind, outcomes, state FROM continuations WHERE at >= ?1 * 268435456 AND at < (?1 + 1) * 268435456 ORDER BY at",
        ).all(row.key) as {
            kind: string;
            outcomes: number;
            state: string;
        }[];
        return rows;
    }
    function pendingOf(row: RunRow): PendingEffect[] {
        const rows = query("SELECT path, begun FROM pending WHERE run = ?").all(row.key) as { path: string; begun: number }[];
        return rows.map((one) => ({ path: one.path, begun: one.begun === 1 }));
    }
    function standingOf(row: RunRow): Standing {
        const pending = new Map(pendingOf(row).map((one) => [one.path, one.begun]));
        let state = NO_STATE;
        for (const one of statesOf(row)) state = stateHash(state, one.kind, one.outcomes, one.state);
        return { row, before: row.status, pending, parts: { options: sha256(row.options), state, pending: pendingHash(pending) } };
    }

    /** Throws where a resume would begin with something else than what was kept: the row and what it binds, outcomes after the state, the anchor. */
    function intact({ row, parts }: Standing, acceptForeign: boolean): void {
        const changed = (what: string): LedgerError =>
            new LedgerError("tampered", `run ${row.id} in ${path} was changed since it was recorded: ${what}`);
        const found = held(key(), row.bound, row, parts);
        if (found.held === "broken") throw changed(found.message);
        if (found.held !== "yes") {
            if (!acceptForeign)
                throw new LedgerError(
                    "elsewhere",
                    `run ${row.id} in ${path} ${found.held === "foreign" ? "was recorded under another key: by another user, or on another machine" : "carries no code of any key"}; whether it was changed cannot be told`,
                );
            const { problem } = verified(row);
            if (problem !== undefined) throw changed(problem.message);
        }
        const saved = statesOf(row).at(-1)?.outcomes ?? 0;
        let hash = "";
        if (saved > 0)
            hash =
                (query("SELECT hash FROM outcomes WHERE at = ?1 * 268435456 + ?2").get(row.key, saved) as OutcomeRow | undefined)?.hash ??
                "";
        let n = saved;
        for (const one of outcomesOf(row, saved)) {
            hash = chainOutcome(hash, one.path, one.text);
            if (one.n !== ++n || hash !== one.hash) throw changed(`outcome ${n} is not the one that was kept`);
        }
        if (n !== row.answers || hash !== row.answered) throw changed(`outcome ${n} is not the last one that was kept`);
        const anchor = readAnchors(anchors, key(), row.id).get(row.id);
        if (anchor !== undefined && (anchor.count > row.count || anchor.answers > row.answers))
            throw changed(
                `it has ${amountOf(row.count, "event")} and ${amountOf(row.answers, "outcome")}, and ${anchor.count} and ${anchor.answers} were anchored`,
            );
    }

    function verified(row: RunRow): Verification {
        return verifyRun({
            count: row.count,
            head: row.head,
            answers: row.answers,
            answered: row.answered,
            events: eventsOf(row, 1),
            outcomes: outcomesOf(row, 0),
            program: row.program,
            status: row.status,
            value: () => guarded(path, () => infoOf(row, stored, path).value),
            form: () => programOf(row.program),
            anchor: readAnchors(anchors, key(), row.id).get(row.id),
            held: () => held(key(), row.bound, row, standingOf(row).parts),
        });
    }

    /** V1: what a later version wrote is not misread. */
    function known(strange: string | null, what: string): void {
        if (strange !== null) throw new LedgerError("schema", `${what} in ${path} cannot be read by this version: ${strange}`);
    }

    const programOf = (name: string): Program =>
        guarded(path, () => {
            const row = query("SELECT form FROM programs WHERE hash = ?").get(name) as { form: string } | undefined;
            if (row === undefined) throw new LedgerError("tampered", `the ledger ${path} lacks program ${name}`);
            const form = JSON.parse(row.form) as Json;
            if (sha256(canonicalJson(form)) !== name) throw new LedgerError("tampered", `the ledger ${path} has a changed program ${name}`);
            return form as unknown as Program;
        });

    return {
        durable: true,
        path,
        create: async (run: NewRun) => {
            const owner = thisOwner();
            const now = Date.now();
            const mine = JSON.stringify(owner);
            const started = new Date(now).toISOString();
            const blobs = new Map<string, string>();
            const options = pack(run.options, { put: (name, text) => void blobs.set(name, text), get: stored.get });
            const form = JSON.stringify(run.program);
            const pending = new Map<string, boolean>();
            const parts: BoundParts = { options: sha256(options), state: NO_STATE, pending: pendingHash(pending) };
            const fresh: BoundRow = { ...FRESH, id: run.id, program: run.hash, file: run.file, root: run.root, started };
            const bound = bind(key(), fresh, parts);
            await writing.run({
                statements: [
                    ...[...blobs].map(([name, text]) => ["blob", name, text] as const),
                    ["program", run.hash, form],
                    ["insertRun", run.id, run.hash, run.file, run.root, options, started, GENESIS, mine, now, bound],
                ],
                light: true,
            });
            return guarded(path, () => writerOf(ledger, { row: rowOf(run.id), before: "running", parts, pending }, mine, 0));
        },
        own: async (id, { acceptForeign = false } = {}) => {
            const { row, standing, states } = guarded(path, () => {
                const row = rowOf(id);
                if (row.status === "done" || (row.status === "failed" && standingOf(row).parts.state === NO_STATE))
                    throw new LedgerError("finished", `run ${row.id} is over`);
                const before = parseOwner(row.owner);
                if (before !== null && isLive(before, row.beat, Date.now()))
                    throw new LedgerError("owned", `run ${row.id} is owned by process ${before.pid} on ${before.host}`);
                const standing = standingOf(row);
                intact(standing, acceptForeign);
                const { n } = query("SELECT max(n) AS n FROM continuations WHERE at >= ?1 * 268435456 AND at < (?1 + 1) * 268435456").get(
                    row.key,
                ) as { n: number | null };
                return { row, standing, states: n ?? 0 };
            });
            const mine = JSON.stringify(thisOwner());
            const taken: RunRow = { ...row, owner: mine, status: "running" };
            const bound = bind(key(), taken, standing.parts);
            // The code in the row stands for all that was looked at above: a process that changed any of it in between has the run.
            await writing.run({
                statements: [["take", mine, Date.now(), bound, row.key, row.owner, row.bound]],
                claim: `run ${row.id} was taken over by another process`,
                light: true,
            });
            return writerOf(ledger, { ...standing, row: { ...taken, bound } }, mine, states);
        },
        runs: async (limit = 100, unreadable) => {
            const keys = guarded(path, () => query("SELECT key FROM runs ORDER BY key DESC LIMIT ?").all(limit)) as { key: number }[];
            // One by one: a row that cannot be read does not hide the others.
            return keys.flatMap(({ key: at }) => {
                let id = `number ${at}`;
                try {
                    return guarded(path, () => {
                        const row = query(`SELECT ${RUN_COLUMNS} FROM runs WHERE key = ?`).get(at) as RunRow | undefined;
                        id = row?.id ?? id;
                        return row === undefined ? [] : [infoOf(row, stored, path)];
                    });
                } catch (error) {
                    if (unreadable === undefined || !(error instanceof LedgerError)) throw error;
                    unreadable({ id, error });
                    return [];
                }
            });
        },
        dropped: async () =>
            guarded(path, () => {
                const there = query("SELECT 1 FROM runs WHERE id = ?");
                return [...readAnchors(anchors, key()).keys()].filter((id) => there.get(id) === undefined);
            }),
        run: async (id) => guarded(path, () => infoOf(rowOf(id), stored, path)),
        options: async (id) => guarded(path, () => unpack(rowOf(id).options, stored)),
        events: async function* (id, from = 1): AsyncGenerator<SealedEvent> {
            const row = rowOf(id);
            for (const event of guardedAll(path, () => eventsOf(row, from))) {
                known(whatIsNew.event(event as unknown as Json), `event ${event.seq} of run ${row.id}`);
                yield event;
            }
        },
        outcomes: async function* (id, after = 0): AsyncGenerator<RecordedOutcome> {
            const row = rowOf(id);
            for (const { n, time, path: at, outcome } of guardedAll(path, () => outcomesOf(row, after))) {
                known(whatIsNew.outcome(outcome as unknown as Json), `outcome ${n} of run ${row.id}`);
                yield { n, time, path: at, outcome };
            }
        },
        pending: async (id) => guarded(path, () => pendingOf(rowOf(id))),
        program: async (hash) => programOf(hash),
        state: async (id) =>
            guarded(path, (): SavedState | null => {
                const rows = statesOf(rowOf(id));
                const at = rows.findLastIndex((row) => row.kind === "image");
                if (at < 0) return null;
                const [image, ...deltas] = rows.slice(at).map((row) => unpack(row.state, stored));
                return { image: image as Json, deltas, outcomes: rows.at(-1)?.outcomes ?? 0 };
            }),
        verify: async (id) => guarded(path, () => verified(rowOf(id))),
        remove: async (ids) =>
            guarded(path, () => {
                const rows = new Map(ids.map(rowOf).map((row) => [row.key, row]));
                return removeRuns({ ...connection, transaction }, [...rows.values()]);
            }),
        asks: asksOver(
            sqliteAskRows(db, writing, (work) => guarded(path, work)),
            key,
            unusedIn(join(options.state ?? options.config ?? stateFolder(), "answers")),
        ),
        close: async () => {
            clearInterval(beating);
            beats.clear();
            await writing.close();
            if (db.isOpen) guarded(path, () => db.close());
        },
    };
}

function* guardedAll<T>(path: string, items: () => Iterable<T>): Generator<T> {
    try {
        yield* items();
    } catch (error) {
        throw ledgerError(path, error);
    }
}
