/**
 * Functions that an agent wrote: how one is taken into the running program, run, and forgotten again.
 *
 * Boundary: compiled code and frames. Whether an answer is a valid function is the language's; what its value means is `handover.ts`.
 *
 * W6: it runs as the agent's principal, closed: it sees its parameters, its own functions and the built-ins.
 * W7: it runs strictly, and what it depends on from the start is the agent: whatever it computes, writes, hands out or raises carries the
 *     agent's origin, its literals included.
 * W8: its code is gone when its call is over.
 */
import { type Answer, type At, type FileForm, type Site, shownName } from "@remit/language";
import type { Handle } from "../agent/handshake.ts";
import type { Session } from "../agent/session.ts";
import { wrongCount } from "../compile/calls.ts";
import type { AgentEntry, Fn } from "../compile/program.ts";
import { walkBlock } from "../compile/walk.ts";
import { Fail } from "../effect/failure.ts";
import { Capability, type Value } from "../value/value.ts";
import { agentStarted } from "./events.ts";
import { type Fiber, Frame } from "./fiber.ts";
import { entered, mayNest, isStrict } from "./frames.ts";
import type { HandoverWait } from "./handover.ts";
import type { Machine } from "./machine.ts";
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
    m.compiled = m.compiled.extend(written.form);
    m.authority.program = m.compiled;
    m.written.push(written);
    return m.compiled.files.length - 1;
}

/** Forgets the code that answered a call, as soon as nothing that came after it is in use. */
export function dropWritten(m: Machine, path: string): void {
    for (const one of m.written) if (one.path === path) one.live = false;
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

/** The function of an answer as a frame over the one that waits for it. */
export function runWritten(
    m: Machine,
    fiber: Fiber,
    frame: Frame,
    native: HandoverWait,
    session: Session,
    account: number,
    entry: AgentEntry,
    answer: Answer,
    site: Site | null,
): void {
    const file = takeIn(m, { form: answer.file, path: native.path, agent: session.agent, live: true });
    const fn = m.compiled.files[file]?.funcs.get(answer.func) as Fn;
    const own = new Capability("agent", session.agent[0], session.agent[1], null, {
        holder: session.principal,
        from: session.principal,
        ways: [{ layers: [], alive: [] }],
        only: [],
        alive: [session.token],
    });
    const { params } = native.state;
    const given = answer.params.map((name): Value => (name === "agent" ? own : (native.args.items[params.indexOf(name)] as Value)));
    m.tracer?.at(site, native.path, `agent ${shownName(entry.name)}`);
    const origin = m.run.labels.of([`agent:${entry.name}`]);
    push(m, fiber, frame, fn, entry, given, session, account, `${native.path}/turn[${native.state.turn - 1}]`, origin);
}

/** The main func of an agent of the program, which answers a turn. */
export function pushAgent(
    m: Machine,
    fiber: Fiber,
    frame: Frame,
    entry: AgentEntry,
    args: readonly Value[],
    session: Session,
    account: number,
    at: string,
    site: Site | null,
): void {
    const fn = entry.main as Fn;
    const wrong = wrongCount(fn, args.length);
    if (wrong !== null) throw new Fail("value", wrong, { site, hint: "what it is asked is its first parameter" });
    const given = fn.form.params.map((p, i) => args[i] ?? m.fromJson(p.default ?? null));
    push(m, fiber, frame, fn, entry, given, session, account, at, 0);
}

/** A frame of the session's principal over the one that waits. `origin`: the label of who wrote the function, which then runs strictly; else 0. */
function push(
    m: Machine,
    fiber: Fiber,
    frame: Frame,
    fn: Fn,
    entry: AgentEntry,
    given: readonly Value[],
    { principal, policy, agent }: Session,
    account: number,
    at: string,
    origin: number,
): void {
    mayNest(m, fiber);
    const strict = policy !== null && m.authority.policyNamed(policy, agent)?.strict === true;
    const form = fn.framesFor(strict || isStrict(m, frame, fn, principal, origin));
    const locals = entered(m, frame, fn, { form, origin }, given);
    const path = `${at}/${fn.name}`;
    agentStarted(m, frame, { fn, agent: entry, path }, given);
    fiber.frames.push(
        new Frame(fn, 0, form.bodies[0] as Frame["form"], locals, {
            path,
            parent: path,
            agent: entry,
            principal,
            token: 0,
            account,
            opened: false,
        }),
    );
}

/** What an answer does with the tools it was given that they do not have, before a step of it runs. */
export function unfit(native: HandoverWait, handles: readonly (Handle | null)[], answer: Answer): string[] {
    const errors: string[] = [];
    const func = answer.file.funcs.find((one) => one.name === answer.func);
    const assigned = new Set<string>();
    const calls: { readonly param: string; readonly name: string; readonly at: At | undefined }[] = [];
    walkBlock(func?.body ?? [], {
        stmt: (s) => {
            if (s.kind === "assign" && s.target.kind === "name") assigned.add(s.target.name);
            return true;
        },
        expr: (e) => {
            if (e.kind === "call" && e.callee.kind === "member" && e.callee.object.kind === "name")
                calls.push({ param: e.callee.object.name, name: e.callee.name, at: e.at });
            return true;
        },
    });
    for (const { param, name, at } of calls) {
        const handle = handles[native.state.params.indexOf(param)];
        if (assigned.has(param) || handle == null || handle.kind === "func") continue;
        const methods = handle.handle.map((one) => one.method);
        if (methods.includes(name)) continue;
        const line = at === undefined ? "" : ` (line ${at[0]})`;
        const message = `${param}.${name} is not among what you were given${line}: ${param} has ${methods.join(", ") || "no methods"}`;
        if (!errors.includes(message)) errors.push(message);
    }
    return errors;
}
