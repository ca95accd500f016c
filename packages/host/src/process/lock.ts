/**
 * A lock between processes: a file that only one can make.
 *
 * Boundary: one file beside what it guards. It holds the process that made it, so that a lock whose process is gone is taken over.
 */
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from "node:fs";

/** How long a lock is waited for where nothing is said, and after which age one of an unknown process is left behind, milliseconds. */
const WAIT_MS = 10_000;
const STALE_MS = 30_000;

export class LockError extends Error {
    override readonly name = "LockError";
    readonly code: "held" | "cancelled";
    constructor(code: LockError["code"], message: string) {
        super(message);
        this.code = code;
    }
}

export interface LockOptions {
    readonly signal?: AbortSignal;
    readonly waitMs?: number;
}

/** `work` ends within `STALE_MS`: after that another caller of this process takes the lock for a left one. Throws `LockError`. */
export async function withFileLock<T>(path: string, { signal, waitMs = WAIT_MS }: LockOptions, work: () => T | Promise<T>): Promise<T> {
    const until = performance.now() + waitMs;
    for (let pause = 1; !take(path); pause = Math.min(pause * 2, 50)) {
        if (signal?.aborted === true) throw new LockError("cancelled", "the call was cancelled");
        if (performance.now() > until) throw new LockError("held", `another process holds ${path}`);
        await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
    }
    try {
        return await work();
    } finally {
        rmSync(path, { force: true });
    }
}

function take(path: string): boolean {
    try {
        const fd = openSync(path, "wx", 0o600);
        try {
            writeSync(fd, String(process.pid));
        } catch (error) {
            // A lock that names no process would be waited for.
            rmSync(path, { force: true });
            throw error;
        } finally {
            closeSync(fd);
        }
        return true;
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        if (stale(path)) leaveBehind(path);
        return false;
    }
}

/** Takes a stale lock away; where two processes try, the rename succeeds for one of them. */
function leaveBehind(path: string): void {
    const aside = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
    try {
        renameSync(path, aside);
        // Between the look and the rename another process may have taken over and made its own: then that one is put back.
        if (!stale(aside)) renameSync(aside, path);
        rmSync(aside, { force: true });
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
}

function stale(path: string): boolean {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return false;
    const old = Date.now() - stat.mtimeMs;
    const pid = Number(readOr(path));
    // Made and not yet written: its process is at it.
    if (!Number.isSafeInteger(pid) || pid <= 0) return old > STALE_MS;
    if (pid === process.pid) return old > STALE_MS;
    try {
        process.kill(pid, 0);
        return false;
    } catch (error) {
        // EPERM: it lives, as another user's.
        return (error as NodeJS.ErrnoException).code === "ESRCH";
    }
}

function readOr(path: string): string {
    try {
        return readFileSync(path, "utf8");
    } catch {
        // Gone meanwhile: not stale, the next try takes it.
        return "";
    }
}
