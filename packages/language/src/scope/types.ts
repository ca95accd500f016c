/**
 * What the checker knows of a value: its kind, and as much of its shape as contracts and literals tell.
 *
 * Boundary: types and the tables they refer to; no walking of statements, no messages about programs.
 *
 * TP1: a type may know less than is true, never more: `any` is always right.
 * TP2: `join` only ever forgets, except that a capability once seen stays (`cap`), so that isolation errs on the safe side.
 * TP3: the type of one contract node is made once; equal nodes give the same object, and types of contracts are compared by identity.
 */
import { literalOf } from "../contract/from-tree.ts";
import type { Namespace } from "./builtins.ts";
import type { ContractNode, ContractObject, Expr } from "../syntax/tree.ts";
import type { Binding, FileScope } from "./model.ts";

export type Kind =
    | "any"
    | "string"
    | "number"
    | "boolean"
    | "none"
    | "list"
    | "object"
    | "tool"
    | "llm"
    | "memory"
    | "agent"
    | "func"
    | "skill"
    | Namespace;

/** Kinds that are capabilities: never data. */
export const CAPABILITIES: ReadonlySet<Kind> = new Set(["tool", "llm", "memory", "agent", "func", "skill"]);

export interface Type {
    readonly kind: Kind;
    /** Of a list: what its contract says of the items. */
    readonly item: Type | null;
    /** Of an object: its contract, read in `file`. */
    readonly contract: ContractObject | null;
    readonly file: FileScope | null;
    /** Of an object literal: its own keys. Null where it has others too. */
    readonly fields: ReadonlyMap<string, Type> | null;
    /** Texts it can be, where a contract lists them. */
    readonly values: readonly string[] | null;
    /** It may be none as well. */
    readonly optional: boolean;
    /** The capability that it is (a capability's kind), or that it may be or hold (any, list, object). */
    readonly cap: Binding | null;
    /** A list or object that holds it for certain, as long as nothing in it is replaced. */
    readonly sure: boolean;
    /** Where it was read from, if from inside something that can change: `FROM_FIELD`, `FROM_LIST`, both or 0. */
    readonly soft: number;
    /** It came from a parameter: the caller may give more fields than the contract names. */
    readonly open: boolean;
    /** The same type with another `optional` and `soft`, made when first needed. */
    memo: (Type | undefined)[] | null;
}

/** Read from a property, which an assignment may have changed. */
export const FROM_FIELD = 1;
/** Read from a list, whose items may have been replaced. */
export const FROM_LIST = 2;

/** Not of types: said where a missing property matters, which an assignment may have added. */
export const MAY_GROW = 4;
/** Not of types: said of what a property or an item holds, which an assignment may have replaced. */
export const MAY_CHANGE = 8;

export function makeType(kind: Kind, more: Partial<Type> = {}): Type {
    return {
        kind,
        item: more.item ?? null,
        contract: more.contract ?? null,
        file: more.file ?? null,
        fields: more.fields ?? null,
        values: more.values ?? null,
        optional: more.optional ?? false,
        cap: more.cap ?? null,
        sure: more.sure ?? false,
        soft: more.soft ?? 0,
        open: more.open ?? false,
        memo: null,
    };
}

function variant(type: Type, optional: boolean, soft: number): Type {
    if ((type.optional === optional && type.soft === soft) || type === ANY) return type;
    const index = (optional ? 4 : 0) | soft;
    type.memo ??= [];
    let found = type.memo[index];
    if (found === undefined) {
        found = makeType(type.kind, { ...type, optional, soft });
        type.memo[index] = found;
    }
    return found;
}

/** The same type, read from inside something. */
export function soften(type: Type, from: number): Type {
    return variant(type, type.optional, type.soft | from);
}

/** The same type where it is not none. */
export function present(type: Type): Type {
    return variant(type, false, type.soft);
}

export const ANY = makeType("any");
export const STRING = makeType("string");
export const NUMBER = makeType("number");
export const BOOLEAN = makeType("boolean");
export const NONE = makeType("none");
export const LIST = makeType("list", { item: ANY });
export const OBJECT = makeType("object");

/** A list of such items. */
export function listOf(item: Type): Type {
    return item.kind === "any" ? LIST : makeType("list", { item: soften(item, FROM_LIST) });
}

