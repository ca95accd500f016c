/**
 * Whether foreign JSON is a program form that the machine may run.
 *
 * Boundary: the caps first, then the version, then the structure of the table, then the rules of the language
 * (`reread.ts`). Nothing is run, nothing is thrown, and the value is not changed.
 *
 * VL1: unknown versions, kinds and keys are refused.
 */
import { type Json, type Shapes, isObject } from "../contract/contract.ts";
import { type Errors, type FormCode, type FormError, newErrors } from "../form/errors.ts";
import { BLOCKS, type FileForm, FORM, type FuncForm, type ImportForm, type Program, type StartForm } from "../form/form.ts";
import { CONTRACT_NAMES } from "../contract/from-tree.ts";
import { AUTHOR_CAPS, type Caps, DEFAULT_CAPS, parseWithin } from "../form/measure.ts";
import { checkSource } from "./reread.ts";
import { findWrong } from "../form/structure.ts";
import type { Rule } from "../form/table.ts";
import type { Registry } from "../verbs/verb.ts";

export interface ValidateOptions {
    /** Each cap that is not given is the default. */
    readonly caps?: Partial<Caps>;
    /**
     * The form was compiled from the author's own source: larger caps, and `__proto__`, `constructor` and `prototype` are ordinary names
     * of data. Never for what came from elsewhere.
     */
    readonly authored?: boolean;
    /** It is what an agent answered a yield with: a variable may be a function that was handed over. */
    readonly answer?: boolean;
    /** Imports that its files have besides those that it says: what a remit gives an answer. What it calls so itself hides one. */
    readonly given?: readonly ImportForm[];
    /** The checker has seen it: it was lowered from a source, or a run that is continued began with it. Its structure is looked at again. */
    readonly checked?: boolean;
    /** What stages may call; the verbs that Remit has where nothing is said. */
    readonly verbs?: Registry;
}

export type ValidatedProgram =
    | { readonly ok: true; readonly program: Program }
    | { readonly ok: false; readonly errors: readonly FormError[] };

export type ValidatedFunc = { readonly ok: true; readonly func: FuncForm } | { readonly ok: false; readonly errors: readonly FormError[] };

/** A value, or a JSON text. */
export function validateProgram(form: unknown, options: ValidateOptions = {}): ValidatedProgram {
    const { value, errors, capped } = read(form, { rule: "record", of: "Program" }, options);
    const format = isObject(value) && Object.hasOwn(value, "format") ? value.format : undefined;
    if (!capped && format !== FORM) {
        errors.found.length = 0;
        errors.add("FORM_VERSION", ["format"], `the format must be "${FORM}"`);
    }
    if (errors.found.length > 0) return { ok: false, errors: errors.found };
    const program = value as unknown as Program;
    checkReferences(program, errors);
    if (errors.found.length === 0 && options.checked !== true) checkSource(withGiven(program, options), options, errors);
    return errors.found.length > 0 ? { ok: false, errors: errors.found } : { ok: true, program };
}

export interface FuncOptions extends ValidateOptions {
    /** The parameters that it must have, by name and in order. Left out: any. */
    readonly params?: readonly string[];
    readonly shapes?: Shapes;
}

/** One function, such as an agent answers a yield with. Errors point into the function. */
export function validateFunc(form: unknown, options: FuncOptions = {}): ValidatedFunc {
    const { value, errors } = read(form, { rule: "record", of: "Func" }, options);
    if (errors.found.length > 0) return { ok: false, errors: errors.found };
    const func = value as unknown as FuncForm;
    const { params } = options;
    if (params !== undefined && (params.length !== func.params.length || params.some((name, i) => func.params[i]?.name !== name)))
        errors.add("INVALID_ARGUMENT_COUNT", ["params"], `the parameters must be (${params.join(", ")})`);
    const shapes = Object.entries(options.shapes ?? {}).map(([name, contract]) => ({ name, contract }));
    const file: FileForm = { file: "", imports: [], shapes, funcs: [func], agents: [] };
    const found = newErrors();
    checkSource(withGiven({ format: FORM, files: [file] }, options), options, found);
    for (const one of found.found) errors.found.push({ ...one, pointer: one.pointer.replace(/^\/files\/0(?:\/funcs\/0)?/, "") });
    return errors.found.length > 0 ? { ok: false, errors: errors.found } : { ok: true, func };
}

function withGiven(program: Program, { given = [] }: ValidateOptions): Program {
    if (given.length === 0) return program;
    const files = program.files.map((file): FileForm => {
        const own = new Set([...file.imports, ...file.funcs, ...file.shapes, ...file.agents].map(({ name }) => name));
        return { ...file, imports: [...file.imports, ...given.filter(({ name }) => !own.has(name))] };
    });
    return { ...program, files };
}

/** The value, and what is wrong with its structure. `capped`: nothing more is said of it. */
function read(
    form: unknown,
    rule: Rule,
    options: ValidateOptions,
): { readonly value?: Json; readonly errors: Errors; readonly capped: boolean } {
    const authored = options.authored === true;
    const caps: Caps = { ...(authored ? AUTHOR_CAPS : DEFAULT_CAPS), ...options.caps };
    const errors = newErrors();
    const value = typeof form === "string" ? parseWithin(form, caps, errors) : form;
    if (value === undefined && errors.found.length === 0) errors.add("FORM_JSON", [], "there is no form");
    return value === undefined ? { errors, capped: true } : { value: value as Json, ...findWrong(value, rule, { caps, authored }) };
}

/** References between files, which are no part of a source. */
function checkReferences(program: Program, errors: Errors): void {
    const { files } = program;
    const report = (code: FormCode, message: string, keys: readonly (string | number)[]): void => {
        errors.add(code, keys, message);
    };
    const add = (message: string, ...keys: (string | number)[]): void => report("FORM_REFERENCE", message, keys);
    files.forEach((file, index) => {
        file.imports.forEach(({ what, name, from }, i) => {
            const at = ["files", index, "imports", i, "from"];
            if (from === undefined) return;
            if (what !== "agent") add("only an agent is imported from a file of the program", ...at);
            else if (from >= index) add("an imported file comes before the files that import it", ...at);
            else if (files[from]?.agents.some((agent) => agent.name === name) !== true)
                report("IMPORT_AGENT_MISSING", `file ${from} declares no agent '${name}'`, at);
        });
        file.shapes.forEach(({ name }, i) => {
            if (CONTRACT_NAMES.includes(name))
                report("DUPLICATE_BINDING", `'${name}' is a contract of the language`, ["files", index, "shapes", i, "name"]);
        });
    });
    for (const key of ["entry", "main"] as const)
        if (program[key] !== undefined) checkStart(files, program[key], (m, at) => add(m, key, at));
}

function checkStart(files: readonly FileForm[], start: StartForm, add: (message: string, key: string) => void): void {
    const file = files[start.file];
    const agent = start.agent === undefined ? file : file?.agents.find((one) => one.name === start.agent);
    if (file === undefined) add(`there is no file ${start.file}`, "file");
    else if (agent === undefined) add(`file ${start.file} has no agent '${start.agent}'`, "agent");
    else if (start.agent === undefined && start.func === BLOCKS) {
        if (file.blocks === undefined) add(`file ${start.file} has no blocks`, "func");
    } else if (!agent.funcs.some((func) => func.name === start.func)) add(`there is no function '${start.func}' there`, "func");
}
