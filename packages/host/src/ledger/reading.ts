/**
 * Reading runs from the embedded ledger.
 *
 * Boundary: rows in, values out, over one connection; writes nothing. What is read from elsewhere is believed only as far as `intact` and `verified` say.
 */
import type { KeyObject } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Json, Program } from "@remit/language";
import type { Outcome, SealedEvent } from "@remit/machine";
import { readAnchors } from "./anchor.ts";
import { type Blobs, sha256, unpack } from "./blob.ts";
import { held, NO_STATE, type Sets, setCodes, stateHash } from "./bound.ts";
import { type Kept, textOf } from "./compression.ts";
import { guarded, LedgerError, ledgerError } from "./error.ts";
import { isHeld, isSound, isWhole } from "./intact.ts";
import { outcomeKey, waitsFor } from "./order.ts";
import { programIn } from "./programs.ts";
import { askedIn, entriesOf, type EventRow, eventOf, infoOf, type OutcomeRow, pendingKey, RUN_COLUMNS, type RunRow } from "./rows.ts";
import type { RecordedOutcome, SavedState, Verification } from "./store.ts";
import { verifyRun } from "./verify.ts";
import type { Standing } from "./calls.ts";

export interface Reading {
    readonly path: string;
    readonly anchors: string;
    readonly key: () => KeyObject;
    readonly query: (sql: string) => StatementSync;
    readonly blobs: Blobs;
}

/** Prepares each statement once. */
export function queriesOf(db: DatabaseSync): Reading["query"] {
    const kept = new Map<string, StatementSync>();
    return (sql) => {
        let made = kept.get(sql);
        if (made === undefined) {
            made = db.prepare(sql);
            kept.set(sql, made);
        }
        return made;
    };
}

export function storedBlobs(path: string, query: Reading["query"]): Blobs {
    const wrong = (name: string, how: string): LedgerError => new LedgerError("tampered", `the ledger ${path} ${how} blob ${name}`);
    const read = (name: string, base: Blobs): string => {
        const row = query("SELECT bytes AS text, packed FROM blobs WHERE sha256 = ?").get(name) as Kept | undefined;
        if (row === undefined) throw wrong(name, "lacks");
        const text = textOf(row, path, base);
        if (sha256(text) !== name) throw wrong(name, "has a changed");
        return text;
    };
    // CPR2.
    const ofBase = (name: string): string =>
        read(name, (other) => {
            throw wrong(other, "has a base on the base");
        });
    return (name) => read(name, ofBase);
}

export function rowOf({ path, query }: Reading, id: string): RunRow {
    const sql = `SELECT ${RUN_COLUMNS} FROM runs`;
    if (id === "last") {
        const row = query(`${sql} WHERE instr(id, '.') = 0 ORDER BY key DESC LIMIT 1`).get() as RunRow | undefined;
        if (row === undefined) throw new LedgerError("unknown", `the ledger ${path} holds no run yet`);
        return row;
    }
    const exact = query(`${sql} WHERE id = ?`).get(id) as RunRow | undefined;
    if (exact !== undefined) return exact;
    // T9.
    const some = query(`${sql} WHERE id >= ?1 AND id < ?2 AND instr(substr(id, length(?1) + 1), '.') = 0 LIMIT 2`).all(
        id,
        `${id}\uffff`,
    ) as unknown as RunRow[];
    if (id === "" || some.length === 0) throw new LedgerError("unknown", `the ledger ${path} has no run ${id}`);
    if (some.length > 1) throw new LedgerError("unknown", `more than one run in ${path} begins with ${id}`);
    return some[0] as RunRow;
}

/** S3: what `at` is. */
const RUN_ROOM = 268_435_456;
const IN_RUN = "at >= ?1 * 268435456 + ?2 AND at < (?1 + 1) * 268435456";

/**
 * Rows of one kind from its number `from` on, read in pieces: an open cursor would keep the write-ahead log from being folded in while a slow reader
 * looks at it. Goes on by a row's place, not by the number that it says: that may have been changed.
 */
