/**
 * Reading runs from PostgreSQL.
 *
 * Boundary: rows in, values out; writes nothing. What is read is believed only as far as `intact` and `verified` say.
 */
import type { KeyObject } from "node:crypto";
import type { Json, Program } from "@remit/language";
import type { Outcome, SealedEvent } from "@remit/machine";
import type { Anchor } from "../anchor.ts";
import { type Blobs, blobsOf, sha256, unpack } from "../blob.ts";
import { type Held, held, NO_STATE, type Sets, setCodes, stateHash } from "../bound.ts";
import { baseOf, type Kept, textOf } from "../compression.ts";
import { LedgerError, ledgerError } from "../error.ts";
import { isHeld, isSound, isWhole } from "../intact.ts";
import type { Owner } from "../lease.ts";
import { outcomeKey, waitsFor } from "../order.ts";
import { programIn } from "../programs.ts";
import {
    askedIn,
    entriesOf,
    type EventRow,
    eventOf,
    IN_ROWS,
    infoOf,
    type OutcomeRow,
    pendingKey,
    RUN_COLUMNS,
    type RunRow,
} from "../rows.ts";
import type { RecordedOutcome, RunInfo, SavedState, Verification } from "../store.ts";
import { type ChainedOutcome, verifyRun } from "../verify.ts";
import type { Standing } from "../calls.ts";
import type { Connections } from "./connections.ts";

export interface Reading {
    readonly at: string;
    readonly rows: Connections["rows"];
    readonly key: () => KeyObject;
    /** The furthest of the run that this machine knows of. */
    readonly anchorOf: (run: string) => Anchor | undefined;
    readonly isLive: (owner: Owner, beat: number) => boolean;
}

/** Rows that are read at once. */
const PAGE = 256;

/** The first row. */
async function one<T>({ rows }: Pick<Reading, "rows">, sql: string, values: readonly unknown[]): Promise<T | undefined> {
    return (await rows<T>(sql, values))[0];
}

/** Blobs of these texts, and those that they name. Rejects with `LedgerError` `tampered`. */
export function blobsFor(reading: Pick<Reading, "at" | "rows">, texts: readonly string[]): Promise<Blobs> {
    return blobsNamed(reading, namesIn(texts, new Map()));
}

/** These blobs, and those that they name. Rejects with `LedgerError` `tampered`. */
export async function blobsNamed({ at, rows }: Pick<Reading, "at" | "rows">, names: readonly string[]): Promise<Blobs> {
    const wrong = (name: string, how: string): LedgerError => new LedgerError("tampered", `the ledger ${at} ${how} blob ${name}`);
    const raw = new Map<string, Kept>();
    const known = new Map<string, string>();
    const fetched = async (wanted: readonly string[]): Promise<void> => {
        const sql = "SELECT sha256, bytes, packed FROM blobs WHERE sha256 = ANY ($1)";
        const found = await rows<{ sha256: string; bytes: Buffer; packed: Buffer | null }>(sql, [wanted]);
        for (const { sha256: name, bytes, packed } of found) raw.set(name, { text: bytes.toString(), packed });
        const missing = wanted.find((name) => !raw.has(name));
        if (missing !== undefined) throw wrong(missing, "lacks");
    };
    const read = (name: string, base: Blobs): string => {
        const text = known.get(name) ?? textOf(raw.get(name) as Kept, at, base);
        if (!known.has(name) && sha256(text) !== name) throw wrong(name, "has a changed");
        known.set(name, text);
        return text;
    };
    // CPR2.
    const ofBase = (name: string): string =>
        read(name, (other) => {
            throw wrong(other, "has a base on the base");
        });
    for (let wanted = [...names]; wanted.length > 0; ) {
        await fetched(wanted);
        const bases = wanted.flatMap((name) => baseOf((raw.get(name) as Kept).packed) ?? []).filter((name) => !raw.has(name));
        if (bases.length > 0) await fetched([...new Set(bases)]);
        const texts = wanted.map((name) => read(name, ofBase));
        wanted = namesIn(texts, known);
    }
    return (name) => {
        const text = known.get(name);
        if (text === undefined) throw wrong(name, "lacks");
        return text;
    };
}

function namesIn(texts: readonly string[], known: ReadonlyMap<string, string>): string[] {
    return [...new Set(texts.flatMap((text) => blobsOf(text)))].filter((name) => !known.has(name));
}

export async function unpacked(reading: Pick<Reading, "at" | "rows">, text: string): Promise<Json> {
    return unpack(text, await blobsFor(reading, [text]));
}

