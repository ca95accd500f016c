/**
 * The embedded ledger: one SQLite file (`node:sqlite`), write-ahead log, every commit synced to the disk.
 *
 * Boundary: the file as a store. Making and taking over runs is `taking.ts`, reading `reading.ts`, writing a run `writer.ts`, what is written `jobs.ts`, where `thread.ts`, sealing `seal.ts`, binding
 * `bound.ts`, anchors `anchor.ts`, liveness `lease.ts`. Loaded only when a ledger file is used.
 *
 * Q4: two writes are not synced at once: a run's row when it is made, and its owner when it is taken over. Nothing can be lost by it that
 *     any caller was told: no effect is begun and no event shown before the run's first commit, which is synced, and with it all that stands
 *     before it in the write-ahead log (recovery takes frames in order up to the first that is not whole, so a later commit is never there
 *     without an earlier one). A loss of power before that takes a run of which nothing has happened, or gives it back to an owner that the
 *     loss of power has ended too. Against the end of the process alone both are safe at once. An owner with a name goes on elsewhere, so for it
 *     both are synced.
 */
import { join, resolve } from "node:path";
import type { Json } from "@remit/language";
import { type SealedEvent, whatIsNew } from "@remit/machine";
import { readAnchors } from "./anchor.ts";
import { anchorsIn } from "./anchors.ts";
import { Beats } from "./beats.ts";
import { sqliteAskRows } from "./asks-rows.ts";
import { asksOver } from "./asks.ts";
import { sha256, unpack } from "./blob.ts";
import { held } from "./bound.ts";
import { sqliteClaims } from "./claims.ts";
import { connect, marksOf, type SqliteOptions } from "./connect.ts";
import { guarded, LedgerError } from "./error.ts";
import { BEAT_MS, isLive } from "./lease.ts";
import { shownPending } from "./order.ts";
import { keyIn } from "./place.ts";
import { removeRuns } from "./prune.ts";
import {
    eventsOf,
    guardedAll,
    guardedLater,
    intact,
    outcomeOf,
    outcomesOf,
    programOf,
    queriesOf,
    type Reading,
    rowOf,
    setsOf,
    standingOf,
    stateOf,
    storedBlobs,
    verified,
    waitsIn,
} from "./reading.ts";
import { infoOf, RUN_COLUMNS, type RunRow } from "./rows.ts";
import { salts } from "./seal.ts";
import type { LedgerStore, RecordedOutcome, RunInfo, UnreadableRun } from "./store.ts";
import { created, type Joined, joined, owned, type TakenFile } from "./taking.ts";
import { type Writing, writingTo } from "./thread.ts";
import { unusedIn } from "./unused.ts";
import { sqliteUseRows } from "./uses-rows.ts";
import { usesOver } from "./uses.ts";

type File = TakenFile & Reading;

