/**
 * Opening a ledger, a file or a database, without loading what opens it before it is needed.
 */
import type { SqliteOptions } from "./connect.ts";
import { configFolder, type Environment, isAddress, stateFolder } from "./place.ts";
import { addressOf } from "./address.ts";
import type { LedgerStore } from "./store.ts";

/** `env`: whose folders hold what `config` and `state` do not name. */
export type StoreOptions = SqliteOptions | (Partial<SqliteOptions> & { readonly env: Environment });

/** A path as it is, an address without user and password. Throws `LedgerError` `address`. */
export function shownLedger(ledger: string): string {
    return isAddress(ledger) ? addressOf(ledger, {}).shown : ledger;
}

/** Opens the ledger at `path`, makes it where there is none; a database where it is an address. Rejects with `LedgerError`. */
export async function openStore(path: string, options: StoreOptions): Promise<LedgerStore> {
    const whole: SqliteOptions & { readonly env?: Environment } =
        "env" in options
            ? {
                  ...options,
                  state: options.state ?? options.config ?? stateFolder(options.env),
                  config: options.config ?? configFolder(options.env),
              }
            : options;
    if (isAddress(path)) return (await import("./postgres/store.ts")).openPostgres(path, whole);
    const { env: _, ...rest } = whole;
    return (await import("./sqlite.ts")).openSqlite(path, rest);
}
