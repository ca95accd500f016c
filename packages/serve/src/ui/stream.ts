/**
 * Chunks as a page gets them: server-sent events as the AI SDK reads them; and a run of the library as chunks.
 *
 * Boundary: from chunks to bytes, and from a run's handle to chunks.
 */
import { isObject, type Json } from "@remit/language";
import type { Handlers, RunHandle } from "@remit/host";
import { within } from "../runs/stream.ts";
import { type UiChunk, UiMessage } from "./message.ts";

/** A comment is sent when nothing else was for this long, milliseconds. */
const HEARTBEAT_MS = 15_000;

/** Headers by which the AI SDK knows the stream. */
export const UI_HEADERS = {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
    "x-vercel-ai-ui-message-stream": "v1",
} as const;

/** The response of a route. A page that goes away ends the reading, not the run. `over`: called when nothing is read any more. */
export function uiResponse(chunks: AsyncIterable<UiChunk>, over: () => void = () => undefined): Response {
    const encoder = new TextEncoder();
    const reading = chunks[Symbol.asyncIterator]();
    let next: Promise<IteratorResult<UiChunk>> | null = null;
    const stream = new ReadableStream<Uint8Array>(
        {
            pull: async (controller) => {
                next ??= reading.next();
                const came = await within(next, HEARTBEAT_MS);
                if (came === undefined) {
                    controller.enqueue(encoder.encode(":\n\n"));
                    return;
                }
                next = null;
                controller.enqueue(encoder.encode(`data: ${came.done === true ? "[DONE]" : JSON.stringify(came.value)}\n\n`));
                if (came.done !== true) return;
                over();
                controller.close();
            },
            cancel: async () => {
                over();
                await reading.return?.();
            },
        },
        { highWaterMark: 0 },
    );
    return new Response(stream, { headers: UI_HEADERS });
}

/**
 * A run as chunks. `begin` gets the handlers that it passes to the run as `on`: `uiMessages((on) => program.run(input, { on }))`. A question is a
 * chunk; the caller answers it by `on.ask`.
 */
export async function* uiMessages(begin: (on: Pick<Handlers, "event" | "part">) => RunHandle<Json>): AsyncGenerator<UiChunk> {
    const message = new UiMessage();
    const queue: UiChunk[] = [];
    let wake = (): void => undefined;
    const put = (chunks: readonly UiChunk[]): void => {
        queue.push(...chunks);
        wake();
    };
    let origins: readonly string[] = [];
    const handle = begin({
        part: (path, part) => put(message.part(path, part)),
        event: (event) => {
            const data = isObject(event.data) ? event.data : {};
            const id = event.path;
            if (event.kind === "run.ended" && id === "main") origins = event.labels;
            // a question about what an agent does with its own hands stands in its request, and the answer is its value
            const { question, detail } = isObject(data["request"]) ? data["request"] : data;
            if (event.kind === "ask.requested" && detail !== undefined)
                put(message.ask({ id, path: id, question: String(question), detail }));
            else if (event.kind === "ask.decided") put(message.decided(id, String(data["decision"] ?? data["value"])));
            else put(message.event(event));
        },
    });
    yield { type: "start", messageId: handle.id, messageMetadata: { run: handle.id } };
    yield { type: "start-step" };
    let over = false;
    const ended = handle.result.then((result) => {
        const status = result.ok ? "done" : result.failure?.kind === "cancelled" ? "cancelled" : result.status;
        const { value, failure } = result;
        put(message.end({ status, origins, ...(value === undefined ? {} : { value }), ...(failure === undefined ? {} : { failure }) }));
    });
    const closed = ended.finally(() => {
        over = true;
        wake();
    });
    // what goes wrong is thrown below, when all that came before was told
    closed.catch(() => undefined);
    for (;;) {
        yield* queue.splice(0);
        if (over && queue.length === 0) break;
        if (queue.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    }
    await closed;
}
