/**
 * Calls of tools and memories.
 *
 * Boundary: from values to requests and from outcomes to values; the gate before them is `gate.ts`.
 */
import { isObject, type Json, schemeOf, type Site } from "@remit/language";
import type { ImportEntry } from "../compile/program.ts";
import type { Effect, MemoryRequest, Outcome, Reach, ToolRequest } from "../effect/effect.ts";
import { Fail } from "../effect/failure.ts";
import { located } from "../value/access.ts";
import { toJson } from "../value/json.ts";
import { rawOf } from "../value/operators.ts";
import { type Capability, Labelled, List, Obj, type Value } from "../value/value.ts";
import { valuesGiven } from "../authority/given.ts";
import type { EffectDetail } from "../compile/instructions.ts";
import { failFrom, failureOrigins, whatOf, failureOf, givenValue } from "../state/effects.ts";
import type { EffectWait, Frame, Pending } from "../state/fiber.ts";
import { chooserOf, originsByName } from "../state/gate.ts";
import type { Ops, Call, Begins, Waits } from "../state/ops.ts";
import { dataOnly } from "../state/frames.ts";

/** With what the place of the call depends on, in strict code. */
function argsToJson(m: Ops, frame: Frame, args: readonly Value[], site: Site | null): { json: Json[]; labels: readonly string[] } {
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

/** A use of a tool or memory. */
export interface ImportUse {
    readonly entry: ImportEntry;
    readonly method: string;
    /** Null: the member is read, not called. */
    readonly args: readonly Value[] | null;
    /** The value through which it is used; absent where it is named. */
    readonly c?: Capability;
    /** Absent: the one that chose the arguments that name a tool. */
    readonly chosen?: "model";
}

export function askTool(m: Ops, call: Call, use: ImportUse): void {
    const { fiber, frame, path } = call;
    const { site } = call.I;
    const { method, args } = use;
    const { form, file } = use.entry;
    m.tracer?.use(path, args ?? [], frame.placeLabel);
    const reach = gated(m, call, use);
    if (reach === null) return;
    const out = argsToJson(m, frame, args ?? [], site);
    const given: { args?: Json[] } = args === null ? {} : { args: out.json };
    const request: ToolRequest = {
        op: "call",
        tool: form.name,
        uri: form.uri,
        file: m.compiled.fileName(file),
        method,
        ...given,
        chosenBy: "program",
        ...reach,
    };
    const { labels } = out;
    m.raise(fiber, { kind: "tool", path, site, request: request as unknown as Json, labels, origin: `tool:${form.name}` });
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

export function askMemory(m: Ops, call: Call, use: ImportUse): void {
    const { fiber, frame, path } = call;
    const { site } = call.I;
    const { method } = use;
    const args = use.args ?? [];
    const { form, file } = use.entry;
    if (method !== "add" && method !== "query")
        throw new Fail("value", `memory ${form.name} has no method '${method}'`, { site, hint: "it has add and query" });
    if (args.length !== 1) throw new Fail("value", `${form.name}.${method} expects 1 argument, got ${args.length}`, { site });
    m.tracer?.use(path, args, frame.placeLabel);
    const reach = gated(m, call, use);
    if (reach === null) return;
    const out = argsToJson(m, frame, args, site);
    const arg = out.json[0] as Json;
    if (!isObject(arg)) throw new Fail("value", `${form.name}.${method} expects an object`, { site, labels: m.run.labels.of(out.labels) });
    const { daily } = reach;
    const counted = daily === undefined ? {} : { daily };
    const request: MemoryRequest = { memory: form.name, uri: form.uri, file: m.compiled.fileName(file), arg, ...counted };
    const kind = method === "add" ? "remember" : "recall";
    m.raise(fiber, { kind, path, site, request: request as unknown as Json, labels: out.labels, origin: `memory:${form.name}` });
    m.emit("memory.started", path, frame.parent, site, out.labels, { memory: form.name, operation: method, uri: form.uri, args: arg });
    frame.native = { kind: "effect", path };
}

/** The gate before a use of an import. Null: the fiber waits for an answer. */
function gated(m: Ops, call: Call, { entry, method, args, c, chosen }: ImportUse): Reach | null {
    const target = c ?? (entry.value as Capability);
    const { name, uri } = entry.form;
    const chooser = chosen ?? chooserOf(m, uri, method, args ?? []);
    return m.gate(call, { c: target, name, uri, method, direct: c === undefined }, args ?? [], chooser);
}

/** For derivations: what a run stored itself comes back with the steps that it was stored with. */
function remembered(m: Ops, effect: Effect, outcome: Json, value: Value): Value {
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
        const id = isObject(record) ? (record.id ?? null) : null;
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

/** Tells of its end. */
export function effectEnded(m: Ops, frame: Frame, pending: Pending, outcome: Outcome): void {
    const { effect } = pending;
    const { path, site } = effect;
    const labels = m.run.labels.origins(m.run.labels.of(outcome.ok ? outcome.origins : failureOrigins(pending, outcome)));
    const result: { [key: string]: Json } = outcome.ok
        ? { ok: true, result: outcome.value }
        : { ok: false, kind: outcome.failure.kind, error: outcome.failure.message };
    if (effect.kind === "tool") {
        const r = effect.request as unknown as ToolRequest;
        const value = outcome.ok ? outcome.value : null;
        const effects = isObject(value) && Object.hasOwn(value, "effects") ? (value.effects as Json) : null;
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

/** Most characters of what a tool said that stand in a failure's message; `detail` has all of it. */
const MOST_SAID = 500;

/** The failure of a result that says of itself that it is an error, where nothing looks at that (LANGUAGE 7, D14). */
function unlessError(m: Ops, effect: Effect, { value, origins }: Outcome & { readonly ok: true }): void {
    if (!isObject(value) || value.isError !== true) return;
    const { text, content, structured } = value;
    const said = typeof text === "string" && text.trim() !== "" ? text.trim() : "it does not say what went wrong";
    const message = `${whatOf(effect).replace("tool ", "")}: ${said.length > MOST_SAID ? `${said.slice(0, MOST_SAID - 1)}…` : said}`;
    const detail: Json = { text: text ?? null, content: content ?? null, structured: structured ?? null };
    const hint = "a program that goes on with such a result reads its `ok`, or catches the failure";
    throw failFrom(m, { kind: "tool", message, detail, hint }, effect.site, origins);
}

export const effect: Begins<EffectDetail> & Waits<EffectWait> = {
    begin(m, call, d) {
        const { frame, I } = call;
        const args = d.args === null ? null : d.args.map((a) => a(frame.locals));
        m.countCall();
        const use = { entry: d.import, method: d.method, args: args === null ? null : dataOnly(args, I.site) };
        if (d.import.form.what === "tool") askTool(m, call, use);
        else askMemory(m, call, use);
        return false;
    },

    resume(m, { fiber, frame, I }, _wait, { pending, outcome }) {
        const { effect } = pending;
        effectEnded(m, frame, pending, outcome);
        if (!outcome.ok) throw failureOf(m, pending, outcome);
        if (I.detail?.kind === "effect" && I.detail.fails === true) unlessError(m, effect, outcome);
        m.deliver(fiber, remembered(m, effect, outcome.value, givenValue(m, effect, outcome)));
    },
};
