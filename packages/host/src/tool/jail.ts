/**
 * One folder that paths cannot leave.
 *
 * Boundary: opens, replaces and removes files below a root; knows neither tools nor journals.
 *
 * J1: a path is relative, without NUL; `..` is resolved in the text and may not lead above the root.
 * J2: whatever links are on the way, the place that is opened is inside the root: the real path is computed first, opened without following a
 *     link in the last part, and the place of the open descriptor is checked again (on Linux the kernel says it, elsewhere device and inode).
 * J3: only regular files are read and replaced: a device, a pipe or a socket is never opened for more than a look.
 * J4: a file is replaced whole or not at all: written aside in the same folder, flushed, renamed. On Linux by the descriptor of that folder, so
 *     that a folder exchanged meanwhile does not lead the write elsewhere.
 * J5: `.remit` (ledger, state) is out of reach, and `.git` cannot be written: both would be ways to run something later. Compared as a file
 *     system that folds case and drops invisible characters would.
 */
import { randomBytes } from "node:crypto";
import {
    closeSync,
    constants,
    fchmodSync,
    fstatSync,
    fsyncSync,
    lstatSync,
    mkdirSync,
    openSync,
    readlinkSync,
    readSync,
    realpathSync,
    renameSync,
    type Stats,
    statSync,
    unlinkSync,
    writeSync,
} from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileProblem, ToolFail } from "./tool.ts";

/** Largest file that is read or written, bytes. */
export const MAX_FILE = 32 * 1024 * 1024;
const MAX_PATH = 4096;
const LINUX = process.platform === "linux";
const WINDOWS = process.platform === "win32";

export interface Place {
    /** Absolute, every link followed. */
    readonly real: string;
    /** As the program wrote it, tidied: `src/a.txt`, `.` for the root. */
    readonly shown: string;
}

export interface Jail {
    readonly root: string;
    /** Something that exists. */
    existing(path: string): Place;
    /** A file that may not exist yet; its folders may be missing too. */
    target(path: string): Place;
    /** True if a real path is inside and not out of reach. */
    holds(real: string): boolean;
    /** Bytes of a regular file. */
    read(place: Place, limit?: number): Buffer;
    /** Content as it is, null where there is no file. */
    before(place: Place): Buffer | null;
    /** Replaces or creates a file. `expected`: what `before` gave; something else there meanwhile is a failure. */
    replace(place: Place, bytes: Uint8Array, expected: Buffer | null): void;
    remove(place: Place): void;
}

