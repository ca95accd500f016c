/** Anthropic messages, as Claude's agent speaks them. */
import { callsOf, nameOf, objects, type Said, textOf, USAGE, type Wire } from "./wire.ts";

function blocks(said: Said, id: string): { readonly type: string; readonly [key: string]: unknown }[] {
    const text = said.text === undefined ? [] : [{ type: "text", text: said.text }];
    const calls = callsOf(said).map(({ name, input }, index) => ({
        type: "tool_use",
        id: `toolu_${id}${index === 0 ? "" : `_${index}`}`,
        name,
        input,
    }));
    return [...text, ...calls];
}

export const anthropic: Wire = {
    hear(path, body) {
        if (!/\/messages(\?.*)?$/.test(path)) return null;
        const messages = objects(body.messages);
        const isResult = (one: unknown): boolean => objects(one).some((part) => part.type === "tool_result");
        const last = messages.findLastIndex((one) => one.role === "user" && !isResult(one.content));
        return {
            wire: "anthropic",
            model: nameOf(body.model),
            system: textOf(body.system),
            user: textOf(messages[last]?.content),
            results: messages
                .slice(last + 1)
                .flatMap((one) => objects(one.content))
                .filter((part) => part.type === "tool_result")
                .map((part) => textOf(part.content)),
            tools: objects(body.tools).map((one) => nameOf(one.name)),
            stream: body.stream === true,
            body,
        };
    },
    events(said, id, model) {
        const event = (type: string, more: object): { event: string; data: unknown } => ({ event: type, data: { type, ...more } });
        const message = { id: `msg_${id}`, type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null };
        const begun = event("message_start", { message: { ...message, usage: { input_tokens: USAGE.input, output_tokens: 0 } } });
        if ("hang" in said) return [begun];
        return [
            begun,
            ...blocks(said, id).flatMap((block, index) => {
                const empty = block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} };
                const delta =
                    block.type === "text"
                        ? { type: "text_delta", text: block.text }
                        : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
                return [
                    event("content_block_start", { index, content_block: empty }),
                    event("content_block_delta", { index, delta }),
                    event("content_block_stop", { index }),
                ];
            }),
            event("message_delta", {
                delta: { stop_reason: "call" in said ? "tool_use" : "end_turn", stop_sequence: null },
                usage: { output_tokens: USAGE.output },
            }),
            event("message_stop", {}),
        ];
    },
    whole: (said, id, model) => ({
        id: `msg_${id}`,
        type: "message",
        role: "assistant",
        model,
        content: blocks(said, id),
        stop_reason: "call" in said ? "tool_use" : "end_turn",
        stop_sequence: null,
        usage: { input_tokens: USAGE.input, output_tokens: USAGE.output },
    }),
};
