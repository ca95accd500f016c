/**
 * Sessions with agents in a run: opened by a call, paid for by an account of their own, closed on every way out of it.
 *
 * Boundary: state of sessions. What is said in them is `turns.ts`, what follows from it `yield.ts`.
 *
 * SS3: one session a call: opened by it, closed on every way out, never seen by another call.
 * SS7: a yield is a fault domain: a limit of what is made at one place (depth, the size of a value, memory, work of one instruction) is a
 *     failure of the innermost yield around that place, and of the run only where there is none.
 * SS8: a turn counts for the session that it is of and for each session around it whose answer runs: what an agent wrote opens no session with
 *     turns of its own beside those that its caller gave.
 */
import { defined, shownName, type SpendForm } from "@remit/language";
import type { Session } from "../agent/session.ts";
import type { HandoverDetail } from "../compile/instructions.ts";
import type { AgentEntry } from "../compile/program.ts";
import type { Fail } from "../effect/failure.ts";
import { doingOf } from "../state/activity.ts";
import type { Fiber, Frame } from "../state/fiber.ts";
import { type Handing, type HandoverState, type HandoverWait, payerOf } from "../state/handover.ts";
import { spentData, spendOf } from "../state/spending.ts";
import { granted } from "../state/delegations.ts";
import type { Ops } from "../state/ops.ts";

/** Prompt turns of a yield where nothing is said. */
export const TURNS = 4;
/** Bytes of an answer where nothing is said. */
export const ANSWER_BYTES = 65_536;
/** Times that `retry_within_budget` begins anew, at most. */
export const TRIES = 5;

export function open(m: Ops, h: Handing, entry: AgentEntry): void {
    const { d, fiber, frame, path, wait, I } = h;
    const { site } = I;
    const { state } = wait;
    const principal = m.authority.principalOf(entry);
    const args = wait.args.items;
    let token = principal === frame.principal ? 0 : granted(m, fiber, { frame, to: principal, args, path, site });
    if (token === 0) {
        token = m.standing.next++;
        m.standing.alive.add(token);
    }
    const agent = [entry.file, entry.name] as const;
    const policy = d.policy === null ? null : ([frame.fn.file, d.policy] as const);
    const bound = policy === null ? null : m.authority.policyNamed(policy, agent);
    const limits = budgetOf([spendOf(m, principal), bound?.spend, state.config?.budget ?? limitsIn(d)]);
    const account = m.openAccount(h, limits, entry.outside === null ? shownName(entry.name) : m.authority.nameOf(principal));
    const most = d.with.turns ?? state.config?.turns ?? (d.what === "yield" ? TURNS : 1 + (state.config === null ? 0 : TRIES));
    const silence = d.with.silence ?? state.config?.silence;
    Object.assign(state, { most, turnsOf: account, bytes: d.with.bytes ?? ANSWER_BYTES, ...(silence === undefined ? {} : { silence }) });
    const doing = doingOf(state.config);
    m.sessions.set(path, {
        path,
        agent,
        principal,
        token,
        account,
        turns: 0,
        inner: 0,
        most,
        policy,
        turning: null,
        queue: [],
        reads: {},
        told: {},
        doing,
    });
    m.emit("yield.opened", path, frame.parent, site, state.labels, {
        agent: shownName(entry.name),
        uri: entry.outside?.form.uri ?? null,
        ...(entry.outside?.form.unconfined === true ? { unconfined: true } : {}),
        by: d.what,
        params: [...state.params],
        skills: d.skills.map((one) => one.form.name),
        limits: { ...limits, ...doing?.most, turns: most },
    });
}

/** A call inside an answer has no more than what is left of the call that it answers and of the session, and less where it says so. */
export function within(m: Ops, h: Handing, session: Session): void {
    const { d, fiber } = h;
    const { state } = h.wait;
    const { turns, bytes = Number.POSITIVE_INFINITY, silence = Number.POSITIVE_INFINITY } = d.with;
    const around = answersAround(m, fiber).find((one) => one.session === session)?.state;
    state.account = m.openAccount(h, limitsIn(d), m.authority.nameOf(session.principal));
    const most = around?.most ?? session.most;
    const own = turns === undefined ? most : session.turns + session.inner + turns;
    const quiet = Math.min(silence, around?.silence ?? Number.POSITIVE_INFINITY);
    state.most = Math.min(own, most);
    state.turnsOf = own < most ? payerOf(state, session) : (around?.turnsOf ?? session.account);
    state.bytes = Math.min(bytes, around?.bytes ?? ANSWER_BYTES);
    if (Number.isFinite(quiet)) state.silence = quiet;
}

