/**
 * Functions that an agent wrote: how one is taken into the running program, run, and forgotten again.
 *
 * Boundary: compiled code and frames. Whether an answer is a valid function is the language's; what its value means is `yield.ts`.
 *
 * W6: it runs as the agent's principal, closed: it sees its parameters, its own functions, the built-ins and what the remit gives by the name that
 *     this has in the agent's file (the answer is refused where it names more; each use is decided like any other).
 * W7: it runs strictly, and what it depends on from the start is the agent: whatever it computes, writes, hands out or raises carries the
 *     agent's origin, its literals included. Where code strict by itself handed over, it depends on all that the agent was told, too.
 * W8: its code is gone when its call is over.
 */
import { type Answer, type At, type FileForm, shownName, walk } from "@remit/language";
import type { Handle } from "../agent/handshake.ts";
import type { Session } from "../agent/session.ts";
import { wrongCount } from "../compile/calls.ts";
import type { AgentEntry, Fn } from "../compile/program.ts";
import { Fail } from "../effect/failure.ts";
import { Capability, type Value } from "../value/value.ts";
import type { Machine } from "../run/machine.ts";
import { agentStarted } from "./events.ts";
import { type Fiber, Frame } from "./fiber.ts";
import { entered, isStrict, mayNest } from "./frames.ts";
import { chooses, flowOf } from "../compile/strict.ts";
import { type Handing, heardIn, labelOfSaid, payerOf, sessionOf } from "./handover.ts";
import type { Ops } from "./ops.ts";

/** Code of an agent that is in the running program. */
export interface Written {
    readonly form: FileForm;
    /** Path of the call that it answers. */
    readonly path: string;
    readonly agent: readonly [number, string];
    /** Its call is still going on. */
    live: boolean;
}

/** Takes a file of functions into the running program; gives its number. */
export function takeIn(m: Machine, written: Written): number {
    m.compiled = m.compiled.extend(written.form, written.agent[0]);
    m.authority.program = m.compiled;
    m.written.push(written);
    return m.compiled.files.length - 1;
}

/** Forgets the code that answered a call, as soon as nothing that came after it is in use. */
export function dropWritten(m: Machine, path: string): void {
    for (const one of m.written) if (one.path === path) one.live = false;
    // What was let through at its places is as gone as they are.
    m.run.letThrough.clear();
    for (let last = m.written.at(-1); last !== undefined && !last.live; last = m.written.at(-1)) {
        m.written.pop();
        if (m.compiled.base !== null) m.compiled = m.compiled.base;
    }
    m.authority.program = m.compiled;
}

/** True where a function was written by an agent. */
export function isWritten(m: Pick<Ops, "authored">, fn: Fn): boolean {
    return fn.file >= m.authored;
}

/** Whether code is strict by itself: what an agent wrote always is, and says nothing of what it is for. */
export function isStrictlyOwn(m: Pick<Ops, "authored">, frame: Frame): boolean {
    return frame.isStrict && !isWritten(m, frame.fn);
}

/** The same of the program's code that a fiber runs, or runs an agent's answer for. */
export function runsStrictly(m: Pick<Ops, "authored">, fiber: Fiber): boolean {
    for (let f: Fiber | null = fiber; f !== null; f = f.parent) {
        const own = f.frames.findLast((frame) => !isWritten(m, frame.fn));
        if (own !== undefined) return own.isStrict;
    }
    return false;
}

/** The function of an answer as a frame over the one that waits for it. */
export function runWritten(m: Ops, h: Handing, answer: Answer): void {
    const { wait, path } = h;
    const session = sessionOf(m, wait);
    const { agent, principal, token } = session;
    const file = m.takeIn({ form: answer.file, path, agent, live: true });
    const fn = m.compiled.files[file]?.funcs.get(answer.func) as Fn;
    const ways = [{ layers: [], alive: [] }];
    const own = new Capability("agent", ...agent, null, { holder: principal, from: principal, ways, only: [], alive: [token] });
    const { params } = wait.state;
    const args = answer.params.map((name): Value => (name === "agent" ? own : (wait.args.items[params.indexOf(name)] as Value)));
    const who = `agent ${shownName(agent[1])}`;
    m.tracer?.at(h.I.site, path, who);
    const heard = heardIn(session, wait.state);
    const isTold = heard.length > 0 && isStrictIn(m, h.fiber, session);
    const author = `agent:${agent[1]}`;
    push(m, h, { fn, args, origin: isTold ? labelOfSaid(m, h, who, [...heard, author]) : m.run.labels.of([author]), heard });
}

