/**
 * Whether a value has the structure that the table gives, node by node.
 *
 * Boundary: one node at a time, no scopes. Reads own keys only. No recursion: what is to be looked at waits in a list.
 *
 * V1: unknown kinds and unknown keys are refused, with what is known.
 * V3: what is wrong, and where, is looked for only where a quick look (`sound.ts`) does not say that nothing is.
 */
import { FORBIDDEN_NAMES, isIdentifier } from "../contract/open.ts";
import { nearest } from "../diagnostics/nearest.ts";
import { withArticle } from "../text/words.ts";
import { type Errors, MAX_ERRORS, newErrors, type Place } from "./errors.ts";
import { GROUPS, type Group, type Key, type Keys, NEVER_VARIABLES, RECORDS, type Rule } from "./table.ts";

export interface StructureOptions {
    /** Compiled from the author's own source: the names that payloads must not use are ordinary keys. */
    readonly authored: boolean;
}

interface Task {
    readonly value: unknown;
    readonly rule: Rule;
    readonly place: Place | null;
}

type Add = (code: Parameters<Errors["add"]>[0], message: string) => void;

/** Adds what is wrong, in the order of the table. */
export function findWrong(value: unknown, rule: Rule, errors: Errors, options: StructureOptions): void {
    const work: Task[] = [{ value, rule, place: null }];
    const inner: Task[] = [];
    for (let task = work.pop(); task !== undefined; task = work.pop()) {
        checkOne(task, errors, inner, options);
        for (let next = inner.pop(); next !== undefined; next = inner.pop()) work.push(next);
        if (errors.found.length >= MAX_ERRORS) return;
    }
}

function checkOne({ value, rule, place }: Task, errors: Errors, inner: Task[], options: StructureOptions): void {
    const add: Add = (code, message) => errors.add(code, place, message);
    switch (rule.rule) {
        case "text":
            if (typeof value !== "string") add("FORM_TYPE", `must be ${rule.what ?? "a text"}, not ${shown(value)}`);
            else if (value.length < (rule.min ?? 0)) add("FORM_VALUE", "must not be empty");
            else if (rule.pattern !== undefined && !rule.pattern.test(value))
                add("FORM_VALUE", `must be ${rule.what}, not ${shown(value)}`);
            return;
        case "name":
        case "variable":
        case "key":
            checkName(value, rule.rule, add, options);
            return;
        case "integer":
            if (typeof value !== "number") add("FORM_TYPE", `must be a whole number, not ${shown(value)}`);
            else if (!Number.isSafeInteger(value) || value < rule.min)
                add("FORM_VALUE", `must be a whole number from ${rule.min}, not ${value}`);
            return;
        case "number":
            if (typeof value !== "number") add("FORM_TYPE", `must be a number, not ${shown(value)}`);
            else if (value < (rule.min ?? value)) add("FORM_VALUE", `must be at least ${rule.min}`);
            else if (rule.above !== undefined && value <= rule.above) add("FORM_VALUE", `must be above ${rule.above}`);
            return;
        case "boolean":
            if (typeof value !== "boolean") add("FORM_TYPE", `must be true or false, not ${shown(value)}`);
            return;
        case "one":
            checkOneOf(value, rule.of, add);
            return;
        case "literal":
            if (value === null && rule.expression) return;
            if (value === null || typeof value === "object")
                add("FORM_TYPE", `must be a text, a number, true or false${rule.expression ? ", or null" : ""}, not ${shown(value)}`);
            else if (!rule.expression && typeof value === "number" && isInexact(value)) add("FORM_VALUE", INEXACT);
            return;
        case "json":
            if (!options.authored) names(value, place, errors);
            return;
        case "list":
            if (!Array.isArray(value)) {
                add("FORM_TYPE", `must be a list, not ${shown(value)}`);
                return;
            }
            if (value.length < (rule.min ?? 0))
                add("FORM_VALUE", `must have at least ${rule.min} ${rule.min === 1 ? "item" : "items"}, not ${value.length}`);
            if (rule.max !== undefined && value.length > rule.max)
                add("FORM_VALUE", `must have at most ${rule.max} items, not ${value.length}`);
            for (let i = 0; i < value.length; i++) inner.push({ value: value[i], rule: rule.of, place: { up: place, key: i } });
            return;
        case "record":
            if (isObject(value)) checkKeys(value, RECORDS[rule.of], undefined, withArticle(rule.of), place, errors, inner);
            else add("FORM_TYPE", `must be an object (${rule.of}), not ${shown(value)}`);
            return;
        case "node":
            checkNode(value, GROUPS[rule.of], place, errors, inner);
            return;
    }
}

