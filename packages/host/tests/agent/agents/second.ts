/** An agent for tests that speaks version 2 of the protocol, a draft, made with the SDK's agent side of it. */
import { Readable, Writable } from "node:stream";
import { agent, ndJsonStream } from "@agentclientprotocol/sdk/experimental/v2";

let mode = "ask";
let stop = (): void => undefined;
const options = () => [
    {
        configId: "mode",
        name: "Mode",
        category: "mode",
        type: "select" as const,
        currentValue: mode,
        options: [
            { value: "ask", name: "Ask" },
            { value: "code", name: "Code" },
        ],
    },
];

const app = agent({ name: "second" })
    .onRequest("initialize", () => ({
        protocolVersion: 2,
        info: { name: "second", version: "0.2" },
        capabilities: { session: { prompt: { embeddedContext: {} } } },
    }))
    .onRequest("session/new", () => ({ sessionId: "s1", configOptions: options() }))
    .onRequest("session/set_config_option", ({ params }) => {
        mode = String((params as { value?: unknown }).value);
        return { configOptions: options() };
    })
    .onNotification("session/cancel", () => stop())
    .onRequest("session/prompt", ({ params, client }) => {
        const { sessionId } = params;
        const last = params.prompt.at(-1) as { type: string; text?: string };
        const update = (update: object): Promise<void> => client.notify("session/update", { sessionId, update } as never);
        const work = async (): Promise<void> => {
            await update({ sessionUpdate: "state_update", state: "running" });
            if (last.text === "hang") {
                await new Promise<void>((done) => {
                    stop = done;
                });
                return update({ sessionUpdate: "state_update", state: "idle", stopReason: "cancelled" });
            }
            if (last.text === "break")
                return update({
                    sessionUpdate: "state_update",
                    state: "idle",
                    stopReason: "error",
                    error: { code: 1, message: "no more" },
                });
            await update({ sessionUpdate: "agent_thought_chunk", messageId: "t1", content: { type: "text", text: "Let me see." } });
            await update({ sessionUpdate: "agent_message_chunk", messageId: "m1", content: { type: "text", text: `In mode ${mode}: ` } });
            await update({ sessionUpdate: "agent_message_chunk", messageId: "m1", content: { type: "text", text: "hello." } });
            await update({ sessionUpdate: "agent_message", messageId: "m1", content: [{ type: "text", text: `In mode ${mode}: hello.` }] });
            await update({
                sessionUpdate: "plan_update",
                plan: { type: "items", planId: "p", entries: [{ content: "one", status: "completed", priority: "low" }] },
            });
            for (const [operation, path] of [
                ["modify", "a.txt"],
                ["delete", "a.txt"],
            ] as const) {
                const toolCall = {
                    toolCallId: operation,
                    name: "edit_file",
                    title: `Edit ${path}`,
                    kind: "edit" as const,
                    content: [{ type: "diff" as const, changes: [{ operation, path: `${last.text}/${path}` }] }],
                };
                await update({ sessionUpdate: "tool_call_update", ...toolCall, status: "pending" });
                const { outcome } = await client.request("session/request_permission", {
                    sessionId,
                    title: "May I?",
                    subject: { type: "tool_call", toolCall },
                    options: [
                        { optionId: "a", name: "Yes", kind: "allow_once" },
                        { optionId: "r", name: "No", kind: "reject_once" },
                    ],
                } as never);
                const allowed = (outcome as { optionId?: string }).optionId === "a";
                await update({
                    sessionUpdate: "tool_call_content_chunk",
                    toolCallId: operation,
                    content: { type: "content", content: { type: "text", text: "did it" } },
                });
                await update({ sessionUpdate: "tool_call_update", toolCallId: operation, status: allowed ? "completed" : "cancelled" });
            }
            const command = { command: "npm test", cwd: last.text };
            await client.request("session/request_permission", {
                sessionId,
                title: "Run it?",
                subject: { type: "command", ...command },
                options: [{ optionId: "a", name: "Yes", kind: "allow_once" }],
            } as never);
            await update({ sessionUpdate: "agent_message", messageId: "m2", content: [{ type: "text", text: "Done." }] });
            await update({ sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" });
        };
        void work();
        return { messageId: "u1" };
    });

app.connect(
    ndJsonStream(Writable.toWeb(process.stdout) as WritableStream<Uint8Array>, Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>),
);
