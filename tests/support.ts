/**
 * What the tests of the whole share: from text to program form.
 */
import { check, loadProgram, lower, type Program } from "@remit/language";

/** The program form of a text; throws where it has errors. Other files by name. */
export function compileText(text: string, others: Readonly<Record<string, string>> = {}): Program {
    const files: Readonly<Record<string, string>> = { "main.remit": text, ...others };
    const checked = check(
        loadProgram("main.remit", {
            read: (file) => files[file] ?? null,
            resolve: (_from, uri) => uri.replace(/^\.\//, ""),
        }),
    );
    const errors = checked.diagnostics.filter((one) => one.severity === "error");
    if (errors.length > 0) throw new Error(errors.map((one) => `${one.code}: ${one.message}`).join("\n"));
    return lower(checked);
}
