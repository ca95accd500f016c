/**
 * Stretches: instructions and calls that run as closures, and what follows where one is given up.
 *
 * Boundary: beginning, putting back, and whether a stretch is worth a try. Instructions are `execute.ts`.
 *
 * STE1: a call of a function that reaches no effect runs as closures. If that is given up (slice over, nested too deep) everything it wrote is
 *     put back, its steps are given back, and the same call runs on frames, which stop anywhere.
 * STE2: after a stretch that counted n steps was given up, the next n steps stay on frames: what is given up never costs more than what is done.
 *     Both hold for work as for steps (SRU3).
 * STE3: an instruction with a lambda is a stretch too; where a whole slice is not enough for it, the next slice is twice as long.
 */
import { type Slots, BAIL, type Step } from "../compile/code.ts";
import { FLOW } from "../compile/strict.ts";
import { type Value, List } from "../value/value.ts";
import { Fail } from "../effect/failure.ts";
import { FRAMES_ONLY, type Instruction, type NextDetail } from "../compile/instructions.ts";
import { rawOf } from "../value/operators.ts";
import type { Fiber, Frame } from "../state/fiber.ts";
import type { Machine } from "./machine.ts";
import { type Mark, type Run, tooLong, MAX_STEPS } from "../state/run.ts";
import { stepsSpent } from "../state/steps.ts";

/** Nested calls that one stretch of closures may hold: far below what any JavaScript stack takes. */
export const CLOSURE_DEPTH = 150;

/** An instruction with a lambda. False where the slice is over and it has to run again, from its beginning. */
export function stretch(m: Machine, fiber: Fiber, I: Instruction, L: Slots): boolean {
    const { run } = m;
    const before = L.slice();
    const mark = run.begin("single", CLOSURE_DEPTH);
    let value: unknown;
    try {
        value = I.code(L);
    } catch (error) {
        if (error !== BAIL) throw error;
        putBack(L, before);
        giveUp(m, fiber, mark, I.step);
        return false;
    }
    run.end();
    fiber.need = 0;
    if (I.slot !== 0) L[I.slot] = value as Value;
    return true;
}

/** Variables, which a lambda or a loop may have assigned before it was given up. */
export function putBack(L: Slots, before: readonly unknown[]): void {
    for (let i = 1; i < before.length; i++) L[i] = before[i] as Value;
}

/** Puts back what an instruction did that needs more steps than the slice had, or fails where more cannot be had. */
export function giveUp(m: Machine, fiber: Fiber, mark: Mark, step: number): void {
    const { run } = m;
    if (run.cause === "depth") {
        run.end();
        throw new Fail("limit.depth", `Maximum call depth of ${CLOSURE_DEPTH} inside a lambda exceeded`, { here: true });
    }
    if (m.spends(0)) {
        run.end();
        throw stepsSpent(m);
    }
    if (run.isAtMost) {
        run.end();
        throw tooLong(`take ${MAX_STEPS} steps`, MAX_STEPS);
    }
    run.undo(mark);
    run.left += step;
    if (run.left >= run.granted) fiber.need = 2 * Math.max(fiber.need, run.granted);
}

/** Puts back what a stretch did that now runs on frames instead. */
export function backToFrames(m: Machine, mark: Mark): void {
    const wasted = m.run.undo(mark);
    m.framesUntil = m.run.steps + wasted;
}

/** Passes of a `for` that reaches no effect are in the ledger up to so many. */
const MAX_QUIET_EVENTS = 100;

/**
 * Whether each pass of a `for` leaves an event: always where its body can reach an effect; else where it is short and stands in the entry
 * function or one that reaches an effect, which never run as closures, so that it is the same however the program is run.
 */
export function leavesEvents(m: Machine, frame: Frame, d: NextDetail): boolean {
    if (d.name === null) return false;
    if (d.reaching) return true;
    if (!frame.fn.effectful && frame !== m.root.frames[0]) return false;
    const list = rawOf(frame.locals[d.list] as Value);
    return list instanceof List && Math.min(list.items.length, d.max) <= MAX_QUIET_EVENTS;
}

/** Null where it has to run as instructions. */
function loopAsClosures({ run }: Machine, frame: Frame, I: Instruction): Step | null {
    // As long as nothing in the run could choose, there is nothing to keep.
    if (frame.form.flow === 0 || !run.labels.isForeign) return I.code === FRAMES_ONLY ? null : (I.code as Step);
    return keepsLoosely(run, frame) ? I.loose : null;
}

/** Whether what a frame runs as closures may take the loose form (`loose.ts`). */
export function keepsLoosely({ labels }: Run, { form, locals, isStrict }: Frame): boolean {
    return form.flow !== 0 && !isStrict && locals[form.flow + FLOW.caught] !== true && !labels.derives;
}

/** A loop as closures. False where it has to run as instructions, as strict code always does. */
export function wholeLoop(m: Machine, fiber: Fiber, frame: Frame, I: Instruction, L: Slots): boolean {
    const { run } = m;
    if (frame.isStrict) return false;
    if (I.detail !== null && leavesEvents(m, frame, I.detail as NextDetail)) return false;
    const depth = m.depthLimit - fiber.base - fiber.frames.length;
    if (m.inFrames || run.steps < m.framesUntil || depth < 0) return false;
    const one = loopAsClosures(m, frame, I);
    if (one === null) return false;
    const before = L.slice();
    const mark = run.begin("pure", depth < CLOSURE_DEPTH ? depth : CLOSURE_DEPTH);
    try {
        one(L);
    } catch (error) {
        if (error !== BAIL && !(error instanceof RangeError) && !(one === I.loose && error instanceof Fail)) throw error;
        backToFrames(m, mark);
        putBack(L, before);
        return false;
    }
    run.end();
    return true;
}
