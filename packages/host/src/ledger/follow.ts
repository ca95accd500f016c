/**
 * Watching a run: its events as they are committed, in this process or from another one.
 *
 * Boundary: reads a store. Nothing is buffered: a slow reader reads later, from the ledger itself. One that has all before a commit of this process is given
 * the events of that commit as they were kept: reading each commit back was most of what an audit that goes along cost (`bench/`, `audit`).
 */
import type { LedgerEvent } from "@remit/machine";
import type { LedgerStore } from "./store.ts";

export interface FollowOptions {
    /** First event to give. */
    readonly from?: number;
    readonly signal?: AbortSignal;
    /** Between two looks at a ledger that another process writes, milliseconds. */
    readonly every?: number;
    /** Resolves when there may be news; without it the ledger is looked at every so often. With the events of the commit, where they are known. */
    readonly news?: () => Promise<readonly LedgerEvent[] | null>;
    /** Number of the newest event that this process committed; null where it is not known. */
    readonly newest?: () => number | null;
    /** Whether the run goes on, for a caller that knows without asking the ledger, which looks for the owner's process each time. */
    readonly live?: () => boolean;
}

/** Between two looks at a ledger that tells of changes, milliseconds: news may be lost. */
const LOOK_MS = 2_000;

/** Ends when the run has ended, stopped or lost its owner, and everything was given. */
export async function* follow(store: LedgerStore, run: string, options: FollowOptions = {}): AsyncGenerator<LedgerEvent> {
    let next = options.from ?? 1;
    const ear = options.news === undefined ? earOf(store, run) : null;
    let told: readonly LedgerEvent[] | null = null;
    try {
        for (;;) {
            // First the ear, then the state, then the events: whatever is committed in between is either given now or heard of.
            const news = options.news?.() ?? ear?.news(options.every ?? LOOK_MS);
            const live = options.live?.() ?? (await store.run(run)).live;
            // What is committed from now on is news: so the events of one commit are all that is new, or the ledger is read.
            const isAll: boolean = live && told !== null && isNewest(told, next, options.newest?.() ?? null);
            for await (const event of isAll ? copiesOf(told ?? [], next) : store.events(run, next)) {
                if (options.signal?.aborted === true) return;
                yield event;
                next = event.seq + 1;
            }
            if (!live || options.signal?.aborted === true) return;
            told = (await (news ?? new Promise<void>((resolve) => setTimeout(resolve, options.every ?? 100)))) ?? null;
        }
    } finally {
        ear?.end();
    }
}

function isNewest(told: readonly LedgerEvent[], next: number, newest: number | null): boolean {
    const [first] = told;
    return first === undefined ? newest === next - 1 : first.seq <= next && told.at(-1)?.seq === newest;
}

/** What a reader changes is its own. */
function* copiesOf(told: readonly LedgerEvent[], next: number): Generator<LedgerEvent> {
    for (const event of told) if (event.seq >= next) yield structuredClone(event);
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
