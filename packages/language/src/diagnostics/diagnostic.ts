/**
 * What the language says about a program. A diagnostic is a value; nothing is thrown while reading, checking or lowering.
 */
import type { Fix } from "../text/fix.ts";
import type { Range } from "../text/source.ts";
import type { Code } from "./codes.ts";

export type { Fix };

export type Severity = "error" | "warning" | "note";

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
