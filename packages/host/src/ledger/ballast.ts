/**
 * The ballast: a file beside the ledger that is given back to a full disk, so that the commit in hand still fits.
 *
 * Boundary: one file (`ledger.db.ballast`); when it is needed is `jobs.ts`'s to say.
 *
 * BL1: it is released at the first commit that finds no room, and made anew where there is room for it twice.
 * BL2: a ledger without one works the same; whatever keeps it from being made is no failure of a commit.
 */
import { closeSync, openSync, rmSync, statfsSync, statSync, unlinkSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Room for the outcome in hand with its events and state, in the write-ahead log. */
const BYTES = 1024 * 1024;
/** Between two looks whether there is room again, milliseconds. */
const LOOK_MS = 1_000;

export interface Ballast {
    /** True where it was there: there is more room now. */
    release(): boolean;
    /** After a commit. */
    renew(): void;
}

/** `path`: of the ledger. */
export function ballastOf(path: string): Ballast {
    const file = `${path}.ballast`;
    let isThere = false;
    let next = 0;
    return {
        release: () => {
            isThere = false;
            next = Date.now() + LOOK_MS;
            try {
                unlinkSync(file);
                return true;
            } catch (error) {
                if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
                return false;
            }
        },
        renew: () => {
            if (isThere || Date.now() < next) return;
            next = Date.now() + LOOK_MS;
            // Not in the way of the commit, which need not wait for it.
            setImmediate(() => {
                isThere = statSync(file, { throwIfNoEntry: false }) !== undefined || made(file);
            });
        },
    };
}

function made(file: string): boolean {
    let fd: number | null = null;
    try {
        const { bavail, bsize } = statfsSync(dirname(file));
        if (bavail * bsize < 2 * BYTES) return false;
        fd = openSync(file, "wx", 0o600);
        // Written, not only lengthened: a hole takes no room.
        const bytes = Buffer.alloc(BYTES, "ballast ");
        for (let done = 0; done < BYTES; ) done += writeSync(fd, bytes, done);
        return true;
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === undefined) throw error;
        if (fd !== null) rmSync(file, { force: true });
        return false;
    } finally {
        if (fd !== null) closeSync(fd);
    }
}
