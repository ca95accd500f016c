/**
 * Between a model turn and the SDK's request and answer.
 *
 * Boundary: shapes only; nothing is sent here.
 *
 * How hard a model thinks (AgentScript's mapping): OpenAI and compatible endpoints get `reasoning_effort` (true → medium; auto and false say
 * nothing), an Ollama its own `think` (`ollama.ts`; auto says nothing), Anthropic a thinking budget (true, auto and low 1024 tokens, medium 4096, high 10000), Google its own levels.
 */
import type { Json } from "@remit/language";
import type { ModelReply, ModelTurn, ToolCall, Usage } from "@remit/machine";
import { readValue } from "./reading/lenient.ts";
import { plain } from "./reading/fit.ts";
import { OPTIONS_OF, type SdkOptions, type SdkResult, type SdkUsage } from "./sdk.ts";
import type { Provider } from "./uri.ts";

type Prompt = SdkOptions["prompt"];
type ProviderOptions = NonNullable<SdkOptions["providerOptions"]>;
type JsonObject = ProviderOptions[string];

export interface Constraint {
    readonly schema: Json;
    readonly strict: boolean;
}

export function optionsOf(request: ModelTurn, provider: Provider, constraint: Constraint | null, signal: AbortSignal): SdkOptions {
    const options: SdkOptions = { prompt: promptOf(request), abortSignal: signal };
    if (request.maxOutput !== undefined) options.maxOutputTokens = request.maxOutput;
    if (request.temperature !== undefined) options.temperature = request.temperature;
    if (request.tools !== undefined && request.tools.length > 0) {
        options.tools = request.tools.map((tool) => ({
            type: "function",
            name: tool.name,
            inputSchema: tool.input as Extract<NonNullable<SdkOptions["tools"]>[number], { type: "function" }>["inputSchema"],
            ...(tool.description === undefined ? {} : { description: tool.description }),
        }));
        options.toolChoice = { type: "auto" };
    }
    const more: { [key: string]: Json } = {};
    if (constraint !== null) {
        options.responseFormat = { type: "json", schema: constraint.schema as never, name: "remit_generate" };
        if (provider !== "google" && provider !== "anthropic") more.strictJsonSchema = constraint.strict;
    }
    const thinking = think(request, provider);
    if (thinking?.reasoning !== undefined) options.reasoning = thinking.reasoning;
    Object.assign(more, thinking?.options);
    if (Object.keys(more).length > 0) options.providerOptions = { [OPTIONS_OF[provider]]: more as JsonObject };
    return options;
}

const ANTHROPIC_BUDGET = { low: 1024, medium: 4096, high: 10_000 } as const;

function think(
    request: ModelTurn,
    provider: Provider,
): { reasoning?: "low" | "medium" | "high"; options?: { [key: string]: Json } } | null {
    const level = request.think;
    if (provider === "ollama" && level !== undefined && level !== "auto")
        return { options: { reasoningEffort: level === true ? "on" : level === false ? "none" : level } };
    if (level === undefined || level === false) return null;
    if (provider === "anthropic") {
        // Its thinking blocks would have to come back with their signatures when the results of tools go to it, and a conversation does not keep them.
        if (request.messages.some((message) => message.role === "tool")) return null;
        const named = level === true || level === "auto" ? "low" : level;
        return { options: { thinking: { type: "enabled", budgetTokens: ANTHROPIC_BUDGET[named] } } };
    }
    if (level === "auto") return null;
    const effort = level === true ? "medium" : level;
    return provider === "google" ? { reasoning: effort } : { options: { reasoningEffort: effort } };
}

function promptOf(request: ModelTurn): Prompt {
    const prompt: Prompt = [];
    for (const message of request.messages) {
        switch (message.role) {
            case "system":
                if (message.content !== "") prompt.push({ role: "system", content: message.content });
                break;
            case "user":
                prompt.push({
                    role: "user",
                    content: message.content.map((part) =>
                        part.type === "text"
                            ? { type: "text", text: part.text }
                            : { type: "file", mediaType: part.mediaType, data: { type: "data", data: part.data } },
                    ),
                });
                break;
            case "assistant": {
                const calls = message.calls ?? [];
                const content: Extract<Prompt[number], { role: "assistant" }>["content"] = [];
                if (message.content !== "") content.push({ type: "text", text: message.content });
                for (const call of calls) {
                    const carried = call.provider === undefined ? {} : { providerOptions: call.provider as ProviderOptions };
                    content.push({ type: "tool-call", toolCallId: call.id, toolName: call.name, input: call.args, ...carried });
                }
                prompt.push({ role: "assistant", content });
                break;
            }
            case "tool": {
                const result = {
                    type: "tool-result" as const,
                    toolCallId: message.call,
                    toolName: message.name,
                    output:
                        typeof message.result === "string"
                            ? { type: "text" as const, value: message.result }
                            : { type: "json" as const, value: message.result },
                };
                // The results of one turn belong into one message.
                const last = prompt[prompt.length - 1];
                if (last?.role === "tool") last.content.push(result);
                else prompt.push({ role: "tool", content: [result] });
                break;
            }
        }
    }
    return prompt;
}

export function callOf(part: { toolCallId: string; toolName: string; input: string; providerMetadata?: unknown }): ToolCall {
    const call = { id: part.toolCallId, name: part.toolName, args: argsOf(part.input) };
    return part.providerMetadata === undefined ? call : { ...call, provider: part.providerMetadata as Json };
}

/** Arguments of a call. What cannot be read stays a text: the check against the tool's schema then tells the model. */
function argsOf(input: string): Json {
    if (input.trim() === "") return {};
    try {
        return JSON.parse(input) as Json;
    } catch {
        // Not JSON as it stands: read it as a reply would be, where nothing is lost by it.
        const start = input.search(/[{[]/);
        const [only, second] = start < 0 ? [] : readValue(input, start);
        if (only === undefined || second !== undefined || only.state !== "complete" || only.problems.length > 0) return input;
        return input.slice(only.end).trim() === "" ? plain(only.value, { repairs: new Set() }) : input;
    }
}

const FINISH: { readonly [unified: string]: ModelReply["finish"] } = {
    stop: "stop",
    length: "length",
    "content-filter": "refusal",
    "tool-calls": "tool",
};

/** `refusal` is what Anthropic calls it; the SDK hands the word on as `raw`. */
export function finishOf(reason: SdkResult["finishReason"]): ModelReply["finish"] {
    if (reason.raw === "refusal") return "refusal";
    return FINISH[reason.unified] ?? "other";
}

export function usageOf(usage: SdkUsage): Usage | undefined {
    const counts = {
        input: usage.inputTokens.total,
        cached: usage.inputTokens.cacheRead,
        output: usage.outputTokens.total,
        reasoning: usage.outputTokens.reasoning,
    };
    const known = Object.entries(counts).flatMap(([name, count]): [string, number][] =>
        typeof count === "number" && count >= 0 ? [[name, Math.min(count, Number.MAX_SAFE_INTEGER)]] : [],
    );
    if (!known.some(([name, count]) => (name === "input" || name === "output") && count > 0)) return undefined;
    return Object.fromEntries(known.filter(([name, count]) => count > 0 || name === "input" || name === "output"));
}
