/**
 * What the agent of an `agent()` call does: bounded by its budget, told in its trajectory.
 *
 * Boundary: counting and telling. An agent outside the program is counted by the host while a turn runs, and told of by its reply; an agent of the
 * program is counted here, effect by effect.
 *
 * AT1: what is over the budget is refused before it happens. All tries of a call draw from one budget.
 * AT2: what an agent of the program did is told with the origins of what it saw.
 */
import { type Json, type Site, shownName } from "@remit/language";
import type { Doing, Session } from "../agent/session.ts";
import type { AgentEntry as Program } from "../compile/program.ts";
import {
    type AgentEntry,
    type AgentReply,
    type Effect,
    type EffectKind,
    type MemoryRequest,
    type ModelReply,
    opOf,
    type Outcome,
    type ToolRequest,
} from "../effect/effect.ts";
import { addUsage, type Usage } from "../effect/usage.ts";
import { Fail } from "../effect/failure.ts";
import type { Exceeded } from "./accounts.ts";
import type { AgentConfig } from "../native/agent-config.ts";
import type { Machine } from "../run/machine.ts";
import { overdrawn } from "./spending.ts";

/** Entries that are told, and UTF-16 units of a result: what is beyond is counted only, or cut. */
const MAX_ENTRIES = 10_000;
const MAX_OUTPUT = 64 * 1024;

export function doingOf(config: AgentConfig | null): Doing | null {
    if (config === null) return null;
    const { steps, calls } = config;
    return {
        most: { ...(steps === undefined ? {} : { steps }), ...(calls === undefined ? {} : { calls }) },
        steps: 0,
        calls: 0,
        entries: [],
        usage: null,
        origins: [],
    };
}

/** What is left of what `agent()` bounds by itself, for a turn of an agent outside the program. Throws where nothing is (AT1). */
export function leftToDo(
    { doing, ...session }: Session,
    path: string,
    site: Site | null,
): { readonly steps?: number; readonly calls?: number } {
    if (doing === null) return {};
    const { steps, calls } = doing.most;
    if (steps !== undefined && doing.steps >= steps) {
        const { fail } = usedUp(session, "steps", steps, doing.steps, path);
        fail.site = site;
        throw fail;
    }
    return {
        ...(steps === undefined ? {} : { steps: steps - doing.steps }),
        ...(calls === undefined ? {} : { calls: Math.max(0, calls - doing.calls) }),
    };
}

/** A turn of an agent outside the program is over. */
export function turnDone(session: Session, reply: AgentReply | null): void {
    if (session.doing === null || reply === null) return;
    session.doing.steps += reply.spent.steps;
    session.doing.calls += reply.spent.calls;
}

/** Before an effect of agents of the program: their steps and calls (AT1). */
export function stepBegins(
    m: Machine,
    { kind, request, path, site }: Pick<Effect, "kind" | "request" | "path" | "site">,
    account: number,
): void {
    const call = isCall(kind, request);
    if (!call && !isTurn(kind, request)) return;
    const around = sessionsAround(m, account);
    for (const session of around) {
        const { most, steps, calls } = session.doing;
        if (most.steps !== undefined && steps >= most.steps)
            throw overdrawn(m, usedUp(session, "steps", most.steps, steps, path), path, site);
        if (call && most.calls !== undefined && calls >= most.calls)
            throw overdrawn(m, usedUp(session, "calls", most.calls, calls, path), path, site);
    }
    for (const { doing } of around) {
        doing.steps++;
        if (call) doing.calls++;
    }
}

