/**
 * One mistake is one error: which findings follow from a mistake that is told already.
 *
 * Boundary: looks at places, codes and names alone. The parser and the rules report all that they find.
 */
import type { Code } from "../diagnostics/codes.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Range } from "../text/source.ts";
import type { LoadedProgram } from "../load/program.ts";
import type { FileScope } from "../scope/model.ts";

/**
 * What was found before the check, without what follows from a syntax error. Behind the first one of a line the rest of the line is read wrongly; where
 * the braces of a file do not add up, so is all that stands below. An error with an edit that mends it is told all the same.
 */
export function firstMistakes({ files, diagnostics }: LoadedProgram): Diagnostic[] {
    const before = new Map<string, number>();
    return diagnostics.filter(({ code, file, range, fixes }) => {
        const tree = files.get(file);
        if (code !== "SYNTAX" || tree === undefined) return true;
        const { text } = tree.source;
        const known = before.get(file);
        const unbalanced = tree.damaged?.some(({ start, end }) => start === 0 && end === text.length) === true;
        if (known !== undefined && fixes === undefined && (unbalanced || !text.slice(known, range.start).includes("\n"))) return false;
        before.set(file, range.start);
        return true;
    });
}

/** Of a function. A name that is not there is told at its first place: one assignment mends the others too. */
export function namesOnce(found: readonly Diagnostic[]): Diagnostic[] {
    const first = new Map<string, number>();
    for (const { code, message, range } of found)
        if (code === "UNKNOWN_IDENTIFIER") first.set(message, Math.min(range.start, first.get(message) ?? range.start));
    return found.filter(({ code, message, range }) => code !== "UNKNOWN_IDENTIFIER" || first.get(message) === range.start);
}

/**
 * Whether a finding stands on lines that could be read. What follows from a statement with a syntax error in it (a variable that only
 * the unread part names, an argument that is missing) would be a second report of the one mistake; so would a name that stands on the line of
 * a syntax error, where it may have been declared, any name where a declaration lacks its own, and the model or role of an agent whose head may not have been read.
 */
export function trusted(file: FileScope): (one: Diagnostic) => boolean {
    if (!file.broken) return () => true;
    const { damaged = [], diagnostics, items, source } = file.tree;
    const { text } = source;
    const linesOf = ({ start, end }: Range): Range => {
        const stop = text.indexOf("\n", end);
        return { start: text.lastIndexOf("\n", start - 1) + 1, end: stop < 0 ? text.length : stop };
    };
    const lines = damaged.map(linesOf);
    const errors = diagnostics.filter(({ severity }) => severity === "error").map(({ range }) => linesOf(range));
    const words = new Set(errors.flatMap(({ start, end }) => text.slice(start, end).match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? []));
    const unnamed = items.some((item) => "name" in item && item.name?.text === "");
    return ({ code, range }) =>
        !lines.some(({ start, end }) => range.start >= start && range.start <= end) &&
        !(NAMELESS.has(code) && (unnamed || words.has(text.slice(range.start, range.end)))) &&
        !UNSEEN.has(code);
}

/** What a part that was not read may hold: the model of an agent, the `generate` that sees a `use`. */
const UNSEEN: ReadonlySet<Code> = new Set(["MISSING_GENERATE_CONFIG", "UNUSED_USE"]);

/** What an unread line may declare: `fun f() { … }`, `shap Ticket { … }`. */
const NAMELESS: ReadonlySet<Code> = new Set([
    "UNKNOWN_IDENTIFIER",
    "UNKNOWN_FUNCTION",
    "UNKNOWN_CONTRACT_TYPE",
    "UNKNOWN_MODEL",
    "UNKNOWN_STAGE",
    "IMPORT_NOT_SHARED",
]);
