/**
 * A session's events as a stream of server-sent events (HTML Living Standard 9.2).
 *
 * Boundary: from a listener to bytes. Nothing is kept for a reader but what its listener keeps (SLG2).
 */
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
}

export function eventStream(session: Streamed, { client, after, signal, leave: left, drop }: Reader): Response {
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
    const encoder = new TextEncoder();
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
                        controller.enqueue(encoder.encode(page.value.map(lineOf).join("")));
                        return;
                    }
                    stage = 2;
                    const caughtUp: Frame = { event: "caught-up", data: { seq } };
                    const open = calls.map((data): Frame => ({ event: "call", data }));
                    controller.enqueue(encoder.encode([caughtUp, ...open].map(lineOf).join("")));
                    return;
                }
                const frames = await listener.take(HEARTBEAT_MS);
                if (frames === null) {
                    leave();
                    controller.close();
                } else controller.enqueue(encoder.encode(frames.length === 0 ? ":\n\n" : frames.map(lineOf).join("")));
            },
            cancel: leave,
        },
        { highWaterMark: 0 },
    );
    return new Response(stream, {
        headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
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
