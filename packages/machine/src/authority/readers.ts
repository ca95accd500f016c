/**
 * Who may read what comes from a thing: its `reads` clauses, as labels of what comes.
 *
 * Boundary: pure; clauses and a use in, labels out. Whom a value may go to is `decide.ts`.
 *
 * REE1: a clause of a method is one of the method that is meant, however the call is spelled.
 * REE2: where it cannot be told who may read, nobody may.
 */
import { type Json, methodName } from "@remit/language";
import { namesAt, readersLabel } from "./decide.ts";
import { aliasOfJson, type Given, jsonGiven } from "./given.ts";
import type { ReadersRule } from "./policy.ts";

/** Labels of what a use gives. `method` null: a thing without methods, which every clause is about. */
export function readersGiven(
    reads: readonly ReadersRule[],
    uri: string,
    method: string | null,
    args: readonly Json[],
    result: Json | undefined,
): string[] {
    if (reads.length === 0) return [];
    const alias = method === null || args.length !== 1 ? null : aliasOfJson(uri, method, args[0] as Json);
    const given = jsonGiven(alias?.args ?? args, 0);
    return readersNamed(reads, uri, alias?.method ?? method, given, result).map((names) => readersLabel(names ?? []));
}

/**
 * Whose it is to read what a use gives, of each clause that is about it. Undefined: those whom the clause names itself, which cannot be told
 * (REE2). `method`: the one that is meant (REE1).
 */
export function readersNamed(
    reads: readonly ReadersRule[],
    uri: string,
    method: string | null,
    given: Given,
    result: Json | undefined,
): (readonly string[] | undefined)[] {
    const named = method === null ? null : methodName(uri, method);
    return reads
        .filter((rule) => named === null || rule.method === null || rule.method === named)
        .map((rule) => namesAt(rule.readers, given, result))
        .filter((names) => names !== null);
}
