/**
 * What can go wrong with a ledger, told apart by `code`, never by text.
 *
 * Boundary: turns the result codes of SQLite and of the file system into ours (those of PostgreSQL: `postgres/error.ts`); says nothing about programs.
 */
import { branded } from "../failure/brand.ts";

/** Every way a ledger can fail, and what a person can do about it. */
export const LEDGER_ERRORS = {
    full: "Free some disk space, then give the same command again: nothing that was acknowledged is lost.",
    readonly: "Make the file and its folder writable, or name another one with --ledger.",
    corrupt: "Keep the file for a look, restore a copy, or name another one with --ledger.",
    foreign: "Name a file that Remit made, or one that does not exist yet.",
    schema: "The file was made by a newer Remit; run that version, or name another file with --ledger.",
    busy: "Another process has kept the file locked; try again.",
    away: "Start the database, or look at the network and at how many connections it takes; what is under way waits for it.",
    denied: "Look at the user, its password (PGPASSWORD) and its rights in the database.",
    key: "It holds 32 bytes as 64 hexadecimal digits: openssl rand -hex 32 makes one.",
    address: "Write postgres://USER@HOST:PORT/DATABASE; docs/ledger-stores.md lists its settings.",
    owned: "The run goes on in another process: follow it with remit trace --follow, or end that process first.",
    late: "The outcome of the later attempt counts; remit trace shows it.",
    exists: "Give the run another id, or go on with the one that is there.",
    unknown: "remit runs lists the runs of this ledger.",
    finished: "The run is over; remit trace shows it, remit replay repeats it.",
    elsewhere:
        "remit trace and remit replay show it. If you know where the file comes from, remit resume --accept-foreign goes on with it; what it then does, it does with your rights.",
    tampered: "remit trace verify tells where; restore a copy of the ledger.",
    io: "Look at the disk and at the permissions of the folder.",
} as const;

export type LedgerErrorCode = keyof typeof LEDGER_ERRORS;

/** An error that is told apart by its code, and says what a person can do about it. */
export abstract class CodedError<C extends string> extends Error {
    readonly code: C;
    readonly hint: string;
    constructor(hints: { readonly [K in C]: string }, code: C, message: string, cause?: unknown) {
        super(message, cause === undefined ? undefined : { cause });
        this.code = code;
        this.hint = hints[code];
    }
}

export class LedgerError extends CodedError<LedgerErrorCode> {
    static {
        branded(LedgerError, "LedgerError");
    }
    override readonly name = "LedgerError";
    constructor(code: LedgerErrorCode, message: string, cause?: unknown) {
        super(LEDGER_ERRORS, code, message, cause);
    }
}

/** Result codes of SQLite (https://sqlite.org/rescode.html) that a person can act on. */
const SQLITE: { readonly [code: number]: readonly [LedgerErrorCode, string] } = {
    5: ["busy", "is locked by another process"],
    6: ["busy", "is locked by another process"],
    8: ["readonly", "cannot be written"],
    3: ["readonly", "may not be opened by this user"],
    14: ["readonly", "cannot be opened"],
    10: ["io", "could not be read or written"],
    11: ["corrupt", "is damaged"],
    13: ["full", "cannot grow: the disk is full"],
    // SQLITE_IOERR_SHMSIZE: the file beside it that its readers share.
    4874: ["full", "cannot grow: the disk is full"],
    26: ["foreign", "is not an SQLite database"],
    // SQLITE_CONSTRAINT_UNIQUE: the only column that is unique beside the keys is the id of a run.
    2067: ["exists", "has a run of that id already"],
};

/** The same may be tried again: what is in its way may go. */
export function isPassing(error: unknown): error is LedgerError {
    return error instanceof LedgerError && (error.code === "full" || error.code === "busy" || error.code === "away");
}

/** Nothing is wrong with what was to be kept. The ledger takes the same later: after a wait, or when it can be written again. */
export function isLater(error: unknown): error is LedgerError {
    return isPassing(error) || (error instanceof LedgerError && error.code === "readonly");
}

/** Of an error of what was to be kept: only its answer may have been lost. Else it is known that nothing was kept. */
export function mayBeKept({ code }: LedgerError): boolean {
    return code === "away";
}

/** Runs `work`; an SQLite error becomes a `LedgerError` that names the file. */
export function guarded<T>(path: string, work: () => T): T {
    try {
        return work();
    } catch (error) {
        throw ledgerError(path, error);
    }
}

/** Errors of the file system that a person can act on in the same way. */
const SYSTEM: { readonly [code: string]: readonly [LedgerErrorCode, string] } = {
    ENOSPC: ["full", "cannot grow: the disk is full"],
    EDQUOT: ["full", "cannot grow: this user's part of the disk is full"],
    EIO: ["io", "could not be read or written"],
    EACCES: ["readonly", "cannot be made or written: permission denied"],
    EPERM: ["readonly", "cannot be made or written: not permitted"],
    EROFS: ["readonly", "cannot be made or written: the disk is read-only"],
    ENOTDIR: ["readonly", "cannot be made or written: a part of the path is not a folder"],
    ENOENT: ["readonly", "cannot be made or written: its folder takes no new files"],
};

export function ledgerError(path: string, error: unknown): unknown {
    // What the ledger keeps as JSON was JSON when it was written.
    if (error instanceof SyntaxError) return new LedgerError("tampered", `the ledger ${path} holds a row that cannot be read`, error);
    if (Error.isError(error) && "syscall" in error && "code" in error) {
        const [code, text] = SYSTEM[String(error.code)] ?? ["io", `failed with ${String(error.code)}`];
        // The key and the anchors are files of their own.
        const other = "path" in error && typeof error.path === "string" && !path.startsWith(error.path) ? ` (${error.path})` : "";
        return new LedgerError(code, `the ledger ${path} ${text}${other}`, error);
    }
    if (!Error.isError(error) || !("errcode" in error) || typeof error.errcode !== "number") return error;
    const [code, text] = SQLITE[error.errcode] ?? SQLITE[error.errcode & 0xff] ?? ["io", `failed with SQLite result code ${error.errcode}`];
    return new LedgerError(code, `the ledger ${path} ${text}`, error);
}
