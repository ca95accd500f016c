/**
 * What a call hands over, and to whom: the agent that it names, copies of what leaves, and whether that may be.
 *
 * Boundary: before control is handed over. Nothing has happened yet when one of these fails.
 *
 * TA4: what is handed over is a copy; a capability among it is a grant for the session.
 */
import { type Site, shownName } from "@remit/language";
import { readersOf } from "../authority/readers.ts";
import type { Session } from "../agent/session.ts";
import type { Code } from "../compile/code.ts";
import type { HandoverDetail } from "../compile/instructions.ts";
import { type AgentEntry, answering } from "../compile/program.ts";
import { Fail } from "../effect/failure.ts";
import { located } from "../value/access.ts";
import { fromJson, toJson } from "../value/json.ts";
import { join, rawOf } from "../value/operators.ts";
import { Capability, Labelled, Obj, type Value } from "../value/value.ts";
import type { AgentConfig } from "./agent-config.ts";
import type { Frame } from "../state/fiber.ts";
import { isFree } from "../state/gate.ts";
import type { Call, Ops } from "../state/ops.ts";
import { refuse } from "../state/refusal.ts";

export type Target = { readonly entry: AgentEntry; readonly c: Capability; readonly session: Session | null };

/** The agent that a call names, and the session that it goes over where one is open. */
export function targetOf(m: Ops, { frame, I, path }: Call, d: HandoverDetail, config: AgentConfig | null): Target {
    const { site } = I;
    let c: Capability;
    if (d.what === "agent") c = config?.agent ?? theAgent(m, frame, site);
    else {
        const value = (I.code as Code)(frame.locals);
        const raw = rawOf(value);
        if (!(raw instanceof Capability) || raw.kind !== "agent")
            throw new Fail("value", `only an agent can be handed control by '${d.what}'`, {
                site,
                ...(value instanceof Labelled ? { labels: value.l } : {}),
            });
        c = raw;
    }
    const entry = m.compiled.agent(c.file, c.name);
    if (entry === undefined) throw new Fail("value", `there is no agent '${c.name}' here`, { site });
    if (c.right?.alive.some((token) => !m.standing.alive.has(token)))
        throw refuse(m, { frame, I, path }, { principal: frame.principal, capability: c.name, why: "revoked", clause: null });
    const session = d.what === "agent" ? undefined : sessionOf(m, c);
    if (entry.outside === null && entry.main === null)
        throw new Fail("value", `agent ${shownName(entry.name)} has no main func, which would answer`, { site });
    return { entry, c, session: session ?? null };
}

/** Whatever else was handed over with a session lives by the same token: another agent among it is no way into this one's session. */
function sessionOf(m: Ops, c: Capability): Session | undefined {
    if (c.right === null) return undefined;
    for (const session of m.sessions.values()) {
        const [file, name] = session.agent;
        if (c.file === file && c.name === name && c.right.alive.includes(session.token) && c.right.holder === session.principal)
            return session;
    }
    return undefined;
}

/** Without `agent:` it is the one agent outside the program that the file imports. */
function theAgent(m: Ops, frame: Frame, site: Site | null): Capability {
    const outside = [...(m.compiled.files[frame.fn.file]?.agents.values() ?? [])].filter((one) => one.outside !== null);
    const [only] = outside;
    if (only === undefined || outside.length > 1)
        throw new Fail("value", outside.length > 1 ? "which agent? The file imports several" : "there is no agent here", {
            site,
            hint: 'write agent("…", { agent: Name })',
        });
    return m.run.minter === null ? only.value : m.run.minter(only.value);
}

/** Copies of what is handed over, capabilities as they are; and the origins of all of it. */
export function copies(m: Ops, frame: Frame, values: readonly Value[], site: Site | null): { args: Value[]; labels: readonly string[] } {
    const { run } = m;
    let all = frame.placeLabel;
    try {
        const args = values.map((value): Value => {
            const raw = rawOf(value);
            if (raw instanceof Capability) {
                if (value instanceof Labelled) all = run.labels.union(all, value.l);
                return raw;
            }
            const out = toJson(value, run);
            all = run.labels.union(all, out.labels);
            run.give(3 * out.size);
            return join(run, fromJson(out.json, run.heap), out.labels);
        });
        return { args, labels: run.labels.origins(all) };
    } catch (error) {
        throw located(error, site);
    }
}

/** What leaves: its names, and copies of it. */
export interface Leaving {
    readonly names: readonly string[];
    readonly args: readonly Value[];
}

/** The gate before control is handed over, with what leaves as its arguments. False: a question was put. */
export function permitted(m: Ops, call: Call, what: HandoverDetail["what"], target: Target, { names, args }: Leaving): boolean {
    const { frame } = call;
    const { entry, c } = target;
    if (isFree(m, frame, c)) return true;
    const obj = new Obj(m.run.heap.root, [], m.run.heap);
    args.forEach((arg, i) => {
        if (rawOf(arg) instanceof Capability) return;
        obj.shape = obj.shape.with(names[i] as string);
        obj.slots.push(arg);
    });
    const direct =
        c.right === null ||
        (c.right.holder === frame.principal && c.right.from === frame.principal && c.right.alive.length === 0 && c.right.only.length === 0);
    // Of an agent outside the program, `send` and `yield` are all that there is to name; `agent()` is a text and its answer, as `send` is.
    const method = entry.outside === null ? answering(entry) : what === "yield" ? "yield" : "send";
    const use = { c, name: shownName(entry.name), uri: entry.outside?.form.uri ?? "", method, direct };
    return m.gate(call, use, [obj]) !== null;
}

/** The handshake is a sink: what only some may read does not leave for an agent that is none of them. */
export function mayRead(m: Ops, call: Call, entry: AgentEntry, { names, args }: Leaving): void {
    const { labels } = m.run;
    args.forEach((arg, i) => {
        if (!(arg instanceof Labelled)) return;
        const readers = readersOf(labels.origins(arg.l));
        if (readers === null || readers.includes(entry.name) || readers.includes(`agent:${entry.name}`)) return;
        const origins = labels.origins(arg.l).filter((o) => o.startsWith("only:"));
        const rule = `may be read by ${readers.length === 0 ? "no principal" : `${readers.join(", ")} only`}`;
        const flow = { arg: names[i] as string, origins, rule };
        const { principal } = call.frame;
        const refusal = { principal, capability: shownName(entry.name), why: "hand over", clause: null, flow } as const;
        throw refuse(m, call, refusal, { labels: labels.origins(arg.l) });
    });
}
