/**
 * Uses that are counted by the day, in PostgreSQL.
 *
 * Boundary: one table of its own, made with the first use that is counted; the rules are in `../uses.ts`.
 *
 * PGU1: one counts at a time, under a lock of the database: two that read one number would both have the last use.
 */
import { DAY_MS, type Use, type Uses } from "../uses.ts";
import type { Connections } from "./connections.ts";

const MAKE = `CREATE TABLE IF NOT EXISTS uses (
    counter text NOT NULL, run text NOT NULL, place text NOT NULL, at bigint NOT NULL, PRIMARY KEY (counter, run, place)
)`;
/** Of an advisory lock. */
const COUNTING = 0x526d6975;
const ALONE = `SELECT pg_advisory_xact_lock(${COUNTING}, 'runs'::regclass::oid::int)`;
const FULL = "SELECT count(*)::int AS times FROM uses WHERE counter = $1";

/** `now`: of the database, whose clock all processes share. */
export function postgresUses(connections: Pick<Connections, "rows" | "transaction">, now: () => number): Uses {
    type Query = Parameters<Parameters<Connections["transaction"]>[0]>[0];
    const alone = (work: (query: Query) => Promise<void>): Promise<void> =>
        connections.transaction(async (query) => {
            await query("SET LOCAL synchronous_commit = on");
            await query(ALONE);
            await query(MAKE);
            await work(query);
        });
    return {
        count: async ({ counter, run, place }: Use, most) => {
            let counted = false;
            await alone(async (query) => {
                const at = now();
                await query("DELETE FROM uses WHERE counter = $1 AND at <= $2", [counter, at - DAY_MS]);
                const known = await query("SELECT 1 FROM uses WHERE counter = $1 AND run = $2 AND place = $3", [counter, run, place]);
                const [full] = most === null ? [] : await query<{ times: number }>(FULL, [counter]);
                counted = known.length > 0 || full === undefined || full.times < (most ?? 0);
                if (counted && known.length === 0) await query("INSERT INTO uses VALUES ($1, $2, $3, $4)", [counter, run, place, at]);
            });
            return counted;
        },
        uncount: ({ counter, run, place }) =>
            alone(async (query) => {
                await query("DELETE FROM uses WHERE counter = $1 AND run = $2 AND place = $3", [counter, run, place]);
            }),
        today: async (counter) => {
            const [made] = await connections.rows("SELECT 1 FROM pg_tables WHERE tablename = 'uses' AND schemaname = current_schema()");
            if (made === undefined) return 0;
            const [row] = await connections.rows<{ times: number }>(`${FULL} AND at > $2`, [counter, now() - DAY_MS]);
            return row?.times ?? 0;
        },
    };
}
