/**
 * Checks a configuration file against a table of rules.
 *
 * Boundary: JSON text in, JSON or problems out; what the keys mean is said in `rules.ts`.
 *
 * CC1: every problem is reported, each with its file and key. An unknown key is a problem.
 * CC2: a key of the prototype chain (`__proto__`, `constructor`) is an ordinary key, and so unknown.
 */
import { isObject, type Json, nearest } from "@remit/language";
import { readJson } from "../input/json.ts";

export type Rule =
    | { readonly is: "text"; readonly form?: RegExp; readonly say?: string; readonly one?: readonly string[] }
    | { readonly is: "number"; readonly min?: number; readonly whole?: boolean }
    | { readonly is: "yes or no" }
    /** One text, or several that belong together. */
    | { readonly is: "text or texts" }
    | { readonly is: "list"; readonly of: Rule }
    /** Any keys. */
    | { readonly is: "map"; readonly of: Rule }
    | { readonly is: "object"; readonly keys: Keys }
    | { readonly is: "json" };

export type Keys = { readonly [key: string]: Rule & { readonly needed?: true } };

/** What JSON is that keeps a rule. */
export type Read<R> = R extends { readonly one: readonly (infer Word)[] }
    ? Word
    : R extends { readonly is: "list"; readonly of: infer Item }
      ? readonly Read<Item>[]
      : R extends { readonly is: "map"; readonly of: infer Item }
        ? { readonly [name: string]: Read<Item> }
        : R extends { readonly is: "object"; readonly keys: infer K }
          ? ReadKeys<K>
          : R extends { readonly is: infer Is extends keyof Plain }
            ? Plain[Is]
            : never;
interface Plain {
    readonly text: string;
    readonly number: number;
    readonly "yes or no": boolean;
    readonly "text or texts": string | readonly string[];
    readonly json: Json;
}
export type ReadKeys<K> = { readonly [F in keyof K as K[F] extends { readonly needed: true } ? F : never]: Read<K[F]> } & {
    readonly [F in keyof K as K[F] extends { readonly needed: true } ? never : F]?: Read<K[F]>;
};

export interface Problem {
    /** As shown: relative to where the person is, or absolute. */
    readonly file: string;
    /** `mcpServers.search.command`, empty for the file as a whole. */
    readonly key: string;
    readonly message: string;
}

/** What to do about a file of the configuration. */
export const CONFIG_HINT = "mend that file, or begin again with `{}`, which says nothing";

export class ConfigError extends Error {
    override readonly name = "ConfigError";
    readonly problems: readonly Problem[];
    constructor(problems: readonly Problem[]) {
        super(problems.map(({ file, key, message }) => `${file}: ${key === "" ? "" : `${key}: `}${message}`).join("\n"));
        this.problems = problems;
    }
}

const MAX_DEPTH = 20;

export function checkJson(
    text: string,
    file: string,
    keys: Keys,
): { readonly json: { [key: string]: Json }; readonly problems: readonly Problem[] } {
    const read = readJson(text.replace(/^\uFEFF/, ""));
    if (!read.ok) return { json: {}, problems: [{ file, key: "", message: read.message.replace(/^is not/, "not") }] };
    const json = read.value;
    const problems: Problem[] = [];
    check(json, { is: "object", keys }, "", 0, (key, message) => problems.push({ file, key, message }));
    return { json: problems.length === 0 ? (json as { [key: string]: Json }) : {}, problems };
}

function check(json: Json, rule: Rule, key: string, depth: number, problem: (key: string, message: string) => void): void {
    const wrong = depth > MAX_DEPTH ? "is nested too deep" : mismatch(json, rule);
    if (wrong !== null) {
        problem(key, wrong);
        return;
    }
    const at = (name: string): string => (key === "" ? name : `${key}.${name}`);
    if (rule.is === "list") {
        (json as Json[]).forEach((item, index) => {
            check(item, rule.of, `${key}[${index}]`, depth + 1, problem);
        });
    } else if (rule.is === "map" || rule.is === "object") {
        const object = json as { [name: string]: Json };
        for (const name of Object.keys(object)) {
            const inner = rule.is === "map" ? rule.of : Object.hasOwn(rule.keys, name) ? rule.keys[name] : undefined;
            if (inner !== undefined) check(object[name] as Json, inner, at(name), depth + 1, problem);
            else problem(at(name), unknownKey(name, Object.keys(rule.is === "object" ? rule.keys : {})));
        }
        if (rule.is === "object")
            for (const [name, inner] of Object.entries(rule.keys))
                if (inner.needed === true && !Object.hasOwn(object, name)) problem(at(name), "is missing");
    }
}

/** What is wrong with a value itself, not with what is in it. */
function mismatch(json: Json, rule: Rule): string | null {
    switch (rule.is) {
        case "json":
            return null;
        case "text":
            if (typeof json !== "string") return `a text is expected, not ${kindOf(json)}`;
            if (json.includes("\0")) return "a text without NUL is expected";
            if (rule.one !== undefined && !rule.one.includes(json)) return `one of ${rule.one.join(", ")} is expected, not '${json}'`;
            return rule.form === undefined || rule.form.test(json) ? null : `${rule.say ?? "another form"} is expected, not '${json}'`;
        case "text or texts":
            return [json].flat().every((one) => typeof one === "string") ? null : "a text or a list of texts is expected";
        case "number":
            if (typeof json !== "number") return `a number is expected, not ${kindOf(json)}`;
            if (rule.whole === true && !Number.isSafeInteger(json)) return `a whole number is expected, not ${json}`;
            return json < (rule.min ?? 0) ? `at least ${rule.min ?? 0} is expected, not ${json}` : null;
        case "yes or no":
            return typeof json === "boolean" ? null : `true or false is expected, not ${kindOf(json)}`;
        case "list":
            return Array.isArray(json) ? null : `a list is expected, not ${kindOf(json)}`;
        case "map":
        case "object":
            return !isObject(json) ? `an object is expected, not ${kindOf(json)}` : null;
    }
}

function unknownKey(name: string, known: readonly string[]): string {
    const near = nearest(name, known);
    return near === undefined || near === null
        ? `is not known here; known are ${known.join(", ")}`
        : `is not known here; did you mean ${near}?`;
}

function kindOf(json: Json): string {
    if (json === null) return "null";
    if (Array.isArray(json)) return "a list";
    return { string: "a text", number: "a number", boolean: "true or false", object: "an object" }[typeof json as "string"] ?? typeof json;
}