const TEXTS = listOf(STRING);
/** What `entries()` of an object without capabilities gives. */
export const ENTRIES = listOf(
    makeType("object", {
        fields: new Map([
            ["key", STRING],
            ["value", ANY],
        ]),
    }),
);
/** What a namespace is: its functions can be called, and nothing else. */
export const NAMESPACE_TYPES: Readonly<Record<Namespace, Type>> = { json: makeType("json"), csv: makeType("csv"), time: makeType("time") };

/** What a built-in's row says of its result. */
export const RESULTS: Readonly<Record<string, Type>> = {
    string: STRING,
    number: NUMBER,
    boolean: BOOLEAN,
    list: LIST,
    object: OBJECT,
    any: ANY,
};

/** What `catch` gives a name to. */
export const FAILURE = makeType("object", {
    fields: new Map([
        ["kind", STRING],
        ["message", STRING],
        ["site", ANY],
        ["detail", ANY],
    ]),
});

/** Results of single built-ins whose fields are known, by the kind of the receiver and the name. */
export const RESULTS_OF: ReadonlyMap<string, Type> = new Map([
    ["string.split", TEXTS],
    ["string.lines", TEXTS],
    ["object.keys", TEXTS],
    [
        "string.match",
        makeType("object", {
            optional: true,
            fields: new Map([
                ["text", STRING],
                ["index", NUMBER],
                ["groups", listOf(optional(STRING))],
            ]),
        }),
    ],
    [
        "time.parse",
        makeType("object", {
            fields: new Map([
                ...["year", "month", "day", "hour", "minute", "second", "weekday"].map((name) => [name, NUMBER] as const),
                ["offset", STRING],
            ]),
        }),
    ],
]);

/** A `generate` without a contract: text, or none from a mock model. */
export const FREE_TEXT = variant(STRING, true, 0);

/** The names of contracts that are not shapes. */
export const BASIC: Readonly<Record<string, Type>> = {
    string: STRING,
    number: NUMBER,
    boolean: BOOLEAN,
    json: ANY,
    none: NONE,
    list: LIST,
};

export function optional(type: Type): Type {
    if (type.optional || type.kind === "any" || type.kind === "none") return type;
    return variant(type, true, type.soft);
}

/** A value nothing is known of but that it may be this capability. */
export function maybeCapability(cap: Binding): Type {
    if (cap.maybe === null) cap.maybe = makeType("any", { cap });
    return cap.maybe;
}

/** What is true of both. */
export function join(a: Type, b: Type): Type {
    if (a === b) return a;
    if (a.cap !== null || b.cap !== null) {
        if (a.kind === b.kind && a.cap === b.cap)
            return a.kind === "list" || a.kind === "object" ? makeType(a.kind, { item: LIST.item, cap: a.cap, sure: a.sure && b.sure }) : a;
        const cap = (a.cap ?? b.cap) as Binding;
        return a.kind === "any" && a.cap === cap ? a : maybeCapability(cap);
    }
    if (a.kind === "any" || b.kind === "any") return ANY;
    const soft = a.soft | b.soft;
    if (a.kind === "none") return variant(b, b.kind !== "none", soft);
    if (b.kind === "none") return variant(a, true, soft);
    return a.kind === b.kind ? variant(common(a, b), a.optional || b.optional, soft) : ANY;
}

/** What two types of one kind share; `a` itself where nothing is lost. */
function common(a: Type, b: Type): Type {
    switch (a.kind) {
        case "string":
            return a.values === b.values || (a.values !== null && b.values !== null && sameTexts(a.values, b.values)) ? a : STRING;
        case "number":
        case "boolean":
            return a;
        case "list":
            return a.item === b.item ? a : LIST;
        case "object": {
            const same =
                a.contract !== null ? a.contract === b.contract && a.open === b.open : a.fields !== null && sameFields(a.fields, b.fields);
            return same ? a : OBJECT;
        }
        default:
            return ANY;
    }
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
    return a.length === b.length && a.every((one, i) => one === b[i]);
}

function sameFields(a: ReadonlyMap<string, Type>, b: ReadonlyMap<string, Type> | null): boolean {
    if (b === null || a.size !== b.size) return false;
    for (const [name, type] of a) if (b.get(name) !== type) return false;
    return true;
}

/** How deep a chain of shapes that name shapes is followed. */
const MAX_REFS = 64;

