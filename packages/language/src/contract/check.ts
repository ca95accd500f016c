/**
 * Whether a value holds a contract.
 *
 * Boundary: values are JSON; nothing is turned into another kind here (`coerce.ts`). Values and shapes may be hostile.
 *
 * K1: the value given is never changed. Where nothing has to be filled in, the very same value comes back.
 * K2: own keys only.
 * K3: work is bounded by `MAX_VISITS` and depth by `MAX_DEPTH`, for every value and every set of shapes; nothing is thrown.
 * K4: a field that may be absent and holds none, where its contract takes no none, counts as absent.
 */
import { type Contract, type Field, type Json, type Shapes, isObject } from "./contract.ts";
import {
    copyJson,
    FORBIDDEN_NAMES,
    KIND_WORDS,
    kindOf,
    kindWanted,
    membersOf,
    phrase,
    resolve,
    setOwn,
    shapeOf,
    takesNone,
} from "./open.ts";
import { gotText, type Mismatch, mismatch, type Names, type Problem, summary } from "./problem.ts";

export type Checked =
    | { readonly ok: true; readonly value: Json }
    /** `message`: the errors in one text. There is at least one error and at most `MAX_ERRORS`. */
    | { readonly ok: false; readonly errors: readonly Mismatch[]; readonly message: string };

export interface CheckOptions {
    /** Fields that the contract does not name are refused. */
    readonly strict?: boolean;
    /** What the value is called in messages; `value`. */
    readonly what?: string;
    /** Ends the sentence `… must be an object matching`; `its contract`. */
    readonly matching?: string;
    /**
     * The value was made by the running program itself and is known to be JSON: what the contract says nothing of is not looked at, and
     * names such as `__proto__` are ordinary ones.
     */
    readonly internal?: boolean;
}

/** Words for what a model answered, as AgentScript says it. */
export const LLM_RESULT: Names = { what: "LLM result", matching: "the generate return contract" };

export const MAX_DEPTH = 500;
export const MAX_ERRORS = 50;
const MAX_VISITS = 15_000_000;

export type Checker = (value: unknown) => Checked;

/** Checks one value. Where many values meet one contract, keep what `compileContract` gives. */
export function checkValue(contract: Contract, value: unknown, shapes: Shapes, options: CheckOptions = {}): Checked {
    return compileContract(contract, shapes, options)(value);
}

export function compileContract(contract: Contract, shapes: Shapes, options: CheckOptions = {}): Checker {
    const run = compiler(shapes, options)(contract);
    const names: Names = { what: options.what ?? "value", matching: options.matching ?? "its contract" };
    return (value) => {
        const pass = newPass();
        const result = run(value as Json, pass, 0);
        if (result !== undefined) return { ok: true, value: result };
        const errors = pass.problems.map((problem) => mismatch(problem, names));
        return { ok: false, errors, message: summary(errors) };
    };
}

/** A quick yes or no, for a caller that needs no reasons. */
export function compileTest(contract: Contract, shapes: Shapes, options: CheckOptions = {}): (value: unknown) => boolean {
    return compileTests(shapes, options)(contract);
}

/** The same for many contracts over the same shapes, each of which is compiled once. */
export function compileTests(shapes: Shapes, options: CheckOptions = {}): (contract: Contract) => (value: unknown) => boolean {
    const compile = compiler(shapes, options);
    return (contract) => {
        const run = compile(contract);
        return (value) => {
            const pass = newPass();
            pass.quiet = true;
            return run(value as Json, pass, 0) !== undefined;
        };
    };
}

/** One check under way. `failed`: lists and objects that are known not to hold a member of a union. */
interface Pass {
    left: number;
    quiet: boolean;
    readonly problems: Problem[];
    readonly failed: Map<Run, Set<Json>>;
}

/** The value, with defaults filled in, or undefined where it does not hold; problems are then in the pass unless it is quiet. */
type Run = (value: Json, pass: Pass, depth: number) => Json | undefined;

function newPass(): Pass {
    return { left: MAX_VISITS, quiet: false, problems: [], failed: new Map() };
}

function fail(pass: Pass, kind: Problem["kind"], expected: string, got: string, key?: string): undefined {
    if (!pass.quiet && pass.problems.length < MAX_ERRORS) pass.problems.push({ kind, keys: key === undefined ? [] : [key], expected, got });
    return undefined;
}

