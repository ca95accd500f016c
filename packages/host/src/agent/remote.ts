/**
 * Agents that run somewhere else: the protocol over HTTP or WebSocket, both drafts.
 *
 * Boundary: the SDK's streams with connections of our own; nothing is confined, the agent is another machine's.
 *
 * RM2: addresses are checked where connections are made, as for tools (P2 in `tool/http.ts`).
 * RM3: a message has at most `MAX_MESSAGE` bytes (LN2), as decompressed; a larger one ends the connection.
 * RM4: headers of the configuration go with every request to its URL and nowhere else: no redirect is followed.
 * RM5: the end of a connection over HTTP is told to its server, which would keep its session otherwise; that is waited for `END_MS` at most.
 */
import type { Stream } from "@agentclientprotocol/sdk";
import { reachable } from "../tool/http.ts";
import type { AgentsContext } from "./agents.ts";
import { AgentFail } from "./fail.ts";
import { MAX_MESSAGE } from "./link.ts";
import type { RemoteTarget } from "./uri.ts";

/** Milliseconds. */
const END_MS = 1_000;

export interface Remote {
    readonly stream: Stream;
    /** Why it ended, where that is known. */
    why(): string | null;
    close(): Promise<void>;
}

/** Throws `AgentFail` where a header cannot be sent. */
export async function remoteStream(target: RemoteTarget, { config }: AgentsContext): Promise<Remote> {
    const { host, href } = target.url;
    const headers = checked(target.headers);
    const { default: undici } = await import("undici");
    const dispatcher = await reachable(new URL(href.replace(/^ws/, "http")), config, { webSocket: { maxPayloadSize: MAX_MESSAGE } });
    let known: string | null = null;
    const why = (): string | null => known;
    const close = async (): Promise<void> => {
        await dispatcher.destroy();
    };
    if (target.transport === "http") {
        const { createHttpStream } = await import("@agentclientprotocol/sdk/experimental/http-client");
        let ending: Promise<unknown> | null = null;
        const fetch = async (input: unknown, init: { readonly method?: string }): Promise<unknown> => {
            const asked = undici.fetch(input as string, { ...init, dispatcher, redirect: "error" });
            if (init.method === "DELETE") ending = asked;
            const response = await asked;
            if (response.status >= 400) known ??= `${host} answered ${response.status}`;
            return response;
        };
        const stream = createHttpStream(href, {
            fetch: fetch as unknown as typeof globalThis.fetch,
            maxMessageBytes: MAX_MESSAGE,
            headers,
        });
        const told = async (): Promise<void> => {
            // Its stream was closed just now, and says so once that has gone through.
            await new Promise((done) => setImmediate(done));
            let timer: NodeJS.Timeout | undefined;
            await Promise.race([ending?.catch(() => undefined), new Promise((done) => (timer = setTimeout(done, END_MS)))]);
            clearTimeout(timer);
            await close();
        };
        return { stream, why, close: told };
    }
    const { createWebSocketStream } = await import("@agentclientprotocol/sdk/experimental/ws-client");
    class Socket extends undici.WebSocket {
        constructor(address: string, protocols?: string | string[], options?: { headers?: Record<string, string> }) {
            super(address, {
                protocols: protocols ?? [],
                dispatcher,
                ...(options?.headers === undefined ? {} : { headers: options.headers }),
            });
            // The library does not tell which of the two it was.
            this.addEventListener("open", () =>
                this.addEventListener("error", () => {
                    known ??= `the connection to ${host} broke, or a message had more than ${MAX_MESSAGE} bytes`;
                }),
            );
        }
    }
    return { stream: createWebSocketStream(href, { WebSocket: Socket as never, headers: { ...headers } }), why, close };
}

/** Throws where a name or a value is none that a request can carry; the platform's own message would show the value. */
function checked(given: { readonly [name: string]: string }): { readonly [name: string]: string } {
    for (const [name, value] of Object.entries(given)) {
        try {
            new Headers({ [name]: value });
        } catch (error) {
            if (!(error instanceof TypeError)) throw error;
            throw new AgentFail("denied", `the header '${name}' has a name or a value that no request can carry`);
        }
    }
    return given;
}
