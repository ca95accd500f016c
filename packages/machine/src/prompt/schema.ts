/**
 * Checking a model's arguments against a tool's JSON Schema before a person is asked and before the tool is called.
 *
 * Boundary: the assertions that decide the shape of data (draft 2020-12 and the older spellings of the same): `type enum const properties
 * required additionalProperties items prefixItems minItems maxItems minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum
 * anyOf oneOf allOf not $ref` within the same schema. Everything else (`pattern`, `format`, `if` …) is the tool's own affair: it checks its
 * arguments again.
 *
 * SM1: schema and value are both hostile. Work is bounded by `MAX_CHECKS`; past it the value is refused.
 * SM2: own keys only; `__proto__` and its like are refused as property names.
 */
import { amountOf, isObject, type Json } from "@remit/language";

const MAX_CHECKS = 100_000;
const MAX_ERRORS = 8;
const MAX_REF_DEPTH = 200;
const FORBIDDEN = new Set(["__proto__", "constructor", "prototype"]);

/** What is wrong with `value`, a line each, naming the place (`/path/0: must be a string`); empty where nothing is. */
export function checkAgainstSchema(value: Json, schema: Json): string[] {
    const check = new Check(schema);
    check.value(value, schema, "", 0);
    return check.exhausted() && check.errors.length === 0 ? ["arguments: too large or too deep to be checked"] : check.errors;
}

type JsonObject = { [key: string]: Json };

class Check {
    errors: string[] = [];
    private left = MAX_CHECKS;
    private readonly root: Json;

    constructor(root: Json) {
        this.root = root;
    }

    exhausted(): boolean {
        return this.left < 0;
    }

    private error(at: string, message: string): false {
        if (this.errors.length < MAX_ERRORS) this.errors.push(`${at === "" ? "arguments" : at}: ${message}`);
        return false;
    }

    value(value: Json, schema: Json, at: string, depth: number): boolean {
        if (--this.left < 0 || depth > MAX_REF_DEPTH) return this.error(at, "too large or too deep to be checked");
        if (schema === true || schema === undefined) return true;
        if (schema === false) return this.error(at, "nothing is allowed here");
        if (!isObject(schema)) return this.error(at, "the tool's schema cannot be read here");
        const before = this.errors.length;
        if (typeof schema.$ref === "string") {
            const target = this.resolve(schema.$ref);
            if (target === undefined) return true; // a reference out of the schema: the tool's own affair
            this.value(value, target, at, depth + 1);
        }
        this.type(value, schema, at);
        if (Array.isArray(schema.enum) && !schema.enum.some((allowed) => same(allowed, value)))
            this.error(at, `must be one of ${schema.enum.map((allowed) => JSON.stringify(allowed)).join(", ")}`);
        if (own(schema, "const") && !same(schema.const as Json, value)) this.error(at, `must be ${JSON.stringify(schema.const)}`);
        if (typeof value === "string") this.string(value, schema, at);
        if (typeof value === "number") this.number(value, schema, at);
        if (Array.isArray(value)) this.list(value, schema, at, depth);
        if (isObject(value)) this.object(value, schema, at, depth);
        this.combined(value, schema, at, depth);
        return this.errors.length === before;
    }

    private type(value: Json, schema: JsonObject, at: string): void {
        const types = typeof schema.type === "string" ? [schema.type] : Array.isArray(schema.type) ? schema.type : [];
        const known = types.filter((type) => typeof type === "string") as string[];
        if (known.length > 0 && !known.some((type) => isType(value, type))) this.error(at, `must be ${known.map(article).join(" or ")}`);
    }

    private string(value: string, schema: JsonObject, at: string): void {
        if (typeof schema.minLength !== "number" && typeof schema.maxLength !== "number") return;
        let length = 0;
        for (const _ of value) length++;
        if (typeof schema.minLength === "number" && length < schema.minLength)
            this.error(at, `must have at least ${amountOf(schema.minLength, "character")}`);
        if (typeof schema.maxLength === "number" && length > schema.maxLength)
            this.error(at, `must have at most ${amountOf(schema.maxLength, "character")}`);
    }

