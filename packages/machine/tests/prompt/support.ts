/** Runs the coroutine of a `generate` against answers given by the test, its state going through JSON text at every step. */
import { verdictOf } from "../../src/effect/effect.ts";
import type { Gatekeeper } from "../../src/state/gatekeeper.ts";
import type { Contract, Json } from "@remit/language";
import {
    continueGenerate,
    type Failure,
    type GenerateSetup,
    type Message,
    type ModelTurn,
    type Outcome,
    type Runtime,
    type StepEffect,
    type StepEvent,
    startGenerate,
} from "../../src/index.ts";

export interface Ran {
    readonly effects: readonly StepEffect[];
    readonly events: readonly StepEvent[];
    readonly value?: Json;
    readonly failure?: Failure;
    readonly origins: readonly string[];
    /** Provider turns only. */
    readonly turns: readonly ModelTurn[];
    /** Size of each step: how many effects were handed out together. */
    readonly together: readonly number[];
}

/** The gate of a program that says nothing about authority. */
export const KEEPER: Gatekeeper = {
    hides: (origins) => origins.some((one) => one !== "user" && !one.startsWith("model:")),
    within: () => [],
    judge: (offer, args) => (offer.readOnly ? { kind: "may", reach: {} } : { kind: "ask", detail: { args }, reach: {} }),
    answer: (_offer, _args, _origins, outcome) => {
        const decision = verdictOf(outcome);
        return { yes: decision === "once" || decision === "session", decision, described: "" };
    },
};

export type Answer = (effect: StepEffect, nth: number) => Outcome;

export function drive(setup: GenerateSetup, rt: Runtime, answer: Answer): Ran {
    const effects: StepEffect[] = [];
    const events: StepEvent[] = [];
    const together: number[] = [];
    let step = startGenerate(setup, rt);
    for (;;) {
        events.push(...step.events);
        const turns = effects.filter((effect) => effect.kind === "model").map((effect) => effect.request as unknown as ModelTurn);
        const ran = { effects, events, together, turns: turns.filter((turn) => turn.op === "turn") };
        if ("value" in step) return { ...ran, value: step.value, origins: step.origins };
        if ("failure" in step) return { ...ran, failure: step.failure, origins: step.origins };
        together.push(step.effects.length);
        const from = effects.length;
        effects.push(...step.effects);
        const outcomes = step.effects.map((effect, at) => answer(effect, from + at));
        step = continueGenerate(JSON.parse(JSON.stringify(step.state)) as Json, outcomes, KEEPER);
    }
}

export const ok = (value: Json, more: Partial<Extract<Outcome, { ok: true }>> = {}): Outcome => ({ ok: true, value, origins: [], ...more });
export const bad = (kind: Failure["kind"], message: string): Outcome => ({ ok: false, failure: { kind, message } });

/** A reply of the model. */
export const reply = (more: { [key: string]: Json }): Outcome =>
    ok({ text: "", finish: "stop", model: "m-1", ...more }, { usage: { input: 10, output: 2 } });
export const says = (value: Json): Outcome => reply({ text: JSON.stringify(value), value });
export const text = (said: string): Outcome => reply({ text: said });
export const notJson = (said: string): Outcome => reply({ text: said, error: { kind: "not_json", message: said } });
export const calls = (...made: { id: string; name: string; args: Json }[]): Outcome => reply({ calls: made, finish: "tool" });

/** Answers in order. */
export const inOrder =
    (...answers: Outcome[]): Answer =>
    (effect, nth) => {
        const answer = answers[nth];
        if (answer === undefined) throw new Error(`nothing to answer ${effect.suffix}`);
        return answer;
    };

export const OK: Contract = { type: "object", fields: [{ name: "ok", contract: { type: "boolean" } }] };

export function setup(more: Partial<GenerateSetup> = {}): GenerateSetup {
    return {
        label: "Main.main[0]",
        agent: "Main",
        model: { name: "Claude", uri: "anthropic://claude" },
        identity: { role: "a careful engineer", description: "Decides what to do." },
        items: [],
        instruction: "Why did the build fail?",
        options: { attempts: 1, strict: false, debug: false, stream: false },
        shapes: {},
        ...more,
    };
}

export function shown(messages: readonly Message[]): string {
    return messages
        .map((message) => {
            const head = `=== ${message.role}\n`;
            if (message.role === "system" || message.role === "assistant") return `${head}${message.content}`;
            if (message.role === "tool") return `${head}${JSON.stringify(message)}`;
            return (
                head +
                message.content
                    .map((part) => (part.type === "text" ? part.text : `--- file ${part.mediaType} ${part.data}`))
                    .join("\n--- part\n")
            );
        })
        .join("\n");
}
