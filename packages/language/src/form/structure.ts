/**
 * Whether a value is within the caps and has the structure that the table gives, in one walk.
 *
 * Boundary: one node at a time, no scopes. Reads own keys only. It calls itself, as deep as the caps let a form be.
 *
 * STU1: unknown kinds and unknown keys are refused, with what is known.
 * STU3: a cap that is passed is told alone: nothing else is said of a form that is too large to be looked at.
 */
import { isObject } from "../contract/contract.ts";
import { FORBIDDEN_NAMES, isIdentifier } from "../contract/open.ts";
import { nearest } from "../diagnostics/nearest.ts";
import { withArticle } from "../text/words.ts";
import { type Errors, type FormCode, newErrors } from "./errors.ts";
import type { Caps } from "./measure.ts";
import { GROUPS, type Group, type Key, type Keys, NEVER_VARIABLES, RECORDS, type Rule } from "./table.ts";

export interface StructureOptions {
    readonly caps: Caps;
    /** Compiled from the author's own source: the names that payloads must not use are ordinary keys. */
    readonly authored: boolean;
}

interface Look extends StructureOptions {
    readonly errors: Errors;
    /** Keys from the root to the value that is looked at. */
    readonly path: (string | number)[];
    nodes: number;
    units: number;
    /** A cap was passed. */
    over: boolean;
}

/** What is wrong, in the order of the value. `capped`: a cap was passed, which is all that is said. */
export function findWrong(value: unknown, rule: Rule, options: StructureOptions): { readonly errors: Errors; readonly capped: boolean } {
    const look: Look = { ...options, errors: newErrors(), path: [], nodes: 0, units: 0, over: false };
    check(value, rule, look);
    if (look.units > options.caps.bytes) tooLarge(look);
    return { errors: look.errors, capped: look.over };
}

function add(look: Look, code: FormCode, message: string, key?: string): void {
    if (!look.over) look.errors.add(code, key === undefined ? look.path : [...look.path, key], message);
}

// ---- caps ------------------------------------------------------------------------------------------------------------

function pass(look: Look, code: FormCode, message: string, whole: boolean): false {
    if (!look.over) {
        look.errors.found.length = 0;
        look.errors.add(code, whole ? [] : look.path, message);
        look.over = true;
    }
    return false;
}

/** Counts a value; whether it is within the caps so far. */
function counted(value: unknown, look: Look): boolean {
    const { caps } = look;
    if (look.over) return false;
    if (++look.nodes > caps.nodes) return pass(look, "FORM_NODES", `the form has more than ${caps.nodes} values`, true);
    if (typeof value === "string") {
        if (value.length > caps.string) return pass(look, "FORM_STRING", `the text has more than ${caps.string} characters`, false);
        look.units += value.length + 2;
    } else if (typeof value === "number") {
        if (!Number.isFinite(value)) return pass(look, "FORM_JSON", `${value} is no JSON number`, false);
        look.units += 1;
    } else if (value === null || typeof value === "boolean") look.units += 4;
    else if (typeof value !== "object") return pass(look, "FORM_JSON", `${typeof value} is no JSON value`, false);
    else {
        if (look.path.length >= caps.depth) return pass(look, "FORM_DEPTH", `the form is nested more than ${caps.depth} deep`, true);
        if (!Array.isArray(value) && !isRecord(value)) return pass(look, "FORM_JSON", "this object is no plain JSON object", false);
        look.units += 2;
    }
    return look.units <= caps.bytes || tooLarge(look);
}

function tooLarge(look: Look): false {
    return pass(look, "FORM_BYTES", `the form has more than ${look.caps.bytes} bytes`, true);
}

function countKey(key: string, look: Look): void {
    look.units += key.length + 3;
    if (key.length > look.caps.string) pass(look, "FORM_STRING", `a key has more than ${look.caps.string} characters`, false);
}

