/**
 * Whether the server can take requests: its ledger can be read, and takes what it is given.
 *
 * Boundary: looks at the ledger, and what waits for it (`stalls.ts`).
 *
 * RDY3: a commit that was refused, also one that nothing waits for, makes the server not ready, until the ledger keeps a small one of its own. Who
 *     asks whether it is ready has that tried; where the disk was full, there has to be more room than a small one needs.
 */
import { randomUUID } from "node:crypto";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { isLater, LedgerError, type LedgerStore } from "@remit/host";
import { within } from "../runs/stream.ts";
import { Stalls, whyText } from "./stalls.ts";

/** So long the ledger may take, milliseconds: less than a health check waits. */
const READY_MS = 2000;
/** What a session takes to begin, and its first turn, bytes. */
const ROOM = 1 << 20;

type Store = Pick<LedgerStore, "runs" | "uses" | "path" | "team" | "refused">;

export class Ready {
    readonly stalls: Stalls;
    readonly #store: Store;
    readonly #unheard: (() => void) | undefined;
    readonly #tell: (level: "warn" | "error", message: string) => void;
    #reading: Promise<unknown> | null = null;
    /** RDY3. */
    #refused: LedgerError | null = null;
    #trying: Promise<void> | null = null;
    #isTold = false;

    constructor(store: Store, tell: (level: "warn" | "error", message: string) => void) {
        this.#store = store;
        this.#tell = tell;
        this.stalls = new Stalls(() => this.#changed());
        this.#unheard = store.refused?.((error) => this.failed(error));
    }

    /** With the server: its store may go on. */
    close(): void {
        this.#unheard?.();
    }

    get #why(): LedgerError | null {
        return this.stalls.why ?? this.#refused;
    }

    #changed(): void {
        const why = this.#why;
        if (this.#isTold === (why !== null)) return;
        this.#isTold = why !== null;
        if (why === null) this.#tell("warn", "the ledger can be written again");
        else this.#tell("error", `the ledger takes nothing now: ${why.message}`);
    }

    /** What a commit failed with. RDY3. */
    failed(error: LedgerError): void {
        // Anything else is wrong with what was to be kept.
        if (error.code !== "io" && !isLater(error)) return;
        this.#refused = error;
        this.#changed();
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
            if (this.#refused !== null) {
                this.#trying ??= this.#try().finally(() => {
                    this.#trying = null;
                });
                await within(this.#trying, READY_MS);
            }
            // RDY1.
            const why = this.#why;
            return why === null ? null : `its ledger takes nothing now: ${whyText(why)}`;
        } catch (error) {
            this.#tell("error", `the ledger cannot be read: ${(error as Error).message}`);
            return "its ledger cannot be read";
        }
    }

    /** RDY3. */
    async #try(): Promise<void> {
        const before = this.#refused;
        const { uses, path, team } = this.#store;
        try {
            if (before?.code === "full" && team === undefined && path !== null) {
                const { bavail, bsize } = await statfs(dirname(path));
                if (bavail * bsize < ROOM) return;
            }
            const use = { counter: "a server asks whether the ledger can be written", run: "", place: randomUUID() };
            await uses.count(use, null);
            await uses.uncount(use);
            // Another one may have been refused meanwhile.
            if (this.#refused === before) this.#refused = null;
            this.#changed();
        } catch (error) {
            if (!(error instanceof LedgerError)) throw error;
            this.#refused = error;
        }
    }
}
