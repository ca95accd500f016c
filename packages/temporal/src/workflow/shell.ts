/**
 * The shell of a workflow: runs the conductor, whose decisions it carries out.
 *
 * Boundary: activities, timers, updates and queries around the conductor. It decides nothing about the run; how long an execution may be is its own.
 *
 * TW1: a commit is acknowledged at once: the batch is carried by the activity of what begins with it, and performed after it is kept (WL2). What begins
 *     nothing is flushed where the run waits for time or for a person, and at the end.
 * TW2: an execution that has grown long drains, keeps the run's state in the ledger and goes on in a new one.
 * TW3: a stretch of computing ends at the latest after a slice, so that neither the server nor the sandbox takes it for stuck.
 */
import { type ConductEnd, type Conducted, Conductor, type Decision, type Effect, type News, type Outcome } from "@remit/machine";
import {
    ActivityFailure,
    ApplicationFailure,
    CancellationScope,
    proxyActivities,
    proxyLocalActivities,
    uuid4,
    workflowInfo,
} from "@temporalio/workflow";
import {
    type Carried,
    type DecideInput,
    FAILURES,
    LOCAL,
    type NamedActivities,
    type Opened,
    type Question,
    type RunInput,
    type Sent,
    type Status,
} from "../wire/messages.ts";
import { Alarm } from "./alarm.ts";
import { Unsent } from "./ledger.ts";
import { Works } from "./performing.ts";
import { type QuestionOps, Questions } from "./questions.ts";

/** How long answers are waited for after a cancel, milliseconds: an activity hears of it with its next sign of life. */
const GRACE_MS = 5_000;

const local = proxyLocalActivities<NamedActivities>(LOCAL);
const remote = proxyActivities<NamedActivities>({ startToCloseTimeout: 60_000 });

/** How an execution ends. `on`: the run goes on in a new one. */
export type ShellEnd = Exclude<ConductEnd, { readonly status: "drained" | "broken" }> | { readonly status: "on" | "drained" };

export class Shell {
    readonly questions: Questions;
    readonly works: Works;
    readonly unsent: Unsent;
    private readonly conductor: Conductor;
    private readonly machine: Conducted;
    private readonly opened: Opened;
    private readonly input: RunInput;
    private readonly alarm = new Alarm(() => this.tell({ kind: "time" }));
    private news: News[] = [];
    private wake: () => void = () => undefined;
    private error: { readonly error: unknown } | null = null;
    private end: ConductEnd | null = null;
    private now = 0;
    /** Steps at the last turn of the server. */
    private turned = 0;
    private flushing: Promise<unknown> | null = null;
    /** It drains to go on in a new execution, or to be let go. */
    private drains: "on" | "drained" | null = null;
    private readonly changed: () => void;
    /** Runs of parts that this execution began, and those that it goes on for. */
    readonly begun: Set<string>;

    constructor(machine: Conducted, opened: Opened, input: RunInput, changed: () => void) {
        const { run, settings, parts = [] } = input;
        this.begun = new Set(parts);
        const { epoch, batches, recovered, spent, timeout, state } = opened;
        this.machine = machine;
        this.opened = opened;
        this.input = input;
        this.changed = changed;
        this.unsent = new Unsent(batches);
        const tell = (news: News): void => this.tell(news);
        const asked: QuestionOps = {
            outcome: (effect, outcome) => this.answered(effect, outcome),
            decided: (effect, why) => this.works.again(effect, why),
            known: (effect, said) => this.tell({ kind: "known", path: effect.path, said }),
            decide: (answer) => this.decides(answer),
            changed,
        };
        this.questions = new Questions(asked, opened.signed === true);
        this.works = new Works({
            ...{ run, epoch, settings, unsent: this.unsent, begun: this.begun, tell },
            asked: (effect, question) => this.asks(effect, question),
            fails: (error) => this.fails(error),
        });
        this.conductor = new Conductor(machine, {
            saves: true,
            grace: GRACE_MS,
            spent,
            ...(timeout === undefined ? {} : { timeout }),
            ...(settings.concurrency === undefined ? {} : { concurrency: settings.concurrency }),
            ...(state === null ? {} : { recovered }),
        });
    }

    get status(): Omit<Status, "value"> {
        const questions = this.questions.list;
        const state = this.end === null ? (questions.length > 0 && !this.works.isBusy ? "waiting" : "running") : stateOf(this.end);
        return {
            run: this.input.run,
            state,
            steps: this.machine.usage.steps,
            performing: this.works.paths,
            questions,
            parts: this.works.parts.list,
            events: this.unsent.events.length,
        };
    }

    tell(news: News): void {
        this.news.push(news);
        this.wake();
    }

    cancel(): void {
        this.tell({ kind: "cancel" });
    }

    /** Nothing more begins; what was begun is waited for. */
    drain(how: "on" | "drained"): void {
        if (this.drains !== null) return;
        this.drains = how;
        this.tell({ kind: "drain" });
        this.works.parts.drain(how);
        // A question can be asked again, and nothing of it is lost.
        for (const { path } of this.questions.list) {
            this.questions.drop(path);
            this.tell({ kind: "later", path });
            this.tell({ kind: "known", path, said: null });
        }
    }

    async run(): Promise<ShellEnd> {
        for (;;) {
            this.now = Math.max(this.now, Date.now());
            const told = this.news;
            this.news = [];
            const decisions = this.conductor.next(this.now, told);
            this.carryOut(decisions);
            if (this.error !== null) throw this.error.error;
            if (this.end !== null) return this.ended(this.end);
            if (this.news.length > 0) continue;
            if (decisions.some(({ kind }) => kind === "compute")) {
                await this.computes();
                continue;
            }
            if (this.isLong) this.drain("on");
            else this.flushes();
            // News wakes it in the same turn of the sandbox; a condition of the SDK would take turns of its own, and every promise costs (`bench/`, `temporal`).
            await new Promise<void>((resolve) => {
                this.wake = resolve;
                if (this.news.length > 0 || this.error !== null) resolve();
            });
        }
    }

