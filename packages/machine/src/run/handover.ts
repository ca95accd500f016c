/**
 * Handing over control on a frame: `yield`, `send` and `agent()`, from the first turn to the value.
 *
 * Boundary: what each turn's outcome means and what happens next. Texts that are sent are `../agent/handshake.ts`, what an answer may be is the
 * language's (`readAnswer`), how its function runs is `written.ts`.
 *
 * J3: one session a call: opened by it, closed on every way out, never seen by anybody else. A yield inside an answer goes over the session of
 *     the answer.
 * J4: what is handed over is a copy; a capability among it is a grant for the session.
 * J5: what an agent gives carries its origin, `agent:NAME`, and so does all that its function computes.
 * J6: an answer that is no valid function is sent back with its errors, within `turns`; once a function ran, its end is the end of the call.
 */
import type { Json, Site, SpendForm } from "@remit/language";
import { acceptValue } from "@remit/language";
import { readersOf } from "../authority/decide.ts";
import { readOnce } from "../agent/answers.ts";
import { type HandleMethod, opening, type Param, repair } from "../agent/handshake.ts";
import { readReply } from "../agent/reply.ts";
import type { Session } from "../agent/session.ts";
import type { Code } from "../compile/code.ts";
import type { HandoverKind } from "../compile/handover.ts";
import type { CallValueDetail, HandoverDetail, Instruction } from "../compile/instructions.ts";
import { type AgentEntry, shownName } from "../compile/program.ts";
import { labelAt } from "../compile/strict.ts";
import type { AgentPart, AgentReply, AgentTurn, Outcome, Usage } from "../effect.ts";
import { Fail } from "../failure.ts";
import { type SessionTurn, trajectoryOf } from "../ledger/atif/session.ts";
import { located } from "../value/access.ts";
import { fromJson, toJson } from "../value/json.ts";
import { join, rawOf } from "../value/operators.ts";
import { Capability, Labelled, List, Obj, type Value } from "../value/value.ts";
import { actReturned, beginAct } from "./act.ts";
import type { Fiber, Frame } from "./fiber.ts";
import { gate, isFree } from "./gate.ts";
import { countCall, pathOf } from "./execute.ts";
import { describedMethods, handsOf } from "./hands.ts";
import type { Machine } from "./machine.ts";
import { agentConfig, type AgentConfig, ENVELOPES } from "./agent-config.ts";
import { failFrom, raise } from "./perform.ts";
import { beginReason } from "./reason.ts";
import { accountAt, closeAccount, openAccount, spentData, spendOf } from "./spending.ts";
import { granted } from "./standing.ts";
import { dropWritten, pushAgent, runWritten, unfit } from "./written.ts";

/** Prompt turns of a yield where nothing is said. */
const TURNS = 4;
/** Bytes (UTF-8) of an answer where nothing is said. */
const ANSWER_BYTES = 65_536;
/** Milliseconds by which a turn ends before the time of its session does. */
const EARLY_MS = 500;
/** Times that `retry_within_budget` begins anew, at most. */
const TRIES = 5;

export interface HandoverWait {
    readonly kind: "handover";
    readonly path: string;
    readonly what: HandoverKind;
    /** What was handed over, in order. */
    readonly args: List;
    readonly state: HandoverState;
}

/** Plain JSON. */
export interface HandoverState {
    phase: "describe" | "turn" | "agent" | "run" | "tool";
    /** Path of the session, empty for `act()`. */
    session: string;
    opened: boolean;
    /** Prompt turns of this call. */
    turn: number;
    params: readonly string[];
    /** Origins of what was handed over. */
    labels: readonly string[];
    /** Effects that are waited for, in order, and what came. */
    waiting: readonly string[];
    came: (Json | null)[];
    /** What was asked last, and for `agent()` all turns. */
    prompt: readonly AgentPart[];
    turns: readonly Json[];
    tries: number;
    config: AgentConfig | null;
    /** The account of a call that goes over a session which is open and has limits of its own; 0 where the session's pays. */
    account: number;
    /** Prompt turns of the session at which this call's are used up. */
    most: number;
}

function withoutAgent({ agent: _, ...rest }: AgentConfig): AgentConfig {
    return rest;
}

type Target = { readonly entry: AgentEntry; readonly c: Capability; readonly session: Session | null };

