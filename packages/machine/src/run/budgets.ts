/**
 * Budgets of a run besides steps: tokens, cost, calls, turns.
 *
 * B1: an effect is refused before it is asked for where its meter is used up; what an outcome used counts when the outcome is applied.
 * B2: a failure names the meter, the limit and the path of the spender.
 */
import { amountOf } from "@remit/language";
import type { EffectKind, Usage } from "../effect.ts";
import { Fail } from "../failure.ts";
import type { Limits } from "./options.ts";

const METERS = [
    { meter: "tokens", kind: "limit.tokens", unit: "token" },
    { meter: "usd", kind: "limit.cost", unit: "US dollar" },
    { meter: "calls", kind: "limit.calls", unit: "call" },
    { meter: "turns", kind: "limit.turns", unit: "model turn" },
] as const;

type Meter = (typeof METERS)[number]["meter"];

export interface Exceeded {
    readonly meter: Meter;
    readonly limit: number;
    readonly used: number;
    readonly fail: Fail;
}

export class Budgets {
    readonly used: Record<Meter, number> = { tokens: 0, usd: 0, calls: 0, turns: 0 };
    private readonly limits: Limits;

    constructor(limits: Limits) {
        this.limits = limits;
    }

    /** Counts an effect about to be asked for; gives what stands against it. */
    reserve(kind: EffectKind, path: string): Exceeded | null {
        for (const row of METERS) {
            const limit = this.limits[row.meter];
            if (limit === undefined) continue;
            const counts = row.meter === "calls" ? kind !== "input" && kind !== "ask" : kind === "model";
            if (counts && this.used[row.meter] >= limit) return this.exceeded(row, limit, path);
        }
        if (kind !== "input" && kind !== "ask") this.used.calls++;
        if (kind === "model") this.used.turns++;
        return null;
    }

    /** Counts what an outcome says was used; gives the meter that is overdrawn by it. */
    settle(usage: Usage | undefined, path: string): Exceeded | null {
        if (usage === undefined) return null;
        this.used.tokens += amount(usage.input) + amount(usage.output);
        this.used.usd += amount(usage.usd);
        for (const row of METERS) {
            const limit = this.limits[row.meter];
            if (limit !== undefined && (row.meter === "tokens" || row.meter === "usd") && this.used[row.meter] > limit)
                return this.exceeded(row, limit, path);
        }
        return null;
    }

    private exceeded(row: (typeof METERS)[number], limit: number, path: string): Exceeded {
        const used = this.used[row.meter];
        const message = `the run's budget of ${amountOf(limit, row.unit)} is used up (${used}), at ${path}`;
        const fail = new Fail(row.kind, message, { whole: true, detail: { meter: row.meter, limit, used, spender: path } });
        return { meter: row.meter, limit, used, fail };
    }
}

function amount(n: number | undefined): number {
    return n === undefined || !Number.isFinite(n) || n < 0 ? 0 : n;
}