/** Puts `key` before the paths of problems that were found inside it. */
function within(pass: Pass, from: number, key: string | number): void {
    for (let i = from; i < pass.problems.length; i++) (pass.problems[i] as Problem).keys.push(key);
}

/** Takes one visit, and one for each of `size` things inside. */
function room(pass: Pass, depth: number, size: number): boolean {
    pass.left -= size + 1;
    if (depth > MAX_DEPTH) fail(pass, "deep", `at most ${MAX_DEPTH} levels`, `more than ${MAX_DEPTH} deep`);
    else if (pass.left < 0) fail(pass, "large", "a smaller value", "too much");
    else return true;
    return false;
}

function compiler(shapes: Shapes, options: CheckOptions): (contract: Contract) => Run {
    const strict = options.strict === true;
    const anything: Run = options.internal === true ? (value) => value : anyJson;
    const named = new Map<string, Run>();
    let nested = 0;
    const compile = (contract: Contract): Run => {
        if (nested >= MAX_DEPTH) return (_, pass) => fail(pass, "shape", "its contract is nested too deep", "no contract");
        nested++;
        const run = compileOne(contract);
        nested--;
        return run;
    };
    const compileOne = (contract: Contract): Run => {
        switch (contract.type) {
            case "json":
                return anything;
            case "string":
            case "boolean":
                return kind(contract.type);
            case "number":
                return (value, pass) =>
                    typeof value === "number" && Number.isFinite(value) ? value : fail(pass, "type", "a number", gotText(value, false));
            case "none":
                return (value, pass) => (value === null ? value : fail(pass, "type", "none", gotText(value, false)));
            case "literal":
                return literals([contract.value], () => phrase(contract, shapes));
            case "list":
                return listOf(contract.item === undefined ? anything : compile(contract.item));
            case "object":
                return objectOf(
                    contract.fields,
                    contract.fields.map((field) => compile(field.contract)),
                    { shapes, strict, anything },
                );
            case "optional":
            case "union":
                return unionOf(contract);
            case "ref":
                return ref(contract.name);
        }
    };
    const ref = (name: string): Run => {
        const known = named.get(name);
        if (known !== undefined) return known;
        const shape = resolve({ type: "ref", name }, shapes);
        if (shape === undefined) {
            const why =
                shapeOf(name, shapes) === undefined ? `the shape '${name}' is not known` : `the shape '${name}' is nothing but itself`;
            return (_, pass) => fail(pass, "shape", why, "no shape");
        }
        // The name stands for itself while it is being compiled, so that a shape may hold itself.
        let target: Run | undefined;
        named.set(name, (value, pass, depth) => (target as Run)(value, pass, depth));
        target = compile(shape);
        named.set(name, target);
        return target;
    };
    const unionOf = (contract: Contract): Run => {
        // `Name?` for a union of that name: the union is compiled once, under its name.
        if (contract.type === "optional" && contract.of.type === "ref" && isUnion(resolve(contract.of, shapes)))
            return orNone(compile(contract.of));
        const members = membersOf(contract, shapes);
        const words = (): string => phrase(contract, shapes);
        const plain = members.flatMap((member) => {
            const at = resolve(member, shapes);
            return at?.type === "literal" ? [at.value] : at?.type === "none" ? [null] : [];
        });
        if (plain.length === members.length) return literals(plain, words);
        if (members.length === 2 && members[1]?.type === "none") {
            const of = compile(members[0] as Contract);
            const scalar = kindWanted(members[0] as Contract, shapes);
            if (scalar === "list" || scalar === "object") return orNone(of);
        }
        return choice(members, members.map(compile), shapes, words);
    };
    return compile;
}

function orNone(of: Run): Run {
    return (value, pass, depth) => (value === null ? value : of(value, pass, depth));
}

function isUnion(contract: Contract | undefined): boolean {
    return contract?.type === "union" || contract?.type === "optional";
}

function kind(type: "string" | "boolean"): Run {
    return (value, pass) => (typeof value === type ? value : fail(pass, "type", KIND_WORDS[type], gotText(value, false)));
}