function* rowsOf<T extends { readonly at: number }>(reading: Reading, row: RunRow, kind: "seq" | "n", from: number): Generator<T> {
    const sql = `SELECT * FROM events WHERE ${IN_RUN} AND ${kind} >= ?3 ORDER BY at LIMIT 256`;
    for (let place = from <= 1 ? 0 : placeBefore(reading, row, kind, from); ; ) {
        const rows = reading.query(sql).all(row.key, place, from <= 1 ? Number.MIN_SAFE_INTEGER : from) as unknown as T[];
        yield* rows;
        const last = rows.at(-1);
        if (last === undefined || rows.length < 256) return;
        place = last.at - row.key * RUN_ROOM + 1;
    }
}

/** A place before that of number `from`: a reader wants the newest, so it is looked for from the end, in larger and larger steps. */
function placeBefore({ query }: Reading, row: RunRow, kind: "seq" | "n", from: number): number {
    const look = query(`SELECT at, seq, n FROM events WHERE ${IN_RUN} ORDER BY at LIMIT 1`);
    for (let back = 4, place = row.count + row.answers - back; place > 0; back *= 2, place -= back) {
        const found = look.get(row.key, place) as { at: number; seq: number | null; n: number | null } | undefined;
        if (found === undefined) continue;
        const other = kind === "seq" ? found.n : found.seq;
        if ((found[kind] ?? found.at - row.key * RUN_ROOM - (other ?? 0)) < from) return place;
    }
    return 0;
}

export function* eventsOf(reading: Reading, row: RunRow, from: number): Generator<SealedEvent> {
    for (const one of rowsOf<EventRow>(reading, row, "seq", from)) yield eventOf(one, row.id, reading.blobs);
}

export interface KeptOutcome extends RecordedOutcome {
    readonly attempt: number;
    readonly text: string;
    readonly hash: string;
}
export function* outcomesOf(reading: Reading, row: RunRow, after: number): Generator<KeptOutcome> {
    for (const { n, attempt, time, path, data, hash } of rowsOf<OutcomeRow>(reading, row, "n", after + 1))
        yield { n, attempt, time, path, outcome: unpack(data, reading.blobs) as unknown as Outcome, text: data, hash };
}

/** Of the newest attempt, where none is said. What came before its turn counts as well. */
export function outcomeOf(reading: Reading, row: RunRow, path: string, attempt?: number): Outcome | null {
    const entry = (key: string): string | undefined =>
        (reading.query("SELECT text FROM early WHERE run = ? AND key = ?").get(row.key, key) as { text: string } | undefined)?.text;
    const asked = askedIn(row, path, () => entry(pendingKey(path)));
    const early = entry(outcomeKey(path, attempt ?? asked?.attempt ?? 1));
    if (early !== undefined) return unpack(early, reading.blobs) as unknown as Outcome;
    if (asked !== undefined && (attempt ?? asked.attempt) === asked.attempt) return null;
    const found = reading
        .query(`SELECT data FROM events WHERE ${IN_RUN} AND n > 0 AND path = ?3 AND (?4 IS NULL OR attempt = ?4) ORDER BY at DESC LIMIT 1`)
        .get(row.key, 0, path, attempt ?? null) as { data: string } | undefined;
    return found === undefined ? null : (unpack(found.data, reading.blobs) as unknown as Outcome);
}

/** The last image and the deltas after it. */
function statesOf({ query, path, blobs }: Reading, row: RunRow): { n: number; kind: string; outcomes: number; state: string }[] {
    const rows = query(`SELECT n, kind, outcomes, state AS text, packed FROM continuations WHERE ${IN_RUN} ORDER BY at`).all(
        row.key,
        0,
    ) as unknown as (Kept & { n: number; kind: string; outcomes: number })[];
    const end = rows.findIndex(({ n }, i) => n !== (rows[0]?.n ?? 0) + i);
    return (end < 0 ? rows : rows.slice(0, end)).map(({ n, kind, outcomes, ...kept }) => ({
        n,
        kind,
        outcomes,
        state: textOf(kept, path, blobs),
    }));
}

