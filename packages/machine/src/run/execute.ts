/**
 * The interpreter of frames.
 *
 * Boundary: instructions of one fiber, until it waits, ends or the slice is over.
 *
 * X1: a call of a function that reaches no effect runs as closures. If that is given up (slice over, nested too deep) everything it wrote is
 *     put back, its steps are given back, and the same call runs on frames, which stop anywhere.
 * X2: after a stretch that counted n steps was given up, the next n steps stay on frames: what is given up never costs more than what is done.
 *     Both hold for work as for steps (R3).
 * X3: an instruction with a lambda is a stretch too; where a whole slice is not enough for it, the next slice is twice as long.
 *
 * Why it is long: the loop over instructions and the calls it makes work on the same frame, slots and counts.
 */
import { withArticle, shownName } from "@remit/language";
import { callMethod, strictlyCalled, wrongCount } from "../compile/calls.ts";
import { listOf } from "../compile/closures.ts";
import { BAIL, type Code, type Slots, type Step, slots0 } from "../compile/code.ts";
import { checkArguments, checkResult } from "../compile/contracts.ts";
import { covered, outward } from "../compile/containers.ts";
import { FLOW, labelAt, leaveStrict, raisePc, withPc } from "../compile/strict.ts";
import { type CallDetail, type CallValueDetail, type Instruction, type NextDetail, OP, type UseDetail } from "../compile/instructions.ts";
import { type AgentEntry, answering, type Fn } from "../compile/program.ts";
import { Fail } from "../effect/failure.ts";
import { join, labelOf, rawOf, truthy } from "../value/operators.ts";
import { Capability, List, Obj, type Value } from "../value/value.ts";
import { now } from "./definitions.ts";
import { push } from "./enter.ts";
import { agentEnded, forEvent, useEvent } from "./events.ts";
import { type Fiber, type Frame, pathOf } from "./fiber.ts";
import { gate, isFree } from "./gate.ts";
import { failOf, unwind, fiberEnded } from "./handlers.ts";
import type { Machine } from "./machine.ts";
import { measure } from "./memory.ts";
import { begin, waitsOf, waitingCall, type Call } from "./ops.ts";
import { type Mark, MAX_STEPS, tooLong } from "./run.ts";
import { closeAccount, closeRegion, leaveRegions, spendOpened } from "./spending.ts";
import { lifted } from "./standing.ts";
import { countCall, stepsSpent } from "./steps.ts";
import { askMemory, askTool, dataOnly } from "./tools.ts";

/** Nested calls that one stretch of closures may hold: far below what any JavaScript stack takes. */
const CLOSURE_DEPTH = 150;