/** What an instruction hands over by. A call of `send` through a value turns out to be one only when it runs. */
export function handoverAt(I: Instruction): HandoverDetail {
    const d = I.detail as HandoverDetail | CallValueDetail;
    if (d.kind === "handover") return d;
    const args = d.args.map((code) => ({ name: null, code: code as Code }));
    const nothing = { with: {}, skills: [], policy: null, contract: null, shapes: {}, model: null, label: "", agent: "" };
    return { kind: "handover", what: "send", args, path: d.path, ...nothing };
}

/** True where the fiber waits; false where the instruction is done, or another frame runs now. */
export function beginHandover(m: Machine, fiber: Fiber, frame: Frame, d: HandoverDetail, I: Instruction): void {
    if (d.what === "reason") beginReason(m, fiber, frame, d, I.site);
    else if (d.what === "act") beginAct(m, fiber, frame, d, I.site);
    else begin(m, fiber, frame, d, I);
}

function begin(m: Machine, fiber: Fiber, frame: Frame, d: HandoverDetail, I: Instruction): void {
    const { site } = I;
    const path = pathOf(frame, d.path);
    const values = d.args.map((arg) => arg.code(frame.locals));
    const config = d.what === "agent" ? agentConfig(m, values[1] ?? null, d, site) : null;
    const target = targetOf(m, fiber, frame, d, I, config);
    const given = d.what === "yield" ? values : values.slice(0, 1);
    const names = d.args.map((arg, i) => arg.name ?? String(i + 1)).slice(0, given.length);
    if (d.what !== "yield" && given.length !== 1) throw new Fail("value", `${d.what} takes a text`, { site });
    const { args, labels } = copies(m, frame, given, site);
    if (target.session === null && !permitted(m, fiber, frame, target, names, args, path, site)) return;
    mayRead(m, frame, target.entry, names, args, site);
    countCall(m);
    m.tracer?.saw(path, given);
    m.tracer?.use(path, given);
    const native: HandoverWait = {
        kind: "handover",
        path,
        what: d.what,
        args: new List(args, m.run.heap),
        state: {
            phase: "turn",
            session: target.session?.path ?? path,
            opened: target.session === null,
            turn: 0,
            params: names,
            labels,
            waiting: [],
            came: [],
            prompt: [],
            turns: [],
            tries: 0,
            account: 0,
            most: 0,
            config: config === null ? null : withoutAgent(config),
        },
    };
    if (target.session === null) open(m, fiber, frame, d, native, target, site);
    else within(m, fiber, frame, d, native, target.session, site);
    frame.native = native;
    try {
        start(m, fiber, frame, d, native, site);
    } catch (error) {
        if (error instanceof Fail) abandon(m, frame, error);
        frame.native = null;
        throw error;
    }
}

/** What an instruction that handed over control says of it. */
function handoverDetail(I: Instruction): HandoverDetail {
    const { detail } = I;
    return (detail?.kind === "call.value" ? detail.handover : detail) as HandoverDetail;
}

// ---- who, what, may it -------------------------------------------------------------------------------------------------

/** The agent that a call names, and the session that it goes over where one is open. */
function targetOf(m: Machine, fiber: Fiber, frame: Frame, d: HandoverDetail, I: Instruction, config: AgentConfig | null): Target {
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
    if (c.right !== null && c.right.alive.some((token) => !m.standing.alive.has(token)))
        throw new Fail("violation.revoked", `${c.name} was given only for a call that has ended`, { site, by: frame.principal });
    const session = d.what === "agent" ? undefined : sessionOf(m, c);
    if (entry.outside === null && entry.main === null)
        throw new Fail("value", `agent ${shownName(entry.name)} has no main func, which would answer`, { site });
    return { entry, c, session: session ?? null };
}

/** Whatever else was handed over with a session lives by the same token: another agent among it is no way into this one's session. */
function sessionOf(m: Machine, c: Capability): Session | undefined {
    if (c.right === null) return undefined;
    for (const session of m.sessions.values()) {
        const [file, name] = session.agent;
        if (c.file === file && c.name === name && c.right.alive.includes(session.token) && c.right.holder === session.principal)
            return session;
    }
    return undefined;
}