    private fails(error: unknown): void {
        this.error ??= { error };
        this.wake();
    }

    private carryOut(decisions: readonly Decision[]): void {
        let begins: { readonly effect: Effect; readonly parent?: string }[] = [];
        const begin = (): void => {
            const all = begins;
            begins = [];
            this.works.begin(all);
        };
        for (const decision of decisions) {
            switch (decision.kind) {
                case "commit":
                    begin();
                    this.unsent.commit(decision.batch);
                    this.tell({ kind: "committed", n: decision.n });
                    break;
                case "begin": {
                    const given = givenHere(decision.effect);
                    if (given === null) begins.push(decision);
                    else this.tell({ kind: "outcome", path: decision.effect.path, outcome: given });
                    break;
                }
                case "stop":
                    this.questions.drop(decision.path);
                    this.works.stop(decision.path, decision.waits);
                    break;
                case "down":
                    this.works.down(decision.path, decision.down);
                    break;
                case "close":
                    this.works.close(decision.session);
                    break;
                case "unknown":
                    this.unknown(decision.effect);
                    break;
                case "wake":
                    this.alarm.set(decision.at);
                    break;
                case "ended":
                    this.end = decision.end;
            }
        }
        begin();
    }

    /** Who resumed the run may have said it already. */
    private unknown(effect: Effect): void {
        const { became, owner } = this.opened;
        const said = became?.[effect.path];
        if (said === undefined) this.questions.unknown(effect, owner);
        else this.tell({ kind: "known", path: effect.path, said });
    }

    private asks(effect: Effect, question: Question | null): void {
        if (this.drains !== null || question === null) {
            this.works.stop(effect.path, false);
            this.tell({ kind: "later", path: effect.path });
        } else this.questions.ask(effect, question);
    }

    private answered(effect: Effect, outcome: Outcome): void {
        this.works.stop(effect.path, false);
        this.tell({ kind: "outcome", path: effect.path, outcome });
    }

    /** TW3. */
    private async computes(): Promise<void> {
        const { steps } = this.machine.usage;
        if (steps - this.turned < this.input.settings.slice) return;
        this.turned = steps;
        await local["remit.turn"]();
    }

    /** TW2. */
    private get isLong(): boolean {
        const { historyLength, continueAsNewSuggested } = workflowInfo();
        return this.drains === null && (historyLength >= this.input.settings.events || continueAsNewSuggested);
    }

    /** TW1. */
    private flushes(): void {
        if (this.unsent.isEmpty || this.flushing !== null || (this.works.isBusy && !this.unsent.isFull)) return;
        const carried = this.carried();
        this.flushing = local["remit.flush"](carried)
            .catch((error: unknown) => this.fails(error))
            .then(() => {
                this.flushing = null;
            });
    }

    private async decides(answer: Omit<DecideInput, keyof Carried>): Promise<void> {
        const carried = this.carried();
        try {
            await remote["remit.decide"]({ ...carried, ...answer });
        } catch (error) {
            // One that is refused is refused after the ledger has what it carries.
            if (!isRefused(error)) this.unsent.bring(carried.batches);
            throw error;
        }
    }

    private carried(): Carried {
        const { run } = this.input;
        return { run, epoch: this.opened.epoch, batches: this.unsent.carry() };
    }

    private async ended(end: ConductEnd): Promise<ShellEnd> {
        this.changed();
        this.alarm.end();
        for (const { path } of this.questions.list) this.questions.drop(path);
        if (this.flushing !== null) await this.flushing;
        // Let go: another shell may take the run.
        if (end.status === "drained" && this.drains !== "on") this.unsent.commit({ end: { status: "stopped" } });
        // It may have come to its end while it drained.
        const isLetGo = end.status === "drained" || (end.status === "waiting" && this.drains !== null);
        const goesOn = isLetGo && this.drains === "on";
        const batches: readonly Sent[] = [...this.works.unacknowledged, ...this.carried().batches].map((one) =>
            goesOn ? withoutEnd(one) : one,
        );
        if (batches.length > 0) {
            const { run } = this.input;
            await CancellationScope.nonCancellable(() => local["remit.flush"]({ run, epoch: this.opened.epoch, batches }));
        }
        await this.works.closed();
        if (this.error !== null) throw this.error.error;
        if (isLetGo) return { status: this.drains ?? "drained" };
        return end as ShellEnd;
    }
}

function isRefused(error: unknown): boolean {
    return error instanceof ActivityFailure && error.cause instanceof ApplicationFailure && error.cause.type === FAILURES.refused;
}

/** A run that only goes on in a new execution is not let go. */
function withoutEnd({ n, batch: { end, ...batch } }: Sent): Sent {
    return { n, batch };
}

/** What the workflow itself gives: its clock and its random numbers are the same in every replay. */
function givenHere({ kind }: Effect): Outcome | null {
    if (kind === "clock") return { ok: true, value: new Date().toISOString(), origins: [] };
    if (kind !== "random") return null;
    // 53 bits.
    const hex = uuid4().replaceAll("-", "");
    return {
        ok: true,
        value: (Number.parseInt(hex.slice(0, 8), 16) * 2 ** 21 + (Number.parseInt(hex.slice(16, 24), 16) & 0x1fffff)) / 2 ** 53,
        origins: [],
    };
}

function stateOf(end: ConductEnd): Status["state"] {
    return end.status === "broken" ? "failed" : end.status;
}
