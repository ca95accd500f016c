/**
 * The ledger in PostgreSQL, for several processes and machines.
 *
 * Boundary: the database as a store. Making and taking over runs is `../taking.ts`, writing a run `../writer.ts`, reading `reading.ts`, keeping what is
 * written `jobs.ts`. Loaded only where an address is given.
 *
 * PGS1: all owners of runs share the clock of the database: a heartbeat is younger or older by it, whatever the clocks of the machines say. A server
 *       that was started anew gives each lease its whole time again, since no heartbeat could come meanwhile.
 * PGS2: what binds runs is a key that the database does not have. Processes that are to go on with each other's runs have the same one.
 */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { type SealedEvent, whatIsNew } from "@remit/machine";
import { asksOver } from "../asks.ts";
import { sha256 } from "../blob.ts";
import { held } from "../bound.ts";
import type { Claims } from "../claims.ts";
import { Compressor } from "../compression.ts";
import { marksOf, type SqliteOptions } from "../connect.ts";
import { LedgerError } from "../error.ts";
import { Beats } from "../beats.ts";
import { isLiveAnywhere, type Owner } from "../lease.ts";
import { shownPending } from "../order.ts";
import { keyIn } from "../place.ts";
import { RUN_COLUMNS, type RunRow } from "../rows.ts";
import { salts } from "../seal.ts";
import type { LedgerStore, RecordedOutcome, RunInfo, UnreadableRun } from "../store.ts";
import { created, type Joined, joined, owned, type TakenFile } from "../taking.ts";
import type { Writing } from "../thread.ts";
import { type Address, addressOf } from "../address.ts";
import { type Anchors, anchorsIn } from "../anchors.ts";
import { postgresAskRows } from "./asks-rows.ts";
import { type Connections, connectionsTo } from "./connections.ts";
import { postgresWriting } from "./jobs.ts";
import { type Meta, madeReady } from "./making.ts";
import { newsOf } from "./news.ts";
import {
    blobsNamed,
    eventsOf,
    infoFrom,
    intact,
    NO_BLOBS,
    outcomeOf,
    outcomesOf,
    setsOf,
    programOf,
    type Reading,
    rowOf,
    standingOf,
    stateOf,
    unpacked,
    verified,
    waitsIn,
} from "./reading.ts";
import { removeRuns } from "./removal.ts";
import { teamOver } from "./team.ts";
import { usesOver } from "../uses.ts";
import { postgresUseRows } from "./uses.ts";

/** Between two heartbeats of an owner, and age of one after which the lease of another machine is over, milliseconds. */
const BEAT_MS = 5_000;
const STALE_MS = 20_000;

export interface PostgresOptions extends Pick<SqliteOptions, "config" | "state" | "readOnly" | "beat"> {
    /** For what the address leaves out: `PGPASSWORD`, `PGUSER`, `REMIT_LEDGER_KEY`. */
    readonly env?: Readonly<Record<string, string | undefined>>;
    /** Age of a heartbeat after which the lease of another machine is over, milliseconds. Default: 20,000. */
    readonly stale?: number;
}

/** Opens the ledger, makes its tables where there are none. Rejects with `LedgerError`. */
export async function openPostgres(text: string, options: PostgresOptions): Promise<LedgerStore> {
    const { readOnly = false, env = {} } = options;
    const address = addressOf(text, env);
    const key = keyOf(env, options.config);
    return storeOn(address, await madeReady(address, readOnly), key, options);
}

/** PGS2. Throws `LedgerError` `key`. */
function keyOf(env: Readonly<Record<string, string | undefined>>, config: string): () => KeyObject {
    const said = env["REMIT_LEDGER_KEY"];
    if (said === undefined || said === "") return keyIn(config);
    if (!/^[0-9a-fA-F]{64}$/.test(said)) throw new LedgerError("key", "REMIT_LEDGER_KEY is no key");
    const key = createSecretKey(Buffer.from(said, "hex"));
    return () => key;
}

