/**
 * Contracts as JSON Schema (draft 2020-12).
 *
 * Boundary: the schema a person or a model is shown and a tool publishes. What single providers want instead is their adapters' affair.
 *
 * SE1: an object is `{"type":"object","properties":{…},"required":[…],"additionalProperties":false}`, keys in this order, fields in the
 *     order of the contract: AgentScript's schema, byte for byte, where the contract is one of AgentScript's.
 * SE2: a value that holds the contract in strict mode validates against the schema, if fields that hold none in the place of nothing (K4 of
 *     `check.ts`) are left out; a value that validates holds the contract.
 * SE3: names are written out where that ends and stays small; else they are in `$defs`.
 */
import type { Contract, Field, Json, Shapes } from "./contract.ts";
import { copyJson, literalsOf, membersOf, resolve, setOwn, shapeOf } from "./open.ts";

type JsonObject = { [key: string]: Json };

/** Nodes that a schema may have with names written out. */
const MAX_WRITTEN_OUT = 4000;
const MAX_DEPTH = 100;
const MAX_CONTRACT_DEPTH = 600;

export function toJsonSchema(contract: Contract, shapes: Shapes): JsonObject {
    const recursive = recursiveNames(contract, shapes);
    return (
        emitAll(contract, shapes, (name) => recursive.has(name)) ??
        (emitAll(contract, shapes, () => true, Number.POSITIVE_INFINITY) as JsonObject)
    );
}

/** Undefined where it would become larger than `most`. */
function emitAll(
    contract: Contract,
    shapes: Shapes,
    isDefinition: (name: string) => boolean,
    most = MAX_WRITTEN_OUT,
): JsonObject | undefined {
    const wanted: string[] = [];
    const listed = new Set<string>();
    let nodes = 0;
    const emit = (c: Contract, depth: number): JsonObject => {
        if (++nodes > most || depth > MAX_CONTRACT_DEPTH) return {};
        switch (c.type) {
            case "json":
                return {};
            case "none":
                return { type: "null" };
            case "literal":
                return enumOf([c.value]);
            case "list":
                return c.item === undefined ? { type: "array" } : { type: "array", items: emit(c.item, depth + 1) };
            case "object":
                return object(c.fields, depth);
            case "union":
            case "optional":
                return union(c, depth);
            case "ref": {
                const shape = shapeOf(c.name, shapes);
                if (shape === undefined) return { not: {} };
                if (!isDefinition(c.name) && depth <= MAX_DEPTH) return emit(shape, depth + 1);
                if (!listed.has(c.name)) {
                    listed.add(c.name);
                    wanted.push(c.name);
                }
                return { $ref: `#/$defs/${c.name.replaceAll("~", "~0").replaceAll("/", "~1")}` };
            }
            default:
                return { type: c.type };
        }
    };
    const object = (fields: readonly Field[], depth: number): JsonObject => {
        const properties: JsonObject = {};
        const required: string[] = [];
        for (const field of fields) {
            const schema = emit(field.contract, depth + 1);
            if (field.description !== undefined) schema.description = field.description;
            if (field.default !== undefined) schema.default = copyJson(field.default);
            setOwn<Json>(properties, field.name, schema);
            if (field.optional !== true && field.default === undefined) required.push(field.name);
        }
        return { type: "object", properties, required, additionalProperties: false };
    };
    const union = (c: Contract, depth: number): JsonObject => {
        const members = membersOf(c, shapes);
        if (members.length === 0) return { not: {} };
        const literals = literalsOf(members, shapes);
        const any: JsonObject[] = [];
        let listedLiterals = false;
        for (const member of members) {
            const at = resolve(member, shapes);
            if (at?.type === "json") return {};
            if (at?.type !== "literal") any.push(emit(member, depth + 1));
            else if (!listedLiterals) {
                listedLiterals = true;
                any.push(enumOf(literals));
            }
        }
        return any.length === 1 ? (any[0] as JsonObject) : { anyOf: any };
    };
    // A named contract shows what it is at the top, also where it is a definition besides.
    const top = contract.type === "ref" ? resolve(contract, shapes) : contract;
    const schema = top === undefined ? { not: {} } : emit(top, 0);
    const definitions: JsonObject = {};
    for (let i = 0; i < wanted.length && nodes <= most; i++) {
        const name = wanted[i] as string;
        setOwn<Json>(definitions, name, emit(resolve({ type: "ref", name }, shapes) ?? { type: "union", of: [] }, 0));
    }
    if (nodes > most) return undefined;
    return wanted.length === 0 ? schema : { ...schema, $defs: definitions };
}

const TYPE_NAMES: Readonly<Record<string, string>> = { string: "string", number: "number", boolean: "boolean", object: "null" };

function enumOf(values: readonly (string | number | boolean | null)[]): JsonObject {
    const unique = [...new Set(values)];
    const types = [...new Set(unique.map((value) => TYPE_NAMES[typeof value] as string))];
    return { type: types.length === 1 ? (types[0] as string) : types, enum: unique };
}

/** Names such that every circle of names goes through one of them. */
function recursiveNames(contract: Contract, shapes: Shapes): ReadonlySet<string> {
    const found = new Set<string>();
    const done = new Set<string>();
    const above = new Set<string>();
    const work: { readonly name: string; readonly next: string[] }[] = [{ name: "", next: namesIn(contract) }];
    while (work.length > 0) {
        const at = work[work.length - 1] as { name: string; next: string[] };
        const name = at.next.pop();
        if (name === undefined) {
            work.pop();
            above.delete(at.name);
            done.add(at.name);
        } else if (above.has(name)) found.add(name);
        else if (!done.has(name)) {
            const shape = shapeOf(name, shapes);
            if (shape === undefined) continue;
            above.add(name);
            work.push({ name, next: namesIn(shape) });
        }
    }
    return found;
}

/** The names in a contract, last first. */
function namesIn(contract: Contract): string[] {
    const names = new Set<string>();
    const work: Contract[] = [contract];
    for (let c = work.pop(); c !== undefined; c = work.pop()) {
        if (c.type === "ref") names.add(c.name);
        else if (c.type === "list" && c.item !== undefined) work.push(c.item);
        else if (c.type === "optional") work.push(c.of);
        else if (c.type === "union") for (let i = c.of.length - 1; i >= 0; i--) work.push(c.of[i] as Contract);
        else if (c.type === "object") for (let i = c.fields.length - 1; i >= 0; i--) work.push((c.fields[i] as Field).contract);
    }
    return [...names].reverse();
}
