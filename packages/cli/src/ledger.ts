/**
 * Opening the ledger for the commands that read it: an absent ledger is an empty one, never made by reading.
 */
import { existsSync, statSync } from "node:fs";
import type { LedgerStore, RunInfo } from "@remit/host";
import { isLedgerAddress, isSession, LedgerError, openStore, shownLedger, shownStore, userLedger } from "@remit/host";
import { here, ledgerHere, secretsNow } from "./here.ts";
import { plainLine, say, UsageError } from "./io.ts";

export async function openForReading(options: Record<string, unknown>): Promise<LedgerStore | null> {
    const path = ledgerHere(options);
    const { env } = here();
    if (isLedgerAddress(path) && !(await isThere(path))) {
        if (options["ledger"] !== undefined) throw new UsageError(`there is no ledger at ${shownLedger(path)}`);
        return null;
    }
    if (!isLedgerAddress(path) && !isLedgerThere(path)) {
        if (options["ledger"] !== undefined) throw new UsageError(`there is no ledger at ${path}`);
        return null;
    }
    try {
        return await openStore(path, { env });
    } catch (error) {
        if (!(error instanceof LedgerError) || (error.code !== "readonly" && !(isLedgerAddress(path) && error.code === "denied")))
            throw error;
        return openStore(path, { env, readOnly: true });
    }
}

/** Whether a ledger is at this place; an error where that cannot be told, as in the folder of another user. */
export function isLedgerThere(path: string): boolean {
    try {
        return statSync(path, { throwIfNoEntry: false }) !== undefined;
    } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        const why = code === "EACCES" ? "your user may not look into its folder" : message;
        throw new UsageError(`whether there is a ledger at ${path} cannot be told: ${why}`, "read it as the user that it belongs to");
    }
}

/** Where more runs are than in the ledger of this folder, as a person is told: a folder that gets a ledger of its own leaves the runs before behind. */
function elsewhere(options: Record<string, unknown>): string | null {
    const [path, users] = [ledgerHere(options), userLedger(here().env)];
    if (options["ledger"] !== undefined || path === users || !existsSync(users)) return null;
    return `the ledger here is ${plainLine(shownLedger(path))}; runs of other folders are in ${plainLine(users)}, which --ledger names`;
}

export function sayNoRuns(text: string, options: Record<string, unknown>): void {
    say(text);
    const more = elsewhere(options);
    if (more !== null) say(`T${more.slice(1)}.`);
}

/** Whether a database holds a ledger. */
async function isThere(address: string): Promise<boolean> {
    try {
        await (await openStore(address, { env: here().env, readOnly: true })).close();
        return true;
    } catch (error) {
        if (error instanceof LedgerError && error.code === "unknown") return false;
        throw error;
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
    if (store === null)
        throw new UsageError(`there is no run ${id}: no program has run yet`, elsewhere(options) ?? "remit run FILE makes the first one");
    try {
        return { store, run: await store.run(id) };
    } catch (error) {
        await store.close();
        throw error;
    }
}

/** Throws `UsageError` for a session: no machine ran it, so `command` has nothing to go through. Its turns are runs. */
export function ranByMachine(id: string, command: string): void {
    if (isSession(id))
        throw new UsageError(`${id} is a session, which holds turns`, `each turn is a run: remit ${command} ${id}.t1 takes the first`);
}
