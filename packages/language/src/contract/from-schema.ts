/**
 * A JSON Schema, such as a tool publishes, as a contract.
 *
 * Boundary: schemas are foreign and may be hostile. What a contract cannot say becomes wider, down to `json`, and is listed; nothing is
 * thrown. The contract therefore takes every value that the schema takes (as far as none counts as absent), and perhaps more.
 */
import { type Contract, type Field, type Json, type Shapes, isObject } from "./contract.ts";
import { compileTest } from "./check.ts";
import { FORBIDDEN_NAMES, setOwn } from "./open.ts";

export interface FromSchema {
    readonly contract: Contract;
    /** The definitions that are used, by a name of the language. */
    readonly shapes: Shapes;
    /** What could not be said: JSON Pointer and keyword, `/properties/age: minimum`. Empty where the contract says it all. */
    readonly lost: readonly string[];
}

type JsonObject = { [key: string]: Json };

const MAX_NODES = 20_000;
const MAX_DEPTH = 100;
const MAX_LOST = 100;
const ANY: Contract = { type: "json" };

/** Keywords that say nothing of the value's shape. */
const REMARKS: ReadonlySet<string> = new Set(
    "$schema $id $anchor $comment $defs definitions title description default examples deprecated readOnly writeOnly".split(" "),
);
/** Keywords that are read. */
const READ: ReadonlySet<string> = new Set(
    "type properties required additionalProperties items enum const anyOf oneOf $ref nullable".split(" "),
);

