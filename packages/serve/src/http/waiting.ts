/**
 * An answer that takes long, as JSON that is begun at once.
 *
 * Boundary: bytes. What is waited for is the caller's.
 *
 * WTG1: the headers go out before the answer is there, and blanks while it is waited for: clients and proxies give up on a connection that says nothing
 *     for some minutes, and JSON takes blanks before it.
 */
import type { Json } from "@remit/language";

/** Between two blanks, milliseconds. */
const BLANK_MS = 15_000;

/** `gone` is called where the client does not wait any longer. */
export function waitedFor(answer: Promise<Json>, gone: () => void): Response {
    const encoder = new TextEncoder();
    let isBegun = false;
    const stream = new ReadableStream<Uint8Array>(
        {
            pull: async (controller) => {
                let timer: NodeJS.Timeout | undefined;
                const blank = new Promise<null>((resolve) => {
                    timer = setTimeout(() => resolve(null), isBegun ? BLANK_MS : 0);
                });
                isBegun = true;
                const came = await Promise.race([blank, answer.then((value) => ({ value }))]);
                clearTimeout(timer);
                controller.enqueue(encoder.encode(came === null ? " " : JSON.stringify(came.value)));
                if (came !== null) controller.close();
            },
            cancel: gone,
        },
        { highWaterMark: 0 },
    );
    return new Response(stream, {
        headers: { "content-type": "application/json", "cache-control": "no-store", "x-accel-buffering": "no" },
    });
}