/** Without `agent:` it is the one agent outside the program that the file imports. */
function theAgent(m: Machine, frame: Frame, site: Site | null): Capability {
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
function copies(m: Machine, frame: Frame, values: readonly Value[], site: Site | null): { args: Value[]; labels: readonly string[] } {
    const { run } = m;
    let all = frame.form.flow === 0 ? 0 : labelAt(frame.locals, frame.form.flow);
    try {
        const args = values.map((value): Value => {
            const raw = rawOf(value);
            if (raw instanceof Capability) {
                if (value instanceof Labelled) all = run.labels.union(all, value.l);
                return raw;
            }
            const out = toJson(value, run.labels);
            all = run.labels.union(all, out.labels);
            run.give(3 * out.size);
            return join(run, fromJson(out.json, run.heap), out.labels);
        });
        return { args, labels: run.labels.origins(all) };
    } catch (error) {
        throw located(error, site);
    }
}

/** The gate before control is handed over, with what leaves as its arguments. False: a question was put. */
function permitted(
    m: Machine,
    fiber: Fiber,
    frame: Frame,
    target: Target,
    names: readonly string[],
    args: readonly Value[],
    path: string,
    site: Site | null,
): boolean {
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
    const use = { c, name: shownName(entry.name), uri: entry.outside?.form.uri ?? "", method: null, direct };
    return gate(m, fiber, frame, use, [obj], path, site) !== null;
}

/** The handshake is a sink: what only some may read does not leave for an agent that is none of them. */
function mayRead(m: Machine, frame: Frame, entry: AgentEntry, names: readonly string[], args: readonly Value[], site: Site | null): void {
    const { labels } = m.run;
    args.forEach((arg, i) => {
        if (!(arg instanceof Labelled)) return;
        const readers = readersOf(labels.origins(arg.l));
        if (readers === null || readers.includes(entry.name) || readers.includes(`agent:${entry.name}`)) return;
        const who = readers.length === 0 ? "nobody" : readers.join(", ");
        throw new Fail("violation.flow", `${names[i]} is for ${who} to read, and would be read by ${shownName(entry.name)}`, {
            site,
            labels: arg.l,
            by: frame.principal,
            detail: { arg: names[i] as string, origins: labels.origins(arg.l).filter((o) => o.startsWith("only:")) },
            hint: "hand over less, or endorse it for the agent where that is right",
        });
    });
}

// ---- a session ---------------------------------------------------------------------------------------------------------

function open(m: Machine, fiber: Fiber, frame: Frame, d: HandoverDetail, native: HandoverWait, target: Target, site: Site | null): void {
    const { entry } = target;
    const { path, state } = native;
    const principal = m.authority.principalOf(entry);
    const args = native.args.items;
    let token = principal === frame.principal ? 0 : granted(m, frame.principal, principal, args, path, site);
    if (token === 0) {
        token = m.standing.next++;
        m.standing.alive.add(token);
    }
    const limits = budgetOf(m, principal, d, state.config);
    const name = m.authority.nameOf(principal);
    const account = openAccount(
        m,
        fiber,
        accountAt(frame),
        limits,
        path,
        entry.outside === null ? shownName(entry.name) : name,
        frame.parent,
        site,
    );
    const most = d.with.turns ?? state.config?.turns ?? (d.what === "yield" ? TURNS : 1 + (state.config === null ? 0 : TRIES));
    const policy = d.policy === null ? null : ([frame.fn.file, d.policy] as const);
    native.state.most = most;
    m.sessions.set(path, { path, agent: [entry.file, entry.name], principal, token, account, turns: 0, most, reads: {}, told: {}, policy });
    m.emit("yield.opened", path, frame.parent, site, state.labels, {
        agent: shownName(entry.name),
        uri: entry.outside?.form.uri ?? null,
        ...(entry.outside?.form.unconfined === true ? { unconfined: true } : {}),
        by: d.what,
        params: [...state.params],
        skills: d.skills.map((one) => one.form.name),
        limits: { ...limits, turns: most },
    });
}

/** A call inside an answer has no more than what is left of its session, and less where it says so. */
function within(
    m: Machine,
    fiber: Fiber,
    frame: Frame,
    d: HandoverDetail,
    native: HandoverWait,
    session: Session,
    site: Site | null,
): void {
    const { state, path } = native;
    const { steps, calls, tokens, usd, time, turns } = d.with;
    const limits = clean({ steps, calls, tokens, usd, time });
    state.most = turns === undefined ? session.most : Math.min(session.most, session.turns + turns);
    if (turns === undefined && Object.keys(limits).length === 0) return;
    const name = m.authority.nameOf(session.principal);
    state.account = openAccount(m, fiber, accountAt(frame), limits, path, name, frame.parent, site);
}

/** Whether the call at the top of a fiber says how many prompt turns there may be, which then bound what is not measured. */
export function saysTurns(fiber: Fiber): boolean {
    const { native, form, pc } = fiber.top;
    if (native?.kind !== "handover") return false;
    return handoverAt(form.code[pc] as Instruction).with.turns !== undefined || native.state.config?.turns !== undefined;
}

/** The account that pays for a call. */
function payerOf(state: HandoverState, session: Session): number {
    return state.account === 0 ? session.account : state.account;
}

/** The least of what the agent's remit and the call say. Turns are the session's. */
function budgetOf(m: Machine, principal: string, d: HandoverDetail, config: AgentConfig | null): SpendForm {
    const { steps, calls, tokens, usd, time } = d.with;
    const said: SpendForm = config === null ? clean({ steps, calls, tokens, usd, time }) : config.budget;
    const made: { -readonly [K in keyof SpendForm]: number } = { ...(spendOf(m, principal) ?? {}) };
    for (const [meter, limit] of Object.entries(said) as [keyof SpendForm, number][]) made[meter] = Math.min(limit, made[meter] ?? limit);
    return made;
}

function clean(of: { readonly [K in keyof SpendForm]: number | undefined }): SpendForm {
    return Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined)) as SpendForm;
}

