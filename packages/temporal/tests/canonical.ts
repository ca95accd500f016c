/** Ledgers as they are compared: canonical, without what a world draws anew each time. */
import type { LedgerStore } from "@remit/host";
import { canonicalLedger, type LedgerEvent } from "@remit/machine";

/** Ids, times, how long an agent took. */
const DRAWN = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|"(?:ms|undo)":[^,}]+/g;

export async function canonicalOf(store: LedgerStore, run: string): Promise<string[]> {
    const events: LedgerEvent[] = await Array.fromAsync(store.events(run));
    return canonicalLedger(events.filter(({ data }) => (data as { readonly host?: unknown } | null)?.host !== true))
        .replaceAll(DRAWN, "…")
        .split("\n");
}

/** Without what says where blocks run, and on which columns that word stands. */
export function asHere(lines: readonly string[]): string[] {
    if (!lines.some((line) => line.includes('"kind":"plan.started"'))) return [...lines];
    return lines.map((line) => line.replace(/"backend":"\w+"|"(?:column|endColumn)":\d+|"(?:program|sha256)":"[0-9a-f]{64}"/g, "…"));
}
