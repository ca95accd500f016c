/**
 * What makes a handover `agent()`: its turns are kept, told as a trajectory, and a failure is answered as its `on_error` says.
 *
 * Boundary: from turns and failures to the envelope (`ria.agent`, Re in Act). Turns themselves are `turns.ts`.
 */
import { type Json, shownName } from "@remit/language";
import type { Session } from "../agent/session.ts";
import type { AgentNote, AgentReply, Outcome } from "../effect/effect.ts";
import type { Usage } from "../effect/usage.ts";
import { Fail } from "../effect/failure.ts";
import { type SessionTurn, trajectoryOf } from "../ledger/atif/session.ts";
import { notedIn, replyNoted } from "../ledger/notes.ts";
import { join } from "../value/operators.ts";
import { takeDone, turnDone } from "../state/activity.ts";
import type { Frame } from "../state/fiber.ts";
import { catchesViolation } from "../state/handlers.ts";
import { type Handing, type HandoverState, type HandoverWait, heardIn, labelOfSaid, sessionOf } from "../state/handover.ts";
import type { Ops } from "../state/ops.ts";
import { chargeNoted } from "../state/spending.ts";
import { ENVELOPES } from "./agent-config.ts";
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
export function takeNotes(m: Ops, told: { readonly path: string; readonly outcome: Outcome }): void {
    chargeNoted(m, told);
    const said = notedIn(told);
    const fiber = said === null ? undefined : m.waiting.get(said.turn)?.fiber;
    const native = fiber?.top.native;
    if (said === null || fiber === undefined || native?.kind !== "handover" || native.state.config === null) return;
    m.enter(fiber);
    if (native.noted === undefined) {
        native.noted = m.run.heap.list([]);
        fiber.touch();
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
export function trajectory(m: Ops, wait: HandoverWait, stop: string | undefined, fail: Fail | null): Json {
    const { state, path } = wait;
    const session = sessionOf(m, wait);
    const account = m.accounts.at(session.account);
    const { silence } = state.config ?? {};
    const { tokens, usd } = account.used;
    return trajectoryOf({
        agent: { name: shownName(session.agent[1]) },
        session: path,
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
                // What was not reported has no number.
                ...(tokens === 0 ? {} : { tokens }),
                ...(usd === 0 ? {} : { usd }),
            },
        },
    }).trajectory as unknown as Json;
}

/** Whether a failure is one of an `agent()` whose `on_error` answers it. */
export function takenByAgent(m: Ops, { principal }: Frame, { what, state }: HandoverWait, fail: Fail): boolean {
    if (what !== "agent" || state.config === null) return false;
    const session = m.sessions.get(state.session);
    if (session === undefined || fail.whole || state.config.onError === "fail") return false;
    if (fail.class === "violation" && !catchesViolation(m, principal, fail)) return false;
    return fail.region === null || fail.region === session.account;
}

/** A failure of `agent()` that its `on_error` answers: given as `{error}`, or tried once more within the same budget. */
export function caughtByAgent(m: Ops, h: Handing, fail: Fail): void {
    const { wait, fiber } = h;
    const { state } = wait;
    const session = sessionOf(m, wait);
    // A turn that was broken off, from inside or by the end of its time.
    if (state.turns.length < state.turn) {
        const failure = { kind: fail.kind, message: fail.message };
        if (wait.noted === undefined) noteInside(state, session, null, failure);
        else noteBroken(wait, session, failure);
    }
    let ended = fail.kind;
    if (state.config?.onError === "retry_within_budget" && fail.class === "failure" && state.tries < TRIES) {
        state.tries++;
        fiber.touch();
        try {
            turn(m, h, state.prompt);
            return;
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
        trajectory: state.turns.length === 0 ? null : trajectory(m, wait, undefined, fail),
    });
    const what = `agent ${shownName(session.agent[1])}`;
    const saw = [...heardIn(session, state), ...(session.doing?.origins ?? []), `agent:${session.agent[1]}`];
    const labels = m.run.labels.union(fail.labels, labelOfSaid(m, h, what, saw));
    close(m, h.frame, wait, fail);
    m.deliver(fiber, join(m.run, m.fromJson(value), labels));
}
