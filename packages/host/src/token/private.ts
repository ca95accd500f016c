/**
 * Private files of the user, read only where no other user could have read or written them.
 *
 * Boundary: one file at a time; how it is written is `writePrivate` of `../ledger/place.ts`.
 *
 * TPR1: a file that is not the user's own, that others may read or write, that is a link, or whose folder others may write is refused, with what to do.
 */
import { lstatSync, readFileSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { TokenError } from "./error.ts";

/** Largest file that is read, bytes. */
const MAX_FILE = 4 * 1024 * 1024;

/** Null where there is none. Throws `TokenError`. */
export function readPrivate(path: string): string | null {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return null;
    if (!stat.isFile())
        throw new TokenError(
            "permissions",
            `${path} is not a regular file`,
            `look at what stands there, then remove it; remit writes it anew`,
        );
    checkOwn(path, stat, 0o077, "600");
    const folder = dirname(path);
    checkOwn(folder, lstatSync(folder), 0o022, "700");
    if (stat.size > MAX_FILE)
        throw new TokenError("damaged", `${path} is larger than ${MAX_FILE} bytes`, "it is none that remit wrote: move it away");
    return readFileSync(path, "utf8");
}

function checkOwn(path: string, stat: Stats, others: number, mode: string): void {
    if (process.getuid === undefined) return;
    if (stat.uid !== process.getuid())
        throw new TokenError(
            "permissions",
            `${path} belongs to another user`,
            "tokens are read from files of your own: look at who wrote it",
        );
    if ((stat.mode & others) !== 0) {
        const what = mode === "600" ? "can be read or written by others" : "can be written by others";
        throw new TokenError("permissions", `${path} ${what}`, `chmod ${mode} ${path}; if others were there, log in again`);
    }
}
