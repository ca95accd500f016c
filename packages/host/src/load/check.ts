/**
 * Checking a file with everything it imports, for tools that want all that was found instead of a program.
 *
 * Boundary: reads files and hands them to the language; never throws for what is wrong in a program.
 */
import { resolve } from "node:path";
import { type CheckedProgram, type Diagnostic, check } from "@remit/language";
import { RemitError } from "../run/error.ts";
import { settingOf } from "../run/setting.ts";
import { allowedBy, readTree } from "./compile.ts";
import { findRoot, programTree } from "./tree.ts";

export interface CheckedFile {
    readonly checked: CheckedProgram;
    /** Of all files, by file and place. */
    readonly diagnostics: readonly Diagnostic[];
    /** Texts and absolute paths of the files by name. */
    readonly texts: ReadonlyMap<string, string>;
    readonly paths: ReadonlyMap<string, string>;
}

export interface CheckFileOptions {
    readonly root?: string;
    readonly grants?: readonly string[];
    readonly workspace?: string;
    readonly trust?: boolean;
}

/** Throws `RemitError` only where the file itself, or the project's configuration, cannot be read. */
export async function checkFile(path: string, options: CheckFileOptions = {}): Promise<CheckedFile> {
    const full = resolve(path);
    const tree = programTree(resolve(options.root ?? findRoot(full)), options.grants);
    const main = tree.read(full);
    if (!main.ok) throw new RemitError({ kind: "value", message: main.message });
    const { config } = await settingOf(full, options);
    const checked = check(readTree(tree, tree.nameOf(main.path), main.text, allowedBy(config, tree.root)));
    return {
        checked,
        diagnostics: checked.diagnostics,
        texts: new Map([...checked.files].map(([name, file]) => [name, file.source.text])),
        paths: new Map([...checked.files.keys()].map((name) => [name, tree.pathOf(name, null)])),
    };
}
