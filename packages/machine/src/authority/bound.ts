/**
 * The bound of a remit's row that a refused use breaks: its argument, what stands there, and what may stand there.
 *
 * Boundary: pure; words for a refusal. Whether a row fits is `decide.ts`.
 */
import { isObject, type Json, patternsText, resourceOf } from "@remit/language";
import type { Use } from "./decide.ts";
import { argumentText } from "./given.ts";
import type { Permit } from "./policy.ts";
import { widerBound } from "./remedy.ts";
import { holds } from "./within.ts";

export interface BrokenBound {
    /** Name of the argument, or its place from 1. Empty for a row without bounds. */
    readonly arg: string;
    /** What stands there, as JSON text; null where the call does not have the argument. */
    readonly value: string | null;
    readonly patterns: readonly string[];
    /** The patterns are ranges of numbers. */
    readonly numbers?: boolean;
    /** The row names the argument. */
    readonly named?: true;
    /** The row says `never`: what is inside of the bound is refused. */
    readonly never?: true;
}

/** More of a value is cut: a message names it and does not print it. */
const MAX_VALUE = 120;

/** Null where the row breaks for a reason that is not one of its bounds. */
export function brokenBound({ gate, bounds }: Permit, use: Pick<Use, "uri" | "given">): BrokenBound | null {
    if (gate === "never" && bounds.length === 0) return { arg: "", value: null, patterns: [], never: true };
    const broken = gate === "never" ? bounds[0] : bounds.find((bound) => !holds(bound, use, false));
    if (broken === undefined) return null;
    const arg = broken.arg ?? resourceOf(use.uri)?.field ?? "1";
    const found = use.given.named(arg).map(({ json }) => json);
    return {
        arg,
        value: found.length === 0 ? null : shortText(found.length === 1 ? (found[0] as Json) : found),
        patterns: broken.patterns,
        ...(broken.numbers === true ? { numbers: true as const } : {}),
        ...(broken.arg === null ? {} : { named: true as const }),
        ...(gate === "never" ? { never: true as const } : {}),
    };
}

function shortText(json: Json): string {
    const text = JSON.stringify(json);
    return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE)}…`;
}

/** What follows `Fixer uses Repo.write`. */
export function boundText({ arg, value, patterns, numbers, never }: BrokenBound): string {
    if (arg === "") return ", which its remit forbids";
    const what = `${value === null ? "without" : "with"} ${argumentText(arg)}${value === null ? "" : ` ${value}`}`;
    const bound = `in ${patternsText({ patterns, numbers })}`;
    return ` ${what}, which its remit ${never === true ? `forbids ${bound}` : `allows only ${bound}`}`;
}

/** The one thing to do. */
export function boundRemedy({ arg, value, patterns, numbers, named, never }: BrokenBound, who: string, what: string): string {
    const asked = `write \`ask\` in place of \`never\`: a person is then asked about each such use of ${what}`;
    if (arg === "") return asked;
    const bound = patternsText({ patterns, numbers });
    if (never === true) return `use ${argumentText(arg)} outside of ${bound}, or ${asked}`;
    const wider = widerBound({ patterns: bound, value, numbers: numbers === true, name: named === true ? `${arg}: ` : "" });
    if (value === null) return `give ${argumentText(arg)}, inside of ${bound}: no bound fits a call without it`;
    const inside = `use ${argumentText(arg)} inside of ${bound}`;
    return wider === null
        ? `${inside}, or widen the bound in the remit of ${who}`
        : `${inside}, or ${wider}: ${who} may then use it there, too`;
}

/** As an event holds it; null where it holds none. */
export function boundIn(data: Json | undefined): BrokenBound | null {
    if (data === undefined || !isObject(data)) return null;
    const { arg, value, patterns, numbers, named, never } = data;
    if (typeof arg !== "string" || !Array.isArray(patterns) || (value !== null && typeof value !== "string")) return null;
    return {
        arg,
        value,
        patterns: patterns.map(String),
        ...(numbers === true ? { numbers } : {}),
        ...(named === true ? { named } : {}),
        ...(never === true ? { never } : {}),
    };
}