/** The end of a call: of its session too where it opened it. `fail` null: it gave a value. */
function close(m: Machine, frame: Frame, native: HandoverWait, fail: Fail | null): void {
    const { state, path } = native;
    const session = m.sessions.get(state.session);
    if (state.account !== 0) closeAccount(m, state.account);
    if (!state.opened || session === undefined) return;
    m.sessions.delete(path);
    const spent = closeAccount(m, session.account);
    m.standing.alive.delete(session.token);
    m.emit("yield.closed", path, frame.parent, siteAt(frame), fail === null ? [] : m.run.labels.origins(fail.labels), {
        agent: shownName(session.agent[1]),
        turns: session.turns,
        ...(fail === null ? { ok: true } : { ok: false, kind: fail.kind, error: fail.message }),
        ...(spent === null ? {} : { spent: spentData(spent) }),
    });
}

/** A failure passes through a call that handed over control. */
export function abandon(m: Machine, frame: Frame, fail: Fail): void {
    const { native } = frame;
    if (native?.kind === "handover" && native.state.session !== "") {
        dropWritten(m, native.path);
        close(m, frame, native, fail);
    }
}

function siteAt(frame: Frame): Site | null {
    return frame.form.code[frame.pc]?.site ?? null;
}

// ---- turns -------------------------------------------------------------------------------------------------------------

/** The first turn, or the question what the tools are that go along. */
function start(m: Machine, fiber: Fiber, frame: Frame, d: HandoverDetail, native: HandoverWait, site: Site | null): void {
    const { state, path } = native;
    const tools = handled(native);
    if (native.what === "yield" && tools.length > 0) {
        state.phase = "describe";
        state.waiting = tools.map((_, i) => `${path}/describe[${i}]`);
        state.came = tools.map(() => null);
        const account = payerOf(state, m.sessions.get(state.session) as Session);
        tools.forEach((c, slot) => {
            const form = m.compiled.importOf(c);
            const request = { op: "describe", tool: c.name, uri: form?.uri ?? "", file: m.compiled.fileName(c.file) };
            raise(m, fiber, "tool", state.waiting[slot] as string, site, request, [], `tool:${c.name}`, slot, undefined, account);
        });
        return;
    }
    turn(m, fiber, frame, d, native, firstPrompt(m, d, native), site);
}

/** Tools among what was handed over. */
function handled(native: HandoverWait): Capability[] {
    return native.args.items.flatMap((arg) => {
        const raw = rawOf(arg);
        return raw instanceof Capability && raw.kind === "tool" ? [raw] : [];
    });
}

function firstPrompt(m: Machine, d: HandoverDetail, native: HandoverWait): AgentPart[] {
    const { state } = native;
    if (native.what !== "yield") {
        const said = toJson(native.args.items[0] as Value, m.run.labels).json;
        return [{ type: "text", text: typeof said === "string" ? said : JSON.stringify(said) }, ...skillParts(m, d)];
    }
    const session = m.sessions.get(state.session) as Session;
    let nth = 0;
    const params = native.args.items.map((arg, i): Param => {
        const name = state.params[i] as string;
        const raw = rawOf(arg);
        if (!(raw instanceof Capability)) {
            const out = toJson(arg, m.run.labels);
            return { name, value: out.json, origins: m.run.labels.origins(out.labels) };
        }
        const methods: HandleMethod[] = describedMethods(m, session, raw, raw.kind === "tool" ? (state.came[nth++] ?? null) : null);
        return { name, kind: raw.kind, handle: methods };
    });
    const payer = payerOf(state, session);
    const steps = m.accounts.leftOf(payer, "steps");
    const { time } = m.accounts.at(payer).limits;
    return opening({
        session: state.session,
        turn: session.turns,
        first: session.turns === 0,
        skills: d.skills.flatMap((one) => skillOf(m, one.file, one.form.name)),
        params,
        expects: d.contract === null ? null : { contract: d.contract, shapes: d.shapes },
        limits: {
            ...(Number.isFinite(steps) ? { steps } : {}),
            ...(time === undefined ? {} : { seconds: Math.ceil(time / 1000) }),
            turns: Math.max(1, state.most - session.turns),
            bytes: d.with.bytes ?? ANSWER_BYTES,
        },
    });
}