/** The type of a value that met the contract. */
export function contractType(node: ContractNode, file: FileScope, open = false, refs = 0): Type {
    switch (node.kind) {
        case "c.name": {
            const name = node.name.text;
            if (Object.hasOwn(BASIC, name)) return BASIC[name] as Type;
            const shape = refs < MAX_REFS ? file.shapes.get(name) : undefined;
            return shape === undefined ? ANY : contractType(shape.contract, file, open, refs + 1);
        }
        case "c.literal":
            return typeof node.value === "string"
                ? cached(node, file, open, refs)
                : node.value === null
                  ? NONE
                  : typeof node.value === "number"
                    ? NUMBER
                    : BOOLEAN;
        default:
            return cached(node, file, open, refs);
    }
}

function cached(node: ContractNode, file: FileScope, open: boolean, refs: number): Type {
    const types = file.types[open ? 1 : 0];
    let type = types.get(node);
    if (type === undefined) {
        type = fresh(node, file, open, refs);
        types.set(node, type);
    }
    return type;
}

function fresh(node: ContractNode, file: FileScope, open: boolean, refs: number): Type {
    switch (node.kind) {
        case "c.literal":
            return makeType("string", { values: [String(node.value)] });
        case "c.list":
            return makeType("list", { item: soften(contractType(node.item, file, open, refs), FROM_LIST), open });
        case "c.object":
            return makeType("object", { contract: node, file, open });
        case "c.optional":
            return optional(contractType(node.of, file, open, refs));
        case "c.union": {
            const members = node.members.map((one) => contractType(one, file, open, refs));
            if (members.every((one) => one.kind === "string" && one.values !== null && !one.optional))
                return makeType("string", { values: members.flatMap((one) => one.values as readonly string[]) });
            return members.reduce((all, one) => join(all, one));
        }
        case "c.name":
            return ANY;
    }
}

/** What reading `name` of an object gives: its type, null where there is certainly no such property, undefined where nothing is known. */
export function property(type: Type, name: string): Type | null | undefined {
    if (type.fields !== null) {
        const found = type.fields.get(name);
        return found === undefined ? null : soften(found, type.soft | FROM_FIELD);
    }
    if (type.contract === null || type.file === null) return undefined;
    for (const field of type.contract.fields) {
        if (field.name.text !== name) continue;
        if (field.type === undefined) return soften(STRING, type.soft | FROM_FIELD);
        const found = soften(contractType(field.type, type.file, type.open), type.soft | FROM_FIELD);
        return field.optional && field.default === undefined ? optional(found) : found;
    }
    return null;
}

/** The contract lets the field be absent, and gives no default for it. */
export function mayBeAbsent(type: Type, name: string): boolean {
    const field = type.contract?.fields.find((one) => one.name.text === name);
    return field?.optional === true && field.default === undefined;
}

/** Names of the properties that are known, for messages. */
export function propertyNames(type: Type): string[] {
    if (type.fields !== null) return [...type.fields.keys()];
    return type.contract === null ? [] : type.contract.fields.map((field) => field.name.text);
}

/** For messages: `a list`, `text`, `the tool Repo`. */
export function describe(type: Type): string {
    switch (type.kind) {
        case "any":
            return "a value";
        case "string":
            return "a string";
        case "number":
            return "a number";
        case "boolean":
            return "a boolean";
        case "none":
            return "none";
        case "list":
            return "a list";
        case "object":
            return "an object";
        case "json":
        case "csv":
        case "time":
            return `the functions of ${type.kind}`;
        case "func":
            return `the function ${type.cap?.name ?? ""}`;
        default:
            return `the ${type.kind} ${type.cap?.name ?? ""}`;
    }
}

/** How many contract nodes are compared before a misfit is taken for none: shapes can name one another in ways that multiply. */
const MAX_WORK = 5000;

interface Work {
    readonly budget: { left: number };
    /** Shapes that were gone through since the value was last looked into: one that is there again says nothing more. */
    readonly through: readonly string[];
}

function newWork(): Work {
    return { budget: { left: MAX_WORK }, through: [] };
}

/**
 * Why a value of this type, written as `expr`, can never meet the contract; null where it may. Fields beyond the contract are no reason.
 */
