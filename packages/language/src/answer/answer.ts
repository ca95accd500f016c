/**
 * What an agent answers a yield with: one function, as Remit source or as program form (LANGUAGE 6, PROTOCOLS 4).
 *
 * Boundary: from the text of a turn to a checked file form with one function to call; nothing of it is run. The answer is hostile: caps first,
 * then the same checks as for any program, then the signature.
 *
 * AW1: the answer is the last fenced block tagged `remit` or `json`, else the last embedded resource of such a type.
 * AW2: it declares functions and shapes and nothing else: no imports, no agents, no remits, no blocks.
 * AW3: its first parameter is `agent`, the others are exactly the names that were handed over, in any order.
 * AW4: what the remit gives is there by its name in all of it, as an import is in a file. What the answer itself calls so hides it.
 */
import { check } from "../check/check.ts";
import type { Json, Shapes } from "../contract/contract.ts";
import { FORBIDDEN_NAMES } from "../contract/open.ts";
import { renderDiagnostic } from "../diagnostics/render.ts";
import type { FormError } from "../form/errors.ts";
import { type FileForm, FORM, type FuncForm, type ImportForm } from "../form/form.ts";
import { lower } from "../form/lower.ts";
import { type Caps, DEFAULT_CAPS } from "../form/measure.ts";
import { raise } from "../form/raise.ts";
import { validateFunc, validateProgram } from "./validate.ts";
import { loadProgram } from "../load/program.ts";
import type { File } from "../syntax/tree.ts";
import { fencesOf } from "./fences.ts";

export interface AnswerOptions {
    /** Names that were handed over, in order, without `agent`. */
    readonly params: readonly string[];
    /** Shown in messages and sites: `Fixer's answer`. */
    readonly file: string;
    /** Most bytes (UTF-8) of the function. */
    readonly bytes: number;
    /** Shapes of the program that the function may name. */
    readonly shapes?: Shapes;
    /** What the remit gives, by the names that it has in the answer. */
    readonly given?: readonly ImportForm[];
}

export interface Answer {
    readonly form: "source" | "program";
    /** As it was given. */
    readonly text: string;
    readonly file: FileForm;
    /** Name of the function to call. */
    readonly func: string;
    /** Its parameters in its own order. */
    readonly params: readonly string[];
}

export type ReadAnswer =
    | { readonly ok: true; readonly answer: Answer }
    /**
     * `missing`: there was no answer in it at all; `refused`: it holds names that no payload may hold, which is not written by mistake. Errors are for
     * the agent, in words, at most `MAX_ERRORS`.
     */
    | {
          readonly ok: false;
          readonly kind: "missing" | "size" | "syntax" | "signature" | "refused";
          readonly errors: readonly string[];
      };

export interface Resource {
    readonly mediaType: string;
    readonly text: string;
}

/** Errors that are told at once. */
const MAX_ERRORS = 10;
const MEDIA: { readonly [type: string]: "remit" | "json" } = {
    "text/x-remit": "remit",
    "application/json": "json",
    "application/vnd.remit+json": "json",
};

export function readAnswer(text: string, resources: readonly Resource[], options: AnswerOptions): ReadAnswer {
    const found = lastOf(text, resources);
    if (found === null)
        return {
            ok: false,
            kind: "missing",
            errors: [
                `there is no answer: end the turn with one fenced block tagged \`remit\` that holds func answer(${signature(options.params)}) { … }`,
            ],
        };
    if (found.open)
        return { ok: false, kind: "syntax", errors: ["the last fenced block is not closed: the answer was cut off, make it shorter"] };
    const caps: Partial<Caps> = { bytes: Math.min(options.bytes, DEFAULT_CAPS.bytes) };
    if (utf8(found.text) > options.bytes) return { ok: false, kind: "size", errors: [`the answer has more than ${options.bytes} bytes`] };
    return found.tag === "remit" ? source(found.text, options) : program(found.text, options, caps);
}

function lastOf(text: string, resources: readonly Resource[]): { tag: "remit" | "json"; text: string; open: boolean } | null {
    let last: { tag: "remit" | "json"; text: string; open: boolean } | null = null;
    for (const { tag, text: inner, open } of fencesOf(text)) if (tag === "remit" || tag === "json") last = { tag, text: inner, open };
    if (last !== null) return last;
    for (const { mediaType, text: inner } of resources) {
        const tag = Object.hasOwn(MEDIA, mediaType) ? MEDIA[mediaType] : undefined;
        if (tag !== undefined) last = { tag, text: inner, open: false };
    }
    return last;
}

function signature(params: readonly string[]): string {
    return ["agent", ...params].join(", ");
}

