/**
 * Signatures of a TypeScript module's functions, from their types: one pass of the project's own compiler, kept until a file of it, a configuration or the version of a package changes.
 *
 * Boundary: nothing of the module is run. The compiler is code of the project: it is asked only about modules that a trusted configuration allows.
 *
 * TYP1: what a type says that JSON cannot hold, or that is too large, is `json`: a signature says no more than is true of every right call.
 * TYP2: what was read while an import was missing is not kept: it may come.
 * TYP3: whatever is wrong with the cache's own files is a miss, and a cache that cannot be written is none.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, sep } from "node:path";
import type { Members } from "@remit/language";
import type ts from "typescript";
import { sha256 } from "../ledger/blob.ts";
import { cacheFolder, type Environment, writePrivate } from "../ledger/place.ts";
import { signaturesIn } from "./typed.ts";

/** `why`: why nothing is known, and what to do about it; null: there are no types to read. */
export type Typed = { readonly members: Members; readonly why?: undefined } | { readonly why: string | null };

const TYPED = new Set([".ts", ".mts", ".cts"]);
const MAGIC = "remit-signatures/3";

interface Entry {
    readonly files: readonly { readonly path: string; readonly sha256: string }[];
    readonly members: Members;
}

/** `path`: absolute. `cache`: folder; default: the user's. */
export function typesOf(path: string, env: Environment, cache = cacheFolder(env)): Typed {
    if (!TYPED.has(extname(path))) return { why: null };
    const found = compilerFor(path);
    if (found === null) return { why: NO_COMPILER };
    const kept = join(cache, "signatures", `${sha256(JSON.stringify([MAGIC, found.version, path]))}.json`);
    const before = readEntry(kept);
    if (before !== null) return { members: before };
    const { isWhole, ...made } = read(found.load(), path);
    try {
        if (isWhole) writePrivate(kept, JSON.stringify(made));
    } catch (error) {
        if (!(Error.isError(error) && "code" in error)) throw error;
    }
    return { members: made.members };
}

/** The name beside `typescript` is for projects that compile with TypeScript 7, whose interface for programs is another one. */
const NAMES = ["typescript", "typescript-6"];
const NO_COMPILER =
    "its types are read with TypeScript 5 or 6, which is not installed in the project; beside TypeScript 7: npm install --save-dev typescript-6@npm:typescript@6";

/** The project's compiler, which is loaded only where types have to be read. */
function compilerFor(path: string): { readonly version: string; load(): typeof ts } | null {
    const require = createRequire(path);
    for (const name of NAMES) {
        try {
            const { version } = require(`${name}/package.json`) as { readonly version: string };
            if (/^[56]\./.test(version)) return { version, load: () => require(name) as typeof ts };
        } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
        }
    }
    return null;
}

/** A module that an import names and that is not there. */
const NOT_FOUND = 2307;

/** `isWhole`: every import was found. */
function read(compiler: typeof ts, path: string): Entry & { readonly isWhole: boolean } {
    const { sys } = compiler;
    const named = compiler.findConfigFile(dirname(path), sys.fileExists);
    const config = named === undefined ? undefined : compiler.readJsonConfigFile(named, sys.readFile);
    const host = { ...sys, readDirectory: () => [] };
    const { options } =
        config === undefined
            ? compiler.parseJsonConfigFileContent({}, host, dirname(path))
            : compiler.parseJsonSourceFileConfigFileContent(config, host, dirname(named ?? path));
    const program = compiler.createProgram([path], {
        target: compiler.ScriptTarget.ES2022,
        module: compiler.ModuleKind.NodeNext,
        moduleResolution: compiler.ModuleResolutionKind.NodeNext,
        ...options,
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        allowImportingTsExtensions: true,
    });
    const all = program.getSourceFiles().filter((one) => !program.isSourceFileDefaultLibrary(one));
    const own = all.filter((one) => packageOf(one.fileName) === null);
    const files = own.map((one) => ({ path: one.fileName.split("/").join(sep), sha256: sha256(one.text) }));
    // Of a package its version is enough.
    const packages = new Set(all.flatMap((one) => packageOf(one.fileName) ?? []));
    for (const one of [...(named === undefined ? [] : [named]), ...(config?.extendedSourceFiles ?? []), ...packages]) {
        const kept = one.split("/").join(sep);
        if (existsSync(kept)) files.push({ path: kept, sha256: digestOf(kept) });
    }
    const isWhole = own.every((one) => program.getSemanticDiagnostics(one).every(({ code }) => code !== NOT_FOUND));
    return { files, members: signaturesIn(compiler, program, path), isWhole };
}

/** The `package.json` of the installed package that a file is of, with `/`; null: it is of none. */
function packageOf(file: string): string | null {
    const [root] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(file) ?? [];
    return root === undefined ? null : `${root}package.json`;
}

/** Of the text as the compiler reads it. */
function digestOf(path: string): string {
    return sha256(readFileSync(path, "utf8").replace(/^\uFEFF/, ""));
}

/** Null: a miss (TYP3). */
function readEntry(kept: string): Members | null {
    try {
        const entry = JSON.parse(readFileSync(kept, "utf8")) as Partial<Entry> | null;
        const { files, members } = entry ?? {};
        if (!Array.isArray(files) || files.length === 0 || members === undefined) return null;
        const isAsBefore = (one: Partial<Entry["files"][number]> | null): boolean =>
            typeof one?.path === "string" && digestOf(one.path) === one.sha256;
        return files.every(isAsBefore) ? members : null;
    } catch (error) {
        if (error instanceof SyntaxError || (Error.isError(error) && "code" in error)) return null;
        throw error;
    }
}
