/**
 * The rows of uses that are counted by the day, in PostgreSQL.
 *
 * Boundary: one table of its own, made with the first use that is counted; the rules are in `../uses.ts`.
 *
 * PGU1: a row is put under a lock of the database: two that find none would both make one.
 */
import type { UseRow, UseRows } from "../uses.ts";
import type { Connections } from "./connections.ts";

const MAKE = `CREATE TABLE IF NOT EXISTS counters (
    counter text PRIMARY KEY, version bigint NOT NULL, series text NOT NULL, uses text NOT NULL, mac text NOT NULL
)`;
/** Of an advisory lock. */
const COUNTING = 0x526d6975;
const ALONE = `SELECT pg_advisory_xact_lock(${COUNTING}, 'runs'::regclass::oid::int)`;

export function postgresUseRows(connections: Pick<Connections, "rows" | "transaction">): UseRows {
    return {
        get: async (counter) => {
            const [made] = await connections.rows("SELECT 1 FROM pg_tables WHERE tablename = 'counters' AND schemaname = current_schema()");
            if (made === undefined) return null;
            const sql = "SELECT counter, version, series, uses, mac FROM counters WHERE counter = $1";
            return (await connections.rows<UseRow>(sql, [counter]))[0] ?? null;
        },
        put: async ({ counter, version, series, uses, mac }, before) => {
            let isPut = false;
            await connections.transaction(async (query) => {
                await query("SET LOCAL synchronous_commit = on");
                await query(ALONE);
                await query(MAKE);
                const stands = await query<{ mac: string }>("SELECT mac FROM counters WHERE counter = $1", [counter]);
                isPut = (stands[0]?.mac ?? null) === before;
                if (!isPut) return;
                const sql = `INSERT INTO counters VALUES ($1, $2, $3, $4, $5)
                    ON CONFLICT (counter) DO UPDATE SET version = $2, series = $3, uses = $4, mac = $5`;
                await query(sql, [counter, version, series, uses, mac]);
            });
            return isPut;
        },
    };
}
