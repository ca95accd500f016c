/**
 * A run's events as a stream: NDJSON, one sealed event a line, whole or with parts taken out.
 *
 * Boundary: reads a store. What can be taken out, and why it still verifies, is the machine package's `seal.ts`.
 */
import { type SealedEvent, type SealedPart, redactEvent, toNdjson } from "@remit/machine";
import { sha256 } from "./blob.ts";
import type { LedgerStore } from "./store.ts";

export interface ExportOptions {
    /** `content`: what was said, sent and given back; `labels`: origins; `data`: everything else about an event but where and when. */
    readonly without?: readonly SealedPart[];
    readonly from?: number;
}

export function* exportRun(store: LedgerStore, run: string, options: ExportOptions = {}): Generator<string> {
    const { without = [] } = options;
    const events = store.events(run, options.from ?? 1);
    yield* toNdjson(without.length === 0 ? events : redacted(events, without));
}

function* redacted(events: Iterable<SealedEvent>, parts: readonly SealedPart[]): Generator<SealedEvent> {
    for (const event of events) yield redactEvent(event, parts, sha256);
}
