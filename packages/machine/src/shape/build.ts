/**
 * Pieces that shapes of documents are put together from: a JSON Schema (draft 2020-12), and the TypeScript type of what follows it.
 *
 * Boundary: building only. What the documents hold is said in tables: `run/document.ts`, `schema/`.
 *
 * SC1: `record` takes the TypeScript type that it describes, and does not compile unless it names each field of it once, as required or
 *     optional as it is there; the type of a `shape` is what its fields say (`Told`). Both are closed: a document with a key that is not named is
 *     refused.
 */
import type { Json } from "@remit/language";

export type Schema = { [key: string]: Json };

declare const told: unique symbol;
/** A schema of documents of type `T`. */
export type Shape<T> = Schema & { readonly [told]?: (of: T) => T };
/** The type of what follows a shape. */
export type Told<S> = S extends { readonly [told]?: (of: infer T) => unknown } ? T : never;

type OptionalKeys<T> = { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T];
type Required<T> = { readonly [K in Exclude<keyof T, OptionalKeys<T>>]: Schema };
type Optional<T> = { readonly [K in OptionalKeys<T>]: Schema };
type Fields = { readonly [field: string]: Schema };
type Shaped<R extends Fields, O extends Fields> = { readonly [K in keyof R]: Told<R[K]> } & { readonly [K in keyof O]?: Told<O[K]> };

function closed(required: Schema, optional: Schema): Schema {
    const properties = { ...required, ...optional };
    return { type: "object", properties, required: Object.keys(required), additionalProperties: false };
}

/** An object of type `T` and nothing else in it. */
export const record = <T extends object>(required: Required<T>, optional: Optional<T>): Shape<T> =>
    closed(required as Schema, optional as Schema);
/** An object with these fields and nothing else in it. */
export const shape = <R extends Fields, O extends Fields>(required: R, optional: O): Shape<Shaped<R, O>> => closed(required, optional);

export const text: Shape<string> = { type: "string" };
export const matching = (pattern: string): Shape<string> => ({ type: "string", pattern });
export const flag: Shape<boolean> = { type: "boolean" };
export const number: Shape<number> = { type: "number" };
/** A whole number from 0. */
export const count: Shape<number> = { type: "integer", minimum: 0 };
/** A whole number from 1. */
export const from1: Shape<number> = { type: "integer", minimum: 1 };
export const nothing: Shape<null> = { type: "null" };
/** Anything: JSON that belongs to a program, a model or a tool. */
export const json: Shape<Json> = {};
/** An object of which nothing is said here. */
export const open = <T>(): Shape<T> => ({ type: "object" });

export const is = <const V extends string | number | boolean>(value: V): Shape<V> => ({ const: value });
export const one = <const V extends string>(values: readonly V[]): Shape<V> => ({ enum: [...values] });
export const list = <S extends Schema>(items: S): Shape<readonly Told<S>[]> => ({ type: "array", items });
export const tuple = <const S extends readonly Schema[]>(...of: S): Shape<{ readonly [I in keyof S]: Told<S[I]> }> => ({
    type: "array",
    prefixItems: [...of],
    items: false,
    minItems: of.length,
});
export const empty: Shape<readonly never[]> = { type: "array", items: false };
export const named = <S extends Schema>(items: S): Shape<{ readonly [key: string]: Told<S> }> => ({
    type: "object",
    additionalProperties: items,
});
export const any = <S extends readonly Schema[]>(...of: S): Shape<Told<S[number]>> => ({ anyOf: [...of] });
export const orNull = <S extends Schema>(of: S): Shape<Told<S> | null> => any(of, nothing);
/** What the definitions of the document have under a name. */
export const ref = <T>(name: string): Shape<T> => ({ $ref: `#/$defs/${name}` });
export const says = <S extends Schema>(of: S, description: string): S => ({ ...of, description });

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
