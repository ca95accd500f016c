/**
 * What follows from a failure: the handler that takes it is looked for, what stands inside is left, and the fiber goes on there, or stops.
 *
 * Boundary: fibers and frames. What an operation that waits does about a failure is its room's; how a stopped run goes on is `stops.ts`.
 *
 * B8: the end of an account's time ends the region at once: fibers inside it are gone, what they asked for is withdrawn, and the failure is
 *     that of the region.
 */

import { failureValue } from "../compile/failure.ts";
import type { Handler, Instruction } from "../compile/instructions.ts";
import { raiseBy } from "../compile/strict.ts";
import type { Outcome } from "../effect/effect.ts";
import { Fail } from "../effect/failure.ts";
import type { Value } from "../value/value.ts";
import type { Machine } from "../run/machine.ts";
import type { Stopped } from "../run/stops.ts";
import { type Frame, type Fiber, siteOfTop, type Native, type Pending } from "./fiber.ts";
import { tooDeep } from "./frames.ts";
import { goesOn } from "./places.ts";
import { tellBroken } from "./refusal.ts";
import { waitsOf, waitingCall, type Ops } from "./ops.ts";
import { originsRead } from "./result-readers.ts";
import { isStill } from "./still.ts";
import { accountAt, withdrawAll, leaveRegions, leaveCall, withdraw, overdrawn } from "./spending.ts";

/** A failure of the program; null where the error is a defect of the machine. */
export function failOf(m: Machine, error: unknown): Fail | null {
    if (error instanceof Fail) return error;
    // Values or expressions nested deeper than the JavaScript stack: the program's doing, and a limit like the counted one.
    if (error instanceof RangeError) return tooDeep(m.depthLimit);
    return null;
}

/** Whether code at a frame may catch a violation (LANGUAGE 7). */
export function catchesViolation(m: Pick<Ops, "principal">, principal: string, fail: Fail): boolean {
    return principal === m.principal && fail.by !== m.principal;
}

/**
 * Who may catch what (LANGUAGE 7): a violation only code of the run's own principal that did not commit it, a limit only code outside the region it
 * bounds.
 */
function catches(m: Machine, frame: Frame, handler: Handler, fail: Fail): boolean {
    if (fail.class === "violation" && !catchesViolation(m, frame.principal, fail)) return false;
    if (fail.region === null) return true;
    return !m.accounts.within(accountAt(frame, handler.at), fail.region);
}

/** What takes a failure: a handler of a frame of this fiber or of one around it, or the operation that the frame waits for. */
interface Taker {
    readonly fiber: Fiber;
    /** Index of the frame. */
    readonly at: number;
    /** Null: the operation. */
    readonly handler: Handler | null;
}

/** The one search: innermost first, through the fibers around, to which a loop passes a failure on. */
function takerOf(m: Machine, fiber: Fiber, fail: Fail): Taker | null {
    if (fail.whole) return null;
    for (let f: Fiber | null = fiber; f !== null; f = f.parent)
        for (let at = f.frames.length - 1; at >= 0; at--) {
            const frame = f.frames[at] as Frame;
            const { native, pc } = frame;
            if (native !== null && waitsOf(m, native).takes?.(m, frame, native, fail) === true) return { fiber: f, at, handler: null };
            const handler = frame.form.handlers.find((h) => h.from <= pc && pc < h.to && catches(m, frame, h, fail));
            if (handler !== undefined) return { fiber: f, at, handler };
        }
    return null;
}

