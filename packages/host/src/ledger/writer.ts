/**
 * Writing a run to the embedded ledger: one commit, one transaction.
 *
 * Boundary: the rows of one run. The order of its batches is `order.ts`; opening, reading and taking over are `sqlite.ts`.
 *
 * Q1: everything a commit writes is made ready before the write lock is taken; the lock is held for the writing alone.
 * Q2: each commit checks, in its own transaction, that its epoch owns the run and that the row is as the commit before it left it. So a commit that was
 *     called behind one that fails is not kept either. Where a writer of the same epoch, in this process or another, was faster, the run is read
 *     again and the commit made ready anew.
 * Q5: what is there already is acknowledged again, also after the run's end: its anchor may have found no room, or a process elsewhere may not have
 *     heard that it is kept.
 * Q3: a continuation older than the newest image counts for nothing, and later ones take its room.
 */
import type { KeyObject } from "node:crypto";
import type { Json } from "@remit/language";
import type { Answered, Batch, Outcome, Usage } from "@remit/machine";
import type { Anchor } from "./anchor.ts";
import { type Blobs, type NewBlobs, pack, unpack } from "./blob.ts";
import { type BoundParts, bind, earlyHash, NO_STATE, pendingHash, stateHash } from "./bound.ts";
import { Compressor } from "./compression.ts";
import { LedgerError } from "./error.ts";
import type { Job } from "./jobs.ts";
import {
    attemptOf,
    batchKey,
    chainOutcome,
    due,
    type Early,
    isOver,
    outcomeKey,
    type Pending,
    pendingAfter,
    recordable,
    released,
} from "./order.ts";
import { pendingText, type RunRow } from "./rows.ts";
import { seal } from "./seal.ts";
import { addUsage, type RunStatus, type RunWriter } from "./store.ts";
import type { Writing } from "./thread.ts";

/** At most this often an anchor is written while a run goes on, milliseconds. */
const ANCHOR_MS = 1_000;

/** The open ledger, as its writers see it. */
export interface LedgerFile {
    readonly writing: Writing;
    readonly blobs: Blobs;
    readonly salt: () => string;
    readonly key: () => KeyObject;
    /** What is called at each heartbeat: once for every run that is written. */
    readonly beats: Set<() => void>;
    /** The run as it is now. Throws `LedgerError` where it was changed by another hand. */
    readonly standing: (id: string) => Standing;
    /** Owners that this process has let go, whether or not the ledger could be told. */
    readonly left: Set<string>;
    readonly told: (row: RunRow, path: string, attempt: number) => Outcome | null;
}

/** A run as one commit leaves it to the next. `states`: number of the last saved state; `image`: of the last one that is an image. */
export interface Standing {
    readonly row: RunRow;
    readonly pending: Pending;
    readonly early: Early;
    readonly parts: BoundParts;
    readonly bound: string;
    readonly states: number;
    readonly image: number;
}

type Statements = Job["statements"][number][];

/** What a call writes. */
interface Change {
    readonly next: Standing;
    readonly statements: Statements;
    readonly anchor?: Anchor;
    /** What the statements write for a batch or an outcome before its turn: a later call may need it before it is written. */
    readonly blobs?: NewBlobs;
}

// ---- what a batch writes -------------------------------------------------------------------------------------------------

/** A batch whose turn has come, after all before it. What it writes is added to `into`, texts that are kept apart to `blobs`. */
function withBatch(
    before: Standing,
    batch: Batch,
    time: string,
    salt: () => string,
    to: { readonly into: Statements; readonly blobs: NewBlobs },
): Standing {
    const { into, blobs } = to;
    const { row } = before;
    const { key, id: run } = row;
    let { answered, answers } = row;
    let place = row.count + row.answers;
    const early = new Map(before.early);
    for (const one of batch.outcomes ?? []) {
        const attempt = attemptOf(before.pending, one);
        const kept = outcomeKey(one.path, attempt);
        const text = early.get(kept) ?? pack(one.outcome as unknown as Json, blobs);
        if (early.delete(kept)) into.push(["settleEarly", key, kept]);
        answered = chainOutcome(answered, one.path, attempt, text);
        into.push(["outcome", key, ++place, ++answers, attempt, time, one.path, text, answered]);
    }
    const events = seal(batch.events ?? [], { run, count: row.count, head: row.head }, time, salt);
    for (const e of events) {
        const site = e.site === null ? null : JSON.stringify(e.site);
        const said = [e.time, e.path, e.parent, e.kind, e.principal, site, JSON.stringify(e.labels), pack(e.data, blobs)] as const;
        into.push(["event", key, ++place, e.seq, ...said, e.prev, e.hash, e.salt]);
    }
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
    const pending = pendingAfter(before.pending, batch);
    const next: RunRow = {
        ...row,
        status: end?.status ?? "running",
        result: end?.status === "done" || end?.status === "failed" ? pack(resultOf(end), blobs) : null,
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
        pending: pending === before.pending ? row.pending : pendingText(pending),
    };
    const parts: BoundParts = {
        ...before.parts,
        state,
        pending: pending === before.pending ? before.parts.pending : pendingHash(pending),
        early: early.size === before.early.size ? before.parts.early : earlyHash(early),
    };
    return { ...before, row: next, pending, early, parts, states, image };
}

