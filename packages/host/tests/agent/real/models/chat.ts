/** OpenAI chat completions, as opencode and qwen-code speak them: `data:` lines of chunks, then `[DONE]`. */
import { type Body, callsOf, isObject, nameOf, objects, textOf, USAGE, type Wire } from "./wire.ts";

const usage = { prompt_tokens: USAGE.input, completion_tokens: USAGE.output, total_tokens: USAGE.input + USAGE.output };

const idOf = (id: string, index: number): string => `call_${id}${index === 0 ? "" : `_${index}`}`;

export const chat: Wire = {
    hear(path, body) {
        if (!path.endsWith("/chat/completions")) return null;
        const messages = objects(body.messages);
        const last = messages.findLastIndex((one) => one.role === "user");
        const from = messages.slice(0, last + 1).findLastIndex((one) => one.role !== "user");
        return {
            wire: "chat",
            model: nameOf(body.model),
            system: textOf(messages.find((one) => one.role === "system")?.content),
            // some agents put what they add (reminders, surroundings) into user messages of their own right before or after the person's
            user: messages
                .slice(from + 1, last + 1)
                .map((one) => textOf(one.content))
                .join("\n"),
            results: messages
                .slice(last + 1)
                .filter((one) => one.role === "tool")
                .map((one) => textOf(one.content)),
            tools: objects(body.tools).map((one) => (isObject(one.function) ? nameOf(one.function.name) : "")),
            stream: body.stream === true,
            body,
        };
    },
    events(said, id, model) {
        const chunk = (delta: Body, finish: string | null = null): { data: unknown } => ({
            data: { id, object: "chat.completion.chunk", created: 0, model, choices: [{ index: 0, delta, finish_reason: finish }] },
        });
        const first = chunk({ role: "assistant", content: said.text ?? "" });
        if ("hang" in said) return [first];
        const last = { data: { id, object: "chat.completion.chunk", created: 0, model, choices: [], usage } };
        if (!("call" in said)) return [first, chunk({}, "stop"), last];
        const calls = callsOf(said).flatMap(({ name, input }, index) => [
            chunk({ tool_calls: [{ index, id: idOf(id, index), type: "function", function: { name, arguments: "" } }] }),
            chunk({ tool_calls: [{ index, function: { arguments: JSON.stringify(input) } }] }),
        ]);
        return [first, ...calls, chunk({}, "tool_calls"), last];
    },
    whole(said, id, model) {
        const calls =
            "call" in said
                ? callsOf(said).map(({ name, input }, index) => ({
                      id: idOf(id, index),
                      type: "function",
                      function: { name, arguments: JSON.stringify(input) },
                  }))
                : undefined;
        const message = { role: "assistant", content: said.text ?? "", ...(calls === undefined ? {} : { tool_calls: calls }) };
        const finish = calls === undefined ? "stop" : "tool_calls";
        return { id, object: "chat.completion", created: 0, model, choices: [{ index: 0, message, finish_reason: finish }], usage };
    },
    end: "data: [DONE]\n\n",
};
