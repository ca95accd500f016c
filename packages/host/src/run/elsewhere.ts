/**
 * A run whose conductor is elsewhere (a workflow, another machine): its batches are appended here, and its effects performed.
 *
 * Boundary: between a store and a performer. What is decided, and in which order, is the conductor's; nothing of the machine runs here.
 *
 * EL1: what an effect needs before it begins travels with it, and is durable before its performer is called.
 * EL2: an effect that has an outcome of this attempt is not performed: the outcome that counts is given back. So all of this can be done again, by any
 *     process.
 * EL3: the conductor knows no secrets. What it says passes the scrubber here, before the ledger or a performer sees it.
 */
import type { Batch, Effect, Outcome } from "@remit/machine";
import type { LedgerStore, RunWriter } from "../ledger/store.ts";
import { batchOut, effectOut } from "../secret/exits.ts";
import type { Scrubber } from "../secret/scrub.ts";

/** What travels from the conductor. `epoch`: of the owner, whose name the run was made or taken with. */
export interface Carried {
    readonly run: string;
    readonly epoch: number;
    /** Those that are not known to be durable, with their numbers: of the conductor's commits, after the batches that the owner found. */
    readonly batches: readonly { readonly n: number; readonly batch: Batch }[];
}

/** Where it is kept, and what must not be. */
export interface Elsewhere {
    readonly store: Pick<LedgerStore, "join" | "outcome">;
    readonly secrets: Scrubber;
}

/** Resolves when all of it is durable. Rejects with `LedgerError` `owned` where a later owner has the run. */
export async function append(to: Elsewhere, carried: Carried): Promise<void> {
    await appended(to, carried, () => true);
}

/** What `look` finds when all of it is durable. */
async function appended<T>({ store, secrets }: Elsewhere, { run, epoch, batches }: Carried, look: (writer: RunWriter) => T): Promise<T> {
    const writer = await store.join(run, epoch);
    try {
        await Promise.all(batches.map(({ n, batch }) => writer.commit(batchOut(batch, secrets), n)));
        return look(writer);
    } finally {
        await writer.release();
    }
}

/**
 * The outcome of an effect, which is performed where it has none yet (EL2). Null: no person can answer it now; nothing is kept of it. Rejects with
 * `LedgerError`: before anything was performed, or with an outcome that no longer counts.
 */
export async function performOnce(
    to: Elsewhere,
    carried: Carried,
    effect: Effect,
    perform: (effect: Effect) => Promise<Outcome | null>,
): Promise<Outcome | null> {
    const { run, epoch } = carried;
    const { path, attempt = 1 } = effect;
    // Where nothing was appended another process may know more.
    const lacks = await appended(to, carried, (writer) => carried.batches.length > 0 && writer.lacks(path, attempt));
    const before = lacks ? null : await to.store.outcome(run, path, attempt);
    if (before !== null) return before;
    const outcome = await perform(effectOut(effect, to.secrets));
    if (outcome === null) return null;
    const writer = await to.store.join(run, epoch);
    try {
        return await writer.record({ path, attempt, outcome });
    } finally {
        await writer.release();
    }
}
