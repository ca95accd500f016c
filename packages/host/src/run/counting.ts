/**
 * Calls that are counted by the day (`at most 20 per day`): counted in the ledger before they are made.
 *
 * Boundary: between a run's host and what performs. Which calls count, for what and how often, is the machine's; how it is kept `ledger/uses.ts`.
 *
 * DAY1: a call that cannot be counted is not made.
 * DAY2: a call that was refused before anything of it left was not made and does not count; any other that failed may have been.
 */
import { type Effect, isUnmade, type MemoryRequest, type Outcome, type ToolRequest } from "@remit/machine";
import type { Use, Uses } from "../ledger/uses.ts";
import type { Host, Later, PerformIO } from "./host.ts";

interface Counting {
    readonly run: string;
    /** Null where no ledger is kept. */
    readonly uses: Uses | null;
}

export function counting(perform: Host["perform"], { run, uses }: Counting): Host["perform"] {
    /** How often each effect was performed here: a wrapper may perform one several times. */
    const times = new Map<string, number>();
    async function counted(effect: Effect, io: PerformIO, daily: NonNullable<ToolRequest["daily"]>): Promise<Outcome | Later> {
        if (uses === null) return refused(effect, "no ledger is kept here that could count it", "keep a ledger");
        const name = `${effect.path}#${effect.attempt ?? 1}`;
        const nth = times.get(name) ?? 0;
        times.set(name, nth + 1);
        const made: Use[] = [];
        const place = nth === 0 ? name : `${name}+${nth}`;
        const giveBack = async (): Promise<void> => {
            for (const use of made) await uses.uncount(use);
        };
        for (const { counter, most = null, rule = "" } of daily) {
            const use = { counter, run, place };
            const said = await uses.count(use, most);
            if (said.kind === "counted") made.push(use);
            else {
                await giveBack();
                return said.kind === "full" ? refused(effect, ...fullText(said.times, rule)) : refused(effect, ...unsoundText(said.until));
            }
        }
        const said = await perform(effect, io);
        if (isRefused(said)) await giveBack();
        return said;
    }
    return (effect, io) => {
        const { daily } = effect.request as unknown as Pick<ToolRequest & MemoryRequest, "daily">;
        const isCall = effect.kind === "tool" || effect.kind === "remember" || effect.kind === "recall";
        return !isCall || daily === undefined || daily.length === 0 ? perform(effect, io) : counted(effect, io, daily);
    };
}

function isRefused(said: Outcome | Later): boolean {
    return "later" in said || isUnmade(said);
}

function fullText(times: number, rule: string): readonly [why: string, hint: string] {
    return [
        `it was used ${times} times in the last 24 hours, and the rule is ${rule}`,
        "wait, or raise the number in the rule where more are right: every run may then use it as much more",
    ];
}

function unsoundText(until: number | null): readonly [why: string, hint: string] {
    const why = "its count in the ledger was changed, removed or put back without the ledger's key, so how often it was used is not known";
    return until === null
        ? [why, "restore a copy of the ledger, or run with another one (--ledger): that counts from nothing"]
        : [why, `wait until ${new Date(until).toISOString()}: then no use that was counted is within 24 hours, and the count begins anew`];
}

function refused({ request, site }: Effect, why: string, hint: string): Outcome {
    const { tool, method, memory } = request as unknown as Partial<ToolRequest & MemoryRequest>;
    const what = `${tool ?? memory}${method === undefined ? "" : `.${method}`}`;
    return { ok: false, failure: { kind: "denied", message: `${what} is counted by the day: ${why}`, hint, site } };
}
