/** OpenAI Responses, as codex speaks them. */
import { callsOf, nameOf, objects, type Said, textOf, USAGE, type Wire } from "./wire.ts";

const usage = {
    input_tokens: USAGE.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: USAGE.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: USAGE.input + USAGE.output,
};

function items(said: Said, id: string): unknown[] {
    const content = [{ type: "output_text", text: said.text ?? "", annotations: [] }];
    const message = { type: "message", id: `msg_${id}`, role: "assistant", status: "completed", content };
    if (!("call" in said)) return [message];
    return callsOf(said).map(({ name, input }, index) => {
        const nth = index === 0 ? id : `${id}_${index}`;
        return {
            type: "function_call",
            id: `fc_${nth}`,
            call_id: `call_${nth}`,
            name,
            arguments: JSON.stringify(input),
            status: "completed",
        };
    });
}

export const responses: Wire = {
    hear(path, body) {
        if (!path.endsWith("/responses")) return null;
        const input = objects(body.input);
        const last = input.findLastIndex((one) => one.role === "user");
        return {
            wire: "responses",
            model: nameOf(body.model),
            system: textOf(body.instructions),
            user: textOf(input[last]?.content),
            results: input
                .slice(last + 1)
                .filter((one) => one.type === "function_call_output")
                .map((one) => textOf(one.output)),
            tools: objects(body.tools).map((one) => nameOf(one.name)),
            stream: body.stream === true,
            body,
        };
    },
    events(said, id, model) {
        const response = { id: `resp_${id}`, object: "response", created_at: 0, model, status: "in_progress", output: [] };
        const event = (type: string, more: object): { event: string; data: unknown } => ({ event: type, data: { type, ...more } });
        const begun = [event("response.created", { response })];
        if ("hang" in said) return begun;
        const output = items(said, id);
        return [
            ...begun,
            ...output.flatMap((item, output_index) => [
                event("response.output_item.added", { output_index, item }),
                ...("call" in said
                    ? []
                    : [
                          event("response.output_text.delta", {
                              item_id: `msg_${id}`,
                              output_index,
                              content_index: 0,
                              delta: said.text ?? "",
                          }),
                      ]),
                event("response.output_item.done", { output_index, item }),
            ]),
            event("response.completed", { response: { ...response, status: "completed", output, usage } }),
        ];
    },
    whole: (said, id, model) => ({
        id: `resp_${id}`,
        object: "response",
        created_at: 0,
        model,
        status: "completed",
        output: items(said, id),
        usage,
    }),
};
