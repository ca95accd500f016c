/**
 * Turning what a model or a tool wrote into what its contract asks for, where that is beyond doubt.
 *
 * Boundary: only for values that a model or a tool wrote, and never where `strict` stands. It does not check: what does not fit stays as it
 * is, and `check.ts` says so.
 *
 * The whole table:
 *
 * | asked for | written | becomes |
 * | --- | --- | --- |
 * | boolean | a text that is `true` or `false` in any case, with white space around | the boolean |
 * | number | a text that matches `-?(0|[1-9]\d*)(\.\d+)?`, its integer kept exactly | the number |
 * | one of several texts | a text that is one of them but for case and white space, and only one | that text |
 * | list[T], fields, T?, a union | | element by element, by the rules above |
 * | a union | a value that holds a member as it is | itself; else the first member that it becomes |
 *
 * Nothing becomes a string, a list, an object or none.
 *
 * E1: the value given is never changed; what needs no change comes back as the very same value.
 * E2: coercing twice gives what coercing once gives.
 */
import { type Checked, type CheckOptions, compileContract, compileTest, MAX_DEPTH } from "./check.ts";
import type { Contract, Field, Json, Shapes } from "./contract.ts";
import { kindOf, kindWanted, literalsOf, membersOf, resolve, setOwn, shapeOf } from "./open.ts";

export function coerceValue(contract: Contract, value: Json, shapes: Shapes): Json {
    return compileCoercion(contract, shapes)(value);
}

/** What a model or a tool wrote: coerced unless `strict`, then checked. */
export function acceptValue(contract: Contract, value: unknown, shapes: Shapes, options: CheckOptions = {}): Checked {
    return compileAcceptance(contract, shapes, options)(value);
}

export function compileAcceptance(contract: Contract, shapes: Shapes, options: CheckOptions = {}): (value: unknown) => Checked {
    const check = compileContract(contract, shapes, options);
    if (options.strict === true) return check;
    const coerce = compileCoercion(contract, shapes);
    return (value) => check(coerce(value as Json));
}

export function compileCoercion(contract: Contract, shapes: Shapes): (value: Json) => Json {
    const run = compiler(shapes)(contract);
    return (value) => run(value, { left: MAX_VISITS, tried: new Map() }, 0);
}

const MAX_VISITS = 15_000_000;

/** `tried`: what a list or object became as a union. */
interface Pass {
    left: number;
    readonly tried: Map<Run, Map<Json, Json>>;
}

type Run = (value: Json, pass: Pass, depth: number) => Json;

const KEEP: Run = (value) => value;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** Longer texts are not meant as numbers. */
const MAX_NUMBER = 400;

function toNumber(value: Json): Json {
    if (typeof value !== "string" || value.length > MAX_NUMBER || !NUMBER.test(value)) return value;
    const number = Number(value);
    return Number.isSafeInteger(number) || (Number.isFinite(number) && !Number.isInteger(number)) ? number : value;
}

function toBoolean(value: Json): Json {
    if (typeof value !== "string" || value.length > MAX_NUMBER) return value;
    const word = value.trim().toLowerCase();
    return word === "true" ? true : word === "false" ? false : value;
}

/** Texts that differ in case and white space only are the same. */
function plainText(text: string): string {
    return text.trim().replace(/\s+/g, " ").toLowerCase();
}

function toOneOf(texts: readonly string[]): Run {
    const exact = new Set(texts);
    const byPlain = new Map<string, string | null>();
    let longest = 0;
    for (const text of exact) {
        const plain = plainText(text);
        byPlain.set(plain, byPlain.has(plain) ? null : text);
        longest = Math.max(longest, text.length);
    }
    return (value) => {
        if (typeof value !== "string" || exact.has(value) || value.length > longest * 2 + 64) return value;
        return byPlain.get(plainText(value)) ?? value;
    };
}