/** A call whose answer is running, and its session. */
interface Answered {
    readonly state: HandoverState;
    readonly session: Session;
}

/** Calls inside whose answers a fiber is, the innermost first. */
function answersAround(m: Ops, fiber: Fiber): Answered[] {
    const made: Answered[] = [];
    for (let f: Fiber | null = fiber; f !== null; f = f.parent)
        for (let i = f.frames.length - 1; i >= 0; i--) {
            const native = f.frames[i]?.native;
            if (native?.kind !== "handover" || native.state.phase !== "run") continue;
            const session = m.sessions.get(native.state.session);
            if (session !== undefined) made.push({ state: native.state, session });
        }
    return made;
}

/** SS8. The call that leaves the fewest prompt turns for the next one: this one, or one around it. */
export function turnsLeft(m: Ops, { fiber, wait }: Handing): Answered & { readonly left: number } {
    const session = m.sessions.get(wait.state.session) as Session;
    const all = [{ state: wait.state, session }, ...answersAround(m, fiber)].map((one) => ({
        ...one,
        left: one.state.most - one.session.turns - one.session.inner,
    }));
    return all.reduce((least, one) => (one.left < least.left ? one : least));
}

/** SS8. Counts a prompt turn; gives its number in its session. */
export function countTurn(m: Ops, { fiber, wait }: Handing): number {
    const session = m.sessions.get(wait.state.session) as Session;
    for (const one of new Set(answersAround(m, fiber).map((around) => around.session))) if (one !== session) one.inner++;
    return session.turns++;
}

/** The least of what the agent's remit, the policy and the call say. Turns of the call are the session's. */
function budgetOf(said: readonly (SpendForm | null | undefined)[]): SpendForm {
    const made: { -readonly [K in keyof SpendForm]: number } = {};
    for (const one of said)
        for (const [meter, limit] of Object.entries(one ?? {}) as [keyof SpendForm, number][])
            made[meter] = Math.min(limit, made[meter] ?? limit);
    return made;
}

/** What `with { … }` says that an account keeps. */
function limitsIn(d: HandoverDetail): SpendForm {
    const { steps, calls, tokens, usd, time } = d.with;
    return defined({ steps, calls, tokens, usd, time });
}

/** The end of a call: of its session too where it opened it. `fail` null: it gave a value. */
export function close(m: Ops, frame: Frame, native: HandoverWait, fail: Fail | null): void {
    const { state, path } = native;
    const session = m.sessions.get(state.session);
    if (state.account !== 0) m.closeAccount(state.account);
    if (!state.opened || session === undefined) return;
    m.sessions.delete(path);
    const spent = m.closeAccount(session.account);
    m.standing.alive.delete(session.token);
    m.emit(
        "yield.closed",
        path,
        frame.parent,
        frame.form.code[frame.pc]?.site ?? null,
        fail === null ? [] : m.run.labels.origins(fail.labels),
        {
            agent: shownName(session.agent[1]),
            turns: session.turns,
            ...(fail === null ? { ok: true } : { ok: false, kind: fail.kind, error: fail.message }),
            ...(spent === null ? {} : { spent: spentData(spent) }),
        },
    );
}

/** The turn of a call is over, or it wants none any more: another's may begin. */
export function release(session: Session, path: string): void {
    if (session.turning === path) session.turning = null;
    if (session.queue.includes(path)) session.queue = session.queue.filter((one) => one !== path);
}

/** A failure passes through a call that handed over control. */
export function abandon(m: Ops, frame: Frame, wait: HandoverWait, fail: Fail): void {
    if (wait.state.session === "") return;
    const session = m.sessions.get(wait.state.session);
    if (session !== undefined) release(session, wait.path);
    m.dropCode(wait.path);
    close(m, frame, wait, fail);
}

/** A failure that no code may catch ends the run, and every session that is open with it, the inner ones first. */
export function closeAll(m: Ops, fail: Fail): void {
    for (const fiber of [...m.fibers.values()].reverse())
        for (const frame of [...fiber.frames].reverse()) {
            const { native } = frame;
            if (native?.kind !== "handover" || !m.sessions.has(native.path)) continue;
            m.stand(fiber, frame);
            close(m, frame, native, fail);
        }
}
