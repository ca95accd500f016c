/**
 * A client of the protocol that is the SDK's own and nothing more: it starts an agent, sends it prompts, answers what it asks by a table, and
 * keeps every message both ways. What our own client adds or lets through is seen against it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { type AnyMessage, client, methods, ndJsonStream, PROTOCOL_VERSION, type Stream } from "@agentclientprotocol/sdk";
import type { Start } from "./agents.ts";

export interface Seen {
    readonly from: "client" | "agent";
    readonly message: AnyMessage;
}

export interface Bare {
    readonly seen: readonly Seen[];
    readonly child: ChildProcess;
    readonly opened: unknown;
    /** Sends one prompt; the stop reason. */
    prompt(text: string): Promise<string>;
    close(): Promise<void>;
}

/** `allow`: what is answered where the agent asks for permission. `keep`: messages are kept; false for measuring, with nothing in between. */
export async function bare(
    start: Start,
    folder: { readonly cwd: string; readonly home: string },
    allow = true,
    keep = true,
): Promise<Bare> {
    const { cwd, home } = folder;
    const child = spawn(start.command, start.args, {
        cwd,
        env: { PATH: process.env.PATH, HOME: home, ...start.env },
        stdio: ["pipe", "pipe", "pipe"],
    });
    let stderr = "";
    child.stderr.on("data", (piece: Buffer) => {
        stderr = (stderr + piece.toString("utf8")).slice(-4000);
    });
    const raw = ndJsonStream(
        Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
        Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    );
    const seen: Seen[] = [];
    const app = client({ name: "bare" })
        .onRequest(methods.client.session.requestPermission, ({ params }) => {
            const option = params.options.find((one) => one.kind === (allow ? "allow_once" : "reject_once"));
            return { outcome: option === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: option.optionId } };
        })
        .onRequest(methods.client.fs.readTextFile, ({ params }) => ({ content: readFileSync(params.path, "utf8") }))
        .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
            writeFileSync(params.path, params.content);
            return {};
        })
        .onNotification(methods.client.session.update, () => undefined);
    const connection = app.connect(keep ? kept(raw, seen) : raw);
    try {
        await connection.agent.request(methods.agent.initialize, {
            protocolVersion: PROTOCOL_VERSION,
            clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false },
        });
        const opened = await connection.agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
        return {
            seen,
            child,
            opened,
            async prompt(text) {
                const answer = await connection.agent.request(methods.agent.session.prompt, {
                    sessionId: opened.sessionId,
                    prompt: [{ type: "text", text }],
                });
                return answer.stopReason;
            },
            async close() {
                connection.close();
                const ended = new Promise((resolve) => child.once("exit", resolve));
                if (child.exitCode === null && child.signalCode === null) {
                    child.kill("SIGKILL");
                    await ended;
                }
            },
        };
    } catch (error) {
        child.kill("SIGKILL");
        throw new Error(`${error instanceof Error ? error.message : String(error)}; the agent said: ${stderr}`);
    }
}

/** The same stream, with every message kept. */
function kept(raw: Stream, seen: Seen[]): Stream {
    const tap = (from: Seen["from"]): TransformStream<AnyMessage, AnyMessage> =>
        new TransformStream({
            transform(message, controller) {
                seen.push({ from, message });
                controller.enqueue(message);
            },
        });
    const out = tap("client");
    // Where the agent has ended, the connection says so.
    void out.readable.pipeTo(raw.writable).catch(() => undefined);
    return { writable: out.writable, readable: raw.readable.pipeThrough(tap("agent")) };
}
