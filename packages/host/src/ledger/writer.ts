/**
 * Writing a run to the embedded ledger: one commit, one transaction.
 *
 * Boundary: the rows of one run while this process owns it. Opening, reading and taking over are `sqlite.ts`.
 *
 * Q1: everything a commit writes is made ready before the write lock is taken; the lock is held for the writing alone.
 * Q2: each commit checks, in its own transaction, that this writer still owns the run and that the row is as the commit before it left it. So a
 *     commit that was called behind one that fails is not kept either.
 * Q3: a continuation older than the newest image is deleted with the commit that writes the image.
 */
import type { Json } from "@remit/language";
import type { Usage } from "@remit/machine";
import type { Anchor } from "./anchor.ts";
import { type Blobs, pack } from "./blob.ts";
import { type BoundParts, type BoundRow, NO_STATE, bind, pendingHash, stateHash } from "./bound.ts";
import { LedgerError } from "./error.ts";
import type { Job } from "./jobs.ts";
import type { RunRow } from "./rows.ts";
import { seal } from "./seal.ts";
import { type Batch, type RunStatus, type RunWriter, addUsage } from "./store.ts";
import type { Writing } from "./thread.ts";
import { chainOutcome } from "./verify.ts";

/** At most this often an anchor is written while a run goes on, milliseconds. */
const ANCHOR_MS = 1_000;

/** The open ledger, as its writers see it. */
export interface LedgerFile {
    readonly writing: Writing;
    readonly blobs: Blobs;
    readonly salt: () => string;
    readonly key: () => Buffer;
    /** What is called at each heartbeat: once for every run that is written. */
    readonly beats: Set<() => void>;
}

/** What a run is when it is taken over. `pending`: whether each effect without an outcome had begun. */
export interface Standing {
    readonly row: RunRow;
    /** Its status before; the one it has again if it is let go before anything is committed. */
    readonly before: RunStatus;
    readonly parts: BoundParts;
    readonly pending: ReadonlyMap<string, boolean>;
}

/** A run's row and what it binds, as one commit leaves them to the next. */
interface State {
    readonly row: BoundRow;
    readonly parts: BoundParts;
    readonly bound: string;
    readonly pending: ReadonlyMap<string, boolean>;
    /** Number of the last saved state. */
    readonly states: number;
}