/** `wait` also where the fiber ended: it has nothing more to do now. */
export function runFiber(m: Machine, fiber: Fiber): "wait" | "slice" {
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
            if (run.heap.room < 0) {
                run.release();
                measure(m, fiber);
                if (m.result !== null) return "wait";
                continue;
            }
            if (m.spends(I.step)) throw stepsSpent(m, I.step);
            return "slice";
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
            case OP.NEXT: {
                const d = I.detail as NextDetail;
                const i = (L[d.index] as number) + 1;
                if (i >= (d.count === 0 ? d.times : (L[d.count] as number))) {
                    frame.pc = I.to;
                    continue;
                }
                run.left--;
                L[d.index] = i;
                if (d.list !== 0) {
                    const all = L[d.list] as Value;
                    const item = listOf(all, I.site).items[i] as Value;
                    const l = labelOf(frame.form.flow === 0 ? all : covered(run, all));
                    L[d.item] = l === 0 ? item : join(run, item, l);
                    if (leavesEvents(m, frame, d)) forEvent(m, frame, I, d);
                }
                frame.pc++;
                continue;
            }
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
                if (region !== undefined) closeRegion(m, frame, region);
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
            case OP.ENDORSE:
                if (!begin(m, fiber, frame, I) || m.result !== null) return "wait";
                break;
            case OP.USE: {
                const d = I.detail as UseDetail;
                useEvent(m, frame.parent, pathOf(frame, d.path), d.use);
                frame.pc++;
                continue;
            }
            case OP.RETURN: {
                let value = checkResult(run, frame.fn, (I.code as Code)(L), I.site);
                if (m.accounts.open.size > 0 && m.spends(0)) throw stepsSpent(m);
                if (frame.form.flow !== 0) value = strictlyBack(m, fiber, frame, value);
                if (frame.form.regions.length > 0) leaveRegions(m, frame, -1);
                if (frame.agent !== null) {
                    const spent = frame.opened ? closeAccount(m, frame.account) : null;
                    lifted(m, frame.token, frame.path, frame.parent, I.site);
                    agentEnded(m, fiber, frame, value, spent);
                } else if (frame.token !== 0) lifted(m, frame.token, frame.path, frame.parent, I.site);
                if (m.result !== null) return "wait";
                fiber.frames.pop();
                if (fiber.frames.length === 0) {
                    if (m.spends(0)) throw stepsSpent(m);
                    fiberEnded(m, fiber, value);
                    return "wait";
                }
                const caller = fiber.top;
                const wait = caller.native;
                if (wait !== null) {
                    m.stand(fiber, caller);
                    fiber.touch();
                    waitsOf(m, wait).returned?.(m, waitingCall(fiber, wait), wait, value);
                    if (fiber.top !== caller) m.ready.push(fiber);
                    return "wait";
                }
                const call = caller.form.code[caller.pc] as Instruction;
                caller.locals[call.slot] = m.tracer === null ? value : m.tracer.mark(value, call.site, caller.path);
                caller.pc++;
                fiber.touch();
                break;
            }
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
    leaveStrict(frame.locals, frame.fn, to.locals, to.form.flow, (to.form.code[to.pc] as Instruction).failing);
    return value;
}

/** An instruction with a lambda. False where the slice is over and it has to run again, from its beginning. */
function stretch(m: Machine, fiber: Fiber, I: Instruction, L: Slots): boolean {
    const { run } = m;
    const { flow } = fiber.top.form;
    const [pc, caught] = [L[flow], L[flow + FLOW.caught]];
    const mark = run.begin("single", CLOSURE_DEPTH);
    let value: unknown;
    try {
        value = I.code(L);
    } catch (error) {
        if (error !== BAIL) throw error;
        if (flow !== 0) {
            L[flow] = pc as Value;
            L[flow + FLOW.caught] = caught as Value;
        }
        giveUp(m, fiber, mark, I.step);
        return false;
    }
    run.end();
    fiber.need = 0;
    if (I.slot !== 0) L[I.slot] = value as Value;
    return true;
}

