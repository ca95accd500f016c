/**
 * The interpreter of frames.
 *
 * Boundary: instructions of one fiber, until it waits, ends or the slice is over.
 *
 * Calls are `calls.ts`, stretches of closures `stretches.ts`, what an effect or another frame has to finish the table of `ops.ts`.
 */
import { listOf } from "../compile/closures.ts";
import type { Code, Slots, Step } from "../compile/code.ts";
import { checkResult } from "../compile/contracts.ts";
import { covered, outward } from "../compile/containers.ts";
import { heldResult, leaveStrict } from "../compile/strict.ts";
import { type Instruction, type NextDetail, OP, type UseDetail } from "../compile/instructions.ts";
import { join, labelOf, rawOf, truthy } from "../value/operators.ts";
import type { Value } from "../value/value.ts";
import { agentEnded, forEvent, useEvent } from "../state/events.ts";
import { type Fiber, type Frame, pathOf } from "../state/fiber.ts";
import { keptWithin } from "../state/frames.ts";
import { failOf, unwind, fiberEnded } from "../state/handlers.ts";
import { begin, waitsOf, waitingCall } from "../state/ops.ts";
import { firstInPlace, goesOn, waits } from "../state/places.ts";
import { closeAccount, closeRegion, leaveRegions, spendOpened } from "../state/spending.ts";
import { lifted } from "../state/delegations.ts";
import { stepsSpent } from "../state/steps.ts";
import { DEFAULTS } from "../state/options.ts";
import { callFn, callValue } from "./calls.ts";
import { nextStrike } from "./inbox.ts";
import type { Machine } from "./machine.ts";
import { measure } from "./memory.ts";
import { stretch, wholeLoop, leavesEvents } from "./stretches.ts";

/** The fiber that goes on next; undefined where all wait, for something outside or for others to go on. */
export function nextFiber(m: Machine): Fiber | undefined {
    const [first] = m.ready;
    return first === undefined || first.place === 0 ? first : firstInPlace(m);
}

/** `wait` also where the fiber ended: it has nothing more to do now. */
export function runFiber(m: Machine, fiber: Fiber): "wait" | "slice" {
    const state = runOn(m, fiber);
    if (state === "wait" && fiber.place !== 0) waits(m, fiber);
    return state;
}

function runOn(m: Machine, fiber: Fiber): "wait" | "slice" {
    m.enter(fiber);
    for (;;) {
        if (fiber.frames.length === 0) return "wait";
        try {
            if (m.run.heap.room < 0) measure(m, fiber);
            if (m.result !== null) return "wait";
            const state = runFrames(m, fiber);
            m.run.release();
            if (m.run.heap.room < 0 && m.result === null) measure(m, fiber);
            return state;
        } catch (error) {
            m.run.end();
            m.run.release();
            const fail = failOf(m, error);
            if (fail === null) throw error;
            if (!unwind(m, fiber, fail)) return "wait";
        }
    }
}

/**
 * Why it is long: one loop over the kinds of instructions, which keeps the frame, its slots and its code at hand; a function for each kind would
 * have to be given them and to give them back.
 */
function runFrames(m: Machine, fiber: Fiber): "wait" | "slice" {
    const { run } = m;
    fiber.touch();
    let frame = fiber.top;
    m.stand(fiber, frame);
    let { locals: L } = frame;
    let { code } = frame.form;
    for (;;) {
        const I = code[frame.pc] as Instruction;
        if (m.tracer !== null) m.tracer.step(frame, I.site);
        run.left -= I.step;
        if (run.left < 0) {
            run.left += I.step;
            const over = sliceOver(m, fiber, I);
            if (over === "next") continue;
            return over;
        }
        switch (I.op) {
            case OP.DO:
                (I.code as Step)(L);
                frame.pc++;
                continue;
            case OP.SET:
                L[I.slot] = (I.code as Code)(L);
                frame.pc++;
                continue;
            case OP.JUMP:
                frame.pc = I.to;
                continue;
            case OP.UNLESS: {
                const c = (I.code as Code)(L);
                if (c === true || (c !== false && truthy(c))) frame.pc++;
                else frame.pc = I.to;
                continue;
            }
            case OP.WHEN: {
                const c = (I.code as Code)(L);
                if (c === true || (c !== false && truthy(c))) frame.pc = I.to;
                else frame.pc++;
                continue;
            }
            case OP.PRESENT:
                if (rawOf(L[I.slot] as Value) !== null) frame.pc = I.to;
                else frame.pc++;
                continue;
            case OP.NEXT:
                frame.pc = nextPass(m, frame, I, L) ? frame.pc + 1 : I.to;
                continue;
            case OP.ENTER: {
                const d = I.detail as NextDetail;
                L[d.count] = Math.min(listOf(L[d.list] as Value, I.site).items.length, d.max);
                L[d.index] = -1;
                frame.pc++;
                continue;
            }
            case OP.STRETCH:
                if (!stretch(m, fiber, I, L)) return "slice";
                frame.pc++;
                continue;
            case OP.LOOP:
                frame.pc = wholeLoop(m, fiber, frame, I, L) ? I.to : frame.pc + 1;
                continue;
            case OP.CALL:
                if (callFn(m, fiber, frame, I, L)) continue;
                if (frame.native !== null) return "wait";
                break;
            case OP.OPEN:
                if (I.detail?.kind === "spend") {
                    L[I.slot] = spendOpened(m, fiber, frame, I.detail, I.site);
                    frame.pc++;
                } else begin(m, fiber, frame, I);
                m.stand(fiber, frame);
                continue;
            case OP.CLOSE: {
                const region = frame.form.regions.find((r) => r.slot === I.slot);
                if (region !== undefined) {
                    closeRegion(m, frame, region);
                    if (region.kind === "spend") keptWithin(m, frame, I);
                }
                frame.pc++;
                continue;
            }
            case OP.CALL_VALUE: {
                const done = callValue(m, fiber, frame, I, L);
                if (done === "slice" || done === "wait") return done;
                if (done === "next") continue;
                break;
            }
            case OP.EFFECT:
            case OP.GENERATE:
            case OP.DEFINE:
            case OP.HANDOVER:
            case OP.PARALLEL:
            case OP.PLAN:
            case OP.STAGE:
            case OP.CLOCK:
            case OP.ENDORSE:
                if (!begin(m, fiber, frame, I) || m.result !== null) return "wait";
                break;
            case OP.USE: {
                const d = I.detail as UseDetail;
                useEvent(m, frame.parent, pathOf(frame, d.path), d.use);
                frame.pc++;
                continue;
            }
            case OP.RETURN:
                if (!back(m, fiber, frame, I, L)) return "wait";
                break;
            default:
                throw new Error(`unknown instruction ${I.op}`);
        }
        frame = fiber.top;
        m.stand(fiber, frame);
        L = frame.locals;
        code = frame.form.code;
    }
}