function skillOf(m: Machine, file: number, name: string) {
    const skills = m.options.skills ?? {};
    const place = `${file}/${name}`;
    return Object.hasOwn(skills, place) ? [skills[place] as NonNullable<(typeof skills)[string]>] : [];
}

function skillParts(m: Machine, d: HandoverDetail): AgentPart[] {
    return d.skills
        .flatMap((one) => skillOf(m, one.file, one.form.name))
        .map((skill) => ({
            type: "resource" as const,
            uri: `skill:${skill.name}`,
            mediaType: "text/markdown",
            text: skill.text,
        }));
}

/** Asks the agent: an effect for one outside the program, a call of its main func for one of the program. */
function turn(
    m: Machine,
    fiber: Fiber,
    frame: Frame,
    d: HandoverDetail,
    native: HandoverWait,
    prompt: readonly AgentPart[],
    site: Site | null,
): void {
    const { state, path } = native;
    const session = m.sessions.get(state.session) as Session;
    const entry = m.compiled.agent(...session.agent) as AgentEntry;
    if (session.turns >= state.most)
        throw new Fail("limit.turns", `${shownName(entry.name)}'s ${state.most} turns are used up`, {
            site,
            region: session.turns >= session.most ? session.account : payerOf(state, session),
            detail: { meter: "turns", limit: state.most, used: session.turns, spender: `${shownName(entry.name)} at ${path}` },
        });
    const nth = session.turns++;
    const at = `${path}/turn[${state.turn++}]`;
    state.prompt = prompt;
    m.emit("agent.asked", at, path, site, state.labels, {
        agent: shownName(entry.name),
        session: state.session,
        turn: nth,
        prompt: prompt as unknown as Json,
    });
    if (entry.outside === null) {
        state.phase = "agent";
        const text = prompt.map((part) => part.text);
        // A handshake is given as data, everything else as its text.
        const said: Json = native.what === "yield" && prompt.length === 2 ? (JSON.parse(text[1] as string) as Json) : text.join("\n\n");
        const value = join(m.run, m.fromJson(said), labelOfSaid(m, native, site, "value", state.labels));
        pushAgent(m, fiber, frame, entry, [value], session, payerOf(state, session), at, site);
        return;
    }
    state.phase = "turn";
    const form = entry.outside.form;
    const request: AgentTurn = {
        op: "turn",
        agent: {
            name: entry.name,
            uri: form.uri,
            file: m.compiled.fileName(entry.file),
            ...(form.unconfined === true ? { unconfined: true as const } : {}),
        },
        session: `${state.session}${state.tries === 0 ? "" : `~${state.tries}`}`,
        turn: nth,
        prompt,
        hands: handsOf(m, fiber, session, native.args.items),
        limits: limitsOf(m, payerOf(state, session), d, state.config),
        ...(d.with.model === undefined && state.config?.model === undefined ? {} : { model: d.with.model ?? state.config?.model }),
    };
    state.waiting = [at];
    raise(
        m,
        fiber,
        "agent",
        at,
        site,
        request as unknown as Json,
        state.labels,
        `agent:${entry.name}`,
        0,
        undefined,
        payerOf(state, session),
    );
}

/** What is left for one turn. */
function limitsOf(m: Machine, payer: number, d: HandoverDetail, config: AgentConfig | null): AgentTurn["limits"] {
    const left = (meter: "tokens" | "usd" | "calls"): { [key: string]: number } => {
        const n = m.accounts.leftOf(payer, meter);
        return Number.isFinite(n) ? { [meter]: n } : {};
    };
    const silence = d.with.silence ?? config?.silence;
    const { time } = m.accounts.at(payer).limits;
    return {
        ...left("tokens"),
        ...left("usd"),
        ...left("calls"),
        ...(config?.steps === undefined ? {} : { steps: config.steps }),
        // A moment before the whole time is up, so that what the agent did until then is told.
        ...(time === undefined ? {} : { ms: Math.max(1, Math.floor(time - Math.min(EARLY_MS, time / 20))) }),
        ...(silence === undefined ? {} : { silence }),
    };
}

