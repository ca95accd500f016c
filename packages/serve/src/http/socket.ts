/**
 * All of a client's requests over one WebSocket: the same requests and answers as over HTTP, and the frames of the sessions it listens to.
 *
 * Boundary: from messages to the rows of the routes; there are no checks here that they do not have.
 *
 * WSK1: the first message is `{ "ticket": … }` where no header says who it is (a browser sends none); before it nothing is taken.
 */
import type { Hono } from "hono";
import type { WSContext, WSEvents } from "hono/ws";
import type { Context } from "hono";
import { z } from "zod";
import type { Client } from "../access/clients.ts";
import { isRefusal } from "../access/guard.ts";
import type { Server } from "../server.ts";
import type { Listener } from "../session/log.ts";
import type { Env } from "./route.ts";

const Message = z.union([
    z.strictObject({ ticket: z.string() }),
    z.strictObject({
        /** Of the request; its answer has the same. */
        id: z.int(),
        method: z.enum(["GET", "POST", "PUT", "DELETE"]),
        path: z.string().startsWith("/v1/"),
        headers: z.record(z.string(), z.string()).optional(),
        body: z.unknown().optional(),
    }),
    z.strictObject({ listen: z.string(), from: z.int().nonnegative().optional() }),
]);

/** Longest wait for the first message, milliseconds. */
const TICKET_MS = 10_000;
const WAIT_MS = 30_000;

export function socketOf(server: Server, app: Hono<Env>): (c: Context) => WSEvents {
    return (c) => {
        const { headers } = c.req.raw;
        const found = headers.get("authorization") === null ? null : server.guard.client(headers, "GET");
        return new Connection(server, app, found === null || isRefusal(found) ? null : found, c.req.raw);
    };
}

class Connection implements WSEvents {
    readonly #server: Server;
    readonly #app: Hono<Env>;
    readonly #request: Request;
    #client: Client | null;
    readonly #listening = new Map<string, Listener>();
    #timer: NodeJS.Timeout | undefined;

    constructor(server: Server, app: Hono<Env>, client: Client | null, request: Request) {
        this.#server = server;
        this.#app = app;
        this.#client = client;
        this.#request = request;
    }

    onOpen = (_: unknown, ws: WSContext): void => {
        if (this.#client === null) this.#timer = setTimeout(() => ws.close(4401, "no ticket"), TICKET_MS);
    };

    onMessage = (event: { readonly data: unknown }, ws: WSContext): void => {
        void this.#take(event.data, ws);
    };

    onClose = (): void => {
        clearTimeout(this.#timer);
        for (const [id, listener] of this.#listening) {
            listener.close();
            this.#server.sessions.get(id)?.gone((this.#client as Client).id);
        }
        this.#listening.clear();
    };

    async #take(data: unknown, ws: WSContext): Promise<void> {
        const message = read(data);
        if (message === null) {
            ws.close(4400, "no message of this protocol");
            return;
        }
        if ("ticket" in message) {
            const client = this.#client ?? this.#server.tickets.take(message.ticket);
            if (client === null || client === "locked") {
                ws.close(4401, "the ticket is wrong, used or too old");
                return;
            }
            clearTimeout(this.#timer);
            this.#client = client;
            ws.send(JSON.stringify({ welcome: client.id }));
        } else if (this.#client !== null && this.#server.isRevoked(this.#client)) ws.close(4401, "the client was revoked");
        else if (this.#client === null) ws.close(4401, "the first message has to be a ticket");
        else if ("listen" in message) void this.#listen(message.listen, message.from ?? 0, this.#client, ws);
        else await this.#ask(message, this.#client, ws);
    }

    async #ask(message: Extract<z.infer<typeof Message>, { id: number }>, client: Client, ws: WSContext): Promise<void> {
        const { id, method, path, headers = {}, body } = message;
        const { origin } = new URL(this.#request.url);
        const allowed = Object.entries(headers).filter(([name]) => name.toLowerCase() === "idempotency-key");
        const host = this.#request.headers.get("host") ?? "";
        const request = new Request(new URL(path, origin), {
            method,
            headers: { ...Object.fromEntries(allowed), host, "content-type": "application/json" },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const response = await this.#app.fetch(request, { client });
        const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
        if (!isJson) await response.body?.cancel();
        ws.send(JSON.stringify({ id, status: response.status, body: isJson ? await response.json() : null }));
    }

    async #listen(id: string, from: number, client: Client, ws: WSContext): Promise<void> {
        const session = this.#server.sessions.get(id);
        if (session === undefined || !client.scopes.includes("observe")) {
            ws.send(JSON.stringify({ session: id, event: "refused", data: { reason: "there is no such session for this client" } }));
            return;
        }
        if (this.#listening.has(id)) return;
        const { listener, calls } = session.listen(client.id, from);
        this.#listening.set(id, listener);
        listener.cut = () => ws.close(4408, "the reader is too far behind");
        const send = (frame: object): void => ws.send(JSON.stringify({ session: id, ...frame }));
        for (const frame of await listener.before) send(frame);
        send({ event: "caught-up", data: {} });
        for (const data of calls) send({ event: "call", data });
        for (;;) {
            const frames = await listener.take(WAIT_MS);
            if (frames === null) return;
            for (const frame of frames) send(frame);
        }
    }
}

function read(data: unknown): z.infer<typeof Message> | null {
    if (typeof data !== "string") return null;
    try {
        const read = Message.safeParse(JSON.parse(data));
        return read.success ? read.data : null;
    } catch (error) {
        if (error instanceof SyntaxError) return null;
        throw error;
    }
}
