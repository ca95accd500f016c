/**
 * Turns of a session: what an agent is asked, and by which way: an effect for one outside the program, a call for one of it.
 *
 * Boundary: up to the question. What the answer means is `yield.ts`.
 */
import { type Json, shownName } from "@remit/language";
import { opening, type Param } from "../agent/handshake.ts";
import type { Session } from "../agent/session.ts";
import type { HandoverDetail } from "../compile/instructions.ts";
import type { AgentEntry } from "../compile/program.ts";
import type { AgentPart, AgentTurn } from "../effect/effect.ts";
import { Fail } from "../effect/failure.ts";
import { toJson } from "../value/json.ts";
import { join } from "../value/operators.ts";
import { hash32 } from "../value/text.ts";
import type { Capability, Value } from "../value/value.ts";
import { leftToDo } from "../state/activity.ts";
import { isUnread, placeOf } from "../state/descriptions.ts";
import { askDescription } from "../state/effects.ts";
import { waysOf } from "../state/delegations.ts";
import { type Handing, handing, hears, labelOfSaid, payerOf, sessionOf } from "../state/handover.ts";
import { pushAgent } from "../state/agent-code.ts";
import { type Ops, waitingCall } from "../state/ops.ts";
import { givenBy, givenHandles, handlesOf, handsOf, openTo, passed } from "./hands.ts";
import { ANSWER_BYTES, countTurn, release, turnsLeft } from "./sessions.ts";

/** Milliseconds by which a turn ends before the time of its session does. */
const EARLY_MS = 500;

/** The first turn, or the question what the tools are that go along. */
export function start(m: Ops, h: Handing): void {
    const { state, args, what } = h.wait;
    const handed = passed(args.items);
    const given = givenBy(m, h.fiber, sessionOf(m, h.wait)).flatMap(({ value }) => (value.kind === "tool" ? [value] : []));
    const own = what === "yield" ? [...handed, ...given] : [];
    const known = new Set(own.map(placeOf));
    const unread = m.passed(h.path, describePath(h.path, own.length)) ? [] : unreadBy(m, h, handed).filter((c) => !known.has(placeOf(c)));
    const tools = [...own, ...unread];
    if (tools.length === 0) {
        takeTurn(m, h);
        return;
    }
    state.phase = "describe";
    state.waiting = tools.map((_, i) => describePath(h.path, i));
    state.came = tools.map(() => null);
    const payer = payerOf(state, sessionOf(m, h.wait));
    tools.forEach((c, slot) => {
        askDescription(m, h.fiber, c, { path: state.waiting[slot] as string, slot, payer });
    });
}

function describePath(path: string, slot: number): string {
    return `${path}/describe[${slot}]`;
}

/** What its hands may reach, and of which something is said that the tool has to be asked for first. */
function unreadBy(m: Ops, { fiber, wait }: Handing, handed: readonly Capability[]): Capability[] {
    const session = sessionOf(m, wait);
    if (m.compiled.agent(...session.agent)?.outside == null) return [];
    const own = [...(m.compiled.files[session.agent[0]]?.imports.values() ?? [])].flatMap(({ form, value }) =>
        form.what === "tool" && value !== null && waysOf(m, fiber, session.principal, m.authority.keyOf(value)).length > 0 ? [value] : [],
    );
    const more = [...own, ...(wait.what === "yield" ? [] : handed)].filter((c) => isUnread(m, c, fiber.top.placeLabel));
    return [...new Map(more.map((c) => [placeOf(c), c])).values()];
}

/** SES2. The first turn of a call, or a place in the queue for it where the session is at another's. */
export function takeTurn(m: Ops, h: Handing): void {
    const session = sessionOf(m, h.wait);
    if (session.turning === null) {
        turn(m, h, firstPrompt(m, h));
        return;
    }
    h.wait.state.phase = "queued";
    session.queue = [...session.queue, h.path];
}

/** Where nothing else can go on: the next turns of sessions that calls wait for. True where one began. */
export function serveTurns(m: Ops): boolean {
    let served = false;
    for (const session of waitedFor(m)) {
        const [path] = session.queue;
        if (session.turning !== null || path === undefined) continue;
        release(session, path);
        const fiber = [...m.fibers.values()].find((one) => one.frames.at(-1)?.native?.path === path);
        const wait = fiber?.top.native;
        if (fiber === undefined || wait?.kind !== "handover") continue;
        served = true;
        const h = handing(waitingCall(fiber, wait), wait);
        m.enter(fiber);
        m.stand(fiber, h.frame);
        fiber.touch();
        try {
            turn(m, h, firstPrompt(m, h));
            m.awake(fiber);
        } catch (error) {
            if (!(error instanceof Fail)) throw error;
            m.deliverFail(fiber, error);
        }
    }
    return served;
}

/** Sessions that calls wait for. */
function waitedFor(m: Ops): readonly Session[] {
    const found: Session[] = [];
    for (const session of m.sessions.values()) if (session.queue.length > 0) found.push(session);
    return found;
}

