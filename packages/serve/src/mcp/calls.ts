/**
 * Calls of a program's entries by a client of the Model Context Protocol: each is a run, which may put questions on its way.
 *
 * Boundary: runs and their questions. What is said over the wire is `server.ts`'s; what a question looks like there, `forms.ts`'s.
 *
 * MCC1: a call of several rounds is one run: a round that brings an answer goes on with the run that asked, and begins nothing anew.
 * MCC2: a round counts only for the call that it began as: the same entry, the same arguments, the question that is open.
 * MCC5: a question that ended without an answer, because the run went on without it, is no call that is lost: the round that comes with an answer to it
 *     answers nothing, and is told where the call stands. No id of a question is used twice, so that an answer counts for what was asked.
 * MCC3: a client that cannot ask is asked nothing: a decision is no, and there is no answer to a question. One that does not come back with a
 *     decision in time leaves a run that waits for it in the ledger; where an answer is missing, the run is stopped there.
 * MCC6: a client's word that a person allowed a use counts only where an option says so (`approves`); else it is asked for none, as
 *     a client that cannot ask (MCC3).
 * MCC7: a decision that a client tells is kept as its word for a person's: the record of the question names the client.
 * MCC4: a detached call goes on without its client. It is there from the moment that its run is in the ledger; a question of it that has no answer in
 *     time ends it as MCC3 says.
 */
import { createHash, randomUUID } from "node:crypto";
import { canonicalJson, isObject, type Json, plainLine } from "@remit/language";
import type { AskRequest, LedgerEvent, Limits } from "@remit/machine";
import { newRunId, type RemitProgram, type RunHandle, type RunResult } from "@remit/host";
import type { ProgramEntry } from "../faces/entries.ts";
import { answerOf, fieldOf, type Wanted } from "./forms.ts";

export interface Question {
    readonly id: string;
    readonly wanted: Wanted;
}

/** Where a call stands at the end of a round. */
export type Step = { readonly run: string } & (
    | { readonly question: Question }
    | { readonly result: RunResult; readonly origins: readonly string[] | undefined }
);

/** What a client keeps between two rounds; it comes back sealed. */
export interface Round {
    readonly run: string;
    readonly ask: string;
    readonly call: string;
}

/** What a client answers in a round, by the names of the forms' fields. */
export type Answers = { readonly [field: string]: unknown };

export interface Call {
    readonly entry: ProgramEntry;
    readonly args: { readonly [name: string]: Json };
    readonly origins: readonly string[];
    /** The client can put questions to a person. */
    readonly canAsk: boolean;
    /** What the client calls itself. */
    readonly client: string;
}

/** A call that no request waits for (MCC4). */
export interface Detached {
    readonly run: string;
    /** Rejects with `RemitError`. */
    readonly result: Promise<RunResult>;
    /** Of what the run gave, or of what its failure tells; undefined as long as it goes on. */
    origins(): readonly string[] | undefined;
    /** Those that wait for an answer, in the order in which they were asked. */
    questions(): readonly Question[];
    /** False where no such question is open. */
    answer(id: string, said: unknown): boolean;
    /** Stops the run where it stands. */
    cancel(): void;
}

/** Of one round. */
export interface Listening {
    readonly signal: AbortSignal;
    event(event: LedgerEvent): void;
}

interface Live {
    readonly call: string;
    /** Of its end. */
    origins?: readonly string[];
    readonly handle: RunHandle;
    readonly cancel: AbortController;
    readonly open: (Question & { readonly answer: (value: Json) => void })[];
    /** Ids of questions that ended without an answer (MCC5). */
    readonly ended: Set<string>;
    readonly canAsk: boolean;
    /** Of the round that waits. */
    listening: Listening | null;
    wake: () => void;
    /** A question ended without an answer. */
    withdrawn: () => void;
    late: NodeJS.Timeout | undefined;
}

type Asking = Pick<Live, "open" | "ended" | "wake" | "withdrawn">;

export interface CallsOptions {
    readonly limits: Limits;
    /** How long a question waits for its client, milliseconds. */
    readonly ask: number;
    /** Runs at once. */
    readonly most: number;
    /** MCC6. */
    readonly approves: boolean;
}

export class Calls {
    readonly #program: RemitProgram;
    readonly #options: CallsOptions;
    readonly #live = new Map<string, Live>();

    constructor(program: RemitProgram, options: CallsOptions) {
        this.#program = program;
        this.#options = options;
    }

    get isFull(): boolean {
        return this.#live.size >= this.#options.most;
    }

    /** Throws `RemitError` where the arguments do not fit: then no run is begun. */
    begin(call: Call, listening: Listening): Promise<Step> {
        const [id, live] = this.#start(call, listening);
        return this.#round(id, live, listening);
    }

