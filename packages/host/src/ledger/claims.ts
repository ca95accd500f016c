/**
 * Texts that are kept beside a run for something that is not the ledger: a shell elsewhere refers to them by their hash, where they are too large to
 * travel.
 *
 * Boundary: one table of its own in the ledger's file, made with the first of them; the texts stand among the blobs.
 *
 * CLM1: a text stays as long as one of the runs that claimed it. A claim may come before its run does.
 * CLM2: what is given back is what was put, or an error.
 */
import type { DatabaseSync } from "node:sqlite";
import { type Blobs, sha256 } from "./blob.ts";
import { Compressor } from "./compression.ts";
import { LedgerError } from "./error.ts";
import type { Writing } from "./thread.ts";

export interface Claims {
    /** Resolves, when it is durable, to the SHA-256 by which it is found. `run`: id of the run that needs it. */
    put(run: string, text: string): Promise<string>;
    /** Rejects with `LedgerError` `tampered` where it is not there any more. */
    get(name: string): Promise<string>;
}

/** `read`: reads, its errors told in the ledger's words. */
export function sqliteClaims(db: DatabaseSync, writing: Writing, blobs: Blobs, read: <T>(work: () => T) => T): Claims {
    let known = false;
    const there = (): boolean => {
        known ||= read(() => hasClaims(db));
        return known;
    };
    return {
        put: async (run, text) => {
            const name = sha256(text);
            const table = there() ? [] : [["makeClaims"] as const];
            await writing.run({ statements: new Compressor().statements([...table, ["blob", name, text], ["insertClaim", run, name]]) });
            return name;
        },
        get: async (name) => read(() => blobs(name)),
    };
}

export function hasClaims(db: DatabaseSync): boolean {
    return db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'claims'").get() !== undefined;
}

export function memoryClaims(): Claims {
    const texts = new Map<string, string>();
    return {
        put: async (_run, text) => {
            const name = sha256(text);
            texts.set(name, text);
            return name;
        },
        get: async (name) => {
            const text = texts.get(name);
            if (text === undefined) throw new LedgerError("tampered", `the ledger in memory lacks blob ${name}`);
            return text;
        },
    };
}
