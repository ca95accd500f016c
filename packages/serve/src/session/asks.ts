/**
 * What a session waits for from a person: approvals, answers to questions, word of what became of a call.
 *
 * Boundary: what is open, who may settle it, and that this happens once. The record that an approval is bound to is the ledger's (AK1).
 *
 * SAK1: it is open before any client hears of it, so that no answer comes too early.
 * SAK2: only a client that the session names settles it; a mismatch changes nothing.
 * SAK3: no answer in time is a no.
 * SAK6: a question is a no at once where every client that may settle it was revoked: before it was asked, or while it waits.
 * SAK7: a question about a call of a lent tool is a no at once where no client lends that tool any more: the call could not be made.
 * SAK4: an answer is acknowledged when the session's log has it, a decision about a call when the run's record has it too: it is not asked for again.
 * SAK5: an answer of a client counts when the session's log has it. What the log does not take leaves the question open, and its client is told so.
 */
import type { Json } from "@remit/language";
import { isLater, type LedgerError } from "@remit/host";
import { ACCEPTED, type Ack, type AskInfo, rejected } from "../wire/messages.ts";
import type { At } from "../watch/stalls.ts";

export interface Settled {
    readonly answer: Json;
    /** The client; or where no client answered `expiry`, `revoked` (SAK6) or `gone` (SAK7). */
    readonly by: string;
}

/** No client gave the answer: what counts then is what counts without one. */
export const isUnanswered = ({ by }: Settled): boolean => by === "expiry" || by === "revoked" || by === "gone";

/** What `People` takes, who says that the run has it (SAK4). */
export interface Taken extends Settled {
    readonly kept: () => void;
}

/** What a question is waited for with. */
export interface Waiting {
    /** What counts where its time is up. */
    readonly late: Json;
    readonly signal: AbortSignal;
    /** The run that asks, and where. */
    readonly at: At;
    /** Name of the lent tool whose call it is about; null: it is about none. */
    readonly tool: string | null;
    /** Keeps an answer in the session's log. `asked`: a client waits for that. */
    log(settled: Settled, asked: boolean): Promise<void>;
}

interface Open {
    readonly info: AskInfo;
    readonly at: At;
    /** What counts where its time is up. */
    readonly late: Json;
    /** Resolves when it is kept. Null: another answer is being kept. */
    readonly settle: (settled: Settled) => Promise<void> | null;
    /** What counts without an answer counts now, for this reason. */
    readonly lapse: (by: "expiry" | "revoked" | "gone") => void;
    /** Of `Waiting`. */
    readonly tool: string | null;
}

/** Who is there. */
export interface Present {
    isRevoked(client: string): boolean;
    /** A client lends a tool of this name. */
    isLent(tool: string): boolean;
}

export class OpenAsks {
    readonly #open = new Map<string, Open>();
    /** The time that `expires` is of, milliseconds since 1970: of all processes that a session may move to. */
    readonly now: () => number;
    /** Why questions ended that a server before this one had put. */
    readonly #before = new Map<string, string>();

    readonly #present: Present;

    constructor(now: () => number, present: Present) {
        this.now = now;
        this.#present = present;
    }

    list(): AskInfo[] {
        return [...this.#open.values()].map(({ info }) => info);
    }

    /** Resolves with null where the signal ended it. Rejects where the log takes nothing more. */
    wait(info: AskInfo, { late, signal, at, tool, log }: Waiting): Promise<Taken | null> {
        return new Promise((resolve, reject) => {
            const left = Date.parse(info.expires) - this.now();
            let isTaken = false;
            // Node's timers hold 31 bits of milliseconds; what waits longer is asked about again after a restart.
            const timer = setTimeout(() => lapse("expiry"), Math.min(Math.max(left, 0), 2 ** 31 - 1));
            const end = (): void => {
                clearTimeout(timer);
                signal.removeEventListener("abort", stop);
                this.#open.delete(info.id);
            };
            const stop = (): void => {
                if (isTaken) return;
                end();
                resolve(null);
            };
            // The client that answered hears of it; where its time was up there is none.
            const lapse: Open["lapse"] = (by) => void settle({ answer: late, by }, false)?.catch(() => undefined);
            const settle = (settled: Settled, asked: boolean): Promise<void> | null => {
                if (isTaken) return null;
                isTaken = true;
                const { promise, resolve: kept } = Promise.withResolvers<void>();
                const counts = (): Promise<void> => {
                    end();
                    resolve({ ...settled, kept });
                    return promise;
                };
                return log(settled, asked).then(counts, (error: unknown) => {
                    isTaken = false;
                    if (!isLater(error)) {
                        end();
                        reject(error);
                    } else if (signal.aborted) stop();
                    else if (Date.parse(info.expires) <= this.now()) lapse("expiry");
                    else this.lapsed(info.id);
                    throw error;
                });
            };
            this.#open.set(info.id, { info, at, late, settle: (settled) => settle(settled, true), lapse, tool });
            if (signal.aborted) stop();
            else signal.addEventListener("abort", stop, { once: true });
        });
    }

    /** SAK6, SAK7. Of one question, or of all that are open. */
    lapsed(id?: string): void {
        for (const { info, lapse, tool } of [...this.#open.values()]) {
            if (id !== undefined && info.id !== id) continue;
            if (info.approvers.every((one) => this.#present.isRevoked(one))) lapse("revoked");
            else if (tool !== null && !this.#present.isLent(tool)) lapse("gone");
        }
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
        return settledBy(open, { answer: open.late, by: "expiry" });
    }

    /** SAK4. Rejects where it could not be kept. */
    async #settle(id: string, by: string, answer: Json, wrong: (info: AskInfo) => string | null): Promise<Ack> {
        const open = this.#open.get(id);
        if (open === undefined) return rejected(this.#before.get(id) ?? OVER);
        if (!open.info.approvers.includes(by)) return rejected("the session does not let this client decide it");
        const why = wrong(open.info);
        return why === null ? settledBy(open, { answer, by }) : rejected(why);
    }
}

const OVER = "there is no open question of this id: it was answered, withdrawn, or its time is up";

async function settledBy({ settle, at }: Open, settled: Settled): Promise<Ack> {
    const kept = settle(settled);
    if (kept === null) return rejected(OVER);
    try {
        await kept;
        return ACCEPTED;
    } catch (error) {
        throw isLater(error) ? new Undecided(at, error) : error;
    }
}

/** SAK5. */
export class Undecided extends Error {
    override readonly name = "Undecided";
    readonly why: LedgerError;
    readonly at: At;
    constructor(at: At, why: LedgerError) {
        super(why.message);
        this.at = at;
        this.why = why;
    }
}
