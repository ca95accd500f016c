/**
 * All built-ins in one table, and the look-up by receiver and name.
 *
 * Boundary: rows are in the files of their receivers. The checker has a table of its own (`packages/language/src/scope/builtins.ts`) with
 * the same names and numbers of arguments; a test says that the two agree.
 */
import type { Builtin, BuiltinOn } from "./builtin.ts";
import { CSV_BUILTINS } from "./csv.ts";
import { GLOBAL_BUILTINS } from "./globals.ts";
import { JSON_BUILTINS } from "./json.ts";
import { LIST_BUILTINS } from "./lists.ts";
import { NUMBER_BUILTINS } from "./numbers.ts";
import { OBJECT_BUILTINS } from "./objects.ts";
import { STRING_BUILTINS } from "./strings.ts";
import { TIME_BUILTINS } from "./time.ts";

export type { Builtin, BuiltinOn, Lambda, Runtime } from "./builtin.ts";

export const BUILTIN_TABLE: readonly Builtin[] = [
    ...STRING_BUILTINS,
    ...LIST_BUILTINS,
    ...OBJECT_BUILTINS,
    ...NUMBER_BUILTINS,
    ...GLOBAL_BUILTINS,
    ...JSON_BUILTINS,
    ...CSV_BUILTINS,
    ...TIME_BUILTINS,
];

const BY_NAME: ReadonlyMap<string, Builtin> = new Map(BUILTIN_TABLE.map((row) => [`${row.on} ${row.name}`, row]));

export function findBuiltin(on: BuiltinOn, name: string): Builtin | undefined {
    return BY_NAME.get(`${on} ${name}`);
}
