/**
 * A ledger in memory with the same interface: for the library's short runs, for tests and for `--no-ledger`.
 *
 * Boundary: keeps what it is given; the order of batches is `order.ts`. Events are sealed when a reader looks at them, so that a run that is never
 * audited pays nothing for it.
 *
 * MM1: nothing outlives the store: a caller that drops it frees every run in it.
 */
import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import type { Json } from "@remit/language";
import { type Answered, GENESIS, type MachineEvent, type Outcome, type SealedEvent, type Usage } from "@remit/machine";
import { memoryAskRows } from "./asks-rows.ts";
import { type Asks, asksOver } from "./asks.ts";
import { memoryClaims } from "./claims.ts";
import { Entries } from "./entries.ts";
import { memoryUseRows } from "./uses-rows.ts";
import { usesOver } from "./uses.ts";
import { LedgerError } from "./error.ts";
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
    shownPending,
    takenOver,
    waitsFor,
} from "./order.ts";
import { salts, seal } from "./seal.ts";
import {
    addUsage,
    type Batch,
    type LedgerStore,
    type NewRun,
    type RecordedOutcome,
    type RunEnd,
    type RunInfo,
    type RunStatus,
    type RunWriter,
    type Verification,
} from "./store.ts";
import { verifyRun } from "./verify.ts";

interface Kept {
    readonly run: NewRun;
    readonly started: number;
    ended: number | null;
    status: RunStatus;
    end: RunEnd | null;
    usage: Usage;
    steps: number;
    spent: number;
    /** Its owner's name, empty for this process; null: it has none. */
    owner: string | null;
    /** Name of the owner that ended it. */
    endedBy: string | null;
    epoch: number;
    batches: number;
    early: Early;
    /** Events not yet sealed, a commit each, with its time. */
    loose: { readonly events: readonly MachineEvent[]; readonly time: number }[];
    /** How many events there are, sealed or not. */
    events: number;
    readonly sealed: SealedEvent[];
    readonly outcomes: { readonly path: string; readonly attempt: number; readonly outcome: Outcome; readonly time: number }[];
    pending: Pending;
    image: Json | null;
    deltas: Json[];
    stateOutcomes: number;
}

/** Questions in memory. `waits`: whether an effect of a run still waits for its answer. */
export function memoryAsks(waits: (run: string, pending: string) => boolean): Asks {
    return asksOver(memoryAskRows(waits), memoryKey());
}

/** Only this process sees what is in memory, so that has a key of its own. */
function memoryKey(): () => KeyObject {
    let key: KeyObject | null = null;
    return () => {
        key ??= createSecretKey(randomBytes(32));
        return key;
    };
}

export function memoryStore(): LedgerStore {
    const runs = new Map<string, Kept>();
    const salt = salts();
    const asks = memoryAsks((run, pending) => {
        const kept = runs.get(run);
        if (kept === undefined || kept.status === "done" || kept.status === "failed") return false;
        return waitsFor(pending, kept, read);
    });
    const find = (id: string): Kept => found(runs, id);
    return {
        durable: false,
        path: null,
        create: async (run) => {
            const before = runs.get(run.id);
            if (before !== undefined) {
                // T8.
                if (isNamed(before, run.by) && before.run.hash === run.hash) return writerOf(before, null);
                throw new LedgerError("exists", `there is a run ${run.id} already`);
            }
            const kept = fresh(run);
            runs.set(run.id, kept);
            return writerOf(kept, run.by === undefined ? "running" : null);
        },
        own: async (id, { by, from } = {}) => {
            const kept = find(id);
            if (isFinished(kept)) throw new LedgerError("finished", `run ${kept.run.id} is over`);
            if (isNamed(kept, by) && kept.epoch !== from) return writerOf(kept, null);
            if (kept.owner !== null && kept.epoch !== from)
                throw new LedgerError("owned", `run ${kept.run.id} is owned by ${kept.owner || "this process"}`);
            Object.assign(kept, takenOver(kept, read));
            kept.epoch++;
            const before = kept.status;
            kept.status = "running";
            kept.owner = by ?? "";
            return writerOf(kept, by === undefined ? before : null);
        },
        join: async (id, epoch) => {
            const kept = find(id);
            if (kept.epoch !== epoch) throw released(kept.run.id, epoch);
            return writerOf(kept, null);
        },
        dropped: async () => [],
        runs: async (limit = 100) => [...runs.values()].reverse().slice(0, limit).map(info),
        run: async (id) => info(find(id)),
        options: async (id) => find(id).run.options,
        events: async function* (id, from = 1): AsyncGenerator<SealedEvent> {
            const kept = find(id);
            for (let at = from - 1; at < sealAll(kept, salt).length; at++) yield kept.sealed[at] as SealedEvent;
        },
        outcomes: async function* (id, after = 0): AsyncGenerator<RecordedOutcome> {
            const { outcomes } = find(id);
            for (let n = after + 1; n <= outcomes.length; n++) {
                const { path, attempt, outcome, time } = outcomes[n - 1] as Kept["outcomes"][number];
                yield { n, time: new Date(time).toISOString(), path, ...(attempt === 1 ? {} : { attempt }), outcome };
            }
        },
        outcome: async (id, path, attempt) => outcomeOf(find(id), path, attempt),
        pending: async (id) => shownPending(find(id).pending),
        program: async (hash) => {
            for (const kept of runs.values()) if (kept.run.hash === hash) return kept.run.program;
            throw new LedgerError("unknown", `there is no program ${hash}`);
        },
        state: async (id) => {
            const kept = find(id);
            return kept.image === null ? null : { image: kept.image, deltas: [...kept.deltas], outcomes: kept.stateOutcomes };
        },
        verify: async (id) => await verified(find(id), salt),
        asks,
        claims: memoryClaims(),
        uses: usesOver(memoryUseRows(), memoryKey(), null),
        remove: async (ids) => {
            const gone = new Set(ids.map(find));
            for (const kept of gone) if (kept.owner !== null) throw new LedgerError("owned", `run ${kept.run.id} goes on`);
            for (const kept of gone) runs.delete(kept.run.id);
            return { runs: gone.size, bytes: 0, shrunk: true };
        },
        close: async () => runs.clear(),
    };
}

