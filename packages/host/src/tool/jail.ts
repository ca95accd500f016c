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
 * J6: what a writer that was killed left aside is removed by the first write into the same folder a minute later.
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
    readdirSync,
    readlinkSync,
    readSync,
    realpathSync,
    renameSync,
    rmSync,
    type Stats,
    statSync,
    unlinkSync,
    writeSync,
} from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { fold, isOwn } from "../process/own-folders.ts";
import { ABSENT, fileProblem, ToolFail } from "./tool.ts";

/** Largest file that is read or written, bytes. */
export const MAX_FILE = 32 * 1024 * 1024;
const MAX_PATH = 4096;
/** What is written aside (J4), and from which age on no writer has it any more: it is there for one call, which nothing interrupts. */
const DRAFT = /\.remit-[0-9a-f]{12}\.tmp$/;
const DRAFT_MS = 60_000;
const LINUX = process.platform === "linux";
const WINDOWS = process.platform === "win32";

export interface Place {
    /** Absolute, every link followed. */
    readonly real: string;
    /** As the program wrote it, tidied: `src/a.txt`, `.` for the root. */
    readonly shown: string;
}

/** `folder` must exist. */
export function jail(folder: string): Jail {
    return new Jail(realpathSync(folder));
}

export class Jail {
    readonly root: string;
    /** Folders in which drafts were looked for (J6). */
    private readonly swept = new Set<string>();

    constructor(root: string) {
        this.root = root;
    }

    /** Something that exists. */
    existing(path: string): Place {
        const list = parts(path);
        const place = { real: join(this.root, ...list), shown: list.join("/") || "." };
        return told(place, () => {
            const real = realpathSync(place.real);
            this.check(path, real);
            return { real, shown: place.shown };
        });
    }

    /** A file that may not exist yet; its folders may be missing too. */
    target(path: string): Place {
        const list = parts(path);
        const shown = list.join("/");
        if (list.length === 0) throw new ToolFail(`'${path}' is a folder`);
        return told({ real: "", shown }, () => {
            // The deepest part that exists, links followed; below it nothing is there yet.
            for (let known = list.length; ; known--) {
                const at = join(this.root, ...list.slice(0, known));
                if (lstatSync(at, { throwIfNoEntry: false }) === undefined) continue;
                const real = join(realpathSync(at), ...list.slice(known));
                this.check(path, real);
                this.checkWritable({ real, shown });
                return { real, shown };
            }
        });
    }

    /** True if a real path is inside and not out of reach. */
    holds(real: string): boolean {
        const from = this.inside(real);
        return from !== null && !from.split(sep).some((part) => isOwn(part));
    }

    /** Bytes of a regular file. */
    read(place: Place, limit = MAX_FILE): Buffer {
        return told(place, () => {
            const read = this.readWhole(place, limit);
            if (read === null) throw missing(place.shown);
            return read.bytes;
        });
    }

    /** Content as it is, null where there is no file. */
    before(place: Place): Buffer | null {
        return told(place, () => this.readWhole(place, MAX_FILE)?.bytes ?? null);
    }

    /** Replaces or creates a file. `expected`: what `before` gave; something else there meanwhile is a failure. */
    replace(place: Place, bytes: Uint8Array, expected: Buffer | null): void {
        if (bytes.length > MAX_FILE) throw tooLarge(place.shown, bytes.length, MAX_FILE);
        this.inFolder(place, (folder) => {
            const name = basename(place.real);
            const draft = join(folder, `.${name.slice(0, 100)}.remit-${randomBytes(6).toString("hex")}.tmp`);
            this.sweep(folder, dirname(place.real));
            const now = this.readWhole(place, MAX_FILE);
            if (now === null ? expected !== null : expected === null || !now.bytes.equals(expected))
                throw new ToolFail(`'${place.shown}' was changed by another program meanwhile; nothing was written`);
            const fd = openSync(draft, "wx", now?.mode ?? 0o666);
            try {
                writeWhole(fd, bytes, now?.mode);
                renameSync(draft, join(folder, name));
            } catch (error) {
                unlinkSync(draft);
                throw error;
            }
        });
    }

    /** J6. `real`: of the folder, which may be named by its descriptor. */
    private sweep(folder: string, real: string): void {
        if (this.swept.has(real)) return;
        this.swept.add(real);
        for (const name of namesIn(folder)) {
            if (!name.startsWith(".") || !DRAFT.test(name)) continue;
            const look = lstatSync(join(folder, name), { throwIfNoEntry: false });
            // Another process may sweep at the same time.
            if (look?.isFile() === true && Date.now() - look.mtimeMs > DRAFT_MS) rmSync(join(folder, name), { force: true });
        }
    }

