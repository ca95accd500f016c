/**
 * Watching a run: its events as they are committed, in this process or from another one.
 *
 * Boundary: reads a store. Nothing is buffered: a slow reader reads later, from the ledger itself.
 */
import type { LedgerEvent } from "@remit/machine";
import type { LedgerStore } from "./store.ts";

export interface FollowOptions {
    /** First event to give. */
    readonly from?: number;
    readonly signal?: AbortSignal;
    /** Between two looks at a ledger that another process writes, milliseconds. */
    readonly every?: number;
    /** Resolves when there may be news; without it the ledger is looked at every so often. */
    readonly news?: () => Promise<void>;
    /** Whether the run goes on, for a caller that knows without asking the ledger, which looks for the owner's process each time. */
    readonly live?: () => boolean;
}

/** Between two looks at a ledger that tells of changes, milliseconds: news may be lost. */
const LOOK_MS = 2_000;

/** Ends when the run has ended, stopped or lost its owner, and everything was given. */
export async function* follow(store: LedgerStore, run: string, options: FollowOptions = {}): AsyncGenerator<LedgerEvent> {
    let next = options.from ?? 1;
    const ear = options.news === undefined ? earOf(store, run) : null;
    try {
        for (;;) {
            // First the ear, then the state, then the events: whatever is committed in between is either given now or heard of.
            const news = options.news?.() ?? ear?.news(options.every ?? LOOK_MS);
            const live = options.live?.() ?? (await store.run(run)).live;
            for await (const event of store.events(run, next)) {
                if (options.signal?.aborted === true) return;
                yield event;
                next = event.seq + 1;
            }
            if (!live || options.signal?.aborted === true) return;
            await (news ?? new Promise<void>((resolve) => setTimeout(resolve, options.every ?? 100)));
        }
    } finally {
        ear?.end();
    }
}

interface Ear {
    /** Resolves with the next news, or after so many milliseconds. */
    news(most: number): Promise<void>;
    end(): void;
}

/** Null where the store does not tell of changes. */
function earOf(store: LedgerStore, run: string): Ear | null {
    let wake = (): void => undefined;
    const end = store.changed?.((changed) => {
        if (changed === null || changed === run) wake();
    });
    if (end === undefined) return null;
    return {
        news: (most) =>
            new Promise((resolve) => {
                const timer = setTimeout(resolve, most);
                wake = () => {
                    clearTimeout(timer);
                    resolve();
                };
            }),
        end: () => {
            wake();
            end();
        },
    };
}