function storeOn(address: Address, meta: Meta, key: () => KeyObject, options: PostgresOptions): LedgerStore {
    const { readOnly = false, state, config, stale = STALE_MS } = options;
    const { shown: at } = address;
    const process = randomBytes(9).toString("hex");
    const connections = connectionsTo(address, {
        readOnly,
        first: [
            // A commit that was acknowledged survives the end of the server.
            ["SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'", []],
            ...(readOnly ? [] : ([["INSERT INTO writers (process, last) VALUES ($1, 0) ON CONFLICT DO NOTHING", [process]]] as const)),
        ],
    });
    const anchors = anchorsIn(join(state ?? config, "anchors", `${meta.id}.db`), key, readOnly);
    const marks = anchorsIn(marksOf(options, meta.id), key, readOnly);
    const clock = clockOf(connections, meta);
    const isLive = (owner: Owner, beat: number): boolean =>
        isLiveAnywhere(owner, Math.max(beat, clock.serverStarted()), clock.now(), stale);
    const reading: Reading = { at, rows: connections.rows, key, anchorOf: (run) => anchors.of(run), isLive };
    const news = newsOf(connections);
    const writing = postgresWriting({ connections, process, anchor: (anchor) => anchors.write(anchor), news: (runs) => news.tell(runs) });
    const beats = new Beats(options.beat ?? BEAT_MS);
    const setting = setInterval(() => clock.set(), options.beat ?? BEAT_MS);
    setting.unref();
    const file = fileOf(reading, writing, beats, clock.now);
    const writers: Joined = new Map();
    const row = (id: string): Promise<RunRow> => rowOf(reading, id);
    return {
        durable: true,
        path: at,
        create: (made) => created(file, made),
        own: (id, how = {}) => owned(file, id, how),
        join: (id, epoch) => joined(file, writers, id, epoch),
        runs: (limit = 100, unreadable) => listed(reading, limit, unreadable),
        dropped: () => dropped(connections, anchors, key),
        run: async (id) => infoFrom(reading, await row(id)),
        ...readsOf(reading),
        remove: async (ids) => {
            const rows = new Map<number, RunRow>();
            for (const id of ids) {
                const found = await row(id);
                rows.set(found.key, found);
            }
            const gone = [...rows.values()];
            await removeRuns(connections, gone, { isLive, code: (run) => removedCode(key(), run) });
            for (const { id } of gone) anchors.drop(id);
            return { runs: gone.length, bytes: 0, shrunk: false };
        },
        uses: usesOver(postgresUseRows(connections), key, marks, clock.now),
        claims: claimsIn(reading, writing),
        // AU1 is for copies of a file. A database has none that is used beside it; one that is put back to an earlier copy asks as it did then.
        asks: asksOver(
            postgresAskRows(connections, writing, (run, path) => waitsIn(reading, run, path)),
            key,
            null,
            clock.now,
        ),
        changed: (heard) => news.hear(heard),
        refused: (heard) => {
            file.refused.add(heard);
            return () => void file.refused.delete(heard);
        },
        team: teamOver({ connections, writing, key, now: clock.now, isLive, process }),
        close: async () => {
            clearInterval(setting);
            beats.close();
            for (const calls of writers.values()) calls.hurry();
            await writing.close();
            await news.close();
            await connections.close();
            anchors.close();
            marks.close();
        },
    };
}

/** What only reads. */
function readsOf(
    reading: Reading,
): Pick<LedgerStore, "options" | "events" | "outcomes" | "outcome" | "pending" | "program" | "state" | "verify"> {
    const { at } = reading;
    const row = (id: string): Promise<RunRow> => rowOf(reading, id);
    return {
        options: async (id) => unpacked(reading, (await row(id)).options),
        events: async function* (id, from = 1): AsyncGenerator<SealedEvent> {
            const found = await row(id);
            for await (const event of eventsOf(reading, found, from)) {
                known(at, whatIsNew.event(event as unknown as Json), `event ${event.seq} of run ${found.id}`);
                yield event;
            }
        },
        outcomes: async function* (id, after = 0): AsyncGenerator<RecordedOutcome> {
            const found = await row(id);
            for await (const { n, time, path, attempt, outcome } of outcomesOf(reading, found, after)) {
                known(at, whatIsNew.outcome(outcome as unknown as Json), `outcome ${n} of run ${found.id}`);
                yield { n, time, path, ...(attempt === 1 ? {} : { attempt }), outcome };
            }
        },
        outcome: async (id, path, attempt) => outcomeOf(reading, await row(id), path, attempt),
        pending: async (id) => shownPending((await setsOf(reading, await row(id))).pending),
        program: (hash) => programOf(reading, hash),
        state: async (id) => stateOf(reading, await row(id)),
        verify: async (id) => verified(reading, await row(id)),
    };
}

