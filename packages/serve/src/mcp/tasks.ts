/**
 * Tasks: calls that their client asks about in place of waiting for them.
 *
 * Boundary: what a task is and how it changes; the wire shapes of both eras are `task-methods.ts`'s.
 *
 * MCT1: a task is known from the moment that its run is in the ledger until `TTL_MS` after; not earlier forgotten, not longer kept. One that still runs
 *     then is stopped where it stands.
 * MCT2: the id of a task is the right to it: 122 random bits, which no other client learns and no ledger holds.
 * MCT3: a cancelled task stays cancelled, whatever its run still comes to.
 */
import { randomUUID } from "node:crypto";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { RemitError } from "@remit/host";
import type { LedgerEvent } from "@remit/machine";
import type { Call, Calls, Detached, Question } from "./calls.ts";
import { failed, failedBy, resultOf } from "./told.ts";

/** How long a client may ask about a task, from its beginning, milliseconds. */
export const TTL_MS = 24 * 60 * 60_000;
/** Tasks at once, those that have ended among them. */
const MAX_TASKS = 1000;

export type Ended = { readonly status: "completed"; readonly result: CallToolResult } | { readonly status: "failed" | "cancelled" };

export interface Task {
    readonly id: string;
    /** ISO 8601, as `changed`. */
    readonly created: string;
    readonly changed: string;
    /** What its run does now. */
    readonly doing?: string;
    readonly questions: readonly Question[];
    readonly ended?: Ended;
}

interface Held {
    readonly id: string;
    readonly created: string;
    changed: string;
    doing?: string;
    ended?: Ended;
    detached: Detached | null;
    readonly forget: NodeJS.Timeout;
    readonly waiting: Set<() => void>;
}

export class Tasks {
    readonly #calls: Calls;
    readonly #held = new Map<string, Held>();
    readonly #said: (event: LedgerEvent) => string | undefined;

    /** `said`: what an event says that the run does. */
    constructor(calls: Calls, said: (event: LedgerEvent) => string | undefined) {
        this.#calls = calls;
        this.#said = said;
    }

    get isFull(): boolean {
        return this.#held.size >= MAX_TASKS;
    }

    /** Rejects with `RemitError` where the arguments do not fit: then there is no task. */
    async begin(call: Call): Promise<Task> {
        const id = randomUUID();
        const created = new Date().toISOString();
        const held: Held = {
            ...{ id, created, changed: created, detached: null, waiting: new Set() },
            forget: setTimeout(() => this.#forget(id), TTL_MS).unref(),
        };
        this.#held.set(id, held);
        try {
            held.detached = await this.#calls.detach(call, (event) => {
                const doing = event === null ? undefined : this.#said(event);
                if (doing !== undefined) held.doing = doing;
                if (event === null || doing !== undefined) touched(held);
            });
        } catch (error) {
            this.#forget(id);
            throw error;
        }
        void this.#settle(held, held.detached, call);
        return shown(held);
    }

    get(id: string): Task | undefined {
        const held = this.#held.get(id);
        return held === undefined ? undefined : shown(held);
    }

    /** Nothing where no such question is open: it was answered before, or withdrawn. */
    answer(id: string, question: string, said: unknown): void {
        const held = this.#held.get(id);
        if (held?.detached?.answer(question, said) === true) touched(held);
    }

    /** MCT3. Nothing where it has ended. */
    cancel(id: string): void {
        const held = this.#held.get(id);
        if (held === undefined || held.ended !== undefined) return;
        held.ended = { status: "cancelled" };
        held.detached?.cancel();
        touched(held);
    }

    /** Resolves when something of it has changed, or the signal fires. */
    changed(id: string, signal: AbortSignal): Promise<void> {
        return new Promise((resolve) => {
            const held = this.#held.get(id);
            if (held === undefined || signal.aborted) return resolve();
            const done = (): void => {
                held.waiting.delete(done);
                signal.removeEventListener("abort", done);
                resolve();
            };
            held.waiting.add(done);
            signal.addEventListener("abort", done, { once: true });
        });
    }

    close(): void {
        for (const id of [...this.#held.keys()]) this.#forget(id);
    }

    async #settle(held: Held, { run, result, origins }: Detached, call: Call): Promise<void> {
        const ended = await result.then(
            (one): Ended => ({ status: "completed", result: resultOf(run, { result: one, origins: origins() }, call) }),
            (error: unknown): Ended =>
                error instanceof RemitError ? { status: "completed", result: failedBy(error) } : { status: "failed" },
        );
        held.ended ??= ended;
        touched(held);
    }

    #forget(id: string): void {
        const held = this.#held.get(id);
        if (held === undefined) return;
        clearTimeout(held.forget);
        this.cancel(id);
        this.#held.delete(id);
    }
}

/** What stands for the result of a task that has none. */
export function withoutResult(ended: Ended): CallToolResult {
    if (ended.status === "completed") return ended.result;
    return failed(ended.status === "cancelled" ? "the task was cancelled" : "the call failed in the server");
}

function touched(held: Held): void {
    held.changed = new Date().toISOString();
    for (const wake of [...held.waiting]) wake();
}

function shown({ id, created, changed, doing, ended, detached }: Held): Task {
    return {
        ...{ id, created, changed },
        ...(doing === undefined ? {} : { doing }),
        questions: ended === undefined ? [...(detached?.questions() ?? [])] : [],
        ...(ended === undefined ? {} : { ended }),
    };
}
