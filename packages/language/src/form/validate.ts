/**
 * Whether foreign JSON is a program form that the machine may run.
 *
 * Boundary: the caps first, then the version, then the structure of the table, then names and places; where a quick look finds nothing wrong with the
 * first three, they are not gone through one by one. Nothing is run, nothing is thrown, and the value is not changed.
 *
 * V1: unknown versions, kinds and keys are refused.
 * V2: a form that is accepted has no name that is not defined: an agent's answer comes without the checker.
 */
import type { Json, Shapes } from "../contract/contract.ts";
import { checkAuthority } from "./authority.ts";
import { type Errors, type FormError, newErrors } from "./errors.ts";
import { FORM, type FuncForm, type Program } from "./form.ts";
import { AUTHOR_CAPS, type Caps, DEFAULT_CAPS, measure, parseWithin } from "./measure.ts";
import { below, checkEntry, contractsOver, declareFile, declareFuncs, type FileNames, type Named } from "./names.ts";
import { isSound } from "./sound.ts";
import { findWrong } from "./structure.ts";
import type { Rule } from "./table.ts";
import { Walk } from "./walk.ts";

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
}

export type Validated<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly errors: readonly FormError[] };

export type ValidatedProgram =
    | { readonly ok: true; readonly program: Program }
    | { readonly ok: false; readonly errors: readonly FormError[] };

export type ValidatedFunc = { readonly ok: true; readonly func: FuncForm } | { readonly ok: false; readonly errors: readonly FormError[] };

/** A value, or a JSON text. */
export function validateProgram(form: unknown, options: ValidateOptions = {}): ValidatedProgram {
    const errors = newErrors();
    const rule: Rule = { rule: "record", of: "Program" };
    const { value, sound } = read(form, rule, options, errors);
    if (value === undefined) return { ok: false, errors: errors.found };
    const format = isObject(value) && Object.hasOwn(value, "format") ? value.format : undefined;
    if (format !== FORM) {
        errors.add("FORM_VERSION", { up: null, key: "format" }, `the format must be "${FORM}"`);
        return { ok: false, errors: errors.found };
    }
    if (!sound) findWrong(value, rule, errors, { authored: options.authored === true });
    if (errors.found.length > 0) return { ok: false, errors: errors.found };
    const program = value as unknown as Program;
    checkNames(program, options.answer === true, errors);
    return errors.found.length > 0 ? { ok: false, errors: errors.found } : { ok: true, program };
}

export interface FuncOptions extends ValidateOptions {
    /** The parameters that it must have, by name and in order. Left out: any. */
    readonly params?: readonly string[];
    /** Names that are known besides built-ins and parameters. */
    readonly names?: ReadonlyMap<string, Named>;
    readonly shapes?: Shapes;
}

/** One function, such as an agent answers a yield with. Errors point into the function. */
export function validateFunc(form: unknown, options: FuncOptions = {}): ValidatedFunc {
    const errors = newErrors();
    const rule: Rule = { rule: "record", of: "Func" };
    const { value, sound } = read(form, rule, options, errors);
    if (value === undefined) return { ok: false, errors: errors.found };
    if (!sound) findWrong(value, rule, errors, { authored: options.authored === true });
    if (errors.found.length > 0) return { ok: false, errors: errors.found };
    const func = value as unknown as FuncForm;
    const { params } = options;
    if (params !== undefined && (params.length !== func.params.length || params.some((name, i) => func.params[i]?.name !== name)))
        errors.add("INVALID_ARGUMENT_COUNT", { up: null, key: "params" }, `the parameters must be (${params.join(", ")})`);
    const file = {
        names: options.names ?? new Map<string, Named>(),
        contracts: contractsOver(options.shapes ?? {}),
        answer: options.answer === true,
    };
    new Walk(file, new Map(), errors).func(func, null, NOTHING_SET);
    return errors.found.length > 0 ? { ok: false, errors: errors.found } : { ok: true, func };
}

const NOTHING_SET = { model: false, role: false, description: false };

/** The value within the caps; undefined where an error was added. `sound`: neither is there anything wrong with its structure. */
function read(form: unknown, rule: Rule, options: ValidateOptions, errors: Errors): { readonly value?: Json; readonly sound?: true } {
    const caps: Caps = { ...(options.authored === true ? AUTHOR_CAPS : DEFAULT_CAPS), ...options.caps };
    const value = typeof form === "string" ? parseWithin(form, caps, errors) : form;
    if (value === undefined) {
        if (errors.found.length === 0) errors.add("FORM_JSON", null, "there is no form");
        return {};
    }
    if (isSound(value, rule, caps, { authored: options.authored === true })) return { value: value as Json, sound: true };
    return measure(value, caps, errors) ? { value: value as Json } : {};
}

function checkNames(program: Program, answer: boolean, errors: Errors): void {
    const declared: FileNames[] = [];
    program.files.forEach((file, index) => {
        const place = below(null, "files", index);
        const names = { ...declareFile(program, index, errors), answer };
        declared.push(names);
        checkAuthority(file, names, (i) => declared[i], place, errors);
        const outside = new Walk(names, new Map(), errors);
        file.funcs.forEach((func, i) => {
            outside.func(func, below(place, "funcs", i), NOTHING_SET);
        });
        file.agents.forEach((agent, i) => {
            const at = below(place, "agents", i);
            const own = new Map<string, Named>();
            declareFuncs(agent.funcs, own, at, errors);
            agent.funcs.forEach((func, f) => {
                if (names.names.get(func.name)?.imported === true)
                    errors.add(
                        "DUPLICATE_BINDING",
                        below(below(at, "funcs", f), "name"),
                        `the function '${func.name}' has the name of an import`,
                    );
            });
            const walk = new Walk(names, own, errors);
            walk.head(agent.config, below(at, "config"));
            const config = { ...walk.configured };
            agent.funcs.forEach((func, f) => {
                walk.func(func, below(at, "funcs", f), config);
            });
        });
    });
    checkEntry(program, errors);
}

function isObject(value: unknown): value is { [key: string]: Json } {
    return value !== null && typeof value === "object" && !Array.isArray(value);
}
