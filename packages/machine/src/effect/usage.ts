/**
 * What was used: told by providers and agents, added up field by field.
 *
 * Boundary: values. What a budget makes of it is `state/accounts.ts`.
 *
 * US2: what is told is hostile. It never lowers what was counted, and what is counted is a finite number from 0.
 */
import { is, number, says, shape, type Told } from "../shape/build.ts";

/** What a provider says was used. */
export const USAGE = says(
    shape(
        {},
        {
            input: number,
            cached: number,
            output: number,
            reasoning: number,
            usd: number,
            partial: says(is(true), "tokens of a part of it only: an agent that reports its last call alone"),
        },
    ),
    "tokens; usd where the price is known",
);
export type Usage = Told<typeof USAGE>;
export const USAGE_FIELDS = ["input", "cached", "output", "reasoning", "usd"] as const satisfies readonly (keyof Usage)[];

/** What is counted of a number that was told: nothing of what is no amount, and no more than stays exact, so that a sum never leaves JSON. */
export function amountTold(told: number | undefined): number {
    return told === undefined || !(told >= 0) ? 0 : Math.min(told, Number.MAX_SAFE_INTEGER);
}
export function sumOf(a: number, b: number): number {
    return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}

/** Two usages joined field by field; a field that `b` does not have stays as it is in `a`. */
function joined(a: Usage, b: Usage, join: (a: number, b: number) => number): Usage {
    const out: { -readonly [K in keyof Usage]: Usage[K] } = { ...a, ...(b.partial === true ? { partial: true } : {}) };
    for (const key of USAGE_FIELDS) if (b[key] !== undefined) out[key] = join(amountTold(a[key]), amountTold(b[key]));
    return out;
}
/** The sum of two usages; a field that neither has stays absent. */
export function addUsage(a: Usage, b: Usage | undefined): Usage {
    return b === undefined ? a : joined(a, b, sumOf);
}
/** The most that either says: of what an agent used so far, it cannot take anything back. */
export function mostUsage(a: Usage, b: Usage | undefined): Usage {
    return b === undefined ? a : joined(a, b, Math.max);
}
/** What `now` says beyond `before`; a field that `now` does not have stays absent. */
export function usageSince(before: Usage, now: Usage): Usage {
    const out: { -readonly [K in keyof Usage]: Usage[K] } = now.partial === true ? { partial: true } : {};
    for (const key of USAGE_FIELDS) if (now[key] !== undefined) out[key] = Math.max(0, amountTold(now[key]) - amountTold(before[key]));
    return out;
}
