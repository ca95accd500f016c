/**
 * Writing a run to the embedded ledger: one commit, one transaction.
 *
 * Boundary: the rows of one run while this process owns it. Opening, reading and taking over are `sqlite.ts`.
 *
 * Q1: everything a commit writes is made ready before the write lock is taken; the lock is held for the writing alone.
 * Q2: each commit checks, in its own transaction, that this writer still owns the run.
 * Q3: a continuation older than the newest image is deleted with the commit that writes the image.
 */
import type { StatementSync } from "node:sqlite";
import type { Json } from "@remit/language";
import type { Usage } from "@remit/machine";
import { type Anchor, writeAnchor } from "./anchor.ts";
import { type Blobs, pack } from "./blob.ts";
import { type BoundParts, type BoundRow, NO_STATE, bind, pendingHash, stateHash } from "./bound.ts";
import { LedgerError } from "./error.ts";
import type { RunRow, SQL } from "./rows.ts";
import { seal } from "./seal.ts";
import { type Batch, type RunStatus, type RunWriter, addUsage } from "./store.ts";
import { chainOutcome } from "./verify.ts";

/** At most this often an anchor is written while a run goes on, milliseconds. */
const ANCHOR_MS = 1_000;

/** The open ledger, as its writers see it. */
export interface LedgerFile {
    readonly prepared: (name: keyof typeof SQL) => StatementSync;
    /** One write transaction, on the disk when it returns; on any error nothing of it is kept. */
    readonly transaction: <T>(work: () => T) => T;
    readonly blobs: Blobs;
    readonly salt: () => string;
    readonly key: () => Buffer;
    /** Path of the anchors. */
    readonly anchors: string;
    /** Between two heartbeats, milliseconds. */
    readonly beat: number;
    /** False once it was closed: a run that was left behind beats no more. */
    readonly isOpen: () => boolean;
}

/** What a run is when it is taken over. `pending`: whether each effect without an outcome had begun. */
export interface Standing {
    readonly row: RunRow;
    /** Its status before; the one it has again if it is let go before anything is committed. */
    readonly before: RunStatus;
    readonly parts: BoundParts;
    readonly pending: ReadonlyMap<string, boolean>;
}

/** `mine`: the owner's text that is in the run's row. */
export function writerOf(file: LedgerFile, standing: Standing, mine: string): RunWriter {
    const { prepared, transaction } = file;
    const { key } = standing.row;
    let row: BoundRow = standing.row;
    let { parts, pending } = standing;
    let states = (prepared("lastState").get(key) as { n: number | null }).n ?? 0;
    let open = true;
    let committed = false;
    let anchoredAt = 0;
    let clock: (() => number) | null = null;

    /** K4: the run's time as it is now. */
    const timed = (): BoundRow => (clock === null ? row : { ...row, spent: clock() });
    const beat = setInterval(() => {
        if (!file.isOpen()) {
            close();
            return;
        }
        try {
            const next = timed();
            if (transaction(() => prepared("beat").run(Date.now(), next.spent, bind(file.key(), next, parts), key, mine)).changes === 1)
                row = next;
        } catch (error) {
            // A missed heartbeat costs little: the next commit finds out what is wrong and says it.
            if (!(error instanceof LedgerError)) throw error;
        }
    }, file.beat);
    beat.unref();

    function anchor(now: number, forced: boolean): void {
        if (!forced && now - anchoredAt < ANCHOR_MS) return;
        anchoredAt = now;
        const { id: run, count, head, answers, answered } = row;
        const at: Anchor = { run, count, head, answers, answered };
        transaction(() => writeAnchor(file.anchors, file.key(), at));
    }

    async function commit(batch: Batch): Promise<void> {
        if (!open) throw new LedgerError("owned", `run ${row.id} is no longer owned by this writer`);
        const now = Date.now();
        const time = new Date(now).toISOString();
        const blobs = new Map<string, string>();
        const into: Blobs = { put: (name, text) => void blobs.set(name, text), get: file.blobs.get };
        const after = { run: row.id, count: row.count, head: row.head };
        const events = seal(batch.events ?? [], after, time, file.salt).map((event) => ({ event, data: pack(event.data, into) }));
        let { answered } = row;
        const outcomes = (batch.outcomes ?? []).map(({ path: at, outcome }) => {
            const text = pack(outcome as unknown as Json, into);
            answered = chainOutcome(answered, at, text);
            return { at, text, hash: answered };
        });
        const state = batch.state === undefined ? null : { kind: batch.state.kind, text: pack(batch.state.json, into, false) };
        const end = batch.end;
        const over = end?.status === "done" || end?.status === "failed";
        const next: BoundRow = {
            ...row,
            status: end?.status ?? "running",
            result:
                end?.status === "done"
                    ? pack({ value: end.value }, into)
                    : end?.status === "failed"
                      ? pack({ failure: end.failure as unknown as Json }, into)
                      : null,
            ended: over ? time : null,
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

        transaction(() => {
            const changed = prepared("progress").run(
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
                now,
                next.spent,
                bound,
                key,
                mine,
            );
            if (changed.changes !== 1) throw new LedgerError("owned", `run ${row.id} was taken over by another process`);
            for (const [name, text] of blobs) prepared("blob").run(name, text);
            outcomes.forEach((one, i) => {
                prepared("outcome").run(key, row.answers + i + 1, time, one.at, one.text, one.hash);
                prepared("settle").run(key, one.at);
            });
            for (const { event: e, data } of events)
                prepared("event").run(
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
                );
            for (const at of batch.dropped ?? []) prepared("settle").run(key, at);
            for (const one of batch.pending ?? []) prepared("pending").run(key, one.path, one.begun ? 1 : 0);
            for (const at of batch.begin ?? []) prepared("begin").run(key, at);
            if (state !== null) {
                prepared("state").run(key, states + 1, state.kind, next.answers, state.text);
                if (state.kind === "image") prepared("forget").run(key, states + 1);
            }
            if (over) prepared("forgetAll").run(key);
        });
        row = next;
        committed = true;
        parts = nextParts;
        pending = nextPending;
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
        timed: (read) => {
            clock = read;
        },
        release: async () => {
            if (!open) return;
            close();
            const next: BoundRow = { ...timed(), status: committed ? row.status : standing.before };
            transaction(() => prepared("release").run(next.status, next.spent, bind(file.key(), next, parts), key, mine));
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
