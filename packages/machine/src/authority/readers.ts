/**
 * Who may read what comes from a thing: its `reads` clauses, as labels of what comes, and what such labels say.
 *
 * Boundary: pure; clauses and a use in, labels out, and back. Whom a value may go to is `decide.ts`.
 *
 * REE1: a clause of a method is one of the method that is meant, however the call is spelled.
 * REE2: where it cannot be told who may read, no principal may.
 */
import { isObject, type Json, methodName, type ReadersForm } from "@remit/language";
import { chooserIn } from "../value/label.ts";
import { toldBy } from "./evidence.ts";
import { aliasOfJson, type Given, jsonGiven, wordsOf } from "./given.ts";
import type { ReadersRule } from "./policy.ts";

/** Whom the row of a table names; undefined: it cannot be told. */
export type People = (table: string, key: Json) => readonly string[] | undefined;

const NO_PEOPLE: People = () => undefined;

/** What the imports of a thing say, and the tables that they name. */
interface Said {
    readonly reads: readonly ReadersRule[];
    /** Absent: no table is known yet. */
    readonly people?: People;
}

/** Labels of what a use gives. `method` null: a thing without methods, which every clause is about. */
export function readersGiven(said: Said, uri: string, method: string | null, args: readonly Json[], result: Json | undefined): string[] {
    if (said.reads.length === 0) return [];
    const alias = method === null || args.length !== 1 ? null : aliasOfJson(uri, method, args[0] as Json);
    const given = jsonGiven(alias?.args ?? args, 0);
    return readersNamed(said, uri, alias?.method ?? method, given, result).map((names) => readersLabel(names ?? []));
}

/**
 * Whose it is to read what a use gives, of each clause that is about it. Undefined: those whom the clause names itself, which cannot be told
 * (REE2). `method`: the one that is meant (REE1).
 */
export function readersNamed(
    { reads, people = NO_PEOPLE }: Said,
    uri: string,
    method: string | null,
    given: Given,
    result: Json | undefined,
): (readonly string[] | undefined)[] {
    const named = method === null ? null : methodName(uri, method);
    return reads
        .filter((rule) => named === null || rule.method === null || rule.method === named)
        .map((rule) => namesAt(rule, given, result, people))
        .filter((names) => names !== null);
}

/** Who may read what carries these origins, or what they decided; null: every principal. */
export function readersOf(origins: readonly string[]): readonly string[] | null {
    let readers: string[] | null = null;
    for (const label of origins) {
        const origin = chooserIn(label) ?? label;
        if (!origin.startsWith("only:")) continue;
        const names = namesOf(origin);
        readers = readers === null ? names : readers.filter((name) => names.includes(name));
    }
    return readers;
}

/** `only:` and the names as JSON text, so that no name can be taken for two. */
export function readersLabel(names: readonly string[]): string {
    return `only:${JSON.stringify([...new Set(names)].sort())}`;
}

function namesOf(origin: string): string[] {
    try {
        const names: Json = JSON.parse(origin.slice("only:".length));
        return Array.isArray(names) && names.every((n) => typeof n === "string") ? (names as string[]) : [];
    } catch (error) {
        // Not written by `readersLabel`: no principal may read it.
        if (error instanceof SyntaxError) return [];
        throw error;
    }
}

/** Names that a readers clause stands for at a call; null: every principal; undefined: it cannot be told, as where what it points at holds no name. */
export function namesAt(
    { readers, table }: Pick<ReadersRule, "readers" | "table">,
    given: Given,
    result: Json | undefined,
    people: People,
): readonly string[] | null | undefined {
    if (readers.everyone === true) return null;
    if (readers.names !== undefined) return readers.names;
    const said = saidBy(readers, given, result);
    if (said === undefined || readers.through === undefined) return said === undefined ? undefined : someOf(said);
    const keys = (Array.isArray(said) ? said.flat() : [said]).map((key) => (table === undefined ? undefined : people(table.id, key)));
    return keys.length === 0 || keys.includes(undefined) ? undefined : keys.flatMap((names) => names ?? []);
}

/** What stands where the clause points; of the result of a server's tool also in its structured part. */
function saidBy({ arg, result: field }: ReadersForm, given: Given, result: Json | undefined): Json | undefined {
    if (arg !== undefined) return given.named(arg).map((f) => f.json);
    if (field === undefined || result === undefined) return undefined;
    const holder = [result, toldBy(result)].find((one) => isObject(one) && Object.hasOwn(one, field));
    return holder === undefined ? undefined : ((holder as { [key: string]: Json })[field] as Json);
}

function someOf(json: Json): readonly string[] | undefined {
    const words = wordsOf(json);
    return words === null || words.length === 0 || words.includes("") ? undefined : words;
}
