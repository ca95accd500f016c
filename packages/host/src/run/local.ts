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
import {
    type Batch,
    type Conducted,
    type ConductEnd,
    Conductor,
    type ConductOptions,
    type Decision,
    type Effect,
    type MachineEvent,
    type News,
    type UnknownAnswer,
} from "@remit/machine";
import { isPassing, LedgerError } from "../ledger/error.ts";
import type { LedgerStore, RunWriter } from "../ledger/store.ts";
import type { Scrubber } from "../secret/scrub.ts";
import type { Host, Missing } from "./host.ts";
import { type Performing, performing } from "./performing.ts";

/** What a person says became of an effect; null: it is not known now. */
export type AskUnknown = (effect: Effect) => Promise<UnknownAnswer | null> | UnknownAnswer | null;

export interface LocalOptions extends Omit<ConductOptions, "saves"> {
    readonly store: LedgerStore;
    readonly writer: Pick<RunWriter, "batches" | "commit" | "timed" | "release">;
    readonly host: Host;
    /** What is known to be a secret: it is taken out of what comes from outside. */
    readonly secrets: Scrubber;
    readonly signal?: AbortSignal;
    readonly part?: (path: string, part: Json) => void;
    /** After each commit. */
    readonly committed?: () => void;
    readonly unknown?: AskUnknown;
    /** An effect that cannot be performed now, and what it wants. */
    readonly missing?: (path: string, why: Missing) => void;
    /** The ledger takes nothing now, and the run waits for that; null: it goes on. */
    readonly stalled?: (why: LedgerError | null) => void;
    /** Performs one effect, here or in another process. */
    readonly perform?: typeof performing;
}

/** How a run ends in this process. */
export type LocalEnd = Exclude<ConductEnd, { readonly status: "broken" | "drained" }>;

/** Longest time without a turn of the event loop, milliseconds; what is computed meanwhile comes to it. */
export const TURN_MS = 8;
/** Longest delay a timer takes, milliseconds. */
const MAX_TIMER = 2 ** 31 - 1;

export async function conduct(machine: Conducted, options: LocalOptions): Promise<LocalEnd> {
    const { store, writer, host, secrets, signal } = options;
    const conductor = new Conductor(machine, { ...options, saves: store.durable });
    /** Batches that were kept before the conductor's first. */
    const before = writer.batches;
    const performed = new Map<string, Performing>();
    let news: News[] = [];
    let wake = (): void => undefined;
    let timer: NodeJS.Timeout | null = null;
    let asking: Promise<void> = Promise.resolve();
    let broken: { readonly error: unknown } | null = null;
    /** Number of the commit that found no room. */
    let stalled: number | null = null;
    let end: ConductEnd | null = null;

    const tell = (one: News): void => {
        news.push(one);
        wake();
    };
    const fails = (error: unknown): void => {
        broken ??= { error };
        wake();
    };
    async function commit(n: number, batch: Batch): Promise<void> {
        try {
            await writer.commit(cleaned(batch, secrets), before + n);
            if (stalled !== null) options.stalled?.(null);
            stalled = null;
            options.committed?.();
            tell({ kind: "committed", n });
        } catch (error) {
            // SW1.
            if (!isPassing(error)) broken = { error };
            else if (stalled === null) options.stalled?.(error);
            stalled = n;
            tell({ kind: "failed", n, again: broken === null && signal?.aborted !== true });
        }
    }
    function begin({ effect, parent }: Decision & { readonly kind: "begin" }): void {
        const { path } = effect;
        const answered = (news: News): void => {
            if (performed.get(path) === work) performed.delete(path);
            tell(news);
        };
        const work = (options.perform ?? performing)(effect, {
            host,
            secrets,
            ...(parent === undefined ? {} : { parent }),
            up: (up) => tell({ kind: "up", path, up }),
            answered: (outcome, why) => {
                if (why !== undefined) options.missing?.(path, why);
                answered(outcome === null ? { kind: "later", path } : { kind: "outcome", path, outcome });
            },
        });
        performed.set(path, work);
    }
    function carryOut(decision: Decision): void {
        switch (decision.kind) {
            case "commit":
                void commit(decision.n, decision.batch);
                return;
            case "begin":
                begin(decision);
                return;
            case "stop":
                performed.get(decision.path)?.stop(decision.reason, decision.waits);
                if (!decision.waits) performed.delete(decision.path);
                return;
            case "down":
                performed.get(decision.path)?.down(decision.down);
                return;
            case "show":
                options.part?.(decision.path, decision.part);
                return;
            case "close":
                // What ending it has to say counts for nothing; `close` of the host ends whatever is left.
                host.end?.(decision.session).catch(() => undefined);
                return;
            case "unknown":
                asking = asking.then(async () => {
                    const said = secrets.scrub(((await options.unknown?.(decision.effect)) ?? null) as Json) as UnknownAnswer | null;
                    tell({ kind: "known", path: decision.effect.path, said });
                });
                asking.catch(fails);
                return;
            case "wake":
                if (timer !== null) clearTimeout(timer);
                timer = decision.at === null ? null : setTimeout(() => tell({ kind: "time" }), delayTo(decision.at));
                return;
            case "compute":
                return;
            case "ended":
                end = decision.end;
        }
    }

    const cancel = (): void => {
        tell({ kind: "cancel" });
        if (stalled !== null) tell({ kind: "failed", n: stalled, again: false });
    };
    if (signal?.aborted === true) cancel();
    else signal?.addEventListener("abort", cancel, { once: true });
    async function letGo(): Promise<void> {
        try {
            await writer.release();
        } catch (error) {
            // A ledger that takes nothing more cannot be told that it is let go; what came before says why.
            if (!(error instanceof LedgerError)) throw error;
        }
    }
    async function ended(end: ConductEnd): Promise<LocalEnd> {
        if (end.status !== "broken") return end as LocalEnd;
        await letGo();
        return { status: "stopped" };
    }
    writer.timed(() => conductor.spent(performance.now()));
    let turned = performance.now();
    try {
        for (;;) {
            const told = news;
            news = [];
            const decisions = conductor.next(performance.now(), told);
            for (const decision of decisions) carryOut(decision);
            if (broken !== null) throw (broken as { readonly error: unknown }).error;
            if (end !== null) return await ended(end);
            const waits = news.length === 0 && !decisions.some(({ kind }) => kind === "compute");
            if (waits)
                await new Promise<void>((resolve) => {
                    wake = resolve;
                });
            // D8. What arrives in the same turn of the event loop shares one commit, too.
            if ((waits && performed.size > 0) || performance.now() - turned > TURN_MS) {
                await new Promise<void>((resolve) => void setImmediate(resolve));
                turned = performance.now();
            }
        }
    } catch (error) {
        for (const work of performed.values()) work.stop("the run could not go on", false);
        await letGo();
        throw error;
    } finally {
        if (timer !== null) clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
    }
}

function delayTo(at: number): number {
    return Math.min(Math.max(at - performance.now(), 0), MAX_TIMER);
}

/** What followed from the world, without secrets; the rest passed the scrubber when it left the machine. */
function cleaned(batch: Batch, { scrub }: Scrubber): Batch {
    if (batch.events === undefined) return batch;
    const clean = (event: MachineEvent): MachineEvent =>
        (event.data as { readonly host?: Json } | null)?.host === true ? { ...event, data: scrub(event.data) } : event;
    return { ...batch, events: batch.events.map(clean) };
}
