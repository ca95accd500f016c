/**
 * A ledger as its reader holds it: runs, events, cost, verification, and going on with a run.
 *
 * Boundary: the facade for the command line and for the library; the work is in the files beside.
 */
import type { Program } from "@remit/language";
import type { GoOn, LedgerEvent, SealedPart } from "@remit/machine";
import { type Ask, AskError } from "../ledger/asks.ts";
import { exportRun } from "../ledger/export.ts";
import { type FollowOptions, follow } from "../ledger/follow.ts";
import { RemitError } from "../failure/error.ts";
import { machineId } from "../load/engine.ts";
import { ledgerPath } from "../ledger/place.ts";
import { isSession, type LedgerStore, type RunInfo, type UnreadableRun, type Verification, keptRun, recordOf } from "../ledger/store.ts";
import { shownStore } from "../ledger/shown.ts";
import { knownSecrets } from "../secret/known.ts";
import { type RunHandle, execute } from "./handle.ts";
import { openProcess } from "../process/process.ts";
import { machineOf } from "./machine.ts";
import type { KeptOptions } from "./options.ts";
import { type Replayed, replayRun } from "./replay.ts";
import type { GivenAnswers } from "./answers.ts";
import { resumptionOf } from "./resumption.ts";
import type { Handlers, HostOptions, RunOptions } from "./setup.ts";
import { surroundingsOf } from "../config/setting.ts";

export interface ResumeRunOptions
    extends Omit<HostOptions, "ledger" | "model" | "workspace" | "mode">,
        Pick<RunOptions, "signal" | "on">,
        GivenAnswers {
    /** In place of what the run was started with. */
    readonly model?: string;
    readonly workspace?: string;
    /** Questions without an answer wait, whatever was said when the run began. */
    readonly park?: boolean;
    /** Goes on with a run that was recorded under another key, on another machine or by another user: what it does then, it does with your rights. */
    readonly acceptForeign?: boolean;
    /** Of a run that failed: new amounts of bounds, with which what a limit stopped goes on. `account`: a path, `run` for the whole. */
    readonly raise?: GoOn["raise"];
    /** Of a run that failed: what failed is asked for again. */
    readonly retry?: boolean;
    /** Takes the run from the owner of this epoch although that one lives: an execution elsewhere that its shell gave up. */
    readonly from?: number;
}

export interface Ledger {
    readonly store: LedgerStore;
    /** Who answers questions where no other principal is named. */
    readonly user: string;
    /** Newest first, 100 where no limit is said. One that cannot be read is told and left out; without `unreadable` its error is thrown. */
    runs(limit?: number, unreadable?: (one: UnreadableRun) => void): Promise<RunInfo[]>;
    /** By id, an unambiguous beginning of one, or `last`. Rejects with `LedgerError` `unknown`. */
    run(id: string): Promise<RunInfo>;
    events(id: string, from?: number): AsyncIterable<LedgerEvent>;
    /** Events as they come, also of a run in another process; ends with the run. */
    follow(id: string, options?: FollowOptions): AsyncIterable<LedgerEvent>;
    verify(id: string): Promise<Verification>;
    /** NDJSON lines, whole or with parts taken out; parts that hold what the environment calls a secret now are always taken out. */
    export(id: string, without?: readonly SealedPart[]): AsyncIterable<string>;
    program(id: string): Promise<Program>;
    /**
     * Goes on with a run. Rejects with `LedgerError` `owned` while another process runs it, `finished` when it is over, `tampered` where what it starts
     * from was changed in the file, `elsewhere` where it was recorded under another key. A run with an unknown outcome gives a handle
     * whose result is `waiting`.
     */
    resume<T>(id: string, options?: ResumeRunOptions): Promise<RunHandle<T>>;
    /** Questions of a run, or of all, oldest first. */
    asks(run?: string): Promise<Ask[]>;
    /**
     * Answers a question by its id, a beginning of it, or its path; `resume` goes on with the run. `by`: who answers, default the user of this
     * process. Rejects with `AskError`; then nothing was changed.
     */
    answer(run: string, ask: string, decision: string, by?: string): Promise<Ask>;
    /** Performs no effect. */
    replay(id: string): Promise<Replayed>;
    close(): Promise<void>;
}

