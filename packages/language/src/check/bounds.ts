/**
 * Patterns that nothing can match, and bounds on what cannot be told.
 */
import { rangeOf } from "../authority/range.ts";
import { resourceOf, schemeOf } from "../authority/thing.ts";
import type { Bound } from "../syntax/tree.ts";
import type { Binding, Report } from "../scope/model.ts";

/** Ranges of numbers, which name their argument. */
export function checkRanges(report: Report, { patterns }: Bound): void {
    for (const { value, range } of patterns)
        if (rangeOf(value) === null)
            report("REMIT_BOUND", range, "no number is in this range", { hint: "write the lower end first: `0..500`" });
}

export function checkBound(report: Report, binding: Binding, bound: Bound): void {
    const uri = binding.kind === "tool" ? (binding.import?.uri.value ?? "") : "";
    const kind = resourceOf(uri)?.kind;
    if (kind === undefined) {
        report("REMIT_BOUND", bound.range, `which argument of '${binding.name}' this bounds cannot be told`, {
            hint: 'name it: `in to: "*@example.com"`',
        });
        return;
    }
    for (const pattern of bound.patterns) {
        const why = kind === "path" ? pathNever(pattern.value) : schemeOf(uri).startsWith("http") ? urlNever(pattern.value, uri) : null;
        if (why !== null) report("REMIT_BOUND", pattern.range, why);
    }
}

/** Why no path within a folder matches. */
function pathNever(pattern: string): string | null {
    if (pattern.startsWith("/")) return "paths are relative to the tool's folder: this one never matches";
    if (pattern.includes("\\") || pattern.includes("\0")) return "paths have `/` between their parts: this one never matches";
    let depth = 0;
    for (const part of pattern.split("/")) {
        if (part === "..") depth--;
        else if (part !== "" && part !== ".") depth++;
        if (depth < 0) return "this leads out of the tool's folder, and never matches";
    }
    return null;
}

function urlNever(pattern: string, uri: string): string | null {
    if (/[\s\\]/.test(pattern)) return "no URL has white space or `\\` in it: this one never matches";
    const own = origin(uri);
    const other = origin(pattern);
    if (other === null) return /^[a-z][a-z0-9+.-]*:/i.test(pattern) ? "the tool sends nothing to such a URL: this one never matches" : null;
    if (other.includes("*")) return "a pattern names the whole origin, without `*`: this one never matches";
    return own === null || own === other ? null : `the tool sends nothing outside ${own}: this one never matches`;
}

function origin(uri: string): string | null {
    const found = /^(https?):\/\/([^/?#]*)/i.exec(uri);
    if (found === null) return null;
    const scheme = (found[1] as string).toLowerCase();
    return `${scheme}://${(found[2] as string).toLowerCase().replace(scheme === "https" ? /:443$/ : /:80$/, "")}`;
}