function checkOneOf(value: unknown, of: readonly (string | boolean)[], add: Add): void {
    if (of.includes(value as string | boolean)) return;
    const known = of.map((each) => JSON.stringify(each)).join(", ");
    const type = of.some((each) => typeof each === typeof value) ? "FORM_VALUE" : "FORM_TYPE";
    add(type, `must be ${of.length === 1 ? known : `one of ${known}`}, not ${shown(value)}`);
}

function checkNode(value: unknown, group: Group, place: Place | null, errors: Errors, inner: Task[]): void {
    if (!isObject(value)) {
        errors.add("FORM_TYPE", place, `must be ${group.what} (an object with "${group.key}"), not ${shown(value)}`);
        return;
    }
    const kind = Object.hasOwn(value, group.key) ? value[group.key] : undefined;
    if (kind === undefined) {
        errors.add("FORM_MISSING", place, `${group.what} needs the key "${group.key}"`);
        return;
    }
    const keys = typeof kind === "string" ? group.keys(kind) : undefined;
    if (keys === undefined) {
        const near = typeof kind === "string" ? nearest(kind, group.kinds) : null;
        const hint = near === null ? `known are ${group.kinds.join(", ")}` : `did you mean '${near}'?`;
        errors.add("FORM_KIND", { up: place, key: group.key }, `${shown(kind)} is not ${group.what}; ${hint}`);
        return;
    }
    checkKeys(value, keys, group.key, `'${kind as string}'`, place, errors, inner);
}

/** `discriminator`: the key that has been read already. */
function checkKeys(
    value: { [key: string]: unknown },
    keys: Keys,
    discriminator: string | undefined,
    what: string,
    place: Place | null,
    errors: Errors,
    inner: Task[],
): void {
    for (const key of Object.keys(value)) {
        if (key === discriminator || Object.hasOwn(keys, key)) continue;
        const known = Object.keys(keys).filter((name) => name !== "at");
        errors.add(
            "FORM_KEY",
            { up: place, key },
            `${what} has no key ${shown(key)}; it has ${known.length === 0 ? "none" : known.join(", ")}`,
        );
    }
    const tasks: Task[] = [];
    for (const [key, { rule, required }] of Object.entries(keys)) {
        if (Object.hasOwn(value, key)) tasks.push({ value: value[key], rule, place: { up: place, key } });
        else if (required) errors.add("FORM_MISSING", place, `${what} needs the key "${key}"`);
    }
    inner.push(...tasks);
}

function checkName(value: unknown, rule: "name" | "variable" | "key", add: Add, options: StructureOptions): void {
    if (typeof value !== "string") add("FORM_TYPE", `must be a name, not ${shown(value)}`);
    else if (FORBIDDEN_NAMES.has(value) && !(options.authored && rule !== "variable")) add("FORM_NAME", `the name '${value}' is refused`);
    else if (rule === "key") return;
    else if (!isIdentifier(value)) add("FORM_NAME", `${shown(value)} is no name: a letter or _, then letters, digits and _`);
    else if (rule === "variable" && NEVER_VARIABLES.has(value))
        add("FORM_NAME", `'${value}' is a word of the language and cannot be a variable`);
}

/** Refuses names in plain JSON. Depth and size have been measured. */
function names(value: unknown, place: Place | null, errors: Errors): void {
    const work: { readonly value: unknown; readonly place: Place | null }[] = [{ value, place }];
    for (let at = work.pop(); at !== undefined; at = work.pop()) {
        const v = at.value;
        if (v === null || typeof v !== "object") continue;
        for (const [key, inner] of Object.entries(v)) {
            const here: Place = { up: at.place, key: Array.isArray(v) ? Number(key) : key };
            if (!Array.isArray(v) && FORBIDDEN_NAMES.has(key)) errors.add("FORM_NAME", here, `the name '${key}' is refused`);
            else work.push({ value: inner, place: here });
        }
    }
}

function isObject(value: unknown): value is { [key: string]: unknown } {
    return value !== null && typeof value === "object" && !Array.isArray(value);
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
