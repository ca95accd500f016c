/**
 * The order of a run's commits: which batch comes next, what it changes, what is refused. All stores share these rules.
 *
 * Boundary: pure, over values. How they are kept is the store's; events are sealed by `seal.ts`.
 *
 * OD1: a run's batches are numbered from 1. One that comes before its turn is kept at once as it came, and counts as soon as all before it are
 *     there; one that is there already changes nothing. So batches may come in any order, more than once, from several processes.
 * OD2: each owner has an epoch, one more than the owner before. What an owner of an earlier epoch appends is refused. A batch that still waits for
 *     its turn ends with its epoch; effects that it began count as begun, because they may have been.
 * OD3: an outcome belongs to run, path and attempt. The first one that is recorded stays, and it is the one that counts when its turn comes. An
 *     outcome of an attempt before the one that is asked for is refused. One that comes after the owner let go is kept for the next owner.
 * OD5: after the end of an epoch's last batch nothing new of that epoch counts, and what is there is acknowledged again.
 * OD4: an effect is pending from the batch that begins it to the batch that holds its outcome, or drops it.
 */
import type { Json } from "@remit/language";
import type { Answered, Batch, PendingEffect, RunEnd } from "@remit/machine";
import { sha256 } from "./blob.ts";
import type { Entries } from "./entries.ts";
import { LedgerError } from "./error.ts";

export interface Begun {
    /** False: its performer gave it back. */
    readonly begun: boolean;
    readonly attempt: number;
}
/** Effects without an outcome, by path. */
export type Pending = Entries<Begun>;
/** What came before its turn, as JSON text: batches by `batchKey`, outcomes by `outcomeKey`. */
export type Early = Entries<string>;

export const batchKey = (n: number): string => `batch ${n}`;
export const outcomeKey = (path: string, attempt: number): string => `outcome ${attempt} ${path}`;

/** Where a run stands for what comes next. `batches`: how many count. */
export interface Turn {
    readonly run: string;
    readonly batches: number;
    readonly early: Early;
}

/** The batches that count now that this one is there, in order; `early`: none, it has to wait; `known`: it was there before. */
export function due({ batches, early }: Turn, batch: Batch, n: number, read: (text: string) => Json): readonly Batch[] | "early" | "known" {
    if (n <= batches || early.has(batchKey(n))) return "known";
    if (n > batches + 1) return "early";
    const all = [batch];
    // OD5.
    for (let last = batch; last.end === undefined; ) {
        const next = early.get(batchKey(++n));
        if (next === undefined) break;
        last = read(next) as Batch;
        all.push(last);
    }
    return all;
}

export function attemptOf(pending: Pending, { path, attempt }: Pick<Answered, "path" | "attempt">): number {
    return attempt ?? pending.get(path)?.attempt ?? 1;
}

/** OD3, of an outcome that comes before its turn. */
export function recordable(run: string, pending: Pending, answered: Answered): number {
    const { path } = answered;
    const attempt = attemptOf(pending, answered);
    const asked = pending.get(path)?.attempt ?? 1;
    if (attempt < asked)
        throw new LedgerError("late", `run ${run} asks for ${path} in attempt ${asked}: an outcome of attempt ${attempt} does not count`);
    return attempt;
}

/** The same entries where nothing changes. */
export function pendingAfter(before: Pending, batch: Batch): Pending {
    const { outcomes = [], dropped = [], pending = [], begin = [] } = batch;
    if (outcomes.length + dropped.length + pending.length + begin.length === 0) return before;
    let after = before;
    for (const { path } of outcomes) after = after.without(path);
    for (const path of dropped) after = after.without(path);
    for (const { path, begun, attempt = 1 } of pending) if (begun || after.has(path)) after = after.with(path, { begun, attempt });
    for (const path of begin) after = after.with(path, { begun: true, attempt: after.get(path)?.attempt ?? 1 });
    return after;
}

/** By path. */
export function shownPending(pending: Pending): PendingEffect[] {
    const all = [...pending].sort(([a], [b]) => (a < b ? -1 : 1));
    return all.map(([path, { begun, attempt }]) => ({ path, begun, ...(attempt === 1 ? {} : { attempt }) }));
}

/** What a new owner finds: OD2. */
export function takenOver(
    { pending, early }: { readonly pending: Pending; readonly early: Early },
    read: (text: string) => Json,
): {
    readonly pending: Pending;
    readonly early: Early;
} {
    let [after, left] = [pending, early];
    for (const [key, text] of early) {
        if (!key.startsWith("batch ")) continue;
        left = left.without(key);
        const { pending: begun, begin } = read(text) as Batch;
        after = pendingAfter(after, { ...(begun === undefined ? {} : { pending: begun }), ...(begin === undefined ? {} : { begin }) });
    }
    return { pending: after, early: left };
}

/** Whether an effect waits for its outcome, also where the batch that begins it still waits for its turn. */
export function waitsFor(path: string, sets: { readonly pending: Pending; readonly early: Early }, read: (text: string) => Json): boolean {
    return sets.pending.has(path) || takenOver(sets, read).pending.has(path);
}

/** The run has an end, and cannot go on: a failed run whose state is kept can. */
export function isOver(batch: Batch): boolean {
    const end: RunEnd | undefined = batch.end;
    return end?.status === "done" || (end?.status === "failed" && batch.state === undefined);
}

/** OD5. */
export function released(run: string, epoch: number): LedgerError {
    return new LedgerError("owned", `run ${run} is no longer owned in epoch ${epoch}`);
}

/** Hash of an outcome in its chain. */
export function chainOutcome(prev: string, path: string, attempt: number, text: string): string {
    return sha256(`${prev}\n${path}\n${attempt === 1 ? "" : `${attempt}\n`}${text}`);
}
