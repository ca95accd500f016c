/**
 * What makes a handover `agent()`: its turns are kept, told as a trajectory, and a failure is answered as its `on_error` says.
 *
 * Boundary: from turns and failures to the envelope (`ria.agent`, Re in Act). Turns themselves are `turns.ts`.
 */
import { type Json, shownName } from "@remit/language";
import type { Session } from "../agent/session.ts";
import type { Instruction } from "../compile/instructions.ts";
import type { AgentNote, AgentReply, Outcome, Usage } from "../effect/effect.ts";
import { Fail } from "../effect/failure.ts";
import { type SessionTurn, trajectoryOf } from "../ledger/atif/session.ts";
import { notedIn, replyNoted } from "../ledger/notes.ts";
import { join } from "../value/operators.ts";
import { ENVELOPES } from "./agent-config.ts";
import { takeDone, turnDone } from "./doing.ts";
import type { Fiber, Frame } from "./fiber.ts";
import { catchesViolation } from "./handlers.ts";
import { handoverAt, type HandoverState, type HandoverWait, labelOfSaid } from "./handover.ts";
import type { Machine } from "./machine.ts";
import { close, TRIES } from "./sessions.ts";
import { turn } from "./turns.ts";

/** A turn of a call whose trajectory is told. */
export function note(
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

/** A turn of an agent of the program is over, or broke off where nothing is `said`. */
export function noteInside(
    state: HandoverState,
    session: Session,
    said: string | null,
    failure: { kind: string; message: string } | null,
): void {
    if (session.doing === null) return;
    const { reply, usage } = takeDone(session.doing, said);
    note(state, said === null && reply.entries.length === 0 ? null : reply, usage, failure);
}

/** What an agent at work reported (notes of its turn). Nothing goes on by it. */
export function takeNotes(m: Machine, told: { readonly path: string; readonly outcome: Outcome }): void {
    const said = notedIn(told);
    const fiber = said === null ? undefined : m.waiting.get(said.turn)?.fiber;
    const native = fiber?.top.native;
    if (said === null || fiber === undefined || native?.kind !== "handover" || native.state.config === null) return;
    m.enter(fiber);
    if (native.noted === undefined) {
        native.noted = m.run.heap.list([]);
        fiber.low = Math.min(fiber.low, fiber.frames.length - 1);
    }
    for (const one of said.notes) m.run.heap.push(native.noted, JSON.stringify(one));
}

/** What there was of the present turn. */
export function replyOfNotes({ noted }: HandoverWait): ReturnType<typeof replyNoted> {
    return noted === undefined ? null : replyNoted(noted.items.map((one) => JSON.parse(one as string) as AgentNote));
}

/** A turn of an agent outside the program broke off: what it reported is all that there is. */
function noteBroken(native: HandoverWait, session: Session, failure: { kind: string; message: string }): void {
    const said = replyOfNotes(native);
    delete native.noted;
    turnDone(session, said?.reply ?? null);
    note(native.state, said?.reply ?? null, said?.usage, failure);
}

/** What the agent did so far, as ATIF; `fail`: how it ended. */
export function trajectory(m: Machine, native: HandoverWait, session: Session, stop: string | undefined, fail: Fail | null): Json {
    const { state } = native;
    const account = m.accounts.at(session.account);
    const { silence } = state.config ?? {};
    const { tokens, usd } = account.used;
    return trajectoryOf({
        agent: { name: shownName(session.agent[1]) },
        session: native.path,
        run: m.options.run,
        turns: state.turns as unknown as SessionTurn[],
        end: {
            ...(stop === undefined ? {} : { stop }),
            reason: fail === null ? "done" : fail.kind,
            ...(fail === null ? {} : { message: fail.message }),
            limits: {
                ...account.limits,
                ...session.doing?.most,
                turns: session.most,
                ...(silence === undefined ? {} : { silence }),
            },
            spent: {
                turns: session.turns,
                steps: session.doing?.steps ?? 0,
                calls: session.doing?.calls ?? 0,
                // Of what nobody told there is no number.
                ...(tokens === 0 ? {} : { tokens }),
                ...(usd === 0 ? {} : { usd }),
            },
        },
    }).trajectory as unknown as Json;
}

/** Whether a failure is one of an `agent()` whose `on_error` answers it. */
export function takenByAgent(m: Machine, { native, principal }: Frame, fail: Fail): boolean {
    if (native?.kind !== "handover" || native.what !== "agent" || native.state.config === null) return false;
    const session = m.sessions.get(native.state.session);
    if (session === undefined || fail.whole || native.state.config.onError === "fail") return false;
    if (fail.class === "violation" && !catchesViolation(m, principal, fail)) return false;
    return fail.region === null || fail.region === session.account;
}

/**
 * A failure of `agent()` that its `on_error` answers: given as `{error}`, or tried once more within the same budget. False: it fails.
 */
export function caughtByAgent(m: Machine, fiber: Fiber, frame: Frame, fail: Fail): boolean {
    if (!takenByAgent(m, frame, fail)) return false;
    const native = frame.native as HandoverWait;
    const { state } = native;
    const session = m.sessions.get(state.session) as Session;
    const I = frame.form.code[frame.pc] as Instruction;
    // A turn that was broken off, from inside or by the end of its time.
    if (state.turns.length < state.turn) {
        const failure = { kind: fail.kind, message: fail.message };
        if (native.noted === undefined) noteInside(state, session, null, failure);
        else noteBroken(native, session, failure);
    }
    let ended = fail.kind;
    if (state.config?.onError === "retry_within_budget" && fail.class === "failure" && state.tries < TRIES) {
        state.tries++;
        try {
            turn(m, fiber, frame, handoverAt(I), native, state.prompt, I.site);
            return true;
        } catch (error) {
            if (!(error instanceof Fail)) throw error;
            // Nothing is left to try it with: its failure stands, and why it was not tried again is said.
            state.tries--;
            ended = error.kind;
        }
    }
    const value = ENVELOPES.error({
        kind: fail.kind,
        message: fail.message,
        reason: ended,
        tries: state.tries + 1,
        ...(fail.detail === undefined ? {} : { detail: fail.detail }),
        trajectory: state.turns.length === 0 ? null : trajectory(m, native, session, undefined, fail),
    });
    const what = `agent ${shownName(session.agent[1])}`;
    const saw = [...state.labels, ...(session.doing?.origins ?? []), `agent:${session.agent[1]}`];
    const labels = m.run.labels.union(fail.labels, labelOfSaid(m, native, I.site, what, saw));
    close(m, frame, native, fail);
    m.deliver(fiber, join(m.run, m.fromJson(value), labels));
    return true;
}