function resultOf(end: Batch["end"] & { readonly status: "done" | "failed" }): Json {
    return end.status === "done" ? { value: end.value } : { failure: end.failure as unknown as Json };
}

/** The run's row and its code as they are to be, first: what claims the run. */
function changed(file: LedgerFile, before: Standing, after: Standing, statements: Statements, anchor?: Anchor): Change {
    const { row } = after;
    const bound = bind(file.key(), row, after.parts);
    const { status, result, ended, usage, steps, effects, count, head, answers, answered, owner, spent, batches, pending } = row;
    const values = [
        status,
        result,
        ended,
        usage,
        steps,
        effects,
        count,
        head,
        answers,
        answered,
        owner,
        Date.now(),
        spent,
        bound,
        batches,
        pending,
    ];
    return {
        next: { ...after, bound },
        statements: [["progress", ...values, row.key, row.epoch, before.row.owner, before.bound], ...statements],
        ...(anchor === undefined ? {} : { anchor }),
    };
}

/** Keeps what comes before its turn as it came. */
function early(file: LedgerFile, now: Standing, key: string, json: Json): Change {
    const blobs: NewBlobs = new Map();
    const text = pack(json, blobs, false);
    const kept = new Map(now.early).set(key, text);
    const next = { ...now, early: kept, parts: { ...now.parts, early: earlyHash(kept) } };
    return { ...changed(file, now, next, [...blobsOf(blobs), ["early", now.row.key, key, text]]), blobs };
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
function batched(file: LedgerFile, { now, read }: At, { batch, n }: Numbered, anchors: (ends: boolean) => boolean): Change {
    const { row } = now;
    const turn = { run: row.id, batches: row.batches, early: now.early };
    const number = n ?? row.batches + 1;
    const all = due(turn, batch, number, read);
    // Q5. It may be under way.
    if (all === "known")
        return {
            next: now,
            statements: [["hold", Date.now(), row.key, row.epoch, now.bound]],
            ...(number < row.batches ? {} : { anchor: anchorOf(row) }),
        };
    if (row.owner === null) throw released(row.id, row.epoch);
    if (all === "early") return early(file, now, batchKey(number), batch as unknown as Json);
    const blobs: NewBlobs = new Map();
    const time = new Date().toISOString();
    const into: Statements = [];
    let next = now;
    for (const [i, one] of all.entries()) {
        if (i > 0) {
            const left = new Map(next.early);
            left.delete(batchKey(number + i));
            into.push(["settleEarly", row.key, batchKey(number + i)]);
            next = { ...next, early: left, parts: { ...next.parts, early: earlyHash(left) } };
        }
        next = withBatch(next, one, time, file.salt, { into, blobs });
    }
    return changed(file, now, next, [...blobsOf(blobs), ...into], anchors(next.row.owner === null) ? anchorOf(next.row) : undefined);
}

function anchorOf({ id: run, count, head, answers, answered }: RunRow): Anchor {
    return { run, count, head, answers, answered };
}

// ---- calls ---------------------------------------------------------------------------------------------------------------

/** Where a call finds the run. `read`: a text of the ledger, also one that is under way. */
interface At {
    readonly now: Standing;
    readonly read: (text: string) => Json;
}

/** Makes ready what it writes; null: there is nothing to write. */
type Call = (at: At) => Change | null;
interface Open {
    readonly call: Call;
    readonly resolve: () => void;
    readonly reject: (error: unknown) => void;
}

/** T4, Q2: calls are written in their order, the next one while the last is still under way. */
export class Calls {
    /** When the anchor was last written, milliseconds since 1970. */
    anchoredAt = 0;
    private readonly file: LedgerFile;
    /** With all that was called. */
    now: Standing;
    /** With all that is durable. */
    private kept: Standing;
    private open: Open[] = [];
    private flying = 0;
    private failed: { readonly error: unknown } | null = null;
    /** By name. */
    private readonly unwritten = new Map<string, string>();
    private readonly texts: Compressor;
    private readonly read = (text: string): Json => unpack(text, (name) => this.unwritten.get(name) ?? this.file.blobs(name));

    constructor(file: LedgerFile, first: Standing, texts = new Compressor()) {
        this.file = file;
        this.texts = texts;
        this.now = first;
        this.kept = first;
    }

    /** Nothing is under way. */
    get isIdle(): boolean {
        return this.open.length === 0;
    }

    make(call: Call): Promise<void> {
        return new Promise((resolve, reject) => {
            const one = { call, resolve, reject };
            this.open.push(one);
            if (this.failed === null) this.send(one);
        });
    }

    private send(one: Open): void {
        let change: Change | null;
        try {
            change = one.call({ now: this.now, read: this.read });
        } catch (error) {
            this.settle(one);
            one.reject(error);
            return;
        }
        const { next, statements, anchor, blobs = [] } = change ?? { next: this.now, statements: [] };
        this.now = next;
        for (const [text, name] of blobs) this.unwritten.set(name, text);
        this.flying++;
        this.file.writing
            .run({
                statements: this.texts.statements(statements),
                ...(change === null ? {} : { claim: lost(next.row.id) }),
                ...(anchor === undefined ? {} : { anchor }),
            })
            .then(
                () => {
                    this.kept = next;
                    for (const [, name] of blobs) this.unwritten.delete(name);
                    this.settle(one);
                    one.resolve();
                    this.landed();
                },
                (error: unknown) => {
                    this.failed ??= { error };
                    this.landed();
                },
            );
    }
    private settle(one: Open): void {
        this.open.splice(this.open.indexOf(one), 1);
    }
    private landed(): void {
        if (--this.flying > 0 || this.failed === null) return;
        this.unwritten.clear();
        this.texts.forget();
        const { error } = this.failed;
        this.failed = null;
        const all = this.open;
        try {
            if (!(error instanceof LedgerError) || error.code !== "owned") throw error;
            this.now = this.again();
            this.kept = this.now;
        } catch (reason) {
            this.now = this.kept;
            this.open = [];
            for (const { reject } of all) reject(reason);
            return;
        }
        for (const one of [...all]) this.send(one);
    }
    private again(): Standing {
        const { row, bound } = this.kept;
        const found = this.file.standing(row.id);
        if (found.row.epoch !== row.epoch || (found.row.owner === row.owner && found.bound === bound))
            throw new LedgerError("owned", lost(row.id));
        return found;
    }
}

function lost(run: string): string {
    return `run ${run} was taken over by another process`;
}

/** A failed run can go on where its state was kept. */
export function isFinished({ row, parts }: Standing): boolean {
    return row.status === "done" || (row.status === "failed" && parts.state === NO_STATE);
}

/** Keeps an outcome before its turn; or gives the one that was kept before. */
function recorded(file: LedgerFile, { now, read }: At, answered: Answered): Change | Outcome {
    const { row } = now;
    const attempt = recordable(row.id, now.pending, answered);
    const key = outcomeKey(answered.path, attempt);
    const text = now.early.get(key);
    const before = text === undefined ? file.told(row, answered.path, attempt) : (read(text) as unknown as Outcome);
    if (before !== null) return before;
    if (isFinished(now)) throw new LedgerError("finished", `run ${row.id} is over`);
    return early(file, now, key, answered.outcome as unknown as Json);
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
            .make(({ now }) => (now.row.owner === null ? null : changed(file, now, timed(now), [])))
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
            await called((at) => batched(file, at, { batch, n }, anchors));
            committed = true;
            batches = Math.max(batches, n ?? batches + 1);
            if (batch.end !== undefined) rest();
        },
        record: async (answered) => {
            let { outcome } = answered;
            await called((at) => {
                const change = recorded(file, at, answered);
                if ("next" in change) return change;
                outcome = change;
                return null;
            });
            return outcome;
        },
        timed: (read) => {
            clock = read;
        },
        release: async () => {
            if (!open) return;
            open = false;
            rest();
            if (before === null) return;
            file.left.add(owner as string);
            await calls.make(({ now }) => {
                if (now.row.owner === null) return null;
                const { row } = timed(now);
                return changed(file, now, { ...now, row: { ...row, owner: null, status: committed ? row.status : before } }, []);
            });
        },
    };
}
