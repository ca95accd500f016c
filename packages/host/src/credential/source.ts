/**
 * What a source of credentials is: a function that is asked just before a request is sent.
 *
 * Boundary: shapes and the one way to fail. Where a stage names a source and what becomes of a value is `credentials.ts`.
 *
 * CRD1: a source is asked for one origin and answers for that origin alone; a value goes nowhere else.
 */
import type { FailureKind, Missing } from "@remit/machine";

/** Where a request is going. */
export interface Destination {
    /** Scheme, host and port. */
    readonly origin: string;
    /** The program's own text names the origin: in an import, or in a literal URL. Data that came from elsewhere does not. */
    readonly named: boolean;
    /** A credential may go there without an entry in the configuration: to this machine, and where the key of a model goes anyway. */
    readonly free: boolean;
}

export interface CredentialWanted {
    /** `KEY` of `env("KEY")`. */
    readonly arg: string;
    /** On whose behalf; null: neither the stage nor the run names an identity. */
    readonly as: string | null;
    readonly to: Destination;
    readonly signal: AbortSignal;
    /** The server did not accept this value of the same source: another one is wanted. */
    readonly refused?: string;
}

export type CredentialAnswer =
    | { readonly kind: "given"; readonly value: string }
    /** It can be given later; `hint` says how. */
    | ({ readonly kind: "missing" } & Missing)
    /** It is for other origins: the request goes without it. */
    | { readonly kind: "elsewhere" };

/** Throws `CredentialError` where there is nothing to wait for. */
export type CredentialSource = (wanted: CredentialWanted) => Promise<CredentialAnswer> | CredentialAnswer;

/** By the names that programs write: `env`, `file`, `exec`, `oauth`, `secret`. */
export type CredentialSources = { readonly [source: string]: CredentialSource };

/** Why there is no credential. `missing`: a person can give it, so the run waits. */
export type CredentialErrorCode = "missing" | "denied" | "unreachable" | "refused";

const KINDS: { readonly [K in CredentialErrorCode]: FailureKind } = {
    missing: "denied",
    denied: "denied",
    unreachable: "unreachable",
    refused: "tool",
};

export class CredentialError extends Error {
    override readonly name = "CredentialError";
    readonly code: CredentialErrorCode;
    readonly hint: string;
    /** What is missing reaches a process only as it starts. */
    readonly atStart: boolean;
    constructor(code: CredentialErrorCode, message: string, hint: string, atStart = false) {
        super(message);
        this.code = code;
        this.hint = hint;
        this.atStart = atStart;
    }
    /** What a failure of it is called. */
    get kind(): FailureKind {
        return KINDS[this.code];
    }
}
