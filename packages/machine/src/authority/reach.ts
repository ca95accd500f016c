/**
 * Where a use may lead: origins that a project, a session or the owner of a server lists for everything that reaches out.
 *
 * Boundary: pure; from the arguments of a use to the first address in them that no list has. Deciding is `decide.ts`.
 *
 * WHI1: every list has to have the origin. What cannot be told for certain to be one of them is outside.
 * WHI2: of a tool that the list names (a browser's, say) nothing else is known, so each text among its arguments that is an address counts, and each
 *     argument that is called one has to be one.
 */
import { isObject, type Json, type ReachRule, resourceOf } from "@remit/language";
import type { Use } from "./decide.ts";
import { argumentText } from "./given.ts";
import { matchesAny, placeOf } from "./match.ts";

export interface Outside {
    /** Name of the argument, or its place from 1; empty where the tool itself leads there. */
    readonly arg: string;
    /** What stands there, cut. */
    readonly value: string;
    readonly origins: readonly string[];
    /** Who said so, in words. */
    readonly by: string;
}

const MAX_VALUE = 120;
/** What an argument is called that holds an address. */
const NAMES: ReadonlySet<string> = new Set(["url", "uri", "href", "link"]);
/** What leads somewhere, or runs something: also `https:a.example`, which browsers read as `https://a.example`. */
const LEADS =
    /^(?:[a-z][a-z0-9+.-]*:[\\/]{2}|[\\/]{2}|(?:https?|wss?|ftp):(?=\S)|(?:javascript|data|blob|file|about|view-source|vbscript|mailto|tel|sms|intent):)/i;

/** The list that a use breaks, and how; null where none is broken. */
export function outsideOf(
    use: Pick<Use, "uri" | "given">,
    rules: readonly ReachRule[],
): { readonly rule: ReachRule; readonly outside: Outside } | null {
    for (const rule of rules) {
        const found =
            resourceOf(use.uri)?.kind === "url" ? ofResource(use, rule) : rule.tools.includes(use.uri) ? ofArguments(use, rule) : null;
        if (found === null) continue;
        const [arg, value] = found;
        const shown = value.length <= MAX_VALUE ? value : `${value.slice(0, MAX_VALUE)}…`;
        return { rule, outside: { arg, value: shown, origins: rule.origins, by: rule.by } };
    }
    return null;
}

/** Patterns of everything at these origins. */
export function patternsOf({ origins }: ReachRule): string[] {
    return origins.map((origin) => `${origin}/**`);
}

function isWithin(rule: ReachRule, text: string, base: string | null): boolean {
    return matchesAny("url", patternsOf(rule), text, base, false);
}

type Found = readonly [arg: string, value: string];

function ofResource({ uri, given }: Pick<Use, "uri" | "given">, rule: ReachRule): Found | null {
    const field = resourceOf(uri)?.field ?? "1";
    const named = given.named(field);
    if (named.length === 0) return isWithin(rule, uri, null) ? null : ["", uri];
    const bad = named.map(({ json }) => json).find((json) => typeof json !== "string" || !isWithin(rule, json, uri));
    return bad === undefined ? null : [field, text(bad)];
}

function ofArguments({ given }: Pick<Use, "given">, rule: ReachRule): Found | null {
    for (const name of given.names)
        for (const { json } of given.named(name)) {
            const bad = badIn(json ?? null, name, rule);
            if (bad !== null) return [name, bad];
        }
    return null;
}

function badIn(json: Json, name: string, rule: ReachRule): string | null {
    if (Array.isArray(json)) return json.map((one) => badIn(one, name, rule)).find((one) => one !== null) ?? null;
    if (isObject(json))
        return (
            Object.entries(json)
                .map(([key, one]) => badIn(one, key, rule))
                .find((one) => one !== null) ?? null
        );
    if (typeof json !== "string") return null;
    // Readers of URLs leave out blanks and control characters around them, and tabs and line ends inside.
    const read = json
        .replace(/[\t\n\r]/g, "")
        .replace(/^[\p{Cc}\s]+/u, "")
        .trimEnd();
    if (!LEADS.test(read) && !NAMES.has(name.toLowerCase())) return null;
    return placeOf(read, null) !== null && isWithin(rule, read, null) ? null : json;
}

function text(json: Json | undefined): string {
    return typeof json === "string" ? json : JSON.stringify(json ?? null);
}

/** What follows the name of the use. */
export function outsideText({ arg, value, origins, by }: Outside): string {
    const what = arg === "" ? value : `${JSON.stringify(value)} in ${argumentText(arg)}`;
    return `would reach ${what}, and ${by} allows only ${origins.join(", ") || "nothing"}`;
}

/** The one thing to do. Null: what stands there is no address, or was cut. */
export function outsideRemedy({ value, by }: Outside): string | null {
    const origin = /^(https?:\/\/[a-z0-9.-]+(?::[0-9]+)?)(?=[/?#]|$)/i.exec(value)?.[1];
    return origin === undefined
        ? null
        : `use an address of the list, or add \`${origin.toLowerCase()}\` to what ${by} allows: every use of the program may then reach all of it`;
}

/** As an event holds it; null where it holds none. */
export function outsideIn(data: Json | undefined): Outside | null {
    if (data === undefined || !isObject(data)) return null;
    const { arg, value, origins, by } = data;
    if (typeof arg !== "string" || typeof value !== "string" || typeof by !== "string" || !Array.isArray(origins)) return null;
    return { arg, value, origins: origins.map(String), by };
}
