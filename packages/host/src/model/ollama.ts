/**
 * Turns that say how hard an Ollama's model thinks: its own API takes that, the one like OpenAI's takes it from some models only.
 *
 * Boundary: the request and the response of one call, between the shapes of OpenAI's chat completions and those of `/api/chat`. Other turns pass as they
 * are.
 */
import { isObject, type Json } from "@remit/language";
import { taken } from "./taken.ts";

type Fields = { readonly [key: string]: Json };

/** What a turn says as its effort (`wire.ts`), as `think` has it. */
const THINK: { readonly [effort: string]: boolean | string } = { none: false, on: true };
const COMPLETIONS = /\/v1\/chat\/completions$/;

/** `most`: bytes of a response that is read. */
export function thinking(inner: typeof fetch, most: number): typeof fetch {
    return async (input, init) => {
        const { body } = init ?? {};
        const asked = typeof body === "string" && COMPLETIONS.test(String(input)) ? (JSON.parse(body) as Fields) : {};
        if (typeof asked["reasoning_effort"] !== "string") return inner(input, init);
        const own = String(input).replace(COMPLETIONS, "/api/chat");
        const response = await inner(own, { ...init, body: JSON.stringify(requestOf(asked, asked["reasoning_effort"])) });
        const { status, statusText } = response;
        if (!response.ok || response.body === null || !/json/.test(response.headers.get("content-type") ?? "")) return response;
        const isStream = asked["stream"] === true;
        const read = response.body.pipeThrough(taken(most)).pipeThrough(new TextDecoderStream()).pipeThrough(lined(isStream));
        const type = isStream ? "text/event-stream" : "application/json";
        return new Response(read.pipeThrough(new TextEncoderStream()), { status, statusText, headers: { "content-type": type } });
    };
}

function requestOf({ model, messages, tools, stream, max_tokens, temperature, response_format }: Fields, effort: string): Json {
    const names = new Map<string, string>();
    return {
        model: model ?? null,
        messages: (messages as Fields[]).map((one) => messageOf(one, names)),
        stream: stream === true,
        think: THINK[effort] ?? effort,
        ...(tools === undefined ? {} : { tools }),
        ...(isObject(response_format) ? { format: formatOf(response_format) } : {}),
        options: {
            ...(max_tokens === undefined ? {} : { num_predict: max_tokens }),
            ...(temperature === undefined ? {} : { temperature }),
        },
    };
}

function formatOf({ json_schema }: Fields): Json {
    return isObject(json_schema) ? (json_schema["schema"] ?? "json") : "json";
}

/** `names`: of the tools of calls, by their ids. */
function messageOf({ role, content, tool_calls, tool_call_id }: Fields, names: Map<string, string>): Json {
    const parts = Array.isArray(content) ? content.filter(isObject) : [];
    const text = typeof content === "string" ? content : parts.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n");
    const images = parts.flatMap((part) => {
        const url = isObject(part["image_url"]) ? part["image_url"]["url"] : undefined;
        return typeof url === "string" ? [url.slice(url.indexOf(",") + 1)] : [];
    });
    const calls = (Array.isArray(tool_calls) ? tool_calls : []).filter(isObject).map(({ id, function: of }) => {
        const { name, arguments: args } = of as Fields;
        names.set(String(id), String(name));
        return { function: { name: name ?? "", arguments: JSON.parse(String(args)) as Json } };
    });
    const name = names.get(String(tool_call_id));
    return {
        role: role ?? null,
        content: text,
        ...(images.length === 0 ? {} : { images }),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
        ...(name === undefined ? {} : { tool_name: name }),
    };
}

/** A line is an answer, or a piece of one. */
function lined(isStream: boolean): TransformStream<string, string> {
    let held = "";
    let calls = 0;
    const told = (line: string): string => {
        if (line.trim() === "") return "";
        const said = JSON.parse(line) as Fields;
        const made = answerOf(said, isStream ? "delta" : "message", calls);
        calls += made.calls;
        const json = JSON.stringify(made.json);
        return isStream ? `data: ${json}\n\n${said["done"] === true ? "data: [DONE]\n\n" : ""}` : json;
    };
    return new TransformStream({
        transform: (piece, controller) => {
            // only what is new is looked into: a long line comes in many pieces
            const [first = "", ...lines] = piece.split("\n");
            held += first;
            for (const line of lines) {
                controller.enqueue(told(held));
                held = line;
            }
        },
        flush: (controller) => controller.enqueue(told(held)),
    });
}

/** `before`: how many calls came in earlier pieces. */
function answerOf(
    { model, message, done, done_reason, prompt_eval_count, eval_count, error }: Fields,
    as: "delta" | "message",
    before: number,
): { readonly json: Json; readonly calls: number } {
    if (error !== undefined) return { json: { error: { message: String(error) } }, calls: 0 };
    const { content, thinking, tool_calls } = isObject(message) ? message : ({} as Fields);
    const calls = (Array.isArray(tool_calls) ? tool_calls : []).filter(isObject).map(({ function: of }, i) => {
        const { name, arguments: args } = of as Fields;
        const index = before + i;
        return { index, id: `call_${index}`, type: "function", function: { name: name ?? "", arguments: JSON.stringify(args ?? {}) } };
    });
    const said = {
        role: "assistant",
        content: content ?? "",
        ...(thinking === undefined ? {} : { reasoning_content: thinking }),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    const finish = done !== true ? null : before + calls.length > 0 ? "tool_calls" : done_reason === "length" ? "length" : "stop";
    const [input, output] = [Number(prompt_eval_count ?? 0), Number(eval_count ?? 0)];
    const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
    const choices = [{ index: 0, [as]: said, finish_reason: finish }];
    const json: Json = { id: "ollama", created: 0, model: model ?? "", choices, ...(done === true ? { usage } : {}) };
    return { json, calls: calls.length };
}