    private number(value: number, schema: JsonObject, at: string): void {
        const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
        if (typeof minimum === "number" && value < minimum) this.error(at, `must be at least ${minimum}`);
        if (typeof maximum === "number" && value > maximum) this.error(at, `must be at most ${maximum}`);
        if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum) this.error(at, `must be more than ${exclusiveMinimum}`);
        if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum) this.error(at, `must be less than ${exclusiveMaximum}`);
    }

    private list(value: Json[], schema: JsonObject, at: string, depth: number): void {
        if (typeof schema.minItems === "number" && value.length < schema.minItems)
            this.error(at, `must have at least ${amountOf(schema.minItems, "item")}`);
        if (typeof schema.maxItems === "number" && value.length > schema.maxItems)
            this.error(at, `must have at most ${amountOf(schema.maxItems, "item")}`);
        const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : Array.isArray(schema.items) ? schema.items : [];
        const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
        value.forEach((item, index) => {
            const of = index < prefix.length ? prefix[index] : rest;
            if (of !== undefined) this.value(item, of as Json, `${at}/${index}`, depth + 1);
        });
    }

    private object(value: JsonObject, schema: JsonObject, at: string, depth: number): void {
        const properties = isObject(schema.properties) ? schema.properties : {};
        for (const name of Array.isArray(schema.required) ? schema.required : [])
            if (typeof name === "string" && !own(value, name)) this.error(at, `'${name}' is missing`);
        for (const name of Object.keys(value)) {
            if (FORBIDDEN.has(name)) this.error(at, `'${name}' is not allowed as a name`);
            else if (own(properties, name)) this.value(value[name] as Json, properties[name] as Json, `${at}/${name}`, depth + 1);
            else if (schema.additionalProperties === false && schema.patternProperties === undefined)
                this.error(at, `'${name}' is not a known name; known: ${Object.keys(properties).join(", ") || "none"}`);
            else if (isObject(schema.additionalProperties) && schema.patternProperties === undefined)
                this.value(value[name] as Json, schema.additionalProperties, `${at}/${name}`, depth + 1);
        }
    }

    private combined(value: Json, schema: JsonObject, at: string, depth: number): void {
        for (const part of Array.isArray(schema.allOf) ? schema.allOf : []) this.value(value, part, at, depth + 1);
        if (Array.isArray(schema.anyOf) && !schema.anyOf.some((part) => this.holds(value, part, at, depth)))
            this.error(at, "matches none of the shapes allowed here");
        if (Array.isArray(schema.oneOf) && schema.oneOf.filter((part) => this.holds(value, part, at, depth)).length !== 1)
            this.error(at, "must match exactly one of the shapes allowed here");
        if (own(schema, "not") && this.holds(value, schema.not as Json, at, depth)) this.error(at, "has a shape that is not allowed here");
    }

    /** Whether a subschema holds, without keeping what it says. */
    private holds(value: Json, schema: Json, at: string, depth: number): boolean {
        const kept = this.errors;
        this.errors = [];
        const held = this.value(value, schema, at, depth + 1);
        this.errors = kept;
        return held;
    }

    /** The schema a local reference (`#`, `#/$defs/Name`) points to. */
    private resolve(ref: string): Json | undefined {
        if (ref === "#") return this.root;
        if (!ref.startsWith("#/")) return undefined;
        let at: Json | undefined = this.root;
        for (const step of ref.slice(2).split("/")) {
            const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
            at = isObject(at) && own(at, key) ? at[key] : Array.isArray(at) ? at[Number(key)] : undefined;
        }
        return at;
    }
}

function own(object: JsonObject, key: string): boolean {
    return Object.hasOwn(object, key);
}

function isType(value: Json, type: string): boolean {
    switch (type) {
        case "null":
            return value === null;
        case "array":
            return Array.isArray(value);
        case "object":
            return isObject(value);
        case "integer":
            return Number.isInteger(value);
        case "number":
        case "string":
        case "boolean":
            return typeof value === type;
        default:
            return true; // a type we do not know is the tool's own affair
    }
}

function article(type: string): string {
    return type === "null" ? "null" : /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** Deep equality that does not depend on key order. */
function same(a: Json, b: Json, depth = 0): boolean {
    if (a === b) return true;
    if (depth > MAX_REF_DEPTH) return false;
    if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, at) => same(item, b[at] as Json, depth + 1));
    if (!isObject(a) || !isObject(b)) return false;
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => own(b, key) && same(a[key] as Json, b[key] as Json, depth + 1));
}
