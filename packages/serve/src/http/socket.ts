/**
 * All of a client's requests over one WebSocket: the same requests and answers as over HTTP, and the frames of the sessions it listens to.
 *
 * Boundary: from messages to the rows of the routes; there are no checks here that they do not have.
 *
 * WSK1: the first message is `{ "ticket": … }` where no header says who it is (a browser sends none); before it nothing is taken, and what is sent
 *     behind it is taken when it was looked at.
 * WSK3: a client that keeps a token asks the server first who it is (`challenge`), and sends the token on the connection that gave the proof.
 * WSK2: no message ends more than its own connection.
 * WSK4: where a session leaves this process the connection ends, as a stream does: its client comes back, and lends its tools anew.
 */
import type { Hono } from "hono";
import type { WSContext, WSEvents } from "hono/ws";
import type { Context } from "hono";
import type { WebSocket } from "ws";
import { z } from "zod";
import type { Client } from "../access/clients.ts";
import { isRefusal, type Refusal } from "../access/guard.ts";
import type { Server } from "../server.ts";
import { dataText } from "../session/log.ts";
import { isTooDeep } from "../wire/bodies.ts";
import type { Frame } from "../wire/messages.ts";
import { type Env, tooManyStreams } from "./route.ts";

const Message = z.union([
    z.strictObject({ ticket: z.string() }),
    z.strictObject({ challenge: z.string().min(16).max(200) }),
    z.strictObject({ token: z.string().min(1).max(512) }),
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
/** Requests of one connection that are under way. */
const MAX_ASKED = 256;

type Asking = Extract<z.infer<typeof Message>, { id: number }>;

export function socketOf(server: Server, app: Hono<Env>): (c: Context) => Promise<WSEvents> {
    return async (c) => {
        const { headers } = c.req.raw;
        const found = headers.get("authorization") === null ? null : await server.guard.identified(headers, "GET");
        return new Connection(server, app, found === null || isRefusal(found) ? null : found, c.req.raw);
    };
}

class Connection implements WSEvents {
    readonly #server: Server;
    readonly #app: Hono<Env>;
    readonly #request: Request;
    /** Of each request. */
    readonly #place: { readonly origin: string; readonly host: string };
    #client: Client | null;
    readonly #listening = new Map<string, Listening>();
    /** Requests that have no answer yet. */
    #asked = 0;
    /** Ends what waits for an answer when the connection ends. */
    readonly #over = new AbortController();
    #timer: NodeJS.Timeout | undefined;
    /** Resolves when the tickets and tokens that came were looked at. */
    #looking: Promise<void> = Promise.resolve();

    constructor(server: Server, app: Hono<Env>, client: Client | null, request: Request) {
        this.#server = server;
        this.#app = app;
        this.#client = client;
        this.#request = request;
        this.#place = { origin: new URL(request.url).origin, host: request.headers.get("host") ?? "" };
    }

    onOpen = (_: unknown, ws: WSContext): void => {
        if (this.#client === null) this.#timer = setTimeout(() => ws.close(4401, "no ticket"), TICKET_MS);
        else this.#server.sockets?.known(ws.raw as WebSocket);
    };

    onMessage = (event: { readonly data: unknown }, ws: WSContext): void => {
        this.#take(event.data, ws).catch((error: Error) => {
            this.#server.log("error", `a message over a WebSocket: ${error.stack ?? error.message}`);
            ws.close(1011, "the server could not do it; its log says why");
        });
    };

    onClose = (): void => {
        clearTimeout(this.#timer);
        this.#over.abort();
        for (const { end } of this.#listening.values()) end();
        this.#listening.clear();
    };

    async #take(data: unknown, ws: WSContext): Promise<void> {
        const message = read(data);
        if (message === null) {
            ws.close(4400, "no message of this protocol");
            return;
        }
        // WSK1.
        const isSaid = "ticket" in message || "token" in message;
        if (isSaid) this.#looking = this.#looking.then(() => this.#identify(message, ws));
        if (isSaid || this.#client === null) await this.#looking;
        if (isSaid) return;
        if ("challenge" in message) await this.#send(ws, { proof: this.#server.identity().proof(message.challenge, this.#server.port) });
        else if (this.#client !== null && this.#server.isRevoked(this.#client)) ws.close(4401, "the client was revoked");
        else if (this.#client === null) ws.close(4401, "the first message has to be a ticket");
        else if ("listen" in message) await this.#listen(message.listen, message.from ?? 0, this.#client, ws);
        else await this.#ask(message, Buffer.byteLength(data as string), { client: this.#client, ws });
    }

    async #identify(said: { readonly ticket: string } | { readonly token: string }, ws: WSContext): Promise<void> {
        const found =
            this.#client ?? ("ticket" in said ? await this.#server.tickets.takeTicket(said.ticket) : await this.#holder(said.token));
        if (found !== null && !isRefusal(found)) return this.#welcome(found, ws);
        ws.close(4401, "ticket" in said ? "the ticket is wrong, used or too old" : "the token is wrong, or was revoked");
    }

    /** WSK3. */
    #holder(token: string): Promise<Client | Refusal> {
        const headers = new Headers({ authorization: `Bearer ${token}` });
        const origin = this.#request.headers.get("origin");
        if (origin !== null) headers.set("origin", origin);
        return this.#server.guard.identified(headers, "GET");
    }

    async #welcome(client: Client, ws: WSContext): Promise<void> {
        clearTimeout(this.#timer);
        this.#client = client;
        this.#server.sockets?.known(ws.raw as WebSocket);
        await this.#send(ws, { welcome: client.id });
    }

    /** Resolves when it is on its way, so that what one does not read waits where it is counted. */
    #send(ws: WSContext, what: object): Promise<void> {
        return this.#sendText(ws, JSON.stringify(what));
    }

    async #sendText(ws: WSContext, text: string): Promise<void> {
        await this.#server.sockets?.send(ws.raw as WebSocket, text);
    }

    async #ask(message: Asking, bytes: number, { client, ws }: { readonly client: Client; readonly ws: WSContext }): Promise<void> {
        const { id, body } = message;
        const refuse = (status: number, error: object): Promise<void> => this.#send(ws, { id, status, body: { error } });
        if (this.#asked >= MAX_ASKED) {
            const message = `${MAX_ASKED} requests of this connection wait for their answers`;
            return refuse(429, { kind: "too-many", message, hint: "send it again when one of them has come" });
        }
        this.#asked++;
        try {
            const request = this.#requestOf(message);
            if (typeof request === "string") return await refuse(400, { kind: "contract", message: request });
            const response = await this.#app.fetch(request, { client, message: { body, bytes, signal: this.#over.signal } });
            const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
            if (!isJson) await response.body?.cancel();
            await this.#sendText(ws, `{"id":${id},"status":${response.status},"body":${isJson ? await response.text() : "null"}}`);
        } finally {
            this.#asked--;
        }
    }

    /** Without the body, which is read already, and the signal: a connection's would keep each request. A text where it cannot be one. */
    #requestOf({ method, path, headers = {}, body }: Asking): Request | string {
        if (method === "GET" && body !== undefined) return "a GET has no body";
        const key = Object.entries(headers).find(([name]) => name.toLowerCase() === "idempotency-key")?.[1];
        if (key !== undefined && !/^[\x20-\x7e]*$/.test(key)) return "an idempotency key is made of printable ASCII";
        const { origin, host } = this.#place;
        if (!URL.canParse(path, origin)) return "the path is none";
        return new Request(new URL(path, origin), { method, headers: { ...(key === undefined ? {} : { "idempotency-key": key }), host } });
    }

    async #listen(id: string, from: number, client: Client, ws: WSContext): Promise<void> {
        const refuse = (reason: string): Promise<void> => this.#send(ws, { session: id, event: "refused", data: { reason } });
        const session = await this.#server.streamed(id);
        if (session === null || !client.scopes.includes("observe")) return refuse("there is no such session for this client");
        if (this.#listening.has(id)) return;
        const leave = this.#server.allowance.stream(client.id);
        if (leave === null) return refuse(tooManyStreams(this.#server));
        const { listener, calls } = session.listen(client.id, from);
        const end = (): void => {
            if (!this.#listening.delete(id)) return;
            listener.close();
            leave();
            session.gone(client.id);
        };
        this.#listening.set(id, { end });
        listener.cut = () => {
            this.#server.metrics.cut();
            ws.close(4408, "the reader is too far behind");
        };
        const named = JSON.stringify(id);
        let isClosed = false;
        const send = async (frames: readonly Frame[]): Promise<void> => {
            isClosed ||= frames.some(({ event }) => event === "session.closed");
            await Promise.all(frames.map((frame) => this.#sendText(ws, textOf(named, frame))));
        };
        for await (const frames of listener.before) await send(frames);
        await send([{ event: "caught-up", data: {} }, ...calls.map((data) => ({ event: "call", data }))]);
        for (let frames = await listener.take(WAIT_MS); frames !== null; frames = await listener.take(WAIT_MS)) await send(frames);
        end();
        // WSK4.
        if (!isClosed) ws.close(4410, "this process has the session no longer: come back");
    }
}

/** `session`: as JSON. */
function textOf(session: string, frame: Frame): string {
    const seq = frame.seq === undefined ? "" : `"seq":${frame.seq},`;
    return `{"session":${session},${seq}"event":${JSON.stringify(frame.event)},"data":${dataText(frame)}}`;
}

interface Listening {
    end(): void;
}

function read(data: unknown): z.infer<typeof Message> | null {
    if (typeof data !== "string") return null;
    try {
        const json: unknown = JSON.parse(data);
        const read = isTooDeep(json) ? null : Message.safeParse(json);
        return read?.success === true ? read.data : null;
    } catch (error) {
        if (error instanceof SyntaxError) return null;
        throw error;
    }
}