/** The main func of an agent of the program, which answers a turn. */
export function pushAgent(m: Ops, h: Handing, { main }: AgentEntry, asked: Value): void {
    const fn = main as Fn;
    const wrong = wrongCount(fn, 1);
    if (wrong !== null) throw new Fail("value", wrong, { site: h.I.site, hint: "what it is asked is its first parameter" });
    const args = fn.form.params.map((p, i) => (i === 0 ? asked : m.fromJson(p.default ?? null)));
    push(m, h, { fn, args, origin: 0, heard: [] });
}

interface Inner {
    readonly fn: Fn;
    readonly args: readonly Value[];
    /** The label of the agent that wrote it, which makes it run strictly; else 0. */
    readonly origin: number;
    /** Origins of what that agent was told. */
    readonly heard: readonly string[];
}

/** Whether the call, or the agent's remit, says that its code is strict. */
function isBoundStrictly({ authority }: Ops, { policy, agent, principal }: Session): boolean {
    return authority.isStrict(principal) || (policy !== null && authority.policyNamed(policy, agent)?.strict === true);
}

function isStrictIn(m: Ops, fiber: Fiber, session: Session): boolean {
    return isBoundStrictly(m, session) || runsStrictly(m, fiber);
}

/**
 * W12: in strict code a further call over a session depends on all that came into the run. Its agent knows which turns there were before, and how many, and a
 * turn that was not taken under a condition leaves no label behind.
 */
export function labelOfSession(m: Ops, fiber: Fiber, session: Session): number {
    return isStrictIn(m, fiber, session) ? m.run.labels.of([...m.standing.met]) : 0;
}

/** A frame of the session's principal over the one that waits. */
function push(m: Ops, { fiber, frame, path: of, wait }: Handing, { fn, args, origin, heard }: Inner): void {
    const session = sessionOf(m, wait);
    const { principal, agent } = session;
    const entry = m.compiled.agent(...agent) as AgentEntry;
    mayNest(m, fiber);
    const strict = isBoundStrictly(m, session) || isStrict(m, frame, fn, principal, origin);
    const form = fn.framesFor(strict || m.run.tracks);
    const locals = entered(m, frame, fn, { form, origin, loose: !strict }, args);
    // What it was handed over chose with it.
    if (origin !== 0) chooses(locals, flowOf(fn), m.run.labels.of(heard));
    const path = `${of}/turn[${wait.state.turn - 1}]/${fn.name}`;
    agentStarted(m, frame, { fn, agent: entry, path }, args);
    const account = payerOf(wait.state, session);
    const place = { path, parent: path, agent: entry, principal, token: 0, account, opened: false };
    fiber.frames.push(new Frame(fn, 0, form.bodies[0] as Frame["form"], locals, place));
}

/** What an answer knows: by name, what it was passed and what its remit gives. Null: data. */
export interface Known {
    readonly passed: ReadonlyMap<string, Handle | null>;
    readonly given: ReadonlyMap<string, Handle>;
}

/** What an answer does with the tools it was given that they do not have, before a step of it runs. */
export function unfit({ passed, given }: Known, answer: Answer): string[] {
    const errors: string[] = [];
    for (const func of answer.file.funcs) {
        const params = new Set(func.params.map((one) => one.name));
        const assigned = new Set<string>();
        const calls: { readonly of: string; readonly name: string; readonly at: At | undefined }[] = [];
        walk(func.body, (e) => {
            if (e.kind === "assign" && e.target.kind === "name") assigned.add(e.target.name);
            if (e.kind === "call" && e.callee.kind === "member" && e.callee.object.kind === "name")
                calls.push({ of: e.callee.object.name, name: e.callee.name, at: e.at });
        });
        for (const { of, name, at } of calls) {
            // A parameter of the answer is what it was passed, one of a function beside it whatever that gives.
            const handle = params.has(of) ? (func.name === answer.func ? passed.get(of) : null) : given.get(of);
            if (assigned.has(of) || handle == null || handle.kind === "func") continue;
            const methods = handle.handle.map((one) => one.method);
            if (methods.includes(name)) continue;
            const line = at === undefined ? "" : ` (line ${at[0]})`;
            const message = `${of}.${name} is not among what you were given${line}: ${of} has ${methods.join(", ") || "no methods"}`;
            if (!errors.includes(message)) errors.push(message);
        }
    }
    return errors;
}
