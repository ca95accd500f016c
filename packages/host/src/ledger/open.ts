/**
 * Opening a ledger file without loading SQLite before it is needed.
 */
import type { SqliteOptions } from "./connect.ts";
import { configFolder, type Environment, stateFolder } from "./place.ts";
import type { LedgerStore } from "./store.ts";

/** `env`: whose folders hold what `config` and `state` do not name. */
export type StoreOptions = SqliteOptions | (Partial<SqliteOptions> & { readonly env: Environment });

/** Opens the ledger at `path`, makes it where there is none. Throws `LedgerError`. */
export async function openStore(path: string, options: StoreOptions): Promise<LedgerStore> {
    const { openSqlite } = await import("./sqlite.ts");
    if (!("env" in options)) return openSqlite(path, options);
    const { env, ...rest } = options;
    return openSqlite(
        path,
        rest.config === undefined ? { state: stateFolder(env), ...rest, config: configFolder(env) } : { ...rest, config: rest.config },
    );
}
