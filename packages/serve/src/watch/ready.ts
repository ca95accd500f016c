/**
 * Whether the server can take requests: its ledger can be read, and takes what it is given.
 *
 * Boundary: one look at the ledger, and what waits for it (`stalls.ts`).
 */
import type { LedgerError, LedgerStore } from "@remit/host";
import { within } from "../runs/stream.ts";
import { Stalls, whyText } from "./stalls.ts";

/** So long the ledger may take, milliseconds: less than a health check waits. */
const READY_MS = 2000;

export class Ready {
    readonly stalls: Stalls;
    readonly #store: Pick<LedgerStore, "runs">;
    readonly #tell: (level: "warn" | "error", message: string) => void;
    #reading: Promise<unknown> | null = null;

    constructor(store: Pick<LedgerStore, "runs">, tell: (level: "warn" | "error", message: string) => void) {
        this.#store = store;
        this.#tell = tell;
        this.stalls = new Stalls((why) => this.#changed(why));
    }

    #changed(why: LedgerError | null): void {
        if (why === null) this.#tell("warn", "the ledger can be written again");
        else this.#tell("error", `the ledger takes nothing now: ${why.message}`);
    }

    /** Null where requests can be taken; else why not. */
    async why(): Promise<string | null> {
        try {
            // Asked once however often a balancer asks: a database that is away is waited for.
            this.#reading ??= this.#store
                .runs(1, () => undefined)
                .finally(() => {
                    this.#reading = null;
                });
            if ((await within(this.#reading, READY_MS)) === undefined) return "its ledger does not answer";
            // RDY1.
            const { why } = this.stalls;
            return why === null ? null : `its ledger takes nothing now: ${whyText(why)}`;
        } catch (error) {
            this.#tell("error", `the ledger cannot be read: ${(error as Error).message}`);
            return "its ledger cannot be read";
        }
    }
}
