/**
 * A run's events as a stream: NDJSON, one sealed event a line, whole or with parts taken out.
 *
 * Boundary: reads a store. What can be taken out, and why it still verifies, is the machine package's `seal.ts`.
 *
 * EX3: where a scrubber is given, a part that holds a secret which it knows is taken out as a whole; the stream verifies all the same.
 */
import type { Json } from "@remit/language";
import { type SealedEvent, type SealedPart, redactEvent, toNdjson } from "@remit/machine";
import type { Scrubber } from "../secret/scrub.ts";
import { sha256 } from "./blob.ts";
import type { LedgerStore } from "./store.ts";

export interface ExportOptions {
    /** `content`: what was said, sent and given back; `labels`: origins; `data`: everything else about an event but where and when. */
    readonly without?: readonly SealedPart[];
    readonly from?: number;
    /** What is known to be a secret. */
    readonly secrets?: Scrubber;
}

export async function* exportRun(store: LedgerStore, run: string, options: ExportOptions = {}): AsyncGenerator<string> {
    for await (const event of exported(store, run, options)) yield* toNdjson([event]);
}

/** The events of such a stream. */
export async function* exported(store: LedgerStore, run: string, options: ExportOptions = {}): AsyncGenerator<SealedEvent> {
    const { without = [], secrets } = options;
    for await (const event of store.events(run, options.from ?? 1)) {
        const left = without.length === 0 ? event : redactEvent(event, without, sha256);
        yield secrets === undefined ? left : concealed(left, secrets);
    }
}

/** The least that has to go. */
function concealed(event: SealedEvent, secrets: Scrubber): SealedEvent {
    const isClean = ({ labels, data }: SealedEvent): boolean => {
        const seen = [labels, data] as Json;
        return secrets.scrub(seen) === seen;
    };
    if (isClean(event)) return event;
    for (const part of PARTS) {
        const left = redactEvent(event, [part], sha256);
        if (isClean(left)) return left;
    }
    return redactEvent(event, PARTS, sha256);
}
const PARTS: readonly SealedPart[] = ["content", "data", "labels"];
