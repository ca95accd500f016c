/**
 * A run as its caller holds it: a value to wait for, events to read, a way to cancel.
 *
 * Boundary: promises and iterators over the shell and the store.
 *
 * HL1: nothing is buffered for a reader of events: each reader reads the ledger from where it is, except the one commit that it waited for.
 * HL3: a listener (`on.event`, the channel `remit:run`) hears each event once, in order, as a copy of its own. What this process commits is told as it
 *     was kept; the ledger is read only where another process wrote. Reading each commit back took a seventh of a server's time (`bench/serve.ts`).
 * HL2: `result` tells every way a run can end; it rejects only where the ledger itself failed.
 */
import { defined, type Json, type Program } from "@remit/language";
import type { Conducted, Effect, LedgerEvent, Remedies, Usage } from "@remit/machine";
import { follow } from "../ledger/follow.ts";
import type { LedgerStore, RunInfo, RunStatus, RunWriter } from "../ledger/store.ts";
import { conduct, type LocalEnd, type LocalOptions } from "./local.ts";
import { RemitError, type RunFailure } from "../failure/error.ts";
import { remedyOptions } from "./remedies.ts";
import type { Missing } from "./host.ts";
import type { Handlers } from "./setup.ts";
import { announce, type HeardRun } from "./started.ts";

export interface RunResult<T = Json> {
    readonly run: string;
    readonly status: RunStatus;
    readonly ok: boolean;
    /** Where `ok`. */
    readonly value?: T;
    /** If not `ok`. Its kind is `cancelled` for a stopped run and `waiting` for a waiting one; the message says what that one waits for. */
    readonly failure?: RunFailure;
    /** Effects that wait for a person. */
    readonly waiting?: readonly Effect[];
    /** A missing credential or the like that the run waits for, and how to give it. */
    readonly missing?: Missing;
    /** Of a run that failed: the ways to let it go on; absent if there is none. */
    readonly remedies?: Remedies;
    readonly usage: Usage;
    readonly steps: number;
    /** Effects with an outcome. */
    readonly effects: number;
}

export interface RunHandle<T = Json> {
    readonly id: string;
    /** The value; rejects with `RemitError`. */
    readonly value: Promise<T>;
    readonly result: Promise<RunResult<T>>;
    /** All events from the first on; ends with the run. Every iteration reads them anew. */
    readonly events: AsyncIterable<LedgerEvent>;
    /** What runs. */
    readonly program: Program;
    /** Stops the run. With a durable ledger it can be resumed. */
    cancel(): void;
}

export interface ExecuteOptions extends Pick<LocalOptions, "store" | "host" | "secrets" | "recovered" | "spent"> {
    readonly id: string;
    readonly program: Program;
    /** Where the run cannot be made or taken over, the result rejects with its error. */
    readonly writer: RunWriter | Promise<RunWriter>;
    readonly on: Handlers;
    readonly signal: AbortSignal | undefined;
    readonly timeout: number | undefined;
    /** Called once, when the run is over for this process. Default: its host is closed. */
    readonly over?: () => void;
}

export function execute<T>(machine: Conducted, options: ExecuteOptions): RunHandle<T> {
    const { store, id, program, on, timeout, signal: outside, ...given } = options;
    const cancel = new AbortController();
    const onAbort = (): void => cancel.abort();
    if (outside?.aborted === true) cancel.abort();
    else outside?.addEventListener("abort", onAbort, { once: true });

    let wakers: ((events: readonly LedgerEvent[] | null) => void)[] = [];
    let newest: number | null = null;
    let over = false;
    const missing = new Map<string, Missing>();
    const listeners = new Listeners(store, id, on.event, () => cancel.abort());
    const wake = (events: readonly LedgerEvent[] | null): void => {
        const waiting = wakers;
        wakers = [];
        for (const one of waiting) one(events);
    };

    const driven = async (): Promise<RunResult<T>> => {
        const writer = await options.writer;
        await listeners.begin(await announce(id, program, () => store.events(id)));
        const end = await conduct(machine, {
            ...given,
            store,
            writer,
            signal: cancel.signal,
            committed: (events) => {
                listeners.committed(events);
                newest = events === null ? null : (events.at(-1)?.seq ?? newest);
                wake(events);
            },
            missing: (path, why) => void missing.set(path, why),
            ...defined({ timeout, part: on.part, kept: on.kept, stalled: on.stalled, unknown: on.unknown }),
        });
        await listeners.end();
        return resultOf<T>(store, id, end, { machine, missing });
    };
    const result = driven().finally(() => {
        outside?.removeEventListener("abort", onAbort);
        if (options.over !== undefined) options.over();
        // What a tool says about being closed is of no use any more.
        else options.host.close?.().catch(() => undefined);
        over = true;
        wake(null);
    });
    // A caller that only reads events must not be ended by a rejection it never asked for.
    result.catch(() => undefined);
    let value: Promise<T> | null = null;
    return {
        id,
        result,
        get value() {
            value ??= result.then(valueOrThrow);
            return value;
        },
        events: {
            [Symbol.asyncIterator]: () =>
                follow(store, id, {
                    news: () => new Promise((resolve) => void wakers.push(resolve)),
                    newest: () => newest,
                    live: () => !over,
                }),
        },
        program,
        cancel: () => cancel.abort(),
    };
}

