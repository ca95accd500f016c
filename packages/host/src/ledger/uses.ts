/**
 * How often things were used in a day, over all runs of a ledger: `at most 20 per day`.
 *
 * Boundary: the rules; where the rows are kept is `uses-rows.ts`. Which uses count, and for what, is the machine's.
 *
 * UOD1: a use is counted before it happens, at one stroke: of two processes that count the last one only one has it.
 * UOD2: a use that is counted a second time, as by the process that goes on after another was killed, is one use.
 * UOD3: what was counted stays although its run is removed.
 * UOD4: the uses of a counter stand in one row, under the ledger's key. The newest version of that row that this machine saw stands in a mark outside the
 *     ledger. A row that was changed, taken away, put back to an earlier one or brought from another ledger counts nothing and lets nothing through.
 * UOD6: a clock that goes forward, and is set back after a use, forgets no use: those of the last two days are kept, and as many of the last ones as the
 *     rule allows. What was counted ahead of the clock counts.
 * UOD5: where a mark says when this machine counted last, such a counter begins anew 24 hours after that: no use that the row held counts any more.
 *
 * Not seen: a row that was taken away or put back before this machine counted for the first time.
 */
import { createHmac, type KeyObject, randomBytes } from "node:crypto";
import { isSameCode } from "./code.ts";
import type { Anchor } from "./anchor.ts";
import { sha256 } from "./blob.ts";

/** A use of a run, by its place there. */
export interface Use {
    readonly counter: string;
    readonly run: string;
    readonly place: string;
}

export type Counted =
    | { readonly kind: "counted" }
    /** `times`: uses in the last 24 hours. */
    | { readonly kind: "full"; readonly times: number }
    /** UOD4. `until`: when it begins anew, milliseconds since 1970; null: not by itself. */
    | { readonly kind: "unsound"; readonly until: number | null };

export interface Uses {
    /** Counts a use, unless `most` or more others were counted in the last 24 hours. `most` null: whatever was counted. */
    count(use: Use, most: number | null): Promise<Counted>;
    /** It did not happen. */
    uncount(use: Use): Promise<void>;
}

export interface UseRow {
    readonly counter: string;
    /** One more with each change. */
    readonly version: number;
    /** Random, of this counter in this ledger. */
    readonly series: string;
    /** JSON: a hash of run and place, and when, for each use. */
    readonly uses: string;
    readonly mac: string;
}

export interface UseRows {
    get(counter: string): Promise<UseRow | null>;
    /** Puts the row where the one with the code `mac` stands, or none where that is null. False where another stands there now. */
    put(row: UseRow, mac: string | null): Promise<boolean>;
}

/** Of counters; null: no other process has the rows, so that none can be put back. */
export type Marks = { of(name: string): Anchor | undefined; write(anchor: Anchor): void } | null;

export const DAY_MS = 24 * 3_600_000;
/** UOD6. */
const KEPT_MS = 2 * DAY_MS;

type Counts = readonly (readonly [use: string, at: number])[];

interface Keeping {
    readonly rows: UseRows;
    readonly key: () => KeyObject;
    readonly marks: Marks;
    readonly now: () => number;
}

export function usesOver(rows: UseRows, key: () => KeyObject, marks: Marks, now: () => number = Date.now): Uses {
    const keeping: Keeping = { rows, key, marks, now };
    /** Of this process one changes a row at a time: those that lose against others try again. */
    let last: Promise<unknown> = Promise.resolve();
    const alone = <T>(work: () => Promise<T>): Promise<T> => {
        const mine = last.then(work, work);
        last = mine.catch(() => undefined);
        return mine;
    };
    return {
        count: (use, most) => alone(() => count(keeping, use, most)),
        uncount: (use) => alone(() => uncount(keeping, use)),
    };
}

interface Standing {
    readonly row: UseRow | null;
    /** As they were counted, first to last. */
    readonly all: Counts;
    /** Those of the last 24 hours. */
    readonly counts: Counts;
    readonly version: number;
    readonly series: string;
}

async function count(keeping: Keeping, use: Use, most: number | null): Promise<Counted> {
    for (;;) {
        const stands = await standing(keeping, use.counter);
        if ("kind" in stands) return stands;
        const { all, counts } = stands;
        const named = nameOf(use);
        if (counts.some(([one]) => one === named)) return { kind: "counted" };
        if (most !== null && counts.length >= most) return { kind: "full", times: counts.length };
        const now = keeping.now();
        const others = all.filter(([one]) => one !== named);
        const old = others.length - (most ?? 0);
        const kept = others.filter(([, at], i) => at > now - KEPT_MS || i >= old);
        if (await changed(keeping, use.counter, stands, [...kept, [named, now]])) return { kind: "counted" };
    }
}

async function uncount(keeping: Keeping, use: Use): Promise<void> {
    const named = nameOf(use);
    for (;;) {
        const stands = await standing(keeping, use.counter);
        if ("kind" in stands) return;
        const rest = stands.all.filter(([one]) => one !== named);
        if (rest.length === stands.all.length || (await changed(keeping, use.counter, stands, rest))) return;
    }
}

/** What counts now, or UOD4. */
async function standing({ rows, key, marks, now }: Keeping, counter: string): Promise<Standing | Extract<Counted, { kind: "unsound" }>> {
    // Before the row: a mark that another process writes meanwhile is of a later one.
    const mark = marks?.of(sha256(counter));
    const row = await rows.get(counter);
    const after = now() - DAY_MS;
    const isSound =
        row === null
            ? mark === undefined
            : isSameCode(row.mac, macOf(key(), row)) && (mark === undefined || (row.series === mark.head && row.version >= mark.count));
    if (isSound) {
        const all = row === null ? [] : (JSON.parse(row.uses) as Counts);
        const counts = all.filter(([, at]) => at > after);
        return { row, all, counts, version: row?.version ?? 0, series: row?.series ?? randomBytes(9).toString("hex") };
    }
    if (mark === undefined) return { kind: "unsound", until: null };
    if (mark.answers > after) return { kind: "unsound", until: mark.answers + DAY_MS };
    // UOD5.
    return { row, all: [], counts: [], version: mark.count, series: randomBytes(9).toString("hex") };
}

async function changed({ rows, key, marks, now }: Keeping, counter: string, was: Standing, counts: Counts): Promise<boolean> {
    const made = { counter, version: was.version + 1, series: was.series, uses: JSON.stringify(counts) };
    if (!(await rows.put({ ...made, mac: macOf(key(), made) }, was.row?.mac ?? null))) return false;
    marks?.write({ run: sha256(counter), count: made.version, head: made.series, answers: now(), answered: "" });
    return true;
}

function nameOf({ run, place }: Use): string {
    return sha256(JSON.stringify([run, place])).slice(0, 32);
}

function macOf(key: KeyObject, { counter, version, series, uses }: Omit<UseRow, "mac">): string {
    return createHmac("sha256", key)
        .update(JSON.stringify(["remit-uses/1", counter, version, series, uses]))
        .digest("hex");
}
