/**
 * Accounts in a run: opened for calls and regions, closed on every way out, and what follows when one is used up.
 *
 * Boundary: between frames and `accounts.ts`, which counts.
 *
 * SP7: an account is closed exactly where its call or region ends, however it ends; what its time waits for is withdrawn with it.
 * SP8: the end of an account's time ends the region at once: fibers inside it are gone, what they asked for is withdrawn, and the failure is
 *     that of the region.
 */
import { isObject, type Json, type Site, type SpendForm } from "@remit/language";
import type { Outcome } from "../effect/effect.ts";
import { addUsage, type Usage, usageSince } from "../effect/usage.ts";
import type { Fail } from "../effect/failure.ts";
import type { Region, SpendDetail } from "../compile/instructions.ts";
import { type Exceeded, METER_NAMES, type Account, type AccountDoc, type Used, type Spender } from "./accounts.ts";
import { notedIn } from "../ledger/notes.ts";
import type { Machine } from "../run/machine.ts";
import { agentEnded } from "./events.ts";
import { pathOf, type Fiber, type Frame, type Pending } from "./fiber.ts";
import type { Ops } from "./ops.ts";
import { lifted, regionsAt } from "./delegations.ts";

/** The account that pays where a frame stands at `pc`. */
export function accountAt(frame: Frame, pc = frame.pc): number {
    for (const region of regionsAt(frame, pc)) {
        const token = frame.locals[region.slot];
        if (region.kind === "spend" && typeof token === "number") return token;
    }
    return frame.account;
}

/** What all remits of a principal allow one call; null where they say nothing. */
export function spendOf(m: Pick<Ops, "authority">, principal: string): SpendForm | null {
    let made: { -readonly [K in keyof SpendForm]: number } | null = null;
    for (const { spend } of m.authority.remitsOf(principal)) {
        if (spend === null) continue;
        made ??= {};
        for (const meter of METER_NAMES) {
            const limit = spend[meter];
            if (limit !== undefined) made[meter] = Math.min(limit, made[meter] ?? limit);
        }
    }
    return made;
}

/** Opens an account; gives its token. `of.parent`: the account that it draws from. */
export function openAccount(
    m: Machine,
    fiber: Fiber,
    of: Pick<AccountDoc, "parent" | "limits" | "path" | "name" | "within">,
    site: Site | null,
): number {
    const token = m.standing.next++;
    const account = m.accounts.opens({ ...of, token, fiber: fiber.id }, m.stepLimit - m.run.steps);
    if (account.limits.time !== undefined) startTimer(m, account, fiber, site);
    return token;
}

/** The account of a `spend` region, inside the one that pays where it stands; gives its token. */
export function spendOpened(m: Machine, fiber: Fiber, frame: Frame, { spend, path }: SpendDetail, site: Site | null): number {
    const of = { parent: accountAt(frame), limits: spend, path: pathOf(frame, path), name: regionIn(frame), within: frame.parent };
    return openAccount(m, fiber, of, site);
}

/** As people know it: of the function of a block only stages are bounded. */
function regionIn({ fn, path }: Frame): string {
    return fn.block === null ? "the region" : `the stage ${path.slice(path.lastIndexOf("/") + 1)}`;
}

/** The time of an account begins, or goes on with another end. */
export function startTimer(m: Machine, account: Account, fiber: Fiber, site: Site | null): void {
    const { token } = account;
    const request = { ms: account.limits.time as number };
    m.waiting.delete(timePath(account));
    const effect = { path: timePath(account), kind: "sleep", principal: m.run.acting, site, request, labels: [] } as const;
    m.ask({ effect, fiber, slot: 0, origin: "", account: token, held: [], timer: token });
}

function timePath(account: Account): string {
    return `${account.path}/time`;
}

/** Closes an account; gives what it used, null where it is closed already. */
export function closeAccount(m: Machine, token: number): { readonly limits: SpendForm; readonly used: Readonly<Used> } | null {
    const account = m.accounts.close(token);
    if (account === null) return null;
    if (account.limits.time !== undefined) withdraw(m, timePath(account));
    return { limits: account.limits, used: account.used };
}

/** The end of a region, however it ends: closes its account and says what was used. */
export function closeRegionAccount(m: Machine, token: number, frame: Frame, site: Site | null): void {
    const { path } = m.accounts.at(token);
    const ended = closeAccount(m, token);
    if (ended !== null) m.emit("budget", path, frame.parent, site, [], { account: path, closed: true, ...spentData(ended) });
}

export function spentData({ limits, used }: { readonly limits: SpendForm; readonly used: Readonly<Used> }): { [key: string]: Json } {
    return { limits: { ...limits }, used: { ...used } };
}

/** Tells of an account that is used up; gives the failure. `turn`: the model turn that used it up, which has no `generate.attempt` of its own. */
export function overdrawn(m: Machine, over: Exceeded, path: string, site: Site | null, turn: Json | null = null): Fail {
    const { meter, limit, used, spender, account, fail } = over;
    m.emit("budget", path, null, site, [], { meter, limit, used, spender, account, ...(turn === null ? {} : { turn }) });
    fail.site = site;
    return fail;
}

