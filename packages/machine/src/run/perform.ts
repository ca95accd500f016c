/**
 * Tool and memory calls, and outcomes of all effects.
 *
 * Boundary: from values to requests and from outcomes to values.
 *
 * E3: an effect that its budget refuses is never handed out.
 * V7: a value that an outcome gives carries the outcome's origins.
 */
import { type Json, schemeOf, type Site } from "@remit/language";
import type { ImportEntry } from "../compile/program.ts";
import {
    type Effect,
    type EffectKind,
    type Failure,
    type MemoryRequest,
    opOf,
    type Outcome,
    type Reach,
    type ToolRequest,
} from "../effect/effect.ts";
import { Fail } from "../effect/failure.ts";
import { located } from "../value/access.ts";
import { fromJson, labelParts, toJson } from "../value/json.ts";
import { join, rawOf } from "../value/operators.ts";
import { type Capability, Labelled, List, Obj, type Value } from "../value/value.ts";
import { answerEntry } from "./entry.ts";
import { descriptionCame } from "./described.ts";
import type { Fiber, Frame, Pending } from "./fiber.ts";
import { valuesGiven } from "../authority/given.ts";
import { answered, chooserOf, gate, isFree, originsByName } from "./gate.ts";
import { readersOfResult } from "./brought.ts";
import { actOutcome } from "./act.ts";
import { generateOutcome } from "./generate.ts";
import { resultData } from "../prompt/report.ts";
import { stepBegins, stepEnded } from "./doing.ts";
import { handoverOutcome, replyOf, turnOverdrawn } from "./handover.ts";
import { saysTurns } from "./sessions.ts";
import type { Machine } from "./machine.ts";
import { accountAt, overdrawn, timeUp } from "./spending.ts";

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

/** Hands out an effect, lets it wait for the turns in flight (B9), or throws the failure of the budget that stands against it. */
export function raise(m: Machine, fiber: Fiber, { kind, path, site, request, labels, origin, slot = 0, deadline, payer }: Wanted): void {
    const frame = fiber.frames[fiber.frames.length - 1];
    const account = payer ?? (frame === undefined ? 0 : accountAt(frame));
    stepBegins(m, kind, request, account, path, site);
    const effect: Effect = {
        path,
        kind,
        principal: m.run.acting,
        site,
        request,
        labels,
        ...(deadline === undefined ? {} : { deadline }),
        ...(m.attempt === 1 ? {} : { attempt: m.attempt }),
    };
    pay(m, { effect, fiber, slot, origin, account, held: [] });
}

/** Reserves what an effect is going to use and asks the host for it, or notes what it waits for. */
export function pay(m: Machine, pending: Pending): void {
    const { effect, account } = pending;
    const { path, site } = effect;
    const blocked = new Set<number>();
    for (const [other, waits] of m.unpaid) {
        if (other === path) break;
        blocked.add(waits);
    }
    const got = m.accounts.reserve(effect.kind, effect.request, account, m.spender(path), blocked);
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
    const { waits: _, ...asked } = pending;
    if (got.reply === null) {
        m.ask({ ...asked, held: got.held });
        return;
    }
    m.emit("budget", path, null, site, [], { account: m.accounts.at(account).path, reply: got.reply });
    m.ask({
        ...asked,
        effect: { ...effect, request: { ...(effect.request as { [key: string]: Json }), maxOutput: got.reply } },
        held: got.held,
    });
}

/** Asks for what the budget pays for by now (B9). False where nothing changed. */
export function payWaiting(m: Machine): boolean {
    const before = m.unpaid.size;
    for (const path of [...m.unpaid.keys()]) {
        const pending = m.waiting.get(path);
        if (pending === undefined) continue;
        const { fiber } = pending;
        m.enter(fiber);
        m.stand(fiber, fiber.top);
        try {
            pay(m, pending);
        } catch (error) {
            if (!(error instanceof Fail)) throw error;
            m.deliverFail(fiber, error);
        }
        if (m.result !== null) break;
    }
    return m.unpaid.size < before;
}

/** With what the place of the call depends on, in strict code. */
function argsToJson(m: Machine, frame: Frame, args: readonly Value[], site: Site | null): { json: Json[]; labels: readonly string[] } {
    let labels = frame.placeLabel;
    try {
        const json = args.map((arg) => {
            const out = toJson(arg, m.run);
            labels = m.run.labels.union(labels, out.labels);
            m.run.give(3 * out.size);
            return out.json;
        });
        return { json, labels: m.run.labels.origins(labels) };
    } catch (error) {
        throw located(error, site);
    }
}

