/**
 * The worst-case model behind a loopback server that speaks the wire of OpenAI's chat completions, whole and streamed. Its models are the tasks.
 *
 * V1: it keeps nothing between requests but the faults of scripts, which fail the benchmark.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Task } from "./kit.ts";
import { type Reply, reply, type WireRequest } from "./model.ts";
import type { AnyWorld } from "./worlds/all.ts";

export interface ModelServer {
    /** `http://127.0.0.1:PORT/v1`. */
    readonly base: string;
    readonly faults: readonly string[];
    close(): Promise<void>;
}

/** What the model says to a request; the fixed attackers' one unless another is given. */
export type Model = (body: WireRequest, task: Task<unknown>, world: AnyWorld) => Reply;

const fixed: Model = (body, task, world) => reply(body, task, world.goals);

export async function serveModel(worlds: readonly AnyWorld[], model: Model = fixed): Promise<ModelServer> {
    const faults: string[] = [];
    const server = createServer(async (request, response) => {
        let text = "";
        for await (const chunk of request) text += String(chunk);
        try {
            const body = JSON.parse(text) as WireRequest;
            const world = worlds.find((one) => one.tasks.some((task) => task.id === body.model));
            const task = world?.tasks.find((one) => one.id === body.model);
            if (world === undefined || task === undefined) throw new Error(`no task ${body.model}`);
            send(response, body, model(body, task, world));
        } catch (error) {
            const message = error instanceof Error ? error.message : String(error);
            faults.push(message);
            response.writeHead(400, { "content-type": "application/json" });
            response.end(JSON.stringify({ error: { message, type: "script", code: null } }));
        }
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    return {
        base: `http://127.0.0.1:${port}/v1`,
        faults,
        close: async () => {
            server.closeAllConnections();
            await new Promise<void>((done) => server.close(() => done()));
        },
    };
}

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

function send(response: ServerResponse, body: WireRequest, said: Reply): void {
    const turn = body.messages.length;
    const content = "text" in said ? said.text : null;
    const calls =
        "calls" in said
            ? said.calls.map((call, index) => ({
                  index,
                  id: `call_${turn}_${index}`,
                  type: "function",
                  function: { name: call.name, arguments: JSON.stringify(call.args) },
              }))
            : undefined;
    const finish = calls === undefined ? "stop" : "tool_calls";
    const message = { role: "assistant", content, ...(calls === undefined ? {} : { tool_calls: calls }) };
    const head = { id: "c", created: 1, model: body.model };
    if (body.stream !== true) {
        response.writeHead(200, { "content-type": "application/json" });
        const choices = [{ index: 0, message, finish_reason: finish }];
        response.end(JSON.stringify({ ...head, object: "chat.completion", choices, usage: USAGE }));
        return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const event = (delta: object, finish_reason: string | null, more: object = {}): void => {
        const choices = [{ index: 0, delta, finish_reason }];
        response.write(`data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices, ...more })}\n\n`);
    };
    event(message, null);
    event({}, finish, { usage: USAGE });
    response.end("data: [DONE]\n\n");
}
