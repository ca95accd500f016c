/**
 * The table of native operations.
 *
 * Boundary: names them, nothing else. What an operation is, and what it is given, is `ops.ts`.
 */
import type { HandoverDetail } from "../compile/instructions.ts";
import { opOf } from "../effect/effect.ts";
import { actOutcome } from "./act.ts";
import { caughtByAgent, takenByAgent } from "./agent-call.ts";
import { define } from "./define.ts";
import { delegate } from "./delegate.ts";
import { describe } from "./described.ts";
import { describedEvent } from "./effects.ts";
import { endorse } from "./endorse.ts";
import { ask } from "./gate.ts";
import { generate } from "./generate.ts";
import { type HandoverWait, beginHandover, handedBack, handoverAt, handoverOutcome, turnOverdrawn } from "./handover.ts";
import type { Machine } from "./machine.ts";
import type { Begins, Natives, Ops, Waits, Through } from "./ops.ts";
import { parallel } from "./parallel.ts";
import { refusedAs } from "./refused.ts";
import { abandon, payerOf } from "./sessions.ts";
import { effect, effectEnded, askMemory, askTool } from "./tools.ts";
import { turn } from "./turns.ts";

/** Rooms that still take the whole machine. */
const whole = (m: Ops): Machine => m as Machine;

const handover: Begins<HandoverDetail> & Waits<HandoverWait> = {
    begin(m, { fiber, frame, I }, d) {
        beginHandover(whole(m), fiber, frame, d, I);
        return fiber.top !== frame;
    },
    denied: (m, { frame }, _d, fail) => refusedAs(whole(m), frame, fail),
    resume(m, { fiber, frame }, wait, { pending, outcome }) {
        const { effect } = pending;
        const describes = effect.kind === "tool" && opOf(effect.request) === "describe";
        if (describes) describedEvent(m, wait.path, effect, outcome);
        if (wait.state.session !== "") {
            handoverOutcome(whole(m), fiber, wait, pending.slot, effect.path, outcome);
            return;
        }
        if (!describes) effectEnded(m, frame, effect, outcome);
        actOutcome(whole(m), fiber, wait, pending, outcome);
    },
    returned: (m, { fiber, frame }, wait, value) => handedBack(whole(m), fiber, frame, wait, value),
    takes: (m, frame, _wait, fail) => takenByAgent(whole(m), frame, fail),
    caught: (m, { fiber, frame }, _wait, fail) => void caughtByAgent(whole(m), fiber, frame, fail),
    left: (m, frame, _wait, fail) => abandon(whole(m), frame, fail),
    overdrawn(m, { fiber }, wait, { pending, outcome }, fail) {
        if (pending.effect.kind === "agent") turnOverdrawn(whole(m), fiber, wait, pending.effect, outcome, fail);
    },
    again(m, { fiber, frame, I }, wait) {
        if (wait.state.session === "") {
            frame.native = null;
            return;
        }
        // A call that waits for its turn is served like the others.
        if (wait.state.phase === "queued") return;
        wait.state.tries++;
        turn(whole(m), fiber, frame, handoverAt(I), wait, wait.state.prompt, I.site);
    },
    saysTurns: ({ I }, { state }) => handoverAt(I).with.turns !== undefined || state.config?.turns !== undefined,
    domain(m, { state }) {
        const session = m.sessions.get(state.session);
        return session === undefined ? null : payerOf(state, session);
    },
    held: ({ args, noted }) => (noted === undefined ? [args] : [args, noted]),
};

const through: Through = {
    use: (m, call, use) => (use.c?.kind === "memory" ? askMemory(m, call, use) : askTool(m, call, use)),
    send: (m, call) => void handover.begin(m, call, handoverAt(call.I)),
};

export const NATIVES: Natives = { effect, ask, describe, generate, define, handover, "call.value": through, parallel, delegate, endorse };
