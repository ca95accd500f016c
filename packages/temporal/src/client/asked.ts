/**
 * Questions of a workflow, as the people of the run are asked here: side by side, each until it is answered, here or elsewhere.
 *
 * Boundary: between the questions of the workflow and the caller's handlers. Whether an answer counts is the workflow's to say (TQ1).
 *
 * ASD1: a question is put once; what answers it elsewhere withdraws it here.
 * ASD3: where a question is not put, or its answer not taken, the watcher is told why.
 * ASD2: an answer that a person gave is not lost where the server cannot be reached for a while.
 */
import { setTimeout as after } from "node:timers/promises";
import type { Handlers, LedgerStore } from "@remit/host";
import type { Json } from "@remit/language";
import { type AskRequest, type Effect, type EffectKind, type Failure, type InputRequest, mayAnswer } from "@remit/machine";
import {
    ActivityFailure,
    ApplicationFailure,
    isGrpcServiceError,
    ServiceError,
    WorkflowNotFoundError,
    WorkflowUpdateFailedError,
} from "@temporalio/client";
import { ConnectError } from "../server/connect.ts";
import { type Answer, FAILURES, type Question } from "../wire/messages.ts";
import type { Asked, RemitClient } from "./client.ts";

export interface Asking {
    readonly client: RemitClient;
    readonly store: LedgerStore;
    readonly run: string;
    readonly on: Handlers;
    /** Who answers here; what that person may not answer is not put. */
    readonly by: string;
    /** Ends it, and withdraws what is open. */
    readonly until: AbortSignal;
    /** A credential is missing. True: the worker looks for it again. */
    readonly missing: (question: Question) => boolean;
    /** No person is here whom it could be put to. */
    readonly unput?: (one: Asked) => void;
    /** Resolves when there may be other questions. */
    readonly news: () => Promise<void>;
}

/** Between two tries to bring an answer, milliseconds. */
const AGAIN_MS = 500;

/** Rejects where a handler does. */
export async function asked(asking: Asking): Promise<void> {
    const { until, news } = asking;
    const open = new Map<string, AbortController>();
    const failed = Promise.withResolvers<never>();
    const all: Promise<void>[] = [];
    const put = (one: Asked): void => {
        const key = `${one.run} ${one.question.id}`;
        if (open.has(key)) return;
        const withdrawn = new AbortController();
        open.set(key, withdrawn);
        const over = answered(asking, one, AbortSignal.any([until, withdrawn.signal])).then((isTaken) => {
            // One of the same id that is open after this is another one.
            if (isTaken && open.get(key) === withdrawn) open.delete(key);
        }, failed.reject);
        all.push(over);
    };
    const looks = async (): Promise<void> => {
        while (!until.aborted) {
            const next = news();
            const found = await questionsOf(asking);
            if (until.aborted) break;
            const ids = new Set(found?.map(({ run, question }) => `${run} ${question.id}`));
            for (const [key, withdrawn] of [...open]) {
                if (found === null || ids.has(key)) continue;
                open.delete(key);
                withdrawn.abort();
            }
            for (const one of found ?? []) put(one);
            await next;
        }
        await Promise.all(all);
    };
    await Promise.race([looks(), failed.promise]);
}

/** Null where the workflow cannot be asked now: no worker answers, or it has ended; its result says more. */
async function questionsOf({ client, run, until }: Asking): Promise<readonly Asked[] | null> {
    try {
        return await client.client.withAbortSignal(until, () => client.questions(run));
    } catch (error) {
        if (until.aborted || isAway(error)) return null;
        throw error;
    }
}

/** The server, or what it asked, gives no answer now. */
export function isAway(error: unknown): boolean {
    return (
        error instanceof ConnectError ||
        error instanceof ServiceError ||
        error instanceof WorkflowNotFoundError ||
        isGrpcServiceError(error)
    );
}

/** It may not be given; or the worker could not keep it. */
const NOT_TAKEN: ReadonlySet<unknown> = new Set([FAILURES.refused, FAILURES.failed]);

/** Why the workflow, or its worker, did not take an answer; null: something else went wrong. */
export function refusalOf(error: unknown): string | null {
    if (!(error instanceof WorkflowUpdateFailedError)) return null;
    const cause = error.cause instanceof ActivityFailure ? error.cause.cause : error.cause;
    if (!(cause instanceof ApplicationFailure) || !NOT_TAKEN.has(cause.type)) return null;
    return (cause.details?.[0] as Failure | undefined)?.message ?? cause.message;
}

/** True where the workflow has taken the answer. */
async function answered(asking: Asking, { run, question }: Asked, signal: AbortSignal): Promise<boolean> {
    const { by, client, on } = asking;
    const tell = (text: string): void => on.part?.(question.path, { type: "notice", text });
    if (question.kind !== "credential" && !mayAnswer(question.owner, by)) return false;
    if (question.nonce !== undefined && !client.signs) {
        tell(
            `the question ${question.id} is not asked here: its worker takes signed answers alone; remit approve ${run} ${question.id} ANSWER --decision-key FILE gives one`,
        );
        return false;
    }
    const said = await saidOf(asking, run, question, signal);
    if (signal.aborted) return false;
    if (said === null) {
        if (question.kind !== "credential") asking.unput?.({ run, question });
        return false;
    }
    for (;;) {
        try {
            await client.answer(
                run,
                { question: question.id, by: question.kind === "credential" ? question.owner : by, ...said },
                question,
            );
            return true;
        } catch (error) {
            const refused = refusalOf(error);
            if (refused !== null) tell(`the answer to ${question.id} was not taken: ${refused}`);
            // It was answered elsewhere, or its time is up.
            if (error instanceof WorkflowUpdateFailedError || error instanceof WorkflowNotFoundError) return false;
            if (!isAway(error)) throw error;
            // ASD2.
            await after(AGAIN_MS, undefined, { signal }).catch(() => undefined);
            if (signal.aborted) return false;
        }
    }
}

type Said = Pick<Answer, "decision" | "value" | "said" | "why">;

/** Null: no answer can be had here. */
async function saidOf({ on, store, missing }: Asking, run: string, question: Question, signal: AbortSignal): Promise<Said | null> {
    const { id, kind, request } = question;
    switch (kind) {
        case "ask": {
            if (on.ask === undefined) return null;
            const ask = await store.asks.find(run, id);
            const decision = await on.ask(request as unknown as AskRequest, { effect: effectOf(question, kind, request), ask, signal });
            if (decision === null || typeof decision === "string") return decision === null ? null : { decision };
            return { decision: "deny", why: decision.deny };
        }
        case "input": {
            if (on.input === undefined) return null;
            const value = await on.input(request as unknown as InputRequest, { effect: effectOf(question, kind, request), signal });
            return value === null ? null : { value };
        }
        case "unknown": {
            const { effect, request: about } = request as { readonly effect: EffectKind; readonly request: Json };
            const said = (await on.unknown?.(effectOf(question, effect, about), signal)) ?? null;
            return said === null ? null : { said };
        }
        case "credential":
            return missing(question) ? { decision: "once" } : null;
    }
}

/** As far as the question says what it is about. */
function effectOf({ path, owner }: Question, kind: EffectKind, request: Json): Effect {
    return { path, kind, principal: owner, site: null, request, labels: [] };
}
