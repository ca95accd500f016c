/**
 * WebSockets of a server (RFC 6455), as far as the SDK's own server needs them from Node: the handshake, text in whole frames, pings and the close.
 * The SDK speaks the protocol; this carries its text.
 */
import { createHash } from "node:crypto";
import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

/** RFC 6455, 1.3. */
const MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;
const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

export class Socket extends EventEmitter {
    readyState = OPEN;
    readonly #stream: Duplex;
    #rest = Buffer.alloc(0);

    constructor(stream: Duplex) {
        super();
        this.#stream = stream;
        stream.on("data", (piece: Buffer) => this.#take(piece));
        // Whoever does not listen any more has closed it.
        stream.on("error", (error) => void (this.listenerCount("error") > 0 && this.emit("error", error)));
        stream.on("close", () => this.#over());
    }
    send(text: string): void {
        this.#frame(TEXT, Buffer.from(text));
    }
    close(code = 1000): void {
        if (this.readyState !== OPEN) return;
        const reason = Buffer.alloc(2);
        reason.writeUInt16BE(code);
        this.#frame(CLOSE, reason);
        this.readyState = CLOSING;
        this.#stream.end();
    }
    #over(): void {
        if (this.readyState === CLOSED) return;
        this.readyState = CLOSED;
        this.emit("close");
    }
    /** A server's frames are not masked. */
    #frame(kind: number, data: Buffer): void {
        if (this.#stream.writableEnded || this.#stream.destroyed) return;
        const long = data.length > 125;
        const head = Buffer.alloc(long ? 10 : 2);
        head[0] = 0x80 | kind;
        head[1] = long ? 127 : data.length;
        if (long) head.writeBigUInt64BE(BigInt(data.length), 2);
        this.#stream.write(Buffer.concat([head, data]));
    }
    #take(piece: Buffer): void {
        this.#rest = Buffer.concat([this.#rest, piece]);
        for (;;) {
            const frame = frameOf(this.#rest);
            if (frame === null) return;
            this.#rest = this.#rest.subarray(frame.length);
            if (frame.kind === TEXT) this.emit("message", frame.data, false);
            if (frame.kind === PING) this.#frame(PONG, frame.data);
            if (frame.kind === CLOSE) {
                this.close();
                return;
            }
        }
    }
}

/** The first frame of what came, unmasked; null where it is not all there. */
function frameOf(bytes: Buffer): { readonly kind: number; readonly data: Buffer; readonly length: number } | null {
    if (bytes.length < 6) return null;
    const short = (bytes[1] as number) & 0x7f;
    const from = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (bytes.length < from + 4) return null;
    const size = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
    const length = from + 4 + size;
    if (bytes.length < length) return null;
    const mask = bytes.subarray(from, from + 4);
    const data = Buffer.from(bytes.subarray(from + 4, length)).map((byte, i) => byte ^ (mask[i % 4] as number));
    return { kind: (bytes[0] as number) & 0x0f, data: Buffer.from(data), length };
}

/** What the SDK's adapter upgrades connections with. */
export class Upgrades extends EventEmitter<{ headers: [headers: string[], request: IncomingMessage] }> {
    handleUpgrade(request: IncomingMessage, stream: Duplex, _head: Buffer, done: (socket: Socket) => void): void {
        const key = createHash("sha1")
            .update(`${String(request.headers["sec-websocket-key"])}${MAGIC}`)
            .digest("base64");
        const headers = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade", `Sec-WebSocket-Accept: ${key}`];
        this.emit("headers", headers, request);
        stream.write(`${headers.join("\r\n")}\r\n\r\n`);
        done(new Socket(stream));
    }
}
