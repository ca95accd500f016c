/**
 * A run's events as a stream of server-sent events, from the ledger itself: also of a run in another process.
 *
 * Boundary: from a store to bytes. Nothing is kept for a reader: one that is slow reads later.
 */
import { follow, type LedgerStore } from "@remit/host";
import type { LedgerEvent } from "@remit/machine";

/** A comment is sent when nothing else was for this long, milliseconds. */
const HEARTBEAT_MS = 15_000;

/** `after`: number of the last event that the reader has. Ends with `event: ended` when the run ends, waits for a person, or is interrupted. */
export function runStream(store: LedgerStore, run: string, after: number, signal: AbortSignal): Response {
    const over = new AbortController();
    const stop = (): void => over.abort();
    signal.addEventListener("abort", stop, { once: true });
    const events = follow(store, run, { from: after + 1, signal: over.signal });
    const encoder = new TextEncoder();
    let next: Promise<IteratorResult<LedgerEvent>> | null = null;
    let begun = false;
    const stream = new ReadableStream<Uint8Array>(
        {
            pull: async (controller) => {
                if (!begun) {
                    begun = true;
                    // The headers go out with it.
                    controller.enqueue(encoder.encode("retry: 1000\n\n"));
                    return;
                }
                next ??= events.next();
                const came = await within(next, HEARTBEAT_MS);
                if (came === undefined) {
                    controller.enqueue(encoder.encode(":\n\n"));
                    return;
                }
                next = null;
                if (came.done !== true) {
                    controller.enqueue(encoder.encode(`id: ${came.value.seq}\ndata: ${JSON.stringify(came.value)}\n\n`));
                    return;
                }
                if (!over.signal.aborted) {
                    const { status, live } = await store.run(run);
                    controller.enqueue(encoder.encode(`event: ended\ndata: ${JSON.stringify({ status, live })}\n\n`));
                }
                controller.close();
            },
            cancel: stop,
        },
        { highWaterMark: 0 },
    );
    return new Response(stream, {
        headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
    });
}

/** Undefined where it takes longer. */
export async function within<T>(what: Promise<T>, ms: number): Promise<T | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
        timer = setTimeout(() => resolve(undefined), ms);
    });
    try {
        return await Promise.race([what, late]);
    } finally {
        clearTimeout(timer);
    }
}
