/**
 * Pieces that the published JSON Schemas (draft 2020-12) are put together from.
 *
 * Boundary: building only. What the documents hold is said in the tables beside this file.
 *
 * SC1: `record` takes the TypeScript type that it describes, and does not compile unless it names each field of it once, as required or
 *     optional as it is there. Every record is closed: a document with a key that is not named is refused.
 */
import type { Json } from "@remit/language";

export type Schema = { [key: string]: Json };

type OptionalKeys<T> = { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T];
type Required<T> = { readonly [K in Exclude<keyof T, OptionalKeys<T>>]: Schema };
type Optional<T> = { readonly [K in OptionalKeys<T>]: Schema };

/** An object of type `T` and nothing else in it. */
export function record<T extends object>(required: Required<T>, optional: Optional<T>): Schema {
    return {
        type: "object",
        properties: { ...(required as Schema), ...(optional as Schema) },
        required: Object.keys(required),
        additionalProperties: false,
    };
}

export const text: Schema = { type: "string" };
export const flag: Schema = { type: "boolean" };
export const number: Schema = { type: "number" };
/** A whole number from 0. */
export const count: Schema = { type: "integer", minimum: 0 };
export const nothing: Schema = { type: "null" };
/** Anything: JSON that belongs to a program, a model or a tool. */
export const json: Schema = {};

export const is = (value: string | number | boolean): Schema => ({ const: value });
export const one = (values: readonly string[]): Schema => ({ enum: [...values] });
export const list = (items: Schema): Schema => ({ type: "array", items });
export const empty: Schema = { type: "array", items: false };
export const named = (items: Schema): Schema => ({ type: "object", additionalProperties: items });
export const any = (...of: readonly Schema[]): Schema => ({ anyOf: [...of] });
export const orNull = (of: Schema): Schema => any(of, nothing);
export const ref = (name: string): Schema => ({ $ref: `#/$defs/${name}` });
export const says = (of: Schema, description: string): Schema => ({ ...of, description });

/** A whole document. `roots`: the definitions, one of which it follows. */
export function schemaOf(name: string, title: string, roots: readonly string[], defs: { readonly [name: string]: Schema }): Schema {
    return {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $id: `urn:remit:schema:${name}`,
        title,
        anyOf: roots.map(ref),
        $defs: { ...defs },
    };
}
