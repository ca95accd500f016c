/**
 * Outcomes: settled with the accounts, and told to the operation that waits for them.
 *
 * Boundary: what an outcome means to an operation is its room's.
 */
import { isUnmade, type Effect, opOf, type ModelTurn, type Outcome, type ToolRequest } from "../effect/effect.ts";
import { isObject, type Json, methodName, sourceOf, statedOrigin } from "@remit/language";
import { repeats, rowsIn, toldBy, valuesIn } from "../authority/evidence.ts";
import { Fail } from "../effect/failure.ts";
import { replyIn } from "../agent/reply.ts";
import { claimedOf, grantedBy, readersOfResult } from "../state/result-readers.ts";
import { stepEnded } from "../state/activity.ts";
import { answerEntry } from "./entry.ts";
import type { Fiber, Pending } from "../state/fiber.ts";
import { describesItself, isUnread, keepDescription, namesIn, placeOf } from "../state/descriptions.ts";
import { release, usedIn } from "../state/gate.ts";
import { timeUp } from "../state/handlers.ts";
import type { Machine } from "./machine.ts";
import { isOrigin } from "../value/label.ts";
import { type Told, waitsOf, waitingCall } from "../state/ops.ts";
import { awaitsTurn, waits } from "../state/places.ts";
import { overdrawn, uncharged } from "../state/spending.ts";

/** An outcome with the labels that `reads` clauses of the import give its value, or what its failure tells, those that its server states, and LIC1. */
function withLabels(m: Machine, effect: Effect, outcome: Outcome): Outcome {
    const grants = grantedBy(m, effect, outcome);
    const said = readersOfResult(m, effect, outcome.ok ? outcome.value : null, grants.isPublic);
    const claimed = [...claimedOf(m, effect, outcome), ...usedUpBy(m, effect, outcome)];
    if (said.length + claimed.length === 0 && grants.trusted === null) return outcome;
    const own = (outcome.origins ?? []).map((one) => (one === grants.trusted ? statedOrigin(one) : one));
    return { ...outcome, origins: [...new Set([...own, ...said, ...claimed])].sort() };
}

/** LIC1. Who may have decided that a call that counts by the day was refused: all that this run computed with, and other runs, of whom nothing is known. */
function usedUpBy({ standing }: Machine, { request }: Effect, outcome: Outcome): readonly string[] {
    const { daily = [] } = request as unknown as Pick<ToolRequest, "daily">;
    return daily.length > 0 && isUnmade(outcome) ? ["unlabelled", ...standing.met] : [];
}

/** Applies one outcome: the fiber that waited for it goes on, or fails. */
export function applyOutcome(m: Machine, pending: Pending, told: Outcome): void {
    const { fiber, effect } = pending;
    if (pending.timer !== undefined) {
        timeUp(m, pending, told);
        return;
    }
    m.enter(fiber);
    if (fiber.frames.length > 0) m.stand(fiber, fiber.top);
    if (effect.kind === "run") {
        m.standing.cameBack(effect.path, told.uses);
        m.standing.meets(told.met ?? []);
        m.standing.rowsCame(effect.path, m.authority.book.tables.keys(), told.rows);
    }
    const outcome = withLabels(m, effect, told);
    if (outcome.origins !== undefined) m.standing.meets(outcome.origins);
    if (outcome.ok && outcome.parts !== undefined) for (const some of Object.values(outcome.parts)) m.standing.meets(some);
    const wait = fiber.frames.length === 0 ? null : fiber.top.native;
    const calls = effect.kind === "agent" ? replyIn(outcome)?.spent.calls : undefined;
    const turned = turnOf(m, pending, outcome);
    const { account, held } = pending;
    const over = m.accounts.settle({ usage: uncharged(pending, outcome), account, held, spender: m.spender(effect.path), turned, calls });
    stepEnded(m, effect, outcome, pending.account);
    if (over !== null) {
        const fail = overdrawn(m, over, effect.path, effect.site, turnPaid(effect, outcome));
        if (wait !== null) waitsOf(m, wait).overdrawn?.(m, waitingCall(fiber, wait), wait, { pending, outcome }, fail);
        fiber.refused = [{ pending, asked: true, ...(effect.kind === "agent" ? {} : { outcome: told }) }];
        m.deliverFail(fiber, fail);
        return;
    }
    give(m, pending, outcome);
}

/** COS2. Of a model turn whose outcome its budget takes away from the `generate`: who answered, and what it used. */
function turnPaid(effect: Effect, outcome: Outcome): Json | null {
    if (effect.kind !== "model" || opOf(effect.request) !== "turn") return null;
    const { model, label } = effect.request as unknown as ModelTurn;
    const value = outcome.ok && isObject(outcome.value) ? outcome.value : {};
    return { label, model: { ...model }, answered_by: value.model ?? null, usage: (outcome.usage ?? null) as Json };
}