/** Takes a fiber to what takes a failure. True where it goes on there at once; false where it ended, stopped, waits or is ready again. */
export function unwind(m: Machine, fiber: Fiber, thrown: Fail): boolean {
    const { frames } = fiber;
    if (thrown.site === null) thrown.site = siteOfTop(fiber);
    if (thrown.broken !== null && frames.length > 0) tellBroken(m, fiber.top, thrown);
    const around = thrown.here ? yieldAround(m, fiber) : null;
    const fail = around === null ? thrown : thrown.of(around);
    // A violation for which no principal is named was committed by the principal that runs here.
    if (fail.class === "violation" && frames.length > 0) fail.by ??= fiber.top.principal;
    const again = fiber.refused;
    fiber.refused = [];
    const taker = takerOf(m, fiber, fail);
    if (frames.length > 0 && taker === null) {
        stop(m, fiber, fail, again);
        return false;
    }
    withdrawAll(m, fiber);
    // LIC1: the longer a text of another author, the sooner an amount is used up: that it was depends on all that came, or was chosen by it.
    const limited = fail.class === "limit" ? m.run.labels.of([...m.standing.met]) : 0;
    const own = taker?.fiber === fiber ? taker : null;
    while (frames.length > 0) {
        const frame = fiber.top;
        const isHere = frames.length - 1 === own?.at;
        m.stand(fiber, frame);
        if (isHere && own.handler === null) {
            const wait = frame.native as Native;
            waitsOf(m, wait).caught?.(m, waitingCall(fiber, wait), wait, fail);
            if (fiber.top !== frame) goesOn(m, fiber);
            return false;
        }
        leaveWait(m, frame, fail);
        frame.approved = null;
        const { flow } = frame.form;
        if (flow !== 0) {
            fail.labels = m.run.labels.union(fail.labels, frame.placeLabel);
            // Code that cannot fail otherwise can come to a limit: its condition raised none of what the handler learns.
            const before = limited === 0 ? frame.placeLabel : 0;
            const { failing } = frame.form.code[frame.pc] as Instruction;
            raiseBy(frame.locals, flow, m.run.labels.union(fail.labels, limited), failing, before);
        }
        const handler = isHere ? own.handler : null;
        leaveRegions(m, frame, handler?.at ?? -1);
        if (handler !== null) {
            if (handler.slot !== 0) frame.locals[handler.slot] = failureValue(m.run, fail);
            frame.pc = handler.at;
            fiber.touch();
            return true;
        }
        leaveCall(m, fiber, frame, fail);
        if (m.result !== null) return false;
        frames.pop();
    }
    fiberEnded(m, fiber, fail);
    return false;
}

/** A fiber has no frame left: the run ends, or the operation that it belongs to hears of it. */
export function fiberEnded(m: Machine, fiber: Fiber, end: Value | Fail): void {
    const { parent } = fiber;
    if (parent === null) {
        m.finish(end);
        return;
    }
    m.fibers.delete(fiber.id);
    m.stand(parent, parent.top);
    m.enter(parent);
    parent.touch();
    const wait = parent.top.native as Native;
    waitsOf(m, wait).ended?.(m, waitingCall(parent, wait), wait, fiber, end);
    if (m.stopped.size > 0 && m.result === null && m.fibers.has(parent.id)) tellStill(m, parent);
}

/** What a frame waits for is left by a failure. */
function leaveWait(m: Machine, frame: Frame, fail: Fail): void {
    const wait = frame.native;
    if (wait === null) return;
    waitsOf(m, wait).left?.(m, frame, wait, fail);
    frame.native = null;
}

/** Stops a fiber (SD1). `again`: the effect whose outcome stopped it, or that its budget refused. */
export function stop(m: Machine, fiber: Fiber, fail: Fail, again: readonly Stopped[]): void {
    if (fail.site === null) fail.site = siteOfTop(fiber);
    const withdrawn: Stopped[] = [];
    for (const [path, pending] of [...m.waiting]) {
        if (pending.fiber !== fiber || pending.timer !== undefined) continue;
        withdrawn.push({ pending, asked: !m.unpaid.has(path) });
        withdraw(m, path);
    }
    const told = fiber.told.map(({ pending, outcome }) => ({ pending, asked: true, outcome }));
    fiber.told = [];
    fiber.stop = { fail, again: [...again, ...told, ...withdrawn] };
    for (const { pending } of again) m.standing.keepsCounts(pending.effect.path);
    m.stopped.add(fiber);
    fiber.low = Math.min(fiber.low, Math.max(0, fiber.frames.length - 1));
    m.ready = m.ready.filter((one) => one !== fiber);
    tellParent(m, fiber, "stopped");
    if (fiber.parent !== null) tellStill(m, fiber.parent);
}

