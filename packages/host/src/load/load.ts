/**
 * Loading a program: from a file with its imports, from text, or from a program form.
 *
 * Boundary: files, cache and hashes; reading and checking the language is `compile.ts`, which is loaded only where the cache has nothing.
 *
 * R3: contents of file imports are read once, when the program is loaded; every run of it sees the same.
 * R4: a program with errors is never run; all its errors are told at once.
 */
import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Diagnostic, type Json, type Program, siteAt } from "@remit/language";
import { canonicalJson, type FileContent } from "@remit/machine";
import { readJson } from "../input/json.ts";
import { sha256 } from "../ledger/blob.ts";
import { RemitError } from "../failure/error.ts";
import type { Config } from "../config/config.ts";
import type { ImportedSkill } from "../skill/imported.ts";
import { compiledCache, entryName } from "./cache.ts";
import { engineId } from "./engine.ts";
import { cacheFolder } from "../ledger/place.ts";
import type { Surroundings } from "../process/here.ts";
import { knownSecrets } from "../secret/known.ts";
import { refuseForm, refuseText } from "./secrets.ts";
import { findRoot, type ProgramTree, programTree } from "./tree.ts";

export type LoadSource =
    | { readonly path: string }
    /** `file`: the name shown in messages and the place relative imports start from. */
    | { readonly source: string; readonly file?: string }
    | { readonly form: Json };

export interface LoadProgramOptions {
    readonly root?: string;
    readonly grants?: readonly string[];
    readonly cache?: boolean;
    readonly folders?: { readonly cache?: string; readonly config?: string };
    /** Says which modules may be imported as tools; without it none may. */
    readonly config?: Config;
    readonly here: Surroundings;
}

export interface Loaded {
    readonly program: Program;
    /** SHA-256 of the canonical JSON of the program form. */
    readonly hash: string;
    /** Main file as shown. */
    readonly file: string;
    /** Absolute; empty for a program form. */
    readonly root: string;
    readonly diagnostics: readonly Diagnostic[];
    /** Texts of the program's files by name, for showing diagnostics. */
    readonly texts: ReadonlyMap<string, string>;
    /** Contents of file imports by `FILE INDEX/NAME`. */
    readonly imports: { readonly [place: string]: FileContent };
    /** Skills that its files import, read like the file imports (R3). */
    readonly skills: readonly ImportedSkill[];
}

export function hashOf(program: Program): string {
    return sha256(canonicalJson(program as unknown as Json));
}

/** Throws `LoadError` where the program has errors, `RemitError` where it cannot be read. */
export async function loadProgram(from: LoadSource, options: LoadProgramOptions): Promise<Loaded> {
    if ("form" in from) return loadForm(from.form, options);
    if ("source" in from) return loadText(from.source, from.file, options);
    return loadFile(from.path, options);
}

async function loadForm(form: Json, options: LoadProgramOptions): Promise<Loaded> {
    const { validForm } = await import("./compile.ts");
    const program = validForm(form);
    refuseForm(form, knownSecrets(options.here.env, options.config));
    const root = options.root === undefined ? "" : resolve(options.here.cwd, options.root);
    const tree = root === "" ? null : programTree(root, options.grants);
    const imports = importsOf(program, tree);
    return {
        program,
        hash: hashOf(program),
        file: program.files.at(-1)?.file ?? "<memory>",
        root,
        diagnostics: [],
        texts: new Map(),
        imports,
        skills: await skillsOf(program, tree, options),
    };
}

async function loadText(text: string, file: string | undefined, options: LoadProgramOptions): Promise<Loaded> {
    const { cwd, env } = options.here;
    const root = resolve(cwd, options.root ?? (file === undefined ? "" : dirname(resolve(cwd, file))));
    const tree = programTree(root, options.grants);
    const name = file === undefined ? "<memory>" : tree.nameOf(resolve(root, file));
    const { compileTree } = await import("./compile.ts");
    const made = compileTree(tree, { file: name, text, secrets: knownSecrets(env, options.config) }, options.config);
    return { ...made, hash: hashOf(made.program), file: name, root: tree.root, ...(await contentsOf(made.program, tree, options)) };
}

