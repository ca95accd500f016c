/**
 * Opening the ledger for the commands that read it: an absent ledger is an empty one, never made by reading.
 */
import { existsSync } from "node:fs";
import type { LedgerStore, RunInfo } from "@remit/host";
import { LedgerError, openStore, shownStore } from "@remit/host";
import { here, ledgerHere, secretsNow } from "./here.ts";
import { UsageError } from "./io.ts";

export async function openForReading(options: Record<string, unknown>): Promise<LedgerStore | null> {
    const path = ledgerHere(options);
    const { env } = here();
    if (!existsSync(path)) {
        if (options["ledger"] !== undefined) throw new UsageError(`there is no ledger at ${path}`);
        return null;
    }
    try {
        return await openStore(path, { env });
    } catch (error) {
        if (!(error instanceof LedgerError) || error.code !== "readonly") throw error;
        return openStore(path, { env, readOnly: true });
    }
}

/** For commands that show what it holds: without what is known to be a secret now. */
export async function openForShowing(options: Record<string, unknown>): Promise<LedgerStore | null> {
    const store = await openForReading(options);
    return store === null ? null : shownStore(store, secretsNow());
}

export async function showRun(id: string, options: Record<string, unknown>): Promise<{ store: LedgerStore; run: RunInfo }> {
    const { store, run } = await openRun(id, options);
    return { store: shownStore(store, secretsNow()), run };
}

/** The store and the run of that id (or an unambiguous beginning of it, or `last`). */
export async function openRun(id: string, options: Record<string, unknown>): Promise<{ store: LedgerStore; run: RunInfo }> {
    const store = await openForReading(options);
    if (store === null) throw new UsageError(`there is no run ${id}: no program has run yet`, "remit run FILE makes the first one");
    try {
        return { store, run: await store.run(id) };
    } catch (error) {
        await store.close();
        throw error;
    }
}