export async function rowOf(reading: Reading, id: string): Promise<RunRow> {
    const { at, rows } = reading;
    const sql = `SELECT ${RUN_COLUMNS} FROM runs`;
    if (id === "last") {
        const row = await one<RunRow>(reading, `${sql} WHERE strpos(id, '.') = 0 ORDER BY key DESC LIMIT 1`, []);
        if (row === undefined) throw new LedgerError("unknown", `the ledger ${at} holds no run yet`);
        return row;
    }
    const exact = await one<RunRow>(reading, `${sql} WHERE id = $1`, [id]);
    if (exact !== undefined) return exact;
    // T9.
    const some =
        id === ""
            ? []
            : await rows<RunRow>(`${sql} WHERE id >= $1 AND id < $2 AND strpos(substr(id, length($1) + 1), '.') = 0 LIMIT 2`, [
                  id,
                  `${id}\uffff`,
              ]);
    if (some.length === 0) throw new LedgerError("unknown", `the ledger ${at} has no run ${id}`);
    if (some.length > 1) throw new LedgerError("unknown", `more than one run in ${at} begins with ${id}`);
    return some[0] as RunRow;
}

/** Goes on by a row's place among those that were read, not by the number that it says: that is the key here, so both are one. */
async function* paged<T extends object>(reading: Reading, row: RunRow, table: "events" | "outcomes", after: number): AsyncGenerator<T[]> {
    const number = table === "events" ? "seq" : "n";
    for (let last = after; ; ) {
        const rows = await reading.rows<T>(`SELECT * FROM ${table} WHERE run = $1 AND ${number} > $2 ORDER BY ${number} LIMIT ${PAGE}`, [
            row.key,
            last,
        ]);
        if (rows.length > 0) yield rows;
        if (rows.length < PAGE) return;
        last = rows.at(-1)?.[number as keyof T] as number;
    }
}

export async function* eventsOf(reading: Reading, row: RunRow, from: number): AsyncGenerator<SealedEvent> {
    for await (const rows of paged<EventRow>(reading, row, "events", from - 1)) {
        const blobs = await blobsFor(
            reading,
            rows.map(({ data }) => data),
        );
        for (const one of rows) yield legible(reading.at, () => eventOf(one, row.id, blobs));
    }
}

export interface KeptOutcome extends RecordedOutcome, ChainedOutcome {
    readonly attempt: number;
}
export async function* outcomesOf(reading: Reading, row: RunRow, after: number): AsyncGenerator<KeptOutcome> {
    for await (const rows of paged<OutcomeRow>(reading, row, "outcomes", after)) {
        const blobs = await blobsFor(
            reading,
            rows.map(({ data }) => data),
        );
        for (const { n, attempt, time, path, data, hash } of rows) {
            const outcome = legible(reading.at, () => unpack(data, blobs)) as unknown as Outcome;
            yield { n, attempt, time, path, outcome, text: data, hash };
        }
    }
}

/** Of the newest attempt, where none is said. What came before its turn counts as well. */
export async function outcomeOf(reading: Reading, row: RunRow, path: string, attempt?: number): Promise<Outcome | null> {
    const entry = (key: string): Promise<{ text: string } | undefined> =>
        one<{ text: string }>(reading, "SELECT text FROM early WHERE run = $1 AND key = $2", [row.key, key]);
    const pending = row.pending === IN_ROWS ? (await entry(pendingKey(path)))?.text : undefined;
    const asked = askedIn(row, path, () => pending);
    const early = await entry(outcomeKey(path, attempt ?? asked?.attempt ?? 1));
    if (early !== undefined) return (await unpacked(reading, early.text)) as unknown as Outcome;
    if (asked !== undefined && (attempt ?? asked.attempt) === asked.attempt) return null;
    const sql = "SELECT data FROM outcomes WHERE run = $1 AND path = $2 AND ($3::bigint IS NULL OR attempt = $3) ORDER BY n DESC LIMIT 1";
    const found = await one<{ data: string }>(reading, sql, [row.key, path, attempt ?? null]);
    return found === undefined ? null : ((await unpacked(reading, found.data)) as unknown as Outcome);
}

interface StateRow {
    readonly n: number;
    readonly kind: string;
    readonly outcomes: number;
    readonly state: string;
}

/** The last image and the deltas after it. */
async function statesOf(reading: Reading, row: RunRow): Promise<StateRow[]> {
    const sql = "SELECT n, kind, outcomes, state AS text, packed FROM continuations WHERE run = $1 ORDER BY place";
    const all = await reading.rows<Omit<StateRow, "state"> & Kept>(sql, [row.key]);
    const end = all.findIndex(({ n }, i) => n !== (all[0]?.n ?? 0) + i);
    const kept = end < 0 ? all : all.slice(0, end);
    const blobs = await blobsNamed(reading, [...new Set(kept.flatMap(({ packed }) => baseOf(packed) ?? []))]);
    return kept.map(({ n, kind, outcomes, ...one }) => ({ n, kind, outcomes, state: textOf(one, reading.at, blobs) }));
}

export async function stateOf(reading: Reading, row: RunRow): Promise<SavedState | null> {
    const states = await statesOf(reading, row);
    if (states[0]?.kind !== "image") return null;
    const blobs = await blobsFor(
        reading,
        states.map(({ state }) => state),
    );
    const [image, ...deltas] = states.map(({ state }) => legible(reading.at, () => unpack(state, blobs)));
    return { image: image as Json, deltas, outcomes: states.at(-1)?.outcomes ?? 0 };
}

