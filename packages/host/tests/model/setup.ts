/** What the tests of models share: requests, effects, and a record of what was emitted. */
import type { Contract, Json } from "@remit/language";
import type { Effect, ModelReply, ModelTurn, Outcome } from "@remit/machine";
import type { ModelIO, Models } from "../../src/model/models.ts";

export const YES: Contract = { type: "object", fields: [{ name: "ok", contract: { type: "boolean" } }] };
export const KEY = "sk-test-0123456789abcdef0123";

export function turnOf(uri: string, more: Partial<ModelTurn> = {}): ModelTurn {
    return {
        op: "turn",
        model: { name: "Llm", uri },
        messages: [
            { role: "system", content: "You are a tester.\nTests things" },
            { role: "user", content: [{ type: "text", text: "Instruction:\nSay yes." }] },
        ],
        strict: false,
        stream: false,
        debug: false,
        label: "Main.main[0]",
        ...more,
    };
}

export function effectOf(request: object): Effect {
    return { path: "main/generate#0/attempt[0]", kind: "model", principal: "user", site: null, request: request as Json, labels: [] };
}

export function quiet(signal: AbortSignal = new AbortController().signal): ModelIO & { readonly emitted: Json[] } {
    const emitted: Json[] = [];
    return { signal, emit: (part) => void emitted.push(part), emitted };
}

export async function ask(models: Models, request: ModelTurn, io: ModelIO = quiet()): Promise<Outcome> {
    return models.perform(effectOf(request), io);
}

/** The reply of an outcome that must be one. */
export function replyOf(outcome: Outcome): ModelReply {
    if (!outcome.ok) throw new Error(`${outcome.failure.kind}: ${outcome.failure.message}`);
    return outcome.value as unknown as ModelReply;
}

/** Patience of tests: no waiting. */
export const FAST = { pauseMs: 1, maxPauseMs: 2000 } as const;