async function loadFile(path: string, options: LoadProgramOptions): Promise<Loaded> {
    const { cwd, env } = options.here;
    const full = resolve(cwd, path);
    const root = resolve(cwd, options.root ?? findRoot(full));
    if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) throw unreadable(`there is no folder ${root}`);
    const tree = programTree(root, options.grants);
    const main = tree.read(full);
    if (!main.ok) throw unreadable(main.message);
    const file = tree.nameOf(main.path);
    if (full.endsWith(".json")) return { ...(await loadForm(parsedJson(main.text, file), { ...options, root })), file };

    const secrets = knownSecrets(env, options.config);
    const cache = options.cache === false ? null : compiledCache(env, options.folders);
    const name = entryName({
        engine: engineId(),
        path: main.path,
        root: tree.root,
        grants: (options.grants ?? []).map((one) => resolve(tree.root, one)),
        readOnly: Object.entries(options.config?.npm ?? {}).flatMap(([one, said]) => (said.effectful === false ? [one] : [])),
    });
    const hit = cache?.get(name) ?? null;
    if (hit !== null && (await stillAllowed(hit.entry.program, tree.root, options.config))) {
        const { program, hash, diagnostics } = hit.entry;
        for (const [one, text] of hit.texts) refuseText(one, text, secrets);
        refuseForm(program, secrets);
        return { program, hash, file, root: tree.root, diagnostics, texts: hit.texts, ...(await contentsOf(program, tree, options)) };
    }
    const { compileTree } = await import("./compile.ts");
    const made = compileTree(tree, { file, text: main.text, secrets }, options.config);
    const hash = hashOf(made.program);
    cache?.put(name, {
        files: [...made.texts]
            .filter(([one]) => !made.program.files.some((of) => of.prelude === true && of.file === one))
            .map(([one, text]) => ({ path: tree.pathOf(one, null), file: one, sha256: sha256(text) })),
        program: made.program,
        hash,
        diagnostics: made.diagnostics,
    });
    return { ...made, hash, file, root: tree.root, ...(await contentsOf(made.program, tree, options)) };
}

/** The configuration may have changed since the program was checked: modules it imports as tools must still be allowed. */
async function stillAllowed(program: Program, root: string, config: Config | undefined): Promise<boolean> {
    const modules = program.files.flatMap((file) =>
        file.imports.flatMap((one) => (one.what === "tool" && MODULE.test(one.uri) ? [{ uri: one.uri, file: file.file }] : [])),
    );
    if (modules.length === 0) return true;
    if (config === undefined) return false;
    const { allowTool } = await import("../tool/tools.ts");
    return modules.every(({ uri, file }) => allowTool(uri, file, { config, root }).ok);
}
/** `node:`, `npm:` and paths; everything else has a scheme of two letters at least. */
const MODULE = /^(?:node:|npm:|(?![a-z][a-z0-9+.-]+:))/i;

async function contentsOf(program: Program, tree: ProgramTree, options: LoadProgramOptions): Promise<Pick<Loaded, "imports" | "skills">> {
    return { imports: importsOf(program, tree), skills: await skillsOf(program, tree, options) };
}

/** A program without skills does not pay for what reads them. */
async function skillsOf(program: Program, tree: ProgramTree | null, options: LoadProgramOptions): Promise<readonly ImportedSkill[]> {
    if (!program.files.some((file) => file.imports.some((one) => one.what === "skill"))) return [];
    const { importedSkills } = await import("../skill/imports.ts");
    const { here, folders } = options;
    return importedSkills(program, tree, { cache: join(folders?.cache ?? cacheFolder(here.env), "skills") });
}

/** Contents of every file import: text, or parsed JSON for `.json`; labelled with the file. */
function importsOf(program: Program, tree: ProgramTree | null): { readonly [place: string]: FileContent } {
    const out: { [place: string]: FileContent } = {};
    program.files.forEach((file, index) => {
        for (const one of file.imports) {
            if (one.what !== "file") continue;
            const site = siteAt(file.file, one.at);
            if (tree === null)
                throw unreadable(`${one.name} is imported from ${one.uri}, and this program has no folder`, site, "load it with a root");
            const path = tree.pathOf(one.uri, file.file);
            const read = tree.read(path);
            if (!read.ok)
                throw unreadable(
                    read.message,
                    site,
                    read.why === "outside" ? "grant the folder, or move the file into the program's tree" : undefined,
                );
            const name = tree.nameOf(read.path);
            const json = name.toLowerCase().endsWith(".json") ? parsedJson(read.text, name, site) : read.text;
            out[`${index}/${one.name}`] = { json, origins: [`file:${name}`] };
        }
    });
    return out;
}

function parsedJson(text: string, name: string, site: RemitError["site"] = null): Json {
    const read = readJson(text);
    if (read.ok) return read.value;
    throw unreadable(`${name} ${read.message}`, site, read.hint);
}

function unreadable(message: string, site: RemitError["site"] = null, hint?: string): RemitError {
    return new RemitError({ kind: "value", message, site, ...(hint === undefined ? {} : { hint }) });
}