/** Its pending effects, and what came before its turn. */
export async function setsOf({ rows, at }: Pick<Reading, "rows" | "at">, row: RunRow): Promise<Sets> {
    const all = await rows<{ key: string; text: string }>("SELECT key, text FROM early WHERE run = $1", [row.key]);
    return legible(at, () => entriesOf(row, all));
}

/** What came before its turn has no blobs here. */
export const NO_BLOBS: Blobs = (name) => {
    throw new LedgerError("tampered", `what came before its turn names a blob ${name}`);
};

/** Whether a run that is not over waits for the outcome of an effect. */
export async function waitsIn(reading: Reading, run: string, path: string): Promise<boolean> {
    const sql = `SELECT ${RUN_COLUMNS} FROM runs WHERE id = $1 AND status NOT IN ('done', 'failed')`;
    const row = await one<RunRow>(reading, sql, [run]);
    if (row === undefined) return false;
    return waitsFor(path, await setsOf(reading, row), (text) => unpack(text, NO_BLOBS));
}

/** What the next commit begins with. */
export async function standingOf(reading: Reading, id: string): Promise<Standing> {
    for (;;) {
        const row = await rowOf(reading, id);
        const [sets, states] = [await setsOf(reading, row), await statesOf(reading, row)];
        const again = await one<{ bound: string }>(reading, "SELECT bound FROM runs WHERE key = $1", [row.key]);
        // Another process committed while it was read.
        if (again !== undefined && again.bound !== row.bound) continue;
        let state = NO_STATE;
        for (const one of states) state = stateHash(state, one.kind, one.outcomes, one.state);
        const parts = { options: sha256(row.options), state, ...setCodes(reading.key(), sets) };
        return { row, ...sets, parts, bound: row.bound, states: states.at(-1)?.n ?? 0, image: states[0]?.n ?? 1 };
    }
}

/** Throws where a resume would begin with something else than what was kept. */
export async function intact(reading: Reading, row: RunRow, acceptForeign: boolean): Promise<void> {
    const about = { path: reading.at, row };
    const standing = await standingOf(reading, row.id);
    if (!isHeld(about, held(reading.key(), { ...standing, row, bound: row.bound }), acceptForeign))
        isSound(about, await verified(reading, row));
    const saved = (await statesOf(reading, row)).at(-1)?.outcomes ?? 0;
    const [last, ...after] = await Array.fromAsync(outcomesOf(reading, row, Math.max(0, saved - 1)));
    const all = saved > 0 ? after : [...(last === undefined ? [] : [last]), ...after];
    isWhole(about, { saved, last: saved > 0 ? last : undefined, after: all }, reading.anchorOf(row.id));
}

export async function infoFrom(reading: Reading, row: RunRow): Promise<RunInfo> {
    const blobs = row.result === null ? NO_BLOBS : await blobsFor(reading, [row.result]);
    return infoOf(row, blobs, reading.at, reading.isLive);
}

export async function verified(reading: Reading, row: RunRow): Promise<Verification> {
    const { at, key } = reading;
    let holds: Held;
    try {
        holds = held(key(), { ...(await standingOf(reading, row.id)), row, bound: row.bound });
    } catch (error) {
        if (!(error instanceof LedgerError) || error.code !== "tampered") throw error;
        holds = { held: "broken", message: error.message };
    }
    let value: Json | undefined;
    let unreadable: LedgerError | null = null;
    try {
        value = (await infoFrom(reading, row)).value;
    } catch (error) {
        if (!(error instanceof LedgerError) || error.code !== "tampered") throw error;
        unreadable = error;
    }
    try {
        return await verifyRun({
            ...row,
            events: eventsOf(reading, row, 1),
            outcomes: outcomesOf(reading, row, 0),
            value: () => {
                if (unreadable !== null) throw unreadable;
                return value;
            },
            form: () => programOf(reading, row.program),
            anchor: reading.anchorOf(row.id),
            held: () => holds,
        });
    } catch (error) {
        throw ledgerError(at, error);
    }
}

export async function programOf(reading: Pick<Reading, "at" | "rows">, name: string): Promise<Program> {
    const { at } = reading;
    const row = await one<{ form: string }>(reading, "SELECT form FROM programs WHERE hash = $1", [name]);
    if (row === undefined) throw new LedgerError("tampered", `the ledger ${at} lacks program ${name}`);
    const program = legible(at, () => programIn(row.form, name));
    if (program === null) throw new LedgerError("tampered", `the ledger ${at} has a changed program ${name}`);
    return program;
}

/** Throws `LedgerError` `tampered` where what is read is no JSON. */
function legible<T>(at: string, read: () => T): T {
    try {
        return read();
    } catch (error) {
        throw ledgerError(at, error);
    }
}
