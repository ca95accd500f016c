/**
 * The embedded ledger: one SQLite file (`node:sqlite`), write-ahead log, every commit synced to the disk.
 *
 * Boundary: rows and transactions. Sealing is `seal.ts`, anchors `anchor.ts`, liveness `lease.ts`. Loaded only when a ledger file is used.
 *
 * Q1: everything a commit writes is made ready before the write lock is taken; the lock is held for the writing alone.
 * Q2: each commit checks, in its own transaction, that this writer still owns the run.
 * Q3: a continuation older than the newest image is deleted with the commit that writes the image.
 * Q4: what says only who runs what (a run's row before its first commit, owners, heartbeats) is synced with the next commit that anything follows
 *     from: a loss of power that takes it also ends the process it speaks of, and nothing was performed yet.
 */
import type { StatementSync } from "node:sqlite";
import { resolve } from "node:path";
import { canonicalJson, type Json, type Program } from "@remit/language";
import { GENESIS, type Outcome, type SealedEvent, type Usage } from "@remit/machine";
import { type Anchor, readAnchors, writeAnchor } from "./anchor.ts";
import { sqliteAskRows } from "./asks-rows.ts";
import { asksOver } from "./asks.ts";
import { type Blobs, pack, sha256, unpack } from "./blob.ts";
import { type SqliteOptions, connect } from "./connect.ts";
import { LedgerError, guarded, ledgerError } from "./error.ts";
import { BEAT_MS, type Owner, isLive, parseOwner, thisOwner } from "./lease.ts";
import { configFolder, privateKey } from "./place.ts";
import { type EventRow, type OutcomeRow, RUN_COLUMNS, type RunRow, SQL, eventOf, infoOf } from "./rows.ts";
import { salts, seal } from "./seal.ts";
import type { Batch, LedgerStore, NewRun, PendingEffect, RecordedOutcome, RunWriter, SavedState, Verification } from "./store.ts";
import { addUsage } from "./store.ts";
import { chainOutcome, verifyRun } from "./verify.ts";

/** At most this often an anchor is written while a run goes on, milliseconds. */
const ANCHOR_MS = 1_000;

type Statements = { readonly [K in keyof typeof SQL]: StatementSync };

