/**
 * A loopback server that plays model providers: the wire formats of OpenAI's chat completions, Anthropic's messages, Google's
 * generateContent, Ollama's list of models and its own chat, whole and streamed.
 *
 * What it says is a script of replies, taken in order; the last one is given again. Every request is kept as it came.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface FakeReply {
    readonly text?: string;
    /** Pieces of a streamed text; one piece a word where absent. */
    readonly chunks?: readonly string[];
    readonly thinking?: string;
    readonly calls?: readonly { readonly name: string; readonly args: unknown; readonly id?: string }[];
    readonly finish?: "stop" | "length" | "refusal";
    readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number; readonly reasoning?: number };
    /** An error instead of an answer. */
    readonly status?: number;
    readonly code?: string;
    /** What of the request is refused. */
    readonly param?: string;
    readonly message?: string;
    readonly headers?: { readonly [name: string]: string };
    /** Milliseconds before anything is sent, and between the pieces of a stream. */
    readonly delay?: number;
    readonly pace?: number;
    /** The connection is destroyed after so many pieces (0: before anything). */
    readonly dropAfter?: number;
    /** The body as it is sent, instead of one in the provider's format. */
    readonly body?: string | Uint8Array;
}

/** A request's body: the parts that tests look into, of whichever provider. What a provider does not send is absent. */
export interface Sent {
    readonly model: string;
    readonly messages: { readonly role: string; readonly content: unknown }[];
    readonly stream?: boolean;
    readonly response_format?: { readonly json_schema: { readonly schema: unknown } };
    readonly [part: string]: unknown;
}

export interface FakeRequest {
    readonly method: string;
    readonly path: string;
    readonly headers: IncomingMessage["headers"];
    readonly body: Sent;
}

