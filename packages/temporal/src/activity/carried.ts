/**
 * What activities carry for the ledger, and how it is kept there.
 *
 * Boundary: from what travels to what the store takes.
 *
 * WA4: where the ledger takes nothing now (a full disk, a lock), the activity waits with what it has in hand and tries again.
 */
import { append, type Carried as Whole, isPassing, LedgerError, type LedgerStore, type Scrubber } from "@remit/host";
import type { Answered } from "@remit/machine";
import { Context } from "@temporalio/activity";
import type { Carried, Sent } from "../wire/messages.ts";

/** Between two tries to keep something, milliseconds. */
const AGAIN_MS = 500;

/** Resolves when the ledger has all of it. */
export async function keep(to: { readonly store: LedgerStore; readonly secrets: Scrubber }, carried: Carried): Promise<void> {
    await patiently(async () => append(to, await wholeOf(to.store, carried)));
}

/** With the outcomes that were recorded when their effects were performed (WL3). */
export async function wholeOf(store: LedgerStore, { run, epoch, batches }: Carried): Promise<Whole> {
    const one = async ({ n, batch: { outcomes, ...batch } }: Sent): Promise<Whole["batches"][number]> => {
        if (outcomes === undefined) return { n, batch };
        const told = outcomes.map(async (sent): Promise<Answered> => {
            if ("outcome" in sent) return sent;
            const outcome = await store.outcome(run, sent.path, sent.attempt ?? 1);
            if (outcome === null)
                throw new LedgerError("tampered", `the outcome of ${sent.path} in run ${run} is not in the ledger any more`);
            return { ...sent, outcome };
        });
        return { n, batch: { ...batch, outcomes: await Promise.all(told) } };
    };
    return { run, epoch, batches: await Promise.all(batches.map(one)) };
}

/** WA4. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
        try {
            return await work();
        } catch (error) {
            if (!isPassing(error)) throw error;
            await Context.current().sleep(AGAIN_MS);
        }
    }
}