// ---- what comes back -----------------------------------------------------------------------------------------------------

/** An outcome of an effect that a handover waits for. Throws `Fail`. */
export function handoverOutcome(m: Machine, fiber: Fiber, native: HandoverWait, slot: number, path: string, outcome: Outcome): void {
    const frame = fiber.top;
    const { state } = native;
    const I = frame.form.code[frame.pc] as Instruction;
    const d = handoverAt(I);
    if (fiber.frames.length - 1 < fiber.low) fiber.low = fiber.frames.length - 1;
    if (state.phase === "describe") {
        if (!outcome.ok) throw failFrom(m, outcome.failure, I.site, []);
        state.came[slot] = outcome.value;
        if (state.came.some((one) => one === null)) return;
        turn(m, fiber, frame, d, native, firstPrompt(m, d, native), I.site);
        return;
    }
    const session = m.sessions.get(state.session) as Session;
    const name = session.agent[1];
    const reply = outcome.ok ? readReply(outcome.value) : replyIn(outcome.failure.detail);
    m.emit("agent.answered", path, native.path, I.site, outcome.ok ? outcome.origins : [], {
        agent: shownName(name),
        session: state.session,
        turn: session.turns - 1,
        ...(outcome.ok ? { ok: true } : { ok: false, kind: outcome.failure.kind, error: outcome.failure.message }),
        ...(reply === null ? {} : { reply: reply as unknown as Json }),
        ...(outcome.usage === undefined ? {} : { usage: outcome.usage as Json }),
    });
    note(state, reply, outcome.usage, outcome.ok ? null : { kind: outcome.failure.kind, message: outcome.failure.message });
    if (!outcome.ok) {
        m.tracer?.at(I.site, native.path, `agent ${shownName(name)}`);
        const fail = failFrom(m, outcome.failure, I.site, [`agent:${name}`]);
        throw fail.class === "limit" && !fail.whole ? bounded(fail, regionOf(m, state, session, fail)) : fail;
    }
    if (reply === null)
        throw new Fail("invalid_payload", `${shownName(name)}'s turn gave what is no reply`, {
            site: I.site,
            labels: m.run.labels.of([`agent:${name}`]),
        });
    answered(m, fiber, frame, d, native, reply, I);
}

/** Whose limit a turn came to: the call's own where it has such a limit, else the session's. */
function regionOf(m: Machine, state: HandoverState, session: Session, fail: Fail): number {
    const meter = ({ "limit.tokens": "tokens", "limit.cost": "usd", "limit.calls": "calls", "limit.time": "time" } as const)[
        fail.kind as "limit.time"
    ];
    return state.account !== 0 && meter !== undefined && m.accounts.at(state.account).limits[meter] !== undefined
        ? state.account
        : session.account;
}

/** A limit of the session, which nothing inside it catches. */
function bounded(fail: Fail, region: number): Fail {
    const { detail, hint, site, labels } = fail;
    return new Fail(fail.kind, fail.message, {
        ...(detail === undefined ? {} : { detail }),
        ...(hint === undefined ? {} : { hint }),
        site,
        labels,
        region,
    });
}

const SHORT = 300;

function shortOf(text: string): string {
    return text.length > SHORT ? `${text.slice(0, SHORT)}…` : text;
}

function replyIn(detail: Json | undefined): AgentReply | null {
    const reply = detail !== null && typeof detail === "object" && !Array.isArray(detail) ? detail.reply : undefined;
    return readReply(reply);
}

function note(
    state: HandoverState,
    reply: AgentReply | null,
    usage: Usage | undefined,
    failure: { kind: string; message: string } | null,
): void {
    if (state.config === null) return;
    const turn: Json = {
        prompt: state.prompt as unknown as Json,
        ...(reply === null ? {} : { reply: reply as unknown as Json }),
        ...(usage === undefined ? {} : { usage: usage as Json }),
        ...(failure === null ? {} : { failure }),
    };
    state.turns = [...state.turns, turn];
}

