/**
 * The thread that owns the writing to one ledger file: takes every job that waits in one transaction.
 *
 * Boundary: messages of `thread.ts` in, results out. What a job does is `jobs.ts`.
 *
 * G4: a job is answered when it is durable.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { connect, type SqliteOptions } from "./connect.ts";
import { type Job, performing } from "./jobs.ts";
import { keyIn } from "./place.ts";

export interface WorkerStart {
    readonly path: string;
    readonly options: SqliteOptions;
}

const { path, options } = workerData as WorkerStart;
const port = parentPort as MessagePort;
const db = connect(path, options);
const key = keyIn(options.config);
const perform = performing({ path, db, anchors: `${path}.anchors`, key });
/** Null: no more will come. */
port.on("message", (first: readonly Job[] | null) => {
    const jobs: Job[] = [];
    for (let next: readonly Job[] | null | undefined = first; next !== undefined; next = receiveMessageOnPort(port)?.message) {
        if (next !== null) jobs.push(...next);
        else {
            if (jobs.length > 0) port.postMessage(perform(jobs));
            db.close();
            port.close();
            return;
        }
    }
    port.postMessage(perform(jobs));
});
port.postMessage("ready");
