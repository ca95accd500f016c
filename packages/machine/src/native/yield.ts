/**
 * Handing over control, as one native operation: `yield`, `send` and `agent()` from the first turn to the value; `act()` and `reason()` by their rooms.
 *
 * Boundary: what each turn's outcome means and what happens next. Texts that are sent are `../agent/handshake.ts`, what an answer may be is the
 * language's (`readAnswer`), how its function runs is `agent-code.ts`.
 *
 * YI3: one session a call: opened by it, closed on every way out, never seen by another call. A yield inside an answer goes over the session of
 *     the answer.
 * YI4: what is handed over is a copy; a capability among it is a grant for the session.
 * YI5: what an agent gives carries its origin, `agent:NAME`, and so does all that its function computes.
 * YI6: an answer that is no valid function is sent back with its errors, within `turns`; once a function ran, its end is the end of the call.
 */
import { acceptValue, type ImportForm, isSource, type Json, shownName } from "@remit/language";
import { readOnce } from "../agent/answers.ts";
import { repair } from "../agent/handshake.ts";
import { replyIn } from "../agent/reply.ts";
import type { Session } from "../agent/session.ts";
import type { HandoverDetail } from "../compile/instructions.ts";
import { type AgentReply, opOf, type Outcome } from "../effect/effect.ts";
import { violation } from "../effect/broken.ts";
import { Fail } from "../effect/failure.ts";
import { located } from "../value/access.ts";
import { toJson } from "../value/json.ts";
import { join } from "../value/operators.ts";
import { List, type Value } from "../value/value.ts";
import { type Known, labelOfSession, runWritten, unfit } from "../state/agent-code.ts";
import { turnDone } from "../state/activity.ts";
import { describedEvent, failFrom } from "../state/effects.ts";
import {
    type Handing,
    handing,
    handoverAt,
    heardIn,
    hears,
    type HandoverState,
    type HandoverWait,
    labelOfSaid,
    payerOf,
    sessionOf,
    stateOf,
} from "../state/handover.ts";
import type { Begins, Call, Ops, Told, Waits } from "../state/ops.ts";
import { originsRead } from "../state/result-readers.ts";
import { actReturned, actTold, beginAct } from "./act.ts";
import { caughtByAgent, note, noteInside, replyOfNotes, takenByAgent, trajectory } from "./agent-call.ts";
import { agentConfig, type AgentConfig, ENVELOPES } from "./agent-config.ts";
import { givenBy, givenHandles, handlesOf, undescribed } from "./hands.ts";
import { beginReason } from "./reason.ts";
import { abandon, ANSWER_BYTES, close, open, release, turnsLeft, within } from "./sessions.ts";
import { copies, mayRead, permitted, targetOf } from "./target.ts";
import { effectEnded } from "./tools.ts";
import { start, takeTurn, turn } from "./turns.ts";
import { denialOf } from "./denial.ts";

// ---- the operation ---------------------------------------------------------------------------------------------------------

export const handover: Begins<HandoverDetail> & Waits<HandoverWait> = {
    begin(m, call, d) {
        if (d.what === "reason") return beginReason(m, call, d);
        if (d.what === "act") beginAct(m, call, d);
        else beginYield(m, call, d);
        return call.fiber.top !== call.frame;
    },
    denied: (m, { frame }, _d, fail) => denialOf(m, frame, fail),
    asksOn: true,
    resume(m, call, wait, told) {
        const { effect } = told.pending;
        const describes = effect.kind === "tool" && opOf(effect.request) === "describe";
        if (describes) describedEvent(m, wait.path, effect, told.outcome);
        if (wait.state.session !== "") {
            turnTold(m, handing(call, wait), told);
            return;
        }
        if (!describes) effectEnded(m, call.frame, told.pending, told.outcome);
        actTold(m, handing(call, wait), told);
    },
    returned(m, call, wait, value) {
        if (wait.state.session === "") actReturned(m, handing(call, wait), value);
        else handedBack(m, handing(call, wait), value);
    },
    takes: (m, frame, wait, fail) => takenByAgent(m, frame, wait, fail),
    caught: (m, call, wait, fail) => caughtByAgent(m, handing(call, wait), fail),
    left: (m, frame, wait, fail) => abandon(m, frame, wait, fail),
    overdrawn(m, call, wait, told, fail) {
        if (told.pending.effect.kind === "agent") turnOverdrawn(m, handing(call, wait), told, fail);
    },
    again(m, call, wait) {
        const { state } = wait;
        if (state.session === "") {
            call.frame.native = null;
            return;
        }
        // A call that waits for its turn is served like the others.
        if (state.phase === "queued") return;
        state.tries++;
        turn(m, handing(call, wait), state.prompt);
    },
    saysTurns: ({ I }, { state }) => handoverAt(I).with.turns !== undefined || state.config?.turns !== undefined,
    domain(m, { state }) {
        const session = m.sessions.get(state.session);
        return session === undefined ? null : payerOf(state, session);
    },
    held: ({ args, noted }) => (noted === undefined ? [args] : [args, noted]),
};

