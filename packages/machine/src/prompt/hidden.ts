/**
 * References: what a tool loop with `hide: "untrusted"` is shown in place of results that are not trusted, and what becomes of them in arguments and
 * answers.
 *
 * Boundary: JSON and origins. When a result is hidden, and what a gate says of a call with references, is decided elsewhere.
 *
 * HID1: a reference tells the type of a value, a coarse class of its size, and the names that the runtime itself gives the parts of what such tools give; never
 *     a text, a number or a name out of it.
 * HID2: a reference is filled once: what a hidden text holds is never read as a reference.
 * HID4: a part that is not there is `none`, wherever a reference may stand: whether it is there is told by what uses it, in a hidden result.
 * HID3: what is told of a call with filled references depends on nothing in them but whether it was let through and whether it failed: its result is hidden,
 *     and carries what they carry.
 */
import { isObject, type Json, schemeOf } from "@remit/language";
import { originsUnion } from "./state.ts";

/** What a reference stands for; `r1` is the first. */
export interface Hidden {
    readonly value: Json;
    /** Sorted. */
    readonly origins: readonly string[];
    /** Further origins of parts, by JSON Pointer. */
    readonly parts?: { readonly [pointer: string]: readonly string[] };
}

/** A value with its references filled. */
export interface Filled {
    readonly json: Json;
    /** Origins of what was filled in. */
    readonly origins: readonly string[];
    /** The same for each key, of an object. */
    readonly named: ReadonlyMap<string, readonly string[]>;
    readonly used: boolean;
}

const REFERENCE = /\{\{\s*r([1-9][0-9]{0,5})((?:\/[^{}\s/]*)*)\s*\}\}/g;
/** UTF-16 units that references may fill into one call or answer. */
const MAX_FILLED = 1 << 20;

export function nameOf(at: number): string {
    return `r${at + 1}`;
}

/** HID1. `uri`: of the tool that gave it; null: a reader did. */
export function describedShape(value: Json, uri: string | null): string {
    if (!isObject(value) || uri === null) return kindOf(value);
    const ours = (FORMS[schemeOf(uri)] ?? []).filter((key) => Object.hasOwn(value, key));
    return ours.length === 0 ? kindOf(value) : `object with ${ours.map((key) => `${key}: ${kindOf(value[key] as Json)}`).join(", ")}`;
}

const OF_REQUEST = ["status", "headers", "body"];
const OF_COMMAND = ["code", "stdout", "stderr"];
/** What the runtime calls the parts of what its own kinds of tools give, whatever they hold. Any other name may be a word of another author. */
const FORMS: { readonly [scheme: string]: readonly string[] } = {
    mcp: ["ok", "text", "content", "structured", "isError"],
    http: OF_REQUEST,
    https: OF_REQUEST,
    file: ["path", "content", "entries"],
    sh: OF_COMMAND,
    shell: OF_COMMAND,
};

/** Of a text in UTF-16 units, of a list in items: up to the first it is short, beyond the second long. */
const CLASSES = { text: [1_000, 20_000], list: [20, 500] } as const;

/** A class and no number: the author of the value would choose the number, and with it what a loop does that looks at it. */
function kindOf(value: Json): string {
    if (value === null) return "none";
    if (typeof value === "string") return sized("text", value.length);
    if (Array.isArray(value)) return sized("list", value.length);
    return typeof value;
}

function sized(what: keyof typeof CLASSES, size: number): string {
    const [short, long] = CLASSES[what];
    return size <= short ? `short ${what}` : size <= long ? what : `long ${what}`;
}

/** What is wrong with a reference, as the model is told. */
export class NoReference extends Error {}

/** HID2. Throws `NoReference`. */
export function fill(json: Json, known: readonly Hidden[]): Filled {
    const filling = new Filling(known);
    if (!isObject(json)) return { ...filling.one(json), named: new Map() };
    const each = Object.entries(json).map(([key, one]) => [key, filling.one(one as Json)] as const);
    return {
        json: Object.fromEntries(each.map(([key, one]) => [key, one.json])),
        origins: originsUnion(...each.map(([, one]) => one.origins)),
        named: new Map(each.flatMap(([key, one]) => (one.used ? [[key, one.origins] as const] : []))),
        used: each.some(([, one]) => one.used),
    };
}