/** `mine`: the owner's text that is in the run's row; `states`: the number of its last saved state. */
export function writerOf(file: LedgerFile, standing: Standing, mine: string, states: number): RunWriter {
    const { key } = standing.row;
    const { row: first, parts, pending } = standing;
    /** With all that was called; `kept`: with all that is durable. */
    let now: State = { row: first, parts, pending, bound: first.bound, states };
    let kept = now;
    let calls = 0;
    let broken: { readonly error: unknown } | null = null;
    let open = true;
    let committed = false;
    let anchoredAt = 0;
    let clock: (() => number) | null = null;
    const { id } = first;
    const lost = `run ${id} was taken over by another process`;

    /** T4. */
    async function send(next: State, job: Omit<Job, "claim">): Promise<void> {
        now = next;
        calls++;
        try {
            await file.writing.run({ ...job, claim: lost });
            kept = next;
        } catch (error) {
            broken ??= { error };
            throw broken.error;
        } finally {
            if (--calls === 0 && broken !== null) {
                broken = null;
                now = kept;
            }
        }
    }
    /** K4: the run's time as it is now. */
    const timed = (): BoundRow => (clock === null ? now.row : { ...now.row, spent: clock() });
    const beat = (): void => {
        if (broken !== null) return;
        const row = timed();
        const bound = bind(file.key(), row, now.parts);
        send({ ...now, row, bound }, { statements: [["beat", Date.now(), row.spent, bound, key, mine, now.bound]] }).catch(
            (error: unknown) => {
                // A missed heartbeat costs little: the next commit finds out what is wrong and says it.
                if (!(error instanceof LedgerError)) throw error;
            },
        );
    };
    file.beats.add(beat);
    file.writing.writer(1);

    async function commit(batch: Batch): Promise<void> {
        if (!open) throw new LedgerError("owned", `run ${id} is no longer owned by this writer`);
        if (broken !== null) throw broken.error;
        const { row, parts, pending } = now;
        const at = Date.now();
        const time = new Date(at).toISOString();
        const blobs = new Map<string, string>();
        const into: Blobs = { put: (name, text) => void blobs.set(name, text), get: file.blobs.get };
        const after = { run: row.id, count: row.count, head: row.head };
        const events = seal(batch.events ?? [], after, time, file.salt).map((event) => ({ event, data: pack(event.data, into) }));
        let { answered } = row;
        const outcomes = (batch.outcomes ?? []).map(({ path, outcome }) => {
            const text = pack(outcome as unknown as Json, into);
            answered = chainOutcome(answered, path, text);
            return { path, text, hash: answered };
        });
        const state = batch.state === undefined ? null : { kind: batch.state.kind, text: pack(batch.state.json, into, false) };
        const end = batch.end;
        const ended = end?.status === "done" || end?.status === "failed";
        // A failed run with a state can go on.
        const over = end?.status === "done" || (end?.status === "failed" && state === null);
        const next: BoundRow = {
            ...row,
            status: end?.status ?? "running",
            result:
                end?.status === "done"
                    ? pack({ value: end.value }, into)
                    : end?.status === "failed"
                      ? pack({ failure: end.failure as unknown as Json }, into)
                      : null,
            ended: ended ? time : null,
            usage: JSON.stringify(addUsage(JSON.parse(row.usage) as Usage, batch.usage)),
            steps: batch.steps ?? row.steps,
            effects: row.effects + outcomes.length,
            count: row.count + events.length,
            head: events.at(-1)?.event.hash ?? row.head,
            answers: row.answers + outcomes.length,
            answered,
            spent: batch.spent ?? row.spent,
        };
        const nextPending = pendingAfter(pending, batch);
        const nextParts: BoundParts = {
            options: parts.options,
            state: over ? NO_STATE : state === null ? parts.state : stateHash(parts.state, state.kind, next.answers, state.text),
            pending: nextPending === pending ? parts.pending : pendingHash(nextPending),
        };
        const bound = bind(file.key(), next, nextParts);

        const count = now.states + (state === null ? 0 : 1);
        const statements: Job["statements"] = [
            [
                "progress",
                next.status,
                next.result,
                next.ended,
                next.usage,
                next.steps,
                next.effects,
                next.count,
                next.head,
                next.answers,
                next.answered,
                end === undefined ? mine : null,
                at,
                next.spent,
                bound,
                key,
                mine,
                now.bound,
            ],
            ...[...blobs].map(([name, text]) => ["blob", name, text] as const),
            ...outcomes.flatMap((one, i) => [
                ["outcome", key, row.answers + i + 1, time, one.path, one.text, one.hash] as const,
                ...(pending.has(one.path) ? [["settle", key, one.path] as const] : []),
            ]),
            ...events.map(
                ({ event: e, data }) =>
                    [
                        "event",
                        key,
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
                    ] as const,
            ),
            ...(batch.dropped ?? []).map((path) => ["settle", key, path] as const),
            ...(batch.pending ?? []).map((one) => ["pending", key, one.path, one.begun ? 1 : 0] as const),
            ...(batch.begin ?? []).map((path) => ["begin", key, path] as const),
            ...(state === null ? [] : [["state", key, count, state.kind, next.answers, state.text] as const]),
            ...(state?.kind === "image" ? [["forget", key, count] as const] : []),
            ...(over ? [["forgetAll", key] as const] : []),
        ];
        const due = end !== undefined || at - anchoredAt >= ANCHOR_MS;
        if (due) anchoredAt = at;
        const { head, answers } = next;
        const anchor: Anchor = { run: id, count: next.count, head, answers, answered };
        if (end !== undefined) open = false;
        try {
            await send(
                { row: next, parts: nextParts, bound, pending: nextPending, states: count },
                { statements, ...(due ? { anchor } : {}) },
            );
        } catch (error) {
            if (end !== undefined) open = true;
            throw error;
        }
        committed = true;
        if (end !== undefined) close();
    }
    function close(): void {
        if (!file.beats.delete(beat)) return;
        open = false;
        file.writing.writer(-1);
    }
    return {
        id,
        commit,
        timed: (read) => {
            clock = read;
        },
        release: async () => {
            if (!open) return;
            close();
            const next: BoundRow = { ...timed(), status: committed ? now.row.status : standing.before };
            const bound = bind(file.key(), next, now.parts);
            await send({ ...now, row: next, bound }, { statements: [["release", next.status, next.spent, bound, key, mine, now.bound]] });
        },
    };
}

/** In the order in which a commit changes the table. The same map where nothing changes. */
function pendingAfter(before: ReadonlyMap<string, boolean>, batch: Batch): ReadonlyMap<string, boolean> {
    const { outcomes = [], dropped = [], pending = [], begin = [] } = batch;
    if (outcomes.length + dropped.length + pending.length + begin.length === 0) return before;
    const after = new Map(before);
    for (const { path } of outcomes) after.delete(path);
    for (const path of dropped) after.delete(path);
    for (const { path, begun } of pending) after.set(path, begun);
    for (const path of begin) if (after.has(path)) after.set(path, true);
    return after;
}
