/**
 * Opening a ledger file: made private where there is none, refused where it is not ours or too new, brought up where it is older.
 *
 * Boundary: the file and its schema; no runs.
 */
import { accessSync, constants, lstatSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { LedgerError } from "./error.ts";
import { hasStrangeJournal } from "./journal.ts";
import { appear } from "./place.ts";
import { APPLICATION_ID, MIGRATIONS, SCHEMA, SCHEMA_VERSION } from "./schema.ts";

export interface SqliteOptions {
    /** Folder that holds the key for anchors and bound runs. */
    readonly config: string;
    /** Folder that remembers which answers were not used yet. Default: `config`. */
    readonly state?: string;
    /** How long to wait for another process's lock, milliseconds. */
    readonly timeout?: number;
    /** At most so many pages of 4 KiB: a ledger that may not grow without bound. */
    readonly maxPages?: number;
    readonly readOnly?: boolean;
    /** Between two heartbeats of an owner, milliseconds. */
    readonly beat?: number;
    /** So many runs write at once before a thread is begun for them. Default: 2. */
    readonly threadFrom?: number;
    /** So many jobs of that thread lie between two checkpoints. Default: 1,000. */
    readonly checkpointFrom?: number;
}

/** Where marks of counters are kept (UOD4). `ledger`: its name among others. */
export function marksOf({ config, state }: Pick<SqliteOptions, "config" | "state">, ledger: string): string {
    return join(state ?? config, "uses", `${ledger}.db`);
}

/** SQLite holds each row's type to its text; a virtual table has the type of an ordinary one. */
const CODE = "SELECT 1 FROM sqlite_schema WHERE type IN ('trigger', 'view') OR (type = 'table' AND sql NOT LIKE 'CREATE TABLE %')";

export function connect(path: string, options: SqliteOptions): DatabaseSync {
    const there = statSync(path, { throwIfNoEntry: false });
    // SQLite would leave its own files beside a device, as root does in /dev.
    if (there?.isFile() === false) throw new LedgerError("foreign", `${path} is not a regular file`);
    // A ledger that cannot be made (the disk is full) leaves nothing behind. Where a link stands, SQLite makes what it leads to.
    if (options.readOnly !== true && lstatSync(path, { throwIfNoEntry: false }) === undefined)
        appear(path, (draft) => {
            const db = new DatabaseSync(draft);
            try {
                migrate(db, path);
            } finally {
                db.close();
            }
        });
    if (hasStrangeJournal(path))
        throw new LedgerError("foreign", `${path} has a journal that names a file to be removed, as no Remit ledger's does`);
    const db = new DatabaseSync(options.readOnly === true ? placeForReading(path) : path, {
        timeout: options.timeout ?? 5_000,
        readOnly: options.readOnly === true,
    });
    try {
        // A file that came with a project of another author may hold code that runs at our writes, for ever if it likes.
        if (db.prepare(CODE).get() !== undefined)
            throw new LedgerError("foreign", `${path} has triggers, views or virtual tables, as no Remit ledger has`);
        const { user_version: version } = db.prepare("PRAGMA user_version").get() as { user_version: number };
        if (version !== SCHEMA_VERSION) migrate(db, path);
        const { application_id: application } = db.prepare("PRAGMA application_id").get() as { application_id: number };
        if (application !== APPLICATION_ID) throw new LedgerError("foreign", `${path} is not a Remit ledger`);
        // A copy that was made with VACUUM INTO or a dump has another journal; what is not synced at once needs this one (Q4).
        if (options.readOnly !== true) db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
        if (options.maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${Math.trunc(options.maxPages)}`);
        return db;
    } catch (error) {
        db.close();
        throw error;
    }
}

/**
 * SQLite reads a file with a write-ahead log only where it may make its own files beside it. Where no user can write there, nothing can change
 * either, so the file is read as it stands; not where a log is left over, which holds commits that are not in the file yet.
 */
function placeForReading(path: string): string | URL {
    try {
        accessSync(dirname(path), constants.W_OK);
        return path;
    } catch {
        // not writable, whatever the reason
        const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
        if (log !== undefined && log.size > 0) return path;
        const url = pathToFileURL(path);
        url.searchParams.set("immutable", "1");
        return url;
    }
}

function migrate(db: DatabaseSync, path: string): void {
    const read = (name: string): number => (db.prepare(`PRAGMA ${name}`).get() as { [name: string]: number })[name] as number;
    const tables = (): number => (db.prepare("SELECT count(*) AS n FROM sqlite_schema").get() as { n: number }).n;
    if (read("application_id") !== APPLICATION_ID && tables() > 0) throw new LedgerError("foreign", `${path} is not a Remit ledger`);
    if (read("user_version") > SCHEMA_VERSION)
        throw new LedgerError(
            "schema",
            `the ledger ${path} has schema version ${read("user_version")}, this Remit knows ${SCHEMA_VERSION}`,
        );
    // Changing the journal mode cannot be part of a transaction; it stays with the file.
    db.exec("PRAGMA journal_mode = WAL");
    db.exec("BEGIN IMMEDIATE");
    try {
        // Another process may have made the tables while this one waited for the lock.
        let version = read("user_version");
        if (version === 0 && tables() === 0) {
            db.exec(SCHEMA);
            db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
            version = SCHEMA_VERSION;
        }
        for (; version < SCHEMA_VERSION; version++) {
            const step = MIGRATIONS[version];
            if (step === undefined)
                throw new LedgerError(
                    "schema",
                    `the ledger ${path} has schema version ${version}, which this Remit cannot bring up to ${SCHEMA_VERSION}`,
                );
            db.exec(step);
        }
        db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
        db.exec("COMMIT");
    } catch (error) {
        if (db.isTransaction) db.exec("ROLLBACK");
        throw error;
    }
}
