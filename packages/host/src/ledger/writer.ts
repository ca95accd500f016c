/**
 * Writing a run to the embedded ledger: one commit, one transaction.
 *
 * Boundary: the rows of one run. The order of its batches is `order.ts`, that of calls `calls.ts` (Q2); opening, reading and taking over are `sqlite.ts`.
 *
 * Q1: everything a commit writes is made ready before the write lock is taken; the lock is held for the writing alone.
 * Q5: what is there already is acknowledged again, also after the run's end: its anchor may have found no room, or a process elsewhere may not have
 *     heard that it is kept.
 * Q3: a continuation older than the newest image counts for nothing, and later ones take its room.
 */
import type { Json } from "@remit/language";
import type { Answered, Batch, Outcome, SealedEvent, Usage } from "@remit/machine";
import type { Anchor } from "./anchor.ts";
import { BLOB_THRESHOLD, type NewBlobs, pack } from "./blob.ts";
import { NO_STATE, stateHash } from "./bound.ts";
import { type At, type Awaitable, type Call, Calls, type Change, type LedgerFile, type Standing, type Statements } from "./calls.ts";
import { LedgerError } from "./error.ts";
import { parseOwner } from "./lease.ts";
import { attemptOf, batchKey, chainOutcome, due, isOver, outcomeKey, pendingAfter, recordable, released } from "./order.ts";
import type { RunRow } from "./rows.ts";
import { seal } from "./seal.ts";
import { addUsage, type RunStatus, type RunWriter } from "./store.ts";

/** At most this often an anchor is written while a run goes on, milliseconds. */
const ANCHOR_MS = 1_000;

// ---- what a batch writes -------------------------------------------------------------------------------------------------

/** A batch whose turn has come, after all before it. What it writes is added to `into`, texts that are kept apart to `blobs`. */
function withBatch(
    { salt, whole }: LedgerFile,
    { now: before, read }: Pick<At, "now" | "read">,
    batch: Batch,
    time: string,
    to: { readonly into: Statements; readonly blobs: NewBlobs; readonly sealed: SealedEvent[] },
): Standing {
    const { into, blobs, sealed } = to;
    const { row } = before;
    const { key, id: run } = row;
    let { answered, answers } = row;
    let place = row.count + row.answers;
    let { early } = before;
    for (const one of batch.outcomes ?? []) {
        const attempt = attemptOf(before.pending, one);
        const kept = outcomeKey(one.path, attempt);
        const came = early.get(kept);
        const text = came === undefined || whole ? pack(came === undefined ? (one.outcome as unknown as Json) : read(came), blobs) : came;
        early = early.without(kept);
        answered = chainOutcome(answered, one.path, attempt, text);
        into.push(["outcome", key, ++place, ++answers, attempt, time, one.path, text, answered]);
    }
    const events = seal(batch.events ?? [], { run, count: row.count, head: row.head }, time, salt);
    for (const e of events) {
        const site = e.site === null ? null : JSON.stringify(e.site);
        const said = [e.time, e.path, e.parent, e.kind, e.principal, site, JSON.stringify(e.labels), pack(e.data, blobs)] as const;
        into.push(["event", key, ++place, e.seq, ...said, e.prev, e.hash, e.salt]);
    }
    sealed.push(...events);
    let { states, image } = before;
    let { state } = before.parts;
    if (batch.state !== undefined) {
        const { kind } = batch.state;
        const text = pack(batch.state.json, blobs, false);
        state = stateHash(state, kind, answers, text);
        states++;
        if (kind === "image") image = states;
        into.push(["state", key, states - image, states, kind, answers, text]);
    }
    if (isOver(batch)) {
        state = NO_STATE;
        into.push(["forgetAll", key]);
    }
    const { end } = batch;
    const next: RunRow = {
        ...row,
        status: end?.status ?? "running",
        result: end?.status === "done" || end?.status === "failed" ? pack(resultOf(end, row.owner), blobs) : null,
        ended: end?.status === "done" || end?.status === "failed" ? time : null,
        owner: end === undefined ? row.owner : null,
        usage: batch.usage === undefined ? row.usage : JSON.stringify(addUsage(JSON.parse(row.usage) as Usage, batch.usage)),
        steps: batch.steps ?? row.steps,
        effects: answers,
        count: row.count + events.length,
        head: events.at(-1)?.hash ?? row.head,
        answers,
        answered,
        spent: batch.spent ?? row.spent,
        batches: row.batches + 1,
    };
    return { ...before, row: next, pending: pendingAfter(before.pending, batch), early, parts: { ...before.parts, state }, states, image };
}