/** After it: what is told of it (AT2). */
export function stepEnded(m: Machine, { kind, request, path }: Effect, outcome: Outcome, account: number): void {
    const call = isCall(kind, request);
    if (!call && !isTurn(kind, request)) return;
    for (const { doing } of sessionsAround(m, account)) {
        if (doing.entries.length < MAX_ENTRIES)
            doing.entries = [...doing.entries, ...(call ? [toolEntry(kind, request, path, outcome)] : turnEntries(outcome))];
        if (kind === "agent" && outcome.ok) doing.calls += (outcome.value as unknown as Partial<AgentReply>).spent?.calls ?? 0;
        if (outcome.usage !== undefined) doing.usage = addUsage(doing.usage ?? {}, outcome.usage);
        doing.origins = [...new Set([...doing.origins, ...(outcome.ok ? outcome.origins : (outcome.origins ?? []))])].sort();
    }
}

/** The reply of an agent of the program, as far as it came, and what that used; nothing of it is told again. */
export function takeDone(doing: Doing, said: string | null): { readonly reply: AgentReply; readonly usage: Usage | undefined } {
    const entries: AgentEntry[] = [...doing.entries, ...(said === null ? [] : [{ kind: "message" as const, text: said }])];
    const reply: AgentReply = {
        text: said ?? "",
        stop: said === null ? "cancelled" : "end_turn",
        entries,
        confinement: "remote",
        spent: { steps: doing.steps, calls: doing.calls, ms: 0 },
    };
    const usage = doing.usage ?? undefined;
    doing.entries = [];
    doing.usage = null;
    return { reply, usage };
}

type Inside = Session & { readonly doing: Doing };

/** Calls of agents of the program that an account pays for something in. */
function sessionsAround(m: Machine, account: number): readonly Inside[] {
    const found: Inside[] = [];
    for (const one of m.sessions.values())
        if (isDoing(one) && (m.compiled.agent(...one.agent) as Program).outside === null && m.accounts.within(account, one.account))
            found.push(one);
    return found;
}

function isDoing(one: Session): one is Inside {
    return one.doing !== null;
}

function isCall(kind: EffectKind, request: Json): boolean {
    return kind === "remember" || kind === "recall" || (kind === "tool" && opOf(request) === "call");
}

function isTurn(kind: EffectKind, request: Json): boolean {
    return (kind === "model" || kind === "agent") && opOf(request) === "turn";
}

function toolEntry(kind: EffectKind, request: Json, id: string, outcome: Outcome): AgentEntry {
    const { tool, method, args } = request as unknown as ToolRequest;
    const { memory, arg } = request as unknown as MemoryRequest;
    const given = kind === "tool" ? (args?.length === 1 ? (args[0] as Json) : (args ?? null)) : arg;
    return {
        kind: "call",
        id,
        name: kind === "tool" ? `${tool}.${method}` : `${memory}.${kind === "remember" ? "add" : "query"}`,
        ...(given === null ? {} : { input: given }),
        output: outcome.ok ? cut(outcome.value) : outcome.failure.message,
        status: outcome.ok ? "completed" : "failed",
    };
}

function turnEntries(outcome: Outcome): AgentEntry[] {
    if (!outcome.ok) return [];
    const { text, value, thinking } = outcome.value as unknown as Partial<ModelReply>;
    const said = text !== undefined && text !== "" ? text : value === undefined ? "" : JSON.stringify(value);
    return [
        ...(thinking === undefined ? [] : [{ kind: "thought" as const, text: thinking }]),
        ...(said === "" ? [] : [{ kind: "message" as const, text: said }]),
    ];
}

function cut(value: Json): Json {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return text.length <= MAX_OUTPUT ? value : `${text.slice(0, MAX_OUTPUT)}…`;
}

/** What stands against more, where `agent()` said how much there is. */
function usedUp(
    { agent, account, path: of }: Omit<Session, "doing">,
    meter: "steps" | "calls",
    limit: number,
    used: number,
    path: string,
): Exceeded {
    const name = shownName(agent[1]);
    const spender = `${name} at ${path}`;
    const fail = new Fail(
        `limit.${meter}`,
        `${name} may use ${limit} ${meter === "calls" ? "tool calls" : "steps"}, and they are used up`,
        {
            region: account,
            detail: { meter, limit, used, spender },
        },
    );
    return { meter, limit, used, spender, account: of, fail };
}
