/**
 * The beginning of a call on frames, whatever called it: room for it, the form it runs in, its slots and what they carry.
 *
 * Boundary: up to the slots. Grants, accounts, events and the frame itself are the caller's.
 */
import type { Site } from "@remit/language";
import { type Slots, slotsOf } from "../compile/code.ts";
import { checkArguments } from "../compile/contracts.ts";
import type { FrameForm, Instruction, PathSite } from "../compile/instructions.ts";
import type { AgentEntry, Fn } from "../compile/program.ts";
import { born } from "../compile/containers.ts";
import { enterStrict, FLOW, flowOf, heldArguments, raiseBy } from "../compile/strict.ts";
import { NOTHING_ALONG } from "../compile/ways.ts";
import { Fail } from "../effect/failure.ts";
import type { Value } from "../value/value.ts";
import type { Machine } from "../run/machine.ts";
import type { Lambda } from "../builtin/builtin.ts";
import { isALambda } from "../compile/lambdas.ts";
import { agentStarted } from "./events.ts";
import { Fiber, Frame, pathOf, siteAt } from "./fiber.ts";
import type { Call, Iteration, Ops } from "./ops.ts";
import { accountAt, spendOf, openAccount } from "./spending.ts";
import { granted, lifted } from "./delegations.ts";
import { begins, goesOn } from "./places.ts";

export function tooDeep(limit: number): Fail {
    return new Fail("limit.depth", `Maximum call depth of ${limit} exceeded`, { here: true });
}

/** Throws where a fiber has no room for one more call. */
export function mayNest(m: Pick<Ops, "depthLimit">, fiber: Fiber): void {
    if (fiber.base + fiber.frames.length >= m.depthLimit) throw tooDeep(m.depthLimit);
}

/** A function to be called. */
export interface Callee {
    readonly fn: Fn;
    /** Set where the call crosses into an agent. */
    readonly agent: AgentEntry | null;
    readonly path: PathSite;
    /** Who a function that came as a value runs as; absent or null: its caller. */
    readonly deputy?: string | null;
    /** The agent wrote it: it runs strictly, and under its label. */
    readonly written?: boolean;
    /** Labels of the place where the agent wrote it. */
    readonly by?: readonly string[];
}

/** How a function runs. */
export interface Manner {
    readonly form: FrameForm;
    /** Only choices are kept. */
    readonly loose: boolean;
    /** The label of the agent that wrote it, else 0. */
    readonly origin: number;
}

/** Strict where its caller, its file or its principal is, or a policy says so, and where an agent wrote it. */
export function isStrict(m: Ops, caller: Frame, fn: Fn, principal: string, origin: number): boolean {
    return origin !== 0 || caller.isStrict || fn.strict || m.authority.isStrict(principal);
}

/** The slots of a call by the present instruction of a frame, with its arguments held against their contracts. */
export function entered(m: Ops, caller: Frame, fn: Fn, { form, origin, loose }: Manner, args: readonly Value[]): Slots {
    const locals = slotsOf(form.slots, m.run, args);
    const { flow } = form.bodies[0] as Frame["form"];
    const from = caller.form.flow;
    if (flow !== 0) enterStrict(locals, fn, caller.locals, from, loose);
    if (origin !== 0) {
        raiseBy(locals, flowOf(fn), origin, NOTHING_ALONG);
        // It may change what it is given, always under the agent's label.
        for (let i = 1; i <= args.length; i++) born(m.run, locals[i] as Value, origin, Number.POSITIVE_INFINITY);
    }
    checkArguments(m.run, fn, locals, siteAt(caller));
    if (flow !== 0) heldArguments(locals, fn, caller.locals, from, (caller.form.code[caller.pc] as Instruction).failing);
    return locals;
}

/** Where a failure would be caught, that there was enough of an amount or a count depends on all that came, as that there was not (LIC1). */
export function keptWithin(m: Ops, { form: { flow }, locals }: Frame, { failing }: Pick<Instruction, "failing">): void {
    if (flow !== 0 && locals[flow + FLOW.caught] === true) raiseBy(locals, flow, m.run.labels.of([...m.standing.met]), failing);
}

/** A frame over the innermost one, whose present instruction calls. */
export function push(m: Machine, fiber: Fiber, to: Callee, args: Value[]): void {
    const { fn, agent } = to;
    const caller = fiber.top;
    mayNest(m, fiber);
    const path = pathOf(caller, to.path);
    const at = siteAt(caller);
    const principal = agent === null ? (to.deputy ?? caller.principal) : m.authority.principalOf(agent);
    const origin = to.written === true && agent !== null ? m.run.labels.of([`agent:${agent.name}`, ...(to.by ?? [])]) : 0;
    const strict = isStrict(m, caller, fn, principal, origin);
    const form = fn.framesFor(strict || m.run.tracks);
    const token = principal === caller.principal ? 0 : granted(m, fiber, { frame: caller, to: principal, args, path, site: at });
    let locals: Slots;
    try {
        locals = entered(m, caller, fn, { form, origin, loose: !strict }, args);
    } catch (error) {
        lifted(m, token, path, caller.parent, at);
        throw error;
    }
    if (agent !== null) agentStarted(m, caller, { fn, agent, path }, args);
    const around = accountAt(caller);
    const spend = agent === null || m.authority.book.plain ? null : spendOf(m, principal);
    const name = m.authority.nameOf(principal);
    const own = spend === null ? 0 : openAccount(m, fiber, { parent: around, limits: spend, path, name, within: caller.parent }, at);
    fiber.frames.push(
        new Frame(fn, 0, form.bodies[0] as Frame["form"], locals, {
            path,
            parent: agent === null ? caller.parent : path,
            agent,
            principal,
            token,
            account: own === 0 ? around : own,
            opened: own !== 0,
        }),
    );
}

/** Arguments of what takes data alone. */
export function dataOnly(args: readonly (Value | Lambda)[], site: Site | null): Value[] {
    return args.map((arg) => {
        if (isALambda(arg)) throw new Fail("value", "a lambda may stand only where a built-in method takes one", { site });
        return arg;
    });
}

/** A fiber of an iteration. */
export function fork(m: Machine, { fiber, frame }: Call, { index, body, locals, path, after }: Iteration): void {
    const child = new Fiber(m.nextFiber++, fiber, index, fiber.base + fiber.frames.length);
    const form = frame.forms.bodies[body] as Frame["form"];
    child.frames.push(
        new Frame(frame.fn, body, form, locals, {
            path,
            parent: path,
            agent: null,
            principal: frame.principal,
            token: 0,
            account: accountAt(frame),
            opened: false,
        }),
    );
    m.fibers.set(child.id, child);
    begins(m, child, after);
    m.run.left--;
    goesOn(m, child);
}