function source(text: string, options: AnswerOptions): ReadAnswer {
    const loaded = loadProgram(options.file, { read: () => text, resolve: () => null });
    const tree = loaded.files.get(options.file) as File;
    const shown = (d: (typeof loaded.diagnostics)[number]): string => renderDiagnostic(d, tree.source);
    // Before what the loader has to say: an import has no place here, whether or not it leads anywhere.
    for (const item of tree.items)
        if (item.kind !== "func" && item.kind !== "shape")
            return failed("signature", [
                `an answer declares functions and shapes only: this is ${item.kind === "import" ? "an import" : `\`${item.kind}\``}. Everything it may use is in its parameters.`,
            ]);
    const syntax = loaded.diagnostics.filter((d) => d.severity === "error");
    if (syntax.length > 0) return failed("syntax", syntax.map(shown));
    const named = importsOf(tree, options.given ?? []);
    const checked = check({ ...loaded, files: new Map(loaded.files).set(options.file, named) }, { answer: true });
    const errors = checked.diagnostics.filter((d) => d.severity === "error");
    if (errors.length > 0) return failed("syntax", errors.map(shown));
    const [file] = lower(checked, (func) => checked.info.functions.get(func)?.effects ?? []).files;
    // Its text was measured; the form of it is several times as long and bound by the caps of every form.
    const form = { format: FORM, files: [{ ...(file as FileForm), imports: [] }] };
    const valid = validateProgram(form, { checked: true });
    if (!valid.ok) return wrongForm(valid.errors, form as unknown as Json);
    return chosen(valid.program.files[0] as FileForm, "source", text, options);
}

/** A file with what the remit gives as its imports (AW4). */
function importsOf(tree: File, given: readonly ImportForm[]): File {
    const own = new Set(tree.items.flatMap((item) => (item.kind === "func" || item.kind === "shape" ? [item.name?.text] : [])));
    const left = given.filter(({ name }) => !own.has(name));
    if (left.length === 0) return tree;
    const made = raise({ format: FORM, files: [{ file: tree.source.file, imports: left, shapes: [], funcs: [], agents: [] }] });
    return { ...tree, items: [...made.flatMap(({ items }) => items), ...tree.items] };
}

function program(text: string, options: AnswerOptions, caps: Partial<Caps>): ReadAnswer {
    const isProgram = /^\s*\{\s*"format"\s*:/.test(text);
    const given = options.given ?? [];
    if (isProgram) {
        const valid = validateProgram(text, { caps, answer: true, given });
        if (!valid.ok) return wrongForm(valid.errors, parsed(text));
        const [file] = valid.program.files;
        if (
            file === undefined ||
            valid.program.files.length > 1 ||
            file.imports.length > 0 ||
            file.agents.length > 0 ||
            (file.remits ?? []).length > 0 ||
            file.blocks !== undefined ||
            file.prelude !== undefined
        )
            return failed("signature", ["an answer is one file of functions and shapes: no imports, no agents, no remits, no blocks"]);
        return chosen({ ...file, file: options.file }, "program", text, options);
    }
    const valid = validateFunc(text, { caps, answer: true, given, ...(options.shapes === undefined ? {} : { shapes: options.shapes }) });
    if (!valid.ok) return wrongForm(valid.errors, parsed(text));
    const file: FileForm = { file: options.file, imports: [], shapes: [], funcs: [valid.func], agents: [] };
    return chosen(file, "program", text, options);
}

/** The function to call: the main one, the only one, or the one called `answer`. */
function chosen(file: FileForm, form: Answer["form"], text: string, options: AnswerOptions): ReadAnswer {
    const func: FuncForm | undefined =
        file.funcs.find((one) => one.main === true) ??
        (file.funcs.length === 1 ? file.funcs[0] : file.funcs.find((one) => one.name === "answer"));
    if (func === undefined)
        return failed("signature", [
            file.funcs.length === 0
                ? "there is no function in the answer"
                : "which function is the answer? Mark it `main func` or call it `answer`",
        ]);
    const params = func.params.map((p) => p.name);
    const rest = params.slice(1);
    const right = params[0] === "agent" && rest.length === options.params.length && options.params.every((name) => rest.includes(name));
    if (!right)
        return failed("signature", [`the parameters of ${func.name} must be (${signature(options.params)}), not (${params.join(", ")})`]);
    const given = func.params.find((p) => p.default !== undefined);
    if (given !== undefined) return failed("signature", [`parameter '${given.name}' has a default: every argument is given`]);
    return { ok: true, answer: { form, text, file, func: func.name, params } };
}

/** What is wrong with a form; `refused` where one of the places is, or holds, a name that is refused. */
function wrongForm(errors: readonly FormError[], form: Json): ReadAnswer {
    const isRefused = errors.some(({ pointer }) => {
        const steps = pointer.split("/").slice(1);
        let at: Json | undefined = form;
        for (const step of steps)
            at = at !== null && typeof at === "object" && Object.hasOwn(at, step) ? (at as { [key: string]: Json })[step] : undefined;
        return FORBIDDEN_NAMES.has(steps[steps.length - 1] ?? "") || (typeof at === "string" && FORBIDDEN_NAMES.has(at));
    });
    return failed(isRefused ? "refused" : "syntax", errors.map(told));
}

/** JSON, or nothing: what is no JSON has been told as such, and what is deeper than this reads is no function. */
function parsed(text: string): Json {
    try {
        return JSON.parse(text) as Json;
    } catch {
        return null;
    }
}

function failed(kind: "syntax" | "signature" | "refused", errors: readonly string[]): ReadAnswer {
    const more = errors.length - MAX_ERRORS;
    return { ok: false, kind, errors: more > 0 ? [...errors.slice(0, MAX_ERRORS), `and ${more} more`] : errors };
}

function told({ code, pointer, message }: FormError): string {
    return `${code} at ${pointer === "" ? "the top" : pointer}: ${message}`;
}

function utf8(text: string): number {
    let bytes = 0;
    for (let i = 0; i < text.length; i++) {
        const c = text.charCodeAt(i);
        bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : c >= 0xd800 && c < 0xdc00 ? 4 : 3;
        if (c >= 0xd800 && c < 0xdc00) i++;
    }
    return bytes;
}

/** A value as the JSON Schema of its type alone, for an author who has to write code for it: `{"type": "string"}`. */
export function schemaOfValue(value: Json): Json {
    if (value === null) return { type: "null" };
    if (Array.isArray(value)) return { type: "array" };
    return { type: typeof value };
}
