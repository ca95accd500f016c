/**
 * What an agent says that it used.
 *
 * Boundary: the forms that agents report tokens in, to one. No report is null, never zero. Source: Agent Client Protocol, unstable `usage` of the
 * answer to a prompt; qwen-code puts it into `_meta.usage` of a chunk, gemini-cli into `_meta.quota.token_count` of the answer.
 *
 * US3: tokens are whole numbers and no count leaves the range in which numbers are exact, whatever was said. Of what was said of a turn, the most
 *     counts: an agent that says less later takes nothing back.
 * US1: where the provider counts cached tokens apart from the input, `input` is the sum of them (the total tells).
 */
import type { Usage } from "@remit/machine";
import type { Given } from "./given.ts";

export interface Tokens {
    readonly input: number;
    readonly output: number;
    readonly cached: number;
    readonly reasoning: number;
    readonly total: number;
}

const MOST = Number.MAX_SAFE_INTEGER;
const plus = (...counts: readonly number[]): number => counts.reduce((sum, count) => Math.min(sum + count, MOST), 0);

function countOf(given: Given, names: readonly string[]): number | null {
    for (const name of names) {
        const value = given[name];
        if (typeof value === "number" && value >= 0) return Math.ceil(Math.min(value, MOST));
    }
    return null;
}

export function tokensOf(given: Given): Tokens | null {
    const said = {
        input: countOf(given, ["inputTokens", "promptTokens", "input_tokens"]),
        output: countOf(given, ["outputTokens", "completionTokens", "output_tokens"]),
        total: countOf(given, ["totalTokens"]),
        read: countOf(given, ["cachedReadTokens", "cachedTokens"]) ?? 0,
        written: countOf(given, ["cachedWriteTokens"]) ?? 0,
        thought: countOf(given, ["thoughtTokens", "thoughtsTokens"]) ?? 0,
    };
    if (said.input === null && said.output === null && said.total === null) return null;
    const [input, output] = [said.input ?? 0, said.output ?? 0];
    const cached = said.read + said.written;
    const apart =
        said.total !== null &&
        cached > 0 &&
        (said.total === input + output + cached || said.total === input + output + cached + said.thought);
    const whole = apart ? plus(input, cached) : input;
    return { input: whole, output, cached: said.read, reasoning: said.thought, total: Math.max(said.total ?? 0, plus(whole, output)) };
}

export function sumOfTokens(a: Tokens | null, b: Tokens): Tokens {
    if (a === null) return b;
    return {
        input: plus(a.input, b.input),
        output: plus(a.output, b.output),
        cached: plus(a.cached, b.cached),
        reasoning: plus(a.reasoning, b.reasoning),
        total: plus(a.total, b.total),
    };
}

/** Of two reports of one turn the one that says more. */
export function mostOfTokens(a: Tokens | null, b: Tokens | null): Tokens | null {
    return a === null || (b !== null && b.total > a.total) ? b : a;
}

/** Sum of the session in US dollars, where it is given in them. */
export function costOf(given: unknown): number | undefined {
    if (given === null || typeof given !== "object") return undefined;
    const { amount, currency } = given as Given;
    return typeof amount === "number" && amount >= 0 && currency === "USD" ? Math.min(amount, MOST) : undefined;
}

export function usageOf(tokens: Tokens | null, usd: number | undefined): Usage | undefined {
    if (tokens === null && usd === undefined) return undefined;
    return {
        ...(tokens === null ? {} : { input: tokens.input, output: tokens.output }),
        ...(tokens === null || tokens.cached === 0 ? {} : { cached: tokens.cached }),
        ...(tokens === null || tokens.reasoning === 0 ? {} : { reasoning: tokens.reasoning }),
        ...(usd === undefined ? {} : { usd }),
    };
}
