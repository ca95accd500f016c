/**
 * Where the sandboxes of agents keep what a later process needs to take a session up again: a folder of each session, in the user's state folder.
 *
 * Boundary: names, makes and removes folders. What is in them is the agent's.
 *
 * RMS1: each time that a session begins it has another folder, and only what was opened here is removed here: a turn may begin anew while the
 *     process of its last telling still ends.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, rmdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { type Environment, stateFolder } from "../ledger/place.ts";
import { inRoot } from "./hands.ts";

/** How long a session that no process came back to is kept, milliseconds. */
const KEPT_MS = 30 * 24 * 3_600_000;

export interface SessionRooms {
    /** Absolute folder of the session with this key, empty where that is new; null where there is no place for it: the session then ends with its process. */
    of(key: string, isNew: boolean): string | null;
    /** What was opened here; where nothing was, all that there is of the session. */
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
    const opened = new Map<string, string>();
    return {
        of: (key, isNew) => {
            const session = at(key);
            if (session === null) return null;
            try {
                mkdirSync(session, { recursive: true, mode: 0o700 });
                const path = join(session, (isNew ? undefined : lastIn(session)) ?? randomUUID());
                mkdirSync(path, { recursive: true, mode: 0o700 });
                const now = new Date();
                utimesSync(session, now, now);
                removeOld(join(session, ".."));
                opened.set(key, path);
                return path;
            } catch (error) {
                if (isNoPlace(error)) return null;
                throw error;
            }
        },
        remove: (key) => {
            const session = at(key);
            if (session === null) return;
            const path = opened.get(key);
            opened.delete(key);
            rmSync(path ?? session, { recursive: true, force: true, maxRetries: 3 });
            if (path !== undefined) removeEmpty(session);
        },
    };
}

/** The folder that was begun last. An earlier build kept one telling alone, in the folder of the session itself. */
function lastIn(session: string): string | undefined {
    const begun = (name: string): number => statSync(join(session, name), { throwIfNoEntry: false })?.birthtimeMs ?? 0;
    const all = readdirSync(session);
    const tellings = all.filter((name) => name !== "home" && name !== "work").sort((a, b) => begun(a) - begun(b));
    return tellings.at(-1) ?? (all.includes("home") ? "" : undefined);
}

function removeEmpty(folder: string): void {
    try {
        rmdirSync(folder);
    } catch (error) {
        // Another telling has begun in it, or removed it.
        if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(String((error as NodeJS.ErrnoException).code))) throw error;
    }
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
