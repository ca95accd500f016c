/**
 * Effects: asked for, paid for, described, and what an outcome is to a program.
 *
 * Boundary: from what a fiber wants to an effect, and from an outcome to a value or a failure. Who goes on with it is `outcomes.ts`.
 *
 * E3: an effect that its budget refuses is never handed out.
 * V7: a value that an outcome gives carries the outcome's origins.
 */
import { type Json, LENT, shownUse, type Site } from "@remit/language";
import { type Effect, type EffectKind, type Failure, opOf, type Outcome, type ToolRequest } from "../effect/effect.ts";
import { reachesImport, reachesModel } from "../compile/reached.ts";
import type { RunRequest } from "../effect/elsewhere.ts";
import { Fail } from "../effect/failure.ts";
import { type OfStage, sentWith } from "../effect/stage.ts";
import { fromJson, labelParts } from "../value/json.ts";
import { join } from "../value/operators.ts";
import type { Capability, Value } from "../value/value.ts";
import { resultData } from "../prompt/report.ts";
import { stepBegins } from "./activity.ts";
import { type Fiber, type Pending, siteAt } from "./fiber.ts";
import { areCountsAway, countsBack } from "./lent-counts.ts";
import type { Machine } from "../run/machine.ts";
import type { Ops } from "./ops.ts";
import { reservePart } from "./parts.ts";
import { waits } from "./places.ts";
import { accountAt, overdrawn, unkept } from "./spending.ts";
import { isOfVerbs, type StageOf, stageOf } from "./stage.ts";

/** An effect that a fiber wants. */
export interface Wanted {
    readonly kind: EffectKind;
    readonly path: string;
    readonly site: Site | null;
    readonly request: Json;
    /** Origins of what is in the request. */
    readonly labels: readonly string[];
    /** Of what a failure of it tells. */
    readonly origin: string;
    /** Which of those that the fiber waits for; 0 where it is the only one. */
    readonly slot?: number | undefined;
    readonly deadline?: number | undefined;
    /** The account that pays; the one where the fiber stands if nothing is said. */
    readonly payer?: number | undefined;
}

/** Kinds that are sent somewhere (EF3). */
const SENT: ReadonlySet<EffectKind> = new Set(["model", "tool", "agent"]);

/** A person is told of the stage that names the credential, not of a line in the code of a verb. */
function stageSite(m: Machine, fiber: Fiber, site: Site | null): Site | null {
    const frame = fiber.frames[fiber.frames.length - 1];
    const stage = stageOf(fiber);
    return stage === null || frame === undefined || !isOfVerbs(m, frame) ? site : m.compiled.site(stage.file, stage.node.at);
}
/** Requests of those that only ask: what a tool has, how many tokens a text is. */
const ASKS: ReadonlySet<Json> = new Set<Json>(["describe", "count"]);

/** Hands out an effect, lets it wait for the turns in flight (AC9), or throws the failure of the budget that stands against it. */
export function raise(m: Machine, fiber: Fiber, wanted: Wanted): void {
    const { kind, path, request, labels, origin, slot = 0, deadline, payer } = wanted;
    const frame = fiber.frames[fiber.frames.length - 1];
    const account = payer ?? (frame === undefined ? 0 : accountAt(frame));
    const sent = SENT.has(kind) ? saidOf(stageOf(fiber), ASKS.has(opOf(request) ?? null)) : {};
    const site = sent.credential === undefined ? wanted.site : stageSite(m, fiber, wanted.site);
    stepBegins(m, { kind, request, path, site }, account);
    const effect: Effect = {
        path,
        kind,
        principal: m.run.acting,
        site,
        request,
        labels,
        ...(deadline === undefined ? {} : { deadline }),
        ...(m.attempt === 1 ? {} : { attempt: m.attempt }),
        ...sent,
    };
    pay(m, { effect, fiber, slot, origin, account, held: [] });
}

/** EF3, EF4. What is only asked for beforehand (`asks`) does not count towards the rate. */
function saidOf(stage: StageOf | null, asks: boolean): OfStage {
    const said = stage?.node.with;
    if (stage === null || said == null) return {};
    const { queue, priority, rate } = said;
    return {
        ...sentWith(said),
        ...(queue === undefined ? {} : { queue }),
        ...(priority === undefined ? {} : { priority }),
        ...(rate === undefined || asks ? {} : { rate: { stage: stage.path, second: rate } }),
    };
}

