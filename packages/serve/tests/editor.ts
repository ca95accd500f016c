/**
 * An editor for tests: the SDK's client, over streams to an agent in this process. Every message both ways is kept, and the agent's are judged by
 * the protocol's own schema when it is over.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import {
    client,
    type ClientConnection,
    type McpServer,
    ndJsonStream,
    type PromptResponse,
    type RequestPermissionRequest,
    type RequestPermissionResponse,
    type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { openProcess } from "@remit/host";
import type { Json } from "@remit/language";
import { expect } from "vitest";
import { judge, type Message } from "../../host/tests/agent/real/schema.ts";
import { type AcpOptions, serveAcp, type Serving } from "../src/index.ts";

export const CLERK = `import llm Model from "openai://gpt-5-mini"
import tool Files from "file://workspace"
main agent Clerk {
    model Model
    role "a clerk"
    description "Writes notes."
    main func(input: { task: string }) {
        use input.task as "the task"
        generate({ input: "Do it.", tools: [Files], turns: 6, stream: true }) -> string
    }
}
`;

export const writes = (content: string, path = "note.txt"): Json => ({ calls: [{ name: "Files_write", args: { path, content } }] });

export type Asked = (
    request: RequestPermissionRequest,
    signal: AbortSignal,
) => Promise<RequestPermissionResponse> | RequestPermissionResponse;

/** Chooses the option of this kind. */
export const choose =
    (kind: string): Asked =>
    ({ options }) => ({ outcome: { outcome: "selected", optionId: options.find((one) => one.kind === kind)?.optionId ?? "none" } });

export interface Editor extends AsyncDisposable {
    readonly folder: string;
    readonly connection: ClientConnection;
    readonly updates: SessionUpdate[];
    readonly messages: readonly Message[];
    /** What the agent logged. */
    readonly log: string[];
    asked: Asked;
    answers: (request: unknown) => unknown;
    /** A line as it is. */
    raw(line: string): void;
    open(servers?: McpServer[]): Promise<string>;
    /** Blocks as they are. */
    send(session: string, prompt: unknown): Promise<PromptResponse>;
    prompt(session: string, text: string): Promise<PromptResponse>;
    /** The text of the agent so far. */
    text(): string;
    of<K extends SessionUpdate["sessionUpdate"]>(kind: K): Extract<SessionUpdate, { sessionUpdate: K }>[];
    /** The editor goes away. */
    leave(): Promise<void>;
}

export interface At {
    readonly program?: string;
    readonly replies: Json;
    /** Of an editor before. */
    readonly folder?: string;
    readonly options?: Partial<AcpOptions>;
    readonly capabilities?: object;
}

export async function editor({ program = CLERK, replies, folder: before, options = {}, capabilities = {} }: At): Promise<Editor> {
    const folder = before ?? mkdtempSync(join(tmpdir(), "remit-acp-"));
    write(folder, "main.remit", program);
    write(folder, "replies.json", JSON.stringify(replies));
    const [input, output] = [new PassThrough(), new PassThrough()];
    const log: string[] = [];
    const serves = await serveAcp({
        ...{ program: join(folder, "main.remit"), model: `scripted:${join(folder, "replies.json")}`, ledger: join(folder, "ledger.db") },
        ...{ process: openProcess({ env: { HOME: folder, PATH: process.env["PATH"] }, cwd: folder }), input, output },
        log: (message) => void log.push(message),
        ...options,
    });
    const messages: Message[] = [];
    const updates: SessionUpdate[] = [];
    const stream = ndJsonStream(Writable.toWeb(input) as WritableStream<Uint8Array>, Readable.toWeb(output) as ReadableStream<Uint8Array>);
    const kept = (from: Message["from"]) =>
        new TransformStream({ transform: (message, out) => (messages.push({ from, message }), out.enqueue(message)) });
    const outward = kept("client");
    outward.readable.pipeTo(stream.writable).catch(() => undefined);
    const made: Pick<Editor, "asked" | "answers"> = { asked: choose("allow_once"), answers: () => ({ action: "decline" }) };
    const connection = client({ name: "tester" })
        .onRequest("session/request_permission", ({ params, signal }) => made.asked(params, signal))
        .onRequest("elicitation/create", ({ params }) => made.answers(params) as { action: "decline" })
        .onNotification("session/update", ({ params }) => void updates.push(params.update))
        .connect({ readable: stream.readable.pipeThrough(kept("agent")), writable: outward.writable });
    const { agent } = connection;
    await agent.request("initialize", {
        protocolVersion: 1,
        clientInfo: { name: "tester", version: "1" },
        clientCapabilities: capabilities as never,
    });
    const send = (sessionId: string, prompt: unknown): Promise<PromptResponse> =>
        agent.request<PromptResponse>("session/prompt", { sessionId, prompt });
    const leave = async (): Promise<void> => {
        input.end();
        await (serves as Serving).closed;
    };
    return Object.assign(made, {
        ...{ folder, connection, updates, messages, log, leave },
        raw: (line: string) => void input.write(`${line}\n`),
        open: async (mcpServers: McpServer[] = []) => (await agent.request("session/new", { cwd: folder, mcpServers })).sessionId,
        send,
        prompt: (sessionId: string, text: string) => send(sessionId, [{ type: "text", text }]),
        text: () =>
            updates
                .flatMap((one) => (one.sessionUpdate === "agent_message_chunk" && one.content.type === "text" ? [one.content.text] : []))
                .join(""),
        of: ((kind: string) => updates.filter((one) => one.sessionUpdate === kind)) as Editor["of"],
        [Symbol.asyncDispose]: async () => {
            await leave();
            const { invalid, count } = judge(messages, "agent");
            expect({ invalid, some: count > 0 }).toEqual({ invalid: [], some: true });
            if (before === undefined) rmSync(folder, { recursive: true, force: true });
        },
    });
}

function write(folder: string, name: string, text: string): void {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
}
