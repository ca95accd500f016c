/**
 * What the plugins for bundlers have in common: a program compiled while the bundle is made, so that a mistake in it is a mistake of the build.
 *
 * Boundary: paths in, the text of a module or diagnostics out. What a bundler wants to hear is its plugin's.
 */
import { join, relative, resolve, sep } from "node:path";
import type { Diagnostic } from "@remit/language";
import { LoadError } from "../load/error.ts";
import { compile, type CompileOptions } from "../load/phases.ts";
import { moduleOf } from "./text.ts";

export interface LoaderOptions extends Pick<CompileOptions, "registry" | "root" | "grants" | "trust" | "workspace" | "env"> {
    /** Folder that the bundled program will be started in; from there it finds its configuration and tools. Default: the bundler's current folder. */
    readonly startsIn?: string;
}

export interface Bundled {
    /** Null where the program has errors. */
    readonly code: string | null;
    /** Every file that it was read from, absolute. */
    readonly files: readonly string[];
    readonly diagnostics: readonly Diagnostic[];
    readonly texts: ReadonlyMap<string, string>;
}

/** Throws `RemitError` where the program cannot be read. */
export async function bundled(path: string, cwd: string, { startsIn = "", ...options }: LoaderOptions): Promise<Bundled> {
    try {
        const compiled = await compile({ path }, options);
        const { root, program, texts, diagnostics } = compiled;
        const own = program.files.filter((one) => one.prelude !== true).map((one) => join(root, one.file));
        const imported = Object.values(compiled.imports).flatMap(({ origins }) => origins.flatMap((one) => fileOf(one, root)));
        const from = relative(resolve(cwd, startsIn), root).split(sep).join("/");
        return { code: moduleOf(compiled, from === "" ? "." : from), files: [...own, ...imported], diagnostics, texts };
    } catch (error) {
        if (!(error instanceof LoadError)) throw error;
        return { code: null, files: [path], diagnostics: error.diagnostics, texts: error.texts };
    }
}

function fileOf(origin: string, root: string): string[] {
    return origin.startsWith("file:") ? [join(root, origin.slice("file:".length))] : [];
}
