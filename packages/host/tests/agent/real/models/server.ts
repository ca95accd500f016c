/**
 * A model of loopback: an HTTP server that speaks the four wires and answers by rule. It plays the model, and nothing else is played.
 *
 * Boundary: knows no agent. A rule is looked up by what the user's last message contains; what it says next depends on how many tool results
 * came since. A request that offers no tools (a title, a summary, a memory) or that no rule fits gets a harmless text.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropic } from "./anthropic.ts";
import { chat } from "./chat.ts";
import { gemini } from "./gemini.ts";
import { responses } from "./responses.ts";
import { type Body, type Heard, isObject, type Said, USAGE } from "./wire.ts";

const WIRES = [chat, responses, anthropic, gemini];

export interface Rule {
    /** Text that the user's last message contains. */
    readonly when: string;
    /** What the model says to it: first before any tool result, then after one, and so on; the last is said again. */
    readonly say: readonly Said[] | ((heard: Heard) => Said);
}

export interface ModelServer {
    /** Without a path: `http://127.0.0.1:PORT`. */
    readonly url: string;
    /** Every request to a model, in order. */
    readonly heard: readonly Heard[];
    /** Requests that are none of any wire (`GET /v1/models`, telemetry), as `METHOD path`. */
    readonly strays: readonly string[];
    /** Resolves at the first request, past or future, that fits. */
    until(fits: (heard: Heard) => boolean): Promise<Heard>;
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

export const HARMLESS = "Nothing to add.";

export async function modelServer(rules: readonly Rule[]): Promise<ModelServer> {
    const heard: Heard[] = [];
    const strays: string[] = [];
    const waiting = new Set<() => void>();
    const open = new Set<ServerResponse>();
    let count = 0;

    const say = (request: Heard): Said => {
        const rule = request.tools.length === 0 ? undefined : rules.find((one) => request.user.includes(one.when));
        if (rule === undefined) return { text: HARMLESS };
        if (typeof rule.say === "function") return rule.say(request);
        return rule.say[Math.min(request.results.length, rule.say.length - 1)] ?? { text: HARMLESS };
    };
    const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
        const path = request.url ?? "";
        const body = await bodyOf(request);
        const wire = WIRES.find((one) => body !== null && one.hear(path, body) !== null);
        const one = wire === undefined || body === null ? null : wire.hear(path, body);
        if (wire === undefined || one === null) {
            strays.push(`${request.method} ${path}`);
            // counting tokens is asked of some models before a turn
            if (/count_?tokens/i.test(path)) return json(response, 200, { input_tokens: USAGE.input, totalTokens: USAGE.input });
            return json(response, 404, { error: { message: "there is no such thing here", type: "not_found" } });
        }
        heard.push(one);
        for (const look of [...waiting]) look();
        const said = say(one);
        const id = String(++count);
        if (!one.stream) return "hang" in said ? void open.add(response) : json(response, 200, wire.whole(said, id, one.model));
        response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
        for (const { event, data } of wire.events(said, id, one.model)) {
            response.write(`${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
        }
        if ("hang" in said) open.add(response);
        else response.end(wire.end);
    };

    const server = createServer((request, response) => {
        serve(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const close = async (): Promise<void> => {
        for (const one of open) one.destroy();
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
    };
    return {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        heard,
        strays,
        until: (fits) =>
            new Promise((resolve) => {
                const look = (): void => {
                    const found = heard.find(fits);
                    if (found === undefined) return;
                    waiting.delete(look);
                    resolve(found);
                };
                waiting.add(look);
                look();
            }),
        close,
        [Symbol.asyncDispose]: close,
    };
}

function json(response: ServerResponse, status: number, value: unknown): void {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(value));
}

/** Null where the body is no JSON object. */
async function bodyOf(request: IncomingMessage): Promise<Body | null> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    try {
        const value: unknown = JSON.parse(Buffer.concat(pieces).toString("utf8"));
        return isObject(value) ? value : null;
    } catch (error) {
        if (error instanceof SyntaxError) return null;
        throw error;
    }
}
