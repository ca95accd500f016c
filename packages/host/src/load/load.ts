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
import type { Diagnostic, Json, Program } from "@remit/language";
import { canonicalJson, type FileContent } from "@remit/machine";
import { sha256 } from "../ledger/blob.ts";
import type { Config } from "../config/config.ts";
import type { ImportedSkill } from "../skill/imported.ts";
import { compiledCache, entryName } from "./cache.ts";
import type { Around, CompiledTree, MainFile } from "./compile.ts";
import { engineId } from "./engine.ts";
import { noEntry } from "./entry.ts";
import { cacheFolder } from "../ledger/place.ts";
import type { Surroundings } from "../process/here.ts";
import { knownSecrets } from "../secret/known.ts";
import { refuseForm, refuseProgram, refuseText } from "./secrets.ts";
import type { VerbRegistry } from "../verb/registry.ts";
import { importsOf, parsedJson, unreadable } from "./texts.ts";
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
    /** Verbs besides Remit's own. */
    readonly registry?: VerbRegistry;
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
    if ("form" in from) return loadForm(from.form, null, options);
    if ("source" in from) return loadText(from, options);
    return loadFile(from.path, options);
}

async function loadForm(form: Json, file: string | null, options: LoadProgramOptions): Promise<Loaded> {
    const { validForm } = await import("./compile.ts");
    const program = validForm(form, file, options.registry?.verbs);
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

/** A program's own file, and the folder around it. */
export interface Opened {
    readonly tree: ProgramTree;
    /** Absolute; null where it is no file. */
    readonly path: string | null;
    readonly main: MainFile;
}

/** Throws `RemitError` where the file cannot be read. */
export function openedAt(
    from: { readonly path: string } | { readonly source: string; readonly file?: string },
    options: LoadProgramOptions,
): Opened {
    const { cwd, env } = options.here;
    const secrets = knownSecrets(env, options.config);
    if ("source" in from) {
        const { source: text, file } = from;
        const root = resolve(cwd, options.root ?? (file === undefined ? "" : dirname(resolve(cwd, file))));
        const tree = programTree(root, options.grants);
        const name = file === undefined ? "<memory>" : tree.nameOf(resolve(root, file));
        return { tree, path: null, main: { file: name, text, secrets } };
    }
    const full = resolve(cwd, from.path);
    const root = resolve(cwd, options.root ?? findRoot(full));
    if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) throw unreadable(`there is no folder ${root}`);
    const tree = programTree(root, options.grants);
    const read = tree.read(full);
    if (!read.ok) throw noEntry(read, full, from.path);
    return { tree, path: read.path, main: { file: tree.nameOf(read.path), text: read.text, secrets } };
}

/** What was compiled, with what its files bring along. */
export async function loadedOf(made: CompiledTree, { tree, main }: Opened, options: LoadProgramOptions): Promise<Loaded> {
    return { ...made, hash: hashOf(made.program), file: main.file, root: tree.root, ...(await contentsOf(made.program, tree, options)) };
}

async function loadText(from: { readonly source: string; readonly file?: string }, options: LoadProgramOptions): Promise<Loaded> {
    const opened = openedAt(from, options);
    const { compileTree } = await import("./compile.ts");
    return loadedOf(compileTree(opened.tree, opened.main, around(options)), opened, options);
}

export function around({ config, registry, here }: LoadProgramOptions): Around {
    return { config, verbs: registry?.verbs, env: here.env };
}

async function loadFile(from: string, options: LoadProgramOptions): Promise<Loaded> {
    const opened = openedAt({ path: from }, options);
    const { tree, main } = opened;
    const { file, secrets } = main;
    if (from.endsWith(".json")) return { ...(await loadForm(parsedJson(main.text, file), file, { ...options, root: tree.root })), file };

    const cache = options.cache === false ? null : compiledCache(options.here.env, options.folders);
    const name = entryName({
        engine: engineId(),
        path: opened.path as string,
        root: tree.root,
        grants: (options.grants ?? []).map((one) => resolve(tree.root, one)),
        ...(options.registry === undefined ? {} : { verbs: JSON.stringify([...options.registry.verbs]) }),
        readOnly: Object.entries(options.config?.npm ?? {}).flatMap(([one, said]) => (said.effectful === false ? [one] : [])),
    });
    const hit = cache?.get(name) ?? null;
    if (hit !== null && (await stillAllowed(hit.entry.program, tree.root, options.config))) {
        const { program, hash, diagnostics } = hit.entry;
        for (const [one, text] of hit.texts) refuseText(one, text, secrets);
        refuseProgram(program, secrets);
        return { program, hash, file, root: tree.root, diagnostics, texts: hit.texts, ...(await contentsOf(program, tree, options)) };
    }
    const { compileTree } = await import("./compile.ts");
    const made = compileTree(tree, main, around(options));
    const loaded = await loadedOf(made, opened, options);
    cache?.put(name, {
        files: [...made.texts]
            .filter(([one]) => !made.program.files.some((of) => of.prelude === true && of.file === one))
            .map(([one, text]) => ({ path: tree.pathOf(one, null), file: one, sha256: sha256(text) })),
        program: made.program,
        hash: loaded.hash,
        diagnostics: made.diagnostics,
    });
    return loaded;
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
