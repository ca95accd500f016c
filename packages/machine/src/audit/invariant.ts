/**
 * Invariants that a project declares: `Fixer never Repo.write outside "src/**"`.
 *
 * Boundary: one line of text to a rule, and whether a call breaks it. Pure.
 *
 * Grammar: WHO never THING[.METHOD] [in "…", … | outside "…", …] [of NAME]. WHO is an agent's name, `user` or `*`; NAME the argument that the
 * patterns are about, the one that names the resource where it is left out.
 */
import { type Json, methodName, resourceOf } from "@remit/language";
import { wordsOf } from "../authority/given.ts";
import { matches } from "../authority/match.ts";

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
}

export function breaks(call: Call, rule: Invariant): boolean {
    if (rule.who !== "*" && rule.who !== call.principal) return false;
    if (rule.tool !== call.tool) return false;
    if (rule.method !== null && (call.method === null || methodName(call.uri, rule.method) !== methodName(call.uri, call.method)))
        return false;
    if (rule.bound === null) return true;
    const resource = rule.bound.arg === null ? resourceOf(call.uri) : null;
    const words = wordsOf(argument(call.args, rule.bound.arg ?? resource?.field ?? null));
    // What cannot be told breaks it: an invariant that holds is one that can be seen to hold.
    if (words === null || words.length === 0) return true;
    const { patterns, outside } = rule.bound;
    const kind = resource?.kind ?? "word";
    const fits = (word: string): boolean => patterns.some((pattern) => matches(kind, pattern, word, kind === "url" ? call.uri : null));
    return outside ? !words.every(fits) : words.some(fits);
}

function argument(args: readonly Json[], name: string | null): Json {
    const [first] = args;
    if (first !== null && typeof first === "object" && !Array.isArray(first) && first !== undefined) {
        if (name === null) return null;
        return Object.hasOwn(first, name) ? (first[name] as Json) : "";
    }
    return first ?? null;
}
