/**
 * Sessions of clients of the earlier era over HTTP. What such a client says of itself when it begins a session holds for its later requests, so its
 * person can be asked.
 *
 * Boundary: from a request to the transport of its session; who may send one is `http.ts`'s. A client that begins no session is served without.
 *
 * MCX1: a session ends when its client ends it, `IDLE_MS` after its last request where none is under way, or with the server. What runs in it is then
 *     stopped where it stands.
 * MCX2: the id of a session is the right to it: 122 random bits.
 * MCX3: at most `MAX_SESSIONS` are open or begin. For a further one the session ends that has waited the longest; where each has a request under way, it
 *     is refused. What begins and is refused by the protocol's handler is closed.
 */
import { randomUUID } from "node:crypto";
import {
    isInitializeRequest,
    isJSONRPCErrorResponse,
    isJSONRPCRequest,
    isJSONRPCResultResponse,
    isLegacyRequest,
    isSpecType,
    type JSONRPCMessage,
    type McpServerFactory,
    type RequestId,
    WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";

/** How long a session stays without a request, milliseconds. */
const IDLE_MS = 60 * 60_000;
const MAX_SESSIONS = 256;

interface Session {
    readonly transport: Transport;
    readonly late: NodeJS.Timeout;
    close(): Promise<void>;
}

/** It knows which requests have no answer yet. */
class Transport extends WebStandardStreamableHTTPServerTransport {
    readonly open = new Set<RequestId>();

    override async send(...[message, options]: Parameters<WebStandardStreamableHTTPServerTransport["send"]>): Promise<void> {
        const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
        if (isAnswer && message.id !== undefined) this.open.delete(message.id);
        await super.send(message, options);
    }

    /** After the server has connected. */
    listen(): void {
        const { onmessage } = this;
        this.onmessage = (message: JSONRPCMessage, extra) => {
            if (isJSONRPCRequest(message)) this.open.add(message.id);
            // A request that its client cancels gets no answer.
            const cancelled = isSpecType.CancelledNotification(message) ? message.params.requestId : undefined;
            if (cancelled !== undefined) this.open.delete(cancelled);
            onmessage?.(message, extra);
        };
    }
}

export class Sessions {
    readonly #factory: McpServerFactory;
    /** The one that has waited the longest comes first. */
    readonly #live = new Map<string, Session>();
    readonly #most: number;
    /** Requests whose session begins, and is not live yet. */
    readonly #opening = new Set<Request>();

    constructor(factory: McpServerFactory, most = MAX_SESSIONS) {
        this.#factory = factory;
        this.#most = most;
    }

    /** Null: the request belongs to no session, and begins none. */
    async answered(request: Request): Promise<Response | null> {
        const id = request.headers.get("mcp-session-id");
        if (request.method === "POST" && !(await isLegacyRequest(request))) return null;
        if (id !== null) {
            const session = this.#live.get(id);
            if (session === undefined) return refused(404, -32001, "there is no such session: begin one");
            this.#live.delete(id);
            this.#live.set(id, session);
            session.late.refresh();
            return session.transport.handleRequest(request);
        }
        if (request.method !== "POST" || !isInitializeRequest(await bodyOf(request))) return null;
        // MCX3.
        const isFull = this.#live.size + this.#opening.size >= this.#most;
        const idle = isFull ? [...this.#live.values()].find(({ transport }) => transport.open.size === 0) : undefined;
        if (isFull && idle === undefined) return refused(503, -32000, "too many sessions are under way; try again later");
        return this.#begin(request, idle);
    }

    async close(): Promise<void> {
        for (const session of [...this.#live.values()]) await session.close();
    }

    /** In place of `idle`. Both are counted before anything is waited for. */
    async #begin(request: Request, idle: Session | undefined): Promise<Response> {
        this.#opening.add(request);
        try {
            await idle?.close();
            const server = await this.#factory({ era: "legacy", requestInfo: request });
            let isLive = false;
            try {
                const transport = await this.#connected(server, () => {
                    isLive = true;
                    this.#opening.delete(request);
                });
                return await transport.handleRequest(request);
            } finally {
                if (!isLive) await server.close();
            }
        } finally {
            this.#opening.delete(request);
        }
    }

    async #connected(server: Awaited<ReturnType<McpServerFactory>>, isLive: () => void): Promise<Transport> {
        const transport = new Transport({
            sessionIdGenerator: randomUUID,
            onsessioninitialized: (id) => {
                const late = setTimeout(() => {
                    // MCX1.
                    if (transport.open.size > 0) late.refresh();
                    else void session.close();
                }, IDLE_MS).unref();
                const session: Session = {
                    ...{ transport, late },
                    close: () => {
                        clearTimeout(late);
                        this.#live.delete(id);
                        return server.close();
                    },
                };
                this.#live.set(id, session);
                isLive();
            },
            onsessionclosed: (id) => this.#live.get(id)?.close(),
        });
        await server.connect(transport);
        transport.listen();
        return transport;
    }
}

/** A copy: the transport reads the request itself. Its size was bounded by `isLegacyRequest`. */
async function bodyOf(request: Request): Promise<unknown> {
    try {
        return await request.clone().json();
    } catch (error) {
        // The protocol's own handler says so.
        if (error instanceof SyntaxError) return null;
        throw error;
    }
}

function refused(status: number, code: number, message: string): Response {
    return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status });
}