/** HL3. */
class Listeners {
    readonly #store: LedgerStore;
    readonly #id: string;
    readonly #event: Handlers["event"];
    readonly #failed: () => void;
    #heard: HeardRun | null = null;
    #seen = 0;
    #telling: Promise<void> = Promise.resolve();

    /** `failed`: a listener threw, or the ledger could not be read; `end` rejects with it. */
    constructor(store: LedgerStore, id: string, event: Handlers["event"], failed: () => void) {
        this.#store = store;
        this.#id = id;
        this.#event = event;
        this.#failed = failed;
    }

    get #isNone(): boolean {
        return this.#event === undefined && this.#heard === null;
    }

    async begin(heard: HeardRun | null): Promise<void> {
        this.#heard = heard;
        if (!this.#isNone) this.#seen = (await this.#store.run(this.#id)).events;
    }

    /** Null: they have to be read. */
    committed(events: readonly LedgerEvent[] | null): void {
        if (this.#isNone) return;
        this.#telling = this.#telling.then(() => this.#tell(events));
        this.#telling.catch(this.#failed);
    }

    /** Resolves when they have heard all, also what another process wrote last. */
    async end(): Promise<void> {
        await this.#telling;
        if (!this.#isNone && (await this.#store.run(this.#id)).events > this.#seen) await this.#read();
    }

    async #tell(events: readonly LedgerEvent[] | null): Promise<void> {
        if (events === null || (events[0]?.seq ?? 0) > this.#seen + 1) return this.#read();
        for (const event of events) if (event.seq > this.#seen) this.#hear(structuredClone(event));
    }

    async #read(): Promise<void> {
        for await (const event of this.#store.events(this.#id, this.#seen + 1)) this.#hear(event);
    }

    #hear(event: LedgerEvent): void {
        this.#seen = event.seq;
        this.#heard?.events.push(event);
        this.#event?.(event);
    }
}

/** The value of a result; throws `RemitError` where there is none. */
export function valueOrThrow<T>(result: RunResult<T>): T {
    if (result.ok) return result.value as T;
    throw new RemitError(result.failure as RunFailure, result.run);
}

interface Told {
    readonly machine: Conducted;
    /** What effects wait for that are no questions. */
    readonly missing: ReadonlyMap<string, Missing>;
}

async function resultOf<T>(store: LedgerStore, id: string, end: LocalEnd, { machine, missing }: Told): Promise<RunResult<T>> {
    const { remedies } = machine;
    const info = await store.run(id);
    const about = aboutOf(info, end.status);
    switch (end.status) {
        case "done":
            // The machine's objects have no prototype; a caller gets ordinary ones.
            return { ...about, ok: true, value: structuredClone(end.value) as T };
        case "failed":
            return { ...about, ok: false, failure: end.failure, ...(store.durable && canHelp(remedies) ? { remedies } : {}) };
        case "stopped":
            return cancelledResult(info);
        case "waiting": {
            const [first] = end.waiting;
            const wanted = end.waiting.find(({ path }) => missing.has(path));
            if (wanted !== undefined)
                return {
                    ...{ ...about, ok: false, waiting: end.waiting },
                    ...missingFailure(info.id, missing.get(wanted.path) as Missing, wanted.site),
                };
            const what = end.waiting.map((effect) => effect.path).join(", ");
            return {
                ...about,
                ok: false,
                waiting: end.waiting,
                failure: {
                    kind: "waiting",
                    message: `the run waits for an answer: ${what}`,
                    site: first?.site ?? null,
                    hint: waitingHint(info.id, end.waiting),
                },
            };
        }
    }
}

export function aboutOf(
    { id: run, usage, steps, effects }: RunInfo,
    status: RunStatus,
): Pick<RunResult, "run" | "status" | "usage" | "steps" | "effects"> {
    return { run, status, usage, steps, effects };
}

export function cancelledResult(info: RunInfo): RunResult<never> {
    const hint = `remit resume ${info.id} goes on with it`;
    return { ...aboutOf(info, "stopped"), ok: false, failure: { kind: "cancelled", message: "the run was cancelled", hint } };
}

/** A credential comes first: a question can be answered meanwhile. */
export function missingFailure(run: string, missing: Missing, site: Effect["site"] = null): Pick<RunResult, "missing" | "failure"> {
    const hint = `${missing.hint}; then remit resume ${run} goes on`;
    return { missing, failure: { kind: "waiting", message: `the run waits: ${missing.message}`, site, hint } };
}

function canHelp(remedies: Remedies | undefined): remedies is Remedies {
    return remedies !== undefined && remedyOptions(remedies).length > 0;
}

/** How a person answers, in the words of the command line. */
export function waitingHint(run: string, waiting: readonly Effect[]): string {
    const path = waiting[0]?.path ?? "PATH";
    if (waiting.some((effect) => effect.kind === "ask"))
        return `remit asks ${run} shows the question, remit answer ${run} ASK once (session, deny, abort) answers it, remit resume ${run} goes on`;
    if (waiting.every((effect) => effect.kind === "input")) return `remit resume ${run} --answer '${path}=VALUE' gives it`;
    return `remit resume ${run} --answer '${path}=…' (done:JSON where it happened, again where it did not, give-up to let the program fail)`;
}