/** `send` through a value. */
export function send(m: Ops, call: Call): void {
    handover.begin(m, call, handoverAt(call.I));
}

// ---- its beginning ---------------------------------------------------------------------------------------------------------

function withoutAgent({ agent: _, labels: __, ...rest }: AgentConfig): AgentConfig {
    return rest;
}

function beginYield(m: Ops, call: Call, d: HandoverDetail): void {
    const { frame, path } = call;
    const { site } = call.I;
    const values = d.args.map((arg) => arg.code(frame.locals));
    const config = d.what === "agent" ? agentConfig(m, values[1] ?? null, d, site) : null;
    const target = targetOf(m, call, d, config);
    const handed = d.what === "yield" ? values : values.slice(0, 1);
    const names = d.args.map((arg, i) => arg.name ?? String(i + 1)).slice(0, handed.length);
    if (d.what !== "yield" && handed.length !== 1) throw new Fail("value", `${d.what} takes a text`, { site });
    const { args, labels: origins } = copies(m, frame, handed, site);
    // Options of `agent()` leave too, and say something of what chose them.
    const options = config?.labels ?? 0;
    const more = m.run.labels.union(options, target.session === null ? 0 : labelOfSession(m, call.fiber, target.session));
    const labels = more === 0 ? origins : m.run.labels.origins(m.run.labels.union(m.run.labels.of(origins), more));
    if (target.session === null && !permitted(m, call, d.what, target, { names, args })) return;
    mayRead(m, call, target.entry, { names: [...names, "options"], args: [...args, join(m.run, "", options)] });
    m.countCall();
    m.tracer?.saw(path, handed);
    m.tracer?.use(path, handed, frame.placeLabel);
    const state = stateOf("turn", {
        session: target.session?.path ?? path,
        opened: target.session === null,
        params: names,
        labels,
        config: config === null ? null : withoutAgent(config),
    });
    const wait: HandoverWait = { kind: "handover", path, what: d.what, args: new List(args, m.run.heap), state };
    const h: Handing = { ...call, d, wait };
    if (target.session === null) open(m, h, target.entry);
    else within(m, h, target.session);
    frame.native = wait;
    try {
        start(m, h);
    } catch (error) {
        // A failure is answered as the call says, like a later one.
        if (!(error instanceof Fail)) frame.native = null;
        throw error;
    }
}

// ---- what comes back -----------------------------------------------------------------------------------------------------

/** An outcome of an effect that a handover waits for. Throws `Fail`. */
function turnTold(m: Ops, h: Handing, told: Told): void {
    const { state } = h.wait;
    const { site } = h.I;
    const { outcome } = told;
    h.fiber.touch();
    if (state.phase === "describe") {
        state.came[told.pending.slot] = described(m, h, outcome);
        if (state.came.every((one) => one !== null)) takeTurn(m, h);
        return;
    }
    const reply = turnOver(m, h, told, outcome.ok ? null : outcome.failure);
    const session = sessionOf(m, h.wait);
    const name = session.agent[1];
    if (!outcome.ok) {
        m.tracer?.at(site, h.path, `agent ${shownName(name)}`);
        const fail = failFrom(m, outcome.failure, site, []);
        // Its words may repeat what it was told, as those of an answer may.
        fail.labels = labelOfSaid(m, h, `agent ${shownName(name)}`, [...heardIn(session, h.wait.state), `agent:${name}`]);
        throw fail.class === "limit" && !fail.whole ? fail.of(regionOf(m, h.wait.state, session, fail)) : fail;
    }
    if (reply === null)
        throw new Fail("invalid_payload", `${shownName(name)}'s turn gave what is no reply`, {
            site,
            labels: m.run.labels.of([`agent:${name}`]),
        });
    answered(m, h, reply);
}

