/**
 * Messages of the Model Context Protocol over the standard input and output of a process of ours, a line each.
 *
 * Boundary: lines of bytes; what a message is, the library says. The library's own transport starts the process by itself, outside of any group, so it is used
 * on Windows alone, where there are no groups and where it finds commands such as `npx.cmd`.
 *
 * MS10: a message that is not UTF-8 is refused: an answer fails its call, a request is answered with an error, a notification is dropped.
 * MS11: a message over the bound fails every call that waits, with the bound, and ends the server.
 */
import { isUtf8 } from "node:buffer";
import { StringDecoder } from "node:string_decoder";
import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/client";
import { lineReader } from "../input/bytes.ts";
import type { Begin, Children } from "../process/child.ts";
import { MAX_STDERR, type Running, start } from "../process/piped.ts";
import { headOf, Tail } from "../secret/cut.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { notText, tooLarge } from "./mcp-fetch.ts";
import { PARSE_ERROR, refusal } from "./mcp-result.ts";
import type { ToolFail } from "./tool.ts";

export interface StdioTransport extends Transport {
    /** The last that the server wrote to its standard error, without secrets. The library takes a transport with `stderr` and `pid` for one to a process. */
    stderr(secrets: Scrubber): string;
    /** The beginning of the last line on its standard output that is no message, without secrets; empty where there was none. */
    stray(secrets: Scrubber): string;
    readonly pid: number | null;
}

/** Time for a server to end when its input has ended, and again when it is asked, milliseconds. */
const GRACE_MS = 2000;
/** Of a line that is no message, what is told, UTF-16 units. */
const MAX_STRAY = 200;
/** Of it, what is kept, bytes: so much that a secret which begins in what is told is whole in it. */
const MAX_STRAY_KEPT = 64 * 1024;

export interface StdioOptions {
    /** The server's name in the configuration. */
    readonly server: string;
    /** Largest message it may send, bytes. */
    readonly maxMessage: number;
}

export async function stdioTransport(children: Children, begin: Begin, { server, maxMessage }: StdioOptions): Promise<StdioTransport> {
    if (process.platform === "win32") return ofLibrary(begin, maxMessage);
    const { deserializeMessage, SdkError, SdkErrorCode, serializeMessage } = await import("@modelcontextprotocol/client");
    let running: Running | null = null;
    let stray = "";
    /** Requests without an answer. */
    const asked = new Set<RequestId>();
    const refuse = (id: RequestId, fail: ToolFail): void => {
        asked.delete(id);
        transport.onmessage?.(refusal(id, fail));
    };
    const take = (line: Buffer): true => {
        let message: JSONRPCMessage;
        try {
            message = deserializeMessage(line.toString("utf8"));
        } catch (error) {
            // The next line may be a message.
            stray = line.subarray(0, MAX_STRAY_KEPT).toString("utf8");
            transport.onerror?.(Error.isError(error) ? error : new Error(String(error)));
            return true;
        }
        const id = "id" in message ? message.id : undefined;
        const isAnswer = !("method" in message) && id !== undefined;
        if (isUtf8(line)) {
            if (isAnswer) asked.delete(id);
            transport.onmessage?.(message);
        } else if (isAnswer) refuse(id, notText(server));
        else if (id !== undefined) {
            const error = { code: PARSE_ERROR, message: "the message holds bytes that are not UTF-8" };
            void transport.send({ jsonrpc: "2.0", id, error }).catch((gone: Error) => transport.onerror?.(gone));
        }
        return true;
    };
    const push = lineReader(maxMessage, take);
    const transport: StdioTransport = {
        get pid() {
            return running?.pid ?? null;
        },
        stderr: (secrets) => running?.stderr(secrets) ?? "",
        stray: (secrets) => headOf(stray, MAX_STRAY, secrets),
        start: async () => {
            const it = await start(children, begin);
            running = it;
            it.output.on("data", (piece: Buffer) => {
                if (push(piece)) return;
                it.output.removeAllListeners("data").resume();
                for (const id of asked) refuse(id, tooLarge(server, maxMessage));
                void transport.close();
            });
            void it.over.then(() => transport.onclose?.());
        },
        send: async (message) => {
            if (running === null || running.ended() !== null || running.input.destroyed)
                throw new SdkError(SdkErrorCode.NotConnected, "Not connected");
            if ("method" in message && "id" in message) asked.add(message.id);
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
    const text = new Tail(MAX_STDERR);
    const decoder = new StringDecoder("utf8");
    transport.stderr?.on("data", (chunk: Buffer) => text.take(decoder.write(chunk)));
    // What is no message, that transport keeps to itself.
    const stderr = (secrets: Scrubber): string => text.kept(secrets);
    return Object.defineProperties(transport, { stderr: { value: stderr }, stray: { value: () => "" } }) as unknown as StdioTransport;
}
