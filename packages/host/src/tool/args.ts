/**
 * Tools whose methods take one object: tables of methods and of fields, read and described from the same rows.
 *
 * Boundary: JSON in, typed fields out. Fields that no row names are left alone, as AgentScript leaves them, but for slips and where a tool is `exact`;
 * a model's call is held to the schema.
 */
import { type Json, nearest } from "@remit/language";
import { type CallIO, type MethodInfo, ToolFail, type ToolHandle } from "./tool.ts";

export interface Field {
    readonly type: "text" | "count" | "number" | "object" | "json";
    readonly description: string;
    readonly needed?: boolean;
    readonly default?: Json;
    readonly one?: readonly string[];
}
export type Fields = { readonly [name: string]: Field };
export type Given = { readonly [name: string]: Json | undefined };

export interface MethodRow {
    readonly description: string;
    readonly fields: Fields;
    readonly readOnly: boolean;
    /** As `readOnly` where absent. */
    readonly repeatable?: boolean;
    /** What it is given, where that is more than one object. */
    readonly given?: (name: string, args: readonly Json[] | undefined) => Given;
}

/** A tool with these methods. */
export function toolOf(
    rows: { readonly [method: string]: MethodRow },
    run: (method: string, given: Given, io: CallIO) => ReturnType<ToolHandle["call"]> | Json,
    { exact = false }: { readonly exact?: boolean } = {},
): { methods(): readonly MethodInfo[]; call: ToolHandle["call"] } {
    const methods = Object.entries(rows).map(([name, { description, fields, readOnly, repeatable = readOnly }]) => ({
        name,
        description,
        input: schemaOf(fields),
        readOnly,
        repeatable,
    }));
    return {
        methods: () => methods,
        call: async (method, args, io) => {
            const row = Object.hasOwn(rows, method) ? rows[method] : undefined;
            if (row === undefined) throw unknownMethod(io.name, method, Object.keys(rows));
            return run(method, row.given?.(io.name, args) ?? readFields(objectArgument(io.name, method, args), row.fields, exact), io);
        },
    };
}

/** The one object argument of a call; the sentence is AgentScript's. */
export function objectArgument(name: string, method: string, args: readonly Json[] | undefined): { readonly [key: string]: Json } {
    const [first] = args ?? [];
    if (
        args === undefined ||
        args.length !== 1 ||
        first === undefined ||
        first === null ||
        typeof first !== "object" ||
        Array.isArray(first)
    )
        throw new ToolFail(`${name}.${method} expects one json object argument`, {
            hint: `write ${name}.${method}({ … }): its fields have names; a stage names them, too, ${name}.${method}(field: value), or takes the object that flows in`,
        });
    return first;
}

/**
 * Reads the fields of a call's object. Null counts as absent; what is nearly the name of an absent field is a slip. `exact`: so is whatever has no
 * row (LANGUAGE 10, D16).
 */
export function readFields(given: { readonly [key: string]: Json }, fields: Fields, exact = false): { [name: string]: Json | undefined } {
    const out: { [name: string]: Json | undefined } = Object.create(null);
    for (const [name, field] of Object.entries(fields)) {
        const value = Object.hasOwn(given, name) ? given[name] : undefined;
        if (value === undefined || value === null) {
            const slip = Object.keys(given).find((one) => !Object.hasOwn(fields, one) && nearest(one, [name]) !== null);
            if (slip !== undefined) throw new ToolFail(`there is no field '${slip}'`, { hint: `did you mean '${name}'?` });
            if (field.needed === true) throw new ToolFail(`'${name}' is missing`, { hint: field.description });
            out[name] = field.default;
            continue;
        }
        const problem = wrong(value, field);
        if (problem !== null) throw new ToolFail(`'${name}' must be ${problem}`, { hint: field.description });
        out[name] = value;
    }
    const spare = exact ? Object.keys(given).find((one) => !Object.hasOwn(fields, one)) : undefined;
    if (spare !== undefined) throw new ToolFail(`there is no field '${spare}'`, { hint: `there are ${Object.keys(fields).join(", ")}` });
    return out;
}

function wrong(value: Json, field: Field): string | null {
    switch (field.type) {
        case "text":
            if (typeof value !== "string") return "a string";
            return field.one === undefined || field.one.includes(value)
                ? null
                : `one of ${field.one.map((one) => JSON.stringify(one)).join(", ")}`;
        case "count":
            return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? null : "a positive integer";
        case "number":
            return typeof value === "number" && Number.isFinite(value) && value > 0 ? null : "a positive number";
        case "object":
            return typeof value === "object" && !Array.isArray(value) ? null : "an object";
        case "json":
            return null;
    }
}

const TYPES: { readonly [K in Field["type"]]: Json } = {
    text: { type: "string" },
    count: { type: "integer", minimum: 1 },
    number: { type: "number", exclusiveMinimum: 0 },
    object: { type: "object" },
    json: {},
};

export function schemaOf(fields: Fields): Json {
    return {
        type: "object",
        properties: Object.fromEntries(
            Object.entries(fields).map(([name, field]): [string, Json] => [
                name,
                {
                    ...(TYPES[field.type] as { [key: string]: Json }),
                    ...(field.one === undefined ? {} : { enum: [...field.one] }),
                    description: field.description,
                    ...(field.default === undefined ? {} : { default: field.default }),
                },
            ]),
        ),
        required: Object.keys(fields).filter((name) => fields[name]?.needed === true),
        additionalProperties: false,
    };
}

/** `a, b and c` of what there is, for messages that list. */
export function unknownMethod(name: string, method: string, known: readonly string[]): ToolFail {
    return new ToolFail(`there is no method '${method}'`, {
        hint: known.length === 0 ? `${name} has no methods` : `${name} has ${known.join(", ")}`,
    });
}
