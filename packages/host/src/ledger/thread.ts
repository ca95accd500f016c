/**
 * Where jobs are performed: here while one run writes, in a thread of its own while several do.
 *
 * Boundary: order and threads; what a job does is `jobs.ts`.
 *
 * G5: jobs are performed in the order in which they were given.
 * G6: the thread keeps the process alive only while a job waits in it. Where the thread ends, what was not answered is refused: it may be durable
 *     or not, and the next owner of the run reads which.
 *
 * Why one run writes here: a message to the thread and back costs more than it saves where nothing shares the sync (`bench/store.ts`).
 */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { WritingStart } from "./checkpoints.ts";
import type { SqliteOptions } from "./connect.ts";
import { LedgerError } from "./error.ts";
import { type Connection, type Done, type Job, performing } from "./jobs.ts";

export interface Writing {
    /** Resolves when the job is durable, with the rows that each of its statements changed. Rejects with `LedgerError`; then nothing of it is kept. */
    run(job: Job): Promise<readonly number[]>;
    /** A run begins or ends to be written. */
    writer(change: 1 | -1): void;
    /** Resolves when every job was answered. */
    close(): Promise<void>;
}

interface Waiting {
    readonly resolve: (changes: readonly number[]) => void;
    readonly reject: (error: Error) => void;
}

export function writingTo(connection: Connection, options: SqliteOptions): Writing {
    const { path } = connection;
    const { threadFrom = 2 } = options;
    let here: ((jobs: readonly Job[]) => Done[]) | null = null;
    let worker: Worker | null = null;
    let ready = false;
    let writers = 0;
    let closing = false;
    /** In the order in which they were given; the first are in the thread. */
    let waiting: Waiting[] = [];
    let unsent: Job[] = [];

    const errorOf = ({ code, message }: Exclude<Done, { changes: readonly number[] }>): Error =>
        code === null ? new Error(message) : new LedgerError(code, message);
    const settle = ({ resolve, reject }: Waiting, done: Done): void => ("changes" in done ? resolve(done.changes) : reject(errorOf(done)));

    function begin(): Worker {
        const script = new URL(`./thread-worker${extname(import.meta.url)}`, import.meta.url);
        const start: WritingStart = { path, options, script: script.href };
        const made = new Worker(script, { workerData: start, execArgv: [] });
        made.on("message", (said: "ready" | readonly Done[]) => {
            if (said === "ready") {
                ready = true;
                return;
            }
            const answered = waiting.slice(0, said.length);
            waiting = waiting.slice(said.length);
            if (waiting.length === 0) made.unref();
            for (const [i, one] of answered.entries()) settle(one, said[i] as Done);
        });
        let cause: unknown;
        made.on("error", (error) => {
            cause = error;
        });
        made.on("exit", () => {
            worker = null;
            ready = false;
            unsent = [];
            const lost = waiting;
            waiting = [];
            for (const { reject } of lost) reject(new LedgerError("io", `the thread that writes the ledger ${path} has ended`, cause));
        });
        // After the last listener: one for messages keeps the process alive again.
        made.unref();
        return made;
    }
    function send(): void {
        const jobs = unsent;
        unsent = [];
        if (jobs.length > 0) worker?.postMessage(jobs);
    }
    return {
        run: (job) =>
            new Promise((resolve, reject) => {
                if (waiting.length === 0 && (!ready || writers < threadFrom || closing)) {
                    here ??= performing(connection);
                    settle({ resolve, reject }, here([job])[0] as Done);
                    return;
                }
                if (waiting.push({ resolve, reject }) === 1) worker?.ref();
                if (unsent.push(job) === 1) queueMicrotask(send);
            }),
        writer: (change) => {
            writers += change;
            if (writers >= threadFrom && !closing) worker ??= begin();
        },
        close: async () => {
            closing = true;
            const ending = worker;
            if (ending === null) return;
            send();
            const over = new Promise<void>((resolve) => ending.once("exit", () => resolve()));
            ending.ref();
            ending.postMessage(null);
            await over;
        },
    };
}
