/**
 * The undo journal: what a file was before a tool changed it, by the id of the effect.
 *
 * Boundary: entries as private files outside the workspace; what undoing means is the file tool's.
 *
 * JU1: an entry is written before the change it describes, and taken out when it was undone.
 * JU2: what a program hands back is only an id. Path and content come from the entry, so that nothing can be forged into an `undo`.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { privateFolder, writePrivate } from "../ledger/place.ts";
import { fileProblem } from "./tool.ts";

export interface Change {
    /** From the workspace. */
    readonly path: string;
    readonly existed: boolean;
    /** Base64; empty where nothing existed. */
    readonly previous: string;
    /** SHA-256 of the content after the change, hexadecimal. */
    readonly after: string;
}

export interface Journal {
    /** False where it could not be written: the change cannot be undone. */
    keep(id: string, change: Change): boolean;
    find(id: string): Change | null;
    forget(id: string): void;
}

/** Entries are kept this long, milliseconds. */
const KEPT = 30 * 24 * 3600 * 1000;
const ID = /^[0-9a-f-]{36}$/;

export function journal(state: string, workspace: string): Journal {
    const folder = join(state, "undo", createHash("sha256").update(workspace).digest("hex").slice(0, 24));
    let pruned = false;
    const fileOf = (id: string): string => join(folder, `${id}.json`);

    function prune(): void {
        pruned = true;
        for (const name of readdirSync(folder)) {
            const path = join(folder, name);
            const stat = statSync(path, { throwIfNoEntry: false });
            if (stat !== undefined && Date.now() - stat.mtimeMs > KEPT) rmSync(path, { force: true });
        }
    }
    return {
        keep: (id, change) => {
            try {
                privateFolder(folder);
                if (!pruned) prune();
                writePrivate(fileOf(id), JSON.stringify(change));
                return true;
            } catch (error) {
                if (fileProblem(error) === null) throw error;
                return false;
            }
        },
        find: (id) => {
            if (!ID.test(id)) return null;
            try {
                return JSON.parse(readFileSync(fileOf(id), "utf8")) as Change;
            } catch (error) {
                if (error instanceof SyntaxError || fileProblem(error) !== null) return null;
                throw error;
            }
        },
        forget: (id) => {
            if (ID.test(id)) rmSync(fileOf(id), { force: true });
        },
    };
}
