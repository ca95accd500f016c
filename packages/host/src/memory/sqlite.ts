/**
 * Memory in a SQLite table, as AgentScript lays it out.
 *
 * Boundary: one database file; what a query means is in `memory.ts`.
 *
 * Y4: several processes may use it at once: write-ahead log, and writers wait for one another.
 * Y8: a file that came with a project of another author may hold code: one whose table of records is a view, or has triggers, is refused, because these
 *     would run at our reads and writes, without an end if they like; so is one whose journal names a file to be removed (JO1).
 */
import { lstatSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { isObject, type Json } from "@remit/language";
import { hasStrangeJournal } from "../ledger/journal.ts";
import { appear } from "../ledger/place.ts";
import { ToolFail } from "../tool/tool.ts";
import type { Envelope, Store } from "./memory.ts";

const SCHEMA = `CREATE TABLE IF NOT EXISTS memory_records (
    namespace TEXT NOT NULL, id TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    kind TEXT, text TEXT, record_json TEXT NOT NULL, origins TEXT, PRIMARY KEY (namespace, id));
    CREATE INDEX IF NOT EXISTS memory_newest ON memory_records (namespace, created_at)`;
const CODE = `SELECT 1 FROM sqlite_schema WHERE (type = 'trigger' AND tbl_name = 'memory_records' COLLATE NOCASE)
    OR (type = 'view' AND name = 'memory_records' COLLATE NOCASE)`;
const BUSY_MS = 10_000;
/** Rows fetched at a time, so that a query with a small limit does not read the whole table. */
const PAGE = 256;

export async function sqliteStore(path: string, shown: string, namespace: string): Promise<Store> {
    const { DatabaseSync } = await import("node:sqlite");
    // SQLite would leave its own files beside a device.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new ToolFail(`${shown} is not a regular file`);
    const ready = `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${SCHEMA}`;
    if (hasStrangeJournal(path))
        throw new ToolFail(`${shown} has a journal that names a file to be removed, which is not done`, { kind: "denied" });
    let database: DatabaseSync | null = null;
    try {
        if (lstatSync(path, { throwIfNoEntry: false }) === undefined)
            appear(path, (draft) => {
                const made = new DatabaseSync(draft);
                try {
                    made.exec(ready);
                } finally {
                    made.close();
                }
            });
        database = new DatabaseSync(path, { timeout: BUSY_MS });
        // Y8
        if (database.prepare(CODE).get() !== undefined)
            throw new ToolFail(`${shown} has code at its records (a trigger or a view), which is not run`, { kind: "denied" });
        database.exec(ready);
        // A table of AgentScript's, or of an earlier Remit: what is in it says nothing of its origins.
        if (database.prepare("SELECT 1 FROM pragma_table_info('memory_records') WHERE name = 'origins'").get() === undefined)
            addColumn(database);
    } catch (error) {
        database?.close();
        if (error instanceof ToolFail) throw error;
        throw new ToolFail(`${shown} cannot be used as a database: ${Error.isError(error) ? error.message : String(error)}`);
    }
    const insert = database.prepare(
        "INSERT INTO memory_records (namespace, id, created_at, updated_at, kind, text, record_json, origins) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    );
    // The row id tells which of two records of one millisecond came later.
    const page = database.prepare(
        "SELECT rowid, id, created_at, updated_at, record_json, origins FROM memory_records WHERE namespace = ? AND (created_at, rowid) < (?, ?) ORDER BY created_at DESC, rowid DESC LIMIT ?",
    );
    return {
        add: async ({ id, created_at, updated_at, record, origins }) => {
            const from = origins === undefined ? null : JSON.stringify(origins);
            insert.run(namespace, id, created_at, updated_at, column(record.kind), column(record.text), JSON.stringify(record), from);
        },
        newest: async function* () {
            let [before, row] = ["\u{10ffff}", Number.MAX_SAFE_INTEGER];
            for (;;) {
                const rows = page.all(namespace, before, row, PAGE) as {
                    rowid: number;
                    id: string;
                    created_at: string;
                    updated_at: string;
                    record_json: string;
                    origins: string | null;
                }[];
                for (const one of rows) {
                    [before, row] = [one.created_at, one.rowid];
                    yield {
                        id: one.id,
                        created_at: one.created_at,
                        updated_at: one.updated_at,
                        record: recordOf(one.record_json, one.id, shown),
                        ...(one.origins === null ? {} : { origins: originsOf(one.origins, one.id, shown) }),
                    };
                }
                if (rows.length < PAGE) return;
            }
        },
        close: () => database.close(),
    };
}

function addColumn(database: DatabaseSync): void {
    try {
        database.exec("ALTER TABLE memory_records ADD COLUMN origins TEXT");
    } catch (error) {
        // Another process was faster.
        if (database.prepare("SELECT 1 FROM pragma_table_info('memory_records') WHERE name = 'origins'").get() === undefined) throw error;
    }
}

function originsOf(text: string, id: string, shown: string): readonly string[] {
    try {
        const origins = JSON.parse(text) as Json;
        if (Array.isArray(origins) && origins.every((one) => typeof one === "string")) return origins as string[];
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
    }
    throw new ToolFail(`the record ${id} of ${shown} has origins that cannot be read`);
}

function column(value: Json | undefined): string | null {
    return typeof value === "string" ? value : null;
}

function recordOf(text: string, id: string, shown: string): Envelope["record"] {
    try {
        const record = JSON.parse(text) as Json;
        if (isObject(record)) return record;
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
    }
    throw new ToolFail(`the record ${id} of ${shown} is not a JSON object`);
}