/** Reserves what an effect is going to use and asks the host for it, or notes what it waits for. */
export function pay(m: Machine, pending: Pending): void {
    const { effect, account } = pending;
    const { path, site } = effect;
    const blocked = blockedBefore(m, path);
    const spender = m.spender(path);
    const part = effect.kind === "run" ? reachesOf(m, effect.request as unknown as RunRequest) : null;
    if (part?.usesCounted === true && areCountsAway(m, path)) {
        m.waiting.set(path, { ...pending, waits: NO_ACCOUNT });
        m.unpaid.set(path, NO_ACCOUNT);
        return;
    }
    const isTurn = (effect.kind === "model" || effect.kind === "agent") && opOf(effect.request) === "turn";
    const over = isTurn ? unkept(m, account, spender) : null;
    const got =
        over !== null
            ? { over }
            : part === null
              ? m.accounts.reserve(effect.kind, effect.request, account, spender, blocked)
              : reservePart(m.accounts, effect, account, { spender, blocked, asks: part.asksModel });
    if ("waits" in got) {
        m.waiting.set(path, { ...pending, waits: got.waits });
        m.unpaid.set(path, got.waits);
        return;
    }
    m.unpaid.delete(path);
    if ("over" in got) {
        m.waiting.delete(path);
        pending.fiber.refused = [{ pending, asked: false }];
        throw overdrawn(m, got.over, path, site);
    }
    // It is written again, as it is asked for.
    m.saved.pending.delete(path);
    let wanted = effect;
    if ("effect" in got) wanted = withRows(m, part?.usesCounted === true ? withUses(m, got.effect) : got.effect);
    else if (got.reply !== null) {
        m.emit("budget", path, null, site, [], { account: m.accounts.at(account).path, reply: got.reply });
        wanted = { ...effect, request: { ...(effect.request as { [key: string]: Json }), maxOutput: got.reply } };
    }
    const { fiber, slot, origin, timer } = pending;
    m.ask({ effect: wanted, fiber, slot, origin, account, held: got.held, ...(timer === undefined ? {} : { timer }) });
}

/** Accounts that effects wait for which came before the one at `path`. */
function blockedBefore({ unpaid }: Machine, path: string): ReadonlySet<number> {
    if (unpaid.size === 0) return NOTHING_BLOCKED;
    const blocked = new Set<number>();
    for (const [other, waits] of unpaid) {
        if (other === path) break;
        blocked.add(waits);
    }
    return blocked;
}

const NOTHING_BLOCKED: ReadonlySet<number> = new Set();

/** What an effect waits for that waits for no account. */
const NO_ACCOUNT = Number.MAX_SAFE_INTEGER;

/** What a part that begins there can reach: a model, and what is counted in the run. */
export function reachesOf(
    { authority, compiled }: Pick<Ops, "authority" | "compiled">,
    { entry }: Pick<RunRequest, "entry">,
): { readonly asksModel: boolean; readonly usesCounted: boolean } {
    const fn = compiled.functions.find((one) => one.file === entry.file && one.form.name === entry.func);
    const isCounted = ({ file, form }: { readonly file: number; readonly form: { readonly name: string } }): boolean =>
        authority.countersAt(file, form.name).some(({ isDaily }) => !isDaily);
    return {
        asksModel: fn === undefined || reachesModel(compiled, fn),
        usesCounted: authority.book.isCounting && (fn === undefined || reachesImport(compiled, fn, isCounted)),
    };
}

/** The effect of a part that may need the counts, with them and who may have used them, where another part did not keep them. */
function withUses(m: Machine, effect: Effect): Effect {
    const uses = m.standing.lend(effect.path) as Json;
    const met = [...m.standing.met].sort();
    const request = effect.request as { readonly [key: string]: Json };
    return uses === null ? effect : { ...effect, request: { ...request, uses, ...(met.length === 0 ? {} : { met }) } };
}

