/**
 * The one error the library throws: a failure of the running program (or of loading it), with its kind, place and what to do.
 */
import type { Site } from "@remit/language";
import type { Failure, FailureKind } from "@remit/machine";

/** `file:line:column`, or nothing where there is no place. */
export function placeOf(site: Site | null | undefined): string {
    return site === null || site === undefined ? "" : `${site.file}:${site.line}:${site.column}`;
}

export class RemitError extends Error {
    override readonly name = "RemitError";
    readonly failure: Failure;
    /** The run that failed; absent where none was begun. */
    readonly run: string | undefined;
    constructor(failure: Failure, run?: string) {
        const place = placeOf(failure.site);
        super(`${place === "" ? "" : `${place}: `}${failure.kind}: ${failure.message}`);
        this.failure = failure;
        this.run = run;
    }
    get kind(): FailureKind {
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
    if (error instanceof RemitError) return error.failure;
    const message = error instanceof Error ? error.message : String(error);
    return { kind, message: message === "" ? "failed without saying why" : message };
}