/** Opens or makes the ledger. Throws `LedgerError`. */
export function openSqlite(file: string, options: SqliteOptions = {}): LedgerStore {
    const path = resolve(file);
    const db = guarded(path, () => connect(path, options));
    const config = options.config ?? configFolder();
    const anchors = `${path}.anchors`;
    const cache: { -readonly [K in keyof Statements]?: StatementSync } = {};
    const prepared = (name: keyof Statements): StatementSync => {
        cache[name] ??= db.prepare(SQL[name]);
        return cache[name];
    };
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
    let key: Buffer | null = null;
    const anchorKey = (): Buffer => {
        key ??= privateKey(config);
        return key;
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

    /** One write transaction; on any error nothing of it is kept. */
    function transaction<T>(work: () => T): T {
        return guarded(path, () => {
            prepared("open").run();
            try {
                const out = work();
                prepared("close").run();
                return out;
            } catch (error) {
                // A full disk ends the transaction by itself.
                if (db.isTransaction) db.exec("ROLLBACK");
                throw error;
            }
        });
    }

    /** A write transaction that survives the end of this process at once, and a loss of power with the next commit (Q4). */
    function lightly<T>(work: () => T): T {
        return guarded(path, () => {
            db.exec("PRAGMA synchronous = NORMAL");
            try {
                return transaction(work);
            } finally {
                db.exec("PRAGMA synchronous = FULL");
            }
        });
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

    function writer(row: RunRow, owner: Owner): RunWriter {
        const mine = JSON.stringify(owner);
        let { count, head, answers, answered, effects, steps, spent } = row;
        let usage = JSON.parse(row.usage) as Usage;
        let states = (prepared("lastState").get(row.key) as { n: number | null }).n ?? 0;
        let open = true;
        let anchoredAt = 0;
        const beat = setInterval(() => {
            try {
                lightly(() => prepared("beat").run(Date.now(), row.key, mine));
            } catch (error) {
                // A missed heartbeat costs nothing: the next commit finds out what is wrong and says it.
                if (!(error instanceof LedgerError)) throw error;
            }
        }, BEAT_MS);
        beat.unref();

        function anchor(now: number, forced: boolean): void {
            if (!forced && now - anchoredAt < ANCHOR_MS) return;
            anchoredAt = now;
            const at: Anchor = { run: row.id, count, head, answers, answered };
            transaction(() => writeAnchor(anchors, anchorKey(), at));
        }

        function commit(batch: Batch): void {
            if (!open) throw new LedgerError("owned", `run ${row.id} is no longer owned by this writer`);
            const now = Date.now();
            const time = new Date(now).toISOString();
            const blobs = new Map<string, string>();
            const into: Blobs = { put: (name, text) => void blobs.set(name, text), get: stored.get };
            const events = seal(batch.events ?? [], { run: row.id, count, head }, time, salt).map((event) => ({
                event,
                data: pack(event.data, into),
            }));
            let lastAnswer = answered;
            const outcomes = (batch.outcomes ?? []).map(({ path: at, outcome }) => {
                const text = pack(outcome as unknown as Json, into);
                lastAnswer = chainOutcome(lastAnswer, at, text);
                return { at, text, hash: lastAnswer };
            });
            const state = batch.state === undefined ? null : { kind: batch.state.kind, text: pack(batch.state.json, into, false) };
            const end = batch.end;
            const result =
                end?.status === "done"
                    ? pack({ value: end.value }, into)
                    : end?.status === "failed"
                      ? pack({ failure: end.failure as unknown as Json }, into)
                      : null;
            const over = end?.status === "done" || end?.status === "failed";
            const nextCount = count + events.length;
            const nextHead = events.at(-1)?.event.hash ?? head;
            const nextAnswers = answers + outcomes.length;
            const nextUsage = addUsage(usage, batch.usage);
            const nextSteps = batch.steps ?? steps;
            const nextSpent = batch.spent ?? spent;

            transaction(() => {
                const changed = prepared("progress").run(
                    end?.status ?? "running",
                    result,
                    over ? time : null,
                    JSON.stringify(nextUsage),
                    nextSteps,
                    effects + outcomes.length,
                    nextCount,
                    nextHead,
                    nextAnswers,
                    lastAnswer,
                    end === undefined ? mine : null,
                    now,
                    nextSpent,
                    row.key,
                    mine,
                );
                if (changed.changes !== 1) throw new LedgerError("owned", `run ${row.id} was taken over by another process`);
                for (const [name, text] of blobs) prepared("blob").run(name, text);
                outcomes.forEach((one, i) => {
                    prepared("outcome").run(row.key, answers + i + 1, time, one.at, one.text, one.hash);
                    prepared("settle").run(row.key, one.at);
                });
                for (const { event: e, data } of events)
                    prepared("event").run(
                        row.key,
                        e.seq,
                        e.time,
                        e.path,
                        e.parent,
                        e.kind,
                        e.principal,
                        e.site === null ? null : JSON.stringify(e.site),
                        JSON.stringify(e.labels),
                        data,
                        e.prev,
                        e.hash,
                        e.salt,
                    );
                for (const at of batch.dropped ?? []) prepared("settle").run(row.key, at);
                for (const one of batch.pending ?? []) prepared("pending").run(row.key, one.path, one.begun ? 1 : 0);
                for (const at of batch.begin ?? []) prepared("begin").run(row.key, at);
                if (state !== null) {
                    prepared("state").run(row.key, states + 1, state.kind, nextAnswers, state.text);
                    if (state.kind === "image") prepared("forget").run(row.key, states + 1);
                }
                if (over) prepared("forgetAll").run(row.key);
            });
            count = nextCount;
            head = nextHead;
            answers = nextAnswers;
            answered = lastAnswer;
            effects += outcomes.length;
            usage = nextUsage;
            steps = nextSteps;
            spent = nextSpent;
            if (state !== null) states++;
            if (end !== undefined) close();
            anchor(now, end !== undefined);
        }
        function close(): void {
            open = false;
            clearInterval(beat);
        }
        return {
            id: row.id,
            commit,
            release: () => {
                if (!open) return;
                close();
                lightly(() => prepared("release").run(row.key, mine));
            },
        };
    }

    function* eventsOf(row: RunRow, from: number): Generator<SealedEvent> {
        // Read in pieces: an open cursor would keep the write-ahead log from being folded in while a slow reader looks at it.
        for (let seq = from; ; ) {
            const rows = query("SELECT * FROM events WHERE run = ? AND seq >= ? ORDER BY seq LIMIT 256").all(
                row.key,
                seq,
            ) as unknown as EventRow[];
            for (const one of rows) yield eventOf(one, row.id, stored);
            const last = rows.at(-1);
            if (last === undefined || rows.length < 256) return;
            seq = last.seq + 1;
        }
    }
    function* outcomesOf(row: RunRow, after: number): Generator<RecordedOutcome & { readonly hash: string; readonly text: string }> {
        for (let n = after; ; ) {
            const rows = query("SELECT * FROM outcomes WHERE run = ? AND n > ? ORDER BY n LIMIT 256").all(
                row.key,
                n,
            ) as unknown as OutcomeRow[];
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
            n = last.n;
        }
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
        create: (run: NewRun) => {
            const owner = thisOwner();
            const now = Date.now();
            const mine = JSON.stringify(owner);
            const started = new Date(now).toISOString();
            const blobs = new Map<string, string>();
            const options = pack(run.options, { put: (name, text) => void blobs.set(name, text), get: stored.get });
            const form = JSON.stringify(run.program);
            lightly(() => {
                for (const [name, text] of blobs) prepared("blob").run(name, text);
                prepared("program").run(run.hash, form);
                prepared("insertRun").run(run.id, run.hash, run.file, run.root, options, started, GENESIS, mine, now);
            });
            return writer(rowOf(run.id), owner);
        },
        own: (id) =>
            guarded(path, () => {
                const row = rowOf(id);
                if (row.status === "done" || row.status === "failed") throw new LedgerError("finished", `run ${row.id} is over`);
                const before = parseOwner(row.owner);
                if (before !== null && isLive(before, row.beat, Date.now()))
                    throw new LedgerError("owned", `run ${row.id} is owned by process ${before.pid} on ${before.host}`);
                const owner = thisOwner();
                const taken = lightly(() => prepared("take").run(JSON.stringify(owner), Date.now(), row.key, row.owner));
                if (taken.changes !== 1) throw new LedgerError("owned", `run ${row.id} was taken over by another process`);
                return writer({ ...row, owner: JSON.stringify(owner) }, owner);
            }),
        runs: (limit = 100) =>
            guarded(path, () =>
                (query(`SELECT ${RUN_COLUMNS} FROM runs ORDER BY key DESC LIMIT ?`).all(limit) as unknown as RunRow[]).map((row) =>
                    infoOf(row, stored, path),
                ),
            ),
        run: (id) => guarded(path, () => infoOf(rowOf(id), stored, path)),
        events: function* (id, from = 1): Generator<SealedEvent> {
            yield* guardedAll(path, () => eventsOf(rowOf(id), from));
        },
        outcomes: function* (id, after = 0): Generator<RecordedOutcome> {
            for (const { n, time, path: at, outcome } of guardedAll(path, () => outcomesOf(rowOf(id), after)))
                yield { n, time, path: at, outcome };
        },
        pending: (id) =>
            guarded(path, () =>
                (query("SELECT path, begun FROM pending WHERE run = ?").all(rowOf(id).key) as { path: string; begun: number }[]).map(
                    (row): PendingEffect => ({ path: row.path, begun: row.begun === 1 }),
                ),
            ),
        program: programOf,
        state: (id) =>
            guarded(path, (): SavedState | null => {
                const rows = query("SELECT kind, outcomes, state FROM continuations WHERE run = ? ORDER BY n").all(rowOf(id).key) as {
                    kind: string;
                    outcomes: number;
                    state: string;
                }[];
                const at = rows.findLastIndex((row) => row.kind === "image");
                if (at < 0) return null;
                const [image, ...deltas] = rows.slice(at).map((row) => unpack(row.state, stored));
                return { image: image as Json, deltas, outcomes: rows.at(-1)?.outcomes ?? 0 };
            }),
        verify: (id): Verification =>
            guarded(path, () => {
                const row = rowOf(id);
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
                    anchor: readAnchors(anchors, anchorKey()).get(row.id),
                });
            }),
        asks: asksOver(
            sqliteAskRows(db, transaction, (work) => guarded(path, work)),
            anchorKey,
        ),
        close: () => {
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
