/**
 * Failed runs go on: a failure that nothing in force takes stops its fiber where it stands; what was wanted there can be had later.
 *
 * Boundary: when a fiber stops, how the run then ends, and how it goes on. Handlers and unwinding are `handlers.ts`.
 *
 * SD1: a fiber that stops is not unwound: its frames, sessions and delegations stay as they are. Its siblings finish, but for those of a block
 *     (PLN2), which are cancelled however deep in a node it stopped.
 * SD2: the run ends as failed once nothing but stopped fibers is left. Its state can be saved then, and goes on from there.
 * SD3: what was paid for is not paid for twice: an outcome that overdrew its budget is kept, and given once the budget is raised.
 * SD4: effects that are asked for after a retry have the next attempt.
 */
import type { Instruction } from "../compile/instructions.ts";
import { isObject, type Json } from "@remit/language";
import { type Effect, opOf, type Outcome } from "../effect/effect.ts";
import { Fail } from "../effect/failure.ts";
import type { MachineEvent } from "../ledger/events.ts";
import { roomOf } from "../value/value.ts";
import { type Account, METER_NAMES, type Meter } from "../state/accounts.ts";
import { pay } from "../state/effects.ts";
import type { Fiber, Pending } from "../state/fiber.ts";
import { TURNS_WRITTEN } from "../prompt/generate.ts";
import type { Machine } from "./machine.ts";
import { waitsOf, waitingCall } from "../state/ops.ts";
import { tell } from "./outcomes.ts";
import { tellParent } from "../state/handlers.ts";
import { startTimer } from "../state/spending.ts";
import { failureIn, stillAround, stoppedFibers } from "../state/still.ts";

/** Why a fiber stopped, and what it wants when it goes on. */
export interface Stop {
    readonly fail: Fail;
    /** Effects of the present instruction that have to be asked for again, in order. */
    readonly again: readonly Stopped[];
    /** It goes on now: what failed here says nothing any more of those that go on with it. */
    readonly goesOn?: true;
}

export interface Stopped {
    readonly pending: Pending;
    /** It was asked for. */
    readonly asked: boolean;
    /** What it came to where that is still to be used (SD3). */
    readonly outcome?: Outcome;
}

/** What bounds a run: meters of accounts, and two bounds that only the whole run has. */
export type Bound = Meter | "depth" | "memory";
const BOUNDS: readonly Bound[] = [...METER_NAMES, "depth", "memory"];

/** Changes with which a run goes on. */
export interface GoOn {
    /** New amounts of bounds of an account, by its path; `run` is the whole. */
    readonly raise?: readonly { readonly account: string; readonly meter: Bound; readonly amount: number }[];
    /** Asks once more for what failed. */
    readonly retry?: boolean;
    /** Paths of effects whose outcome the owner of the run gives by hand: it is told with `resolve`, and the effect is not asked for. */
    readonly answer?: readonly string[];
}

/** What lets a failed run go on. */
export interface Remedies {
    /** Bounds that were met, by account, with the amount in force. */
    readonly raise: readonly { readonly account: string; readonly meter: Bound; readonly amount: number }[];
    /** What failed can be asked for again, and may come out otherwise. */
    readonly retry: boolean;
    /** Effects whose outcome can be given by hand. */
    readonly answer: readonly Effect[];
}

export function remediesOf(m: Machine): Remedies {
    const raise = new Map<string, Remedies["raise"][number]>();
    const met = (one: Remedies["raise"][number] | null): void => {
        if (one !== null) raise.set(`${one.account} ${one.meter}`, one);
    };
    const time = m.raised.time ?? m.options.limits?.time;
    if (m.timedOut && time !== undefined) met({ account: "run", meter: "time", amount: time });
    const failed: Fiber[] = [];
    for (const fiber of stoppedFibers(m)) {
        const { fail } = fiber.stop as Stop;
        if (fail.class === "failure") failed.push(fiber);
        else met(boundMet(m, fail));
    }
    const answer = failed
        .flatMap((fiber) => fiber.stop?.again ?? [])
        .flatMap(({ pending: { effect } }) => (isAnswerable(effect) ? [effect] : []));
    return { raise: [...raise.values()], retry: failed.some(mayAskAgain), answer };
}

/** A question is answered by the person it is put to, and what a tool says of its methods by the tool alone. */
function isAnswerable({ kind, request }: Effect): boolean {
    return kind !== "ask" && opOf(request) !== "describe";
}