type Broken = { readonly kind: string; readonly message: string } | null;

/** A turn of an agent outside the program is over, whatever it gave. */
function turnOver(m: Ops, h: Handing, { pending, outcome }: Told, failure: Broken): AgentReply | null {
    const { wait } = h;
    const session = sessionOf(m, wait);
    release(session, h.path);
    hears(m, session, wait.state, originsRead(m, outcome.read ?? []));
    const noted = replyOfNotes(wait);
    const reply = replyIn(outcome) ?? noted?.reply ?? null;
    const usage = outcome.usage ?? noted?.usage;
    turnDone(session, reply);
    answeredEvent(
        m,
        h,
        { path: pending.effect.path, labels: outcome.ok ? outcome.origins : [] },
        {
            ...(failure === null ? { ok: true } : { ok: false, kind: failure.kind, error: failure.message }),
            ...(reply === null ? {} : { reply: reply as unknown as Json }),
            ...(usage === undefined ? {} : { usage: usage as Json }),
        },
    );
    delete wait.noted;
    note(wait.state, reply, usage, failure === null ? null : { kind: failure.kind, message: failure.message });
    return reply;
}

/** A turn used more than there was: it is told like any other, and fails. */
function turnOverdrawn(m: Ops, h: Handing, told: Told, fail: Fail): void {
    turnOver(m, h, told, told.outcome.ok ? fail : told.outcome.failure);
    h.fiber.touch();
}

/** What a tool says of itself. One that cannot does not keep the others from being handed over; what ends the whole does. */
function described(m: Ops, { I }: Call, outcome: Outcome): Json {
    if (outcome.ok) return outcome.value;
    const fail = failFrom(m, outcome.failure, I.site, []);
    if (fail.class !== "failure") throw fail;
    return undescribed(fail.kind);
}

/** Tells of the end of a turn. */
function answeredEvent(
    m: Ops,
    { I, path, wait }: Handing,
    turn: { readonly path: string; readonly labels: readonly string[] },
    data: { readonly [key: string]: Json },
): void {
    const { agent, turns } = sessionOf(m, wait);
    const about = { agent: shownName(agent[1]), session: wait.state.session, turn: turns - 1 };
    m.emit("agent.answered", turn.path, path, I.site, turn.labels, { ...about, ...data });
}

/** Whose limit a turn came to: the call's own where it has such a limit, else the session's. */
function regionOf(m: Ops, state: HandoverState, session: Session, fail: Fail): number {
    const meter = ({ "limit.tokens": "tokens", "limit.cost": "usd", "limit.calls": "calls", "limit.time": "time" } as const)[
        fail.kind as "limit.time"
    ];
    return state.account !== 0 && meter !== undefined && m.accounts.at(state.account).limits[meter] !== undefined
        ? state.account
        : session.account;
}

const SHORT = 300;

function shortOf(text: string): string {
    return text.length > SHORT ? `${text.slice(0, SHORT)}…` : text;
}

/** What an agent said in a turn: the value, a function to run, or errors to send back. */
function answered(m: Ops, h: Handing, reply: AgentReply): void {
    const { wait } = h;
    const { site } = h.I;
    const session = sessionOf(m, wait);
    const name = shownName(session.agent[1]);
    const labels = labelOfSaid(m, h, `agent ${name}`, [...heardIn(session, wait.state), `agent:${session.agent[1]}`]);
    if (reply.stop === "refusal") {
        const why = reply.text === "" ? "" : `: ${shortOf(reply.text)}`;
        throw new Fail("refusal", `${name} refused${why}`, { site, labels });
    }
    if (wait.what === "send") give(m, h, join(m.run, reply.text, labels));
    else if (wait.what === "agent") {
        const value = ENVELOPES.data({ text: reply.text, trajectory: trajectory(m, wait, reply.stop, null) });
        give(m, h, join(m.run, m.fromJson(value), labels));
    } else functionGiven(m, h, reply, labels);
}

function knownTo(m: Ops, { fiber, wait }: Handing, session: Session, gives: ReturnType<typeof givenBy>): Known {
    const passed = handlesOf(m, session, wait).map((handle, i) => [wait.state.params[i] as string, handle] as const);
    return {
        passed: new Map(passed),
        given: new Map(givenHandles(m, fiber, session, wait, gives).map((one) => [one.name, one])),
    };
}

