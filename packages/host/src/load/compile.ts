/**
 * From text to a checked program form.
 *
 * Boundary: the language package's phases in order. Loaded only where the cache has nothing, because starting counts.
 */
import type { Diagnostic, Json, Program } from "@remit/language";
import { RemitError } from "../run/error.ts";
import type { ProgramTree } from "./tree.ts";

export interface CompiledTree {
    readonly program: Program;
    readonly diagnostics: readonly Diagnostic[];
    readonly texts: ReadonlyMap<string, string>;
}

/** Compiles `file` with all it imports. Throws `LoadError` with every error. */
export function compileTree(_tree: ProgramTree, file: string, _text: string): CompiledTree {
    throw new RemitError({ kind: "value", message: `${file} cannot be compiled yet` });
}

/** A program form from outside, checked. Throws `RemitError`. */
export function validForm(form: Json): Program {
    return form as unknown as Program;
}
