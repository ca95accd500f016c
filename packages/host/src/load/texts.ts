/**
 * The files that `import file` names: their contents when a program is loaded, and what is wrong with them when it is checked.
 *
 * Boundary: a program form and its tree to values; nothing here knows the cache or the language's text.
 */
import { readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { didYouMean, type Json, type Program, siteAt } from "@remit/language";
import type { FileContent } from "@remit/machine";
import { RemitError } from "../failure/error.ts";
import { readJson } from "../input/json.ts";
import type { ProgramTree } from "./tree.ts";

type FormFile = Program["files"][number];
type FormImport = FormFile["imports"][number];

/** Contents of every file import: text, or parsed JSON for `.json`; labelled with the file. */
export function importsOf(program: Program, tree: ProgramTree | null): { readonly [place: string]: FileContent } {
    const out: { [place: string]: FileContent } = {};
    program.files.forEach((file, index) => {
        for (const one of file.imports) if (one.what === "file") out[`${index}/${one.name}`] = contentOf(one, file, tree);
    });
    return out;
}

/** An import that a run would refuse: the file that has it, and its name there. */
export interface ImportProblem {
    readonly file: string;
    readonly name: string;
    readonly error: RemitError;
}

/** File imports that a run would refuse. */
export function textProblems(program: Program, tree: ProgramTree): readonly ImportProblem[] {
    return program.files.flatMap((file) =>
        file.imports.flatMap((one) => {
            if (one.what !== "file") return [];
            try {
                contentOf(one, file, tree);
                return [];
            } catch (error) {
                if (!(error instanceof RemitError)) throw error;
                return [{ file: file.file, name: one.name, error }];
            }
        }),
    );
}

const MEANT = {
    outside: "grant the folder, or move the file into the program's tree",
    missing: "name the path from the importing file, such as ./rules.md",
    folder: "name a file; a folder is read by a tool: file://workspace",
    "not text": undefined,
    "too large": undefined,
    unreadable: undefined,
} as const;

function contentOf(one: FormImport, { file }: FormFile, tree: ProgramTree | null): FileContent {
    const site = siteAt(file, one.at);
    if (tree === null)
        throw unreadable(`${one.name} is imported from ${one.uri}, and this program has no folder`, site, "load it with a root");
    const read = tree.read(tree.pathOf(one.uri, file));
    if (!read.ok)
        throw unreadable(read.message, site, (read.why === "missing" ? fileMeant(one.uri, file, tree) : undefined) ?? MEANT[read.why]);
    const name = tree.nameOf(read.path);
    const json = name.toLowerCase().endsWith(".json") ? parsedJson(read.text, name, site) : read.text;
    return { json, origins: [`file:${name}`] };
}

/** Which file beside it a name that no file has may mean. */
export function fileMeant(written: string, from: string, tree: ProgramTree): string | undefined {
    const path = tree.pathOf(written, from);
    if (tree.look(path) === "outside") return undefined;
    try {
        return didYouMean(basename(path), readdirSync(dirname(path)));
    } catch {
        // There is no such folder, or it may not be listed: no name of it is told.
        return undefined;
    }
}

export function parsedJson(text: string, name: string, site: RemitError["site"] = null): Json {
    const read = readJson(text);
    if (read.ok) return read.value;
    throw unreadable(`${name} ${read.message}`, site, read.hint);
}

export function unreadable(message: string, site: RemitError["site"] = null, hint?: string): RemitError {
    return new RemitError({ kind: "value", message, site, ...(hint === undefined ? {} : { hint }) });
}