/**
 * AC11. A bound on this account of which a stopped fiber showed that it cannot be kept, because the model does not report what the bound counts. A
 * further turn would be paid for in vain, so it is refused.
 */
export function unkept(m: Machine, token: number, who: Spender): Exceeded | null {
    for (const { stop } of m.stopped) {
        if (stop?.goesOn === true) continue;
        const detail = stop?.fail.detail as { unmeasured?: boolean; meter: "tokens" | "usd" } | null | undefined;
        const region = stop?.fail.whole ? 0 : (stop?.fail.region ?? null);
        if (detail?.unmeasured === true && region !== null && (region === 0 || m.accounts.within(token, region)))
            return m.accounts.unmeasured(m.accounts.at(region), detail.meter, who, "model");
    }
    return null;
}

/** AC10. A first note (of number 0) is of a turn that begins, perhaps once more after it broke off. */
export function chargeNoted(m: Ops, told: { readonly path: string; readonly outcome: Outcome }): void {
    const said = notedIn(told);
    const pending = said === null ? undefined : m.waiting.get(said.turn);
    const wait = pending?.fiber.top.native;
    if (said === null || pending === undefined || wait?.kind !== "handover") return;
    const { usage } = told.outcome;
    if (said.nth === 0) delete wait.state.charged;
    pending.fiber.touch();
    if (usage === undefined) return;
    wait.state.charged = addUsage(wait.state.charged ?? {}, usage);
    m.accounts.settle({
        usage,
        account: pending.account,
        held: [],
        spender: { who: pending.effect.principal, path: said.turn },
        turned: null,
    });
}

/** Of an outcome: what was not counted before it came (AC10). */
export function uncharged({ fiber, effect }: Pending, { usage }: Outcome): Usage | undefined {
    const wait = fiber.frames[fiber.frames.length - 1]?.native;
    if (effect.kind !== "agent" || wait?.kind !== "handover" || wait.state.charged === undefined) return usage;
    const { charged } = wait.state;
    delete wait.state.charged;
    return usageSince(charged, usage ?? charged);
}

/** No fiber waits for an effect any more. */
export function withdraw(m: Machine, path: string): void {
    const pending = m.waiting.get(path);
    if (pending === undefined) return;
    for (const told of m.inbox) if (notedIn(told)?.turn === path) chargeNoted(m, told);
    m.waiting.delete(path);
    if (m.unpaid.delete(path)) return;
    if (pending.effect.kind === "run") m.standing.rowsCame(path, m.authority.book.tables.keys(), undefined);
    m.accounts.withdrawn(pending.effect, pending.account, pending.held);
    if (!m.own.includes(path)) m.withdrawn.push(path);
}

/** Withdraws what a fiber waits for, besides the times of its accounts. */
export function withdrawAll(m: Machine, fiber: Fiber): void {
    if (fiber.told.length > 0) {
        fiber.told = [];
        m.ready = m.ready.filter((one) => one !== fiber);
    }
    if (m.waiting.size === 0) return;
    for (const [path, pending] of [...m.waiting]) if (pending.fiber === fiber && pending.timer === undefined) withdraw(m, path);
}

/**
 * Count of steps at which the end of a time came while the machine computed; infinite for every other outcome, which counts when every fiber
 * waits.
 */
export function struckAt({ path, outcome }: { readonly path: string; readonly outcome: Outcome }): number {
    const never = Number.POSITIVE_INFINITY;
    if (!outcome.ok || !path.endsWith("/time")) return never;
    const { value } = outcome;
    if (!isObject(value)) return never;
    return typeof value.at === "number" ? value.at : never;
}

/** The end of a call by a failure: what was given with it and opened for it. */
export function leaveCall(m: Machine, fiber: Fiber, frame: Frame, fail: Fail): void {
    const spent = frame.opened ? closeAccount(m, frame.account) : null;
    if (frame.token !== 0) lifted(m, frame.token, frame.path, frame.parent, null);
    if (frame.agent === null) return;
    agentEnded(m, fiber, frame, fail, spent);
}

/** Closes the regions of a frame that instruction `to` is not in; all of them where that is below zero. */
export function leaveRegions(m: Machine, frame: Frame, to: number): void {
    for (const region of regionsAt(frame, frame.pc)) {
        if (to >= region.from && to < region.to) continue;
        closeRegion(m, frame, region);
    }
}

/** Its events stand where it begins: how far the program was in it depends, for closures, on how the program is run. */
export function closeRegion(m: Machine, frame: Frame, { slot, kind, from }: Region): void {
    const token = frame.locals[slot];
    if (typeof token !== "number") return;
    const site = frame.form.code[from - 1]?.site ?? null;
    if (kind === "delegate") lifted(m, token, frame.path, frame.parent, site);
    else closeRegionAccount(m, token, frame, site);
    frame.locals[slot] = null;
}