/** What stands in a value that is counted, and is any JSON. `named`: names in it are held to what payloads may use. */
function inside(value: unknown, named: boolean, look: Look): void {
    if (value === null || typeof value !== "object") return;
    const { path } = look;
    const isList = Array.isArray(value);
    for (const [key, inner] of Object.entries(value)) {
        path.push(isList ? Number(key) : key);
        if (!isList) countKey(key, look);
        if (named && !isList && FORBIDDEN_NAMES.has(key)) add(look, "FORM_NAME", `the name '${key}' is refused`);
        if (!counted(inner, look)) return;
        inside(inner, named, look);
        path.pop();
    }
}

/** Not an instance of anything. */
function isRecord(value: object): boolean {
    const proto: unknown = Object.getPrototypeOf(value);
    return proto === null || Object.getPrototypeOf(proto) === null;
}

// ---- structure -------------------------------------------------------------------------------------------------------

/** What stands inside is looked at as well; that of a value of the wrong kind is only counted. */
function check(value: unknown, rule: Rule, look: Look): void {
    if (!counted(value, look)) return;
    switch (rule.rule) {
        case "list":
            if (Array.isArray(value)) checkList(value, rule, look);
            else wrong(look, value, "a list");
            return;
        case "record":
            if (isObject(value)) checkKeys(value, RECORDS[rule.of], undefined, rule.of, look);
            else wrong(look, value, `an object (${rule.of})`);
            return;
        case "node":
            checkNode(value, GROUPS[rule.of], look);
            return;
        case "json":
            inside(value, !look.authored, look);
            return;
        case "name":
        case "variable":
        case "key":
            checkName(value, rule.rule, look);
            return;
        case "text":
            if (typeof value !== "string") wrong(look, value, rule.what ?? "a text");
            else if (value.length < (rule.min ?? 0)) add(look, "FORM_VALUE", "must not be empty");
            else if (rule.pattern !== undefined && !rule.pattern.test(value)) wrong(look, value, rule.what ?? "", "FORM_VALUE");
            return;
        case "integer":
            if (typeof value !== "number") wrong(look, value, "a whole number");
            else if (!Number.isSafeInteger(value) || value < rule.min) wrong(look, value, `a whole number from ${rule.min}`, "FORM_VALUE");
            return;
        case "number":
            if (typeof value !== "number") wrong(look, value, "a number");
            else if (value < (rule.min ?? value)) add(look, "FORM_VALUE", `must be at least ${rule.min}`);
            else if (rule.above !== undefined && value <= rule.above) add(look, "FORM_VALUE", `must be above ${rule.above}`);
            return;
        case "boolean":
            if (typeof value !== "boolean") wrong(look, value, "true or false");
            return;
        case "one": {
            if (rule.of.includes(value as string | boolean)) return;
            const known = rule.of.map((each) => JSON.stringify(each)).join(", ");
            const code = rule.of.some((each) => typeof each === typeof value) ? "FORM_VALUE" : "FORM_TYPE";
            wrong(look, value, rule.of.length === 1 ? known : `one of ${known}`, code);
            return;
        }
        case "literal":
            if (value === null && rule.expression) return;
            if (value === null || typeof value === "object")
                wrong(look, value, `a text, a number, true or false${rule.expression ? ", or null" : ""}`);
            else if (!rule.expression && typeof value === "number" && isInexact(value)) add(look, "FORM_VALUE", INEXACT);
            return;
    }
}

function wrong(look: Look, value: unknown, what: string, code: FormCode = "FORM_TYPE"): void {
    add(look, code, `must be ${what}, not ${shown(value)}`);
    inside(value, false, look);
}

function checkList(value: readonly unknown[], rule: Rule & { rule: "list" }, look: Look): void {
    if (value.length < (rule.min ?? 0))
        add(look, "FORM_VALUE", `must have at least ${rule.min} ${rule.min === 1 ? "item" : "items"}, not ${value.length}`);
    if (rule.max !== undefined && value.length > rule.max)
        add(look, "FORM_VALUE", `must have at most ${rule.max} items, not ${value.length}`);
    const { path } = look;
    const { of } = rule;
    for (let i = 0; i < value.length && !look.over; i++) {
        // Most of a form are its places.
        if (of.rule === "integer" && Number.isSafeInteger(value[i]) && (value[i] as number) >= of.min && look.nodes < look.caps.nodes) {
            look.nodes++;
            look.units++;
            continue;
        }
        path.push(i);
        check(value[i], of, look);
        path.pop();
    }
}

