/**
 * What the runtime's own tools, memories and agents outside the program have: their methods and the arguments of each, by the scheme of their URI.
 *
 * Boundary: data and look-ups. A test of the host holds the table against what its tools say of themselves. Any other tool is asked by the
 * machine, before its first use.
 *
 * SN1: what a rule names and the thing does not have is an error; null where it is not known what the thing has.
 */
import { isObject, type Json } from "../contract/contract.ts";
import { nearest } from "../diagnostics/nearest.ts";
import { methodName, schemeOf } from "./thing.ts";

/** Names of arguments by method; null: any may be there. */
export interface Schema {
    readonly methods: ReadonlyMap<string, ReadonlySet<string> | null>;
    /** The arguments of each in the order in which a stage of a block fills them; absent where the tool itself said what it has. */
    readonly params?: ReadonlyMap<string, readonly ToolParam[]>;
    /** It also takes methods that are not listed, with these arguments. */
    readonly others?: ReadonlySet<string>;
    /** Methods that take no field but their own, and all that they need. */
    readonly exact?: ReadonlySet<string>;
    /** It is what a server said when a person pinned it; the server may have changed since. */
    readonly isPinned?: true;
}

export interface ToolParam {
    readonly name: string;
    /** It may be left out: `?` in the table, before `:` and its kind. */
    readonly hasDefault: boolean;
    /** Kinds of JSON value that it takes; absent: any, or it is not known here. */
    readonly kinds?: ReadonlySet<string>;
}

function schema(methods: { readonly [method: string]: string | null }, others?: string): Schema {
    const params = (words: string): ToolParam[] =>
        words.split(" ").flatMap((word) => {
            const [, name, optional, kind] = /^(\w+)(\?)?(?::(\w+))?$/.exec(word) ?? [];
            if (name === undefined) return [];
            return [{ name, hasDefault: optional !== undefined, ...(kind === undefined ? {} : { kinds: new Set([kind]) }) }];
        });
    const names = (words: string): ReadonlySet<string> => new Set(params(words).map(({ name }) => name));
    const rows = Object.entries(methods);
    return {
        methods: new Map(rows.map(([method, words]) => [method, words === null ? null : names(words)])),
        params: new Map(rows.flatMap(([method, words]) => (words === null ? [] : [[method, params(words)] as const]))),
        ...(others === undefined ? {} : { others: names(others) }),
    };
}

const WEB = "url headers? body? timeout?";
const SENDING = "url body headers? timeout?";
const web = schema({ get: WEB, head: WEB, options: WEB, post: SENDING, put: SENDING, patch: SENDING, delete: WEB }, WEB);

const SCHEMAS: ReadonlyMap<string, Schema> = new Map([
    ["env", schema({ get: "name" })],
    [
        "file",
        schema({
            read: "path:string as?:string",
            list: "path?:string",
            write: "path:string content:string",
            patch: "path:string search:string replace:string",
            undo: "effects",
        }),
    ],
    ["inspect", schema({ stack: null, frame: null, owner: null, origins: null, capabilities: null, find: null })],
    ["shell", schema({ run: "command args? cwd? timeout?" })],
    ["webfetch", schema({ call: "url headers? timeout?" })],
    ["skills", schema({ activate: "name", file: "name path" })],
    ["http", web],
    ["https", web],
]);

/** Of `sh:`, by what is run. */
const COMMANDS: ReadonlyMap<string, Schema> = new Map([
    ["find", schema({ run: "path?:string name?:string type?:string max?:number" })],
    ["grep", schema({ run: "path?:string pattern:string include?:string max?:number" })],
    ["read-range", schema({ run: "path:string start?:number max?:number" })],
]);

const MEMORY = schema({ add: null, query: "kind? text? where? limit? from?" });

/** Of an agent outside the program these are all that there is to name: `agent()` is a text and its answer, as `send` is. */
const OUTSIDE = schema({ yield: null, send: null });
const NOTHING = schema({});
/** What a loop with `hide` may ask for: that its model is shown what a reference stands for. */
const MODEL = schema({ look: null });

/** What an import of this kind and URI has; null where only the thing itself can say it. */
export function toolSchema(what: string, uri: string): Schema | null {
    switch (what) {
        case "tool":
            return (schemeOf(uri) === "sh" ? COMMANDS.get(commandOf(uri)) : SCHEMAS.get(schemeOf(uri))) ?? null;
        case "memory":
            return MEMORY;
        case "agent":
            return isOutside(uri) ? OUTSIDE : null;
        case "llm":
            return MODEL;
        case "skill":
            return NOTHING;
        default:
            return null;
    }
}