/** `args` null: the member is read, not called. `c`: the value through which it is used, null where it is named. */
export function askTool(
    m: Machine,
    fiber: Fiber,
    frame: Frame,
    tool: ImportEntry,
    method: string,
    args: readonly Value[] | null,
    path: string,
    site: Site | null,
    c: Capability | null = null,
    chosen: "program" | "model" = "program",
): void {
    const { form } = tool;
    m.tracer?.use(path, args ?? []);
    const reach = gated(m, fiber, frame, tool, method, args ?? [], path, site, c, chosen);
    if (reach === null) return;
    const out = argsToJson(m, frame, args ?? [], site);
    const given: { args?: Json[] } = args === null ? {} : { args: out.json };
    const request: ToolRequest = {
        op: "call",
        tool: form.name,
        uri: form.uri,
        file: m.compiled.fileName(tool.file),
        method,
        ...given,
        chosenBy: "program",
        ...reach,
    };
    const { labels } = out;
    raise(m, fiber, { kind: "tool", path, site, request: request as unknown as Json, labels, origin: `tool:${form.name}` });
    m.emit("tool.started", path, frame.parent, site, out.labels, {
        tool: form.name,
        method,
        scheme: schemeOf(form.uri),
        uri: form.uri,
        ...(args === null ? {} : { args: out.json }),
        // Which argument carries what: said only where any does.
        ...(args === null || out.labels.length === 0 ? {} : { origins: originsByName(m, valuesGiven(args, m.run)) }),
    } as Json);
    frame.native = { kind: "effect", path };
}

export function askMemory(
    m: Machine,
    fiber: Fiber,
    frame: Frame,
    memory: ImportEntry,
    method: string,
    args: readonly Value[],
    path: string,
    site: Site | null,
    c: Capability | null = null,
): void {
    const { form } = memory;
    if (method !== "add" && method !== "query")
        throw new Fail("value", `memory ${form.name} has no method '${method}'`, { site, hint: "it has add and query" });
    if (args.length !== 1) throw new Fail("value", `${form.name}.${method} expects 1 argument, got ${args.length}`, { site });
    m.tracer?.use(path, args);
    if (gated(m, fiber, frame, memory, method, args, path, site, c) === null) return;
    const out = argsToJson(m, frame, args, site);
    const arg = out.json[0] as Json;
    if (arg === null || typeof arg !== "object" || Array.isArray(arg))
        throw new Fail("value", `${form.name}.${method} expects an object`, { site, labels: m.run.labels.of(out.labels) });
    const request: MemoryRequest = { memory: form.name, uri: form.uri, file: m.compiled.fileName(memory.file), arg };
    const kind = method === "add" ? "remember" : "recall";
    raise(m, fiber, { kind, path, site, request: request as unknown as Json, labels: out.labels, origin: `memory:${form.name}` });
    m.emit("memory.started", path, frame.parent, site, out.labels, { memory: form.name, operation: method, uri: form.uri, args: arg });
    frame.native = { kind: "effect", path };
}

const UNBOUND: Reach = {};

/** The gate before a use of an import. Null: the fiber waits for an answer. */
function gated(
    m: Machine,
    fiber: Fiber,
    frame: Frame,
    entry: ImportEntry,
    method: string,
    args: readonly Value[],
    path: string,
    site: Site | null,
    c: Capability | null,
    chosen: "program" | "model" = "program",
): Reach | null {
    const target = c ?? (entry.value as Capability);
    const chooser = chosen === "model" ? chosen : chooserOf(m, entry.form.uri, method, args);
    if (isFree(m, frame, target, chooser)) return UNBOUND;
    return gate(
        m,
        fiber,
        frame,
        { c: target, name: entry.form.name, uri: entry.form.uri, method, direct: c === null },
        args,
        path,
        site,
        chooser,
    );
}

/** An outcome with the labels that `reads` clauses of the import give its value, or what its failure tells. */
function withReaders(m: Machine, effect: Effect, outcome: Outcome): Outcome {
    const more = readersOfResult(m, effect, outcome.ok ? outcome.value : null);
    return more.length === 0 ? outcome : { ...outcome, origins: [...new Set([...(outcome.origins ?? []), ...more])].sort() };
}