/** Puts back what an instruction did that needs more steps than the slice had, or fails where more cannot be had. */
function giveUp(m: Machine, fiber: Fiber, mark: Mark, step: number): void {
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
function backToFrames(m: Machine, mark: Mark): void {
    const wasted = m.run.undo(mark);
    m.framesUntil = m.run.steps + wasted;
}

/** Passes of a `for` that reaches no effect are in the ledger up to so many. */
const MAX_QUIET_EVENTS = 100;

/**
 * Whether each pass of a `for` leaves an event: always where its body can reach an effect; else where it is short and stands in the entry
 * function or one that reaches an effect, which never run as closures, so that it is the same however the program is run.
 */
function leavesEvents(m: Machine, frame: Frame, d: NextDetail): boolean {
    if (d.name === null) return false;
    if (d.reaching) return true;
    if (!frame.fn.effectful && frame !== m.root.frames[0]) return false;
    const list = rawOf(frame.locals[d.list] as Value);
    return list instanceof List && Math.min(list.items.length, d.max) <= MAX_QUIET_EVENTS;
}

/** A loop as closures. False where it has to run as instructions. */
function wholeLoop(m: Machine, fiber: Fiber, frame: Frame, I: Instruction, L: Slots): boolean {
    const { run } = m;
    if (I.detail !== null && leavesEvents(m, frame, I.detail as NextDetail)) return false;
    const depth = m.depthLimit - fiber.base - fiber.frames.length;
    if (m.inFrames || run.steps < m.framesUntil || depth < 0) return false;
    const before = L.slice();
    const mark = run.begin("pure", depth < CLOSURE_DEPTH ? depth : CLOSURE_DEPTH);
    try {
        (I.code as Step)(L);
    } catch (error) {
        if (error !== BAIL && !(error instanceof RangeError)) throw error;
        backToFrames(m, mark);
        for (let i = 1; i < before.length; i++) L[i] = before[i] as Value;
        return false;
    }
    run.end();
    return true;
}

// ---- calls -----------------------------------------------------------------------------------------------------------

/** Runs a call as closures (true) or pushes its frame (false). */
function callFn(m: Machine, fiber: Fiber, frame: Frame, I: Instruction, L: Slots): boolean {
    const { run } = m;
    const d = I.detail as CallDetail;
    const { fn, args } = d;
    const changed = run.replaced === null ? null : now(m, fn);
    if (changed !== null) {
        const given = args.map((arg) => arg(L));
        countCall(m);
        push(m, fiber, frame, changed.fn, given, changed.author, d.path, I.site, null, true);
        return false;
    }
    if (fn.staysFramed || frame.form.flow !== 0 || d.agent !== null || m.inFrames || run.steps < m.framesUntil) {
        const given: Value[] = [];
        for (let i = 0; i < args.length; i++) given.push((args[i] as Code)(L));
        countCall(m);
        if (d.agent !== null && !isFree(m, frame, d.agent.value)) {
            const call = { fiber, frame, I, path: pathOf(frame, d.path) };
            if (!callsAgent(m, call, d.agent, fn, given, null)) return false;
        }
        push(m, fiber, frame, fn, given, d.agent, d.path, I.site);
        return false;
    }
    const { closure } = fn;
    const g = slots0(closure.slots, run);
    const n = args.length;
    for (let i = 0; i < n; i++) g[i + 1] = (args[i] as Code)(L);
    countCall(m);
    const a = n > 0 ? (g[1] as Value) : null;
    const b = n > 1 ? (g[2] as Value) : null;
    const rest = n > 2 ? g.slice(3, n + 1) : null;
    const depth = m.depthLimit - fiber.base - fiber.frames.length - 1;
    if (run.left >= 0 && depth >= 0) {
        const mark = run.begin("pure", depth < CLOSURE_DEPTH ? depth : CLOSURE_DEPTH);
        try {
            checkArguments(run, fn, g, I.site);
            L[I.slot] = checkResult(run, fn, closure.run(g), I.site);
            run.end();
            frame.pc++;
            return true;
        } catch (error) {
            if (error !== BAIL && !(error instanceof RangeError)) throw error;
            backToFrames(m, mark);
        }
    }
    const given: Value[] = n === 0 ? [] : n === 1 ? [a] : [a, b, ...((rest ?? []) as Value[])];
    push(m, fiber, frame, fn, given, null, d.path, I.site);
    return false;
}

/** The gate before a call of an agent, by its name where `c` is null. False: the fiber waits for an answer. */
function callsAgent(m: Machine, call: Call, agent: AgentEntry, fn: Fn, args: readonly Value[], c: Capability | null): boolean {
    const use = {
        c: c ?? agent.value,
        name: shownName(agent.name),
        uri: "",
        method: fn.form.main === true ? answering(agent) : fn.form.name,
        direct: c === null,
    };
    return gate(m, call, use, args) !== null;
}

/** A call through a value: a capability, an own key that holds one, or a method of data. */
function callValue(m: Machine, fiber: Fiber, frame: Frame, I: Instruction, L: Slots): "next" | "pushed" | "wait" | "slice" {
    const { run } = m;
    const d = I.detail as CallValueDetail;
    const { flow } = frame.form;
    const before = L[flow];
    const mark = run.begin("single", CLOSURE_DEPTH);
    try {
        const object = (I.code as Code)(L);
        // In strict code everything here depends on what is called; instructions before and behind keep and put back `pc`.
        if (flow !== 0) raisePc(L, flow, object, d.along);
        const args = d.args.map((a) => a(L));
        run.left--;
        const found = capabilityIn(object, d.name, I);
        if (found === null) {
            if (d.name === null) throw new Fail("value", "only a function can be called", { site: I.site, labels: labelOf(object) });
            if (flow === 0) L[I.slot] = callMethod(run, object, d.name, args, d.rows, d.safe, I.site);
            else {
                const how = { rows: d.rows, safe: d.safe, at: I.site, pc: labelAt(L, flow) };
                L[I.slot] = withPc(L, flow, strictlyCalled(run, object, d.name, args, how));
            }
            run.end();
            fiber.need = 0;
            frame.pc++;
            return "next";
        }
        run.end();
        if (flow !== 0) raisePc(L, flow, found.value, d.along);
        if (m.spends(0)) throw stepsSpent(m);
        const call = { fiber, frame, I, path: pathOf(frame, d.path) };
        callCapability(m, call, found.target, found.method, dataOnly(args, I));
        return fiber.top !== frame && m.result === null ? "pushed" : "wait";
    } catch (error) {
        if (error !== BAIL) throw error;
        if (flow !== 0) L[flow] = before as Value;
        giveUp(m, fiber, mark, I.step);
        return "slice";
    }
}

/** The capability that a call through a value reaches: the value itself, or what the object's own key holds. */
function capabilityIn(
    object: Value,
    name: string | null,
    I: Instruction,
): { target: Capability; value: Value; method: string | null } | null {
    const target = rawOf(object);
    if (target instanceof Capability) return { target, value: object, method: name };
    const own = name !== null && target instanceof Obj ? target.get(name) : undefined;
    if (own === undefined) return null;
    const held = rawOf(own);
    if (!(held instanceof Capability))
        throw new Fail("value", `'${name}' of this object is not a function`, { site: I.site, labels: labelOf(object) });
    return { target: held, value: own, method: null };
}

/** A call of a capability, or of a method of it. */
function callCapability(m: Machine, call: Call, c: Capability, method: string | null, args: Value[]): void {
    const { fiber, frame, I } = call;
    const { compiled } = m;
    const site = (I.detail as CallValueDetail).path;
    const refuse = (message: string): Fail => new Fail("value", message, { site: I.site });
    if (c.kind === "tool" || c.kind === "memory") {
        const form = compiled.importOf(c);
        if (method === null || form === undefined) throw refuse(`${c.name} is ${withArticle(c.kind)}: call one of its methods`);
        const use = { entry: { file: c.file, number: 0, form, value: c }, method, args, c };
        if (c.kind === "tool") askTool(m, call, use);
        else askMemory(m, call, use);
        return;
    }
    let fn: Fn | undefined;
    let agent: AgentEntry | null = null;
    let deputy: string | null = null;
    if (c.kind === "func" && method === null) {
        fn = compiled.functionOf(c);
        deputy = deputyOf(m, frame, c, I);
    } else if (c.kind === "agent") {
        agent = compiled.agent(c.file, c.name) ?? null;
        fn = method === null ? (agent?.main ?? undefined) : agent?.funcs.get(method);
        if (fn === undefined && method === "send") {
            // Its step is counted where control is handed over.
            m.run.left++;
            begin(m, fiber, frame, I);
            return;
        }
    }
    if (fn === undefined)
        throw refuse(
            method === null ? `${c.name} is ${withArticle(c.kind)} and cannot be called` : `${c.name} has no function '${method}'`,
        );
    const wrong = wrongCount(fn, args.length);
    if (wrong !== null) throw refuse(wrong);
    const { params } = fn.form;
    const given = params.map((p, i) => args[i] ?? m.fromJson(p.default ?? null));
    if (agent !== null && !callsAgent(m, call, agent, fn, given, c)) return;
    push(m, fiber, frame, fn, given, agent, site, I.site, deputy);
}

/**
 * Who a function value runs as: whoever handed it over, as long as that call or block goes on. One that nobody handed over, in a list or an object,
 * is no grant: it runs as whoever calls it, as it would by its name.
 */
function deputyOf(m: Machine, frame: Frame, c: Capability, I: Instruction): string {
    if (c.right === null) return frame.principal;
    if (c.right.holder !== frame.principal)
        throw new Fail("violation.remit", `${m.authority.nameOf(frame.principal)} calls ${c.name}, which was not given to it`, {
            site: I.site,
            by: frame.principal,
            hint: "pass it as an argument of its own",
        });
    if (c.right.alive.some((token) => !m.standing.alive.has(token)))
        throw new Fail("violation.revoked", `${c.name} was given only for a block or call that has ended`, {
            site: I.site,
            by: frame.principal,
        });
    return c.right.from;
}

export { unwind };