/** Opens or makes the ledger. Throws `LedgerError`. */
export function openSqlite(file: string, options: SqliteOptions): LedgerStore {
    const path = resolve(file);
    const db = guarded(path, () => connect(path, options));
    const anchors = `${path}.anchors`;
    const query = queriesOf(db);
    const key = keyIn(options.config);
    const connection = { path, db, anchors, key };
    const writing = writingTo(connection, options);
    const beats = new Beats(options.beat ?? BEAT_MS);
    const reading: Reading = { path, anchors, key, query, blobs: storedBlobs(path, query) };
    const ledger = ledgerOf(reading, writing, beats);
    const run = (id: string): RunRow => rowOf(reading, id);
    const writers: Joined = new Map();
    const marks = anchorsIn(marksOf(options, sha256(path)), key, options.readOnly === true);

    return {
        durable: true,
        path,
        create: (made) => created(ledger, made),
        own: (id, how = {}) => owned(ledger, id, how),
        join: (id, epoch) => joined(ledger, writers, id, epoch),
        runs: async (limit = 100, unreadable) => listed(reading, limit, unreadable),
        dropped: async () =>
            guarded(path, () => {
                const there = query("SELECT 1 FROM runs WHERE id = ?");
                return [...readAnchors(anchors, key()).keys()].filter((id) => there.get(id) === undefined);
            }),
        run: async (id) => guarded(path, () => infoOf(run(id), reading.blobs, path)),
        options: async (id) => guarded(path, () => unpack(run(id).options, reading.blobs)),
        events: async function* (id, from = 1): AsyncGenerator<SealedEvent> {
            const row = run(id);
            for (const event of guardedAll(path, () => eventsOf(reading, row, from))) {
                known(path, whatIsNew.event(event as unknown as Json), `event ${event.seq} of run ${row.id}`);
                yield event;
            }
        },
        outcomes: async function* (id, after = 0): AsyncGenerator<RecordedOutcome> {
            const row = run(id);
            for (const { n, time, path: at, attempt, outcome } of guardedAll(path, () => outcomesOf(reading, row, after))) {
                known(path, whatIsNew.outcome(outcome as unknown as Json), `outcome ${n} of run ${row.id}`);
                yield { n, time, path: at, ...(attempt === 1 ? {} : { attempt }), outcome };
            }
        },
        outcome: async (id, at, attempt) => guarded(path, () => outcomeOf(reading, run(id), at, attempt)),
        pending: async (id) => guarded(path, () => shownPending(setsOf(reading, run(id)).pending)),
        program: async (hash) => programOf(reading, hash),
        state: async (id) => guarded(path, () => stateOf(reading, run(id))),
        verify: (id) => guardedLater(path, () => verified(reading, run(id))),
        remove: async (ids) => guarded(path, () => removeRuns(connection, [...new Map(ids.map((id) => [run(id).key, run(id)])).values()])),
        uses: usesOver(
            sqliteUseRows(db, writing, (work) => guarded(path, work)),
            key,
            marks,
        ),
        claims: sqliteClaims(db, writing, reading.blobs, (work) => guarded(path, work)),
        asks: asksOver(
            sqliteAskRows(
                db,
                writing,
                (work) => guarded(path, work),
                (id, at) => waitsIn(reading, id, at),
            ),
            key,
            unusedIn(join(options.state ?? options.config, "answers")),
        ),
        refused: (heard) => {
            ledger.refused.add(heard);
            return () => void ledger.refused.delete(heard);
        },
        close: async () => {
            beats.close();
            for (const calls of writers.values()) calls.hurry();
            await writing.close();
            marks.close();
            if (db.isOpen) guarded(path, () => db.close());
        },
    };
}

function ledgerOf(reading: Reading, writing: Writing, beats: Beats): File {
    const { path, key } = reading;
    return {
        ...reading,
        writing,
        salt: salts(),
        now: Date.now,
        beats,
        refused: new Set(),
        left: new Set(),
        row: (id) => guarded(path, () => rowOf(reading, id)),
        looked: (row) => guarded(path, () => standingOf(reading, row)),
        intact: (row, acceptForeign) => guardedLater(path, () => intact(reading, row, acceptForeign)),
        isLive: (owner, beat) => isLive(owner, beat, Date.now()),
        at: (id) => guarded(path, () => reading.query("SELECT epoch, bound FROM runs WHERE id = ?").get(id)) as ReturnType<TakenFile["at"]>,
        standing: (id) =>
            guarded(path, () => {
                const found = atOneMoment(reading, () => standingOf(reading, rowOf(reading, id)));
                if (held(key(), found).held !== "yes")
                    throw new LedgerError("tampered", `run ${id} in ${path} was changed while it was written`);
                return found;
            }),
        told: (row, at, attempt) => guarded(path, () => outcomeOf(reading, row, at, attempt)),
    };
}

/** All that is read stands as of one moment: what another process commits between two queries looked like a change by a stranger. */
function atOneMoment<T>({ query }: Reading, read: () => T): T {
    query("BEGIN").run();
    try {
        return read();
    } finally {
        query("COMMIT").run();
    }
}

/** V1: what a later version wrote is not misread. */
function known(path: string, strange: string | null, what: string): void {
    if (strange !== null) throw new LedgerError("schema", `${what} in ${path} cannot be read by this version: ${strange}`);
}

function listed({ path, query, blobs }: Reading, limit: number, unreadable?: (one: UnreadableRun) => void): RunInfo[] {
    const keys = guarded(path, () => query("SELECT key FROM runs ORDER BY key DESC LIMIT ?").all(limit)) as { key: number }[];
    // One by one: a row that cannot be read does not hide the others.
    return keys.flatMap(({ key: at }) => {
        let id = `number ${at}`;
        try {
            return guarded(path, () => {
                const row = query(`SELECT ${RUN_COLUMNS} FROM runs WHERE key = ?`).get(at) as RunRow | undefined;
                id = row?.id ?? id;
                return row === undefined ? [] : [infoOf(row, blobs, path)];
            });
        } catch (error) {
            if (unreadable === undefined || !(error instanceof LedgerError)) throw error;
            unreadable({ id, error });
            return [];
        }
    });
}
