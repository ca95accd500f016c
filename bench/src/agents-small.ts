/**
 * A small agent of the SDK's own on standard input and output: answers at once. A prompt of `N` gets N pieces of text, one of `ask` asks for
 * permission to write a file first.
 */
import { Readable, Writable } from "node:stream";
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

const stream = ndJsonStream(
    Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
);
let sessions = 0;
agent({ name: "small" })
    .onRequest(methods.agent.initialize, () => ({ protocolVersion: PROTOCOL_VERSION, agentCapabilities: {} }))
    .onRequest(methods.agent.session.new, () => ({ sessionId: `s${++sessions}` }))
    .onNotification(methods.agent.session.cancel, () => undefined)
    .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
        const { sessionId } = params;
        const first = params.prompt[0];
        const said = first?.type === "text" ? first.text : "";
        if (said === "ask") {
            const toolCallId = "call-1";
            const path = "/nowhere/note.txt";
            await client.notify(methods.client.session.update, {
                sessionId,
                update: { sessionUpdate: "tool_call", toolCallId, title: "write", kind: "edit", status: "pending" },
            });
            await client.request(methods.client.session.requestPermission, {
                sessionId,
                toolCall: { toolCallId, title: "write", kind: "edit", locations: [{ path }], rawInput: { path } },
                options: [
                    { optionId: "yes", name: "Yes", kind: "allow_once" },
                    { optionId: "no", name: "No", kind: "reject_once" },
                ],
            });
            await client.notify(methods.client.session.update, {
                sessionId,
                update: { sessionUpdate: "tool_call_update", toolCallId, status: "failed" },
            });
        }
        for (let i = 0; i < (Number(said) || 1); i++)
            await client.notify(methods.client.session.update, {
                sessionId,
                update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: `piece ${i} ` } },
            });
        return { stopReason: "end_turn" as const };
    })
    .connect(stream);
