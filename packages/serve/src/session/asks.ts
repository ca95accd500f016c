/**
 * What a session waits for from a person: approvals, answers to questions, word of what became of a call.
 *
 * Boundary: what is open, who may settle it, and that this happens once. The record that an approval is bound to is the ledger's (AK1).
 *
 * SAK1: it is open before any client hears of it, so that no answer comes too early.
 * SAK2: only a client that the session names settles it; a mismatch changes nothing.
 * SAK3: no answer in time is a no.
 * SAK4: an answer is acknowledged when the session's log has it, a decision about a call when the run's record has it too: it is not asked for again.
 */
import type { Json } from "@remit/language";
import { ACCEPTED, type Ack, type AskInfo, rejected } from "../wire/messages.ts";

export interface Settled {
    readonly answer: Json;
    /** The client, or `expiry`. */
    readonly by: string;
}

/** What `People` takes, who says whether it is kept (SAK4). */
export interface Taken extends Settled {
    readonly kept: () => void;
    readonly lost: (error: unknown) => void;
}

interface Open {
    readonly info: AskInfo;
    /** What counts where its time is up. */
    readonly late: Json;
    /** Resolves when it is kept. */
    readonly settle: (settled: Settled) => Promise<void>;
}

export class OpenAsks {
    readonly #open = new Map<string, Open>();
    /** The time that `expires` is of, milliseconds since 1970: of all processes that a session may move to. */
    readonly now: () => number;
    /** Why questions ended that a server before this one had put. */
    readonly #before = new Map<string, string>();

    constructor(now: () => number) {
        this.now = now;
    }

    list(): AskInfo[] {
        return [...this.#open.values()].map(({ info }) => info);
    }

    /** Resolves with null where the signal ended it. `late`: what counts where its time is up. */
    wait(info: AskInfo, late: Json, signal: AbortSignal): Promise<Taken | null> {
        return new Promise((resolve) => {
            const left = Date.parse(info.expires) - this.now();
            // Node's timers hold 31 bits of milliseconds; what waits longer is asked about again after a restart.
            const timer = setTimeout(() => void settle({ answer: late, by: "expiry" }), Math.min(Math.max(left, 0), 2 ** 31 - 1));
            const stop = (): void => end(null);
            const end = (taken: Taken | null): void => {
                clearTimeout(timer);
                signal.removeEventListener("abort", stop);
                this.#open.delete(info.id);
                resolve(taken);
            };
            const settle = (settled: Settled): Promise<void> => {
                const { promise, resolve: kept, reject: lost } = Promise.withResolvers<void>();
                // The client that answered hears of it; where its time was up there is none.
                promise.catch(() => undefined);
                end({ ...settled, kept, lost });
                return promise;
            };
            this.#open.set(info.id, { info, late, settle });
            if (signal.aborted) stop();
            else signal.addEventListener("abort", stop, { once: true });
        });
    }

    endedBefore(id: string, why: string): void {
        this.#before.set(id, why);
    }

    decide(id: string, decision: string, by: string): Promise<Ack> {
        return this.#settle(id, by, decision, ({ options }) =>
            options.includes(decision) ? null : `'${decision}' is no answer here: ${options.join(", ") || "it takes a text"}`,
        );
    }

    answer(id: string, answer: Json, by: string): Promise<Ack> {
        return this.#settle(id, by, answer, ({ options }) => (options.length === 0 ? null : `choose one of: ${options.join(", ")}`));
    }

    /** Its time is up now: its client says that the person gives no answer. */
    async lapse(id: string, by: string): Promise<Ack> {
        const open = this.#open.get(id);
        if (open === undefined || !open.info.approvers.includes(by)) return rejected("this client has no open question of this id");
        await open.settle({ answer: open.late, by: "expiry" });
        return ACCEPTED;
    }

    /** SAK4. Rejects where it could not be kept. */
    async #settle(id: string, by: string, answer: Json, wrong: (info: AskInfo) => string | null): Promise<Ack> {
        const open = this.#open.get(id);
        if (open === undefined)
            return rejected(this.#before.get(id) ?? "there is no open question of this id: it was answered, withdrawn, or its time is up");
        if (!open.info.approvers.includes(by)) return rejected("the session does not let this client decide it");
        const why = wrong(open.info);
        if (why !== null) return rejected(why);
        await open.settle({ answer, by });
        return ACCEPTED;
    }
}
