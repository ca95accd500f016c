/**
 * Effects as activities of a workflow: begun, stopped, spoken with, lost.
 *
 * Boundary: Temporal's calls on one side, the conductor's news on the other. What follows from an outcome is the conductor's.
 *
 * WP1: an activity is tried once. Where it ends without an answer the ledger is asked for the outcome, before the conductor is told that it is lost.
 * WP2: a session with an agent stays with the worker that has its process.
 */
import type { Down, Effect, News, Outcome } from "@remit/machine";
import { isPersonal } from "@remit/machine";
import {
    ActivityFailure,
    type ActivityOptions,
    ApplicationFailure,
    CancellationScope,
    scheduleActivity,
    scheduleLocalActivity,
    TimeoutFailure,
} from "@temporalio/workflow";
import {
    type Carried,
    FAILURES,
    named,
    type Performed,
    type PerformInput,
    type Question,
    type Sent,
    type Settings,
    type UpAnswer,
} from "../wire/messages.ts";
import { Parts } from "./parts.ts";
import { summaryOf } from "./summary.ts";
import type { Unsent } from "./ledger.ts";

/** What performing is made with. */
export interface PerformingOps {
    readonly run: string;
    readonly epoch: number;
    readonly settings: Settings;
    readonly unsent: Unsent;
    /** Runs of parts that were begun by executions of this one. */
    readonly begun: Set<string>;
    tell(news: News): void;
    /** A person answers it; null: no person can. */
    asked(effect: Effect, question: Question | null): void;
    /** The workflow cannot go on. */
    fails(error: unknown): void;
}

interface Work {
    readonly effect: Effect;
    readonly scope: CancellationScope;
    /** Its answer still counts. */
    counts: boolean;
    /** A person is asked about it. */
    readonly asked?: true;
}

/** Of one effect. It has no time of its own, so it needs no promise around that of the activity. */
class EffectScope extends CancellationScope {
    protected override runInContext<T>(work: () => Promise<T>): Promise<T> {
        try {
            return work();
        } catch (error) {
            return Promise.reject(error);
        }
    }
}

/** So long the server looks for a worker that has the process of an agent's session, milliseconds. */
const SESSION_MS = 10_000;

/** Priorities that a server tells apart where it says nothing else. */
const LEVELS = 5;

export class Works {
    private readonly ops: PerformingOps;
    private readonly works = new Map<string, Work>();
    /** Queues of the workers that have sessions with agents, by session. */
    private readonly queues = new Map<string, string>();
    /** Messages that performers wait for, by path and number. */
    private readonly downs = new Map<string, (down: Down) => void>();
    /** What activities carry that have not ended: the ledger may not have it. */
    private readonly carried = new Set<readonly Sent[]>();
    /** Sessions that are being ended. */
    private readonly closing = new Set<Promise<unknown>>();

    readonly parts: Parts;

    constructor(ops: PerformingOps) {
        this.ops = ops;
        this.parts = new Parts(ops);
    }

    get paths(): string[] {
        return [...this.works.keys()];
    }

    /** What the ledger may not have yet, though it is carried. */
    get unacknowledged(): readonly Sent[] {
        return [...this.carried].flat();
    }

    /** Something is performed that is no question to a person. */
    get isBusy(): boolean {
        for (const { effect, asked } of this.works.values()) if (!isPersonal(effect) && asked !== true) return true;
        return false;
    }

    /** Effects that begin now, in order. */
    begin(begins: readonly { readonly effect: Effect; readonly parent?: string }[]): void {
        const { unsent } = this.ops;
        const own = begins.filter(({ parent }) => parent === undefined);
        const carried = unsent.begin(own.map(({ effect }) => effect));
        for (const [i, { effect }] of own.entries()) this.perform(effect, carried[i] as { begins: number; batches: readonly Sent[] });
        const arisen = begins.filter(({ parent }) => parent !== undefined);
        if (arisen.length === 0) return;
        // What arose has no place among the program's effects; each carries what was noted of it.
        const batches = unsent.carry();
        for (const { effect, parent } of arisen) this.perform(effect, { parent: parent as string, batches });
    }

    /** A question was answered, or its time is up: what it comes to. */
    again(effect: Effect, why?: string): void {
        this.perform(effect, { batches: this.ops.unsent.carry(), ...(why === undefined ? {} : { why }) });
    }

    stop(path: string, waits: boolean): void {
        const work = this.works.get(path);
        if (work === undefined) return;
        work.counts = waits;
        if (!waits) this.over(path);
        work.scope.cancel();
    }

    down(path: string, down: Down): void {
        this.downs.get(`${path}\n${down.n}`)?.(down);
    }

    /** A performer says something and waits for the answer. */
    async answer(path: string, n: number): Promise<UpAnswer> {
        const { run, epoch, unsent } = this.ops;
        const key = `${path}\n${n}`;
        const down = await new Promise<Down>((resolve) => {
            if (this.works.has(path)) this.downs.set(key, resolve);
            else resolve(unheard(n));
        });
        this.downs.delete(key);
        return { run, epoch, down, batches: unsent.carry() };
    }

    /** A session with an agent is over. */
    close(session: string): void {
        const queue = this.queues.get(session);
        this.queues.delete(session);
        if (queue === undefined) return;
        const { run } = this.ops;
        const options = { taskQueue: queue, scheduleToCloseTimeout: SESSION_MS, retry: { maximumAttempts: 1 } };
        // A worker that is gone has taken the process with it.
        const closing = scheduleActivity(named("close"), [{ run, session }], options).catch(() => undefined);
        this.closing.add(closing);
        void closing.then(() => this.closing.delete(closing));
    }

