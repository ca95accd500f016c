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
import { type Json, type Site, shownName, acceptValue, isSource } from "@remit/language";
import { readOnce } from "../agent/answers.ts";
import { repair } from "../agent/handshake.ts";
import { readReply } from "../agent/reply.ts";
import type { Session } from "../agent/session.ts";
import type { Code } from "../compile/code.ts";
import type { HandoverKind } from "../compile/handover.ts";
import type { CallValueDetail, HandoverDetail, Instruction } from "../compile/instructions.ts";
import type { AgentEntry } from "../compile/program.ts";
import type { AgentPart, AgentReply, Effect, Outcome } from "../effect/effect.ts";
import { Fail } from "../effect/failure.ts";
import { located } from "../value/access.ts";
import { toJson } from "../value/json.ts";
import { join } from "../value/operators.ts";
import { List, type Value } from "../value/value.ts";
import { actReturned, beginAct } from "./act.ts";
import { note, noteInside, replyOfNotes, trajectory } from "./agent-call.ts";
import { agentConfig, type AgentConfig, ENVELOPES } from "./agent-config.ts";
import { turnDone } from "./doing.ts";
import { failFrom } from "./effects.ts";
import { type Fiber, type Frame, pathOf } from "./fiber.ts";
import { copies, mayRead, permitted, targetOf } from "./handed.ts";
import { handlesOf, undescribed } from "./hands.ts";
import type { Machine } from "./machine.ts";
import { beginReason } from "./reason.ts";
import { ANSWER_BYTES, close, open, payerOf, release, within } from "./sessions.ts";
import { countCall } from "./steps.ts";
import { start, takeTurn, turn } from "./turns.ts";
import { dropWritten, runWritten, unfit } from "./written.ts";

export interface HandoverWait {
    readonly kind: "handover";
    readonly path: string;
    readonly what: HandoverKind;
    /** What was handed over, in order. */
    readonly args: List;
    readonly state: HandoverState;
    /** What the agent of an `agent()` call reported in its present turn, each note as JSON: it only grows, so saving it is cheap. */
    noted?: List;
}

/** Plain JSON. */
export interface HandoverState {
    phase: "describe" | "servers" | "queued" | "turn" | "agent" | "run" | "tool";
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
    /** A tool's own name, whose manual `act()` is asked for. */
    bare?: string;
    config: AgentConfig | null;
    /** The account of a call that goes over a session which is open and has limits of its own; 0 where the session's pays. */
    account: number;
    /** Prompt turns of the session at which this call's are used up, and the account of whoever said so. */
    most: number;
    turnsOf?: number;
    /** Most bytes of an answer, and most milliseconds without a sign. */
    bytes?: number;
    silence?: number;
}

function withoutAgent({ agent: _, labels: __, ...rest }: AgentConfig): AgentConfig {
    return rest;
}

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
    if (d.what === "reason") beginReason(m, { fiber, frame, I, path: pathOf(frame, d.path) }, d);
    else if (d.what === "act") beginAct(m, fiber, frame, d, I.site);
    else begin(m, fiber, frame, d, I);
}

function begin(m: Machine, fiber: Fiber, frame: Frame, d: HandoverDetail, I: Instruction): void {
    const { site } = I;
    const path = pathOf(frame, d.path);
    const values = d.args.map((arg) => arg.code(frame.locals));
    const config = d.what === "agent" ? agentConfig(m, values[1] ?? null, d, site) : null;
    const target = targetOf(m, frame, d, I, config);
    const given = d.what === "yield" ? values : values.slice(0, 1);
    const names = d.args.map((arg, i) => arg.name ?? String(i + 1)).slice(0, given.length);
    if (d.what !== "yield" && given.length !== 1) throw new Fail("value", `${d.what} takes a text`, { site });
    const { args, labels: handed } = copies(m, frame, given, site);
    // Options of `agent()` leave too, and say something of what chose them.
    const options = config?.labels ?? 0;
    const labels = options === 0 ? handed : m.run.labels.origins(m.run.labels.union(m.run.labels.of(handed), options));
    if (target.session === null && !permitted(m, fiber, frame, d.what, target, names, args, path)) return;
    mayRead(m, frame, target.entry, [...names, "options"], [...args, join(m.run, "", options)], site);
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
        // A failure is answered as the call says, like a later one.
        if (!(error instanceof Fail)) frame.native = null;
        throw error;
    }
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
        state.came[slot] = described(m, outcome, I.site);
        if (state.came.some((one) => one === null)) return;
        takeTurn(m, fiber, frame, d, native, I.site);
        return;
    }
    const { session, reply } = turnOver(m, native, path, I.site, outcome, outcome.ok ? null : outcome.failure);
    const name = session.agent[1];
    if (!outcome.ok) {
        m.tracer?.at(I.site, native.path, `agent ${shownName(name)}`);
        const fail = failFrom(m, outcome.failure, I.site, [`agent:${name}`]);
        throw fail.class === "limit" && !fail.whole ? fail.of(regionOf(m, state, session, fail)) : fail;
    }
    if (reply === null)
        throw new Fail("invalid_payload", `${shownName(name)}'s turn gave what is no reply`, {
            site: I.site,
            labels: m.run.labels.of([`agent:${name}`]),
        });
    answered(m, fiber, frame, d, native, reply, I);
}

