/**
 * Removing runs from the embedded ledger, and giving the room back to the disk.
 *
 * Boundary: rows, blobs and anchors of whole runs. Which runs may go is the caller's decision; one that runs now never goes.
 *
 * PU1: all of a run goes in one transaction, its anchor with it, so that it is not missed; programs and blobs go when no other run needs them.
 * PU2: the file is made smaller only while nothing runs in it: that takes the lock for longer than a writer waits. Otherwise the room
 *     is used again by later runs.
 */
import type { DatabaseSync } from "node:sqlite";
import { dropAnchors } from "./anchor.ts";
import { type Blobs, blobsOf } from "./blob.ts";
import { baseOf, type Kept, textOf } from "./compression.ts";
import { LedgerError, guarded } from "./error.ts";
import { hasClaims } from "./claims.ts";
import { type Connection, transaction } from "./jobs.ts";
import { isLive, parseOwner } from "./lease.ts";
import { queriesOf, storedBlobs } from "./reading.ts";
import type { RunRow } from "./rows.ts";
import type { Removed } from "./store.ts";

/** Texts that may name blobs. */
const NAMING = [
    "SELECT data AS text, NULL AS packed FROM events",
    "SELECT state AS text, packed FROM continuations",
    "SELECT text, NULL AS packed FROM early",
    "SELECT options AS text, NULL AS packed FROM runs",
    "SELECT result AS text, NULL AS packed FROM runs WHERE result IS NOT NULL",
];

export function removeRuns({ path, db, anchors, key }: Connection, rows: readonly RunRow[]): Removed {
    const size = (): number => {
        const { page_count: pages } = db.prepare("PRAGMA page_count").get() as { page_count: number };
        const { page_size: bytes } = db.prepare("PRAGMA page_size").get() as { page_size: number };
        return pages * bytes;
    };
    const before = size();
    transaction(db, () => {
        // Made with the first question.
        const has = (table: string): boolean =>
            db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table) !== undefined;
        const [asks, notes] = [has("asks"), has("ask_notes")];
        const claims = hasClaims(db);
        const owners = db.prepare("SELECT owner, beat FROM runs WHERE key = ?");
        for (const row of rows) {
            if (isRunning(owners.get(row.key) as Pick<RunRow, "owner" | "beat"> | undefined))
                throw new LedgerError("owned", `run ${row.id} goes on in another process`);
            for (const table of ["events", "continuations"])
                db.prepare(`DELETE FROM ${table} WHERE at >= ?1 * 268435456 AND at < (?1 + 1) * 268435456`).run(row.key);
            db.prepare("DELETE FROM early WHERE run = ?").run(row.key);
            if (asks) db.prepare("DELETE FROM asks WHERE run = ?").run(row.id);
            if (notes) db.prepare("DELETE FROM ask_notes WHERE run = ?").run(row.id);
            if (claims) db.prepare("DELETE FROM claims WHERE run = ?").run(row.id);
            db.prepare("DELETE FROM runs WHERE key = ?").run(row.key);
        }
        db.exec("DELETE FROM programs WHERE hash NOT IN (SELECT program FROM runs)");
        sweep(path, db);
        dropAnchors(anchors, key(), new Set(rows.map((row) => row.id)));
    });
    const owners = db.prepare("SELECT owner, beat FROM runs WHERE owner IS NOT NULL").all() as unknown as Pick<RunRow, "owner" | "beat">[];
    const shrunk = !owners.some(isRunning) && shrink(path, db);
    return { runs: rows.length, bytes: before - size(), shrunk };
}

/** An owner that cannot be read is none. */
function isRunning(row: Pick<RunRow, "owner" | "beat"> | undefined): boolean {
    if (row === undefined) return false;
    try {
        const owner = parseOwner(row.owner);
        return owner !== null && isLive(owner, row.beat, Date.now());
    } catch (error) {
        if (error instanceof SyntaxError) return false;
        throw error;
    }
}

/** Deletes blobs that nothing names any more; a blob may name others. */
function sweep(path: string, db: DatabaseSync): void {
    const claimed = hasClaims(db) ? (db.prepare("SELECT DISTINCT sha256 AS name FROM claims").all() as { name: string }[]) : [];
    const live = new Set<string>(claimed.map(({ name }) => name));
    const query = queriesOf(db);
    const blobs = storedBlobs(path, query);
    const mark = (kept: Kept): void => {
        const base = baseOf(kept.packed);
        for (const name of [...(base === null ? [] : [base]), ...blobsOf(readable(kept, path, blobs))]) {
            if (live.has(name)) continue;
            live.add(name);
            const row = query("SELECT bytes AS text, packed FROM blobs WHERE sha256 = ?").get(name) as Kept | undefined;
            if (row !== undefined) mark(row);
        }
    };
    for (const sql of NAMING)
        for (const row of query(`SELECT text, packed FROM (${sql}) WHERE packed IS NOT NULL OR instr(text, '"$blob"') > 0`).iterate())
            mark(row as unknown as Kept);
    const remove = db.prepare("DELETE FROM blobs WHERE sha256 = ?");
    for (const { name } of db.prepare("SELECT sha256 AS name FROM blobs").all() as { name: string }[])
        if (!live.has(name)) remove.run(name);
}

/** Empty where the text was damaged: then no reader finds what it names. */
function readable(kept: Kept, path: string, blobs: Blobs): string {
    try {
        return textOf(kept, path, blobs);
    } catch (error) {
        if (error instanceof LedgerError && error.code === "tampered") return "";
        throw error;
    }
}

/** False where another process is at the file, or the disk has no room for the smaller copy that this takes. */
function shrink(path: string, db: DatabaseSync): boolean {
    try {
        guarded(path, () => db.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"));
        return true;
    } catch (error) {
        if (error instanceof LedgerError && (error.code === "busy" || error.code === "full")) return false;
        throw error;
    }
}