/** Of a tool that a file of the program describes. `inputs`: by method, the JSON Schema of its argument; absent: it may have any fields. */
export function describedSchema(inputs: { readonly [method: string]: Json | undefined }): Schema {
    const rows = Object.entries(inputs);
    const fields = rows.flatMap(([method, input]) => {
        const found = fieldsOf(input);
        return found === null ? [] : [[method, found] as const];
    });
    return {
        methods: new Map(
            rows.map(([method, input]) => {
                const names = argumentNames(input ?? null);
                return [method, names === null ? null : new Set(names)];
            }),
        ),
        params: new Map(fields),
        exact: new Set(rows.flatMap(([method, input]) => (isObject(input) && input["additionalProperties"] === false ? [method] : []))),
    };
}

/** Names of the arguments that a JSON Schema describes; null where others are taken, or where they are not all named in one place. */
export function argumentNames(input: Json): readonly string[] | null {
    const properties = propertiesOf(input);
    if (properties === null) return null;
    const more = (input as { readonly [key: string]: Json })["additionalProperties"];
    return more !== undefined && more !== false ? null : Object.keys(properties);
}

const OPEN: readonly string[] = ["patternProperties", "allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "if", "dependentSchemas"];

function propertiesOf(input: Json | undefined): { readonly [name: string]: Json } | null {
    if (!isObject(input) || OPEN.some((word) => Object.hasOwn(input, word))) return null;
    const { properties } = input;
    return isObject(properties) ? properties : null;
}

function fieldsOf(input: Json | undefined): readonly ToolParam[] | null {
    const properties = propertiesOf(input);
    if (properties === null) return null;
    const { required } = input as { readonly required?: Json };
    const needed = new Set(Array.isArray(required) ? required : []);
    return Object.entries(properties).map(([name, of]) => {
        const kinds = kindsOf(of);
        return { name, hasDefault: !needed.has(name), ...(kinds === null ? {} : { kinds }) };
    });
}

/** Kinds of values that a JSON Schema lets through. */
function kindsOf(schema: Json): ReadonlySet<string> | null {
    if (!isObject(schema) || schema.type === undefined) return null;
    const all = Array.isArray(schema.type) ? schema.type : [schema.type];
    return new Set(all.map((one) => (one === "integer" ? "number" : one === "null" ? "none" : one === "array" ? "list" : String(one))));
}

function commandOf(uri: string): string {
    return uri.replace(/^sh:(?:\/\/)?/i, "").replace(/\/$/, "");
}

/** Whether an agent's URI leads out of the program. */
export function isOutside(uri: string): boolean {
    const scheme = schemeOf(uri);
    return scheme !== "" && scheme !== "file";
}

/** The arguments of a method in order; null where only the tool can say them. */
export function toolParams(uri: string, method: string): readonly ToolParam[] | null {
    const rows = [...(toolSchema("tool", uri)?.params ?? [])];
    return rows.find(([name]) => methodName(uri, name) === methodName(uri, method))?.[1] ?? null;
}

/** What a rule names that the thing does not have, and what it has instead. */
export interface Unknown {
    readonly what: "method" | "argument";
    readonly name: string;
    readonly known: readonly string[];
}

/** SN1. `method` null: any of them. `arg`: a name or a place, where the rule names one. */
export function unknownIn({ methods, others }: Schema, uri: string, method: string | null, arg: string | null): Unknown | null {
    const called = method === null ? null : methodName(uri, method);
    const own = called === null ? null : [...methods].find(([name]) => methodName(uri, name) === called);
    // Where any method can be sent, only what looks like a listed one is a mistake for certain.
    if (called !== null && own === undefined && (others === undefined || nearest(called, methods.keys()) !== null))
        return { what: "method", name: method as string, known: [...methods.keys()] };
    // A place is one in the call, whatever the arguments are called.
    if (arg === null || /^[1-9][0-9]*$/.test(arg)) return null;
    const lists = own != null ? [own[1]] : method === null ? [...methods.values()] : [others ?? null];
    const known = new Set<string>();
    for (const list of lists) {
        if (list === null) return null;
        for (const name of list) known.add(name);
    }
    return known.has(arg) ? null : { what: "argument", name: arg, known: [...known] };
}