/** `words` are made where they are needed: most values hold their contract. */
function literals(values: readonly Json[], words: () => string): Run {
    const known = new Set<unknown>(values);
    return (value, pass) => {
        if (known.has(value)) return value;
        return pass.quiet ? undefined : fail(pass, "type", words(), gotText(value, true));
    };
}

function listOf(item: Run): Run {
    return (value, pass, depth) => {
        if (!Array.isArray(value)) return fail(pass, "type", "a list", gotText(value, false));
        if (!room(pass, depth, value.length)) return undefined;
        let out: Json[] | undefined;
        let bad = false;
        for (let i = 0; i < value.length; i++) {
            const from = pass.problems.length;
            const before = value[i] as Json;
            const after = item(before, pass, depth + 1);
            if (after === undefined) {
                within(pass, from, i);
                if (pass.quiet || pass.left < 0 || pass.problems.length >= MAX_ERRORS) return undefined;
                bad = true;
            } else if (after !== before) {
                out ??= value.slice();
                out[i] = after;
            }
        }
        return bad ? undefined : (out ?? value);
    };
}

function objectOf(fields: readonly Field[], runs: readonly Run[], x: { shapes: Shapes; strict: boolean; anything: Run }): Run {
    const declared = { ...x, declared: new Set(fields.map((field) => field.name)) };
    const defaults = fields.map((field, i) => defaultOf(field, runs[i] as Run));
    return (value, pass, depth) => {
        if (!isObject(value)) return fail(pass, "type", "an object", gotText(value, false));
        if (!room(pass, depth, fields.length)) return undefined;
        let out: { [key: string]: Json } | undefined;
        let bad = false;
        let met = 0;
        for (let i = 0; i < fields.length; i++) {
            const field = fields[i] as Field;
            const { name } = field;
            const there = Object.hasOwn(value, name);
            const own = there ? value[name] : undefined;
            if (there) met++;
            const from = pass.problems.length;
            if (own === undefined || (own === null && mayBeAbsent(field) && !takesNone(field.contract, x.shapes))) {
                if (field.default !== undefined) {
                    out ??= { ...value };
                    setOwn(out, name, (defaults[i] as () => Json)());
                } else if (field.optional !== true) {
                    if (!pass.quiet) fail(pass, "missing", phrase(field.contract, x.shapes), "nothing", name);
                    bad = true;
                } else if (there) {
                    out ??= { ...value };
                    delete out[name];
                }
            } else {
                const after = (runs[i] as Run)(own, pass, depth + 1);
                if (after === undefined) {
                    within(pass, from, name);
                    bad = true;
                } else if (after !== own) {
                    out ??= { ...value };
                    setOwn(out, name, after);
                }
            }
            if (bad && (pass.quiet || pass.left < 0)) return undefined;
        }
        if (!extras(value, met, pass, depth, declared) || bad) return undefined;
        return out ?? value;
    };
}

/**
 * The default of a field, with the defaults of its own fields filled in; a fresh copy each time. A default inside of which the same default
 * would be filled in again is left as written there.
 */
function defaultOf(field: Field, run: Run): () => Json {
    let complete: Json | undefined;
    let under = false;
    return () => {
        if (complete === undefined && !under) {
            under = true;
            const pass = newPass();
            pass.quiet = true;
            complete = run(field.default as Json, pass, 0) ?? (field.default as Json);
            under = false;
        }
        return copyJson(complete ?? (field.default as Json));
    };
}

/** What the contract does not name: refused where strict, else kept as long as it is JSON. `met`: how many declared names are there. */
function extras(
    value: { [key: string]: Json },
    met: number,
    pass: Pass,
    depth: number,
    { declared, strict, anything }: { declared: ReadonlySet<string>; strict: boolean; anything: Run },
): boolean {
    const keys = Object.keys(value);
    if (anything === anyJson && !isRecord(value)) {
        fail(pass, "foreign", "JSON", "no plain object");
        return false;
    }
    if (keys.length === met) return true;
    let good = true;
    for (const key of keys) {
        if (declared.has(key)) continue;
        const from = pass.problems.length;
        if (strict) {
            fail(pass, "extra", "nothing", gotText(value[key], false), key);
            good = false;
        } else if (anything === anyJson && !member(value, key, pass, depth, from)) good = false;
        if (!good && (pass.quiet || pass.problems.length >= MAX_ERRORS)) break;
    }
    return good;
}

