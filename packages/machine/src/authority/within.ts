/**
 * Whether a use lies within a bound.
 *
 * Boundary: pure; a bound and what a use is given. Which bounds there are, and what follows, is `decide.ts` and `counts.ts`.
 */
import { isOnResource, type Json, rangeOf, resourceOf } from "@remit/language";
import type { Use } from "./decide.ts";
import { wordsOf } from "./given.ts";
import { commandLine, matchesAny, normalisePath, placeText } from "./match.ts";
import type { Bound, Permit } from "./policy.ts";

/** A bound on commands means them in the tool's own folder (DC6). */
export function inItsFolder(row: Pick<Permit, "bounds">, use: Pick<Use, "uri" | "given">, named = resourceOf(use.uri)): boolean {
    if (named?.kind !== "command" || row.bounds.some(({ arg }) => arg === FOLDER)) return true;
    if (!row.bounds.some((bound) => isOnResource(bound, named))) return true;
    return use.given.named(FOLDER).every(({ json }) => json === null || (typeof json === "string" && normalisePath(json) === ""));
}

/** The argument of a command that says where it runs. */
const FOLDER = "cwd";

/** A program and its arguments are one command. */
function commandOf(said: readonly string[] | null, use: Pick<Use, "given">, unsure: boolean): readonly string[] | null {
    const more = use.given.named("args");
    if (said === null || more.length === 0) return said;
    const args = wordsOf(more.map((f) => f.json));
    const line = args === null ? null : commandLine(said, args, unsure);
    return line === null ? null : [line];
}

/** Whether a use lies within a bound; `unsure` where that cannot be told. `named`: what the argument called "the resource" of the tool is. */
export function holds(bound: Bound, use: Pick<Use, "uri" | "given">, unsure: boolean, named = resourceOf(use.uri)): boolean {
    if (bound.numbers === true) return inRanges(bound, use, unsure);
    const resource = isOnResource(bound, named) ? named : null;
    const kind = resource?.kind ?? "word";
    const base = kind === "url" ? use.uri : null;
    const found = use.given.named(bound.arg ?? resource?.field ?? "1");
    // An argument that is not there names nothing outside; the root for a path.
    const only = found.length === 1 ? found[0]?.json : undefined;
    // As nearly all are, and nothing more to it.
    if (typeof only === "string" && kind !== "command") return matchesAny(kind, bound.patterns, only, base, unsure);
    const said = only !== undefined ? wordsOf(only) : wordsOf(found.map((f) => f.json));
    const words = found.length === 0 && kind === "path" ? [""] : kind === "command" ? commandOf(said, use, unsure) : said;
    if (words === null || words.length === 0) return unsure;
    for (const word of words) {
        // What is unsure is within as soon as one word is; else all of them have to be.
        if (matchesAny(kind, bound.patterns, word, base, unsure) === unsure) return unsure;
    }
    return !unsure;
}

/** What an argument names, for uses that are told apart by it: of a path or URL where it leads, however it is written. */
export function namedBy(uri: string, arg: string, json: Json): Json {
    const named = resourceOf(uri);
    // By place it is the first.
    if (named === null || typeof json !== "string" || (arg !== "1" && !isOnResource({ arg }, named))) return json;
    const same = named.kind === "path" ? normalisePath(json) : named.kind === "url" ? placeText(json, uri) : null;
    return same ?? json;
}

/** A JSON number within one of the ranges. What is absent, or is anything else, is outside; of what is forbidden it is inside. */
function inRanges({ arg, patterns }: Bound, use: Pick<Use, "given">, unsure: boolean): boolean {
    const found = use.given.named(arg ?? "1");
    if (found.length === 0) return unsure;
    const ranges = patterns.map(rangeOf);
    return found.every(({ json }) => {
        if (typeof json !== "number") return unsure;
        return ranges.some((one) => (one === null ? unsure : one.low <= json && json <= one.high));
    });
}