function compiler(shapes: Shapes): (contract: Contract) => Run {
    const named = new Map<string, Run>();
    let nested = 0;
    const compile = (contract: Contract): Run => {
        if (nested >= MAX_DEPTH) return KEEP;
        nested++;
        const run = compileOne(contract);
        nested--;
        return run;
    };
    const compileOne = (contract: Contract): Run => {
        switch (contract.type) {
            case "string":
            case "json":
            case "none":
                return KEEP;
            case "number":
                return toNumber;
            case "boolean":
                return toBoolean;
            case "literal":
                return typeof contract.value === "string" ? toOneOf([contract.value]) : KEEP;
            case "list":
                return contract.item === undefined ? KEEP : listOf(compile(contract.item));
            case "object":
                return objectOf(
                    contract.fields,
                    contract.fields.map((field) => compile(field.contract)),
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
        const shape = shapeOf(name, shapes) === undefined ? undefined : resolve({ type: "ref", name }, shapes);
        if (shape === undefined) return KEEP;
        let target: Run = KEEP;
        named.set(name, (value, pass, depth) => target(value, pass, depth));
        target = compile(shape);
        named.set(name, target);
        return target;
    };
    const unionOf = (contract: Contract): Run => {
        const members = membersOf(contract, shapes);
        const texts = literalsOf(members, shapes).filter((value) => typeof value === "string");
        const others = members.filter((member) => {
            const at = resolve(member, shapes);
            return at !== undefined && at.type !== "literal" && at.type !== "none";
        });
        const word = texts.length > 0 ? toOneOf(texts) : KEEP;
        if (others.length === 0) return word;
        return union(members, others, others.map(compile), word, shapes);
    };
    return compile;
}

function listOf(item: Run): Run {
    if (item === KEEP) return KEEP;
    return (value, pass, depth) => {
        if (!Array.isArray(value) || depth > MAX_DEPTH) return value;
        pass.left -= value.length + 1;
        if (pass.left < 0) return value;
        let out: Json[] | undefined;
        for (let i = 0; i < value.length; i++) {
            const before = value[i] as Json;
            const after = item(before, pass, depth + 1);
            if (after === before) continue;
            out ??= value.slice();
            out[i] = after;
        }
        return out ?? value;
    };
}

function objectOf(fields: readonly Field[], runs: readonly Run[]): Run {
    const names = fields.map((field) => field.name);
    return (value, pass, depth) => {
        if (value === null || typeof value !== "object" || Array.isArray(value) || depth > MAX_DEPTH) return value;
        pass.left -= names.length + 1;
        if (pass.left < 0) return value;
        let out: { [key: string]: Json } | undefined;
        for (let i = 0; i < names.length; i++) {
            const name = names[i] as string;
            const run = runs[i] as Run;
            if (run === KEEP || !Object.hasOwn(value, name)) continue;
            const before = value[name] as Json;
            const after = run(before, pass, depth + 1);
            if (after === before) continue;
            out ??= { ...value };
            setOwn(out, name, after);
        }
        return out ?? value;
    };
}

/** `others`: the members that are no literals. */
function union(members: readonly Contract[], others: readonly Contract[], runs: readonly Run[], word: Run, shapes: Shapes): Run {
    const exact = compileTest({ type: "union", of: members }, shapes);
    const tests = others.map((other) => compileTest(other, shapes));
    const wanted = others.map((other) => kindWanted(other, shapes));
    const decide = (value: Json, pass: Pass, depth: number): Json => {
        if (exact(value)) return value;
        const text = word(value, pass, depth);
        if (text !== value) return text;
        const kind = kindOf(value);
        for (let i = 0; i < runs.length; i++) {
            if (kind !== "string" && wanted[i] !== undefined && wanted[i] !== kind) continue;
            const made = (runs[i] as Run)(value, pass, depth + 1);
            if (made !== value && (tests[i] as (value: unknown) => boolean)(made)) return made;
        }
        return value;
    };
    const run: Run = (value, pass, depth) => {
        if (value === null || typeof value !== "object") return decide(value, pass, depth);
        if (depth > MAX_DEPTH || --pass.left < 0) return value;
        let known = pass.tried.get(run);
        const before = known?.get(value);
        if (before !== undefined) return before;
        const made = decide(value, pass, depth);
        if (known === undefined) {
            known = new Map();
            pass.tried.set(run, known);
        }
        known.set(value, made);
        return made;
    };
    return run;
}