    /** MCC4. `heard`: events of the run, and `null` when its questions changed. Rejects with `RemitError` where the arguments do not fit. */
    async detach(call: Call, heard: (event: LedgerEvent | null) => void): Promise<Detached> {
        const begun = Promise.withResolvers<void>();
        const signal = new AbortController().signal;
        const [run, live] = this.#start(call, {
            signal,
            event: (event) => {
                begun.resolve();
                heard(event);
            },
        });
        live.wake = () => {
            live.late ??= setTimeout(() => this.#abandon(run, live), this.#options.ask);
            heard(null);
        };
        live.withdrawn = () => {
            if (live.open.length === 0) {
                clearTimeout(live.late);
                live.late = undefined;
            }
            heard(null);
        };
        const result = live.handle.result.finally(() => {
            clearTimeout(live.late);
            this.#live.delete(run);
        });
        await Promise.race([begun.promise, result]);
        return {
            run,
            result,
            origins: () => live.origins,
            questions: () => live.open,
            answer: (id, said) => {
                const at = live.open.findIndex((one) => one.id === id);
                const [question] = at < 0 ? [] : live.open.splice(at, 1);
                if (question === undefined) return false;
                clearTimeout(live.late);
                live.late = undefined;
                if (live.open.length > 0) live.wake();
                question.answer(answerOf(question.wanted, said));
                return true;
            },
            cancel: () => live.cancel.abort(),
        };
    }

    #start(call: Call, listening: Listening): [id: string, live: Live] {
        const { entry, args, origins, canAsk, client } = call;
        const cancel = new AbortController();
        const id = newRunId();
        const { limits, ask, approves } = this.#options;
        const live: Asking & Pick<Live, "canAsk" | "listening" | "origins"> = {
            ...{ open: [], ended: new Set(), canAsk, listening },
            wake: () => undefined,
            withdrawn: () => undefined,
        };
        const handle = this.#program.run(entry.inputOf(args), {
            ...{ id, limits, signal: cancel.signal, inputOrigins: origins },
            ...(entry.entry === undefined ? {} : { entry: entry.entry }),
            // the round's own end comes first (MCC3)
            asks: { expires: ask + 60_000 },
            on: {
                event: (event) => {
                    if (event.kind === "run.ended" && event.run === id) live.origins = event.labels;
                    live.listening?.event(event);
                },
                // MCC3.
                ...(canAsk
                    ? {
                          told: `the client ${plainLine(client)}`,
                          takes: (request) => approves || isForm(request),
                          // A decision is always a text.
                          ask: (request, { ask: { id: key }, signal }) =>
                              asked(live, { id: key, wanted: { kind: "decision", request } }, signal) as Promise<string | null>,
                          input: (request, { signal }) => asked(live, { id: randomUUID(), wanted: { kind: "value", request } }, signal),
                      }
                    : {}),
            },
        });
        const made: Live = Object.assign(live, { call: sealOf(call), handle, cancel, late: undefined });
        this.#live.set(id, made);
        return [id, made];
    }

    /** A question of the program to the person, by `host:person` in that run or a part of it. Null: there is no answer. */
    question(run: string, question: string, signal: AbortSignal): Promise<Json> {
        // The id of a part of a run begins with the id of the whole.
        const live = this.#live.get(run.split(".", 1)[0] as string);
        if (live?.canAsk !== true) return Promise.resolve(null);
        return asked(live, { id: randomUUID(), wanted: { kind: "words", question } }, signal);
    }

    /** MCC1. Null where there is no such run with this question open (MCC2). */
    answer(round: Round, call: Call, said: Answers | undefined, listening: Listening): Promise<Step> | null {
        const live = this.#live.get(round.run);
        if (live === undefined || live.listening !== null || live.call !== round.call || sealOf(call) !== round.call) return null;
        const [question] = live.open;
        const isOpen = question?.id === round.ask;
        // MCC5: `ended` holds it once.
        if (!isOpen && !live.ended.delete(round.ask)) return null;
        clearTimeout(live.late);
        live.listening = listening;
        if (isOpen) {
            live.open.shift();
            question.answer(answerOf(question.wanted, said?.[fieldOf(question.wanted)]));
        }
        return this.#round(round.run, live, listening);
    }

    /** Stops what runs, where it stands. */
    async close(): Promise<void> {
        const all = [...this.#live.values()];
        for (const { cancel, late } of all) {
            clearTimeout(late);
            cancel.abort();
        }
        await Promise.all(all.map(({ handle }) => handle.result.catch(() => undefined)));
    }

    async #round(run: string, live: Live, { signal }: Listening): Promise<Step> {
        const stop = (): void => live.cancel.abort();
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
        try {
            for (;;) {
                const asks = new Promise<null>((resolve) => {
                    live.wake = () => resolve(null);
                    if (live.open.length > 0) live.wake();
                });
                const result = await Promise.race([live.handle.result, asks]);
                if (result !== null) {
                    this.#live.delete(run);
                    return { run, result, origins: live.origins };
                }
                // It may have ended meanwhile (MCC5).
                const [question] = live.open;
                if (question === undefined) continue;
                live.late = setTimeout(() => this.#abandon(run, live), this.#options.ask);
                return { run, question };
            }
        } catch (error) {
            this.#live.delete(run);
            throw error;
        } finally {
            signal.removeEventListener("abort", stop);
            live.listening = null;
        }
    }

    /** MCC3. */
    #abandon(run: string, live: Live): void {
        this.#live.delete(run);
        live.cancel.abort();
    }
}

/** Of one call: what a later round has to be equal to. */
export function sealOf({ entry, args }: Pick<Call, "entry" | "args">): string {
    return createHash("sha256")
        .update(canonicalJson([entry.name, { ...args }]))
        .digest("base64url");
}

/** What a server or an agent asks in a form: no use is allowed by it. */
function isForm({ detail }: AskRequest): boolean {
    return (
        isObject(detail) && typeof detail["server"] === "string" && Array.isArray(detail["fields"]) && detail["capability"] === undefined
    );
}

function asked(live: Asking, question: Question, signal: AbortSignal): Promise<Json> {
    return new Promise((resolve) => {
        if (signal.aborted) return resolve(null);
        const entry = { ...question, answer: resolve };
        signal.addEventListener(
            "abort",
            () => {
                const at = live.open.indexOf(entry);
                if (at < 0) return;
                live.open.splice(at, 1);
                live.ended.add(question.id);
                live.withdrawn();
                resolve(null);
            },
            { once: true },
        );
        live.open.push(entry);
        live.wake();
    });
}
