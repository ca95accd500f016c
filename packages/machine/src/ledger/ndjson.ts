/** The stream form of a ledger: one event a line (NDJSON). */
import type { LedgerEvent } from "./events.ts";

export function* toNdjson(events: Iterable<LedgerEvent>): Generator<string> {
    for (const event of events) yield `${JSON.stringify(event)}\n`;
}
