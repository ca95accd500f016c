/**
 * Whether nothing at all is wrong with a value: one quick look at what `measure` and `findWrong` look at with places in mind.
 *
 * Boundary: yes or no. What is wrong, and where, is looked for by those two, only where this says no.
 *
 * V3: it says yes only where both of them find nothing. It says no to what is nested deeper than `DEEPEST`, where they have to tell.
 */
import { FORBIDDEN_NAMES, isIdentifier } from "../contract/open.ts";
import { type Caps, isRecord } from "./measure.ts";
import { GROUPS, type Key, type Keys, NEVER_VARIABLES, RECORDS, type Rule } from "./table.ts";
import { isInexact, type StructureOptions } from "./structure.ts";

/** It calls itself: far below what any JavaScript stack takes. */
const DEEPEST = 128;

interface Look {
    readonly caps: Caps;
    readonly authored: boolean;
    nodes: number;
    units: number;
}

export function isSound(value: unknown, rule: Rule, caps: Caps, { authored }: StructureOptions): boolean {
    const look: Look = { caps, authored, nodes: 0, units: 0 };
    return fits(value, rule, 0, look) && look.units <= caps.bytes;
}

/** A table of keys as it is read here. */
interface Row {
    readonly keys: ReadonlyMap<string, Key>;
    readonly required: number;
}

const ROWS: ReadonlyMap<Keys, Row> = new Map(
    [...Object.values(RECORDS), ...Object.values(GROUPS).flatMap((group) => group.kinds.map((kind) => group.keys(kind) as Keys))].map(
        (keys) => [keys, { keys: new Map(Object.entries(keys)), required: Object.values(keys).filter((key) => key.required).length }],
    ),
);

/** `depth`: lists and objects around the value. Counts what `measure` counts. */
function fits(value: unknown, rule: Rule, depth: number, look: Look): boolean {
    if (!counted(value, depth, look)) return false;
    switch (rule.rule) {
        case "list":
            if (!Array.isArray(value) || value.length < (rule.min ?? 0) || value.length > (rule.max ?? value.length)) return false;
            for (let i = 0; i < value.length; i++) if (!fits(value[i], rule.of, depth + 1, look)) return false;
            return true;
        case "integer":
            return Number.isSafeInteger(value) && (value as number) >= rule.min;
        case "node": {
            if (!isObject(value)) return false;
            const group = GROUPS[rule.of];
            const kind = Object.hasOwn(value, group.key) ? value[group.key] : undefined;
            const keys = typeof kind === "string" ? group.keys(kind) : undefined;
            return keys !== undefined && hasKeys(value, keys, group.key, depth, look);
        }
        case "record":
            return isObject(value) && hasKeys(value, RECORDS[rule.of], null, depth, look);
        case "name":
        case "variable":
        case "key":
            return isName(value, rule.rule, look);
        case "text":
            return typeof value === "string" && value.length >= (rule.min ?? 0) && (rule.pattern === undefined || rule.pattern.test(value));
        case "number":
            return typeof value === "number" && !(value < (rule.min ?? value)) && (rule.above === undefined || !(value <= rule.above));
        case "boolean":
            return typeof value === "boolean";
        case "one":
            return rule.of.includes(value as string | boolean);
        case "literal":
            if (value === null) return rule.expression;
            return typeof value !== "object" && (rule.expression || typeof value !== "number" || !isInexact(value));
        case "json":
            return isPlain(value, depth, look);
    }
}

function counted(value: unknown, depth: number, look: Look): boolean {
    const { caps } = look;
    if (++look.nodes > caps.nodes) return false;
    if (typeof value === "string") {
        look.units += value.length + 2;
        return value.length <= caps.string;
    }
    if (typeof value === "number") {
        look.units += 1;
        return Number.isFinite(value);
    }
    if (value === null || typeof value === "boolean") {
        look.units += 4;
        return true;
    }
    look.units += 2;
    return typeof value === "object" && depth < caps.depth && depth < DEEPEST;
}

/** `discriminator`: the key that has been read already. */
function hasKeys(value: { [key: string]: unknown }, table: Keys, discriminator: string | null, depth: number, look: Look): boolean {
    if (!isRecord(value)) return false;
    const { keys, required } = ROWS.get(table) as Row;
    let left = required;
    for (const key of Object.keys(value)) {
        look.units += key.length + 3;
        if (key.length > look.caps.string) return false;
        const of = keys.get(key);
        if (of === undefined) {
            if (key !== discriminator || !counted(value[key], depth + 1, look)) return false;
            continue;
        }
        if (of.required) left--;
        if (!fits(value[key], of.rule, depth + 1, look)) return false;
    }
    return left === 0;
}

function isName(value: unknown, rule: "name" | "variable" | "key", look: Look): boolean {
    if (typeof value !== "string" || (FORBIDDEN_NAMES.has(value) && !(look.authored && rule !== "variable"))) return false;
    return rule === "key" || (isIdentifier(value) && (rule !== "variable" || !NEVER_VARIABLES.has(value)));
}

/** Plain JSON, which has been counted itself. */
function isPlain(value: unknown, depth: number, look: Look): boolean {
    if (value === null || typeof value !== "object") return true;
    if (Array.isArray(value)) {
        for (let i = 0; i < value.length; i++) if (!counted(value[i], depth + 1, look) || !isPlain(value[i], depth + 1, look)) return false;
        return true;
    }
    if (!isObject(value) || !isRecord(value)) return false;
    for (const key of Object.keys(value)) {
        look.units += key.length + 3;
        if (key.length > look.caps.string || (!look.authored && FORBIDDEN_NAMES.has(key))) return false;
        if (!counted(value[key], depth + 1, look) || !isPlain(value[key], depth + 1, look)) return false;
    }
    return true;
}

function isObject(value: unknown): value is { [key: string]: unknown } {
    return value !== null && typeof value === "object" && !Array.isArray(value);
}
