/**
 * The local shell: runs the conductor in this process.
 *
 * Boundary: promises, timers and signals around the conductor, whose decisions it carries out. It decides nothing.
 *
 * SW1: where the ledger has no room, or is locked, the outcome in hand stays in memory, nothing begins, and the commit is tried again under its number, so that
 *     it is kept once (OD1). A cancel ends that: the run stops with what was acknowledged.
 * D8: the event loop gets a turn at least every 10 ms, whatever runs, so that a signal, a timer and an abort are seen while effects settle in microtasks.
 */
import type { Json } from "@remit/language";
import { Conductor } from "@remit/machine";
import type { Batch, Conducted, ConductEnd, ConductOptions, Decision, Effect, News, SealedEvent, UnknownAnswer } from "@remit/machine";
import { isPassing, LedgerError } from "../ledger/error.ts";
import type { LedgerStore, RunWriter } from "../ledger/store.ts";
import { worldOut } from "../secret/exits.ts";
import type { AskUnknown } from "./setup.ts";
import { monotonic, TURN_MS, turnAge } from "./turn.ts";
import { Works, type WorksOptions } from "./works.ts";

export interface LocalOptions extends Omit<ConductOptions, "saves">, WorksOptions {
    readonly store: LedgerStore;
    readonly writer: Pick<RunWriter, "batches" | "commit" | "timed" | "release">;
    readonly signal?: AbortSignal;
    readonly part?: (path: string, part: Json) => void;
    /** After each commit, with the events that count with it; null: they can be read. */
    readonly committed?: (events: readonly SealedEvent[] | null) => void;
    /** After the commit that has the outcome of the effect at this path. */
    readonly kept?: (path: string) => void;
    readonly unknown?: AskUnknown;
    /** The ledger takes nothing now, and the run waits for that; null: it goes on. */
    readonly stalled?: (why: LedgerError | null) => void;
}

/** How a run ends in this process. */
export type LocalEnd = Exclude<ConductEnd, { readonly status: "broken" | "drained" }>;

/** Longest delay a timer takes, milliseconds. */
const MAX_TIMER = 2 ** 31 - 1;

/** Runs the conductor up to its end. */
export function conduct(machine: Conducted, options: LocalOptions): Promise<LocalEnd> {
    return new Local(machine, options).run();
}

class Local {
    private readonly options: LocalOptions;
    private readonly conductor: Conductor;
    /** Batches that were kept before the conductor's first. */
    private readonly before: number;
    private readonly works: Works;
    private readonly news: News[] = [];
    private wake = (): void => undefined;
    private timer: NodeJS.Timeout | undefined;
    private asking: Promise<void> = Promise.resolve();
    private broken: unknown = null;
    /** Number of the commit that found no room. */
    private stalled: number | null = null;
    private end: ConductEnd | null = null;

    constructor(machine: Conducted, options: LocalOptions) {
        this.options = options;
        this.conductor = new Conductor(machine, { ...options, saves: options.store.durable });
        this.before = options.writer.batches;
        this.works = new Works(options, (news) => this.tell(news));
    }

    private tell(one: News): void {
        this.news.push(one);
        this.wake();
    }
    private readonly fails = (error: unknown): void => {
        this.broken ??= error;
        this.wake();
    };
    private async commit(n: number, batch: Batch): Promise<void> {
        const { writer, secrets, signal, stalled, committed, kept } = this.options;
        try {
            const events = await writer.commit(worldOut(batch, secrets), this.before + n);
            if (this.stalled !== null) stalled?.(null);
            this.stalled = null;
            committed?.(events);
            if (kept !== undefined) for (const { path } of batch.outcomes ?? []) kept(path);
            this.tell({ kind: "committed", n });
        } catch (error) {
            // SW1.
            if (!isPassing(error)) return this.fails(error);
            if (this.stalled === null) stalled?.(error);
            this.stalled = n;
            this.tell({ kind: "failed", n, again: signal?.aborted !== true });
        }
    }
    private async ask(effect: Effect): Promise<void> {
        const said = (await this.options.unknown?.(effect)) ?? null;
        this.tell({ kind: "known", path: effect.path, said: this.options.secrets.scrub(said as Json) as UnknownAnswer | null });
    }
    private readonly carryOut: { readonly [K in Decision["kind"]]: (decision: Decision & { readonly kind: K }) => void } = {
        commit: ({ n, batch }) => void this.commit(n, batch),
        begin: ({ effect, parent }) => this.works.begin(effect, parent),
        stop: ({ path, reason, waits }) => this.works.stop(path, reason, waits),
        down: ({ path, down }) => this.works.down(path, down),
        show: ({ path, part }) => this.options.part?.(path, part),
        // What ending it has to say counts for nothing; `close` of the host ends whatever is left.
        close: ({ session, keeps }) => void this.options.host.end?.(session, undefined, keeps).catch(() => undefined),
        unknown: ({ effect }) => {
            this.asking = this.asking.then(() => this.ask(effect));
            this.asking.catch(this.fails);
        },
        wake: ({ at }) => {
            clearTimeout(this.timer);
            const left = Math.min(Math.max((at ?? 0) - monotonic(), 0), MAX_TIMER);
            this.timer = at === null ? undefined : setTimeout(() => this.tell({ kind: "time" }), left);
        },
        compute: () => undefined,
        ended: ({ end }) => {
            this.end = end;
        },
    };
    private readonly cancel = (): void => {
        this.tell({ kind: "cancel" });
        if (this.stalled !== null) this.tell({ kind: "failed", n: this.stalled, again: false });
    };

    async run(): Promise<LocalEnd> {
        const { conductor, news, works } = this;
        const { writer, signal } = this.options;
        if (signal?.aborted === true) this.cancel();
        else signal?.addEventListener("abort", this.cancel, { once: true });
        writer.timed(() => conductor.spent(monotonic()));
        try {
            while (this.end === null) {
                // D8. Asked again, so that what is computed next counts from its beginning.
                while (turnAge() > TURN_MS) await new Promise<void>((resolve) => void setImmediate(resolve));
                const decisions = conductor.next(monotonic(), news.splice(0));
                for (const decision of decisions) (this.carryOut[decision.kind] as (one: Decision) => void)(decision);
                if (this.broken !== null) throw this.broken;
                const waits = this.end === null && news.length === 0 && !decisions.some(({ kind }) => kind === "compute");
                if (waits) await new Promise<void>((resolve) => (this.wake = resolve));
            }
            return this.end.status === "broken" ? { status: "stopped" } : (this.end as LocalEnd);
        } finally {
            clearTimeout(this.timer);
            signal?.removeEventListener("abort", this.cancel);
            works.end("the run goes on no further here");
            // A ledger that takes nothing more cannot be told that it is let go; what came before says why.
            const unheard = (error: unknown): unknown => (error instanceof LedgerError ? undefined : Promise.reject(error));
            if (this.end === null || this.end.status === "broken") await writer.release().catch(unheard);
        }
    }
}