/** A turn of an agent outside the program is over, whatever it gave. */
function turnOver(
    m: Machine,
    native: HandoverWait,
    path: string,
    site: Site | null,
    outcome: Outcome,
    failure: { readonly kind: string; readonly message: string } | null,
): { readonly session: Session; readonly reply: AgentReply | null } {
    const session = m.sessions.get(native.state.session) as Session;
    release(session, native.path);
    const reply = replyOf(outcome) ?? replyOfNotes(native)?.reply ?? null;
    turnDone(session, reply);
    answeredEvent(m, native, session, path, site, outcome.ok ? outcome.origins : [], {
        ...(failure === null ? { ok: true } : { ok: false, kind: failure.kind, error: failure.message }),
        ...(reply === null ? {} : { reply: reply as unknown as Json }),
        ...(outcome.usage === undefined ? {} : { usage: outcome.usage as Json }),
    });
    delete native.noted;
    note(native.state, reply, outcome.usage, failure === null ? null : { kind: failure.kind, message: failure.message });
    return { session, reply };
}

/** A turn used more than there was: it is told like any other, and fails. */
export function turnOverdrawn(m: Machine, fiber: Fiber, native: HandoverWait, effect: Effect, outcome: Outcome, fail: Fail): void {
    turnOver(m, native, effect.path, effect.site, outcome, outcome.ok ? fail : outcome.failure);
    if (fiber.frames.length - 1 < fiber.low) fiber.low = fiber.frames.length - 1;
}

/** What there was of a turn. */
export function replyOf(outcome: Outcome): AgentReply | null {
    return outcome.ok ? readReply(outcome.value) : replyIn(outcome.failure.detail);
}

/** What a tool says of itself. One that cannot does not keep the others from being handed over; what ends the whole does. */
function described(m: Machine, outcome: Outcome, site: Site | null): Json {
    if (outcome.ok) return outcome.value;
    const fail = failFrom(m, outcome.failure, site, []);
    if (fail.class !== "failure") throw fail;
    return undescribed(fail.kind);
}

/** Tells of the end of a turn. */
function answeredEvent(
    m: Machine,
    native: HandoverWait,
    session: Session,
    path: string,
    site: Site | null,
    labels: readonly string[],
    data: { readonly [key: string]: Json },
): void {
    const about = { agent: shownName(session.agent[1]), session: native.state.session, turn: session.turns - 1 };
    m.emit("agent.answered", path, native.path, site, labels, { ...about, ...data });
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

const SHORT = 300;

function shortOf(text: string): string {
    return text.length > SHORT ? `${text.slice(0, SHORT)}…` : text;
}

function replyIn(detail: Json | undefined): AgentReply | null {
    const reply = detail !== null && typeof detail === "object" && !Array.isArray(detail) ? detail.reply : undefined;
    return readReply(reply);
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
        const value = ENVELOPES.data({ text: reply.text, trajectory: trajectory(m, native, session, reply.stop, null) });
        give(m, fiber, frame, native, join(m.run, m.fromJson(value), origin));
        return;
    }
    const file = `${shownName(entry.name)}'s answer`;
    const read = readOnce(m.compiled.answers, reply.text, reply.resources ?? [], {
        params: state.params,
        file,
        bytes: state.bytes ?? ANSWER_BYTES,
        shapes: d.shapes,
    });
    const errors = read.ok ? unfit(native, handlesOf(m, session, native), read.answer) : read.errors;
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
        throw new Fail(
            !read.ok && read.kind === "refused" ? "violation.payload" : "invalid_payload",
            `${shownName(entry.name)} gave no valid function: ${errors[0] ?? ""}`,
            {
                by: session.principal,
                site: I.site,
                labels: origin,
                detail: { errors: [...errors], turns: session.turns },
            },
        );
    turn(m, fiber, frame, d, native, repair(errors, left), I.site);
}

/** The label of what an agent is asked, or says: these origins, which derivations know to be made from all that was handed over. */
export function labelOfSaid(m: Machine, native: HandoverWait, site: Site | null, what: string, origins: readonly string[]): number {
    return m.tracer === null ? m.run.labels.of(origins) : m.tracer.said(native.path, site, what, origins);
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
        actReturned(m, fiber, native, value);
        return;
    }
    const I = frame.form.code[frame.pc] as Instruction;
    const d = handoverAt(I);
    const session = m.sessions.get(state.session) as Session;
    const entry = m.compiled.agent(...session.agent) as AgentEntry;
    let out: ReturnType<typeof toJson>;
    try {
        out = toJson(value, m.run);
    } catch (error) {
        throw located(error, I.site);
    }
    if (state.phase === "agent") {
        release(session, native.path);
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
        const saw = m.run.labels.of(session.doing?.origins ?? []);
        state.labels = m.run.labels.origins(m.run.labels.union(m.run.labels.union(m.run.labels.of(state.labels), out.labels), saw));
        m.tracer?.sawLabel(native.path, out.labels);
        answeredEvent(m, native, session, `${native.path}/turn[${state.turn - 1}]`, I.site, state.labels, {
            ok: true,
            reply: reply as unknown as Json,
        });
        noteInside(state, session, said, null);
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

const FENCE = "`".repeat(3);

/** Source without a fence is taken for what it is. */
function asAnswer(text: string): string {
    return isSource(text) ? `${FENCE}remit\n${text}\n${FENCE}` : text;
}