/** What an agent said in a turn: the value, a function to run, or errors to send back. */
function answered(
    m: Machine,
    fiber: Fiber,
    frame: Frame,
    d: HandoverDetail,
    native: HandoverWait,
    reply: AgentReply,
    I: Instruction,
): void {
    const { state } = native;
    const session = m.sessions.get(state.session) as Session;
    const entry = m.compiled.agent(...session.agent) as AgentEntry;
    const origin = labelOfSaid(m, native, I.site, `agent ${shownName(entry.name)}`, [...state.labels, `agent:${entry.name}`]);
    if (reply.stop === "refusal")
        throw new Fail("refusal", `${shownName(entry.name)} refused${reply.text === "" ? "" : `: ${shortOf(reply.text)}`}`, {
            site: I.site,
            labels: origin,
        });
    if (native.what === "send") {
        give(m, fiber, frame, native, join(m.run, reply.text, origin));
        return;
    }
    if (native.what === "agent") {
        const value = ENVELOPES.data({ text: reply.text, trajectory: trajectory(m, native, reply.stop, null) });
        give(m, fiber, frame, native, join(m.run, m.fromJson(value), origin));
        return;
    }
    const file = `${shownName(entry.name)}'s answer`;
    const read = readOnce(m.compiled.answers, reply.text, reply.resources ?? [], {
        params: state.params,
        file,
        bytes: d.with.bytes ?? ANSWER_BYTES,
        shapes: d.shapes,
    });
    const errors = read.ok ? unfit(native, read.answer, (param) => handleMethods(m, native, session, param)) : read.errors;
    m.emit("yield.payload", `${native.path}/turn[${state.turn - 1}]`, native.path, I.site, m.run.labels.origins(origin), {
        agent: shownName(entry.name),
        ...(read.ok ? { form: read.answer.form, text: read.answer.text } : {}),
        ...(errors.length === 0 ? { ok: true } : { ok: false, errors: [...errors] }),
    });
    if (errors.length === 0 && read.ok) {
        state.phase = "run";
        runWritten(m, fiber, frame, native, session, payerOf(state, session), entry, read.answer, I.site);
        return;
    }
    const left = native.state.most - session.turns;
    if (left <= 0)
        throw new Fail("invalid_payload", `${shownName(entry.name)} gave no valid function: ${errors[0] ?? ""}`, {
            site: I.site,
            labels: origin,
            detail: { errors: [...errors], turns: session.turns },
        });
    turn(m, fiber, frame, d, native, repair(errors, left), I.site);
}

/** The label of what an agent is asked, or says: these origins, which derivations know to be made from all that was handed over. */
function labelOfSaid(m: Machine, native: HandoverWait, site: Site | null, what: string, origins: readonly string[]): number {
    return m.tracer === null ? m.run.labels.of(origins) : m.tracer.said(native.path, site, what, origins);
}

/** The methods that the agent was told of; null where a parameter is data. */
function handleMethods(m: Machine, native: HandoverWait, session: Session, param: string): readonly string[] | null {
    let nth = 0;
    for (const [i, arg] of native.args.items.entries()) {
        const raw = rawOf(arg);
        const described = raw instanceof Capability && raw.kind === "tool" ? (native.state.came[nth++] ?? null) : null;
        if (native.state.params[i] === param)
            return raw instanceof Capability ? describedMethods(m, session, raw, described).map((one) => one.method) : null;
    }
    return null;
}

/** Whether a value is what the call expects; text and numbers are read as they are meant, since the agent's function wrote them. */
function fits(
    d: HandoverDetail,
    value: Json,
    who: string,
): { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string } {
    if (d.contract === null) return { ok: true, value };
    const checked = acceptValue(d.contract, value, d.shapes, { what: "its value" });
    return checked.ok ? { ok: true, value: checked.value } : { ok: false, message: `${who} gave what is not expected: ${checked.message}` };
}

/** The call gives its value. */
function give(m: Machine, fiber: Fiber, frame: Frame, native: HandoverWait, value: Value): void {
    close(m, frame, native, null);
    m.deliver(fiber, value);
}

