/**
 * Opening a ledger file without loading SQLite before it is needed.
 */
import type { SqliteOptions } from "./connect.ts";
import type { LedgerStore } from "./store.ts";

/** Opens the ledger at `path`, makes it where there is none. Throws `LedgerError`. */
export async function openStore(path: string, options: SqliteOptions = {}): Promise<LedgerStore> {
    const { openSqlite } = await import("./sqlite.ts");
    return openSqlite(path, options);
}
