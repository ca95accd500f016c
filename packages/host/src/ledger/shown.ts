/**
 * A ledger as it may be shown: what is known to be a secret now and was not when it was recorded is taken out of all that is read.
 *
 * Boundary: reads a store; the file stays as it is. What resumes, replays and verifies reads the store itself.
 *
 * SO1: no text of an event, a run or a question that is given holds a secret that the scrubber knows.
 * SO2: hashes, numbers and places stay, so that what refers to an event still finds it. Events that were changed so do not verify: a stream that
 *     does is `exportRun`'s, which takes out whole parts.
 */
import type { Json } from "@remit/language";
import type { SealedEvent } from "@remit/machine";
import type { Scrubber } from "../secret/scrub.ts";
import type { LedgerStore } from "./store.ts";

export function shownStore(store: LedgerStore, scrubber: Scrubber): LedgerStore {
    const clean = <T>(value: T): T => scrubber.scrub(value as unknown as Json) as unknown as T;
    async function* events(found: AsyncIterable<SealedEvent>): AsyncGenerator<SealedEvent> {
        for await (const event of found) yield clean(event);
    }
    return {
        ...store,
        runs: async (limit, unreadable) => (await store.runs(limit, unreadable)).map(clean),
        run: async (id) => clean(await store.run(id)),
        options: async (id) => clean(await store.options(id)),
        events: (id, from) => events(store.events(id, from)),
        asks: { ...store.asks, list: async (run) => (await store.asks.list(run)).map(clean) },
    };
}