function firstPrompt(m: Ops, h: Handing): AgentPart[] {
    const { d, fiber, wait } = h;
    const { state, args } = wait;
    if (wait.what !== "yield") {
        const said = toJson(args.items[0] as Value, m.run).json;
        return [{ type: "text", text: typeof said === "string" ? said : JSON.stringify(said) }, ...skillParts(m, d)];
    }
    const session = sessionOf(m, wait);
    const handles = handlesOf(m, session, wait);
    const params = args.items.map((arg, i): Param => {
        const name = state.params[i] as string;
        const handle = handles[i] ?? null;
        if (handle !== null) return { name, ...handle };
        const out = toJson(arg, m.run);
        return { name, value: out.json, origins: m.run.labels.origins(out.labels) };
    });
    const payer = payerOf(state, session);
    const steps = m.accounts.leftOf(payer, "steps");
    const time = m.accounts.timeOf(payer);
    return opening({
        // Not its path, in which names of the caller's functions stand, nor a number, which would tell how many there were before it.
        session: `s${hash32(session.path, 0).toString(36)}${hash32(session.path, 1).toString(36)}`,
        turn: session.turns,
        first: session.turns === 0,
        skills: d.skills.flatMap((one) => skillOf(m, one.file, one.form.name)),
        params,
        given: givenHandles(m, fiber, session, wait),
        expects: d.contract === null ? null : { contract: d.contract, shapes: d.shapes },
        limits: {
            ...(Number.isFinite(steps) ? { steps } : {}),
            ...(time === undefined ? {} : { seconds: Math.ceil(time / 1000) }),
            turns: Math.max(1, turnsLeft(m, h).left),
            bytes: state.bytes ?? ANSWER_BYTES,
        },
    });
}

function skillOf(m: Ops, file: number, name: string) {
    const skills = m.options.skills ?? {};
    const place = `${file}/${name}`;
    return Object.hasOwn(skills, place) ? [skills[place] as NonNullable<(typeof skills)[string]>] : [];
}

function skillParts(m: Ops, d: HandoverDetail): AgentPart[] {
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
export function turn(m: Ops, h: Handing, prompt: readonly AgentPart[]): void {
    const { wait, path } = h;
    const { site } = h.I;
    const { state } = wait;
    const session = sessionOf(m, wait);
    const entry = m.compiled.agent(...session.agent) as AgentEntry;
    const agent = shownName(entry.name);
    const bound = turnsLeft(m, h);
    if (bound.left <= 0) {
        const { most, turnsOf = bound.session.account } = bound.state;
        const spender = `${agent} at ${path}`;
        const by = bound.session === session ? "" : `, by ${spender}`;
        throw new Fail("limit.turns", `${shownName(bound.session.agent[1])}'s ${most} turns are used up${by}`, {
            site,
            region: turnsOf,
            detail: { meter: "turns", limit: most, used: most, spender },
        });
    }
    const todo = leftToDo(session, path, site);
    session.turning = path;
    const nth = countTurn(m, h);
    const at = `${path}/turn[${state.turn++}]`;
    state.prompt = prompt;
    delete state.charged;
    const about = { agent, session: state.session, turn: nth };
    if (nth > 0) {
        const why = state.tries > 0 ? "retry" : state.turn > 1 ? "repair" : wait.what;
        m.emit("yield.turn", at, path, site, [], { ...about, why });
    }
    m.emit("agent.asked", at, path, site, state.labels, { ...about, prompt: prompt as unknown as Json });
    if (entry.outside === null) {
        state.phase = "agent";
        const text = prompt.map((part) => part.text);
        // A handshake is given as data, everything else as its text.
        const said: Json = wait.what === "yield" && prompt.length === 2 ? (JSON.parse(text[1] as string) as Json) : text.join("\n\n");
        pushAgent(m, h, entry, join(m.run, m.fromJson(said), labelOfSaid(m, h, "value", state.labels)));
        return;
    }
    state.phase = "turn";
    state.waiting = [at];
    const payer = payerOf(state, session);
    const request = requestOf(m, h, { entry, nth, limits: limitsOf(m, payer, state.silence, todo) });
    hears(m, session, state, openTo(request.hands));
    m.raise(h.fiber, {
        kind: "agent",
        path: at,
        site,
        request: request as unknown as Json,
        labels: state.labels,
        origin: `agent:${entry.name}`,
        payer,
    });
}

interface Nth {
    readonly entry: AgentEntry;
    /** Turn of the session. */
    readonly nth: number;
    readonly limits: AgentTurn["limits"];
}

function requestOf(m: Ops, { d, fiber, wait }: Handing, { entry, nth, limits }: Nth): AgentTurn {
    const { state, args } = wait;
    const { uri = "", unconfined } = entry.outside?.form ?? {};
    const model = d.with.model ?? state.config?.model;
    return {
        op: "turn",
        agent: { name: entry.name, uri, file: m.compiled.fileName(entry.file), ...(unconfined === true ? { unconfined } : {}) },
        session: `${state.session}${state.tries === 0 ? "" : `~${state.tries}`}`,
        turn: nth,
        ...(state.tries === 0 ? {} : { fresh: true }),
        prompt: state.prompt,
        hands: handsOf(m, fiber, sessionOf(m, wait), args.items),
        limits,
        ...(model === undefined ? {} : { model }),
    };
}

/** What is left for one turn. */
function limitsOf(
    m: Ops,
    payer: number,
    silence: number | undefined,
    todo: { readonly steps?: number; readonly calls?: number },
): AgentTurn["limits"] {
    const left = (meter: "tokens" | "usd"): { [key: string]: number } => {
        const n = m.accounts.leftOf(payer, meter);
        return Number.isFinite(n) ? { [meter]: n } : {};
    };
    // The turn is a call too.
    const calls = Math.min(m.accounts.leftOf(payer, "calls") - 1, todo.calls ?? Number.POSITIVE_INFINITY);
    const time = m.accounts.timeOf(payer);
    return {
        ...left("tokens"),
        ...left("usd"),
        ...(Number.isFinite(calls) ? { calls: Math.max(0, calls) } : {}),
        ...(todo.steps === undefined ? {} : { steps: todo.steps }),
        // A moment before the whole time is up, so that what the agent did until then is told.
        ...(time === undefined ? {} : { ms: Math.max(1, Math.floor(time - Math.min(EARLY_MS, time / 20))) }),
        ...(silence === undefined ? {} : { silence }),
    };
}