/** `folder` must exist. */
export function jail(folder: string): Jail {
    const root = realpathSync(folder);

    const inside = (real: string): string | null => {
        const from = relative(root, real);
        return from === "" ? "." : from === ".." || from.startsWith(`..${sep}`) || from === real ? null : from;
    };
    const holds = (real: string): boolean => {
        const from = inside(real);
        return from !== null && !from.split(sep).some((part) => fold(part) === ".remit");
    };
    function parts(path: string): string[] {
        if (path.includes("\0")) throw denied(`${JSON.stringify(path.replaceAll("\0", "\\0"))} is not a path`);
        if (path.length > MAX_PATH) throw denied("the path is too long");
        if (/^[/\\]|^[A-Za-z]:[/\\]/.test(path) || (WINDOWS && path.includes(":")))
            throw denied(`'${path}' is not a path from the workspace`, "write it relative to the workspace, without / at its beginning");
        const out: string[] = [];
        for (const part of path.split(WINDOWS ? /[/\\]/ : "/")) {
            if (part === "" || part === ".") continue;
            if (part !== "..") out.push(part);
            else if (out.pop() === undefined) throw outside(path);
        }
        return out;
    }
    function checked(path: string, real: string): void {
        if (inside(real) === null) throw outside(path);
        if (!holds(real)) throw denied(`'${path}' belongs to Remit itself`);
    }
    function where(fd: number, expected: string): string {
        if (LINUX) {
            try {
                return readlinkSync(`/proc/self/fd/${fd}`);
            } catch (error) {
                // Without /proc the comparison below decides.
                if (fileProblem(error) === null) throw error;
            }
        }
        const real = realpathSync(expected);
        const [now, open] = [statSync(real), fstatSync(fd)];
        return now.ino === open.ino && now.dev === open.dev ? real : "";
    }
    /** An open regular file inside the root, or null where there is none. */
    function openFile(place: Place): { readonly fd: number; readonly stat: Stats } | null {
        const look = lstatSync(place.real, { throwIfNoEntry: false });
        if (look === undefined) return null;
        regular(place.shown, look);
        const fd = openSync(place.real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
        try {
            const stat = fstatSync(fd);
            regular(place.shown, stat);
            if (!holds(where(fd, place.real))) throw outside(place.shown);
            return { fd, stat };
        } catch (error) {
            closeSync(fd);
            throw error;
        }
    }
    function readWhole(place: Place, limit: number): { bytes: Buffer; stat: Stats } | null {
        const open = openFile(place);
        if (open === null) return null;
        try {
            if (open.stat.size > limit) throw tooLarge(place.shown, open.stat.size, limit);
            const chunks: Buffer[] = [];
            let total = 0;
            for (;;) {
                const chunk = Buffer.allocUnsafe(Math.min(1 << 20, Math.max(open.stat.size - total, 0) + 1));
                const got = readSync(open.fd, chunk);
                if (got === 0) break;
                total += got;
                if (total > limit) throw tooLarge(place.shown, total, limit);
                chunks.push(chunk.subarray(0, got));
            }
            return { bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks), stat: open.stat };
        } finally {
            closeSync(open.fd);
        }
    }
    /** The folder of a target, made where it is missing, as an open descriptor and the prefix under which its entries are reached. */
    function openFolder(place: Place): { readonly fd: number; readonly at: string } {
        const folder = dirname(place.real);
        makeFolders(folder);
        if (WINDOWS) return { fd: -1, at: realFolder(folder, place) };
        const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
        try {
            const at = where(fd, folder);
            if (at !== folder || !holds(at)) throw outside(place.shown);
            return {
                fd,
                at: LINUX && statSync(`/proc/self/fd/${fd}`, { throwIfNoEntry: false }) !== undefined ? `/proc/self/fd/${fd}` : folder,
            };
        } catch (error) {
            closeSync(fd);
            throw error;
        }
    }
    function realFolder(folder: string, place: Place): string {
        const real = realpathSync(folder);
        if (real !== folder || !holds(real)) throw outside(place.shown);
        return real;
    }
    /** One folder after the other, each looked at after it was made. */
    function makeFolders(folder: string): void {
        if (folder === root || statSync(folder, { throwIfNoEntry: false }) !== undefined) return;
        makeFolders(dirname(folder));
        try {
            mkdirSync(folder);
        } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        }
        if (realpathSync(folder) !== folder) throw outside(relative(root, folder));
    }
    function writable(place: Place): void {
        const from = inside(place.real);
        if (from?.split(sep).some((part) => fold(part) === ".git") === true)
            throw denied(`'${place.shown}' is inside .git, which is never written`, "use git itself for that");
    }
    /** Says what is wrong with which file, in the program's words. */
    function told<T>(place: Place, work: () => T): T {
        try {
            return work();
        } catch (error) {
            const problem = fileProblem(error);
            throw problem === null ? error : new ToolFail(`'${place.shown}' ${problem}`);
        }
    }

    return {
        root,
        holds,
        existing: (path) => {
            const list = parts(path);
            const place = { real: join(root, ...list), shown: list.join("/") || "." };
            return told(place, () => {
                const real = realpathSync(place.real);
                checked(path, real);
                return { real, shown: place.shown };
            });
        },
        target: (path) => {
            const list = parts(path);
            const shown = list.join("/");
            if (list.length === 0) throw new ToolFail(`'${path}' is a folder`);
            return told({ real: "", shown }, () => {
                // The deepest part that exists, links followed; below it nothing is there yet.
                for (let known = list.length; ; known--) {
                    const at = join(root, ...list.slice(0, known));
                    if (lstatSync(at, { throwIfNoEntry: false }) === undefined) continue;
                    const real = join(realpathSync(at), ...list.slice(known));
                    checked(path, real);
                    writable({ real, shown });
                    return { real, shown };
                }
            });
        },
        read: (place, limit = MAX_FILE) =>
            told(place, () => {
                const read = readWhole(place, limit);
                if (read === null) throw new ToolFail(`'${place.shown}' does not exist`);
                return read.bytes;
            }),
        before: (place) => told(place, () => readWhole(place, MAX_FILE)?.bytes ?? null),
        replace: (place, bytes, expected) => {
            if (bytes.length > MAX_FILE) throw tooLarge(place.shown, bytes.length, MAX_FILE);
            writable(place);
            told(place, () => {
                const folder = openFolder(place);
                const name = basename(place.real);
                const draft = join(folder.at, `.${name.slice(0, 100)}.${randomBytes(6).toString("hex")}.tmp`);
                let made = false;
                try {
                    const now = readWhole(place, MAX_FILE);
                    if (now === null ? expected !== null : expected === null || !now.bytes.equals(expected))
                        throw new ToolFail(`'${place.shown}' was changed by somebody else meanwhile; nothing was written`);
                    const fd = openSync(draft, "wx", now === null ? 0o666 : now.stat.mode & 0o7777);
                    made = true;
                    try {
                        // The mode of the file it replaces, whatever the umask says.
                        if (now !== null) fchmodSync(fd, now.stat.mode & 0o7777);
                        for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
                        fsyncSync(fd);
                    } finally {
                        closeSync(fd);
                    }
                    renameSync(draft, join(folder.at, name));
                    made = false;
                    if (folder.fd >= 0) fsyncSync(folder.fd);
                } finally {
                    if (made) unlinkSync(draft);
                    if (folder.fd >= 0) closeSync(folder.fd);
                }
            });
        },
        remove: (place) => {
            writable(place);
            told(place, () => {
                const folder = openFolder(place);
                try {
                    unlinkSync(join(folder.at, basename(place.real)));
                    if (folder.fd >= 0) fsyncSync(folder.fd);
                } finally {
                    if (folder.fd >= 0) closeSync(folder.fd);
                }
            });
        },
    };
}

/** A name as file systems compare it that fold case, normalise Unicode and drop what is invisible (HFS+, APFS, NTFS). */
export function fold(name: string): string {
    const visible = name.normalize("NFKC").replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "");
    const plain = visible.toLowerCase().replace(/[. ]+$/, (end) => (visible.length === end.length ? end : ""));
    return /^git~\d+$/.test(plain) ? ".git" : plain;
}

function regular(shown: string, stat: Stats): void {
    if (stat.isFile()) return;
    throw new ToolFail(`'${shown}' is ${stat.isDirectory() ? "a folder" : "not a regular file"}`);
}
function denied(message: string, hint?: string): ToolFail {
    return new ToolFail(message, { kind: "denied", hint });
}
function outside(path: string): ToolFail {
    return denied(`'${path}' is outside the workspace`, "tools reach only what is inside the workspace folder (--workspace)");
}
function tooLarge(shown: string, size: number, limit: number): ToolFail {
    return new ToolFail(`'${shown}' has ${size} bytes; at most ${limit} are taken`, { hint: "read a part of it with sh://read-range" });
}
