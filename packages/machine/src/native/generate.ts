/**
 * `generate` on a frame: the set-up from what is visible, and the coroutine's steps between effects.
 *
 * Boundary: what a prompt looks like, what an answer means and when to try again is the coroutine's (`../prompt/generate.ts`).
 *
 * GE6: the `use`s visible are those that stand textually before the `generate` in its function, after the agent's own; each is evaluated now,
 *     in the slots of the frame it stands in.
 * GE7: what a turn asks for waits as a whole where a part of the run has the counts of one of its calls (COU5): the model is told of its calls together.
 */
import type { Site } from "@remit/language";
import { modelFlow } from "../authority/flows.ts";
import type { Refusal } from "../authority/refusal.ts";
import type { Code, Slots } from "../compile/code.ts";
import type { GenerateDetail, HandoverDetail } from "../compile/instructions.ts";
import { withPc } from "../compile/strict.ts";
import { ABORTED, Fail } from "../effect/failure.ts";
import { askedModel, continueGenerate, startGenerate } from "../prompt/generate.ts";
import type { GenerateSetup, GenerateStep, ItemInput, StepEffect } from "../prompt/setup.ts";
import { type ModelTurn, opOf, type Outcome, type ToolRequest } from "../effect/effect.ts";
import { fromJson } from "../value/json.ts";
import { join, rawOf } from "../value/operators.ts";
import { Capability, Labelled, type Value } from "../value/value.ts";
import type { ToolInput } from "../prompt/offers.ts";
import { ENVELOPES } from "./agent-config.ts";
import { failFrom, whatOf } from "../state/effects.ts";
import { pick } from "../state/events.ts";
import type { GenerateWait } from "../state/fiber.ts";
import { gatekeeper } from "../state/gatekeeper.ts";
import { areCountsAway } from "../state/lent-counts.ts";
import { refuse } from "../state/refusal.ts";
import type { Ops, Call, Begins, Waits } from "../state/ops.ts";
import { hasSome } from "../state/delegations.ts";
import { isOfVerbs, stageOf } from "../state/stage.ts";
import { aborted } from "../state/verdicts.ts";

/** Starts what was set up. True where it needs no effect: its value is there at once. */
export function beginGenerating(m: Ops, call: Call, wait: GenerateWait, setup: GenerateSetup): boolean {
    const { frame, I } = call;
    frame.native = wait;
    const end = enveloped(m, wait, () => take(m, call, wait, startGenerate(setup, m.run), setup.model.name));
    if (end === null) return false;
    frame.native = null;
    frame.locals[I.slot] = end;
    frame.pc++;
    return true;
}

/** What a `reason()` gives: its value as `{data}`, its failure as `{error}`; a `generate` gives the one and throws the other. */
function enveloped(m: Ops, native: GenerateWait, run: () => Value | null): Value | null {
    if (native.envelope === undefined) return run();
    try {
        const value = run();
        if (value === null) return null;
        const data = m.run.heap.object([["data", rawOf(value)]]);
        return value instanceof Labelled ? new Labelled(data, value.l) : data;
    } catch (error) {
        const told = error instanceof Fail ? errorOf(m, error) : null;
        if (told === null) throw error;
        return told;
    }
}

/** Does what a step says; gives the value where it is the end. */
function take(m: Ops, { fiber, frame, I }: Call, native: GenerateWait, step: GenerateStep, model: string): Value | null {
    const { site } = I;
    const at = (suffix: string): string => (suffix === "" ? native.path : `${native.path}/${suffix}`);
    // A failure leaves the state as it was, so that what failed can be asked for again.
    if (!("failure" in step)) native.state = step.state;
    for (const e of step.events) m.emit(e.kind, at(e.suffix), e.suffix === "" ? frame.parent : at(e.under ?? ""), site, e.labels, e.data);
    if ("effects" in step) {
        native.waiting = step.effects.map((e) => at(e.suffix));
        native.outcomes = step.effects.map(() => null);
        if (m.tracer !== null)
            for (const e of step.effects)
                if (e.kind === "tool") {
                    const { args = [] } = e.request as unknown as ToolRequest;
                    m.tracer.chosen(at(e.suffix), args, m.tracer.said(native.path, site, `model ${model}`, e.labels));
                }
        for (const e of step.effects) if (e.kind === "model") mayRead(m, { fiber, frame, I, path: at(e.suffix) }, e);
        step.effects.forEach((e, slot) => {
            const { kind, request, deadline } = e;
            const labels = m.run.labels.within(frame.placeLabel, m.run.labels.of(e.labels))
                ? e.labels
                : m.run.labels.origins(m.run.labels.union(frame.placeLabel, m.run.labels.of(e.labels)));
            m.raise(fiber, { kind, path: at(e.suffix), site, request, labels, origin: `model:${model}`, slot, deadline });
        });
        return null;
    }
    if ("failure" in step) {
        if (step.failure !== ABORTED) throw failFrom(m, step.failure, site, step.origins);
        m.finish(aborted(site));
        return null;
    }
    const value = fromJson(step.value, m.run.heap);
    const l = m.tracer === null ? m.run.labels.of(step.origins) : m.tracer.said(native.path, site, `model ${model}`, step.origins);
    return l === 0 ? value : new Labelled(value, l);
}

