/**
 * Tool and memory calls, and outcomes of all effects.
 *
 * Boundary: from values to requests and from outcomes to values.
 *
 * E3: an effect that its budget refuses is never handed out.
 * V7: a value that an outcome gives carries the outcome's origins.
 */
import type { Json, Site } from "@remit/language";
import type { ImportEntry } from "../compile/program.ts";
import type { Effect, EffectKind, Failure, MemoryRequest, Outcome, ToolRequest } from "../effect.ts";
import { Fail } from "../failure.ts";
import { located } from "../value/access.ts";
import { fromJson, toJson } from "../value/json.ts";
import { Labelled, type Value } from "../value/value.ts";
import { answerEntry } from "./entry.ts";
import type { Fiber, Frame, Pending } from "./fiber.ts";
import { generateOutcome } from "./generate.ts";
import type { Machine } from "./machine.ts";

/** Hands out an effect, or throws the failure of the budget that stands against it. */
export function raise(
    m: Machine,
    fiber: Fiber,
    kind: EffectKind,
    path: string,
    site: Site | null,
    request: Json,
    labels: readonly string[],
    origin: string,
    slot = 0,
    deadline?: number,
): void {
    const against = m.budgets.reserve(kind, path);
    if (against !== null) {
        m.emit("budget", path, null, site, [], { meter: against.meter, limit: against.limit, used: against.used, spender: path });
        against.fail.site = site;
        throw against.fail;
    }
    const effect: Effect = { path, kind, principal: m.principal, site, request, labels, ...(deadline === undefined ? {} : { deadline }) };
    m.ask({ effect, fiber, slot, origin });
}

function argsToJson(m: Machine, args: readonly Value[], site: Site | null): { json: Json[]; labels: readonly string[] } {
    let labels = 0;
    try {
        const json = args.map((arg) => {
            const out = toJson(arg, m.run.labels);
            labels = m.run.labels.union(labels, out.labels);
            m.run.give(3 * out.size);
            return out.json;
        });
        return { json, labels: m.run.labels.origins(labels) };
    } catch (error) {
        throw located(error, site);
    }
}

function schemeOf(uri: string): string {
    const at = uri.indexOf(":");
    return at < 0 ? "" : uri.slice(0, at);
}

/** `args` null: the member is read, not called. */
export function askTool(
    m: Machine,
    fiber: Fiber,
    frame: Frame,
    tool: ImportEntry,
    method: string,
    args: readonly Value[] | null,
    path: string,
    site: Site | null,
): void {
    const { form } = tool;
    const out = argsToJson(m, args ?? [], site);
    const given: { args?: Json[] } = args === null ? {} : { args: out.json };
    const request: ToolRequest = {
        op: "call",
        tool: form.name,
        uri: form.uri,
        file: m.compiled.fileName(tool.file),
        method,
        ...given,
        chosenBy: "program",
    };
    raise(m, fiber, "tool", path, site, request as unknown as Json, out.labels, `tool:${form.name}`);
    m.emit("tool.started", path, frame.parent, site, out.labels, {
        tool: form.name,
        method,
        scheme: schemeOf(form.uri),
        uri: form.uri,
        ...(args === null ? {} : { args: out.json }),
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
): void {
    const { form } = memory;
    if (method !== "add" && method !== "query")
        throw new Fail("value", `memory ${form.name} has no method '${method}'`, { site, hint: "it has add and query" });
    if (args.length !== 1) throw new Fail("value", `${form.name}.${method} expects 1 argument, got ${args.length}`, { site });
    const out = argsToJson(m, args, site);
    const arg = out.json[0] as Json;
    if (arg === null || typeof arg !== "object" || Array.isArray(arg))
        throw new Fail("value", `${form.name}.${method} expects an object`, { site, labels: m.run.labels.of(out.labels) });
    const request: MemoryRequest = { memory: form.name, uri: form.uri, file: m.compiled.fileName(memory.file), arg };
    raise(m, fiber, method === "add" ? "remember" : "recall", path, site, request as unknown as Json, out.labels, `memory:${form.name}`);
    m.emit("memory.started", path, frame.parent, site, out.labels, { memory: form.name, operation: method, uri: form.uri, args: arg });
    frame.native = { kind: "effect", path };
}

/** Applies one outcome: the fiber that waited for it goes on, or fails. */
export function applyOutcome(m: Machine, pending: Pending, outcome: Outcome): void {
    const { fiber, effect } = pending;
    m.enter(fiber);
    const over = m.budgets.settle(outcome.usage, effect.path);
    try {
        if (over !== null) {
            m.emit("budget", effect.path, null, effect.site, [], {
                meter: over.meter,
                limit: over.limit,
                used: over.used,
                spender: effect.path,
            });
            over.fail.site = effect.site;
            throw over.fail;
        }
        if (effect.kind === "input" && m.entry !== null && fiber.frames.length === 0) {
            answerEntry(m, outcome);
            return;
        }
        const { native } = fiber.top;
        if (native?.kind === "generate") {
            generateOutcome(m, fiber, native, pending, outcome);
            return;
        }
        ended(m, fiber.top, effect, outcome);
        if (!outcome.ok) throw failFrom(m, outcome.failure, effect.site, [pending.origin]);
        const value = fromJson(outcome.value, m.run.heap);
        const l = m.run.labels.of(outcome.origins);
        m.deliver(fiber, l === 0 ? value : new Labelled(value, l));
    } catch (error) {
        if (!(error instanceof Fail)) throw error;
        m.deliverFail(fiber, error);
    }
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