function found(runs: ReadonlyMap<string, Kept>, id: string): Kept {
    const exact = id === "last" ? undefined : runs.get(id);
    if (exact !== undefined) return exact;
    // T9.
    const whole = [...runs.values()].filter((one) => !one.run.id.slice(id === "last" ? 0 : id.length).includes("."));
    const kept = id === "last" ? whole.at(-1) : whole.find((one) => one.run.id.startsWith(id));
    if (kept === undefined) throw new LedgerError("unknown", `there is no run ${id}`);
    return kept;
}

function fresh(run: NewRun): Kept {
    return {
        run,
        started: Date.now(),
        ended: null,
        status: "running",
        end: null,
        usage: {},
        steps: 0,
        spent: 0,
        owner: run.by ?? "",
        endedBy: null,
        epoch: 1,
        batches: 0,
        early: Entries.of(),
        loose: [],
        events: 0,
        sealed: [],
        outcomes: [],
        pending: Entries.of(),
        image: null,
        deltas: [],
        stateOutcomes: 0,
    };
}

const read = (text: string): Json => JSON.parse(text) as Json;

function isNamed({ owner }: Kept, by: string | undefined): boolean {
    return by !== undefined && owner === by;
}

/** A failed run can go on where its state was kept. */
function isFinished({ status, image }: Kept): boolean {
    return status === "done" || (status === "failed" && image === null);
}

/** Of the newest attempt, where none is said. */
function outcomeOf(kept: Kept, path: string, attempt?: number): Outcome | null {
    const early = kept.early.get(outcomeKey(path, attempt ?? kept.pending.get(path)?.attempt ?? 1));
    if (early !== undefined) return read(early) as unknown as Outcome;
    if (attempt === undefined && kept.pending.has(path)) return null;
    const told = kept.outcomes.findLast((one) => one.path === path && (attempt === undefined || one.attempt === attempt));
    return told?.outcome ?? null;
}

/** `before`: the status that the run has again if nothing is committed; null for a writer of a run that this process does not own. */
function writerOf(kept: Kept, before: RunStatus | null): RunWriter {
    const { epoch } = kept;
    const { id } = kept.run;
    let open = true;
    let committed = false;
    const claim = (): void => {
        if (!open || kept.epoch !== epoch) throw released(id, epoch);
    };
    return {
        id,
        epoch,
        get batches() {
            return kept.batches;
        },
        commit: async (batch, n = kept.batches + 1) => {
            claim();
            const all = due({ run: id, batches: kept.batches, early: kept.early }, batch, n, read);
            if (all === "known") return null;
            if (kept.owner === null) throw released(id, epoch);
            if (all === "early") {
                kept.early = kept.early.with(batchKey(n), JSON.stringify(batch));
                return null;
            }
            committed = true;
            const time = Date.now();
            for (const one of all) keep(kept, one, time);
            // They are sealed when they are read.
            return null;
        },
        record: async (answered: Answered) => {
            claim();
            const attempt = recordable(id, kept.pending, answered);
            const known = outcomeOf(kept, answered.path, attempt);
            if (known !== null) return known;
            if (isFinished(kept)) throw new LedgerError("finished", `run ${id} is over`);
            kept.early = kept.early.with(outcomeKey(answered.path, attempt), JSON.stringify(answered.outcome));
            return answered.outcome;
        },
        lacks: (path, attempt) => outcomeOf(kept, path, attempt) === null,
        timed: () => undefined,
        release: async () => {
            if (open && before !== null && kept.owner !== null && kept.epoch === epoch) {
                kept.owner = null;
                if (!committed) kept.status = before;
            }
            open = false;
        },
    };
}

