/**
 * A copy of a folder, in which an agent that writes files itself makes the edits that were allowed.
 *
 * Boundary: makes the copy, opens and closes files in it. What may be written is decided elsewhere; the folder itself is never written here.
 *
 * WC1: nothing in the copy has leave to be written until an edit is allowed: then its file has, and the folder that it lies in, until the call is over.
 *     An agent that changes permissions changes the copy alone, which is thrown away.
 * WC2: what is not copied (packages, Git's folder, what is beyond the bounds) is shown as it is, and cannot be written.
 * WC3: what is in the copy is hostile: once the agent runs, the copy is reached by a jail alone.
 */
import { chmodSync, constants, copyFileSync, lstatSync, mkdirSync, readdirSync, type Stats, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { OWN } from "../process/own-folders.ts";
import { type Jail, jail } from "../tool/jail.ts";
import { type Nearest, nearestIn } from "../tool/nearest.ts";
import { ToolFail } from "../tool/tool.ts";

const COPIED: Nearest = {
    files: 4000,
    bytes: 64 * 1024 * 1024,
    leftOut: new Set([OWN]),
    untaken: new Set([".git", "node_modules", ".venv", "venv", "__pycache__"]),
};
/** Each takes arguments of the sandbox's command. */
const MAX_SHOWN = 200;

export interface WorkingCopy {
    /** Absolute paths: the folder, its copy, and what is shown as it is. */
    readonly of: string;
    readonly at: string;
    readonly shown: readonly string[];
    /** Takes what changed in the folder. */
    refresh(): void;
    /** A file can be written in the copy, as it is now. False: it cannot. `path`: relative to the folder. */
    open(path: string): boolean;
    /** It cannot be written any more. What the agent made of it; null where it is not there. */
    close(path: string): Buffer | null;
    /** What the folder has; null where it has none. */
    now(path: string): Buffer | null;
}

/** `at`: an empty folder. Null: the folder holds too much that cannot be copied. */
export function workingCopy(of: string, at: string): WorkingCopy | null {
    const shown: string[] = [];
    const stamps = new Map<string, string>();
    const folders = [at];
    for (const { path, stats, isTaken } of nearestIn(of, COPIED)) {
        const [source, target] = [join(of, path), join(at, path)];
        if (stats.isDirectory()) mkdirSync(target, { mode: 0o755 });
        if (isTaken && stats.isDirectory()) folders.push(target);
        if (isTaken && stats.isFile() && copied(source, target, stats)) stamps.set(path, stampOf(stats));
        else if (!isTaken || stats.isFile()) {
            if (stats.isFile()) writeFileSync(target, "");
            shown.push(source);
            if (shown.length > MAX_SHOWN) return null;
        }
    }
    // An empty folder is put there, as everywhere.
    if (lstatSync(join(of, OWN), { throwIfNoEntry: false })?.isDirectory() === true) mkdirSync(join(at, OWN), { mode: 0o755 });
    for (const folder of folders) chmodSync(folder, 0o555);
    return new Copy(of, at, shown, stamps);
}

function copied(source: string, target: string, { mode }: Stats): boolean {
    try {
        copyFileSync(source, target, constants.COPYFILE_FICLONE);
    } catch {
        // It may not be read.
        return false;
    }
    chmodSync(target, mode & 0o555);
    return true;
}

const stampOf = ({ mtimeMs, size, ino }: Stats): string => `${mtimeMs} ${size} ${ino}`;

class Copy implements WorkingCopy {
    readonly of: string;
    readonly at: string;
    readonly shown: readonly string[];
    private readonly folder: Jail;
    private readonly copy: Jail;
    private readonly stamps: Map<string, string>;
    /** Files that are open, and the folder that can be written for each. */
    private readonly writable = new Map<string, string>();

    constructor(of: string, at: string, shown: readonly string[], stamps: Map<string, string>) {
        this.of = of;
        this.at = at;
        this.shown = shown;
        this.stamps = stamps;
        this.folder = jail(of);
        this.copy = jail(at);
    }

    refresh(): void {
        const gone = new Set(this.stamps.keys());
        for (const { path, stats } of nearestIn(this.of, COPIED)) {
            gone.delete(path);
            const stamp = stampOf(stats);
            if (!stats.isFile() || this.stamps.get(path) === stamp) continue;
            if (this.open(path)) this.close(path);
            this.stamps.set(path, stamp);
        }
        for (const path of gone) {
            if (this.open(path)) this.close(path);
            this.stamps.delete(path);
        }
    }

    open(path: string): boolean {
        if (this.shown.some((one) => join(this.of, path) === one || join(this.of, path).startsWith(`${one}/`))) return false;
        try {
            const to = this.copy.target(path);
            const [now, made] = [this.now(path), this.copy.before(to)];
            const near = this.nearest(path);
            this.permit(near, (mode) => mode | 0o700);
            this.writable.set(path, near);
            if (now === null && made !== null) this.copy.remove(to);
            if (now !== null && made?.equals(now) !== true) this.copy.replace(to, now, made);
            if (now !== null) this.permit(path, (mode) => mode | 0o600);
            return true;
        } catch (error) {
            // The agent's own write fails, and the agent says so.
            if (error instanceof ToolFail) return false;
            throw error;
        }
    }

    now(path: string): Buffer | null {
        return this.folder.before(this.folder.target(path));
    }

    close(path: string): Buffer | null {
        const near = this.writable.get(path);
        this.writable.delete(path);
        try {
            return this.copy.before(this.copy.target(path));
        } finally {
            const open = new Set(this.writable.values());
            for (const one of [path, near ?? ".", this.nearest(path)])
                if (!open.has(one) && this.isThere(one)) this.permit(one, (mode) => mode & 0o555);
        }
    }

    /** The innermost folder on the way to a file that is there. */
    private nearest(path: string): string {
        let at = dirname(path);
        while (at !== "." && lstatSync(join(this.at, at), { throwIfNoEntry: false })?.isDirectory() !== true) at = dirname(at);
        return at;
    }

    private isThere(path: string): boolean {
        return lstatSync(join(this.at, path), { throwIfNoEntry: false }) !== undefined;
    }

    private permit(path: string, change: (mode: number) => number): void {
        this.copy.permit(this.copy.existing(path), change);
    }
}

/** So that it can be removed. Links are not followed. */
export function unlock(folder: string): void {
    chmodSync(folder, 0o700);
    for (const one of readdirSync(folder, { withFileTypes: true })) if (one.isDirectory()) unlock(join(folder, one.name));
}