/** Applies one outcome: the fiber that waited for it goes on, or fails. */
export function applyOutcome(m: Machine, pending: Pending, told: Outcome): void {
    const { fiber, effect } = pending;
    if (pending.timer !== undefined) {
        timeUp(m, pending);
        return;
    }
    m.enter(fiber);
    if (fiber.frames.length > 0) m.stand(fiber, fiber.top);
    const outcome = withReaders(m, effect, told);
    const isTurn = outcome.ok && opOf(effect.request) === "turn";
    const turned = isTurn && effect.kind === "model" ? "model" : isTurn && effect.kind === "agent" && !saysTurns(fiber) ? "agent" : null;
    const hands = effect.kind === "agent" ? replyOf(outcome)?.spent.calls : undefined;
    const over = m.accounts.settle(outcome.usage, pending.account, pending.held, m.spender(effect.path), turned, hands);
    stepEnded(m, effect, outcome, pending.account);
    if (over !== null) {
        const fail = overdrawn(m, over, effect.path, effect.site);
        const waits = fiber.frames.length === 0 ? null : fiber.top.native;
        if (effect.kind === "agent" && waits?.kind === "handover") turnOverdrawn(m, fiber, waits, effect, outcome, fail);
        fiber.refused = [{ pending, asked: true, ...(effect.kind === "agent" ? {} : { outcome: told }) }];
        m.deliverFail(fiber, fail);
        return;
    }
    tell(m, pending, told);
}

/** Gives an outcome to the instruction that waits for it. */
export function tell(m: Machine, pending: Pending, told: Outcome): void {
    const { fiber, effect } = pending;
    const outcome = withReaders(m, effect, told);
    try {
        if (effect.kind === "input" && m.entry !== null && fiber.frames.length === 0) {
            answerEntry(m, outcome);
            return;
        }
        const { native } = fiber.top;
        learn(m, effect, outcome);
        const describes = effect.kind === "tool" && opOf(effect.request) === "describe";
        if (describes && native?.kind === "handover") describedEvent(m, native.path, effect, outcome);
        if (native?.kind === "describe") {
            descriptionCame(m, fiber, native, pending, outcome);
            return;
        }
        if (native?.kind === "ask") {
            answered(m, fiber, fiber.top, native, outcome, effect.site);
            return;
        }
        if (native?.kind === "generate") {
            generateOutcome(m, fiber, native, pending, outcome);
            return;
        }
        if (native?.kind === "handover" && native.state.session !== "") {
            handoverOutcome(m, fiber, native, pending.slot, effect.path, outcome);
            if (fiber.frames.length > 0 && fiber.top.native === null && !m.ready.includes(fiber)) m.ready.push(fiber);
            return;
        }
        if (!describes) ended(m, fiber.top, effect, outcome);
        if (native?.kind === "handover") {
            actOutcome(m, fiber, native, pending, outcome);
            return;
        }
        if (!outcome.ok) throw failureOf(m, pending, outcome);
        m.deliver(fiber, remembered(m, effect, outcome.value, givenValue(m, effect, outcome)));
    } catch (error) {
        if (!(error instanceof Fail)) throw error;
        if (!outcome.ok) fiber.refused = [{ pending, asked: true }];
        m.deliverFail(fiber, error);
    }
}

/** The value that an outcome gives, with its origins. */
export function givenValue(m: Machine, effect: Effect, outcome: Outcome & { readonly ok: true }): Value {
    m.tracer?.at(effect.site, effect.path, whatOf(effect));
    const value = labelParts(fromJson(outcome.value, m.run.heap), outcome.parts ?? {}, m.run.labels);
    return join(m.run, value, m.run.labels.of(outcome.origins));
}

/** The failure that an outcome is. */
export function failureOf(m: Machine, { effect, origin }: Pending, outcome: Outcome & { readonly ok: false }): Fail {
    return failFrom(m, outcome.failure, effect.site, [origin, ...(outcome.origins ?? [])]);
}

/** Asks a tool what it has. */
export function askDescription(
    m: Machine,
    fiber: Fiber,
    c: Capability,
    path: string,
    slot: number,
    site: Site | null,
    payer?: number,
): void {
    const request = { op: "describe", tool: c.name, uri: m.compiled.importOf(c)?.uri ?? "", file: m.compiled.fileName(c.file) };
    raise(m, fiber, { kind: "tool", path, site, request, labels: [], origin: `tool:${c.name}`, slot, payer });
}

/** As a `generate` tells of it. */
export function describedEvent(m: Machine, parent: string, { path, site, request }: Effect, outcome: Outcome): void {
    const { tool, uri } = request as unknown as ToolRequest;
    const origins = outcome.ok ? outcome.origins : [`tool:${tool}`];
    m.emit("effect.ended", path, parent, site, origins, { effect: "tool", op: "describe", tool, uri, ...resultData(outcome) });
}

/** What `among` clauses will ask about: texts of a tool or memory, as far as nothing else is in them. */
function learn(m: Machine, effect: Effect, outcome: Outcome): void {
    if (m.authority.watched.size === 0 || !outcome.ok || outcome.parts !== undefined) return;
    if (effect.kind !== "tool" && effect.kind !== "recall") return;
    if (opOf(effect.request) === "describe") return;
    const r = effect.request as { tool?: string; memory?: string };
    const origin = effect.kind === "tool" ? `tool:${r.tool}` : `memory:${r.memory}`;
    if (m.authority.watched.has(origin) && outcome.origins.every((one) => one === origin || one.startsWith("only:")))
        m.standing.learn(origin, outcome.value);
}

