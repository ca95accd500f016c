/**
 * What tokens cost, in USD per million, by the beginning of a model's name.
 *
 * Boundary: list prices as published at `PRICES_AS_OF`; a configuration may replace them. A model that is not here has no price, and its cost
 * is then not known rather than guessed.
 */
import type { Program } from "@remit/language";
import type { Prices as Reckoning, Usage } from "@remit/machine";
import { parseModelUri } from "./uri.ts";

export const PRICES_AS_OF = "2025-10-01";

export interface Price {
    readonly input: number;
    readonly output: number;
    /** Input that came from the provider's cache; `input` where absent. */
    readonly cached?: number;
}

export type Prices = { readonly [prefix: string]: Price };

export const PRICES: Prices = {
    "claude-opus-4-5": { input: 5, output: 25, cached: 0.5 },
    "claude-opus-4": { input: 15, output: 75, cached: 1.5 },
    "claude-sonnet-4": { input: 3, output: 15, cached: 0.3 },
    "claude-3-7-sonnet": { input: 3, output: 15, cached: 0.3 },
    "claude-haiku-4": { input: 1, output: 5, cached: 0.1 },
    "claude-3-5-haiku": { input: 0.8, output: 4, cached: 0.08 },
    "gpt-5": { input: 1.25, output: 10, cached: 0.125 },
    "gpt-5-mini": { input: 0.25, output: 2, cached: 0.025 },
    "gpt-5-nano": { input: 0.05, output: 0.4, cached: 0.005 },
    "gpt-4.1": { input: 2, output: 8, cached: 0.5 },
    "gpt-4.1-mini": { input: 0.4, output: 1.6, cached: 0.1 },
    "gpt-4.1-nano": { input: 0.1, output: 0.4, cached: 0.025 },
    "gpt-4o": { input: 2.5, output: 10, cached: 1.25 },
    "gpt-4o-mini": { input: 0.15, output: 0.6, cached: 0.075 },
    o3: { input: 2, output: 8, cached: 0.5 },
    "o4-mini": { input: 1.1, output: 4.4, cached: 0.275 },
    "gemini-2.5-pro": { input: 1.25, output: 10, cached: 0.31 },
    "gemini-2.5-flash": { input: 0.3, output: 2.5, cached: 0.075 },
    "gemini-2.5-flash-lite": { input: 0.1, output: 0.4, cached: 0.025 },
};

/** The price of a model: the longest beginning of its name that is known. A longer name must go on after a `-`, `.`, `:` or `@`. */
export function priceOf(model: string, prices: Prices): Price | null {
    let best: string | null = null;
    for (const prefix of Object.keys(prices)) {
        const fits = model === prefix || (model.startsWith(prefix) && "-.:@".includes(model[prefix.length] as string));
        if (fits && (best === null || prefix.length > best.length)) best = prefix;
    }
    return best === null ? null : (prices[best] as Price);
}

/** The usage with its cost, where the price is known. Whole micro-dollars, so that sums do not drift. */
export function priced(usage: Usage, model: string, prices: Prices): Usage {
    const price = priceOf(model, prices);
    if (price === null || usage.usd !== undefined) return usage;
    const cached = Math.min(usage.cached ?? 0, usage.input ?? 0);
    const usd = ((usage.input ?? 0) - cached) * price.input + cached * (price.cached ?? price.input) + (usage.output ?? 0) * price.output;
    return { ...usage, usd: Math.round(usd) / 1e6 };
}

/** What to reserve by for the models of a program, by `NAME URI` of their imports; of models that cost nothing, and of those without a price, nothing. */
export function reckoning(
    program: Program,
    about: {
        readonly prices: Prices;
        /** Models of the configuration, by the name of the import they answer for. */
        readonly named: { readonly [name: string]: { readonly uri: string } };
        /** The model that answers for all. */
        readonly instead: string | undefined;
    },
): Reckoning {
    const made: { [model: string]: { readonly input: number; readonly output: number } } = {};
    for (const { what, name, uri } of program.files.flatMap((file) => file.imports)) {
        if (what !== "llm") continue;
        const own = Object.hasOwn(about.named, name) ? about.named[name]?.uri : undefined;
        const parsed = parseModelUri(about.instead ?? own ?? uri);
        const price = parsed.ok && parsed.uri.kind === "provider" ? priceOf(parsed.uri.model, { ...PRICES, ...about.prices }) : null;
        if (price !== null) made[`${name} ${uri}`] = { input: price.input, output: price.output };
    }
    return made;
}
