/**
 * What waits because the ledger takes nothing now: the logs of sessions, and runs of their turns.
 *
 * Boundary: who waits, and since when. Trying again is theirs (SLG3; SW1 of the host).
 *
 * RDY1: while anything waits the server is not ready; it is ready again when the last one was kept.
 * RDY2: a request that changes a session is not left without an answer: where its session waits, it is told so after `GRACE_MS`.
 */
import type { LedgerError, LedgerErrorCode } from "@remit/host";
import { within } from "../runs/stream.ts";

/** A run of a turn, and where it is. */
export interface At {
    readonly run: string;
    readonly path: string;
}

/** What a client is told of one that waits. */
export interface Stall {
    readonly why: LedgerError;
    readonly session: string;
    /** Absent: the session's log waits. */
    readonly at?: At;
}

/** So long a request waits for a short trouble to end, milliseconds. */
const GRACE_MS = 1_000;

export class Stalls {
    /** By the run that waits. */
    readonly #open = new Map<string, Stall>();
    readonly #changed: (why: LedgerError | null) => void;

    /** `changed`: the first one waits, or the last one goes on. */
    constructor(changed: (why: LedgerError | null) => void) {
        this.#changed = changed;
    }

    /** Why one of them waits; null: the ledger takes what it is given. */
    get why(): LedgerError | null {
        for (const { why } of this.#open.values()) return why;
        return null;
    }

    /** A session's log waits, or a run in it. Null: it goes on. */
    put(session: string, why: LedgerError | null, at?: At): void {
        const name = at?.run ?? session;
        const before = this.#open.size;
        if (why === null) this.#open.delete(name);
        else this.#open.set(name, { why, session, ...(at === undefined ? {} : { at }) });
        if (before === 0 && why !== null) this.#changed(why);
        if (before > 0 && this.#open.size === 0) this.#changed(null);
    }

    /** RDY2. What the work gives, or what of the session waits; the work goes on then. */
    async orStalled<T>(session: string, work: Promise<T>): Promise<{ readonly gave: T } | { readonly stalled: Stall }> {
        for (const gave = work.then((gave) => ({ gave })); ; ) {
            const came = await within(gave, GRACE_MS);
            if (came !== undefined) return came;
            const stalls = [...this.#open.values()].filter((one) => one.session === session);
            const stalled = stalls.find(({ at }) => at !== undefined) ?? stalls[0];
            if (stalled === undefined) continue;
            work.catch(() => undefined);
            return { stalled };
        }
    }
}

const WHY: Partial<Record<LedgerErrorCode, string>> = {
    full: "its disk is full",
    busy: "another process keeps it locked",
    away: "it cannot be reached",
    readonly: "it is read-only",
};

/** Without the ledger's place, which is the server's own. */
export function whyText({ code }: LedgerError): string {
    return WHY[code] ?? "it cannot be written";
}
