/**
 * A loopback server that plays the model of the comparison of agents: OpenAI's chat completions, whole or streamed. It answers from what the request
 * holds alone, so it says the same to every framework: ten turns that make ten calls of `book` (two in the first turn), then the last one is text.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const CALLS = 10;
export const TURNS = 10;

interface Sent {
    readonly stream?: boolean;
    readonly messages: readonly { readonly role: string }[];
    readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

export interface AgentStub {
    /** `http://127.0.0.1:PORT/v1`. */
    readonly url: string;
    /** Turns asked for since the last call of this. */
    turns(): number;
    close(): void;
}

export async function agentStub(): Promise<AgentStub> {
    let turns = 0;
    const server = createServer(async (request, response) => {
        let text = "";
        for await (const chunk of request) text += String(chunk);
        if (!request.url?.endsWith("/chat/completions")) return void response.writeHead(404).end("{}");
        turns++;
        answer(JSON.parse(text) as Sent, response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
        turns: () => {
            const asked = turns;
            turns = 0;
            return asked;
        },
        close: () => {
            server.closeAllConnections();
            server.close();
        },
    };
}

function answer({ stream = false, messages, tools = [] }: Sent, response: ServerResponse): void {
    const done = messages.filter(({ role }) => role === "tool").length;
    const name = tools[0]?.function.name ?? "book";
    const made = done === 0 ? [0, 1] : done < CALLS ? [done] : [];
    const calls = made.map((i, index) => ({
        ...{ index, id: `call_${i}`, type: "function" },
        function: { name, arguments: JSON.stringify({ i }) },
    }));
    const said =
        calls.length > 0 ? { role: "assistant", content: null, tool_calls: calls } : { role: "assistant", content: "all are booked" };
    const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
    const common = { id: "chatcmpl-1", created: 1, model: "stub" };
    if (!stream) {
        response.writeHead(200, { "content-type": "application/json" });
        const choices = [{ index: 0, finish_reason, message: said }];
        return void response.end(JSON.stringify({ ...common, object: "chat.completion", choices, usage }));
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (part: object): void =>
        void response.write(`data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", ...part })}\n\n`);
    send({ choices: [{ index: 0, delta: said, finish_reason: null }] });
    send({ choices: [{ index: 0, delta: {}, finish_reason }] });
    send({ choices: [], usage });
    response.end("data: [DONE]\n\n");
}