export function fromJsonSchema(schema: Json): FromSchema {
    const lost: string[] = [];
    const shapes: { [name: string]: Contract } = {};
    const names = new Map<string, string>();
    let nodes = 0;

    const lose = (at: string, what: string): void => {
        if (lost.length < MAX_LOST) lost.push(`${at === "" ? "/" : at}: ${what}`);
    };
    const anyBut = (at: string, what: string): Contract => {
        lose(at, what);
        return ANY;
    };

    const read = (node: Json | undefined, at: string, depth: number): Contract => {
        if (node === true || node === undefined) return ANY;
        if (++nodes > MAX_NODES || depth > MAX_DEPTH) return anyBut(at, "too large or too deep");
        if (!isObject(node)) return anyBut(at, "no schema that a contract can say");
        for (const key of Object.keys(node)) if (!READ.has(key) && !REMARKS.has(key)) lose(at, key);
        const contract = body(node, at, depth);
        return own(node, "nullable") === true && contract.type !== "json" ? { type: "optional", of: contract } : contract;
    };

    const body = (node: JsonObject, at: string, depth: number): Contract => {
        const target = own(node, "$ref");
        if (typeof target === "string") return reference(target, at, depth);
        if (Object.hasOwn(node, "const")) return oneOf([node.const as Json], at);
        const values = own(node, "enum");
        if (Array.isArray(values)) return oneOf(values, at);
        for (const key of ["anyOf", "oneOf"] as const) {
            const members = own(node, key);
            if (!Array.isArray(members) || members.length === 0) continue;
            if (own(node, "properties") !== undefined) lose(at, `${key} beside properties`);
            return union(members.map((member, i) => read(member, `${at}/${key}/${i}`, depth + 1)));
        }
        const type = own(node, "type");
        if (Array.isArray(type)) return union(type.map((one) => ofType(one, node, at, depth)));
        if (type === undefined && own(node, "properties") !== undefined) return ofType("object", node, at, depth);
        return type === undefined ? ANY : ofType(type, node, at, depth);
    };

    const ofType = (type: Json, node: JsonObject, at: string, depth: number): Contract => {
        switch (type) {
            case "string":
            case "number":
            case "boolean":
                return { type };
            case "integer":
                lose(at, "integer");
                return { type: "number" };
            case "null":
                return { type: "none" };
            case "array": {
                const items = own(node, "items");
                if (items === undefined || items === true) return { type: "list" };
                return { type: "list", item: read(items, `${at}/items`, depth + 1) };
            }
            case "object":
                return object(node, at, depth);
            default:
                return anyBut(at, "type");
        }
    };

    const object = (node: JsonObject, at: string, depth: number): Contract => {
        const properties = own(node, "properties");
        const required = own(node, "required");
        const needed = new Set(Array.isArray(required) ? required.filter((name) => typeof name === "string") : []);
        const rest = own(node, "additionalProperties");
        if (rest !== undefined && typeof rest !== "boolean") lose(at, "additionalProperties");
        const fields: Field[] = [];
        for (const [name, schema] of isObject(properties) ? Object.entries(properties) : []) {
            const place = `${at}/properties/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
            if (FORBIDDEN_NAMES.has(name)) {
                lose(place, "the name");
                continue;
            }
            const contract = read(schema, place, depth + 1);
            const remarks = isObject(schema) ? schema : {};
            const description = own(remarks, "description");
            const fallback = own(remarks, "default");
            fields.push({
                name,
                contract,
                ...(needed.has(name) ? {} : { optional: true as const }),
                ...(fallback === undefined || needed.has(name) || !isSmall(fallback) ? {} : { default: fallback }),
                ...(typeof description === "string" && description !== "" ? { description } : {}),
            });
        }
        for (const name of needed) if (!fields.some((field) => field.name === name)) lose(at, `required: ${String(name).slice(0, 60)}`);
        return { type: "object", fields };
    };

    const oneOf = (values: readonly Json[], at: string): Contract => {
        const plain = values.filter((value) => value === null || typeof value !== "object") as (string | number | boolean | null)[];
        if (plain.length < values.length || plain.length === 0) return anyBut(at, "enum");
        return union(plain.map((value) => (value === null ? { type: "none" } : { type: "literal", value })));
    };

    const reference = (target: string, at: string, depth: number): Contract => {
        const known = names.get(target);
        if (known !== undefined) return { type: "ref", name: known };
        const found = lookUp(schema, target);
        if (found === undefined) return anyBut(at, `$ref ${target.slice(0, 60)}`);
        const name = freshName(target, shapes);
        names.set(target, name);
        setOwn<Contract>(shapes, name, ANY);
        shapes[name] = read(found, target.slice(1), depth + 1);
        return { type: "ref", name };
    };

    const whole = read(schema, "", 0);
    // A definition that is nothing but itself would have no value.
    for (const name of Object.keys(shapes)) if (leadsBack(name, shapes)) shapes[name] = anyBut(`/$defs/${name}`, "$ref to itself");
    const contract = withGoodDefaults(whole, shapes);
    for (const name of Object.keys(shapes)) shapes[name] = withGoodDefaults(shapes[name] as Contract, shapes);
    return { contract, shapes, lost };
}

/** Without defaults that do not hold their own contract: filling one in would break what it is there for. */
function withGoodDefaults(contract: Contract, shapes: Shapes): Contract {
    switch (contract.type) {
        case "list":
            return contract.item === undefined ? contract : { type: "list", item: withGoodDefaults(contract.item, shapes) };
        case "optional":
            return { type: "optional", of: withGoodDefaults(contract.of, shapes) };
        case "union":
            return { type: "union", of: contract.of.map((member) => withGoodDefaults(member, shapes)) };
        case "object":
            return {
                type: "object",
                fields: contract.fields.map(({ default: fallback, ...field }) => {
                    const good = fallback !== undefined && compileTest(field.contract, shapes)(fallback);
                    const inner = withGoodDefaults(field.contract, shapes);
                    if (!good) return { ...field, contract: inner };
                    const { optional: _, ...rest } = field;
                    return { ...rest, contract: inner, default: fallback };
                }),
            };
        default:
            return contract;
    }
}

function union(members: readonly Contract[]): Contract {
    if (members.length === 1) return members[0] as Contract;
    if (members.some((member) => member.type === "json")) return ANY;
    const rest = members.filter((member) => member.type !== "none");
    if (rest.length === members.length) return { type: "union", of: members };
    if (rest.length === 0) return { type: "none" };
    return { type: "optional", of: rest.length === 1 ? (rest[0] as Contract) : { type: "union", of: rest } };
}

function leadsBack(name: string, shapes: { readonly [name: string]: Contract }): boolean {
    let at = shapes[name];
    for (let hops = 0; at !== undefined && at.type === "ref"; hops++) {
        if (at.name === name || hops > MAX_NODES) return true;
        at = shapes[at.name];
    }
    return false;
}

function freshName(target: string, shapes: { readonly [name: string]: Contract }): string {
    const last = target.slice(target.lastIndexOf("/") + 1);
    let base = last.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=[0-9])/, "_") || "Root";
    if (FORBIDDEN_NAMES.has(base)) base = `${base}_`;
    let name = base;
    for (let i = 2; Object.hasOwn(shapes, name); i++) name = `${base}_${i}`;
    return name;
}

/** The part of the schema that a local reference names. */
function lookUp(schema: Json, target: string): Json | undefined {
    if (target === "#") return schema;
    if (!target.startsWith("#/")) return undefined;
    let at: Json | undefined = schema;
    for (const step of target.slice(2).split("/")) {
        const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
        at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
        if (at === undefined) return undefined;
    }
    return at;
}

/** A default that is worth keeping: no deep or large one. */
function isSmall(value: Json): boolean {
    let left = 1000;
    const look = (v: Json, depth: number): boolean => {
        if (--left < 0 || depth > 20) return false;
        if (v === null || typeof v !== "object") return true;
        if (Array.isArray(v)) return v.every((item) => look(item, depth + 1));
        return Object.entries(v).every(([key, item]) => !FORBIDDEN_NAMES.has(key) && look(item, depth + 1));
    };
    return look(value, 0);
}

function own(node: JsonObject, key: string): Json | undefined {
    return Object.hasOwn(node, key) ? node[key] : undefined;
}