export function misfit(type: Type, expr: Expr | null, node: ContractNode, file: FileScope, work = newWork()): string | null {
    if (--work.budget.left < 0) return null;
    if (CAPABILITIES.has(type.kind)) return `${describe(type)} is a capability, never data`;
    const plain = expr?.kind === "paren" ? expr.value : expr;
    switch (node.kind) {
        case "c.name": {
            const name = node.name.text;
            if (!Object.hasOwn(BASIC, name)) {
                const shape = file.shapes.get(name);
                if (shape === undefined || work.through.includes(name)) return null;
                return misfit(type, plain, shape.contract, file, { ...work, through: [...work.through, name] });
            }
            if (name === "json" || type.kind === "any" || type.kind === name || type.optional) return null;
            return `${describe(type)} is given where ${name === "object" ? "an" : "a"} ${name} is wanted`;
        }
        case "c.optional":
            return type.kind === "none" ? null : misfit(type, plain, node.of, file, work);
        case "c.literal": {
            const value = plain === null ? undefined : scalarOf(plain);
            if (value !== undefined) return value === node.value ? null : `${JSON.stringify(value)} is not ${JSON.stringify(node.value)}`;
            if (type.kind === "any" || type.optional) return null;
            const wanted = node.value === null ? "none" : typeof node.value;
            if (type.kind !== wanted) return `${describe(type)} is not ${JSON.stringify(node.value)}`;
            return type.values !== null && !type.values.includes(String(node.value)) ? `it is never ${JSON.stringify(node.value)}` : null;
        }
        case "c.union": {
            let reason: string | null = null;
            for (const member of node.members) {
                reason = misfit(type, plain, member, file, work);
                if (reason === null) return null;
            }
            if (!node.members.every((one) => one.kind === "c.literal")) return `${describe(type)} fits none of the alternatives`;
            const value = plain === null ? undefined : scalarOf(plain);
            const shown = value === undefined ? describe(type) : JSON.stringify(value);
            return `${shown} is none of ${node.members.map((one) => JSON.stringify((one as { value: unknown }).value)).join(", ")}`;
        }
        case "c.list": {
            if (type.kind === "any" || (type.optional && type.kind !== "list")) return null;
            if (type.kind !== "list") return type.optional ? null : `${describe(type)} is given where a list is wanted`;
            if (plain?.kind !== "list") return null;
            for (const item of plain.items) {
                if (item.kind === "spread") continue;
                const reason = misfit(literalType(item), item, node.item, file, { ...work, through: [] });
                if (reason !== null) return `in its items ${reason}`;
            }
            return null;
        }
        case "c.object": {
            if (type.kind === "any" || type.optional) return null;
            if (type.kind !== "object") return `${describe(type)} is given where an object is wanted`;
            if (type.fields === null) return null;
            for (const field of node.fields) {
                const name = field.name.text;
                const own = type.fields.get(name);
                if (own === undefined) {
                    if (field.optional || field.default !== undefined || field.type?.kind === "c.optional") continue;
                    return `the field '${name}' is missing`;
                }
                if (field.type === undefined) continue;
                if (own.kind === "none" && field.optional) continue;
                const reason = misfit(own, entryOf(plain, name), field.type, file, { ...work, through: [] });
                if (reason !== null) return `in '${name}' ${reason}`;
            }
            return null;
        }
    }
}

function entryOf(expr: Expr | null, name: string): Expr | null {
    if (expr?.kind !== "object") return null;
    let found: Expr | null = null;
    for (const entry of expr.entries) if (entry.kind === "entry" && entry.key.text === name) found = entry.value;
    return found;
}

/** The value of a literal that has no parts; undefined for anything else. */
export function scalarOf(expr: Expr): string | number | boolean | null | undefined {
    const value = expr.kind === "list" || expr.kind === "object" ? undefined : literalOf(expr);
    return value !== null && typeof value === "object" ? undefined : value;
}

/** The type of an expression from its spelling alone. */
export function literalType(expr: Expr): Type {
    switch (expr.kind) {
        case "string":
            return STRING;
        case "number":
            return NUMBER;
        case "bool":
            return BOOLEAN;
        case "none":
            return NONE;
        case "list":
            return LIST;
        case "unary":
            return expr.op === "-" ? NUMBER : expr.op === "text" ? STRING : BOOLEAN;
        case "object": {
            const fields = new Map<string, Type>();
            for (const entry of expr.entries) {
                if (entry.kind === "spread") return OBJECT;
                fields.set(entry.key.text, literalType(entry.value));
            }
            return makeType("object", { fields });
        }
        default:
            return ANY;
    }
}