/** What the return of strict code gives to its caller. The end of an iteration is noted where the iterations meet (`parallel.ts`). */
function strictlyBack(m: Machine, fiber: Fiber, frame: Frame, value: Value): Value {
    const { frames } = fiber;
    if (frames.length === 1 && fiber.parent !== null) return value;
    const to = frames[frames.length - 2];
    if (to === undefined || to.form.flow === 0) return outward(m.run, value);
    const { failing } = to.form.code[to.pc] as Instruction;
    heldResult(value, frame.fn, to.locals, to.form.flow, failing);
    leaveStrict(frame.locals, frame.fn, to.locals, to.form.flow, failing);
    return value;
}

/** Starts a slice: no longer than what is left of the budget, longer than usual where one instruction needs it. */
export function grantSlice(m: Machine, until: number): void {
    const usual = m.options.slice ?? DEFAULTS.slice;
    const wanted = Math.max(usual, nextFiber(m)?.need ?? 0);
    const left = m.stepLimit - m.run.steps;
    // Below zero where an instruction went beyond the budget: the next one finds it spent.
    const to = Math.min(until, nextStrike(m));
    m.run.grant(Math.min(wanted, left, 2 ** 30, Math.max(0, to - m.run.steps)), usual);
}

/** No step is left of the slice: memory has to be measured, the budget is used up, or the slice is over. */
function sliceOver(m: Machine, fiber: Fiber, I: Instruction): "next" | "wait" | "slice" {
    const { run } = m;
    if (run.heap.room < 0) {
        run.release();
        measure(m, fiber);
        return m.result === null ? "next" : "wait";
    }
    if (m.spends(I.step)) throw stepsSpent(m, I.step);
    return "slice";
}

/** Begins the next pass of a loop. False where there is none. */
function nextPass(m: Machine, frame: Frame, I: Instruction, L: Slots): boolean {
    const { run } = m;
    const d = I.detail as NextDetail;
    const i = (L[d.index] as number) + 1;
    if (i >= (d.count === 0 ? d.times : (L[d.count] as number))) return false;
    run.left--;
    L[d.index] = i;
    if (d.list === 0) return true;
    const all = L[d.list] as Value;
    const item = listOf(all, I.site).items[i] as Value;
    const l = labelOf(frame.form.flow === 0 ? all : covered(run, all));
    L[d.item] = l === 0 ? item : join(run, item, l);
    if (leavesEvents(m, frame, d)) forEvent(m, frame, I, d);
    return true;
}

/** The return of a frame: its value goes to the caller. False where the fiber has nothing to do now. */
function back(m: Machine, fiber: Fiber, frame: Frame, I: Instruction, L: Slots): boolean {
    const given = (I.code as Code)(L);
    // An iteration gives an item; the contract is the function's.
    let value = frame.body === 0 ? checkResult(m.run, frame.fn, given, I.site) : given;
    if (m.accounts.open.size > 0 && m.spends(0)) throw stepsSpent(m);
    if (frame.form.flow !== 0) value = strictlyBack(m, fiber, frame, value);
    if (frame.form.regions.length > 0) leaveRegions(m, frame, -1);
    if (frame.agent !== null) {
        const spent = frame.opened ? closeAccount(m, frame.account) : null;
        lifted(m, frame.token, frame.path, frame.parent, I.site);
        agentEnded(m, fiber, frame, value, spent);
    } else if (frame.token !== 0) lifted(m, frame.token, frame.path, frame.parent, I.site);
    if (m.result !== null) return false;
    fiber.frames.pop();
    if (fiber.frames.length === 0) {
        if (m.spends(0)) throw stepsSpent(m);
        fiberEnded(m, fiber, value);
        return false;
    }
    const caller = fiber.top;
    const wait = caller.native;
    fiber.touch();
    if (wait !== null) {
        m.stand(fiber, caller);
        waitsOf(m, wait).returned?.(m, waitingCall(fiber, wait), wait, value);
        if (fiber.top !== caller) goesOn(m, fiber);
        return false;
    }
    const call = caller.form.code[caller.pc] as Instruction;
    caller.locals[call.slot] = m.tracer === null ? value : m.tracer.mark(value, call.site, caller.path);
    caller.pc++;
    return true;
}
