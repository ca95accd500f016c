/**
 * What the language says about a program. A diagnostic is a value; nothing is thrown while reading, checking or lowering.
 */
import type { Range } from "../text/source.ts";
import type { Code } from "./codes.ts";

export type Severity = "error" | "warning" | "note";

/** A replacement of text that cures a diagnostic. Edits of one fix do not overlap. */
export interface Fix {
    readonly title: string;
    readonly edits: readonly { readonly range: Range; readonly text: string }[];
    /** True where `fmt --fix` may apply it unasked: the meaning stays what the author meant. */
    readonly safe: boolean;
}

export interface Diagnostic {
    readonly code: Code;
    readonly severity: Severity;
    readonly message: string;
    /** File as named by its `Source`. */
    readonly file: string;
    readonly range: Range;
    /** What to do about it. */
    readonly hint?: string;
    readonly fixes?: readonly Fix[];
    readonly related?: readonly { readonly message: string; readonly file: string; readonly range: Range }[];
}
