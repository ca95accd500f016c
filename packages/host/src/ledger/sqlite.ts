/**
 * The embedded ledger: one SQLite file (`node:sqlite`), write-ahead log, every commit synced to the disk.
 *
 * Boundary: making and taking over runs. Reading is `reading.ts`, writing a run `writer.ts`, what is written `jobs.ts`, where `thread.ts`, sealing `seal.ts`, binding
 * `bound.ts`, anchors `anchor.ts`, liveness `lease.ts`. Loaded only when a ledger file is used.
 *
 * Q4: two writes are not synced at once: a run's row when it is made, and its owner when it is taken over. Nothing can be lost by it that
 *     anybody was told: no effect is begun and no event shown before the run's first commit, which is synced, and with it all that stands
 *     before it in the write-ahead log (recovery takes frames in order up to the first that is not whole, so a later commit is never there
 *     without an earlier one). A loss of power before that takes a run of which nothing has happened, or gives it back to an owner that the
 *     loss of power has ended too. Against the end of the process alone both are safe at once. An owner with a name goes on elsewhere, so for it
 *     both are synced.
 */
import { join, resolve } from "node:path";
import type { Json } from "@remit/language";
import { GENESIS, type SealedEvent, whatIsNew } from "@remit/machine";
import { readAnchors } from "./anchor.ts";
import { sqliteAskRows } from "./asks-rows.ts";
import { asksOver } from "./asks.ts";
import { type NewBlobs, pack, sha256, unpack } from "./blob.ts";
import { bind, earlyHash, held, NO_STATE, pendingHash } from "./bound.ts";
import { sqliteClaims } from "./claims.ts";
import { Compressor } from "./compression.ts";
import { connect, type SqliteOptions } from "./connect.ts";
import { guarded, LedgerError } from "./error.ts";
import { BEAT_MS, isLive, parseOwner, shownOwner, thisOwner } from "./lease.ts";
import { released, shownPending, takenOver } from "./order.ts";
import { keyIn } from "./place.ts";
import { removeRuns } from "./prune.ts";
import {
    eventsOf,
    guardedAll,
    intact,
    outcomeOf,
    outcomesOf,
    programOf,
    queriesOf,
    type Reading,
    rowOf,
    standingOf,
    stateOf,
    storedBlobs,
    verified,
    waitsIn,
} from "./reading.ts";
import { infoOf, pendingOf, pendingText, RUN_COLUMNS, type RunRow } from "./rows.ts";
import { salts } from "./seal.ts";
import type { LedgerStore, NewRun, OwnOptions, RecordedOutcome, RunInfo, RunWriter, UnreadableRun } from "./store.ts";
import { type Writing, writingTo } from "./thread.ts";
import { unusedIn } from "./unused.ts";
import { Calls, isFinished, type LedgerFile, type Standing, writerOf } from "./writer.ts";

/** Texts of a run's options that are longer stand beside its row, which every commit writes. */
const OPTIONS_THRESHOLD = 512;

type File = LedgerFile & Reading;

/** Opens or makes the ledger. Throws `LedgerError`. */
export function openSqlite(file: string, options: SqliteOptions): LedgerStore {
    const path = resolve(file);
    const db = guarded(path, () => connect(path, options));
    const anchors = `${path}.anchors`;
    const query = queriesOf(db);
    const key = keyIn(options.config);
    const connection = { path, db, anchors, key };
    const writing = writingTo(connection, options);
    const beats = new Set<() => void>();
    const beating = setInterval(() => {
        for (const beat of beats) beat();
    }, options.beat ?? BEAT_MS);
    beating.unref();
    const reading: Reading = { path, anchors, key, query, blobs: storedBlobs(path, query) };
    const ledger = ledgerOf(reading, writing, beats);
    const run = (id: string): RunRow => rowOf(reading, id);
    const writers: Joined = new Map();

    return {
        durable: true,
        path,
        create: (made) => created(ledger, made),
        own: (id, how = {}) => owned(ledger, id, how),
        join: async (id, epoch) => joined(ledger, writers, id, epoch),
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
        pending: async (id) => guarded(path, () => shownPending(pendingOf(run(id)))),
        program: async (hash) => programOf(reading, hash),
        state: async (id) => guarded(path, () => stateOf(reading, run(id))),
        verify: async (id) => guarded(path, () => verified(reading, run(id))),
        remove: async (ids) => guarded(path, () => removeRuns(connection, [...new Map(ids.map((id) => [run(id).key, run(id)])).values()])),
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
        close: async () => {
            clearInterval(beating);
            beats.clear();
            await writing.close();
            if (db.isOpen) guarded(path, () => db.close());
        },
    };
}

function ledgerOf(reading: Reading, writing: Writing, beats: Set<() => void>): File {
    const { path, key } = reading;
    return {
        ...reading,
        writing,
        salt: salts(),
        beats,
        left: new Set(),
        standing: (id) =>
            guarded(path, () => {
                const found = standingOf(reading, rowOf(reading, id));
                if (held(key(), found.bound, found.row, found.parts).held !== "yes")
                    throw new LedgerError("tampered", `run ${id} in ${path} was changed while it was written`);
                return found;
            }),
        told: (row, at, attempt) => guarded(path, () => outcomeOf(reading, row, at, attempt)),
    };
}

/** V1: what a later version wrote is not misread. */
function known(path: string, strange: string | null, what: string): void {
    if (strange !== null) throw new LedgerError("schema", `${what} in ${path} cannot be read by this version: ${strange}`);
}