class Filling {
    private origins: string[] = [];
    private used = false;
    private left = MAX_FILLED;
    private readonly known: readonly Hidden[];

    constructor(known: readonly Hidden[]) {
        this.known = known;
    }

    /** A part of the whole, with what was filled into it. */
    one(json: Json): Omit<Filled, "named"> {
        this.origins = [];
        this.used = false;
        const out = this.value(json);
        return { json: out, origins: originsUnion(this.origins), used: this.used };
    }

    private value(json: Json): Json {
        if (typeof json === "string") return this.text(json);
        if (Array.isArray(json)) return json.map((one) => this.value(one));
        if (!isObject(json)) return json;
        return Object.fromEntries(Object.entries(json).map(([key, one]) => [key, this.value(one as Json)]));
    }

    /** A text that is one reference is what it stands for; within others it is a text. */
    private text(text: string): Json {
        if (!text.includes("{{")) return text;
        const whole = new RegExp(`^\\s*${REFERENCE.source}\\s*$`).exec(text);
        if (whole !== null) return this.found(whole[1] as string, whole[2] as string);
        return text.replace(REFERENCE, (_, nth: string, path: string) => {
            const value = this.found(nth, path);
            return typeof value === "string" ? value : JSON.stringify(value);
        });
    }

    private found(nth: string, path: string): Json {
        const one = this.known[Number(nth) - 1];
        if (one === undefined) throw new NoReference(`There is no reference r${nth}.`);
        const { value, origins } = partOf(one, path);
        this.left -= typeof value === "string" ? value.length : JSON.stringify(value).length;
        if (this.left < 0) throw new NoReference("The references stand for more than fits into one call or answer.");
        this.used = true;
        this.origins.push(...origins);
        return value;
    }
}

function partOf(hidden: Hidden, path: string): Pick<Hidden, "value" | "origins"> {
    let value: Json = hidden.value;
    for (const step of path.split("/").slice(1)) {
        const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
        const next: Json | undefined = Array.isArray(value)
            ? /^(0|[1-9][0-9]*)$/.test(key)
                ? value[Number(key)]
                : undefined
            : isObject(value) && Object.hasOwn(value, key)
              ? (value[key] as Json)
              : undefined;
        // HID4.
        value = next ?? null;
    }
    const parts = Object.entries(hidden.parts ?? {}).filter(([at]) => at.startsWith(`${path}/`) || `${path}/`.startsWith(`${at}/`));
    return { value, origins: originsUnion(hidden.origins, ...parts.map(([, origins]) => origins)) };
}

/** What `r1`, `r1/text` or `{{r1}}` names, as a hidden value of its own. Throws `NoReference`. */
export function hiddenAt(text: string, known: readonly Hidden[]): Hidden {
    const reference = /^\s*(?:\{\{)?\s*(r[1-9][0-9]{0,5}(?:\/[^{}\s/]*)*)\s*(?:\}\})?\s*$/.exec(text)?.[1];
    if (reference === undefined) throw new NoReference("A reference is written as r1, or r1/text for a part of it.");
    const { json, origins } = fill(`{{${reference}}}`, known);
    return { value: json, origins };
}

/** A schema of arguments whose texts may be references where it wants something else. */
export function widened(schema: Json): Json {
    if (!isObject(schema) || !isObject(schema.properties)) return schema;
    const properties = Object.entries(schema.properties).map(([key, one]) => [
        key,
        takesText(one as Json) ? one : { anyOf: [one, A_REFERENCE] },
    ]);
    return { ...schema, properties: Object.fromEntries(properties) as Json };
}

const A_REFERENCE = { type: "string", description: "a reference, such as {{r1}}" } as const;

function takesText(schema: Json): boolean {
    if (!isObject(schema)) return schema === true;
    const narrow = ["enum", "const", "pattern", "maxLength", "format", "$ref", "anyOf", "oneOf", "allOf"].some((key) =>
        Object.hasOwn(schema, key),
    );
    return (
        !narrow && (schema.type === undefined || schema.type === "string" || (Array.isArray(schema.type) && schema.type.includes("string")))
    );
}