function resultOf(end: Batch["end"] & { readonly status: "done" | "failed" }, by: string | null): Json {
    const owner = parseOwner(by);
    return {
        ...(end.status === "done" ? { value: end.value } : { failure: end.failure as unknown as Json }),
        ...(owner !== null && "by" in owner ? { endedBy: owner.by } : {}),
    };
}

/** Keeps what comes before its turn as it came. */
function early(file: LedgerFile, now: Standing, key: string, json: Json): Change {
    const blobs: NewBlobs = new Map();
    const text = pack(json, blobs, false, file.whole ? Number.POSITIVE_INFINITY : BLOB_THRESHOLD);
    return { next: { ...now, early: now.early.with(key, text) }, statements: blobsOf(blobs), blobs };
}

function blobsOf(blobs: NewBlobs): Statements {
    return [...blobs].map(([text, name]) => ["blob", name, text] as const);
}

interface Numbered {
    readonly batch: Batch;
    /** The next number, where none is said. */
    readonly n: number | undefined;
}

/** A batch with all that counts together with it. `anchors`: whether one is due. */
function batched(file: LedgerFile, { now, read, begins }: At, { batch, n }: Numbered, anchors: (ends: boolean) => boolean): Change {
    const { row } = now;
    const turn = { run: row.id, batches: row.batches, early: now.early };
    const number = n ?? row.batches + 1;
    const all = due(turn, batch, number, read);
    // Q5. It may be under way.
    if (all === "known")
        return {
            next: now,
            statements: [],
            holds: true,
            ...(number < row.batches ? {} : { anchor: anchorOf(row) }),
        };
    if (row.owner === null) throw released(row.id, row.epoch);
    if (all === "early") {
        for (const { path, attempt = 1 } of batch.pending ?? []) begins.set(outcomeKey(path, attempt), number);
        return early(file, now, batchKey(number), batch as unknown as Json);
    }
    const blobs: NewBlobs = new Map();
    const time = new Date(file.now()).toISOString();
    const into: Statements = [];
    const sealed: SealedEvent[] = [];
    let next = now;
    for (const [i, one] of all.entries()) {
        if (i > 0) next = { ...next, early: next.early.without(batchKey(number + i)) };
        next = withBatch(file, { now: next, read }, one, time, { into, blobs, sealed });
    }
    const anchor = anchors(next.row.owner === null) ? { anchor: anchorOf(next.row) } : {};
    return { next, statements: [...blobsOf(blobs), ...into], ...anchor, events: sealed };
}

function anchorOf({ id: run, count, head, answers, answered }: RunRow): Anchor {
    return { run, count, head, answers, answered };
}

/** A failed run can go on where its state was kept. */
export function isFinished({ row, parts }: Standing): boolean {
    return row.status === "done" || (row.status === "failed" && parts.state === NO_STATE);
}

/**
 * OD3, OD4: the run has no outcome of this attempt, as it stands here. False where it may have one: to look for that takes as long as the run has outcomes,
 * so it is not looked for where the attempt is under way.
 */
function isUnder({ now, begins }: At, path: string, attempt: number): boolean {
    const key = outcomeKey(path, attempt);
    if (now.early.has(key)) return false;
    const begun = begins.get(key);
    return now.pending.get(path)?.attempt === attempt || (begun !== undefined && now.early.has(batchKey(begun)));
}