/** Tells those around a fiber in which nothing goes on any more. */
function tellStill(m: Machine, fiber: Fiber): void {
    if (fiber.parent === null || fiber.stop !== null || !isStill(m, fiber)) return;
    tellParent(m, fiber, "stopped");
    tellStill(m, fiber.parent);
}

/** Tells the operation that a fiber stands in that nothing goes on in it, or that something does again. */
export function tellParent(m: Machine, fiber: Fiber, what: "stopped" | "freed"): void {
    const { parent } = fiber;
    const wait = parent?.top.native ?? null;
    if (parent === null || wait === null) return;
    const hear = waitsOf(m, wait)[what];
    if (hear === undefined) return;
    parent.touch();
    m.stand(parent, parent.top);
    hear(m, waitingCall(parent, wait), wait, fiber);
}

/** The time of an account is up (B8). */
export function timeUp(m: Machine, pending: Pending, told: Outcome): void {
    const account = m.accounts.open.get(pending.timer as number);
    const fiber = account === undefined ? undefined : m.fibers.get(account.fiber);
    if (account === undefined || fiber === undefined) return;
    m.stand(fiber, fiber.top);
    const who = { who: account.name, path: account.path };
    // LIC1: also by whoever does not answer, and by those who chose that he is asked.
    for (const { effect, fiber: f, origin, timer } of m.waiting.values())
        if (timer === undefined && (f === fiber || isInside(f, fiber))) m.standing.meets([origin, ...effect.labels]);
    m.standing.meets(originsRead(m, told.read ?? []));
    endRegion(m, fiber, overdrawn(m, m.accounts.exceeded(account, "time", who), pending.effect.path, pending.effect.site));
}

/** Ends what goes on in a region that `fiber` opened, fibers inside it included, by the failure of the region. */
export function endRegion(m: Machine, fiber: Fiber, fail: Fail): void {
    const inside = [...m.fibers.values()].filter((f) => f !== fiber && isInside(f, fiber));
    if (takerOf(m, fiber, fail) === null) {
        for (const one of [fiber, ...inside]) stop(m, one, fail, []);
        return;
    }
    for (const f of inside.reverse()) discard(m, f, fail);
    m.ready = m.ready.filter((f) => f !== fiber && !inside.includes(f));
    m.enter(fiber);
    m.stand(fiber, fiber.top);
    m.deliverFail(fiber, fail);
}

function isInside(fiber: Fiber, outer: Fiber): boolean {
    for (let f = fiber.parent; f !== null; f = f.parent) if (f === outer) return true;
    return false;
}

/** Ends a fiber from outside: everything that it opened is closed, innermost first. */
export function discardAll(m: Machine, outer: readonly Fiber[], fail: Fail): void {
    const all = [...m.fibers.values()].filter((f) => outer.some((one) => one === f || isInside(f, one)));
    for (const f of all.reverse()) discard(m, f, fail);
    m.ready = m.ready.filter((f) => !all.includes(f));
    for (const f of all) m.stopped.delete(f);
}

function discard(m: Machine, fiber: Fiber, fail: Fail): void {
    withdrawAll(m, fiber);
    m.enter(fiber);
    for (let frame = fiber.frames[fiber.frames.length - 1]; frame !== undefined; frame = fiber.frames[fiber.frames.length - 1]) {
        m.stand(fiber, frame);
        leaveWait(m, frame, fail);
        leaveRegions(m, frame, -1);
        leaveCall(m, fiber, frame, fail);
        fiber.frames.pop();
    }
    m.fibers.delete(fiber.id);
}

/** The account of the innermost yield that a fiber stands in, at its frame `from` or below; null where it stands in none (SS7). */
export function yieldAround(m: Machine, fiber: Fiber, from = fiber.frames.length - 1): number | null {
    for (let f: Fiber | null = fiber; f !== null; f = f.parent)
        for (let i = f === fiber ? from : f.frames.length - 1; i >= 0; i--) {
            const native = f.frames[i]?.native ?? null;
            const account = native === null ? null : (waitsOf(m, native).domain?.(m, native) ?? null);
            if (account !== null) return account;
        }
    return null;
}
