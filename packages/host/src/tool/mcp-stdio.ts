/**
 * Messages of the Model Context Protocol over the standard input and output of a process of ours, a line each.
 *
 * Boundary: the library reads and writes the messages. The library's own transport starts the process by itself, outside of any group, so it is used
 * on Windows alone, where there are no groups and where it finds commands such as `npx.cmd`.
 */
import type { Transport } from "@modelcontextprotocol/client";
import type { Begin, Children } from "../process/child.ts";
import { MAX_STDERR, type Running, start } from "../process/piped.ts";

export interface StdioTransport extends Transport {
    /** The last that the server wrote to its standard error. The library takes a transport with `stderr` and `pid` for one to a process. */
    stderr(): string;
    readonly pid: number | null;
}

/** Time for a server to end when its input has ended, and again when it is asked, milliseconds. */
const GRACE_MS = 2000;

export async function stdioTransport(children: Children, begin: Begin, maxMessage: number): Promise<StdioTransport> {
    if (process.platform === "win32") return ofLibrary(begin, maxMessage);
    const { ReadBuffer, SdkError, SdkErrorCode, serializeMessage } = await import("@modelcontextprotocol/client");
    const buffer = new ReadBuffer({ maxBufferSize: maxMessage });
    let running: Running | null = null;
    const failed = (error: unknown): void => transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
    const take = (chunk: Buffer): void => {
        try {
            buffer.append(chunk);
        } catch (error) {
            // The message is too large.
            failed(error);
            void transport.close();
            return;
        }
        for (;;) {
            try {
                const message = buffer.readMessage();
                if (message === null) return;
                transport.onmessage?.(message);
            } catch (error) {
                // The buffer is past the line that is no message.
                failed(error);
            }
        }
    };
    const transport: StdioTransport = {
        get pid() {
            return running?.pid ?? null;
        },
        stderr: () => running?.stderr() ?? "",
        start: async () => {
            const it = await start(children, begin);
            running = it;
            it.output.on("data", take);
            void it.over.then(() => {
                buffer.clear();
                transport.onclose?.();
            });
        },
        send: async (message) => {
            if (running === null || running.ended() !== null || running.input.destroyed)
                throw new SdkError(SdkErrorCode.NotConnected, "Not connected");
            const { input } = running;
            await new Promise<void>((done) => {
                if (input.write(serializeMessage(message), () => done())) done();
            });
        },
        close: async () => running?.stop(GRACE_MS, GRACE_MS),
    };
    return transport;
}

async function ofLibrary({ args, ...begin }: Begin, maxMessage: number): Promise<StdioTransport> {
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    const transport = new StdioClientTransport({ ...begin, args: [...args], stderr: "pipe", maxBufferSize: maxMessage });
    let text = "";
    transport.stderr?.on("data", (chunk: Buffer) => {
        text = (text + chunk.toString("utf8")).slice(-MAX_STDERR);
    });
    return Object.defineProperty(transport, "stderr", { value: () => text }) as unknown as StdioTransport;
}
