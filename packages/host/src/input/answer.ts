/**
 * What a person typed for a missing field, read against the field's contract.
 *
 * Boundary: text in, JSON or what to say to the person out.
 *
 * I1: where the contract takes text, what was typed is the text as it stands, except a whole JSON string in its quotes.
 * I2: everywhere else it is JSON if it can be read as JSON; a contract of literals takes them without quotes.
 * I3: a value that is taken holds its contract, with all that is in it, as the machine checks it; what does not is named. A shape that is not known here
 *     takes any value, and the machine, which knows it, checks that.
 */
import { checkValue, type Contract, isObject, type Json, type Program, type Shapes, type Site } from "@remit/language";
import { readJson } from "./json.ts";

export type Answer = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

/** Longest path of references that is followed. */
const MAX_REFS = 50;

export function readAnswer(text: string, contract: Contract, shapes: Shapes = {}): Answer {
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
    let inside = "";
    for (const option of options) {
        const value = fitting(option, json, typed);
        if (value === undefined) continue;
        const checked = checkAnswer(option, value, shapes, "the answer");
        if (checked.ok) return { ok: true, value };
        inside ||= `: ${checked.message}`;
    }
    return { ok: false, message: `expected ${expected(options)}${inside}` };
}

/** I3. */
export function checkAnswer(contract: Contract, value: Json, shapes: Shapes, what: string): ReturnType<typeof checkValue> {
    return checkValue(known(contract, shapes), value, shapes, { what });
}

/** What the contracts of a question refer to, which is asked at this site. */
export function shapesAt(program: Program, site: Site | null | undefined): Shapes {
    const { shapes = [] } = program.files.find((one) => one.file === site?.file) ?? {};
    return Object.fromEntries(shapes.map((one) => [one.name, one.contract]));
}

function known(contract: Contract, shapes: Shapes): Contract {
    switch (contract.type) {
        case "ref":
            return Object.hasOwn(shapes, contract.name) ? contract : { type: "json" };
        case "list":
            return contract.item === undefined ? contract : { ...contract, item: known(contract.item, shapes) };
        case "optional":
            return { ...contract, of: known(contract.of, shapes) };
        case "union":
            return { ...contract, of: contract.of.map((one) => known(one, shapes)) };
        case "object":
            return { ...contract, fields: contract.fields.map((one) => ({ ...one, contract: known(one.contract, shapes) })) };
        default:
            return contract;
    }
}

/** What the person is asked for, in words: `text`, `a number`, `"low" or "high"`. */
export function expectedOf(contract: Contract, shapes: Shapes = {}): string {
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
function alternatives(contract: Contract, shapes: Shapes, depth: number): Contract[] {
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
