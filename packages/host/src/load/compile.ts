/**
 * From text to a checked program form.
 *
 * Boundary: the language package's phases in order. Loaded only where the cache has nothing, because starting counts.
 */
import {
    type Allowed,
    type CheckedProgram,
    type Diagnostic,
    type FormError,
    type Json,
    type LoadedProgram,
    type Program,
    type ProgramFiles,
    type Range,
    type Registry,
    check,
    loadProgram,
    lower,
    siteOf,
    source,
    validateProgram,
    schemeOf,
} from "@remit/language";
import type { Failure } from "@remit/machine";
import type { Config } from "../config/config.ts";
import { RemitError } from "../failure/error.ts";
import { queueDescription } from "../tool/queue.ts";
import type { Environment } from "../ledger/place.ts";
import { isLocalModule, localPath } from "../tool/module.ts";
import { allowTool } from "../tool/tools.ts";
import { typesOf } from "../tool/types.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { LoadError } from "./error.ts";
import { parsed } from "./kept.ts";
import { refuseProgram, refuseText } from "./secrets.ts";
import type { ProgramTree } from "./tree.ts";

export interface CompiledTree {
    readonly program: Program;
    readonly diagnostics: readonly Diagnostic[];
    readonly texts: ReadonlyMap<string, string>;
}

/** What a project's configuration allows of `node:`, `npm:` and local modules. */
export type AllowTool = (uri: string, file: string) => Allowed;

/** A program's main file, and what no file of the program may hold. */
export interface MainFile {
    readonly file: string;
    readonly text: string;
    readonly secrets: Scrubber;
}

/** What a program may use besides what its files say. */
export interface Around {
    readonly config?: Config | undefined;
    /** Verbs of its stages. Default: Remit's own. */
    readonly verbs?: Registry | undefined;
    /** Where the cache of what types say is found. */
    readonly env: Environment;
}

/** Compiles a file with all it imports. Throws `LoadError` with every error, `RemitError` where a text holds a known secret. */
export function compileTree(tree: ProgramTree, main: MainFile, around: Around): CompiledTree {
    return lowered(checkedTree(readProgram(tree, main, around)), main.secrets);
}

export function readProgram(tree: ProgramTree, main: MainFile, { config, verbs, env }: Around): LoadedProgram {
    return readTree(tree, main, { allowTool: config === undefined ? undefined : allowedBy(config, tree.root, env), verbs });
}

/** Throws `LoadError` with every error of all files. */
export function checkedTree(read: LoadedProgram): CheckedProgram {
    const checked = check(read);
    const texts = textsOf(checked);
    const errors = checked.diagnostics.filter((one) => one.severity === "error");
    if (errors.length > 0) throw new LoadError(checked.diagnostics, texts, failureOf(errors, texts));
    return checked;
}

/** Throws `RemitError` where the program holds a known secret. */
export function lowered(checked: CheckedProgram, secrets: Scrubber): CompiledTree {
    const program = lower(checked, (func) => checked.info.functions.get(func)?.effects ?? []);
    refuseProgram(program, secrets);
    return { program, diagnostics: checked.diagnostics, texts: textsOf(checked) };
}

/** With those of files that describe tools: what was compiled holds only while they stay as they are. */
function textsOf({ files, descriptions }: CheckedProgram): ReadonlyMap<string, string> {
    return new Map([...descriptions, ...[...files].map(([name, one]) => [name, one.source.text] as const)]);
}

/** The allow list of a configuration, as the checker asks it, and what the types of an allowed module say. */
export function allowedBy(config: Config, root: string, env: Environment): AllowTool {
    return (uri, file) => {
        const said = allowTool(uri, file, { config, root });
        if (!said.ok) return { allowed: false, reason: said.message, hint: said.hint };
        const typed = isLocalModule(uri) ? typesOf(localPath(uri, file, root), env) : null;
        return {
            allowed: true,
            ...(said.effectful === undefined ? {} : { effectful: said.effectful }),
            ...(typed === null || typed.why === null ? {} : "members" in typed ? { members: typed.members } : { unread: typed.why }),
        };
    };
}

/** Characters of a program's text, all its files together: reading and checking that much takes some seconds. */
const MAX_TEXT = 16 * 1024 * 1024;

export interface Reading {
    readonly allowTool?: AllowTool | undefined;
    readonly verbs?: Registry | undefined;
    /** What was pinned of servers, where it is for messages alone. */
    readonly pinned?: ProgramFiles["describeTool"] | undefined;
}

/** Reads a file and what it imports, without checking. Throws `RemitError` where a text holds a known secret, and where the texts are too long. */
export function readTree(tree: ProgramTree, { file, text, secrets }: MainFile, { allowTool, verbs, pinned }: Reading = {}): LoadedProgram {
    let length = 0;
    const taken = (name: string, text: string): string => {
        length += text.length;
        if (length > MAX_TEXT) {
            const message = `a program's files may hold ${MAX_TEXT} characters together, and with ${name} they hold ${length}`;
            throw new RemitError({ kind: "limit.bytes", message, hint: "keep data in files that the program imports or reads" });
        }
        refuseText(name, text, secrets);
        return text;
    };
    taken(file, text);
    const files: ProgramFiles = {
        read: (name) => {
            if (name === file) return text;
            const read = tree.read(tree.pathOf(name, null));
            return read.ok ? taken(name, read.text) : null;
        },
        resolve: (from, uri) => {
            const path = tree.pathOf(uri, from);
            const read = tree.look(path);
            // A file that is missing is told elsewhere: here only its place counts.
            return read === "outside" ? null : tree.nameOf(path);
        },
        parse: parsed,
        ...(allowTool === undefined ? {} : { allowTool }),
        describeTool: (uri, from, name) => {
            if (schemeOf(uri) === "mcp") return pinned?.(uri, from, name) ?? null;
            const said = queueDescription(uri, from, tree);
            if (said !== null && !("wrong" in said)) taken(said.file, said.text);
            return said;
        },
    };
    return loadProgram(file, files, verbs);
}

/** The first error, and how many there are. */
function failureOf(errors: readonly Diagnostic[], texts: ReadonlyMap<string, string>): Failure {
    const first = errors[0] as Diagnostic;
    const more = errors.length === 1 ? "" : ` (and ${errors.length - 1} more)`;
    return {
        kind: "value",
        message: `${first.message}${more}`,
        site: siteIn(first.file, texts.get(first.file), first.range),
        detail: { code: first.code, errors: errors.length },
        ...(first.hint === undefined ? {} : { hint: first.hint }),
    };
}

function siteIn(file: string, text: string | undefined, range: Range): Failure["site"] {
    return text === undefined ? null : siteOf(source(text, file), range);
}

/** A program form from outside, checked. `file`: where it stands; null: a caller made it. Throws `RemitError`. */
export function validForm(form: Json, file: string | null, verbs?: Registry): Program {
    // A form that a person names is as trusted as a source file: the larger caps of authored code hold.
    const valid = validateProgram(form, { authored: true, ...(verbs === undefined ? {} : { verbs }) });
    if (valid.ok) return valid.program;
    const [first] = valid.errors;
    const more = valid.errors.length > 1 ? ` (and ${valid.errors.length - 1} more)` : "";
    // Validation fails with at least one error.
    const { pointer, message } = first as FormError;
    const where = pointer === "" ? "" : `at ${pointer}: `;
    throw new RemitError({
        kind: "invalid_payload",
        message: `${file ?? "this"} is no program form: ${where}${message}${more}`,
        hint: "`remit compile FILE` makes a form of a source file",
        detail: valid.errors as unknown as Json,
    });
}