/** The bound that a failure met, where it is one that can be raised. */
function boundMet(m: Machine, { kind, region, whole, detail }: Fail): Remedies["raise"][number] | null {
    const { meter, limit, unmeasured } = isObject(detail ?? null) ? (detail as { readonly [key: string]: Json }) : {};
    // With any amount, the next turn would meet it again.
    if (unmeasured === true) return null;
    const isOfRun = meter === "memory" || region === null;
    const account = isOfRun ? (whole || meter === "memory" ? "run" : undefined) : m.accounts.open.get(region)?.path;
    if (account !== undefined && isBound(meter) && typeof limit === "number") return { account, meter, amount: limit };
    if (detail !== undefined) return null;
    if (kind === "limit.depth") return { account: "run", meter: "depth", amount: m.depthLimit };
    const bytes = m.raised.bytes ?? m.options.limits?.bytes;
    return kind === "limit.bytes" && bytes !== undefined && m.run.bytes > bytes ? { account: "run", meter: "bytes", amount: bytes } : null;
}

function isBound(meter: unknown): meter is Bound {
    return BOUNDS.some((one) => one === meter);
}

/** Whether only stopped fibers, and the times of accounts around them, are left. */
export function isStuck(m: Machine): boolean {
    return m.stopped.size > 0 && [...m.waiting.values()].every((pending) => pending.timer !== undefined);
}

/** The failure that the run ends with: what its fibers would have passed on. */
export function failureOfRun(m: Machine): Fail {
    return failureIn(m, m.root) as Fail;
}

/** Goes on with a run that failed. Throws `Fail` where the changes let no fiber go on; then nothing was changed. */
export function goOn(m: Machine, how: GoOn, by: string): void {
    const { events } = m;
    const stopped = stoppedFibers(m);
    const raised = (how.raise ?? []).map(({ account, meter, amount }) => ({
        account: accountNamed(m, account, meter, amount),
        meter,
        amount,
    }));
    const answers = new Set(how.answer ?? []);
    for (const path of answers) {
        const failed = stopped.flatMap((fiber) => fiber.stop?.again ?? []).find((one) => one.pending.effect.path === path);
        if (failed === undefined) throw new Fail("value", `no effect at ${path} failed`, { hint: failedPaths(stopped) });
        if (failed.pending.effect.kind === "ask")
            throw new Fail("value", `${path} is a question`, { hint: "the person to whom it is put answers it" });
        if (!isAnswerable(failed.pending.effect))
            throw new Fail("value", `${path} asks a tool what it has`, {
                hint: "only the tool tells that: go on with a retry, which asks it again",
            });
    }
    const freed = stopped.filter((fiber) => goesOn(fiber, how, answers));
    if (freed.length === 0 && !m.timedOut)
        throw new Fail("value", "nothing of what stopped the run is changed by this", {
            hint: unchanged(stopped),
        });
    for (const { account, meter, amount } of raised) raise(m, account, meter, amount);
    m.result = null;
    m.timedOut = false;
    if (how.retry === true) m.attempt++;
    for (const fiber of freed) fiber.stop = { ...(fiber.stop as Stop), goesOn: true };
    for (const fiber of freed) resume(m, fiber, answers);
    const { raise: raises = [], retry = false, answer = [] } = how;
    m.run.acting = m.principal;
    const data = { by, raise: raises.map((one) => ({ ...one })), retry, answer: [...answer] };
    m.emit("run.resumed", m.entryPath, null, null, [], data);
    // What follows from it comes after it.
    events.unshift(events.pop() as MachineEvent);
}

/** What would let them go on. */
function unchanged(stopped: readonly Fiber[]): string {
    const limits = stopped.flatMap(({ stop }) => (stop?.fail.class === "limit" ? [stop.fail] : []));
    if (limits.length === 0) return failedPaths(stopped);
    return limits.every(isWritten) ? `${TURNS_WRITTEN}, and run it again` : "raise the limit that it names";
}

function failedPaths(stopped: readonly Fiber[]): string {
    const paths = stopped.flatMap((fiber) => (fiber.stop?.again ?? []).map((one) => one.pending.effect.path));
    return paths.length === 0 ? "no effect failed: the program itself did" : `these failed: ${paths.join(", ")}`;
}

function accountNamed(m: Machine, path: string, meter: Bound, amount: number): Account | null {
    if (!isBound(meter)) throw new Fail("value", `there is no meter '${meter}'`, { hint: `the meters are ${BOUNDS.join(", ")}` });
    if (!Number.isFinite(amount) || amount <= 0) throw new Fail("value", `${amount} is no amount of ${meter}`);
    if (path === "run") return null;
    if (meter === "depth" || meter === "memory")
        throw new Fail("value", `only the whole run has a bound of ${meter}`, { hint: `raise it without an account: ${meter}=${amount}` });
    const account = [...m.accounts.open.values()].find((one) => one.path === path);
    if (account === undefined)
        throw new Fail("value", `the run has no open account '${path}'`, {
            hint: `its accounts are ${["run", ...[...m.accounts.open.values()].map((one) => one.path)].join(", ")}`,
        });
    return account;
}

