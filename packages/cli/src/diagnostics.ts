/** Diagnostics on standard error, and how many of them are errors. */
import { type Diagnostic, renderDiagnostic, type Source, source } from "@remit/language";
import { plain, say } from "./io.ts";

export function showDiagnostics(diagnostics: readonly Diagnostic[], sources: ReadonlyMap<string, Source>, options: { notes?: boolean; json?: boolean } = {}): number {
    const color = process.stderr.isTTY === true && !process.env["NO_COLOR"];
    let errors = 0;
    for (const diagnostic of diagnostics) {
        if (diagnostic.severity === "error") errors++;
        if (diagnostic.severity === "note" && !options.notes) continue;
        if (options.json) say(JSON.stringify(diagnostic));
        // the renderer's own colours are the only control characters that may pass
        else say(color ? renderDiagnostic(diagnostic, sources.get(diagnostic.file), { color }) : plain(renderDiagnostic(diagnostic, sources.get(diagnostic.file), { color })));
    }
    return errors;
}

/** Sources of a loaded program by the names that its diagnostics use. */
export function sourcesOf(program: { readonly texts?: ReadonlyMap<string, string> }): Map<string, Source> {
    return new Map([...(program.texts ?? [])].map(([name, text]) => [name, source(text, name)]));
}