export interface FakeProvider {
    /** `http://127.0.0.1:PORT`. */
    readonly url: string;
    readonly host: string;
    readonly requests: FakeRequest[];
    /** Replaces what is still to be said. */
    script(...replies: FakeReply[]): void;
    /** From now on what is said follows from what was asked. */
    answer(reply: (body: FakeRequest["body"]) => FakeReply): void;
    /** Most requests that were open at once. */
    peak(): number;
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

export async function startFakeProvider(...replies: FakeReply[]): Promise<FakeProvider> {
    const requests: FakeRequest[] = [];
    let script = [...replies];
    let answer: ((body: FakeRequest["body"]) => FakeReply) | null = null;
    let open = 0;
    let peak = 0;
    const server = createServer(async (request, response) => {
        open++;
        peak = Math.max(peak, open);
        response.on("close", () => {
            open--;
        });
        const path = request.url ?? "/";
        let text = "";
        for await (const chunk of request) text += String(chunk);
        const body: FakeRequest["body"] = text === "" ? null : JSON.parse(text);
        requests.push({ method: request.method ?? "", path, headers: request.headers, body });
        if (path === "/api/tags") return json(response, 200, { models: [{ name: "qwen3:4b" }, { name: "nomic-embed-text" }] });
        if (path === "/v1/models") return json(response, 200, { data: [{ id: "m" }] });
        const reply = answer?.(body) ?? (script.length > 1 ? script.shift() : script[0]) ?? { text: "" };
        await play(reply, path, body, response);
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const close = async (): Promise<void> => {
        server.closeAllConnections();
        await new Promise<void>((done) => server.close(() => done()));
    };
    return {
        url: `http://127.0.0.1:${port}`,
        host: `127.0.0.1:${port}`,
        requests,
        script: (...next) => {
            script = next;
        },
        answer: (next) => {
            answer = next;
        },
        peak: () => peak,
        close,
        [Symbol.asyncDispose]: close,
    };
}

async function play(reply: FakeReply, path: string, body: FakeRequest["body"], response: ServerResponse): Promise<void> {
    await pause(reply.delay);
    if (response.destroyed) return;
    if (reply.dropAfter === 0) {
        response.destroy();
        return;
    }
    if (reply.status !== undefined) {
        const error = { message: reply.message ?? "no", type: reply.code ?? "error", code: reply.code ?? null, param: reply.param ?? null };
        return json(response, reply.status, path.includes("/messages") ? { type: "error", error } : { error }, reply.headers);
    }
    if (reply.body !== undefined) {
        response.writeHead(200, { "content-type": "application/json", ...reply.headers });
        response.end(reply.body);
        return;
    }
    const stream = body?.stream === true || path.includes("streamGenerateContent");
    const format = path.includes("/messages")
        ? anthropic
        : path.includes("enerateContent")
          ? google
          : path === "/api/chat"
            ? ollama
            : openai;
    if (!stream) return json(response, 200, format.whole(reply, body), reply.headers);
    response.writeHead(200, { "content-type": path === "/api/chat" ? "application/x-ndjson" : "text/event-stream", ...reply.headers });
    let sent = 0;
    for (const event of format.events(reply, body)) {
        if (reply.dropAfter !== undefined && sent >= reply.dropAfter) {
            response.destroy();
            return;
        }
        if (response.destroyed) return;
        response.write(event);
        sent++;
        await pause(reply.pace);
    }
    response.end();
}

function pause(ms: number | undefined): Promise<void> {
    return ms === undefined ? Promise.resolve() : new Promise((done) => setTimeout(done, ms));
}

function json(response: ServerResponse, status: number, body: unknown, headers: { readonly [name: string]: string } = {}): void {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
}

function piecesOf(reply: FakeReply): readonly string[] {
    return reply.chunks ?? (reply.text ?? "").match(/\S+\s*|\s+/g) ?? [];
}

function usageOf(reply: FakeReply): { input: number; output: number; cached: number; reasoning: number } {
    return { input: 10, output: 5, cached: 0, reasoning: 0, ...reply.usage };
}

interface Format {
    whole(reply: FakeReply, body: FakeRequest["body"]): unknown;
    events(reply: FakeReply, body: FakeRequest["body"]): string[];
}

const event = (data: unknown, name?: string): string => `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

const openai: Format = {
    whole: (reply, body) => ({
        id: "c1",
        object: "chat.completion",
        created: 1,
        model: body.model,
        choices: [
            {
                index: 0,
                message: {
                    role: "assistant",
                    content: reply.text ?? (reply.calls === undefined ? "" : null),
                    ...(reply.thinking === undefined ? {} : { reasoning_content: reply.thinking }),
                    ...(reply.calls === undefined ? {} : { tool_calls: reply.calls.map(openaiCall) }),
                },
                finish_reason: openaiFinish(reply),
            },
        ],
        usage: openaiUsage(reply),
    }),
    events: (reply, body) => {
        const head = { id: "c1", object: "chat.completion.chunk", created: 1, model: body.model };
        const chunk = (delta: unknown, finish: string | null = null): string =>
            event({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] });
        return [
            chunk({ role: "assistant", content: "" }),
            ...(reply.thinking === undefined ? [] : [chunk({ reasoning_content: reply.thinking })]),
            ...piecesOf(reply).map((content) => chunk({ content })),
            ...(reply.calls ?? []).map((call, index) => chunk({ tool_calls: [{ index, ...openaiCall(call, index) }] })),
            chunk({}, openaiFinish(reply)),
            event({ ...head, choices: [], usage: openaiUsage(reply) }),
            "data: [DONE]\n\n",
        ];
    },
};

function openaiCall(call: { name: string; args: unknown; id?: string }, at: number): object {
    const args = typeof call.args === "string" ? call.args : JSON.stringify(call.args);
    return { id: call.id ?? `call_${at}`, type: "function", function: { name: call.name, arguments: args } };
}

function openaiFinish(reply: FakeReply): string {
    if (reply.calls !== undefined) return "tool_calls";
    return reply.finish === "refusal" ? "content_filter" : (reply.finish ?? "stop");
}

function openaiUsage(reply: FakeReply): unknown {
    const { input, output, cached, reasoning } = usageOf(reply);
    return {
        prompt_tokens: input,
        completion_tokens: output,
        total_tokens: input + output,
        prompt_tokens_details: { cached_tokens: cached },
        completion_tokens_details: { reasoning_tokens: reasoning },
    };
}

function anthropicStop(reply: FakeReply): string {
    if (reply.calls !== undefined) return "tool_use";
    if (reply.finish === "length") return "max_tokens";
    return reply.finish === "refusal" ? "refusal" : "end_turn";
}

function anthropicUsage(reply: FakeReply): { [name: string]: number } {
    const { input, output, cached } = usageOf(reply);
    return { input_tokens: input - cached, cache_read_input_tokens: cached, cache_creation_input_tokens: 0, output_tokens: output };
}

const anthropic: Format = {
    whole: (reply, body) => ({
        id: "m1",
        type: "message",
        role: "assistant",
        model: body.model,
        content: [
            ...(reply.thinking === undefined ? [] : [{ type: "thinking", thinking: reply.thinking, signature: "sig" }]),
            ...(reply.text === undefined ? [] : [{ type: "text", text: reply.text }]),
            ...(reply.calls ?? []).map((call, at) => ({
                type: "tool_use",
                id: call.id ?? `toolu_${at}`,
                name: call.name,
                input: call.args,
            })),
        ],
        stop_reason: anthropicStop(reply),
        stop_sequence: null,
        usage: anthropicUsage(reply),
    }),
    events: (reply, body) => {
        const out = [
            event(
                {
                    type: "message_start",
                    message: {
                        id: "m1",
                        type: "message",
                        role: "assistant",
                        model: body.model,
                        content: [],
                        stop_reason: null,
                        stop_sequence: null,
                        usage: { ...anthropicUsage(reply), output_tokens: 1 },
                    },
                },
                "message_start",
            ),
        ];
        let index = 0;
        const block = (content_block: unknown, deltas: readonly unknown[]): void => {
            out.push(event({ type: "content_block_start", index, content_block }, "content_block_start"));
            for (const delta of deltas) out.push(event({ type: "content_block_delta", index, delta }, "content_block_delta"));
            out.push(event({ type: "content_block_stop", index }, "content_block_stop"));
            index++;
        };
        if (reply.thinking !== undefined)
            block({ type: "thinking", thinking: "" }, [
                { type: "thinking_delta", thinking: reply.thinking },
                { type: "signature_delta", signature: "sig" },
            ]);
        if (reply.text !== undefined || reply.chunks !== undefined)
            block(
                { type: "text", text: "" },
                piecesOf(reply).map((text) => ({ type: "text_delta", text })),
            );
        for (const [at, call] of (reply.calls ?? []).entries())
            block({ type: "tool_use", id: call.id ?? `toolu_${at}`, name: call.name, input: {} }, [
                { type: "input_json_delta", partial_json: JSON.stringify(call.args) },
            ]);
        const { output_tokens } = anthropicUsage(reply);
        out.push(
            event(
                { type: "message_delta", delta: { stop_reason: anthropicStop(reply), stop_sequence: null }, usage: { output_tokens } },
                "message_delta",
            ),
            event({ type: "message_stop" }, "message_stop"),
        );
        return out;
    },
};

function googleBody(reply: FakeReply, text: string | undefined, last: boolean): unknown {
    const { input, output, cached, reasoning } = usageOf(reply);
    const parts = [
        ...(text === undefined || text === "" ? [] : [{ text }]),
        ...(last ? (reply.calls ?? []).map((call) => ({ functionCall: { name: call.name, args: call.args } })) : []),
    ];
    const finish = reply.finish === "length" ? "MAX_TOKENS" : reply.finish === "refusal" ? "SAFETY" : "STOP";
    return {
        candidates: [{ index: 0, content: { role: "model", parts }, ...(last ? { finishReason: finish } : {}) }],
        usageMetadata: {
            promptTokenCount: input,
            candidatesTokenCount: output - reasoning,
            thoughtsTokenCount: reasoning,
            cachedContentTokenCount: cached,
            totalTokenCount: input + output,
        },
    };
}

const google: Format = {
    whole: (reply) => googleBody(reply, reply.text, true),
    events: (reply) => [...piecesOf(reply).map((text) => event(googleBody(reply, text, false))), event(googleBody(reply, undefined, true))],
};

/** Its own API; the one like OpenAI's is `openai`. */
const ollama: Format = {
    whole: (reply, body) => ollamaLine(reply, body, reply.text ?? "", true),
    events: (reply, body) => [
        ...piecesOf(reply).map((text) => `${JSON.stringify(ollamaLine({}, body, text, false))}\n`),
        `${JSON.stringify(ollamaLine(reply, body, "", true))}\n`,
    ],
};

function ollamaLine({ thinking, calls, finish, usage }: FakeReply, body: FakeRequest["body"], content: string, done: boolean): unknown {
    const { input, output } = usageOf(usage === undefined ? {} : { usage });
    return {
        model: body.model,
        message: {
            role: "assistant",
            content,
            ...(thinking === undefined ? {} : { thinking }),
            ...(calls === undefined ? {} : { tool_calls: calls.map(({ name, args }) => ({ function: { name, arguments: args } })) }),
        },
        done,
        ...(done ? { done_reason: finish ?? "stop", prompt_eval_count: input, eval_count: output } : {}),
    };
}
