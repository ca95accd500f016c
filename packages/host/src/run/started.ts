/**
 * Tells the listeners in this process that a run begins or goes on, and each of its events after it is kept.
 *
 * Boundary: Node's diagnostics channel `remit:run`; listeners are others' business. Several copies of this library in one process are heard alike.
 *
 * SA1: without a listener nothing is kept and nothing is copied.
 */
import { channel } from "node:diagnostics_channel";
import type { Program } from "@remit/language";
import type { LedgerEvent } from "@remit/machine";

export const RUNS = "remit:run";

/** A run that goes on in this process. */
export interface HeardRun {
    readonly id: string;
    readonly program: Program;
    /** From the first event of the run on; it grows. */
    readonly events: LedgerEvent[];
}

/** Null without a listener; else what takes each event. */
export async function announce(id: string, program: Program, events: () => AsyncIterable<LedgerEvent>): Promise<HeardRun | null> {
    const to = channel(RUNS);
    if (!to.hasSubscribers) return null;
    const run: HeardRun = { id, program, events: await Array.fromAsync(events()) };
    to.publish(run);
    return run;
}