async function created(file: File, run: NewRun): Promise<RunWriter> {
    try {
        return await inserted(file, run);
    } catch (error) {
        if (!(error instanceof LedgerError) || error.code !== "exists") throw error;
        const found = named(file, run.id, run.by);
        if (found?.row.program !== run.hash) throw error;
        return writerOf(file, found, null);
    }
}

/** T8: the run, where this is its owner's name. */
function named(file: File, id: string, by: string | undefined): Standing | null {
    const found = by === undefined ? null : file.standing(id);
    return found !== null && isNamed(found.row, by as string) ? found : null;
}

function isNamed({ owner }: RunRow, by: string): boolean {
    const named = parseOwner(owner);
    return named !== null && "by" in named && named.by === by;
}

/** Q4. */
function lightly(by: string | undefined): { readonly light?: true } {
    return by === undefined ? { light: true } : {};
}

/** The owner that is written, as JSON text. */
function ownerText(by: string | undefined): string {
    return JSON.stringify(by === undefined ? thisOwner() : { by });
}

async function inserted(file: File, run: NewRun): Promise<RunWriter> {
    const owner = ownerText(run.by);
    const now = Date.now();
    const blobs: NewBlobs = new Map();
    const packed = pack(run.options, blobs, true, OPTIONS_THRESHOLD);
    const pending = new Map();
    const parts = { options: sha256(packed), state: NO_STATE, pending: pendingHash(pending), early: earlyHash(pending) };
    const row: RunRow = {
        key: 0,
        id: run.id,
        program: run.hash,
        file: run.file,
        root: run.root,
        options: packed,
        started: new Date(now).toISOString(),
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
        owner,
        beat: now,
        spent: 0,
        bound: "",
        epoch: 1,
        batches: 0,
        pending: pendingText(pending),
    };
    const bound = bind(file.key(), row, parts);
    const texts = new Compressor();
    await file.writing.run({
        statements: texts.statements([
            ...[...blobs].map(([text, name]) => ["blob", name, text] as const),
            ["program", run.hash, JSON.stringify(run.program)],
            ["insertRun", row.id, row.program, row.file, row.root, packed, row.started, GENESIS, owner, now, bound],
        ]),
        ...lightly(run.by),
    });
    const { key } = guarded(file.path, () => rowOf(file, run.id));
    const first: Standing = { row: { ...row, key }, pending, early: pending, parts, bound, states: 0, image: 1 };
    return writerOf(file, first, run.by === undefined ? "running" : null, new Calls(file, first, texts));
}

async function owned(file: File, id: string, how: OwnOptions): Promise<RunWriter> {
    try {
        return await taken(file, id, how);
    } catch (error) {
        if (!(error instanceof LedgerError) || error.code !== "owned") throw error;
        const found = named(file, rowOf(file, id).id, how.by);
        if (found === null) throw error;
        return writerOf(file, found, null);
    }
}

async function taken(file: File, id: string, { acceptForeign = false, by, from }: OwnOptions): Promise<RunWriter> {
    const { path } = file;
    const found = guarded(path, () => {
        const row = rowOf(file, id);
        const standing = standingOf(file, row);
        if (isFinished(standing)) throw new LedgerError("finished", `run ${row.id} is over`);
        const before = parseOwner(row.owner);
        const isGone = row.epoch === from || file.left.has(row.owner as string);
        if (before !== null && !isGone && isLive(before, row.beat, Date.now()))
            throw new LedgerError("owned", `run ${row.id} is owned by ${shownOwner(before)}`);
        intact(file, row, acceptForeign);
        return standing;
    });
    const left = takenOver(found, (text) => unpack(text, file.blobs));
    const { row } = found;
    const owner = ownerText(by);
    const now = Date.now();
    const next: RunRow = { ...row, owner, beat: now, status: "running", epoch: row.epoch + 1, pending: pendingText(left.pending) };
    const parts = { ...found.parts, pending: pendingHash(left.pending), early: earlyHash(left.early) };
    const bound = bind(file.key(), next, parts);
    // The code in the row stands for all that was looked at above: a process that changed any of it in between has the run.
    await file.writing.run({
        statements: [
            ["take", owner, now, bound, next.pending, row.key, row.owner, row.epoch, row.bound],
            ...[...found.early.keys()].flatMap((key) => (left.early.has(key) ? [] : [["settleEarly", row.key, key] as const])),
        ],
        claim: `run ${row.id} was taken over by another process`,
        ...lightly(by),
    });
    return writerOf(file, { ...found, ...left, row: next, parts, bound }, by === undefined ? row.status : null);
}

/** Where the writers that were joined last stand, by run. */
type Joined = Map<string, Calls>;
const JOINED = 64;

/**
 * T5. Writers of one run share one line of calls, so that none reads again what another has just written, and none finds itself overtaken by another one
 * of the same process (section `temporal` of `bench/`).
 */
function joined(file: File, known: Joined, id: string, epoch: number): RunWriter {
    const at = guarded(file.path, () => file.query("SELECT epoch, bound FROM runs WHERE id = ?").get(id)) as
        | Pick<RunRow, "epoch" | "bound">
        | undefined;
    if (at !== undefined && at.epoch !== epoch) throw released(id, epoch);
    let calls = known.get(id);
    // What another process wrote is read; where calls are under way, they find it out by themselves.
    if (calls === undefined || at === undefined || calls.now.row.epoch !== epoch || (calls.isIdle && calls.now.bound !== at.bound)) {
        const found = file.standing(rowOf(file, id).id);
        if (found.row.epoch !== epoch) throw released(found.row.id, epoch);
        calls = new Calls(file, found);
    }
    known.delete(id);
    known.set(id, calls);
    const [oldest] = known.size > JOINED ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
    return writerOf(file, calls.now, null, calls);
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
