/**
 * How often things were used in a day, over all runs of a ledger: `at most 20 per day`.
 *
 * Boundary: one table of its own in the ledger's file, made with the first use that is counted. Which uses count, and for what, is the machine's.
 *
 * UOD1: a use is counted before it happens, at one stroke: of two processes that count the last one only one has it.
 * UOD2: a use that is counted a second time, as by the process that goes on after another was killed, is one use.
 * UOD3: what was counted stays although its run is removed.
 */
import type { DatabaseSync } from "node:sqlite";
import { queriesOf } from "./reading.ts";
import type { Writing } from "./thread.ts";

/** A use of a run, by its place there. */
export interface Use {
    readonly counter: string;
    readonly run: string;
    readonly place: string;
}

export interface Uses {
    /** Counts a use, unless `most` or more others were counted in the last 24 hours. `most` null: whatever was counted. True where it is counted now. */
    count(use: Use, most: number | null): Promise<boolean>;
    /** It did not happen. */
    uncount(use: Use): Promise<void>;
    /** Uses in the last 24 hours. */
    today(counter: string): Promise<number>;
}

export const DAY_MS = 24 * 3_600_000;

/** `read`: reads, its errors told in the ledger's words. */
export function sqliteUses(db: DatabaseSync, writing: Writing, read: <T>(work: () => T) => T, now: () => number = Date.now): Uses {
    const query = queriesOf(db);
    return {
        count: async ({ counter, run, place }, most) => {
            const at = now();
            const changes = await writing.run({
                statements: [
                    ["makeUses"],
                    ["dropUses", counter, at - DAY_MS],
                    ["repeatUse", counter, run, place],
                    ["insertUse", counter, run, place, at, most],
                ],
            });
            return (changes[2] ?? 0) + (changes[3] ?? 0) > 0;
        },
        uncount: async ({ counter, run, place }) => {
            await writing.run({ statements: [["makeUses"], ["dropUse", counter, run, place]] });
        },
        today: async (counter) =>
            read(() => {
                if (db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'uses'").get() === undefined) return 0;
                const row = query("SELECT count(*) AS times FROM uses WHERE counter = ? AND at > ?").get(counter, now() - DAY_MS);
                return Number((row as { times: number }).times);
            }),
    };
}

export function memoryUses(now: () => number = Date.now): Uses {
    const kept = new Map<string, Map<string, number>>();
    const recent = (counter: string): Map<string, number> => {
        const after = now() - DAY_MS;
        const all = new Map([...(kept.get(counter) ?? [])].filter(([, at]) => at > after));
        kept.set(counter, all);
        return all;
    };
    const placeOf = ({ run, place }: Use): string => JSON.stringify([run, place]);
    return {
        count: async (use, most) => {
            const all = recent(use.counter);
            if (all.has(placeOf(use))) return true;
            if (most !== null && all.size >= most) return false;
            all.set(placeOf(use), now());
            return true;
        },
        uncount: async (use) => {
            kept.get(use.counter)?.delete(placeOf(use));
        },
        today: async (counter) => recent(counter).size,
    };
}