/** The effect of a part with the rows of tables and values of fields that came by now: a row may say otherwise than those that come in it (ROW1, EVI3). */
function withRows({ authority, standing }: Machine, effect: Effect): Effect {
    const { told } = authority.book;
    if (told.length === 0) return effect;
    const request = effect.request as { readonly [key: string]: Json };
    return { ...effect, request: { ...request, rows: standing.rowsOf(told) as unknown as Json } };
}

/** Asks for what the budget pays for by now (AC9); first, what waits for counts goes on, before another part gets them. False where nothing changed. */
export function payWaiting(m: Machine): boolean {
    if (countsBack(m)) return true;
    const before = m.unpaid.size;
    for (const path of [...m.unpaid.keys()]) {
        const pending = m.waiting.get(path);
        if (pending === undefined) continue;
        const { fiber } = pending;
        m.enter(fiber);
        m.stand(fiber, fiber.top);
        try {
            pay(m, pending);
            // ORD5.
            if (fiber.place !== 0 && !m.unpaid.has(path)) {
                fiber.touch();
                waits(m, fiber);
            }
        } catch (error) {
            if (!(error instanceof Fail)) throw error;
            m.deliverFail(fiber, error);
        }
        if (m.result !== null) break;
    }
    return m.unpaid.size < before;
}

/** The value that an outcome gives, with its origins. */
export function givenValue(m: Ops, effect: Effect, outcome: Outcome & { readonly ok: true }): Value {
    m.tracer?.at(effect.site, effect.path, whatOf(effect));
    const value = labelParts(fromJson(outcome.value, m.run.heap), outcome.parts ?? {}, m.run.labels);
    return join(m.run, value, m.run.labels.of(outcome.origins));
}

/** The failure that an outcome is. */
export function failureOf(m: Ops, pending: Pending, outcome: Outcome & { readonly ok: false }): Fail {
    return failFrom(m, outcome.failure, pending.effect.site, failureOrigins(pending, outcome));
}

/** Where what a failure says comes from. */
export function failureOrigins({ origin }: Pending, outcome: Outcome & { readonly ok: false }): readonly string[] {
    return [origin, ...(outcome.origins ?? [])];
}

/** Asks a tool what it has. */
export function askDescription(m: Ops, fiber: Fiber, c: Capability, where: Pick<Wanted, "path" | "slot" | "payer">): void {
    const site = siteAt(fiber.top);
    const request = { op: "describe", tool: c.name, uri: m.compiled.importOf(c)?.uri ?? "", file: m.compiled.fileName(c.file) };
    m.raise(fiber, { kind: "tool", site, request, labels: m.run.labels.origins(fiber.top.placeLabel), origin: `tool:${c.name}`, ...where });
}

/** As a `generate` tells of it. */
export function describedEvent(m: Ops, parent: string, { path, site, request, labels }: Effect, outcome: Outcome): void {
    const { tool, uri } = request as unknown as ToolRequest;
    const origins = [...new Set([...labels, ...(outcome.ok ? outcome.origins : [`tool:${tool}`])])].sort();
    m.emit("effect.ended", path, parent, site, origins, { effect: "tool", op: "describe", tool, uri, ...resultData(outcome) });
}

/** What an effect brings, for people: `tool Repo.read`, `tool click (lent by desk-3fa2b1)`. */
export function whatOf(effect: Effect): string {
    const r = effect.request as { tool?: string; method?: string; uri?: string; memory?: string };
    const use = `${r.tool}${r.method === undefined ? "" : `.${r.method}`}`;
    if (effect.kind === "tool") return `tool ${r.uri === LENT ? shownUse(use, LENT) : use}`;
    return r.memory === undefined ? effect.kind : `memory ${r.memory}`;
}

/** A failure that came from outside, in the program's terms. */
export function failFrom(m: Ops, failure: Failure, site: Site | null, origins: readonly string[]): Fail {
    return new Fail(failure.kind, failure.message, {
        ...(failure.detail === undefined ? {} : { detail: failure.detail }),
        ...(failure.hint === undefined ? {} : { hint: failure.hint }),
        site: failure.site ?? site,
        labels: m.run.labels.of(origins),
        whole: failure.kind === "cancelled",
    });
}