/** What an effect brings, for people: `tool Repo.read`. */
function whatOf(effect: Effect): string {
    const r = effect.request as { tool?: string; method?: string; memory?: string };
    if (effect.kind === "tool") return `tool ${r.tool}${r.method === undefined ? "" : `.${r.method}`}`;
    return r.memory === undefined ? effect.kind : `memory ${r.memory}`;
}

/** For derivations: what a run stored itself comes back with the steps that it was stored with. */
function remembered(m: Machine, effect: Effect, outcome: Json, value: Value): Value {
    const { tracer } = m;
    if (tracer === null || (effect.kind !== "remember" && effect.kind !== "recall")) return value;
    const { uri } = effect.request as unknown as MemoryRequest;
    if (effect.kind === "remember") {
        tracer.stored(
            uri,
            outcome,
            tracer.labels.derive(
                (tracer.uses.get(effect.path) ?? []).map((p) => p.label),
                effect.site,
                effect.path,
                "value",
            ),
        );
        return value;
    }
    const list = rawOf(value);
    if (!(list instanceof List) || !Array.isArray(outcome)) return value;
    list.items = list.items.map((item, i) => {
        const record = outcome[i];
        const id =
            record !== null && typeof record === "object" && !Array.isArray(record) && record !== undefined ? (record.id ?? null) : null;
        const l = tracer.record(uri, id);
        if (l === 0) return item;
        const raw = rawOf(item);
        if (!(raw instanceof Obj)) return item;
        // What it was stored as has labels of its own; the name and the times of the record are the memory's. Origins stay those that the outcome has:
        // only how they came about is known better.
        const own = [value, item].flatMap((one) => (one instanceof Labelled ? m.run.labels.origins(one.l) : []));
        raw.slots = raw.slots.map((slot) => {
            if (!(slot instanceof Labelled)) return slot;
            const those = [...new Set([...own, ...m.run.labels.origins(slot.l)])].sort();
            const from = [l, value instanceof Labelled ? value.l : 0, slot.l];
            return new Labelled(slot.v, tracer.labels.derive(from, effect.site, effect.path, whatOf(effect), those));
        });
        return item;
    });
    return value;
}

/** A failure that came from outside, in the program's terms. */
export function failFrom(m: Machine, failure: Failure, site: Site | null, origins: readonly string[]): Fail {
    return new Fail(failure.kind, failure.message, {
        ...(failure.detail === undefined ? {} : { detail: failure.detail }),
        ...(failure.hint === undefined ? {} : { hint: failure.hint }),
        site: failure.site ?? site,
        labels: m.run.labels.of(origins),
        whole: failure.kind === "cancelled",
    });
}

function ended(m: Machine, frame: Frame, effect: Effect, outcome: Outcome): void {
    const { path, site } = effect;
    const labels = outcome.ok ? m.run.labels.origins(m.run.labels.of(outcome.origins)) : [];
    const result: { [key: string]: Json } = outcome.ok
        ? { ok: true, result: outcome.value }
        : { ok: false, kind: outcome.failure.kind, error: outcome.failure.message };
    if (effect.kind === "tool") {
        const r = effect.request as unknown as ToolRequest;
        const value = outcome.ok ? outcome.value : null;
        const effects =
            value !== null && typeof value === "object" && !Array.isArray(value) && Object.hasOwn(value, "effects")
                ? (value.effects as Json)
                : null;
        m.emit("tool.ended", path, frame.parent, site, labels, {
            tool: r.tool,
            method: r.method ?? null,
            scheme: schemeOf(r.uri),
            uri: r.uri,
            args: r.args ?? [],
            ...result,
            effects,
        });
    } else if (effect.kind === "remember" || effect.kind === "recall") {
        const r = effect.request as unknown as MemoryRequest;
        const value = outcome.ok ? outcome.value : null;
        const more: { [key: string]: Json } = {};
        if (Array.isArray(value)) more.count = value.length;
        else if (value !== null && typeof value === "object" && effect.kind === "remember") {
            more.count = 1;
            if (Object.hasOwn(value, "id")) more.id = value.id as Json;
            if (Object.hasOwn(value, "record")) more.record = value.record as Json;
        }
        m.emit("memory.ended", path, frame.parent, site, labels, {
            memory: r.memory,
            operation: effect.kind === "remember" ? "add" : "query",
            uri: r.uri,
            args: r.arg,
            ...result,
            ...more,
        });
    } else m.emit("effect.ended", path, frame.parent, site, labels, result);
}
