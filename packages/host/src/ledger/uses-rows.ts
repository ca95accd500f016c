/**
 * The rows of uses that are counted by the day: in a ledger's file, or in memory.
 *
 * Boundary: one table of its own in the ledger's file, made with the first use that is counted; the rules are in `uses.ts`.
 */
import type { DatabaseSync } from "node:sqlite";
import { queriesOf } from "./reading.ts";
import type { Writing } from "./thread.ts";
import type { UseRow, UseRows } from "./uses.ts";

/** `read`: reads, its errors told in the ledger's words. */
export function sqliteUseRows(db: DatabaseSync, writing: Writing, read: <T>(work: () => T) => T): UseRows {
    const query = queriesOf(db);
    return {
        get: async (counter) =>
            read(() => {
                if (db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'counters'").get() === undefined) return null;
                const sql = "SELECT counter, version, series, uses, mac FROM counters WHERE counter = ?";
                return (query(sql).get(counter) as unknown as UseRow | undefined) ?? null;
            }),
        put: async ({ counter, version, series, uses, mac }, before) => {
            const changes = await writing.run({
                statements: [
                    ["makeUses"],
                    before === null
                        ? ["insertUses", counter, version, series, uses, mac]
                        : ["changeUses", version, series, uses, mac, counter, before],
                ],
            });
            return changes[1] === 1;
        },
    };
}

export function memoryUseRows(): UseRows {
    const kept = new Map<string, UseRow>();
    return {
        get: async (counter) => kept.get(counter) ?? null,
        put: async (row, before) => {
            if ((kept.get(row.counter)?.mac ?? null) !== before) return false;
            kept.set(row.counter, row);
            return true;
        },
    };
}
