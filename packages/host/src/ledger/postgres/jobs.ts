/**
 * Keeping jobs in PostgreSQL: all that wait are one group, one transaction and one way to the server and back.
 *
 * Boundary: jobs of prepared statements and one connection. What a job does is `../jobs.ts`, how the server keeps it `schema.ts`.
 *
 * PJ1: groups are kept in the order in which their jobs were given, one after the other.
 * PJ2: where the answer to a group is lost, the same group is sent again under the same number until the server says what became of it (PGT3).
 * PJ3: while the server is away a run is told so after `PATIENCE`, and calls again with what it has in hand: nothing of it begins meanwhile. All else
 *      waits longer, since nothing calls it again.
 * PJ5: every group is synced, also where a job says that it need not be (Q4): the server may crash and the owner of a run live on.
 * PJ4: an anchor is written after the group that it speaks of (AN2).
 */
import type { Anchor } from "../anchor.ts";
import { baseOf } from "../compression.ts";
import { LedgerError, ledgerError } from "../error.ts";
import type { Done, Job } from "../jobs.ts";
import type { Writing } from "../thread.ts";
import { type Connections, pause } from "./connections.ts";
import { isAgain, isGone, stateError, told } from "./error.ts";

/** How long a run, and how long all else waits for a server that is away, milliseconds. */
const PATIENCE = { run: 5_000, other: 60_000 };
/** Jobs, and characters of them, in one group. */
const MOST = 256;
const MOST_CHARS = 16 << 20;

export interface WritingSetup {
    readonly connections: Connections;
    /** Names this process among those that write. */
    readonly process: string;
    readonly anchor: (anchor: Anchor) => void;
    /** Something of these runs may have changed. */
    readonly news: (runs: readonly string[]) => void;
}

interface Waiting {
    readonly job: Job;
    readonly text: string;
    /** When it is told that the server is away. */
    readonly until: number;
    readonly resolve: (changes: readonly number[]) => void;
    readonly reject: (error: unknown) => void;
    over?: true;
}

const APPLY = "SELECT apply_jobs($1, $2, $3, $4) AS done";

type Said =
    | { readonly changes: readonly number[] }
    | { readonly code: string; readonly message: string; readonly constraint: string | null };

export function postgresWriting(setup: WritingSetup): Writing {
    const groups = new Groups(setup);
    return { run: (job) => groups.run(job), writer: () => undefined, close: () => groups.close() };
}

class Groups {
    readonly #setup: WritingSetup;
    readonly #at: string;
    #waiting: Waiting[] = [];
    #groups = 0;
    #working: Promise<void> | null = null;
    #closing = false;

    constructor(setup: WritingSetup) {
        this.#setup = setup;
        this.#at = setup.connections.at;
    }

    run(job: Job): Promise<readonly number[]> {
        return new Promise((resolve, reject) => {
            if (this.#closing) {
                reject(new LedgerError("away", `the ledger ${this.#at} is closed`));
                return;
            }
            const until = performance.now() + (job.run === undefined ? PATIENCE.other : PATIENCE.run);
            this.#waiting.push({ job, text: textOf(job), until, resolve, reject });
            // What comes in the same turn of the event loop shares a commit.
            this.#working ??= new Promise((begin) => setImmediate(begin)).then(() => this.#work());
        });
    }

    async close(): Promise<void> {
        this.#closing = true;
        await this.#working;
    }

    async #work(): Promise<void> {
        while (this.#waiting.length > 0) await this.#kept(this.#taken());
        this.#working = null;
    }

    #taken(): Waiting[] {
        let chars = 0;
        let count = 0;
        for (const { text } of this.#waiting) {
            if (count > 0 && (count >= MOST || chars + text.length > MOST_CHARS)) break;
            chars += text.length;
            count++;
        }
        return this.#waiting.splice(0, count);
    }

    /** PJ2. */
    async #kept(first: readonly Waiting[]): Promise<void> {
        const id = ++this.#groups;
        /** The server may have kept it. */
        let isDoubtful = false;
        for (let tries = 0, group = first; group.length > 0; tries++) {
            try {
                const said = await this.#sent(group, id, () => {
                    isDoubtful = true;
                });
                this.#answered(group, said);
                return;
            } catch (error) {
                if (isAgain(error)) continue;
                if (!isGone(error)) {
                    for (const one of group) if (one.over !== true) one.reject(told(this.#at, error));
                    return;
                }
                this.#overdue(group, error);
                if (this.#closing) return;
                if (!isDoubtful) group = group.filter(({ over }) => over !== true);
                await new Promise((resolve) => setTimeout(resolve, pause(tries)));
            }
        }
    }

    async #sent(group: readonly Waiting[], id: number, begun: () => void): Promise<readonly Said[]> {
        const { connections, process } = this.#setup;
        const locks = [...new Set(group.flatMap(({ job }) => (job.run === undefined || job.run.key === 0 ? [] : [job.run.key])))];
        const client = await connections.writer();
        const values = [process, id, locks, `[${group.map(({ text }) => text).join(",")}]`];
        begun();
        client.ref();
        try {
            const { rows } = await client.query<{ done: Said[] }>({ name: "apply", text: APPLY, values });
            return rows[0]?.done ?? [];
        } catch (error) {
            if (isGone(error)) connections.broke(client);
            throw error;
        } finally {
            client.unref();
        }
    }

    /** PJ3. Where the store closes, nothing waits any longer. */
    #overdue(group: readonly Waiting[], error: unknown): void {
        const now = performance.now();
        for (const one of [...group, ...this.#waiting]) {
            if (one.over === true || (!this.#closing && now < one.until)) continue;
            one.over = true;
            one.reject(told(this.#at, error));
        }
        this.#waiting = this.#waiting.filter(({ over }) => over !== true);
    }

    #answered(group: readonly Waiting[], said: readonly Said[]): void {
        const runs = new Set<string>();
        for (const [i, one] of group.entries()) {
            const done = this.#settled(one.job, said[i]);
            if ("changes" in done) {
                if (one.job.run !== undefined) runs.add(one.job.run.id);
                if (one.over !== true) one.resolve(done.changes);
            } else if (one.over !== true) one.reject(done.error);
        }
        if (runs.size > 0) this.#setup.news([...runs]);
    }

    #settled(job: Job, said: Said | undefined): Extract<Done, { changes: readonly number[] }> | { readonly error: unknown } {
        if (said === undefined) return { error: new LedgerError("io", `the ledger ${this.#at} gave no answer for a commit`) };
        if ("code" in said) return { error: stateError(this.#at, said.code, said.message, said.constraint) };
        try {
            // PJ4.
            if (job.anchor !== undefined) this.#setup.anchor(job.anchor);
            return said;
        } catch (error) {
            return { error: ledgerError(this.#at, error) };
        }
    }
}

/** The statements as the server takes them. */
function textOf({ statements, claim, run }: Job): string {
    const bytesOf = (column: unknown): Uint8Array | null => (column instanceof Uint8Array ? column : null);
    const rows = statements.map((row) => {
        if (row[0] === "state") return [...row.slice(0, 7), base64(bytesOf(row[7]))];
        if (row[0] !== "blob") return row;
        const packed = bytesOf(row[3]);
        return ["blob", row[1], base64(Buffer.from(String(row[2]))), base64(packed), baseOf(packed)];
    });
    return JSON.stringify({ statements: rows, ...(claim === undefined ? {} : { claim }), ...(run === undefined ? {} : { run: run.id }) });
}

function base64(bytes: Uint8Array | null): string | null {
    return bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}