/** Any JSON value without names that are refused. */
function anyJson(value: Json, pass: Pass, depth: number): Json | undefined {
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (kindOf(value) === undefined) return fail(pass, "foreign", "JSON", gotText(value, false));
    if (typeof value !== "object") return value;
    if (!room(pass, depth, Array.isArray(value) ? value.length : 1)) return undefined;
    if (Array.isArray(value)) {
        for (let i = 0; i < value.length; i++) {
            const from = pass.problems.length;
            if (anyJson(value[i] as Json, pass, depth + 1) === undefined) {
                within(pass, from, i);
                return undefined;
            }
        }
        return value;
    }
    if (!isRecord(value)) return fail(pass, "foreign", "JSON", "no plain object");
    for (const key of Object.keys(value)) if (!member(value, key, pass, depth, pass.problems.length)) return undefined;
    return value;
}

function member(value: { [key: string]: Json }, key: string, pass: Pass, depth: number, from: number): boolean {
    if (FORBIDDEN_NAMES.has(key)) {
        fail(pass, "name", "another name", key, key);
        return false;
    }
    if (anyJson(value[key] as Json, pass, depth + 1) !== undefined) return true;
    within(pass, from, key);
    return false;
}

/** Not a date, a map or an instance of a class: its prototype is none, or the root of its realm. */
function isRecord(value: object): boolean {
    const proto: unknown = Object.getPrototypeOf(value);
    return proto === null || Object.getPrototypeOf(proto) === null;
}

function mayBeAbsent(field: Field): boolean {
    return field.optional === true || field.default !== undefined;
}

// ---- unions ------------------------------------------------------------------------------------------------------------

/** The first member that holds; else the problems of the member that was most likely meant. */
function choice(members: readonly Contract[], runs: readonly Run[], shapes: Shapes, words: () => string): Run {
    const wanted = members.map((one) => kindWanted(one, shapes));
    return (value, pass, depth) => {
        if (!room(pass, depth, 1)) return undefined;
        const container = value !== null && typeof value === "object";
        const kind = kindOf(value);
        const { quiet } = pass;
        pass.quiet = true;
        for (let i = 0; i < runs.length; i++) {
            const run = runs[i] as Run;
            if (wanted[i] !== undefined && wanted[i] !== kind) continue;
            const failed = container ? pass.failed.get(run) : undefined;
            if (failed?.has(value) === true) continue;
            const found = run(value, pass, depth + 1);
            if (found !== undefined) {
                pass.quiet = quiet;
                return found;
            }
            if (pass.left < 0) break;
            if (!container) continue;
            if (failed === undefined) pass.failed.set(run, new Set([value]));
            else failed.add(value);
        }
        pass.quiet = quiet;
        if (quiet) return undefined;
        if (pass.left < 0) return fail(pass, "large", "a smaller value", "too much");
        const near = container ? nearest(value, members, wanted, shapes) : -1;
        if (near >= 0) return (runs[near] as Run)(value, pass, depth + 1);
        return fail(pass, "type", words(), gotText(value, true));
    };
}

/** Among members of the value's kind: the one most of whose literals and names are there; -1 where there is none of its kind. */
function nearest(value: Json, members: readonly Contract[], wanted: readonly (string | undefined)[], shapes: Shapes): number {
    const kind = kindOf(value);
    let best = -1;
    let most = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < members.length; i++) {
        if (wanted[i] !== kind) continue;
        const at = resolve(members[i] as Contract, shapes);
        const score = at?.type === "object" && isObject(value) ? likeness(value, at.fields, shapes) : 0;
        if (score > most) {
            best = i;
            most = score;
        }
    }
    return best;
}

function likeness(value: { [key: string]: Json }, fields: readonly Field[], shapes: Shapes): number {
    let score = 0;
    for (const field of fields) {
        if (!Object.hasOwn(value, field.name)) score -= mayBeAbsent(field) ? 0 : 2;
        else {
            const at = resolve(field.contract, shapes);
            score += at?.type !== "literal" ? 1 : at.value === value[field.name] ? 100 : -100;
        }
    }
    return score;
}
