/**
 * What a ledger store is: one interface over the embedded file and over memory.
 *
 * Boundary: shapes, and what all stores do the same way. A store never looks inside `data`.
 *
 * T1: `commit` is atomic: when it resolves everything in the batch is kept (on disk where the store is durable), when it rejects nothing is.
 * T4: the commits of one writer are kept in the order in which they were called. The caller may call the next one before the last has resolved;
 *     after one that was rejected all that were called behind it are rejected too.
 * T2: only the owner of a run commits to it; the owner is one `RunWriter` at a time, or has a name (T8).
 * T9: a run that is a part of another has its id, a point, and more. It is meant by its whole id, or by a beginning that has the point; it is never
 *     the last run.
 * T3: a run's events are numbered from 1 without gaps, its outcomes too.
 * T5: batches may come in any order and from several processes (`join`); the order of a run is `order.ts`'s, and the same in every store.
 * T8: an owner with a name is an execution of a shell elsewhere, which outlives its processes. It owns the run until a batch with an end lets go, or
 *     until another owner takes the run from its epoch. All that it says can be said twice: making the run, taking it, a batch, an outcome.
 */
import type { Json, Program } from "@remit/language";
import type { Asks } from "./asks.ts";
import type { Claims } from "./claims.ts";
import type { LedgerError } from "./error.ts";
import type { Team } from "./team.ts";
import type { Uses } from "./uses.ts";
import type { Answered, Batch, Failure, Outcome, PendingEffect, SealedEvent, Usage } from "@remit/machine";

export { addUsage, type Batch, type PendingEffect, type RunEnd } from "@remit/machine";

/**
 * `running`: a process owns it, or its owner died; `waiting`: for a person's answer; `stopped`: cancelled or interrupted in good order.
 * These three can be resumed, and so can a `failed` run whose state was kept. `done` is final.
 */
export type RunStatus = "running" | "waiting" | "stopped" | "done" | "failed";

export interface NewRun {
    readonly id: string;
    readonly program: Program;
    /** Hash of the program form. */
    readonly hash: string;
    /** Main file, relative to `root` with `/`, or `<memory>`. */
    readonly file: string;
    /** Absolute folder of the program's tree, empty where there is none. */
    readonly root: string;
    /** What a resume needs again: input, limits, model override, workspace. Plain JSON without secrets. */
    readonly options: Json;
    /** Name of the owner where no process is (T8). The run may be there already if the same owner made it. */
    readonly by?: string;
}

export interface OwnOptions {
    /** Takes a run as it is of which it cannot be told whether it was changed. */
    readonly acceptForeign?: boolean;
    /** Name of the new owner where no process is (T8). The run may be its own already. */
    readonly by?: string;
    /** Takes the run from the owner of this epoch although that one lives: an execution that was reset, or that its shell gave up. */
    readonly from?: number;
}

export interface RunInfo {
    readonly id: string;
    readonly program: string;
    readonly file: string;
    readonly root: string;
    /** ISO 8601 UTC. */
    readonly started: string;
    readonly ended: string | null;
    readonly status: RunStatus;
    /** False for a `running` run whose process is gone. */
    readonly live: boolean;
    /** Of its owner, or of the last one. */
    readonly epoch: number;
    /** Name of its owner, where that has one. */
    readonly by?: string;
    /** Name of the owner with which it ended as done or failed, where that had one. */
    readonly endedBy?: string;
    readonly value?: Json;
    readonly failure?: Failure;
    readonly usage: Usage;
    readonly steps: number;
    /** Effects with an outcome. */
    readonly effects: number;
    /** Events so far. */
    readonly events: number;
    /** Milliseconds that counted towards the run's time so far: all but the waiting for a person. */
    readonly spent: number;
}

export interface UnreadableRun {
    readonly id: string;
    readonly error: LedgerError;
}

export interface RecordedOutcome {
    readonly n: number;
    readonly time: string;
    readonly path: string;
    /** From 2 on. */
    readonly attempt?: number;
    readonly outcome: Outcome;
}

export interface SavedState {
    readonly image: Json;
    readonly deltas: readonly Json[];
    /** Outcomes that this state contains; those with a greater `n` are still to be applied. */
    readonly outcomes: number;
}

export interface RunWriter {
    readonly id: string;
    /** Of the owner that this writer appends for. */
    readonly epoch: number;
    /** How many batches of the run this writer knows of: the next one's number is one more. */
    readonly batches: number;
    /**
     * Resolves when the batch is durable. Rejects with `LedgerError`; then nothing of the batch is kept. `n`: its number (OD1); without one it is the
     * next. Gives the events that count with it, which may be those of batches that waited for it, too; null: read them.
     */
    commit(batch: Batch, n?: number): Promise<readonly SealedEvent[] | null>;
    /**
     * Keeps an outcome before a batch holds it (OD3), so that its effect is not performed again; also after the owner let go, until the next owner. Gives
     * the outcome that counts, which is another one where one was kept before. Rejects with `LedgerError`: `late`, `owned`, `finished`.
     */
    record(answered: Answered): Promise<Outcome>;
    /**
     * Whether the run had no outcome of this attempt when this writer's last commit was kept; false also where that would have to be looked up (`outcome`
     * of the store).
     */
    lacks(path: string, attempt: number): boolean;
    /** Where the heartbeat reads the time that counts so far from, milliseconds. */
    timed(spent: () => number): void;
    /**
     * Gives this writer up, after the commits before it. A process that owns the run lets go of it with that: it can be resumed unless it has ended. An
     * owner with a name keeps it.
     */
    release(): Promise<void>;
}

