/**
 * Temporal's library of workers, loaded when a worker is made.
 *
 * Boundary: when it is loaded. What is done with it is the caller's.
 *
 * SDL1: a command that only asks a server loads nothing of it: its bundler and native parts take a third of the processor time of such a command.
 */
import { createRequire } from "node:module";
import type * as WorkerSdk from "@temporalio/worker";

const load = createRequire(import.meta.url);

export function workerSdk(): typeof WorkerSdk {
    return load("@temporalio/worker") as typeof WorkerSdk;
}
