/**
 * Calls: of functions, by name and through values.
 *
 * Boundary: the two instructions, from what is called to a value, a frame or an operation. How a frame begins is `frames.ts`.
 */
import { shownName, withArticle } from "@remit/language";
import { type Slots, type Code, slots0, BAIL } from "../compile/code.ts";
import type { CallDetail, CallValueDetail, Instruction } from "../compile/instructions.ts";
import { type Value, Capability, Obj } from "../value/value.ts";
import { checkArguments, checkResult } from "../compile/contracts.ts";
import { answering, type Fn, type AgentEntry } from "../compile/program.ts";
import { runLoose } from "../compile/loose.ts";
import { flowOf, isLoose, raisePc, labelAt, withPc } from "../compile/strict.ts";
import { Fail } from "../effect/failure.ts";
import { labelOf, rawOf } from "../value/operators.ts";
import { callMethod, type Method, strictlyCalled, wrongCount } from "../compile/calls.ts";
import { now } from "../state/definitions.ts";
import { type Fiber, type Frame, pathOf } from "../state/fiber.ts";
import { push, type Callee, dataOnly } from "../state/frames.ts";
import { isFree, gate } from "../state/gate.ts";
import { unwind } from "../state/handlers.ts";
import type { Call } from "../state/ops.ts";
import { refuse } from "../state/refusal.ts";
import { byNames, isOfVerbs } from "../state/stage.ts";
import { countCall, stepsSpent } from "../state/steps.ts";
import type { Machine } from "./machine.ts";
import { CLOSURE_DEPTH, backToFrames, giveUp, keepsLoosely, putBack } from "./stretches.ts";

/** Runs a call as closures (true) or pushes its frame (false). */
export function callFn(m: Machine, fiber: Fiber, frame: Frame, I: Instruction, L: Slots): boolean {
    const { run } = m;
    const d = I.detail as CallDetail;
    const { fn, args } = d;
    const changed = run.replaced === null ? null : now(m, fn);
    if (changed !== null) {
        const given = args.map((arg) => arg(L));
        countCall(m);
        push(m, fiber, { fn: changed.fn, agent: changed.author, path: d.path, written: true, by: changed.by }, given);
        return false;
    }
    // As long as nothing in the run could choose, there is nothing to keep.
    const flow = run.labels.isForeign ? frame.form.flow : 0;
    const isFramed = fn.staysFramed || frame.isStrict || (flow !== 0 && !(fn.isLoose && keepsLoosely(run, frame)));
    if (isFramed || d.agent !== null || m.inFrames || run.steps < m.framesUntil) {
        const given: Value[] = [];
        for (let i = 0; i < args.length; i++) given.push((args[i] as Code)(L));
        countCall(m);
        if (d.agent !== null && !isFree(m, frame, d.agent.value)) {
            const call = { fiber, frame, I, path: pathOf(frame, d.path) };
            if (!callsAgent(m, call, d, given, null)) return false;
        }
        push(m, fiber, d, given);
        return false;
    }
    const closure = flow === 0 ? fn.closure : fn.looseClosure;
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
            if (flow !== 0) {
                g[flowOf(fn)] = L[flow] as Value;
                L[I.slot] = runLoose(fn, g, true, I.site);
            } else {
                checkArguments(run, fn, g, I.site);
                L[I.slot] = checkResult(run, fn, closure.run(g), I.site);
            }
            run.end();
            frame.pc++;
            return true;
        } catch (error) {
            if (error !== BAIL && !(error instanceof RangeError) && !(flow !== 0 && error instanceof Fail)) throw error;
            backToFrames(m, mark);
        }
    }
    const given: Value[] = n === 0 ? [] : n === 1 ? [a] : [a, b, ...((rest ?? []) as Value[])];
    push(m, fiber, d, given);
    return false;
}

/** The gate before a call of an agent, by its name where `c` is null. False: the fiber waits for an answer. */
function callsAgent(m: Machine, call: Call, { fn, agent: called }: Callee, args: readonly Value[], c: Capability | null): boolean {
    const agent = called as AgentEntry;
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
export function callValue(m: Machine, fiber: Fiber, frame: Frame, I: Instruction, L: Slots): "next" | "pushed" | "wait" | "slice" {
    const { run } = m;
    const d = I.detail as CallValueDetail;
    const { flow } = frame.form;
    const before = L.slice();
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
            if (flow === 0) L[I.slot] = callMethod(run, object, args, d as Method, I.site);
            else {
                const how = { at: I.site, pc: labelAt(L, flow), loose: isLoose(L, flow) };
                L[I.slot] = withPc(L, flow, strictlyCalled(run, object, args, d as Method, how));
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
        callCapability(m, call, found.target, found.method, dataOnly(args, I.site));
        return fiber.top !== frame && m.result === null ? "pushed" : "wait";
    } catch (error) {
        if (error !== BAIL) throw error;
        putBack(L, before);
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
    const no = (message: string): Fail => new Fail("value", message, { site: I.site });
    if (c.kind === "tool" || c.kind === "memory") {
        const form = compiled.importOf(c);
        if (method === null || form === undefined) throw no(`${c.name} is ${withArticle(c.kind)}: call one of its methods`);
        m.natives["call.value"].use(m, call, { entry: { file: c.file, number: 0, form, value: c }, method, args, c });
        return;
    }
    let fn: Fn | undefined;
    let agent: AgentEntry | null = null;
    let deputy: string | null = null;
    if (c.kind === "func" && method === null) {
        fn = compiled.functionOf(c);
        deputy = deputyOf(m, call, c);
    } else if (c.kind === "agent") {
        agent = compiled.agent(c.file, c.name) ?? null;
        fn = method === null ? (agent?.main ?? undefined) : agent?.funcs.get(method);
        if (fn === undefined && method === "send") {
            // Its step is counted where control is handed over.
            m.run.left++;
            m.natives["call.value"].send(m, call);
            return;
        }
    }
    if (fn === undefined)
        throw no(method === null ? `${c.name} is ${withArticle(c.kind)} and cannot be called` : `${c.name} has no function '${method}'`);
    const [all] = args;
    const isNamed = isOfVerbs(m, frame) && args.length === 1 && all !== undefined;
    const wrong = isNamed ? null : wrongCount(fn, args.length);
    if (wrong !== null) throw no(wrong);
    const given = isNamed ? byNames(m, fn.form, all) : fn.form.params.map((p, i) => args[i] ?? m.fromJson(p.default ?? null));
    const to = { fn, agent, path: (I.detail as CallValueDetail).path, deputy };
    if (agent !== null && !callsAgent(m, call, to, given, c)) return;
    push(m, fiber, to, given);
}

/**
 * Who a function value runs as: the principal that handed it over, as long as that call or block goes on. One that was not handed over, in a list or an object,
 * is no grant: it runs as its caller, as it would by its name.
 */
function deputyOf(m: Machine, call: Call, c: Capability): string {
    const { principal } = call.frame;
    if (c.right === null) return principal;
    const no = (why: "holder" | "revoked"): Fail => refuse(m, call, { principal, capability: c.name, why, clause: null });
    if (c.right.holder !== principal) throw no("holder");
    if (c.right.alive.some((token) => !m.standing.alive.has(token))) throw no("revoked");
    return c.right.from;
}

export { unwind };