function checkNode(value: unknown, group: Group, look: Look): void {
    if (!isObject(value)) {
        wrong(look, value, `${group.what} (an object with "${group.key}")`);
        return;
    }
    const kind = Object.hasOwn(value, group.key) ? value[group.key] : undefined;
    const keys = typeof kind === "string" ? group.keys(kind) : undefined;
    if (keys !== undefined) {
        checkKeys(value, keys, group.key, kind as string, look);
        return;
    }
    if (kind === undefined) add(look, "FORM_MISSING", `${group.what} needs the key "${group.key}"`);
    else {
        const near = typeof kind === "string" ? nearest(kind, group.kinds) : null;
        const hint = near === null ? `known are ${group.kinds.join(", ")}` : `did you mean '${near}'?`;
        add(look, "FORM_KIND", `${shown(kind)} is not ${group.what}; ${hint}`, group.key);
    }
    inside(value, false, look);
}

/** A table of keys as it is read here. `required`: how many there must be. */
interface Row {
    readonly keys: ReadonlyMap<string, Key>;
    readonly required: number;
}

const ROWS: ReadonlyMap<Keys, Row> = new Map(
    [...Object.values(RECORDS), ...Object.values(GROUPS).flatMap((group) => group.kinds.map((kind) => group.keys(kind) as Keys))].map(
        (keys) => [keys, { keys: new Map(Object.entries(keys)), required: Object.values(keys).filter((key) => key.required).length }],
    ),
);

/** `discriminator`: the key that has been read already, and names the kind. */
function checkKeys(value: { [key: string]: unknown }, table: Keys, discriminator: string | undefined, kind: string, look: Look): void {
    const { keys, required } = ROWS.get(table) as Row;
    const { path } = look;
    let left = required;
    for (const key of Object.keys(value)) {
        countKey(key, look);
        path.push(key);
        const of = keys.get(key);
        if (of !== undefined) {
            if (of.required) left--;
            check(value[key], of.rule, look);
        } else {
            if (key !== discriminator) {
                const known = [...keys.keys()].filter((name) => name !== "at");
                const has = known.length === 0 ? "none" : known.join(", ");
                add(look, "FORM_KEY", `${whatOf(discriminator, kind)} has no key ${shown(key)}; it has ${has}`);
            }
            if (counted(value[key], look)) inside(value[key], false, look);
        }
        path.pop();
    }
    if (left === 0) return;
    for (const [key, of] of keys)
        if (of.required && !Object.hasOwn(value, key)) add(look, "FORM_MISSING", `${whatOf(discriminator, kind)} needs the key "${key}"`);
}

function whatOf(discriminator: string | undefined, kind: string): string {
    return discriminator === undefined ? withArticle(kind) : `'${kind}'`;
}

function checkName(value: unknown, rule: "name" | "variable" | "key", look: Look): void {
    if (typeof value !== "string") wrong(look, value, "a name");
    else if (FORBIDDEN_NAMES.has(value) && !(look.authored && rule !== "variable"))
        add(look, "FORM_NAME", `the name '${value}' is refused`);
    else if (rule === "key") return;
    else if (!isIdentifier(value)) add(look, "FORM_NAME", `${shown(value)} is no name: a letter or _, then letters, digits and _`);
    else if (rule === "variable" && NEVER_VARIABLES.has(value))
        add(look, "FORM_NAME", `'${value}' is a word of the language and cannot be a variable`);
}

export const INEXACT = "a whole number beyond 2^53 cannot be kept exactly";

export function isInexact(value: number): boolean {
    return Number.isInteger(value) && Math.abs(value) > 2 ** 53;
}

const SHOWN = 40;

function shown(value: unknown): string {
    if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
    if (typeof value === "string") return value.length > SHOWN ? `${JSON.stringify(value.slice(0, SHOWN))}…` : JSON.stringify(value);
    return Array.isArray(value) ? "a list" : value === undefined ? "nothing" : "an object";
}