export interface LedgerOptions extends Pick<HostOptions, "process" | "user" | "env"> {
    readonly readOnly?: boolean;
    /** Folder of the key that runs are bound with. Default: the user's own. */
    readonly config?: string;
}

/** Opens the ledger at `path` (default: see `ledgerPath`), or wraps a store. Throws `LedgerError`. */
export async function openLedger(path?: string | LedgerStore, options: LedgerOptions = {}): Promise<Ledger> {
    const { process: on = openProcess(), readOnly = false, config } = options;
    const { env, user } = surroundingsOf({ ...options, process: on });
    const holder = {};
    const how = { ...(readOnly ? { readOnly } : {}), ...(config === undefined ? {} : { config }) };
    const store = typeof path === "object" ? path : await on.store(ledgerPath(path, on.env, on.cwd), holder, how);
    const secrets = knownSecrets(env);
    return {
        store,
        user,
        runs: (limit, unreadable) => store.runs(limit, unreadable),
        run: (id) => store.run(id),
        events: (id, from) => store.events(id, from),
        follow: (id, how) => follow(store, id, how),
        verify: (id) => store.verify(id),
        export: (id, without = []) => exportRun(store, id, { without, secrets }),
        program: async (id) => store.program((await store.run(id)).program),
        replay: async (id) => {
            const run = await keptRun(store, id);
            return replayRun(await recordOf(shownStore(store, secrets), id), () => machineOf(run, secrets), machineId());
        },
        asks: async (id) => store.asks.list(id === undefined ? undefined : (await store.run(id)).id),
        answer: async (id, ask, decision, by = user) => answerTo(store, await store.asks.find((await store.run(id)).id, ask), decision, by),
        resume: (id, how = {}) => resumeRun(store, id, { process: on, user, ...how }),
        close: async () => (store === path ? store.close() : on.release(holder)),
    };
}

async function resumeRun<T>(store: LedgerStore, id: string, options: ResumeRunOptions): Promise<RunHandle<T>> {
    const { acceptForeign = false, from, signal, became = {} } = options;
    // First of all: what is read below is what was kept.
    const writer = await store.own(id, { acceptForeign, ...(from === undefined ? {} : { from }) });
    let close = async (): Promise<void> => undefined;
    try {
        if (isSession(writer.id))
            throw new RemitError({ kind: "value", message: `${id} is a session of a server`, hint: "remit serve goes on with it" });
        const on: Handlers = {
            // What cannot be answered now has waited, and waits.
            input: () => null,
            ...options.on,
            unknown: (effect) => became[effect.path] ?? options.on?.unknown?.(effect) ?? null,
        };
        const { run, world, host, begins, recovered, decide } = await resumptionOf(store, writer.id, options, on);
        close = async () => host.close?.();
        await decide();
        const { info, program } = run;
        const { machine } = begins;
        const timeout = machine.raised?.time ?? (run.options as unknown as KeptOptions).limits.time;
        return execute<T>(machine, {
            ...{ store, id: info.id, program, writer, host, secrets: world.secrets },
            ...{ on, signal, timeout, recovered, spent: begins.info.spent },
        });
    } catch (error) {
        await writer.release();
        // The error that is thrown says more than one of closing.
        close().catch(() => undefined);
        throw error;
    }
}

/** An execution on Temporal has the run, or ended without letting it go: no process has a name in the ledger. */
export function isOwnedElsewhere({ by }: Pick<RunInfo, "by">): boolean {
    return by !== undefined;
}

/** An execution on Temporal carries the run out, and has to be asked or told itself. */
export function isCarriedElsewhere(run: Pick<RunInfo, "by" | "status">): boolean {
    return isOwnedElsewhere(run) && run.status === "running";
}

/**
 * What a person says to a question of the ledger. Rejects with `AskError`: `elsewhere` where the run is carried out elsewhere. That execution would not
 * learn of the answer, and would take no other one.
 */
export async function answerTo(store: LedgerStore, { run, id }: Pick<Ask, "run" | "id">, decision: string, by: string): Promise<Ask> {
    if (isCarriedElsewhere(await store.run(run))) throw new AskError("elsewhere", `run ${run} is carried out on Temporal`);
    return store.asks.decide(id, decision, by);
}
