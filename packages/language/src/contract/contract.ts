/**
 * Contracts: the shape a value must have. One JSON form, used by the checker, the program form, the machine and every prompt.
 * Named shapes are resolved by `ref`; a program's shapes travel beside it (`Shapes`).
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Neither a list nor null. */
export function isObject(value: unknown): value is { [key: string]: Json } {
    return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** The members that are there: an absent member is not the same as one that is undefined. */
export function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
    return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
        [K in keyof T]?: Exclude<T[K], undefined>;
    };
}

export type Contract =
    | { readonly type: "string" | "number" | "boolean" | "json" | "none" }
    | { readonly type: "list"; readonly item?: Contract }
    | { readonly type: "object"; readonly fields: readonly Field[] }
    | { readonly type: "literal"; readonly value: string | number | boolean | null }
    | { readonly type: "union"; readonly of: readonly Contract[] }
    | { readonly type: "optional"; readonly of: Contract }
    | { readonly type: "ref"; readonly name: string };

export interface Field {
    readonly name: string;
    readonly contract: Contract;
    /** May be absent. */
    readonly optional?: boolean;
    /** Filled in where the field is absent. */
    readonly default?: Json;
    readonly description?: string;
}

/** Named shapes in scope, by name. */
export type Shapes = Readonly<Record<string, Contract>>;