/** The function that an agent answered a yield with: it runs, or is sent back with its errors (YI6). */
function functionGiven(m: Ops, h: Handing, reply: AgentReply, labels: number): void {
    const { d, wait, path } = h;
    const { state } = wait;
    const { site } = h.I;
    const session = sessionOf(m, wait);
    const name = shownName(session.agent[1]);
    const gives = givenBy(m, h.fiber, session);
    const given = gives.map(({ form }): ImportForm => ({ what: form.what, name: form.name, uri: form.uri }));
    const read = readOnce(m.compiled.answers, reply.text, reply.resources ?? [], {
        params: state.params,
        given,
        file: `${name}'s answer`,
        bytes: state.bytes ?? ANSWER_BYTES,
        shapes: d.shapes,
    });
    const errors = read.ok ? unfit(knownTo(m, h, session, gives), read.answer) : read.errors;
    m.emit("yield.payload", `${path}/turn[${state.turn - 1}]`, path, site, m.run.labels.origins(labels), {
        agent: name,
        ...(read.ok ? { form: read.answer.form, text: read.answer.text } : {}),
        ...(errors.length === 0 ? { ok: true } : { ok: false, errors: [...errors] }),
    });
    if (errors.length === 0 && read.ok) {
        state.phase = "run";
        runWritten(m, h, read.answer);
        return;
    }
    const { left } = turnsLeft(m, h);
    if (left > 0) {
        turn(m, h, repair(errors, left));
        return;
    }
    const message = `${name} gave no valid function: ${errors[0] ?? ""}`;
    const detail = { errors: [...errors], turns: session.turns };
    if (!read.ok && read.kind === "refused")
        throw violation({ why: "payload", capability: name }, { message, by: session.principal, site, labels, detail });
    throw new Fail("invalid_payload", message, { by: session.principal, site, labels, detail });
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
function give(m: Ops, h: Handing, value: Value): void {
    close(m, h.frame, h.wait, null);
    m.deliver(h.fiber, value);
}

/** A frame that a handover waited for returned: the function of an answer, or the main func of an agent of the program. */
function handedBack(m: Ops, h: Handing, value: Value): void {
    const { wait, path } = h;
    const { site } = h.I;
    const session = sessionOf(m, wait);
    const name = session.agent[1];
    let out: ReturnType<typeof toJson>;
    try {
        out = toJson(value, m.run);
    } catch (error) {
        // What cannot be handed back is the doing of whose function it was, not of the program around it.
        if (error instanceof Fail) error.by ??= session.principal;
        throw located(error, site);
    }
    if (wait.state.phase === "agent") {
        programSaid(m, h, session, out);
        return;
    }
    m.dropCode(path);
    m.tracer?.at(site, path, `agent ${shownName(name)}`);
    // The agent's origin among them: its function ran under that.
    const { labels } = out;
    const checked = fits(h.d, out.json, shownName(name));
    if (!checked.ok) throw new Fail("contract", checked.message, { site, labels });
    give(m, h, join(m.run, m.fromJson(checked.value), labels));
}

/** A turn of an agent of the program is over: what its main func gave is what it said. */
function programSaid(m: Ops, h: Handing, session: Session, { json, labels }: ReturnType<typeof toJson>): void {
    const { wait, path } = h;
    const { state } = wait;
    release(session, path);
    const text = typeof json === "string" ? json : JSON.stringify(json);
    const said = wait.what !== "yield" ? text : typeof json === "string" ? asAnswer(json) : `${FENCE}json\n${text}\n${FENCE}`;
    const reply: AgentReply = {
        text: said,
        stop: "end_turn",
        entries: [{ kind: "message", text: said }],
        confinement: "remote",
        spent: { steps: 1, calls: 0, ms: 0 },
    };
    const saw = m.run.labels.of(session.doing?.origins ?? []);
    state.labels = m.run.labels.origins(m.run.labels.union(m.run.labels.union(m.run.labels.of(state.labels), labels), saw));
    m.tracer?.sawLabel(path, labels);
    const turn = { path: `${path}/turn[${state.turn - 1}]`, labels: state.labels };
    answeredEvent(m, h, turn, { ok: true, reply: reply as unknown as Json });
    noteInside(state, session, said, null);
    answered(m, h, reply);
}

const FENCE = "`".repeat(3);

/** Source without a fence is taken for what it is. */
function asAnswer(text: string): string {
    return isSource(text) ? `${FENCE}remit\n${text}\n${FENCE}` : text;
}
