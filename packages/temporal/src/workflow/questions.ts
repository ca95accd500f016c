/**
 * Questions of a run that wait for a person: no worker is held while they wait.
 *
 * Boundary: from an answer to what it means for the effect; that an answer counts only through its record is the ledger's.
 *
 * TQ1: an answer is taken only for a question that is open, from its owner, and of the kind that the question wants. A refused one changes nothing.
 * TQ3: the answer to a credential that is missing is a word: the effect is performed again, on a worker, which looks for the credential.
 * TQ4: where answers have to be signed, one that is not is refused before anything waits for it, and none stands in the way of another while its
 *     signature is looked at.
 * TQ2: a question whose time is up, by the workflow's clock, is a no.
 */
import type { Json } from "@remit/language";
import type { Effect, Outcome, UnknownAnswer } from "@remit/machine";
import { mayAnswer, shownApprovers } from "@remit/machine";
import { ApplicationFailure, CancellationScope, sleep, uuid4 } from "@temporalio/workflow";
import { type Answer, type Carried, type DecideInput, FAILURES, type Question } from "../wire/messages.ts";

export interface QuestionOps {
    /** What a question came to. */
    outcome(effect: Effect, outcome: Outcome): void;
    /** The record of a question was answered. `why`: of a no, what is told of it. */
    decided(effect: Effect, why?: string): void;
    known(effect: Effect, said: UnknownAnswer): void;
    /** Looks at the signature of an answer, and keeps that of an approval in its record. Rejects where it is not taken. */
    decide(answer: Omit<DecideInput, keyof Carried>): Promise<unknown>;
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
    /** Answers have to be signed. */
    private readonly signed: boolean;
    private readonly open = new Map<string, Open>();

    constructor(ops: QuestionOps, signed: boolean) {
        this.ops = ops;
        this.signed = signed;
    }

    get list(): Question[] {
        return [...this.open.values()].map(({ question }) => question);
    }

    ask(effect: Effect, asked: Question): void {
        const question = this.signed ? { ...asked, nonce: uuid4() } : asked;
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
    refusal({ question, by, decision, value, said, signature, why }: Answer): string | null {
        const open = this.find(question);
        if (open === undefined) return `no question ${question} is open`;
        const { kind, owner, options = [] } = open.question;
        if (!mayAnswer(owner, by)) return `the question ${question} is for ${shownApprovers(owner)}, not for ${by}`;
        // TQ4.
        if (this.signed && signature === undefined)
            return `the answer to ${question} is not signed: its worker takes what one of its keys signed`;
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
        if (why !== undefined && typeof why !== "string") return `why the question ${question} is answered so has to be a text`;
        return null;
    }

    /** TQ1. */
    async answer(answer: Answer): Promise<null> {
        const refused = this.refusal(answer);
        if (refused !== null) throw ApplicationFailure.nonRetryable(refused, FAILURES.refused);
        const open = this.find(answer.question) as Open;
        const { effect, question } = open;
        const isApproval = question.kind === "ask";
        if (isApproval || this.signed) {
            open.busy = !this.signed;
            try {
                const { by, decision } = answer;
                const { id, nonce, kind, request, options } = question;
                const asking = {
                    id,
                    kind,
                    request,
                    ...(nonce === undefined ? {} : { nonce }),
                    ...(options === undefined ? {} : { options }),
                };
                await this.ops.decide({
                    by,
                    ...(isApproval ? { ask: id } : {}),
                    ...(decision === undefined ? {} : { decision }),
                    ...(this.signed ? { signed: { question: asking, answer } } : {}),
                });
            } finally {
                open.busy = false;
            }
            // Its time may have been up meanwhile.
            if (this.open.get(effect.path) !== open)
                throw ApplicationFailure.nonRetryable(`the question ${question.id} is over`, FAILURES.refused);
        }
        this.drop(effect.path);
        // TQ3.
        if (isApproval || question.kind === "credential") this.ops.decided(effect, answer.why);
        else if (question.kind === "input") this.ops.outcome(effect, { ok: true, value: answer.value as Json, origins: ["user"] });
        else this.ops.known(effect, answer.said as UnknownAnswer);
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
