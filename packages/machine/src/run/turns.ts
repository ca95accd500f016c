/**
 * Turns of a session: what an agent is asked, and by which way: an effect for one outside the program, a call for one of it.
 *
 * Boundary: up to the question. What the answer means is `handover.ts`.
 */
import { type Json, type Site, shownName } from "@remit/language";
import { opening, type Param } from "../agent/handshake.ts";
import type { Session } from "../agent/session.ts";
import type { HandoverDetail, Instruction } from "../compile/instructions.ts";
import type { AgentEntry } from "../compile/program.ts";
import type { AgentPart, AgentTurn } from "../effect/effect.ts";
import { Fail } from "../effect/failure.ts";
import { toJson } from "../value/json.ts";
import { join } from "../value/operators.ts";
import type { Value } from "../value/value.ts";
import { leftToDo } from "./doing.ts";
import { askDescription, raise } from "./effects.ts";
import type { Fiber, Frame } from "./fiber.ts";
import { handoverAt, type HandoverWait, labelOfSaid } from "./handover.ts";
import { handlesOf, handsOf, passed } from "./hands.ts";
import type { Machine } from "./machine.ts";
import { ANSWER_BYTES, payerOf, release } from "./sessions.ts";
import { pushAgent } from "./written.ts";

/** Milliseconds by which a turn ends before the time of its session does. */
const EARLY_MS = 500;

/** The first turn, or the question what the tools are that go along. */
export function start(m: Machine, fiber: Fiber, frame: Frame, d: HandoverDetail, native: HandoverWait, site: Site | null): void {
    const { state, path } = native;
    const tools = passed(native.args.items);
    if (native.what === "yield" && tools.length > 0) {
        state.phase = "describe";
        state.waiting = tools.map((_, i) => `${path}/describe[${i}]`);
        state.came = tools.map(() => null);
        const account = payerOf(state, m.sessions.get(state.session) as Session);
        tools.forEach((c, slot) => {
            askDescription(m, fiber, c, { path: state.waiting[slot] as string, slot, payer: account });
        });
        return;
    }
    takeTurn(m, fiber, frame, d, native, site);
}

/** S2. The first turn of a call, or a place in the queue for it where the session is at another's. */
export function takeTurn(m: Machine, fiber: Fiber, frame: Frame, d: HandoverDetail, native: HandoverWait, site: Site | null): void {
    const session = m.sessions.get(native.state.session) as Session;
    if (session.turning === null) {
        turn(m, fiber, frame, d, native, firstPrompt(m, d, native), site);
        return;
    }
    native.state.phase = "queued";
    session.queue = [...session.queue, native.path];
}

/** Where nothing else can go on: the next turns of sessions that calls wait for. True where one began. */
export function serveTurns(m: Machine): boolean {
    let served = false;
    for (const session of [...m.sessions.values()]) {
        const [path] = session.queue;
        if (session.turning !== null || path === undefined) continue;
        release(session, path);
        const fiber = [...m.fibers.values()].find((one) => one.frames[one.frames.length - 1]?.native?.path === path);
        const native = fiber?.top.native;
        if (fiber === undefined || native?.kind !== "handover") continue;
        served = true;
        const frame = fiber.top;
        const I = frame.form.code[frame.pc] as Instruction;
        const d = handoverAt(I);
        m.enter(fiber);
        m.stand(fiber, frame);
        if (fiber.frames.length - 1 < fiber.low) fiber.low = fiber.frames.length - 1;
        try {
            turn(m, fiber, frame, d, native, firstPrompt(m, d, native), I.site);
            if (fiber.top !== frame) m.ready.push(fiber);
        } catch (error) {
            if (!(error instanceof Fail)) throw error;
            m.deliverFail(fiber, error);
        }
    }
    return served;
}

export function firstPrompt(m: Machine, d: HandoverDetail, native: HandoverWait): AgentPart[] {
    const { state } = native;
    if (native.what !== "yield") {
        const said = toJson(native.args.items[0] as Value, m.run).json;
        return [{ type: "text", text: typeof said === "string" ? said : JSON.stringify(said) }, ...skillParts(m, d)];
    }
    const session = m.sessions.get(state.session) as Session;
    const handles = handlesOf(m, session, native);
    const params = native.args.items.map((arg, i): Param => {
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
        // Not its path, in which names of the caller's functions stand.
        session: `s${session.token}`,
        turn: session.turns,
        first: session.turns === 0,
        skills: d.skills.flatMap((one) => skillOf(m, one.file, one.form.name)),
        params,
        expects: d.contract === null ? null : { contract: d.contract, shapes: d.shapes },
        limits: {
            ...(Number.isFinite(steps) ? { steps } : {}),
            ...(time === undefined ? {} : { seconds: Math.ceil(time / 1000) }),
            turns: Math.max(1, state.most - session.turns),
            bytes: state.bytes ?? ANSWER_BYTES,
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
export function turn(
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
            region: state.turnsOf ?? session.account,
            detail: { meter: "turns", limit: state.most, used: session.turns, spender: `${shownName(entry.name)} at ${path}` },
        });
    const todo = leftToDo(session, path, site);
    session.turning = path;
    const nth = session.turns++;
    const at = `${path}/turn[${state.turn++}]`;
    state.prompt = prompt;
    if (nth > 0) {
        const why = state.tries > 0 ? "retry" : state.turn > 1 ? "repair" : native.what;
        m.emit("yield.turn", at, path, site, [], { agent: shownName(entry.name), session: state.session, turn: nth, why });
    }
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
        ...(state.tries === 0 ? {} : { fresh: true as const }),
        prompt,
        hands: handsOf(m, fiber, session, native.args.items),
        limits: limitsOf(m, payerOf(state, session), state.silence, todo),
        ...(d.with.model === undefined && state.config?.model === undefined ? {} : { model: d.with.model ?? state.config?.model }),
    };
    state.waiting = [at];
    raise(m, fiber, {
        kind: "agent",
        path: at,
        site,
        request: request as unknown as Json,
        labels: state.labels,
        origin: `agent:${entry.name}`,
        payer: payerOf(state, session),
    });
}

/** What is left for one turn. */
function limitsOf(
    m: Machine,
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
