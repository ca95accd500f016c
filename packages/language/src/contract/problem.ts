/**
 * What is wrong with a value, in words.
 *
 * Boundary: texts and paths only. `check.ts` finds problems; the wording of AgentScript is kept where its rule is the same, with what
 * stands there added behind it.
 */
import type { JsonKind } from "./open.ts";
import { isIdentifier, KIND_WORDS, kindOf } from "./open.ts";

export interface Mismatch {
    /** `a.b[0]`; empty for the value itself. */
    readonly path: string;
    readonly message: string;
    /** What the contract asks for, in words: `a boolean`, `one of "low", "high"`. */
    readonly expected: string;
    /** What is there, in words: `a string`, `"medium"`, `nothing`. */
    readonly got: string;
}

/** How a checked thing is called in messages. */
export interface Names {
    /** The subject: `LLM result`, `argument 'input' of main`. */
    readonly what: string;
    /** What the subject itself must match: `the generate return contract`. */
    readonly matching: string;
}

/** `keys` are innermost first. */
export interface Problem {
    readonly kind: "type" | "missing" | "extra" | "name" | "deep" | "large" | "foreign" | "shape";
    readonly keys: (string | number)[];
    readonly expected: string;
    readonly got: string;
}

export function mismatch(problem: Problem, names: Names): Mismatch {
    const path = pathText(problem.keys);
    return { path, message: sentence(problem, path, names), expected: problem.expected, got: problem.got };
}

function sentence(problem: Problem, path: string, { what, matching }: Names): string {
    const { expected, got } = problem;
    switch (problem.kind) {
        case "type":
            if (path !== "") return `${what} field must be ${expected}: '${path}' is ${got}`;
            return expected === KIND_WORDS.object
                ? `${what} must be an object matching ${matching}`
                : `${what} must be ${expected}, not ${got}`;
        case "missing":
            return `${what} is missing required field '${path}'`;
        case "extra":
            return `${what} contains unexpected field '${path}'`;
        case "name":
            return `${what} contains the field '${path}', a name that is refused`;
        case "deep":
            return `${what} is nested ${got}`;
        case "large":
            return `${what} is too large to be checked`;
        case "foreign":
            return `${what} contains what is no JSON: ${path === "" ? "it" : `'${path}'`} is ${got}`;
        case "shape":
            return `${what} cannot be checked: ${expected}`;
    }
}

function pathText(keys: readonly (string | number)[]): string {
    let out = "";
    for (let i = keys.length - 1; i >= 0; i--) {
        const key = keys[i] as string | number;
        if (typeof key === "number") out += `[${key}]`;
        else if (isIdentifier(key)) out += out === "" ? key : `.${key}`;
        else out += `[${clip(JSON.stringify(key))}]`;
    }
    return out;
}

const SHOWN = 60;

/** `a string`; with `exact`, the text or number itself. */
export function gotText(value: unknown, exact: boolean): string {
    const kind = kindOf(value);
    if (kind === undefined) return value === undefined ? "nothing" : typeof value === "number" ? String(value) : `a ${typeof value}`;
    if (exact && (kind === "string" || kind === "number" || kind === "boolean")) return clip(JSON.stringify(value));
    return KIND_WORDS[kind as JsonKind];
}

/** Shortened without cutting a character in two. */
function clip(text: string): string {
    if (text.length <= SHOWN) return text;
    const end = /[\ud800-\udbff]/.test(text[SHOWN - 1] as string) ? SHOWN - 1 : SHOWN;
    return `${text.slice(0, end)}…`;
}

/** One text for several problems: the first few, and how many more there are. */
export function summary(errors: readonly Mismatch[]): string {
    const shown = errors.slice(0, 8).map((e) => e.message);
    const more = errors.length - shown.length;
    return more > 0 ? `${shown.join("; ")}; and ${more} more` : shown.join("; ");
}