/** Whose turn an outcome is, where it counts as one: that of an agent does not where the call itself says how many there may be. */
function turnOf(m: Machine, { fiber, effect }: Pending, outcome: Outcome): "model" | "agent" | null {
    if (!outcome.ok || opOf(effect.request) !== "turn") return null;
    if (effect.kind === "model") return "model";
    const wait = effect.kind === "agent" ? fiber.top.native : null;
    return wait === null || waitsOf(m, wait).saysTurns?.(waitingCall(fiber, wait), wait) === true ? null : "agent";
}

/** Gives an outcome to the instruction that waits for it. */
export function tell(m: Machine, pending: Pending, told: Outcome): void {
    give(m, pending, withLabels(m, pending.effect, told));
}

/** The same, with the labels that are said of it. */
function give(m: Machine, pending: Pending, outcome: Outcome): void {
    const { fiber, effect } = pending;
    orFails(m, { pending, outcome }, () => {
        if (effect.kind === "input" && m.entry !== null && fiber.frames.length === 0) {
            answerEntry(m, outcome);
            return;
        }
        learn(m, effect, outcome);
        if (isUnmade(outcome)) release(m, effect);
        if (!awaitsTurn(m, { pending, outcome })) resume(m, { pending, outcome });
    });
}

/** A fiber takes what it was told, in its turn (ORD6), and then goes on from its instruction or waits again. False where it was told nothing. */
export function takeTold(m: Machine, fiber: Fiber): boolean {
    if (fiber.told.length === 0) return false;
    m.ready = m.ready.filter((one) => one !== fiber);
    // Something was asked for again.
    if (fiber.outside > 0) return true;
    m.enter(fiber);
    m.stand(fiber, fiber.top);
    fiber.touch();
    // A failure takes away what is left.
    for (let told = fiber.told.shift(); told !== undefined && m.result === null; told = fiber.told.shift()) {
        const one = told;
        orFails(m, one, () => resume(m, one));
    }
    if (!m.ready.includes(fiber)) waits(m, fiber);
    return true;
}

function resume(m: Machine, told: Told): void {
    const { fiber, effect } = told.pending;
    const wait = fiber.top.native ?? { kind: "effect", path: effect.path };
    waitsOf(m, wait).resume(m, waitingCall(fiber, wait), wait, told);
    m.awake(fiber);
}

function orFails(m: Machine, { pending, outcome }: Told, run: () => void): void {
    const { fiber, effect } = pending;
    try {
        run();
    } catch (error) {
        if (!(error instanceof Fail)) throw error;
        if (!outcome.ok || isUnusable(effect, error)) fiber.refused = [{ pending, asked: true }];
        m.deliverFail(fiber, error);
    }
}

/**
 * The reply of a model, or the result of a tool, came, and is none that the program can use: it can be asked for again, or given by hand.
 */
function isUnusable({ kind, request }: Effect, fail: Fail): boolean {
    if (kind === "tool") return opOf(request) === "call" && fail.kind === "tool";
    return kind === "model" && opOf(request) === "turn" && fail.class === "failure";
}

/** What `among` clauses will ask about: texts of a tool or memory, as far as nothing else is in them. */
function learn(m: Machine, effect: Effect, outcome: Outcome): void {
    if (outcome.ok && effect.kind === "tool" && opOf(effect.request) === "describe") {
        const { file, tool } = effect.request as unknown as ToolRequest;
        const c = m.compiled.capabilityAt(file, tool);
        const at = m.run.labels.of(effect.labels);
        if (describesItself(outcome.value) && isUnread(m, c, at)) keepDescription(m, placeOf(c), namesIn(outcome.value), effect.labels);
        return;
    }
    const { watched, fields, tables } = m.authority.book;
    if (watched.size + fields.size + tables.size === 0 || !outcome.ok || outcome.parts !== undefined) return;
    const use = usedIn(m, effect);
    if (use === null || effect.kind === "remember") return;
    const { target, args } = use;
    const origin = `${effect.kind === "tool" ? "tool" : "memory"}:${target.name}`;
    if (!outcome.origins.every((one) => sourceOf(one) === origin || !isOrigin(one))) return;
    const isRepeated = repeats(args);
    if (watched.has(origin)) m.standing.learn(origin, outcome.value, isRepeated);
    if (fields.size + tables.size === 0 || target.method === null) return;
    const key = m.authority.keyOf(target.c);
    const method = methodName(target.uri, target.method);
    const told = toldBy(outcome.value);
    for (const field of fields.values())
        if (field.key === key && field.method === method) m.standing.learn(field.id, valuesIn(told, field.path), isRepeated);
    for (const table of tables.values())
        if (table.key === key && table.method === method) m.standing.learnRows(table.id, rowsIn(told, table, isRepeated));
}
