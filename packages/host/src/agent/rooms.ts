/**
 * Where the sandboxes of agents keep what a later process needs to take a session up again: a folder of each session, in the user's state folder.
 *
 * Boundary: names, makes and removes folders. What is in them is the agent's.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { type Environment, stateFolder } from "../ledger/place.ts";
import { inRoot } from "./hands.ts";

/** How long a session that no process came back to is kept, milliseconds. */
const KEPT_MS = 30 * 24 * 3_600_000;

export interface SessionRooms {
    /** Absolute folder of the session with this key, empty where that is new; null where there is no place for it: the session then ends with its process. */
    of(key: string, isNew: boolean): string | null;
    remove(key: string): void;
}

/** `workspace`: absolute. A state folder inside it is no place: agents that are granted the workspace would reach what other sessions keep. */
export function sessionRooms(env: Environment, workspace: string): SessionRooms {
    const at = (key: string): string | null => {
        try {
            const state = stateFolder(env);
            if (inRoot(workspace, state) !== null) return null;
            return join(state, "agents", createHash("sha256").update(key).digest("hex").slice(0, 32));
        } catch (error) {
            if (isNoPlace(error)) return null;
            throw error;
        }
    };
    return {
        of: (key, isNew) => {
            const path = at(key);
            if (path === null) return null;
            try {
                if (isNew) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
                mkdirSync(path, { recursive: true, mode: 0o700 });
                const now = new Date();
                utimesSync(path, now, now);
                removeOld(join(path, ".."));
                return path;
            } catch (error) {
                if (isNoPlace(error)) return null;
                throw error;
            }
        },
        remove: (key) => {
            const path = at(key);
            if (path !== null) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
        },
    };
}

function removeOld(folder: string): void {
    for (const name of readdirSync(folder)) {
        const path = join(folder, name);
        const used = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
        if (used !== undefined && used < Date.now() - KEPT_MS) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    }
}

/** A state folder that cannot be written, as in a container. */
function isNoPlace(error: unknown): boolean {
    return ["EACCES", "EPERM", "EROFS", "ENOENT", "ENOTDIR", "ENOSPC"].includes(String((error as NodeJS.ErrnoException).code));
}
