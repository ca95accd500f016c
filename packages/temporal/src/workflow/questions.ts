/**
 * Questions of a run that wait for a person: no worker is held while they wait.
 *
 * Boundary: from an answer to what it means for the effect; that an answer counts only through its record is the ledger's.
 *
 * TQ1: an answer is taken only for a question that is open, from its owner, and of the kind that the question wants. A refused one changes nothing.
 * TQ3: the answer to a credential that is missing is a word: the effect is performed again, on a worker, which looks for the credential.
 * TQ2: a question whose time is up, by the workflow's clock, is a no.
 */
import type { Json } from "@remit/language";
import type { Effect, Outcome, UnknownAnswer } from "@remit/machine";
import { mayAnswer, shownApprovers } from "@remit/machine";
import { ApplicationFailure, CancellationScope, sleep } from "@temporalio/workflow";
import { type Answer, FAILURES, type Question } from "../wire/messages.ts";

export interface QuestionOps {
    /** What a question came to. */
    outcome(effect: Effect, outcome: Outcome): void;
    /** The record of a question was answered. */
    decided(effect: Effect): void;
    known(effect: Effect, said: UnknownAnswer): void;
    /** Keeps an answer in its record. Rejects where that does not take it. */
    decide(ask: string, decision: string, by: string): Promise<unknown>;
    /** Questions were opened or closed. */
    changed(): void;
}

interface Open {
    readonly effect: Effect;
    readonly question: Question;
    readonly timer: CancellationScope | null;
    /** An answer is being kept. */
    busy: boolean;
}

export class Questions {
    private readonly ops: QuestionOps;
    private readonly open = new Map<string, Open>();

    constructor(ops: QuestionOps) {
        this.ops = ops;
    }

    get list(): Question[] {
        return [...this.open.values()].map(({ question }) => question);
    }

    ask(effect: Effect, question: Question): void {
        const timer = question.expires === undefined ? null : new CancellationScope();
        this.open.set(effect.path, { effect, question, timer, busy: false });
        if (timer !== null) void this.expire(effect, question.expires as number, timer);
        this.ops.changed();
    }

    /** What became of it is asked for by the name of its path. */
    unknown(effect: Effect, owner: string): void {
        const { path, kind, request } = effect;
        const about: Json = { question: "This had begun when its performer was lost. What became of it?", effect: kind, request };
        this.ask(effect, { id: path, path, kind: "unknown", owner, request: about, options: ["done", "again", "give up"] });
    }

    drop(path: string): void {
        const open = this.open.get(path);
        if (open === undefined) return;
        this.open.delete(path);
        open.timer?.cancel();
        this.ops.changed();
    }

    /** Null: it can be taken now; else why not. */
    refusal({ question, by, decision, value, said }: Answer): string | null {
        const open = this.find(question);
        if (open === undefined) return `no question ${question} is open`;
        const { kind, owner, options = [] } = open.question;
        if (!mayAnswer(owner, by)) return `the question ${question} is for ${shownApprovers(owner)}, not for ${by}`;
        if (open.busy) return `the question ${question} is being answered`;
        const [given, wanted] = {
            ask: [decision, "decision"],
            input: [value, "value"],
            unknown: [said?.answer, "said"],
            credential: [decision, "decision"],
        }[kind] as [unknown, string];
        if (given === undefined) return `the question ${question} wants a ${wanted}`;
        if (kind !== "input" && !options.includes(String(given)))
            return `the question ${question} can be answered by ${options.join(", ")}`;
        return null;
    }

    /** TQ1. */
    async answer(answer: Answer): Promise<null> {
        const refused = this.refusal(answer);
        if (refused !== null) throw ApplicationFailure.nonRetryable(refused, FAILURES.refused);
        const open = this.find(answer.question) as Open;
        const { effect, question } = open;
        if (question.kind === "ask") {
            open.busy = true;
            try {
                await this.ops.decide(question.id, answer.decision as string, answer.by);
            } finally {
                open.busy = false;
            }
            // Its time may have been up meanwhile.
            if (this.open.get(effect.path) !== open)
                throw ApplicationFailure.nonRetryable(`the question ${question.id} is over`, FAILURES.refused);
            this.drop(effect.path);
            this.ops.decided(effect);
        } else {
            this.drop(effect.path);
            // TQ3.
            if (question.kind === "credential") this.ops.decided(effect);
            else if (question.kind === "input") this.ops.outcome(effect, { ok: true, value: answer.value as Json, origins: ["user"] });
            else this.ops.known(effect, answer.said as UnknownAnswer);
        }
        return null;
    }

    /** TQ2. */
    private async expire(effect: Effect, at: number, timer: CancellationScope): Promise<void> {
        const ended = await timer
            .run(() => sleep(Math.max(1, at - Date.now())))
            .then(
                () => true,
                () => false,
            );
        if (!ended) return;
        this.drop(effect.path);
        const hint = "ask again with remit submit; a question is answered with remit approve";
        this.ops.outcome(effect, { ok: false, failure: { kind: "denied", message: "no answer came in time", site: effect.site, hint } });
    }

    /** By the id of its record, the beginning of one, or the path. */
    private find(id: string): Open | undefined {
        const all = [...this.open.values()];
        const exact = this.open.get(id) ?? all.find(({ question }) => question.id === id);
        const begins = id === "" ? [] : all.filter(({ question }) => question.kind === "ask" && question.id.startsWith(id));
        return exact ?? (begins.length === 1 ? begins[0] : undefined);
    }
}