/** A frame that a handover waited for returned: the function of an answer, or the main func of an agent of the program. */
export function handedBack(m: Machine, fiber: Fiber, frame: Frame, native: HandoverWait, value: Value): void {
    const { state } = native;
    if (state.session === "") {
        actReturned(m, fiber, value);
        return;
    }
    const I = frame.form.code[frame.pc] as Instruction;
    const d = handoverAt(I);
    const session = m.sessions.get(state.session) as Session;
    const entry = m.compiled.agent(...session.agent) as AgentEntry;
    let out: ReturnType<typeof toJson>;
    try {
        out = toJson(value, m.run.labels);
    } catch (error) {
        throw located(error, I.site);
    }
    if (state.phase === "agent") {
        const { json } = out;
        const text = typeof json === "string" ? json : `\`\`\`json\n${JSON.stringify(json)}\n\`\`\``;
        const said = native.what === "yield" ? asAnswer(text) : typeof json === "string" ? json : JSON.stringify(json);
        const reply: AgentReply = {
            text: said,
            stop: "end_turn",
            entries: [{ kind: "message", text: said }],
            confinement: "remote",
            spent: { steps: 1, calls: 0, ms: 0 },
        };
        state.labels = m.run.labels.origins(m.run.labels.union(m.run.labels.of(state.labels), out.labels));
        m.tracer?.sawLabel(native.path, out.labels);
        m.emit("agent.answered", `${native.path}/turn[${state.turn - 1}]`, native.path, I.site, state.labels, {
            agent: shownName(entry.name),
            session: state.session,
            turn: session.turns - 1,
            ok: true,
            reply: reply as unknown as Json,
        });
        note(state, reply, undefined, null);
        answered(m, fiber, frame, d, native, reply, I);
        return;
    }
    dropWritten(m, native.path);
    m.tracer?.at(I.site, native.path, `agent ${shownName(entry.name)}`);
    const labels = m.run.labels.union(out.labels, m.run.labels.of([`agent:${entry.name}`]));
    const checked = fits(d, out.json, shownName(entry.name));
    if (!checked.ok) throw new Fail("contract", checked.message, { site: I.site, labels });
    give(m, fiber, frame, native, join(m.run, m.fromJson(checked.value), labels));
}

/** Source without a fence is taken for what it is. */
function asAnswer(text: string): string {
    return /^\s*(?:main\s+)?func\b/.test(text) ? `\`\`\`remit\n${text}\n\`\`\`` : text;
}

// ---- agent() -------------------------------------------------------------------------------------------------------------

function trajectory(m: Machine, native: HandoverWait, stop: string | undefined, fail: Fail | null): Json {
    const session = m.sessions.get(native.state.session);
    const { state } = native;
    const account = session === undefined ? null : m.accounts.at(session.account);
    return trajectoryOf({
        agent: { name: shownName(session?.agent[1] ?? "agent") },
        session: native.path,
        run: m.options.run,
        turns: state.turns as unknown as SessionTurn[],
        end: {
            ...(stop === undefined ? {} : { stop }),
            reason: fail === null ? "done" : fail.kind,
            ...(fail === null ? {} : { message: fail.message }),
            ...(account === null ? {} : { limits: { ...account.limits }, spent: { ...account.used } }),
        },
    }).trajectory as unknown as Json;
}

/**
 * A failure of `agent()` that its `on_error` answers: given as `{error}`, or tried once more within the same budget. False: it fails.
 */
export function caughtByAgent(m: Machine, fiber: Fiber, frame: Frame, fail: Fail): boolean {
    const { native } = frame;
    if (native?.kind !== "handover" || native.what !== "agent" || native.state.config === null) return false;
    const { state } = native;
    const session = m.sessions.get(state.session);
    if (session === undefined || fail.whole || fail.class === "violation" || state.config?.onError === "fail") return false;
    if (fail.region !== null && fail.region !== session.account) return false;
    const I = frame.form.code[frame.pc] as Instruction;
    if (state.config?.onError === "retry_within_budget" && fail.class === "failure" && state.tries < TRIES) {
        state.tries++;
        try {
            turn(m, fiber, frame, handoverAt(I), native, state.prompt, I.site);
            return true;
        } catch (error) {
            if (!(error instanceof Fail)) throw error;
            // Nothing is left to try it with: the first failure stands.
        }
    }
    const value = ENVELOPES.error({
        kind: fail.kind,
        message: fail.message,
        reason: fail.kind,
        tries: state.tries + 1,
        ...(fail.detail === undefined ? {} : { detail: fail.detail }),
        trajectory: state.turns.length === 0 ? null : trajectory(m, native, undefined, fail),
    });
    const what = `agent ${shownName(session.agent[1])}`;
    const labels = m.run.labels.union(fail.labels, labelOfSaid(m, native, I.site, what, [...state.labels, `agent:${session.agent[1]}`]));
    close(m, frame, native, fail);
    m.deliver(fiber, join(m.run, m.fromJson(value), labels));
    return true;
}
