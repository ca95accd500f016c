/**
 * What an agent says that it used.
 *
 * Boundary: the forms that agents report tokens in, to one. No report is null, never zero. Source: Agent Client Protocol, unstable `usage` of the
 * answer to a prompt; qwen-code puts it into `_meta.usage` of a chunk, gemini-cli into `_meta.quota.token_count` of the answer.
 *
 * US1: where the provider counts cached tokens apart from the input, `input` is the sum of them (the total tells).
 */
import type { Usage } from "@remit/machine";

export interface Tokens {
    readonly input: number;
    readonly output: number;
    readonly cached: number;
    readonly reasoning: number;
    readonly total: number;
}

interface Given {
    readonly [key: string]: unknown;
}

function countOf(given: Given, names: readonly string[]): number | null {
    for (const name of names) {
        const value = given[name];
        if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
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
    const whole = apart ? input + cached : input;
    return { input: whole, output, cached: said.read, reasoning: said.thought, total: Math.max(said.total ?? 0, whole + output) };
}

/** Sum of the session in US dollars, where it is given in them. */
export function costOf(given: unknown): number | undefined {
    if (given === null || typeof given !== "object") return undefined;
    const { amount, currency } = given as Given;
    return typeof amount === "number" && Number.isFinite(amount) && amount >= 0 && currency === "USD" ? amount : undefined;
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
