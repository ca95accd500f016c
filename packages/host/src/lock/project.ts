/**
 * The lock of a project: its programs are loaded, looked at, and written down or compared.
 *
 * Boundary: loading and configuration put together for `lock.ts`.
 */
import { resolve } from "node:path";
import { loadProgram } from "../load/load.ts";
import { findRoot } from "../load/tree.ts";
import { settingOf } from "../config/setting.ts";
import type { HostOptions } from "../run/setup.ts";
import { type Lock, type LockChange, lockChanges, lockPath, lockText, readLock, withLock, writeLock } from "./lock.ts";
import { lockNow } from "./now.ts";
import { keepSaid } from "./said.ts";
import type { Said } from "./tools.ts";

export interface LockOptions extends Pick<HostOptions, "workspace" | "env" | "trust"> {
    /** Writes nothing. */
    readonly check?: boolean;
}

export interface Locked {
    /** Absolute path of the lock. */
    readonly path: string;
    /** By the name of the program's main file. What was not as it was locked. */
    readonly changes: { readonly [file: string]: readonly LockChange[] };
    /** How many agents, skills and tools are pinned now. */
    readonly pinned: number;
    /** The file was written, and says something else than before. */
    readonly written: boolean;
}

/**
 * Pins the agents, skills and tools of programs that lie in one tree, or tells how they differ from what is pinned. Throws `RemitError`, and `LoadError`
 * where a program has errors.
 */
export async function lockPrograms(files: readonly string[], options: LockOptions = {}): Promise<Locked> {
    const root = findRoot(resolve(files[0] as string));
    const before = readLock(root);
    let lock: Lock | null = before;
    const changes: { [file: string]: readonly LockChange[] } = {};
    const said: Said = new Map();
    for (const path of files) {
        const setting = await settingOf(path, options);
        const loaded = await loadProgram({ path }, { config: setting.config, here: setting.here, root });
        const now = await lockNow(loaded, { ...setting, env: setting.here.env }, said);
        changes[loaded.file] = lockChanges(before?.programs[loaded.file], now);
        lock = withLock(lock, loaded.file, now);
    }
    const written = options.check !== true && lock !== null && (before === null || lockText(before) !== lockText(lock));
    if (written && lock !== null) writeLock(root, lock);
    if (options.check !== true && lock !== null) keepSaid(root, lock, said);
    const pinned = Object.values(lock?.programs ?? {}).reduce(
        (sum, one) => sum + [one.agents, one.skills, one.tools ?? {}].reduce((all, each) => all + Object.keys(each).length, 0),
        0,
    );
    return { path: lockPath(root), changes, pinned, written };
}

/** Files that the lock of a tree names, absolute; empty where there is none. */
export function lockedPrograms(folder: string): string[] {
    const root = findRoot(resolve(folder, "x"));
    return Object.keys(readLock(root)?.programs ?? {}).map((file) => resolve(root, file));
}