    remove(place: Place): void {
        this.inFolder(place, (folder) => unlinkSync(join(folder, basename(place.real))));
    }

    /** Other permissions for what exists. */
    permit(place: Place, change: (mode: number) => number): void {
        told(place, () => {
            using open = opened(place.real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
            if (!this.holds(where(open.fd, place.real))) throw outside(place.shown);
            fchmodSync(open.fd, change(fstatSync(open.fd).mode & 0o7777));
        });
    }

    private inside(real: string): string | null {
        const from = relative(this.root, real);
        return from === "" ? "." : from === ".." || from.startsWith(`..${sep}`) || from === real ? null : from;
    }

    private check(path: string, real: string): void {
        if (this.inside(real) === null) throw outside(path);
        if (!this.holds(real)) throw denied(`'${path}' belongs to Remit itself`);
    }

    private checkWritable(place: Place): void {
        const from = this.inside(place.real);
        if (from?.split(sep).some((part) => fold(part) === ".git") === true)
            throw denied(`'${place.shown}' is inside .git, which is never written`, "use git itself for that");
    }

    /** A regular file inside the root, or null where there is none. */
    private readWhole(place: Place, limit: number): { readonly bytes: Buffer; readonly mode: number } | null {
        const look = lstatSync(place.real, { throwIfNoEntry: false });
        if (look === undefined) return null;
        regular(place.shown, look);
        using file = opened(place.real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
        const stat = fstatSync(file.fd);
        regular(place.shown, stat);
        if (!this.holds(where(file.fd, place.real))) throw outside(place.shown);
        if (stat.size > limit) throw tooLarge(place.shown, stat.size, limit);
        const chunks: Buffer[] = [];
        let total = 0;
        for (;;) {
            const chunk = Buffer.allocUnsafe(Math.min(1 << 20, Math.max(stat.size - total, 0) + 1));
            const got = readSync(file.fd, chunk);
            if (got === 0) break;
            total += got;
            if (total > limit) throw tooLarge(place.shown, total, limit);
            chunks.push(chunk.subarray(0, got));
        }
        return { bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks), mode: stat.mode & 0o7777 };
    }

    /** Works in the folder of a target, made where it is missing, by the path under which its entries are reached; then flushes it. */
    private inFolder(place: Place, work: (folder: string) => void): void {
        this.checkWritable(place);
        told(place, () => {
            const folder = dirname(place.real);
            this.makeFolders(folder);
            using open = WINDOWS ? null : opened(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
            const at = open === null ? realpathSync(folder) : where(open.fd, folder);
            if (at !== folder || !this.holds(at)) throw outside(place.shown);
            const link = LINUX && open !== null ? `/proc/self/fd/${open.fd}` : null;
            work(link !== null && statSync(link, { throwIfNoEntry: false }) !== undefined ? link : folder);
            if (open !== null) fsyncSync(open.fd);
        });
    }

    /** One folder after the other, each looked at after it was made. */
    private makeFolders(folder: string): void {
        if (folder === this.root || statSync(folder, { throwIfNoEntry: false }) !== undefined) return;
        this.makeFolders(dirname(folder));
        try {
            mkdirSync(folder);
        } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        }
        if (realpathSync(folder) !== folder) throw outside(relative(this.root, folder));
    }
}

/** The parts of a path below the root (J1). */
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

/** Closed at the end of the block that has it. */
function opened(path: string, flags: number): Disposable & { readonly fd: number } {
    const fd = openSync(path, flags);
    return { fd, [Symbol.dispose]: () => closeSync(fd) };
}

/** The place of what is open; empty where something else stands at the expected one. */
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

/** Writes, flushes and closes. `mode`: of the file that it replaces, whatever the umask says. */
function writeWhole(fd: number, bytes: Uint8Array, mode: number | undefined): void {
    try {
        if (mode !== undefined) fchmodSync(fd, mode);
        for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
        fsyncSync(fd);
    } finally {
        closeSync(fd);
    }
}

/** Says what is wrong with which file, in the program's words. */
function told<T>(place: Place, work: () => T): T {
    try {
        return work();
    } catch (error) {
        const problem = fileProblem(error);
        if (problem === null) throw error;
        throw problem === ABSENT ? missing(place.shown) : new ToolFail(`'${place.shown}' ${problem}`);
    }
}

/** Names of other files are not told: who may read one may not list the folder. */
export function missing(shown: string): ToolFail {
    return new ToolFail(`'${shown}' ${ABSENT}`, {
        hint: "a path begins at the workspace: --workspace, else the folder in which the run was started",
    });
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

/** None of a folder that may be written and not be read. */
function namesIn(folder: string): readonly string[] {
    try {
        return readdirSync(folder);
    } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === "EACCES" || code === "EPERM") return [];
        throw error;
    }
}
