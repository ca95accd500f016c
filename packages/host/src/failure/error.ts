/**
 * The one error the library throws: a failure of the running program (or of loading it), with its kind, place and what to do.
 */
import type { Site } from "@remit/language";
import type { Failure, FailureKind } from "@remit/machine";
import { branded } from "./brand.ts";

/** `file:line:column`, or nothing where there is no place. */
export function placeOf(site: Site | null | undefined): string {
    return site === null || site === undefined ? "" : `${site.file}:${site.line}:${site.column}`;
}

/** Why there is no value. `waiting`: not a failure of the program, which goes on when its question is answered. */
export interface RunFailure extends Omit<Failure, "kind"> {
    readonly kind: FailureKind | "waiting";
}

export class RemitError extends Error {
    static {
        branded(RemitError, "RemitError");
    }
    override readonly name = "RemitError";
    readonly failure: RunFailure;
    /** The run that failed; absent where none was begun. */
    readonly run: string | undefined;
    constructor(failure: RunFailure, run?: string) {
        const place = placeOf(failure.site);
        super(`${place === "" ? "" : `${place}: `}${failure.kind}: ${failure.message}`);
        this.failure = failure;
        this.run = run;
    }
    get kind(): RunFailure["kind"] {
        return this.failure.kind;
    }
    get site(): Site | null {
        return this.failure.site ?? null;
    }
    get hint(): string | undefined {
        return this.failure.hint;
    }
}

/** What a performer threw, as a failure of its effect. Only the message is kept: a stack is ours, not the program's. */
export function failureOf(error: unknown, kind: FailureKind): Failure {
    // A run inside this one that waits for a person has no answer for it.
    if (error instanceof RemitError) return { ...error.failure, kind: error.kind === "waiting" ? "denied" : error.kind };
    const message = Error.isError(error) ? error.message : String(error);
    return { kind, message: message === "" ? "failed without saying why" : message };
}
