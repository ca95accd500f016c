/**
 * The text of the JavaScript module that stands for a program.
 *
 * Boundary: text only. What it calls is `module.ts`.
 *
 * MTX1: a compiled program is in it as JSON in a string, so that no key of it means something to JavaScript.
 * MTX2: its own names begin with `$`, which no name of a program does, and it uses no global: a program may call a function `JSON`.
 */
import { exportedNames, isReserved, parse, source } from "@remit/language";
import type { CompiledProgram } from "../load/phases.ts";
import type { Embedded } from "./module.ts";

/** Files that the loaders take for programs. */
export const PROGRAM_FILE = /\.(?:remit|as)$/;

/** A module that compiles the program at `path` (absolute) when it is imported. `text`: of the file. */
export function moduleAt(path: string, text: string): string {
    return [
        'import { compile as $compile, programModule as $module } from "remit-lang";',
        `const $ = $module(await $compile({ path: ${JSON.stringify(path)} }));`,
        ...exportsOf(text),
    ].join("\n");
}

/** A module that holds the compiled program. `root`: from the folder that the process will start in. */
export function moduleOf(compiled: CompiledProgram, root: string): string {
    const { program, hash, file, imports, skills, plans, texts } = compiled;
    const embedded: Embedded = { program, hash, file, root, imports, skills, plans };
    return [
        'import { programModule as $module } from "remit-lang";',
        `const $ = $module(${JSON.stringify(JSON.stringify(embedded))});`,
        ...exportsOf(texts.get(file) ?? ""),
    ].join("\n");
}

function exportsOf(text: string): string[] {
    const names = exportedNames(parse(source(text)));
    const entries = names.flatMap((name) => {
        const made = `$.entry(${name === "main" ? "null" : JSON.stringify(name)})`;
        return isReserved(name) ? [`const $${name} = ${made};`, `export { $${name} as ${name} };`] : [`export const ${name} = ${made};`];
    });
    return [...entries, "export default $.open;", ""];
}