interface Clock {
    /** Of the database, milliseconds since 1970. */
    now(): number;
    serverStarted(): number;
    /** Looks again. */
    set(): void;
}

/** PGS1. */
function clockOf({ rows }: Connections, first: Pick<Meta, "now" | "started">): Clock {
    let ahead = first.now - Date.now();
    let { started } = first;
    return {
        now: () => Math.round(Date.now() + ahead),
        serverStarted: () => started,
        set: () => {
            const before = Date.now();
            rows<{ now: number; started: number }>(TIMES).then(
                ([said]) => {
                    if (said === undefined) return;
                    ahead = said.now - (before + Date.now()) / 2;
                    started = said.started;
                },
                // A server that is away says no time; what is written finds that out and tells it.
                (error: unknown) => {
                    if (!(error instanceof LedgerError)) throw error;
                },
            );
        },
    };
}
const TIMES = `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
    floor(extract(epoch FROM pg_postmaster_start_time()) * 1000)::bigint AS started`;

function fileOf(reading: Reading, writing: Writing, beats: Beats, now: () => number): TakenFile {
    const { at, key, rows, isLive } = reading;
    return {
        path: at,
        writing,
        blobs: NO_BLOBS,
        whole: true,
        salt: salts(),
        key,
        now,
        beats,
        refused: new Set(),
        left: new Set(),
        standing: async (id) => {
            const found = await standingOf(reading, id);
            if (held(key(), found).held !== "yes") throw new LedgerError("tampered", `run ${id} in ${at} was changed while it was written`);
            return found;
        },
        told: (row, path, attempt) => outcomeOf(reading, row, path, attempt),
        row: (id) => rowOf(reading, id),
        looked: (row) => standingOf(reading, row.id),
        intact: (row, acceptForeign) => intact(reading, row, acceptForeign),
        isLive,
        at: async (id) => (await rows<Pick<RunRow, "epoch" | "bound">>("SELECT epoch, bound FROM runs WHERE id = $1", [id]))[0],
    };
}

/** V1: what a later version wrote is not misread. */
function known(at: string, strange: string | null, what: string): void {
    if (strange !== null) throw new LedgerError("schema", `${what} in ${at} cannot be read by this version: ${strange}`);
}

async function listed(reading: Reading, limit: number, unreadable?: (one: UnreadableRun) => void): Promise<RunInfo[]> {
    const most = Math.min(limit, Number.MAX_SAFE_INTEGER);
    const rows = await reading.rows<RunRow>(`SELECT ${RUN_COLUMNS} FROM runs ORDER BY key DESC LIMIT $1`, [most]);
    const all: RunInfo[] = [];
    for (const row of rows)
        try {
            all.push(await infoFrom(reading, row));
        } catch (error) {
            if (unreadable === undefined || !(error instanceof LedgerError) || error.code !== "tampered") throw error;
            unreadable({ id: row.id, error });
        }
    return all;
}

function removedCode(key: KeyObject, run: string): string {
    return createHmac("sha256", key).update(`remit-removed/1\n${run}`).digest("hex");
}

async function dropped({ rows }: Connections, anchors: Anchors, key: () => KeyObject): Promise<string[]> {
    const runs = anchors.runs();
    const there = await rows<{ id: string }>("SELECT id FROM runs WHERE id = ANY ($1)", [runs]);
    const gone = await rows<{ run: string; mac: string }>("SELECT run, mac FROM removed WHERE run = ANY ($1)", [runs]);
    const fine = new Set([
        ...there.map(({ id }) => id),
        ...gone.filter(({ run, mac }) => mac === removedCode(key(), run)).map(({ run }) => run),
    ]);
    return runs.filter((run) => !fine.has(run));
}

function claimsIn(reading: Reading, writing: Writing): Claims {
    return {
        put: async (run, text) => {
            const name = sha256(text);
            const statements = new Compressor().statements([
                ["insertClaim", run, name],
                ["blob", name, text],
            ]);
            await writing.run({ statements });
            return name;
        },
        get: async (name) => (await blobsNamed(reading, [name]))(name),
    };
}
