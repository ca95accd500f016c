/**
 * Invariants that a project declares: `Fixer never Repo.write outside "src/**"`.
 *
 * Boundary: one line of text to a rule, and whether a call breaks it. Pure.
 *
 * Grammar: WHO never THING[.METHOD] [in "…", … | outside "…", …] [of NAME]. WHO is an agent's name, `user` or `*`; NAME the argument that the
 * patterns are about, the one that names the resource where it is left out.
 *
 * IV1: a call is read as the gate reads it: another import of the same thing, a server's generic `call`, a program with its arguments and another
 *     spelling of a path, a URL or a command are no way around.
 * IV2: what cannot be told breaks an invariant: one that holds is one that can be seen to hold.
 */
import { importsByThing, type Json, methodName, type Program } from "@remit/language";
import { holds, inItsFolder } from "../authority/within.ts";
import { aliasOfJson, jsonGiven } from "../authority/given.ts";
import { bounds } from "../authority/policy.ts";

export interface Invariant {
    readonly text: string;
    readonly who: string;
    readonly tool: string;
    /** Null: any. */
    readonly method: string | null;
    readonly bound: { readonly outside: boolean; readonly patterns: readonly string[]; readonly arg: string | null } | null;
}

const LINE =
    /^\s*(\*|[A-Za-z_]\w*)\s+never\s+([A-Za-z_]\w*)(?:\.([\w-]+))?(?:\s+(in|outside)\s+("[^"]*"(?:\s*,\s*"[^"]*")*)(?:\s+of\s+([\w-]+))?)?\s*$/;

/** Null where the line is none. */
export function parseInvariant(text: string): Invariant | null {
    const found = LINE.exec(text);
    if (found === null) return null;
    const [, who = "", tool = "", method, how, list, arg] = found;
    const patterns = list === undefined ? [] : [...list.matchAll(/"([^"]*)"/g)].map((one) => one[1] as string);
    return {
        text: text.trim(),
        who,
        tool,
        method: method ?? null,
        bound: how === undefined ? null : { outside: how === "outside", patterns, arg: arg ?? null },
    };
}

/** A call as the ledger has it. */
export interface Call {
    /** As shown: `Fixer`, `user`. */
    readonly principal: string;
    readonly tool: string;
    readonly uri: string;
    readonly method: string | null;
    readonly args: readonly Json[];
    /** Imports of the same thing under the names that the program has for it. */
    readonly same: readonly Named[];
}

export interface Named {
    readonly name: string;
    readonly uri: string;
}

/** The imports that lead where an import leads, itself among them. */
export function sameImports(program: Program): (what: "tool" | "memory", name: string, uri: string) => readonly Named[] {
    const known = new Map<string, Named[]>();
    for (const imports of importsByThing(program).values()) {
        const all = imports.map(({ form }): Named => ({ name: form.name, uri: form.uri }));
        for (const { form } of imports) {
            const place = JSON.stringify([form.what, form.name, form.uri]);
            known.set(place, [...(known.get(place) ?? []), ...all]);
        }
    }
    return (what, name, uri) => known.get(JSON.stringify([what, name, uri])) ?? [];
}

/** The method and the arguments that a call comes to, however it is spelled. */
export function meant({ uri, method, args }: Pick<Call, "uri" | "method" | "args">): Pick<Call, "method" | "args"> {
    const alias = method === null || args.length !== 1 ? null : aliasOfJson(uri, method, args[0] as Json);
    return alias ?? { method, args };
}

export function breaks(call: Call, rule: Invariant): boolean {
    if (rule.who !== "*" && rule.who !== call.principal) return false;
    const { method, args } = meant(call);
    if (rule.method !== null && (method === null || methodName(call.uri, rule.method) !== methodName(call.uri, method))) return false;
    const named = [{ name: call.tool, uri: call.uri }, ...call.same].filter(({ name }) => name === rule.tool);
    return named.some(({ uri }) => rule.bound === null || isAcross(rule.bound, { uri: call.uri, given: jsonGiven(args, 0) }, uri));
}

type Limit = NonNullable<Invariant["bound"]>;

/** `uri`: of the import that the rule names, from which relative URLs of its patterns start. */
function isAcross({ outside, patterns, arg }: Limit, use: Parameters<typeof holds>[1], uri: string): boolean {
    const bound = bounds({ in: [arg === null ? { patterns } : { arg, patterns }] }, uri);
    // An argument that is not there is in nothing.
    if (arg !== null && use.given.named(arg).length === 0) return outside;
    if (!outside) return bound.every((one) => holds(one, use, true));
    return !bound.every((one) => holds(one, use, false)) || !inItsFolder({ bounds: bound }, use);
}