/** `account` null: the run's own. */
function raise(m: Machine, account: Account | null, meter: Bound, amount: number): void {
    if (account === null || meter === "depth" || meter === "memory") {
        m.raised = { ...m.raised, [meter]: amount };
        boundBy(m, m.raised);
        return;
    }
    (account.limits as { [M in Meter]?: number })[meter] = amount;
    if (meter === "turns") raiseTurns(m, account.token, amount);
    const fiber = meter === "time" ? m.fibers.get(account.fiber) : undefined;
    if (fiber !== undefined) startTimer(m, account, fiber, null);
}

/** Turns with an agent are counted by its session, for each call inside an answer too: those that this account bounds. */
function raiseTurns(m: Machine, token: number, amount: number): void {
    for (const session of m.sessions.values()) if (session.account === token) session.most = amount;
    for (const fiber of m.fibers.values())
        for (const [at, { native }] of fiber.frames.entries()) {
            if (native?.kind !== "handover" || native.state.turnsOf !== token) continue;
            native.state.most = amount;
            fiber.low = Math.min(fiber.low, at);
        }
}

/** Bounds the run by other amounts than it began with. */
export function boundBy(m: Machine, { steps, bytes, depth, memory, ...rest }: Machine["raised"]): void {
    if (depth !== undefined) m.depthLimit = depth;
    if (memory !== undefined) m.run.memory = roomOf(memory);
    if (steps !== undefined) m.stepLimit = steps;
    if (bytes !== undefined) m.accounts.boundBytes(bytes);
    Object.assign(m.accounts.root.limits, rest);
}

/** Whether the changes let a stopped fiber go on. */
function goesOn(fiber: Fiber, how: GoOn, answers: ReadonlySet<string>): boolean {
    const { fail, again } = fiber.stop as Stop;
    if (again.some((one) => answers.has(one.pending.effect.path))) return true;
    if (fail.class === "limit" && !isWritten(fail) && (how.raise ?? []).length > 0) return true;
    return how.retry === true && mayAskAgain(fiber);
}

/** The turns of one `generate` stand in the program: no account has them. */
function isWritten({ kind, detail }: Fail): boolean {
    return kind === "limit.turns" && detail === undefined;
}

function mayAskAgain(fiber: Fiber): boolean {
    return (fiber.stop?.again.length ?? 0) > 0 || asksForSomething(fiber);
}

/** Whether the instruction that failed asks for something, which may come out otherwise the next time. */
function asksForSomething(fiber: Fiber): boolean {
    const kind = (fiber.top.form.code[fiber.top.pc] as Instruction).detail?.kind;
    return kind === "effect" || kind === "generate" || kind === "handover" || kind === "call.value";
}

function resume(m: Machine, fiber: Fiber, answers: ReadonlySet<string>): void {
    const { again } = fiber.stop as Stop;
    const around = stillAround(m, fiber);
    fiber.stop = null;
    m.stopped.delete(fiber);
    fiber.low = Math.min(fiber.low, fiber.frames.length - 1);
    for (const one of [fiber, ...around]) tellParent(m, one, "freed");
    m.enter(fiber);
    m.stand(fiber, fiber.top);
    try {
        if (again.length === 0) startAgain(m, fiber);
        else for (const one of again) askAgain(m, one, answers);
    } catch (error) {
        if (!(error instanceof Fail)) throw error;
        m.deliverFail(fiber, error);
    }
}

/** An operation goes on from its wait where it can, else the present instruction runs again from its beginning. */
function startAgain(m: Machine, fiber: Fiber): void {
    const { top } = fiber;
    const wait = top.native;
    const again = wait === null ? undefined : waitsOf(m, wait).again;
    if (wait === null || again === undefined) top.native = null;
    else again(m, waitingCall(fiber, wait), wait);
    m.awake(fiber);
}

function askAgain(m: Machine, { pending, asked, outcome }: Stopped, answers: ReadonlySet<string>): void {
    const { effect, fiber } = pending;
    const { native } = fiber.top;
    if (native !== null) waitsOf(m, native).forget?.(native, pending.slot);
    if (outcome !== undefined) tell(m, pending, outcome);
    else if (answers.has(effect.path)) m.waiting.set(effect.path, { ...pending, held: [] });
    // Through its gate again, or in a session that is open.
    else if (asked && (native?.kind === "effect" || effect.kind === "agent")) startAgain(m, fiber);
    else pay(m, { ...pending, effect: m.attempt > 1 ? { ...effect, attempt: m.attempt } : effect, held: [] });
}