    /** Resolves when the sessions that are over have ended. */
    async closed(): Promise<void> {
        await Promise.all(this.closing);
    }

    private over(path: string): void {
        this.works.delete(path);
        for (const [key, tell] of [...this.downs]) {
            const [of, n] = key.split("\n");
            if (of === path) tell(unheard(Number(n)));
        }
    }

    /** No async function: the SDK records a stack for every promise, which is what an effect costs most here (section `temporal` of `bench/`). */
    private perform(effect: Effect, { batches, ...more }: Pick<PerformInput, "batches" | "begins" | "parent" | "why">): void {
        const { run, epoch } = this.ops;
        const work: Work = { effect, scope: new EffectScope(), counts: true };
        this.works.set(effect.path, work);
        const carried: Carried = { run, epoch, batches };
        this.carried.add(batches);
        work.scope
            .run(() => this.scheduled(effect, { ...carried, effect, ...more }))
            .then(
                (performed) => {
                    this.carried.delete(batches);
                    this.ended(work, performed);
                },
                (error: unknown) => {
                    this.carried.delete(batches);
                    void this.lost(work, carried, error);
                },
            );
    }

    private async lost(work: Work, carried: Carried, error: unknown): Promise<void> {
        const { fails, unsent } = this.ops;
        if (isFinal(error)) return fails(error);
        // What it carried may not be there.
        if (!work.counts) return unsent.bring(carried.batches);
        try {
            this.ended(work, await this.look(work.effect, carried));
        } catch (second) {
            fails(second);
        }
    }

    private ended({ counts, effect }: Work, performed: Performed): void {
        if (!counts) return;
        this.over(effect.path);
        this.told(effect, performed, this.ops.tell);
    }

    private told(effect: Effect, performed: Performed, tell: (news: News) => void): void {
        const { path } = effect;
        if ("lost" in performed) {
            tell({ kind: "lost", path, repeatable: performed.repeatable });
            return;
        }
        if ("later" in performed) {
            this.works.set(path, { effect, scope: new CancellationScope(), counts: true, asked: true });
            this.ops.asked(effect, performed.later);
            return;
        }
        for (const note of performed.notes ?? []) tell({ kind: "up", path, up: { n: 0, note } });
        if (performed.recorded) this.ops.unsent.isRecorded(path);
        if (performed.queue !== undefined) this.queues.set(sessionOf(effect) as string, performed.queue);
        tell({ kind: "outcome", path, outcome: performed.outcome });
    }

    private scheduled(effect: Effect, wanted: PerformInput): Promise<Performed> {
        if (effect.kind === "run") return this.parts.perform(effect, wanted);
        const { settings } = this.ops;
        const session = sessionOf(effect);
        const held = session === null ? undefined : this.queues.get(session);
        const patience = effect.deadline ?? (effect.kind === "agent" ? settings.agents : settings.patience);
        const options = {
            // The conductor ends it at its deadline; this ends what does not hear of that.
            startToCloseTimeout: patience + settings.heartbeat,
            retry: { maximumAttempts: 1 },
            // Its answer may still count.
            cancellationType: "WAIT_CANCELLATION_COMPLETED" as const,
            summary: summaryOf(effect),
        };
        const { queue, priority } = effect;
        if (queue === undefined && settings.local.includes(effect.kind))
            return scheduleLocalActivity<Performed>(named("perform"), [wanted], options);
        const remote = {
            ...options,
            heartbeatTimeout: settings.heartbeat,
            ...(queue === undefined ? {} : { taskQueue: queue }),
            ...(priority === undefined ? {} : { priority: { priorityKey: Math.min(priority, LEVELS) } }),
        };
        const schedule = (more: ActivityOptions): Promise<Performed> => scheduleActivity<Performed>(named("perform"), [wanted], more);
        if (held === undefined) return schedule(remote);
        return schedule({ ...remote, taskQueue: held, scheduleToStartTimeout: SESSION_MS }).catch((error: unknown) => {
            if (!isUnstarted(error)) throw error;
            // WP2: its worker is gone, and the process with it; another one opens the session again, or says that it cannot.
            this.queues.delete(session as string);
            return schedule(remote);
        });
    }

    /** WP1. */
    private async look(effect: Effect, carried: Carried): Promise<Performed> {
        const options = { startToCloseTimeout: 60_000, summary: `what became of ${effect.path}` };
        return CancellationScope.nonCancellable(() => scheduleActivity<Performed>(named("look"), [{ ...carried, effect }], options));
    }
}

/** Session of an effect of an agent. */
function sessionOf({ kind, request }: Effect): string | null {
    return kind === "agent" ? (request as { readonly session: string }).session : null;
}

/** Nothing that is tried again can change it. */
function isFinal(error: unknown): boolean {
    return error instanceof ActivityFailure && error.cause instanceof ApplicationFailure && error.cause.type === FAILURES.fenced;
}

function isUnstarted(error: unknown): boolean {
    return error instanceof ActivityFailure && error.cause instanceof TimeoutFailure && error.cause.timeoutType === "SCHEDULE_TO_START";
}

function unheard(n: number): Down {
    const outcome: Outcome = { ok: false, failure: { kind: "cancelled", message: "its effect is over", site: null } };
    return { n, outcome };
}
