/**
 * What can go wrong with a database, in the ledger's words.
 *
 * Boundary: errors of `pg` and of the network in, `LedgerError` out. Told apart by class and code (PostgreSQL, Appendix A), never by text.
 */
import pg from "pg";
import { LedgerError, type LedgerErrorCode, ledgerError } from "../error.ts";

/** The server went away, comes up, or takes no more connections: the same may be tried again. */
const GONE: ReadonlySet<string> = new Set(["57P01", "57P02", "57P03", "53300"]);
/** Two transactions stood in each other's way; nothing of this one was kept. */
const AGAIN: ReadonlySet<string> = new Set(["40001", "40P01", "55P03"]);

const STATES: { readonly [code: string]: readonly [LedgerErrorCode, string] } = {
    RM003: ["busy", "has forgotten this process"],
    "28P01": ["denied", "does not take the user or its password"],
    "28000": ["denied", "does not let this user in"],
    "3D000": ["denied", "has no such database"],
    "42501": ["denied", "does not let this user do that"],
    "25006": ["readonly", "takes no changes"],
    "53100": ["full", "cannot grow: the disk is full"],
    "53200": ["full", "has no memory left"],
    "53300": ["away", "takes no more connections"],
    "54000": ["io", "cannot keep something that large"],
    "22P05": ["io", "cannot keep a character"],
    XX001: ["corrupt", "is damaged"],
    XX002: ["corrupt", "is damaged"],
};

export function isGone(error: unknown): boolean {
    if (error instanceof pg.DatabaseError) return GONE.has(error.code ?? "") || (error.code ?? "").startsWith("08");
    // What `pg` says itself has no code: its connection ended, or nothing came in time.
    return Error.isError(error) && !(error instanceof LedgerError) && !(error instanceof TypeError) && !(error instanceof RangeError);
}

export function isAgain(error: unknown): boolean {
    return error instanceof pg.DatabaseError && AGAIN.has(error.code ?? "");
}

/** `at`: the address as it is shown. */
export function told(at: string, error: unknown): unknown {
    if (error instanceof LedgerError) return error;
    if (error instanceof SyntaxError) return ledgerError(at, error);
    if (error instanceof pg.DatabaseError) return stateError(at, error.code ?? "", error.message);
    if (!isGone(error)) return error;
    const { code } = error as NodeJS.ErrnoException;
    return new LedgerError("away", `the ledger ${at} cannot be reached${code === undefined ? "" : ` (${code})`}`);
}

/** Of a state that the server told. A text of the server does not hold what was sent. */
export function stateError(at: string, code: string, message: string, constraint?: string | null): LedgerError {
    // Raised by `apply_jobs`, in our words.
    if (code === "RM001") return new LedgerError("owned", message);
    if (constraint === "runs_id") return new LedgerError("exists", `the ledger ${at} has a run of that id already`);
    const [kind, text] = STATES[code] ?? [
        code.startsWith("08") || code.startsWith("57") ? "away" : "io",
        `failed with SQLSTATE ${code}: ${message}`,
    ];
    return new LedgerError(kind, `the ledger ${at} ${text}`);
}