/** Keeps an outcome before its turn; or gives the one that was kept before. */
function recorded(file: LedgerFile, at: At, answered: Answered): Awaitable<Change | Outcome> {
    const { now, read } = at;
    const { row } = now;
    const attempt = recordable(row.id, now.pending, answered);
    const key = outcomeKey(answered.path, attempt);
    const text = now.early.get(key);
    const kept = (before: Outcome | null): Change | Outcome => {
        if (before !== null) return before;
        if (isFinished(now)) throw new LedgerError("finished", `run ${row.id} is over`);
        return early(file, now, key, answered.outcome as unknown as Json);
    };
    if (text !== undefined) return read(text) as unknown as Outcome;
    if (isUnder(at, answered.path, attempt)) return kept(null);
    const told = file.told(row, answered.path, attempt);
    return told instanceof Promise ? told.then(kept) : kept(told);
}

/** Of a call that is kept. It may be made ready more than once (Q2). */
async function eventsOf(called: (call: Call) => Promise<void>, call: (at: At) => Change): Promise<readonly SealedEvent[] | null> {
    let events: readonly SealedEvent[] | null = null;
    await called((at) => {
        const change = call(at);
        events = change.events ?? null;
        return change;
    });
    return events;
}

/** AN4. `before`: the status that the run has again, where nothing was committed. */
function letGo({ row, ...now }: Standing, before: RunStatus | null): Change {
    const next = { ...now, row: { ...row, owner: null, status: before ?? row.status } };
    return { next, statements: [], ...(before === null ? { anchor: anchorOf(row) } : {}) };
}

/**
 * `before`: the run's status before it was taken, which it has again if it is let go before anything is committed; null for a writer that adds to a run
 * that this process does not own: it neither beats nor lets the run go.
 */
export function writerOf(file: LedgerFile, first: Standing, before: RunStatus | null, calls = new Calls(file, first)): RunWriter {
    const { id, epoch, owner } = first.row;
    let { batches } = first.row;
    let open = true;
    /** It counts among those that write. */
    let counts = true;
    let committed = false;
    let clock: (() => number) | null = null;
    const anchors = (ends: boolean): boolean => {
        const at = Date.now();
        const isDue = ends || at - calls.anchoredAt >= ANCHOR_MS;
        if (isDue) calls.anchoredAt = at;
        return isDue;
    };
    /** BN4: the run's time as it is now. */
    const timed = (now: Standing): Standing => (clock === null ? now : { ...now, row: { ...now.row, spent: clock() } });
    const beat = (): void => {
        calls
            .make(({ now }) => (now.row.owner === null ? null : { next: timed(now), statements: [] }))
            .catch((error: unknown) => {
                // A missed heartbeat costs little: the next commit finds out what is wrong and says it.
                if (!(error instanceof LedgerError)) throw error;
            });
    };
    const rest = (): void => {
        file.beats.delete(beat);
        if (counts) file.writing.writer(-1);
        counts = false;
    };
    const called = (call: Call): Promise<void> => {
        if (open) return calls.make(call);
        throw new LedgerError("owned", `run ${id} is no longer owned by this writer`);
    };
    if (before !== null) file.beats.add(beat);
    file.writing.writer(1);
    return {
        id,
        epoch,
        get batches() {
            return batches;
        },
        commit: async (batch, n) => {
            const events = await eventsOf(called, (at) => batched(file, at, { batch, n }, anchors));
            committed = true;
            // BN4: it told the run's time, too.
            if (clock === null || batch.spent !== undefined) file.beats.wrote(beat);
            batches = Math.max(batches, n ?? batches + 1);
            if (batch.end !== undefined) rest();
            return events;
        },
        record: async (answered) => {
            let { outcome } = answered;
            const settled = (change: Change | Outcome): Change | null => {
                if ("next" in change) return change;
                outcome = change;
                return null;
            };
            await called((at) => {
                const change = recorded(file, at, answered);
                return change instanceof Promise ? change.then(settled) : settled(change);
            });
            return outcome;
        },
        lacks: (path, attempt) => isUnder(calls.at, path, attempt),
        timed: (read) => {
            clock = read;
        },
        release: async () => {
            if (!open) return;
            open = false;
            rest();
            if (before === null) return;
            file.left.add(owner as string);
            await calls.make(({ now }) => (now.row.owner === null ? null : letGo(timed(now), committed ? null : before)));
        },
    };
}
