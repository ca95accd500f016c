/**
 * What stands behind a contract: named shapes followed, unions laid flat, kinds of values and the words for them.
 *
 * Boundary: reads contracts, never values (`kindOf` apart). Shapes may be hostile: none of this recurses into fields, and a name is
 * followed once.
 */
import type { Contract, Json, Shapes } from "./contract.ts";

/** Names that no payload may use: on a host's own objects they would mean something. */
export const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function isIdentifier(text: string): boolean {
    return IDENTIFIER.test(text);
}

/** The shape of that name, own keys only. */
export function shapeOf(name: string, shapes: Shapes): Contract | undefined {
    return Object.hasOwn(shapes, name) ? shapes[name] : undefined;
}

/** The contract behind a name and behind names of names; undefined where a name is unknown or leads back to itself. */
export function resolve(contract: Contract, shapes: Shapes): Exclude<Contract, { type: "ref" }> | undefined {
    if (contract.type !== "ref") return contract;
    const seen = new Set<string>();
    let at: Contract | undefined = contract;
    while (at !== undefined && at.type === "ref") {
        if (seen.has(at.name)) return undefined;
        seen.add(at.name);
        at = shapeOf(at.name, shapes);
    }
    return at;
}

/**
 * The alternatives of a contract in order, with unions and `T?` laid flat, also behind names. What is no union gives itself; a name stays
 * a name unless it stands for a union. Empty where a shape is nothing but itself.
 */
export function membersOf(contract: Contract, shapes: Shapes): Contract[] {
    const out: Contract[] = [];
    const seen = new Set<string>();
    const work: Contract[] = [contract];
    let none = false;
    for (let c = work.pop(); c !== undefined; c = work.pop()) {
        const target = c.type === "ref" ? resolve(c, shapes) : c;
        if (c.type === "ref" && (target?.type === "union" || target?.type === "optional")) {
            if (seen.has(c.name)) continue;
            seen.add(c.name);
        }
        if (target?.type === "union") for (let i = target.of.length - 1; i >= 0; i--) work.push(target.of[i] as Contract);
        else if (target?.type === "optional") work.push(NONE, target.of);
        else if (target?.type === "none") {
            if (!none) out.push(NONE);
            none = true;
        } else if (target !== undefined || (c.type === "ref" && shapeOf(c.name, shapes) === undefined)) out.push(c);
    }
    return out;
}

const NONE: Contract = { type: "none" };

/** Values of the members that are literals. */
export function literalsOf(members: readonly Contract[], shapes: Shapes): (string | number | boolean | null)[] {
    return members.flatMap((member) => {
        const at = resolve(member, shapes);
        return at?.type === "literal" ? [at.value] : [];
    });
}

export type JsonKind = "string" | "number" | "boolean" | "none" | "list" | "object";

/** The kind of a value, undefined for what is no JSON. */
export function kindOf(value: unknown): JsonKind | undefined {
    if (value === null) return "none";
    switch (typeof value) {
        case "string":
        case "boolean":
            return typeof value as "string" | "boolean";
        case "number":
            return Number.isFinite(value) ? "number" : undefined;
        case "object":
            return Array.isArray(value) ? "list" : "object";
        default:
            return undefined;
    }
}

/** The kind of value a contract that is no union asks for; undefined for `json` and unknown names. */
export function kindWanted(contract: Contract, shapes: Shapes): JsonKind | undefined {
    const at = resolve(contract, shapes);
    if (at === undefined) return undefined;
    switch (at.type) {
        case "literal":
            return kindOf(at.value);
        case "string":
        case "number":
        case "boolean":
        case "none":
        case "list":
        case "object":
            return at.type;
        default:
            return undefined;
    }
}

/** True where `none` holds the contract. */
export function takesNone(contract: Contract, shapes: Shapes): boolean {
    return membersOf(contract, shapes).some((member) => {
        const at = resolve(member, shapes);
        return at !== undefined && (at.type === "none" || at.type === "json" || (at.type === "literal" && at.value === null));
    });
}

export const KIND_WORDS: Readonly<Record<JsonKind, string>> = {
    string: "a string",
    number: "a number",
    boolean: "a boolean",
    none: "none",
    list: "a list",
    object: "an object",
};

/** What a value must be, in words: `a boolean`, `one of "low", "high"`, `a string or none`. */
export function phrase(contract: Contract, shapes: Shapes): string {
    const literals: string[] = [];
    const kinds: string[] = [];
    for (const member of membersOf(contract, shapes)) {
        const at = resolve(member, shapes);
        if (at === undefined) kinds.push("a value of an unknown shape");
        else if (at.type === "literal") literals.push(at.value === null ? "none" : JSON.stringify(at.value));
        else if (at.type === "json") kinds.push("any value");
        else kinds.push(KIND_WORDS[kindWanted(at, shapes) as JsonKind]);
    }
    const words = [...new Set(kinds)];
    if (literals.length > 0) words.unshift(literals.length === 1 ? (literals[0] as string) : `one of ${[...new Set(literals)].join(", ")}`);
    return words.length === 0 ? "nothing at all" : words.join(" or ");
}

/** A fresh copy of a JSON value that is known to be small and free of cycles, such as a default. */
export function copyJson(value: Json): Json {
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map(copyJson);
    const out: { [key: string]: Json } = {};
    for (const key of Object.keys(value)) setOwn(out, key, copyJson(value[key] as Json));
    return out;
}

/** Sets an own key, `__proto__` included. */
export function setOwn<T>(object: { [key: string]: T }, key: string, value: T): void {
    if (key === "__proto__") Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
    else object[key] = value;
}