/** A tool is asked to describe itself, and a model told of it, only where the offering principal has something of it. */
function mayOffer(m: Ops, call: Call, c: Capability, method: string | null): void {
    const { fiber, frame } = call;
    if (hasSome(m, fiber, frame.principal, c)) return;
    const refusal: Refusal = {
        principal: frame.principal,
        capability: method === null ? c.name : `${c.name}.${method}`,
        why: "offer",
        clause: null,
    };
    throw refuse(m, { ...call, path: frame.path }, refusal, { about: { kind: c.kind, chosen_by: "program" } });
}

/** A model reads the whole prompt: where its import says who reads along, nothing else may be in it. `or ask` is no way around here. */
function mayRead(m: Ops, call: Call, e: StepEffect): void {
    if (m.authority.book.plain) return;
    const { name, uri } = (e.request as unknown as ModelTurn).model;
    const found = modelFlow(e.labels, m.authority.saidOfModel("audience", name, uri));
    if (found === null) return;
    const refusal: Refusal = { principal: call.frame.principal, capability: name, why: "flow", ...found };
    throw refuse(m, call, refusal, { labels: e.labels, about: { uri } });
}

/** Null: the fiber waits for an answer to whether the model may be used. */
function setUp(m: Ops, call: Call, d: GenerateDetail): GenerateSetup | null {
    const { frame, path } = call;
    const { site } = call.I;
    const L = frame.locals;
    const { context } = d;
    const missing = (what: string): Fail =>
        new Fail("value", `generate needs a ${what}`, { site, hint: `declare one with '${what} …' in the agent or function` });
    const code = d.model ?? context.model;
    if (code === null) throw missing("model");
    if (context.role === null) throw missing("role");
    if (context.description === null) throw missing("description");
    const model = ofStage(m, call) ?? importNamed(m, code, L, "llm", site);
    if (!mayAsk(m, call, model)) return null;
    const items = itemsOf(m, d, L);
    const { flow } = frame.form;
    const instruction = flow === 0 ? d.input(L) : withPc(L, flow, d.input(L));
    m.tracer?.saw(path, [...items.map((item) => item.value), instruction, context.role(L), context.description(L)]);
    const { attempts, strict, debug, stream, ...more } = d.options;
    return {
        label: d.label,
        agent: d.agent,
        model: { name: model.name, uri: model.uri },
        ...(d.options.hide === undefined ? {} : { modelFile: model.file }),
        identity: { role: context.role(L), description: context.description(L) },
        items,
        instruction,
        options: { attempts: attempts ?? 1, strict: strict ?? false, debug: debug ?? false, stream: stream ?? false, ...more },
        ...(d.contract === null ? {} : { contract: d.contract }),
        shapes: d.shapes,
        ...(d.tools === null ? {} : { tools: d.tools.map((tool) => toolOf(m, call, tool)) }),
        ...(context.max === null ? {} : { contextMax: context.max }),
        scope: d.scope,
    };
}

function itemsOf(m: Ops, d: GenerateDetail, L: Slots): ItemInput[] {
    return d.context.uses.map((use): ItemInput => {
        const picked = pick(m, use);
        return {
            source: picked.source,
            label: use.label,
            value: picked.code === null ? null : picked.code(L),
            ...(picked.budget === null ? {} : { budget: picked.budget }),
            ...(use.priority === null ? {} : { priority: use.priority }),
            ...(use.image ? { image: true } : {}),
            ...(picked.variant === null ? {} : { variant: picked.variant }),
            site: use.site,
        };
    });
}

