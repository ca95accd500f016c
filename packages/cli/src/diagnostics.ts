/** Diagnostics on standard error, and how many of them are errors. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Diagnostic, renderDiagnostic, type Source, source } from "@remit/language";
import { coloured, columnsOf, say, sayJson } from "./io.ts";

export function showDiagnostics(
    diagnostics: readonly Diagnostic[],
    sources: ReadonlyMap<string, Source>,
    options: { notes?: boolean; json?: boolean } = {},
): number {
    const color = coloured(process.stderr);
    const columns = columnsOf(process.stderr);
    let errors = 0;
    for (const diagnostic of diagnostics) {
        if (diagnostic.severity === "error") errors++;
        if (diagnostic.severity === "note" && !options.notes) continue;
        if (options.json) sayJson(diagnostic);
        else say(renderDiagnostic(diagnostic, sources.get(diagnostic.file), { color, columns }));
    }
    return errors;
}

/** Sources of the files that diagnostics name, where they can still be read. */
export function sourcesOf(root: string, diagnostics: readonly Diagnostic[]): Map<string, Source> {
    const found = new Map<string, Source>();
    for (const { file } of diagnostics) {
        if (found.has(file)) continue;
        try {
            found.set(file, source(readFileSync(resolve(root, file), "utf8"), file));
        } catch {
            // the diagnostic is shown without its line
        }
    }
    return found;
}
