/**
 * The threads of one ledger file: the one that owns the writing, and takes every job that waits in one transaction; the one that it begins for
 * checkpoints.
 *
 * Boundary: messages of `thread.ts` in, results out. What a job does is `jobs.ts`, what a checkpoint does `checkpoints.ts`.
 *
 * G4: a job is answered when it is durable.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { checkpointsOf, copyAt, type CopyingStart, type WritingStart } from "./checkpoints.ts";
import { connect } from "./connect.ts";
import { type Job, performing } from "./jobs.ts";
import { keyIn } from "./place.ts";

const port = parentPort as MessagePort;
const start = workerData as WritingStart | CopyingStart;
if ("copies" in start) copyAt(port, start);
else write(start);

function write(given: WritingStart): void {
    const { path, options } = given;
    const db = connect(path, options);
    const key = keyIn(options.config);
    const perform = performing({ path, db, anchors: `${path}.anchors`, key });
    const checkpoints = checkpointsOf(db, given);
    const answer = (jobs: readonly Job[]): void => {
        port.postMessage(perform(jobs));
        checkpoints.wrote(jobs.length);
    };
    /** Null: no more will come. */
    port.on("message", (first: readonly Job[] | null) => {
        const jobs: Job[] = [];
        for (let next: readonly Job[] | null | undefined = first; next !== undefined; next = receiveMessageOnPort(port)?.message) {
            if (next !== null) jobs.push(...next);
            else {
                if (jobs.length > 0) answer(jobs);
                checkpoints.close();
                db.close();
                port.close();
                return;
            }
        }
        answer(jobs);
    });
    port.postMessage("ready");
}