/** A batch whose turn has come. */
function keep(kept: Kept, batch: Batch, time: number): void {
    kept.batches++;
    kept.early = kept.early.without(batchKey(kept.batches));
    for (const one of batch.outcomes ?? []) {
        const attempt = attemptOf(kept.pending, one);
        const key = kept.early.size === 0 ? "" : outcomeKey(one.path, attempt);
        const early = kept.early.get(key);
        kept.early = kept.early.without(key);
        kept.outcomes.push({
            path: one.path,
            attempt,
            outcome: early === undefined ? one.outcome : (read(early) as unknown as Outcome),
            time,
        });
    }
    if (batch.events !== undefined && batch.events.length > 0) {
        // The caller goes on using its list.
        kept.loose.push({ events: batch.events.slice(), time });
        kept.events += batch.events.length;
    }
    kept.pending = pendingAfter(kept.pending, batch);
    if (batch.state?.kind === "image") {
        kept.image = batch.state.json;
        kept.deltas = [];
    } else if (batch.state !== undefined) kept.deltas.push(batch.state.json);
    if (batch.state !== undefined) kept.stateOutcomes = kept.outcomes.length;
    if (batch.usage !== undefined) kept.usage = addUsage(kept.usage, batch.usage);
    kept.steps = batch.steps ?? kept.steps;
    kept.spent = batch.spent ?? kept.spent;
    const { end } = batch;
    if (isOver(batch)) {
        kept.image = null;
        kept.deltas = [];
    }
    kept.end = end ?? null;
    kept.status = end?.status ?? "running";
    kept.ended = end?.status === "done" || end?.status === "failed" ? time : null;
    if (end !== undefined) {
        kept.endedBy = kept.owner || null;
        kept.owner = null;
    }
}

function sealAll(kept: Kept, salt: () => string): readonly SealedEvent[] {
    for (const { events, time } of kept.loose) {
        const after = { run: kept.run.id, count: kept.sealed.length, head: kept.sealed.at(-1)?.hash ?? GENESIS };
        kept.sealed.push(...seal(events, after, new Date(time).toISOString(), salt));
    }
    kept.loose = [];
    return kept.sealed;
}

function info(kept: Kept): RunInfo {
    const { run, end } = kept;
    return {
        id: run.id,
        program: run.hash,
        file: run.file,
        root: run.root,
        started: new Date(kept.started).toISOString(),
        ended: kept.ended === null ? null : new Date(kept.ended).toISOString(),
        status: kept.status,
        live: kept.owner !== null,
        epoch: kept.epoch,
        ...(kept.owner ? { by: kept.owner } : {}),
        ...(end?.status === "done" ? { value: end.value } : end?.status === "failed" ? { failure: end.failure } : {}),
        ...(kept.ended !== null && kept.endedBy !== null ? { endedBy: kept.endedBy } : {}),
        usage: kept.usage,
        steps: kept.steps,
        spent: kept.spent,
        effects: kept.outcomes.length,
        events: kept.events,
    };
}

function verified(kept: Kept, salt: () => string): Promise<Verification> {
    const events = sealAll(kept, salt);
    let answered = "";
    const outcomes = kept.outcomes.map(({ path, attempt, outcome }, i) => {
        const text = JSON.stringify(outcome);
        answered = chainOutcome(answered, path, attempt, text);
        return { n: i + 1, path, attempt, text, hash: answered };
    });
    return verifyRun({
        count: events.length,
        head: events.at(-1)?.hash ?? GENESIS,
        answers: outcomes.length,
        answered,
        events,
        outcomes,
        program: kept.run.hash,
        status: kept.status,
        value: () => info(kept).value,
        form: () => kept.run.program,
        anchor: undefined,
        held: () => ({ held: "yes" }),
    });
}
