/**
 * Removing runs from PostgreSQL.
 *
 * Boundary: rows of whole runs, and the texts and programs that only they need (PGT4). The database uses the room again.
 *
 * PRM1: all of a run goes in one transaction, and a note that it went stays, under the key: anchors of other machines do not miss it.
 */
import { LedgerError } from "../error.ts";
import { type Owner, parseOwner } from "../lease.ts";
import type { RunRow } from "../rows.ts";
import type { Connections } from "./connections.ts";
import { ALONE } from "./schema.ts";

export interface Removing {
    isLive(owner: Owner, beat: number): boolean;
    /** Of the note. */
    code(run: string): string;
}

/** Rejects with `LedgerError` `owned` where one of them goes on; then none is removed. */
export async function removeRuns(connections: Connections, rows: readonly RunRow[], { isLive, code }: Removing): Promise<void> {
    const keys = rows.map(({ key }) => key);
    const ids = rows.map(({ id }) => id);
    await connections.transaction(async (query) => {
        await query("SET LOCAL synchronous_commit = on");
        await query(ALONE);
        const now = await query<Pick<RunRow, "id" | "owner" | "beat">>(
            "SELECT id, owner, beat FROM runs WHERE key = ANY ($1) ORDER BY key FOR UPDATE",
            [keys],
        );
        const running = now.find(({ owner, beat }) => isRunning(owner, beat, isLive));
        if (running !== undefined) throw new LedgerError("owned", `run ${running.id} goes on in another process`);
        for (const table of ["events", "outcomes", "continuations", "early"])
            await query(`DELETE FROM ${table} WHERE run = ANY ($1)`, [keys]);
        for (const table of ["asks", "ask_notes"]) await query(`DELETE FROM ${table} WHERE run = ANY ($1)`, [ids]);
        await query("DELETE FROM runs WHERE key = ANY ($1)", [keys]);
        await query("INSERT INTO removed (run, mac) SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING", [
            ids,
            ids.map(code),
        ]);
        const texts = await query<{ sha256: string }>("DELETE FROM claims WHERE run = ANY ($1) RETURNING sha256", [ids]);
        const names = [...new Set(texts.map(({ sha256 }) => sha256))];
        const bases = await query<{ base: string }>("SELECT base FROM blobs WHERE sha256 = ANY ($1) AND base IS NOT NULL", [names]);
        // Once for texts on a base, and once for the bases that none needs any more (CPR2).
        for (const some of [names, [...names, ...bases.map(({ base }) => base)]])
            await query(
                `DELETE FROM blobs b WHERE b.sha256 = ANY ($1) AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.sha256 = b.sha256)
                    AND NOT EXISTS (SELECT 1 FROM blobs d WHERE d.base = b.sha256)`,
                [some],
            );
        const programs = [...new Set(rows.map(({ program }) => program))];
        await query("DELETE FROM programs p WHERE p.hash = ANY ($1) AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.program = p.hash)", [
            programs,
        ]);
    });
}

/** An owner that cannot be read is none. */
function isRunning(owner: string | null, beat: number, isLive: Removing["isLive"]): boolean {
    try {
        const read = parseOwner(owner);
        return read !== null && isLive(read, beat);
    } catch (error) {
        if (error instanceof SyntaxError) return false;
        throw error;
    }
}
