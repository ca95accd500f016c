/**
 * Agents that run somewhere else: the protocol over HTTP or WebSocket, both drafts.
 *
 * Boundary: the SDK's streams with connections of our own; nothing is confined, the agent is another machine's.
 *
 * N2: addresses are checked where connections are made, as for tools (P2 in `tool/http.ts`).
 */
import type { Stream } from "@agentclientprotocol/sdk";
import { reachable } from "../tool/http.ts";
import type { AgentsContext } from "./agents.ts";
import { MAX_MESSAGE } from "./link.ts";
import type { RemoteTarget } from "./uri.ts";

export async function remoteStream(
    target: RemoteTarget,
    { config }: AgentsContext,
): Promise<{ readonly stream: Stream; close(): Promise<void> }> {
    const url = new URL(target.url.href.replace(/^ws/, "http"));
    const dispatcher = await reachable(url, config);
    const close = async (): Promise<void> => {
        await dispatcher.destroy();
    };
    const undici = await import("undici");
    if (target.transport === "http") {
        const { createHttpStream } = await import("@agentclientprotocol/sdk/experimental/http-client");
        const fetch = (input: unknown, init: unknown): unknown =>
            undici.fetch(input as string, { ...(init as object), dispatcher, redirect: "error" });
        return {
            stream: createHttpStream(target.url.href, { fetch: fetch as typeof globalThis.fetch, maxMessageBytes: MAX_MESSAGE }),
            close,
        };
    }
    const { createWebSocketStream } = await import("@agentclientprotocol/sdk/experimental/ws-client");
    class Socket extends undici.WebSocket {
        constructor(address: string, protocols?: string | string[], options?: { headers?: Record<string, string> }) {
            super(address, {
                protocols: protocols ?? [],
                dispatcher,
                ...(options?.headers === undefined ? {} : { headers: options.headers }),
            });
        }
    }
    return { stream: createWebSocketStream(target.url.href, { WebSocket: Socket as never }), close };
}