/** In code of verbs: the model that the stage names, else the only one of the block's file; null where there is none. */
function ofStage(m: Ops, { fiber, frame }: Call): Named | null {
    const stage = isOfVerbs(m, frame) ? stageOf(fiber) : null;
    const imports = [...((stage === null ? undefined : m.compiled.files[stage.file])?.imports.values() ?? [])];
    const models = imports.filter(({ form }) => form.what === "llm");
    const name = stage?.node.with?.model ?? (models.length === 1 ? models[0]?.form.name : undefined);
    const found = models.find(({ form }) => form.name === name);
    if (found?.value == null) return null;
    const { file, form, value } = found;
    return { name: form.name, uri: form.uri, file: m.compiled.fileName(file), c: value };
}

/** A tool that is offered to the model. */
function toolOf(m: Ops, call: Call, { code, method }: NonNullable<GenerateDetail["tools"]>[number]): ToolInput {
    const { c, ...tool } = importNamed(m, code, call.frame.locals, "tool", call.I.site);
    mayOffer(m, call, c, method);
    return { ...tool, ...(method === null ? {} : { method }), ...(c.right === null ? {} : { right: c.right }) };
}

/** The gate before a model is asked. False: the fiber waits for an answer. */
export function mayAsk(m: Ops, call: Call, { c, name, uri }: Named): boolean {
    return m.gate(call, { c, name, uri, method: null, direct: c.right?.holder !== call.frame.principal }, []) !== null;
}

/** A model or tool that an operand names. */
interface Named {
    readonly name: string;
    readonly uri: string;
    readonly file: string;
    readonly c: Capability;
}

export function importNamed(m: Ops, code: Code, L: Slots, kind: "llm" | "tool", site: Site | null): Named {
    const c = rawOf(code(L));
    const form = c instanceof Capability && c.kind === kind ? m.compiled.importOf(c) : undefined;
    if (!(c instanceof Capability) || form === undefined)
        throw new Fail("value", `generate needs ${kind === "llm" ? "a model" : "a tool"} here`, { site });
    return { name: form.name, uri: form.uri, file: m.compiled.fileName(c.file), c };
}

/** Goes on where all outcomes of the step are there, or waits for the counts (GE7). */
function goesOn(m: Ops, call: Call, wait: GenerateWait): void {
    const outcomes = wait.outcomes.filter((o): o is Outcome => o !== null);
    if (outcomes.length < wait.waiting.length) return;
    const model = askedModel(wait.state);
    const { label } = call.I.detail as GenerateDetail | HandoverDetail;
    const gate = gatekeeper(m, call, label, model);
    if (areCountsAway(m)) {
        const { gate: ahead, waits } = gate.ahead();
        // A step that ends it waits for nothing.
        if ("effects" in continueGenerate(wait.state, outcomes, ahead) && waits()) {
            wait.counts = true;
            return;
        }
    }
    const step = continueGenerate(wait.state, outcomes, gate);
    const end = enveloped(m, wait, () => take(m, call, wait, step, model));
    if (end !== null) m.deliver(call.fiber, end);
}

/** A failure that is told as `{error}`; null where it is none of the model's. */
export function errorOf(m: Ops, fail: Fail): Value | null {
    if (!fail.isTold) return null;
    return join(m.run, m.fromJson(ENVELOPES.error(fail.message)), fail.labels);
}

export const generate: Begins<GenerateDetail> & Waits<GenerateWait> = {
    begin(m, call, d) {
        const setup = setUp(m, call, d);
        if (setup === null) return false;
        m.countCall();
        return beginGenerating(m, call, { kind: "generate", path: call.path, state: null, waiting: [], outcomes: [] }, setup);
    },

    asksOn: true,

    /** The coroutine goes on when all outcomes of the step are there. */
    resume(m, call, wait, { pending, outcome }) {
        const { effect, slot } = pending;
        wait.outcomes[slot] = outcome;
        if (m.tracer !== null && outcome.ok && effect.kind === "tool" && opOf(effect.request) === "call") {
            const { tool } = effect.request as { tool: string };
            m.tracer.at(effect.site, effect.path, whatOf(effect));
            m.tracer.sawLabel(wait.path, m.run.labels.of([...outcome.origins, `tool:${tool}`]));
        }
        call.fiber.touch();
        goesOn(m, call, wait);
    },

    countsBack(m, call, wait) {
        delete wait.counts;
        goesOn(m, call, wait);
    },

    forget(wait, slot) {
        wait.outcomes[slot] = null;
    },
};
