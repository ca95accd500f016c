/**
 * What a person typed for a missing field, read against the field's contract.
 *
 * Boundary: text in, JSON or what to say to the person out. The machine checks the value against the contract again.
 *
 * I1: where the contract takes text, what was typed is the text as it stands, except a whole JSON string in its quotes.
 * I2: everywhere else it is JSON if it can be read as JSON; a contract of literals takes them without quotes.
 */
import { isObject, type Contract, type Json } from "@remit/language";
import { readJson } from "./json.ts";

export type Answer = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

/** Longest path of references that is followed. */
const MAX_REFS = 50;

export function readAnswer(text: string, contract: Contract, shapes: { readonly [name: string]: Contract } = {}): Answer {
    const typed = text.replace(/\r?\n$/, "");
    const options = alternatives(contract, shapes, 0);
    const empty = typed.trim() === "";
    if (
        empty &&
        options.some(
            (option) => option.type === "optional" || option.type === "none" || (option.type === "literal" && option.value === null),
        )
    )
        return { ok: true, value: null };
    for (const option of options)
        if (option.type === "literal" && option.value !== null && String(option.value) === typed.trim())
            return { ok: true, value: option.value };
    const json = jsonOf(typed);
    for (const option of options) {
        const value = fitting(option, json, typed);
        if (value !== undefined) return { ok: true, value };
    }
    return { ok: false, message: `expected ${expected(options)}` };
}

/** What the person is asked for, in words: `text`, `a number`, `"low" or "high"`. */
export function expectedOf(contract: Contract, shapes: { readonly [name: string]: Contract } = {}): string {
    return expected(alternatives(contract, shapes, 0));
}

function fitting(option: Contract, json: Json | undefined, typed: string): Json | undefined {
    switch (option.type) {
        case "string":
            return typeof json === "string" ? json : typed;
        case "number":
            return typeof json === "number" ? json : undefined;
        case "boolean":
            return YES_NO.get(typed.trim().toLowerCase());
        case "list":
            return Array.isArray(json) ? json : undefined;
        case "object":
            return isObject(json) ? json : undefined;
        case "json":
            return json === undefined ? typed : json;
        default:
            return undefined;
    }
}
const YES_NO: ReadonlyMap<string, boolean> = new Map([
    ["true", true],
    ["yes", true],
    ["y", true],
    ["false", false],
    ["no", false],
    ["n", false],
]);

/** The contracts a value may meet, references followed. An optional one is there itself too: it takes nothing. */
function alternatives(contract: Contract, shapes: { readonly [name: string]: Contract }, depth: number): Contract[] {
    if (depth > MAX_REFS) return [contract];
    switch (contract.type) {
        case "ref": {
            const shape = Object.hasOwn(shapes, contract.name) ? shapes[contract.name] : undefined;
            return shape === undefined ? [{ type: "json" }] : alternatives(shape, shapes, depth + 1);
        }
        case "optional":
            return [contract, ...alternatives(contract.of, shapes, depth + 1)];
        case "union":
            // Text last: everything typed is text, so it would hide the others.
            return contract.of
                .flatMap((one) => alternatives(one, shapes, depth + 1))
                .sort((a, b) => Number(a.type === "string") - Number(b.type === "string"));
        default:
            return [contract];
    }
}

const NAMES: { readonly [type: string]: string } = {
    string: "text",
    number: "a number",
    boolean: "yes or no",
    list: "a list, as JSON",
    object: "an object, as JSON",
    json: "JSON or text",
    none: "nothing",
};

function expected(options: readonly Contract[]): string {
    const names = options.flatMap((option) => (option.type === "literal" ? [JSON.stringify(option.value)] : (NAMES[option.type] ?? [])));
    return [...new Set(names)].join(" or ");
}

function jsonOf(text: string): Json | undefined {
    // What is not JSON is text, and so is what would not be the same when it is read.
    const read = readJson(text);
    return read.ok ? read.value : undefined;
}
