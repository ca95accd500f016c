/**
 * A call that hands over control (`yield`, `send`, `agent()`, `act()`): what it keeps while it waits, and what its instruction says.
 *
 * Boundary: state and look-ups. What such a call does is `yield.ts` and `act.ts`, its session `sessions.ts`, a turn of it `turns.ts`.
 */
import type { Json } from "@remit/language";
import type { Session } from "../agent/session.ts";
import type { Code } from "../compile/code.ts";
import type { HandoverKind } from "../compile/handover.ts";
import type { CallValueDetail, HandoverDetail, Instruction } from "../compile/instructions.ts";
import type { AgentPart } from "../effect/effect.ts";
import type { Usage } from "../effect/usage.ts";
import type { List } from "../value/value.ts";
import type { AgentConfig } from "../native/agent-config.ts";
import { type Call, type Ops, waitingCall } from "./ops.ts";

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
    /** What its notes said of the present turn was used, and has been counted. */
    charged?: Usage;
    tries: number;
    /** A tool's own name, whose manual `act()` is asked for. */
    bare?: string;
    config: AgentConfig | null;
    /** The account of a call that goes over a session which is open and has limits of its own; 0 where the session's pays. */
    account: number;
    /** Prompt turns of the session at which this call's are used up, and the account of the code that said so. */
    most: number;
    turnsOf?: number;
    /** Most bytes of an answer, and most milliseconds without a sign. */
    bytes?: number;
    silence?: number;
}

/** Such a call where it stands. */
export interface Handing extends Call {
    readonly d: HandoverDetail;
    readonly wait: HandoverWait;
}

export function handing(call: Call, wait: HandoverWait): Handing {
    return { ...waitingCall(call.fiber, wait), d: handoverAt(call.I), wait };
}

/** At its beginning. */
export function stateOf(
    phase: HandoverState["phase"],
    some: Pick<HandoverState, "labels"> & Partial<Pick<HandoverState, "session" | "opened" | "params" | "waiting" | "config">>,
): HandoverState {
    const { waiting = [] } = some;
    return {
        phase,
        session: "",
        opened: false,
        turn: 0,
        params: [],
        came: waiting.map(() => null),
        prompt: [],
        turns: [],
        tries: 0,
        account: 0,
        most: 0,
        config: null,
        ...some,
        waiting,
    };
}

/** What an instruction hands over by. A call of `send` through a value turns out to be one only when it runs. */
export function handoverAt(I: Instruction): HandoverDetail {
    const d = I.detail as HandoverDetail | CallValueDetail;
    if (d.kind === "handover") return d;
    const args = d.args.map((code) => ({ name: null, code: code as Code }));
    const nothing = { with: {}, skills: [], policy: null, contract: null, shapes: {}, model: null, label: "", agent: "" };
    return { kind: "handover", what: "send", args, path: d.path, ...nothing };
}

/** The session that a call goes over, which lives as long as the call. */
export function sessionOf(m: Pick<Ops, "sessions">, { state }: HandoverWait): Session {
    return m.sessions.get(state.session) as Session;
}

/** Origins of all that an agent was handed over by the time of a call (SES3). */
export function heardIn({ heard = [] }: Session, { labels }: HandoverState): readonly string[] {
    return heard.length === 0 ? labels : [...new Set([...heard, ...labels])].sort();
}

/** SES3. `read`: origins of what its own uses gave it, or may have given. */
export function hears({ standing }: Pick<Ops, "standing">, session: Session, state: HandoverState, read: readonly string[]): void {
    standing.meets(read);
    const heard = [...new Set([...heardIn(session, state), ...read])].sort();
    if (heard.length > 0) session.heard = heard;
}

/** The account that pays for a call. */
export function payerOf(state: HandoverState, session: Session): number {
    return state.account === 0 ? session.account : state.account;
}

/** The label of what an agent is asked, or says: these origins, which derivations know to be made from all that was handed over. */
export function labelOfSaid(m: Ops, { I, path }: Call, what: string, origins: readonly string[]): number {
    return m.tracer === null ? m.run.labels.of(origins) : m.tracer.said(path, I.site, what, origins);
}
