/**
 * What was used: told by providers and agents, added up field by field.
 *
 * Boundary: values. What a budget makes of it is `state/accounts.ts`.
 */
import { number, says, shape, type Told } from "../shape/build.ts";

/** What a provider says was used. */
export const USAGE = says(
    shape({}, { input: number, cached: number, output: number, reasoning: number, usd: number }),
    "tokens; usd where the price is known",
);
export type Usage = Told<typeof USAGE>;
export const USAGE_FIELDS = ["input", "cached", "output", "reasoning", "usd"] as const satisfies readonly (keyof Usage)[];

/** The sum of two usages, field by field; a field that neither has stays absent. */
export function addUsage(a: Usage, b: Usage | undefined): Usage {
    if (b === undefined) return a;
    const out: { -readonly [K in keyof Usage]: Usage[K] } = { ...a };
    for (const key of USAGE_FIELDS) if (b[key] !== undefined) out[key] = (a[key] ?? 0) + b[key];
    return out;
}
/** What `now` says beyond `before`, field by field; a field that `now` does not have stays absent. */
export function usageSince(before: Usage, now: Usage): Usage {
    const out: { -readonly [K in keyof Usage]: Usage[K] } = {};
    for (const key of USAGE_FIELDS) if (now[key] !== undefined) out[key] = Math.max(0, now[key] - (before[key] ?? 0));
    return out;
}
