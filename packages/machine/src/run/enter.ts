/**
 * The beginning of a call on frames, whoever called: room for it, the form it runs in, its slots and what they carry.
 *
 * Boundary: up to the slots. Grants, accounts, events and the frame itself are the caller's.
 */
import type { Site } from "@remit/language";
import { type Slots, slotsOf } from "../compile/code.ts";
import { checkArguments } from "../compile/contracts.ts";
import type { FrameForm } from "../compile/instructions.ts";
import type { Fn } from "../compile/program.ts";
import { born } from "../compile/containers.ts";
import { enterStrict, flowOf, raiseBy } from "../compile/strict.ts";
import { NOTHING_ALONG } from "../compile/ways.ts";
import { Fail } from "../effect/failure.ts";
import type { Value } from "../value/value.ts";
import type { Fiber, Frame } from "./fiber.ts";
import type { Machine } from "./machine.ts";

export function tooDeep(limit: number): Fail {
    return new Fail("limit.depth", `Maximum call depth of ${limit} exceeded`, { here: true });
}

/** Throws where a fiber has no room for one more call. */
export function mayNest(m: Machine, fiber: Fiber): void {
    if (fiber.base + fiber.frames.length >= m.depthLimit) throw tooDeep(m.depthLimit);
}

/** Strict where its caller, its file or its principal is, or a policy says so, and where an agent wrote it: `origin` is then the label of that agent, else 0. */
export function formFor(m: Machine, caller: Frame, fn: Fn, principal: string, origin: number, strict = false): FrameForm {
    return fn.framesFor(strict || origin !== 0 || caller.form.flow !== 0 || fn.strict || m.authority.isStrict(principal));
}

/** The slots of a call, with its arguments held against their contracts. */
export function entered(
    m: Machine,
    caller: Frame,
    fn: Fn,
    form: FrameForm,
    args: readonly Value[],
    origin: number,
    at: Site | null,
): Slots {
    const locals = slotsOf(form.slots, m.run, args);
    if ((form.bodies[0] as Frame["form"]).flow !== 0) enterStrict(locals, fn, caller.locals, caller.form.flow);
    if (origin !== 0) {
        raiseBy(locals, flowOf(fn), origin, NOTHING_ALONG);
        // It may change what it is given, always under the agent's label.
        for (let i = 1; i <= args.length; i++) born(m.run, locals[i] as Value, origin, Number.POSITIVE_INFINITY);
    }
    checkArguments(m.run, fn, locals, at);
    return locals;
}
