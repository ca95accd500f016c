/**
 * A session's events as a stream of server-sent events (HTML Living Standard 9.2).
 *
 * Boundary: from a listener to bytes. Nothing is kept for a reader but what its listener keeps (SLG2).
 */
import type { Writable } from "node:stream";
import { dataText } from "../session/log.ts";
import type { Streamed } from "../team/streams.ts";
import type { Frame } from "../wire/messages.ts";

/** A comment is sent when nothing else was for this long, milliseconds. */
const HEARTBEAT_MS = 15_000;

export interface Reader {
    /** Id of the client. */
    readonly client: string;
    /** Number of the last event that it has. */
    readonly after: number;
    /** Ends when it is gone. */
    readonly signal: AbortSignal;
    /** It is over, once or more often. */
    leave(): void;
    /** Ends its connection: one that does not read hears no end either. */
    drop(): void;
    /** Its connection as Node has it, where it has one. */
    readonly outgoing: Writable | undefined;
}

export function eventStream(session: Streamed, { client, after, signal, leave: left, drop, outgoing }: Reader): Response {
    const { listener, calls } = session.listen(client, after);
    let gone = false;
    const leave = (): void => {
        listener.close();
        left();
        if (!gone) session.gone(client);
        gone = true;
    };
    signal.addEventListener("abort", leave, { once: true });
    listener.cut = () => {
        leave();
        drop();
    };
    const before = listener.before[Symbol.asyncIterator]();
    let stage = 0;
    let seq = after;
    const stream = new ReadableStream<Uint8Array>(
        {
            pull: async (controller) => {
                if (stage === 0) {
                    stage = 1;
                    // The headers go out with it.
                    controller.enqueue(encoder.encode("retry: 1000\n\n"));
                    return;
                }
                if (stage === 1) {
                    const page = await before.next();
                    if (page.done !== true) {
                        seq = page.value.at(-1)?.seq ?? seq;
                        controller.enqueue(bytesOf(page.value));
                        return;
                    }
                    stage = 2;
                    const caughtUp: Frame = { event: "caught-up", data: { seq } };
                    const open = calls.map((data): Frame => ({ event: "call", data }));
                    controller.enqueue(bytesOf([caughtUp, ...open]));
                    return;
                }
                for (let frames = await listener.take(HEARTBEAT_MS); frames !== null; frames = await listener.take(HEARTBEAT_MS)) {
                    const bytes = bytesOf(frames);
                    if (outgoing === undefined) {
                        controller.enqueue(bytes);
                        return;
                    }
                    if (outgoing.destroyed) break;
                    // What was before has gone through the stream. To write the rest past it halves what a reader costs.
                    if (!outgoing.write(bytes)) await drained(outgoing);
                }
                leave();
                controller.close();
            },
            cancel: leave,
        },
        { highWaterMark: 0 },
    );
    return new Response(stream, {
        headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
    });
}

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(":\n\n");
let last: { readonly frames: readonly Frame[]; readonly bytes: Uint8Array } = { frames: [], bytes: HEARTBEAT };
/** Made once for all readers of a session: they take the same list, one right after the other. */
function bytesOf(frames: readonly Frame[]): Uint8Array {
    if (frames.length === 0) return HEARTBEAT;
    if (last.frames !== frames) last = { frames, bytes: encoder.encode(frames.map(lineOf).join("")) };
    return last.bytes;
}

/** Resolves when it takes more, or is closed. */
function drained(outgoing: Writable): Promise<void> {
    return new Promise((resolve) => {
        const done = (): void => {
            outgoing.off("drain", done);
            outgoing.off("close", done);
            resolve();
        };
        outgoing.on("drain", done);
        outgoing.on("close", done);
    });
}

function lineOf(frame: Frame): string {
    const { seq, event } = frame;
    return `${seq === undefined ? "" : `id: ${seq}\n`}event: ${event}\ndata: ${dataText(frame)}\n\n`;
}

/** What the reader has: `Last-Event-ID`, else `?from=`. Null where that is no number. */
export function cursorOf(header: string | undefined, query: string | undefined): number | null {
    const said = header ?? query;
    if (said === undefined || said === "") return 0;
    return /^\d{1,15}$/.test(said) ? Number(said) : null;
}