/** What `verify` found. `ok` is false where anything was changed, dropped, moved or cut. */
export interface Verification {
    readonly ok: boolean;
    readonly events: number;
    /** `yes`: the anchored head is the last event; `behind`: events came after the last anchor; `no`: this file has no anchor for the run. */
    readonly anchored: "yes" | "behind" | "no";
    /**
     * `yes`: what a resume starts from is as it was recorded under this key; `foreign`: recorded under another key, `no`: under none; for these two it
     * cannot be told.
     */
    readonly bound: "yes" | "foreign" | "no";
    /** First event (or outcome) that does not hold; `row`: what stands beside them. */
    readonly problem?: { readonly what: "event" | "outcome" | "head" | "blob" | "row"; readonly seq: number; readonly message: string };
}

export interface Removed {
    readonly runs: number;
    /** By how much the ledger's file became smaller. */
    readonly bytes: number;
    /** False where the file could not be made smaller now; later runs use the room again. */
    readonly shrunk: boolean;
}

export interface LedgerStore {
    /** True where a commit survives the end of the process. */
    readonly durable: boolean;
    /** Absolute path of the file, or address of the database without user and password; null in memory. */
    readonly path: string | null;
    /** Makes the run and takes it. Rejects with `LedgerError` `exists`. */
    create(run: NewRun): Promise<RunWriter>;
    /**
     * Takes over a run that has no live owner. Rejects with `LedgerError`: `unknown`, `owned`, `finished`; `tampered` where what a resume starts
     * from was changed; `elsewhere` where that cannot be told (another key) and `acceptForeign` does not say that it is to be taken as it is.
     */
    own(id: string, options?: OwnOptions): Promise<RunWriter>;
    /**
     * A writer that appends for the owner of this epoch, from any process, also for one that has let go: what is there already is acknowledged again.
     * Rejects with `LedgerError` `owned` where a later owner has the run.
     */
    join(id: string, epoch: number): Promise<RunWriter>;
    /** Of the newest attempt, where none is said; null where there is none yet. */
    outcome(id: string, path: string, attempt?: number): Promise<Outcome | null>;
    /** Newest first, 100 where no limit is said. One that cannot be read is told and left out; without `unreadable` its error is thrown. */
    runs(limit?: number, unreadable?: (one: UnreadableRun) => void): Promise<RunInfo[]>;
    /** Ids of runs that were anchored and are not in the ledger any more. */
    dropped(): Promise<string[]>;
    /** By id, by an unambiguous beginning of one, or `last`. Rejects with `LedgerError` `unknown`. */
    run(id: string): Promise<RunInfo>;
    /** What the run was started with. It can be large: the contents of imported files are in it. */
    options(id: string): Promise<Json>;
    /** From event number `from` on. */
    events(id: string, from?: number): AsyncIterable<SealedEvent>;
    /** Those with `n` greater than `after`. */
    outcomes(id: string, after?: number): AsyncIterable<RecordedOutcome>;
    pending(id: string): Promise<PendingEffect[]>;
    program(hash: string): Promise<Program>;
    state(id: string): Promise<SavedState | null>;
    verify(id: string): Promise<Verification>;
    /** Questions that wait, or waited, for a person. */
    readonly asks: Asks;
    /** How often things were used in a day, over all runs. */
    readonly uses: Uses;
    /** Texts that a shell elsewhere keeps beside its runs. */
    readonly claims: Claims;
    /**
     * Removes runs and what only they need, for ever; ids as for `run`, also of runs that cannot be read. Rejects with `LedgerError` `unknown`,
     * and `owned` where one of them goes on; then none is removed.
     */
    remove(ids: readonly string[]): Promise<Removed>;
    /**
     * Where the store tells of changes by other processes: calls `heard` with the id of a run that may have changed, or with null where any may have.
     * News may be lost. Gives what ends it.
     */
    changed?(heard: (run: string | null) => void): () => void;
    /** Tells of every commit of a run that the store did not keep, also of those that nothing waits for, such as heartbeats. Gives what ends it. */
    refused?(heard: (error: LedgerError) => void): () => void;
    /** Where processes of several machines share the store. */
    readonly team?: Team;
    /** Resolves when every commit that was called before is durable or was rejected. */
    close(): Promise<void>;
}

/**
 * A session of a server is a run that no machine runs: its turns are its parts (T9). It is open until it is closed, whether its server runs or not.
 */
export const SESSION = "session-";
export function isSession(id: string): boolean {
    return id.startsWith(SESSION) && !id.includes(".");
}

/** What a run was begun with, and what became of it. */
export interface KeptRun {
    readonly info: RunInfo;
    readonly options: Json;
    readonly program: Program;
}

/** A run as it stands in the ledger, read once: what replaying, debugging and explaining it need. */
export interface RunRecord extends KeptRun {
    readonly events: readonly SealedEvent[];
    readonly outcomes: readonly RecordedOutcome[];
}

/** `id` as for `run`. Rejects with `LedgerError`. */
export async function keptRun(store: LedgerStore, id: string): Promise<KeptRun> {
    const info = await store.run(id);
    return { info, options: await store.options(info.id), program: await store.program(info.program) };
}

/** `id` as for `run`. Rejects with `LedgerError`. */
export async function recordOf(store: LedgerStore, id: string): Promise<RunRecord> {
    const kept = await keptRun(store, id);
    const run = kept.info.id;
    return { ...kept, events: await Array.fromAsync(store.events(run)), outcomes: await Array.fromAsync(store.outcomes(run)) };
}