export function stateOf(reading: Reading, row: RunRow): SavedState | null {
    const rows = statesOf(reading, row);
    if (rows[0]?.kind !== "image") return null;
    const [image, ...deltas] = rows.map(({ state }) => unpack(state, reading.blobs));
    return { image: image as Json, deltas, outcomes: rows.at(-1)?.outcomes ?? 0 };
}

/** Its pending effects, and what came before its turn. */
export function setsOf({ query }: Pick<Reading, "query">, row: RunRow): Sets {
    return entriesOf(row, query("SELECT key, text FROM early WHERE run = ?").all(row.key) as { key: string; text: string }[]);
}

/** Whether a run that is not over waits for the outcome of an effect. */
export function waitsIn(reading: Pick<Reading, "query" | "blobs">, run: string, path: string): boolean {
    const row = reading.query(`SELECT ${RUN_COLUMNS} FROM runs WHERE id = ? AND status NOT IN ('done', 'failed')`).get(run) as unknown as
        | RunRow
        | undefined;
    if (row === undefined) return false;
    return waitsFor(path, setsOf(reading, row), (text) => unpack(text, reading.blobs));
}

/** What the next commit begins with. */
export function standingOf(reading: Reading, row: RunRow): Standing {
    const sets = setsOf(reading, row);
    const states = statesOf(reading, row);
    let state = NO_STATE;
    for (const one of states) state = stateHash(state, one.kind, one.outcomes, one.state);
    const parts = { options: sha256(row.options), state, ...setCodes(reading.key(), sets) };
    return { row, ...sets, parts, bound: row.bound, states: states.at(-1)?.n ?? 0, image: states[0]?.n ?? 1 };
}

/** Throws where a resume would begin with something else than what was kept. */
export async function intact(reading: Reading, row: RunRow, acceptForeign: boolean): Promise<void> {
    const { path, key } = reading;
    const about = { path, row };
    const isOurs = isHeld(about, held(key(), standingOf(reading, row)), acceptForeign);
    if (!isOurs) isSound(about, await verified(reading, row));
    const saved = statesOf(reading, row).at(-1)?.outcomes ?? 0;
    const [last] = saved > 0 ? outcomesOf(reading, row, saved - 1) : [];
    isWhole(about, { saved, last, after: outcomesOf(reading, row, saved) }, readAnchors(reading.anchors, key(), row.id).get(row.id));
}

export function verified(reading: Reading, row: RunRow): Promise<Verification> {
    const { path, blobs, key } = reading;
    return verifyRun({
        ...row,
        events: eventsOf(reading, row, 1),
        outcomes: outcomesOf(reading, row, 0),
        value: () => guarded(path, () => infoOf(row, blobs, path).value),
        form: () => programOf(reading, row.program),
        anchor: readAnchors(reading.anchors, key(), row.id).get(row.id),
        held: () => {
            try {
                return held(key(), standingOf(reading, row));
            } catch (error) {
                if (error instanceof LedgerError && error.code === "tampered") return { held: "broken", message: error.message };
                throw error;
            }
        },
    });
}

export function programOf({ path, query }: Reading, name: string): Program {
    return guarded(path, () => {
        const row = query("SELECT form FROM programs WHERE hash = ?").get(name) as { form: string } | undefined;
        if (row === undefined) throw new LedgerError("tampered", `the ledger ${path} lacks program ${name}`);
        const program = programIn(row.form, name);
        if (program === null) throw new LedgerError("tampered", `the ledger ${path} has a changed program ${name}`);
        return program;
    });
}

export async function guardedLater<T>(path: string, work: () => Promise<T>): Promise<T> {
    try {
        return await work();
    } catch (error) {
        throw ledgerError(path, error);
    }
}

export function* guardedAll<T>(path: string, items: () => Iterable<T>): Generator<T> {
    try {
        yield* items();
    } catch (error) {
        throw ledgerError(path, error);
    }
}
