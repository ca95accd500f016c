/**
 * WebSockets as connections: how much one may send before it is known, how far one may be behind, and whether its other end is still there.
 *
 * Boundary: frames and bytes (ws). What a message means is `socket.ts`'s.
 *
 * SKS1: before a ticket was taken a connection is read for `MAX_UNKNOWN` bytes, and there are at most so many of them as `unknown` says.
 * SKS2: what waits to be sent to one connection is at most `MAX_WAITING` bytes: the other end does not read, and is cut off.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";

/** Longest message, bytes: a result may hold a screenshot. */
const MAX_MESSAGE = 32 << 20;
/** The request that opens the connection is not counted. */
const MAX_UNKNOWN = 8192;
const MAX_WAITING = 64 << 20;
const GOODBYE_MS = 500;

export interface SocketBounds {
    /** Connections that have not said who they are. */
    readonly unknown: number;
    /** How often the other end is asked whether it is there, milliseconds. */
    readonly heartbeat: number;
}

interface Kept {
    /** It is read on, whatever it sends. */
    known(): void;
    /** Holds back what is written until the end of this turn of the event loop: an answer and what is told after it are one write. */
    gather(): void;
    isAlive: boolean;
}

export class Sockets extends WebSocketServer {
    readonly #bounds: SocketBounds;
    readonly #kept = new Map<WebSocket, Kept>();
    readonly #timer: NodeJS.Timeout;
    #unknown = 0;

    constructor(bounds: SocketBounds) {
        super({ noServer: true, maxPayload: MAX_MESSAGE });
        this.#bounds = bounds;
        this.#timer = setInterval(() => this.#ask(), bounds.heartbeat);
        this.#timer.unref();
        this.on("close", () => clearInterval(this.#timer));
    }

    override handleUpgrade(
        request: IncomingMessage,
        socket: Duplex,
        head: Buffer,
        callback: (client: WebSocket, request: IncomingMessage) => void,
    ): void {
        if (this.#unknown >= this.#bounds.unknown) {
            socket.end("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\nRetry-After: 10\r\n\r\n");
            return;
        }
        super.handleUpgrade(request, socket, head, (client, asked) => {
            this.#keep(client, socket);
            callback(client, asked);
        });
    }

    /** It has said who it is. */
    known(client: WebSocket): void {
        this.#kept.get(client)?.known();
    }

    /** Resolves when the operating system has it, or the connection is gone. What is sent at once is one write. SKS2. */
    send(client: WebSocket, text: string): Promise<void> {
        if (client.bufferedAmount > MAX_WAITING) client.terminate();
        this.#kept.get(client)?.gather();
        return new Promise((resolve) => client.send(text, () => resolve()));
    }

    /** Says goodbye to all, and waits a moment for their answers. */
    async leave(): Promise<void> {
        const all = [...this.clients];
        const gone = Promise.all(all.map((client) => new Promise<void>((resolve) => client.once("close", () => resolve()))));
        for (const client of all) client.close(1012, "the server stops");
        let timer: NodeJS.Timeout | undefined;
        await Promise.race([gone, new Promise((resolve) => (timer = setTimeout(resolve, GOODBYE_MS)))]);
        clearTimeout(timer);
        for (const client of all) client.terminate();
    }

    // SKS1.
    #keep(client: WebSocket, socket: Duplex): void {
        let bytes = 0;
        let isKnown = false;
        this.#unknown++;
        const count = (part: Buffer): void => {
            bytes += part.length;
            if (bytes > MAX_UNKNOWN) client.terminate();
        };
        const known = (): void => {
            if (isKnown) return;
            isKnown = true;
            this.#unknown--;
            socket.off("data", count);
        };
        let gathers = false;
        const gather = (): void => {
            if (gathers) return;
            gathers = true;
            socket.cork();
            setImmediate(() => {
                gathers = false;
                socket.uncork();
            });
        };
        const kept: Kept = { known, gather, isAlive: true };
        socket.on("data", count);
        this.#kept.set(client, kept);
        client.on("pong", () => (kept.isAlive = true));
        // Each is answered by itself.
        client.on("ping", () => {
            kept.isAlive = true;
            if (client.bufferedAmount > MAX_MESSAGE) client.terminate();
        });
        client.once("close", () => {
            known();
            this.#kept.delete(client);
        });
    }

    #ask(): void {
        for (const [client, kept] of this.#kept) {
            if (kept.isAlive) client.ping();
            else client.terminate();
            kept.isAlive = false;
        }
    }
}
