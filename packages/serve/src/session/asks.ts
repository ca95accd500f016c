/**
 * What a session waits for from a person: approvals, answers to questions, word of what became of a call.
 *
 * Boundary: what is open, who may settle it, and that this happens once. The record that an approval is bound to is the ledger's (AK1).
 *
 * SAK1: it is open before any client hears of it, so that no answer comes too early.
 * SAK2: only a client that the session names settles it; a mismatch changes nothing.
 * SAK3: no answer in time is a no.
 */
import type { Json } from "@remit/language";
import { ACCEPTED, type Ack, type AskInfo, rejected } from "../wire/messages.ts";

export interface Settled {
    readonly answer: Json;
    /** The client, or `expiry`. */
    readonly by: string;
}

interface Open {
    readonly info: AskInfo;
    readonly settle: (settled: Settled | null) => void;
    readonly lapse: () => void;
}

export class OpenAsks {
    readonly #open = new Map<string, Open>();

    list(): AskInfo[] {
        return [...this.#open.values()].map(({ info }) => info);
    }

    /** Resolves with null where the signal ended it. `late`: what counts where its time is up. */
    wait(info: AskInfo, late: Json, signal: AbortSignal): Promise<Settled | null> {
        return new Promise((resolve) => {
            const left = Date.parse(info.expires) - Date.now();
            // Node's timers hold 31 bits of milliseconds; what waits longer is asked about again after a restart.
            const lapse = (): void => settle({ answer: late, by: "expiry" });
            const timer = setTimeout(lapse, Math.min(Math.max(left, 0), 2 ** 31 - 1));
            const stop = (): void => settle(null);
            const settle = (settled: Settled | null): void => {
                clearTimeout(timer);
                signal.removeEventListener("abort", stop);
                this.#open.delete(info.id);
                resolve(settled);
            };
            this.#open.set(info.id, { info, settle, lapse });
            if (signal.aborted) stop();
            else signal.addEventListener("abort", stop, { once: true });
        });
    }

    decide(id: string, decision: string, by: string): Ack {
        return this.#settle(id, by, decision, ({ options }) =>
            options.includes(decision) ? null : `'${decision}' is no answer here: ${options.join(", ") || "it takes a text"}`,
        );
    }

    answer(id: string, answer: Json, by: string): Ack {
        return this.#settle(id, by, answer, ({ options }) => (options.length === 0 ? null : `choose one of: ${options.join(", ")}`));
    }

    /** Its time is up now: its client says that the person gives no answer. */
    lapse(id: string, by: string): Ack {
        const open = this.#open.get(id);
        if (open === undefined || !open.info.approvers.includes(by)) return rejected("this client has no open question of this id");
        open.lapse();
        return ACCEPTED;
    }

    #settle(id: string, by: string, answer: Json, wrong: (info: AskInfo) => string | null): Ack {
        const open = this.#open.get(id);
        if (open === undefined) return rejected("there is no open question of this id: it was answered, withdrawn, or its time is up");
        if (!open.info.approvers.includes(by)) return rejected("the session does not let this client decide it");
        const why = wrong(open.info);
        if (why !== null) return rejected(why);
        open.settle({ answer, by });
        return ACCEPTED;
    }
}
