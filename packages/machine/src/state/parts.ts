/**
 * The budget of a part of the program that runs elsewhere: what it may use is set aside while it runs, and what it did not use comes back at its end.
 *
 * Boundary: between the request of the effect `run` and the accounts.
 *
 * PBU1: no bound is used twice: where tokens or dollars are bounded, a part waits for the turns and parts in flight (AC9), may use all that is left
 *     then, and turns asked for meanwhile wait for it. One that reaches no model may use none of them: it waits for nothing, and nothing for it.
 */
import type { Json } from "@remit/language";
import type { Effect } from "../effect/effect.ts";
import type { RunRequest } from "../effect/elsewhere.ts";
import type { Account, Accounts, Exceeded, Spender } from "./accounts.ts";

const MICRO = 1e6;
const METERS = ["tokens", "usd", "calls", "turns", "steps", "bytes"] as const;

/** What is left of each meter that is bounded. */
export function limitsLeft(accounts: Pick<Accounts, "leftOf">, account: number): RunRequest["limits"] {
    const left = METERS.map((meter) => [meter, accounts.leftOf(account, meter)] as const);
    return Object.fromEntries(left.filter(([, amount]) => Number.isFinite(amount)));
}

export type PartReserved =
    | { readonly effect: Effect; readonly held: readonly number[] }
    | { readonly waits: number }
    | { readonly over: Exceeded };

/** `blocked`: accounts that earlier effects wait for; `asks`: the part can reach a model or an agent outside. */
export function reservePart(
    accounts: Accounts,
    effect: Effect,
    account: number,
    { spender, blocked, asks }: { readonly spender: Spender; readonly blocked: ReadonlySet<number>; readonly asks: boolean },
): PartReserved {
    if (asks)
        for (const a of around(accounts, account)) {
            const bounds = a.limits.tokens !== undefined || a.limits.usd !== undefined;
            if (bounds && (a.reserved > 0 || a.reservedUsd > 0 || blocked.has(a.token))) return { waits: a.token };
        }
    const left = limitsLeft(accounts, account);
    const limits = asks
        ? left
        : { ...left, ...(left.tokens === undefined ? {} : { tokens: 0 }), ...(left.usd === undefined ? {} : { usd: 0 }) };
    const got = accounts.reserve("run", effect.request, account, spender, blocked);
    if (!("held" in got)) return got;
    const held: number[] = [];
    for (const a of around(accounts, account)) {
        const tokens = a.limits.tokens === undefined ? 0 : (limits.tokens ?? 0);
        const usd = a.limits.usd === undefined ? 0 : Math.floor((limits.usd ?? 0) * MICRO);
        a.reserved += tokens;
        a.reservedUsd += usd;
        held.push(tokens, usd);
    }
    const request = { ...(effect.request as { readonly [key: string]: Json }), limits };
    return { effect: { ...effect, request }, held };
}

/** Innermost first. */
function* around(accounts: Accounts, token: number): Generator<Account> {
    for (let a: Account | null = accounts.at(token); a !== null; a = a.parent) yield a;
}
