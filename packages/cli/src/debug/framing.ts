/**
 * Messages on a pair of streams: `Content-Length: N`, an empty line, N bytes of JSON (Debug Adapter Protocol, base protocol).
 *
 * Boundary: bytes to JSON and back. Written by hand because the peer is not trusted: what it may make us keep is bounded.
 *
 * FR1: bytes may come cut anywhere. Headers of more than `MAX_HEADER` bytes and messages of more than `MAX_MESSAGE` end the conversation;
 *     each byte is copied a bounded number of times.
 */
export const MAX_HEADER = 8192;
export const MAX_MESSAGE = 16 * 1024 * 1024;

/** Thrown for what follows no rule; the conversation cannot go on, since where the next message begins is not known. */
export class FramingError extends Error {}

export class Messages {
    private head = Buffer.alloc(0);
    private body: Buffer[] = [];
    private missing = -1;
    private readonly take: (text: string) => void;

    /** `take` gets the text of each message. */
    constructor(take: (text: string) => void) {
        this.take = take;
    }

    push(chunk: Buffer): void {
        let rest = chunk;
        while (rest.length > 0) rest = this.missing < 0 ? this.header(rest) : this.content(rest);
    }

    private header(chunk: Buffer): Buffer {
        const before = this.head.length;
        const seen = Buffer.concat([this.head, chunk.subarray(0, MAX_HEADER + 4)]);
        const end = seen.indexOf("\r\n\r\n");
        if (end > MAX_HEADER || (end < 0 && seen.length > MAX_HEADER)) throw new FramingError(`a header has more than ${MAX_HEADER} bytes`);
        if (end < 0) {
            this.head = seen;
            return Buffer.alloc(0);
        }
        this.missing = lengthOf(seen.toString("latin1", 0, end));
        this.head = Buffer.alloc(0);
        const rest = chunk.subarray(end + 4 - before);
        if (this.missing === 0) this.missing = -1;
        return rest;
    }

    private content(chunk: Buffer): Buffer {
        const part = chunk.subarray(0, this.missing);
        this.body.push(part);
        this.missing -= part.length;
        if (this.missing === 0) {
            const text = Buffer.concat(this.body).toString("utf8");
            this.body = [];
            this.missing = -1;
            this.take(text);
        }
        return chunk.subarray(part.length);
    }
}

function lengthOf(header: string): number {
    for (const line of header.split("\r\n")) {
        const found = /^content-length:[ \t]*(\d{1,15})[ \t]*$/i.exec(line);
        if (found === null) continue;
        const length = Number(found[1]);
        if (length > MAX_MESSAGE) throw new FramingError(`a message has ${length} bytes, more than ${MAX_MESSAGE}`);
        return length;
    }
    throw new FramingError("a header has no Content-Length");
}

export function framed(message: unknown): Buffer {
    const body = Buffer.from(JSON.stringify(message), "utf8");
    return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`, "latin1"), body]);
}
