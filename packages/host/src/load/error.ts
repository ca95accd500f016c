/**
 * A program that has errors: every diagnostic, and the texts to show them with.
 */
import type { Diagnostic } from "@remit/language";
import type { Failure } from "@remit/machine";
import { RemitError } from "../failure/error.ts";

export class LoadError extends RemitError {
    /** Errors, warnings and notes of all files. */
    readonly diagnostics: readonly Diagnostic[];
    /** By file name. */
    readonly texts: ReadonlyMap<string, string>;
    constructor(diagnostics: readonly Diagnostic[], texts: ReadonlyMap<string, string>, failure: Failure) {
        super(failure);
        this.diagnostics = diagnostics;
        this.texts = texts;
    }
}
