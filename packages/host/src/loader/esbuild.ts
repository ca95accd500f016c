/**
 * `remit-lang/esbuild`: programs in a bundle of esbuild.
 *
 * Boundary: esbuild's plugin interface, by the part of it that is used. The package itself stays outside the bundle.
 */
import { type Diagnostic, siteOf, type Site, source } from "@remit/language";
import { fromThisProcess } from "../process/here.ts";
import { type Bundled, bundled, type LoaderOptions } from "./bundled.ts";
import { PROGRAM_FILE } from "./text.ts";

export type { LoaderOptions } from "./bundled.ts";

interface Message {
    text: string;
    location?: { file: string; line: number; column: number; length?: number; lineText?: string };
    notes?: { text: string }[];
}
interface Build {
    readonly initialOptions: { readonly absWorkingDir?: string };
    onResolve(options: { filter: RegExp }, callback: (args: { path: string }) => { path: string; external: boolean }): void;
    onLoad(
        options: { filter: RegExp },
        callback: (args: {
            path: string;
        }) => Promise<{ contents?: string; loader?: "js"; errors?: Message[]; warnings?: Message[]; watchFiles?: string[] }>,
    ): void;
}

/** A plugin for `plugins` of a build. */
export default function remit(options: LoaderOptions = {}): { name: string; setup(build: Build): void } {
    return {
        name: "remit",
        setup: (build) => {
            const cwd = build.initialOptions.absWorkingDir ?? fromThisProcess().cwd;
            build.onResolve({ filter: /^remit-lang(?:\/|$)/ }, ({ path }) => ({ path, external: true }));
            build.onLoad({ filter: PROGRAM_FILE }, async ({ path }) => {
                const made = await bundled(path, cwd, options);
                const messages = (severity: Diagnostic["severity"]) =>
                    made.diagnostics.filter((one) => one.severity === severity).map((one) => messageOf(one, made));
                return {
                    ...(made.code === null ? {} : { contents: made.code, loader: "js" }),
                    errors: messages("error"),
                    warnings: messages("warning"),
                    watchFiles: [...made.files],
                };
            });
        },
    };
}

function messageOf(one: Diagnostic, { texts }: Bundled): Message {
    const text = texts.get(one.file);
    const notes = one.hint === undefined ? {} : { notes: [{ text: one.hint }] };
    const said = `${one.message} [${one.code}]`;
    if (text === undefined) return { text: said, ...notes };
    const at: Site = siteOf(source(text, one.file), one.range);
    const lineText = text.split("\n")[at.line - 1] ?? "";
    return { text: said, location: { file: one.file, line: at.line, column: at.column - 1, lineText }, ...notes };
}
