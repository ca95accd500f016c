/**
 * `fetch` for MCP servers over HTTP, with bounds.
 *
 * Boundary: one request and its redirects; the protocol is the library's.
 *
 * MF7: a redirect is followed within the origin of the request only: headers, credentials among them, go nowhere else.
 * MF8: a body has at most so many bytes as decoded.
 * MF9: an answer that is not UTF-8 fails: its letters would be replaced in silence. A body that only explains an error is shown as it can be.
 */
import type { RequestId } from "@modelcontextprotocol/client";
import { utf8Check } from "../input/bytes.ts";
import { ToolFail } from "./tool.ts";

const MAX_REDIRECTS = 5;

export interface Bounds {
    /** The server's name in the configuration. */
    readonly server: string;
    readonly maxBytes: number;
    /** Fails the call whose request has this id: what ends a stream of events, the library keeps to itself. */
    readonly refuse: (id: RequestId, fail: ToolFail) => void;
}

export function boundedFetch({ server, maxBytes, refuse }: Bounds): (url: string | URL, init?: RequestInit) => Promise<Response> {
    return async (url, init) => {
        let at = new URL(url);
        for (let redirects = 0; ; redirects++) {
            const response = await fetch(at, { ...init, redirect: "manual" });
            const location = response.headers.get("location");
            if (location === null || response.status < 300 || response.status > 399)
                return bounded(response, { server, maxBytes, refuse, ids: idsOf(init) });
            await response.body?.cancel();
            const to = URL.canParse(location, at.href) ? new URL(location, at) : null;
            if (to === null || to.origin !== at.origin)
                throw new ToolFail(`the server '${server}' redirected to another origin, ${to?.origin ?? "which is no URL"}`, {
                    kind: "denied",
                    // The server had the message by then.
                    detail: { made: true },
                    hint: "write the URL it leads to into mcpServers, if that is where the headers should go",
                });
            // 301, 302 and 303 may turn a POST into a GET, which is no message of the protocol.
            if (redirects >= MAX_REDIRECTS || ((init?.method ?? "GET") !== "GET" && response.status < 307))
                throw new ToolFail(`the server '${server}' redirects in a way that no message can follow`, { kind: "unreachable" });
            at = to;
        }
    };
}

export function notText(server: string): ToolFail {
    return new ToolFail(`an answer of the server '${server}' holds bytes that are not UTF-8`, {
        detail: { made: true },
        hint: "the protocol has texts in UTF-8 alone: a server gives others as base64, in a resource",
    });
}

export function tooLarge(server: string, maxBytes: number): ToolFail {
    return new ToolFail(`an answer of the server '${server}' is larger than ${maxBytes} bytes`, { detail: { made: true } });
}

/** Of the request that a message is. */
function idsOf(init: RequestInit | undefined): RequestId[] {
    const { id } = typeof init?.body === "string" ? (JSON.parse(init.body) as { readonly id?: RequestId }) : {};
    return id === undefined ? [] : [id];
}

function bounded(response: Response, { server, maxBytes, refuse, ids }: Bounds & { readonly ids: readonly RequestId[] }): Response {
    if (response.body === null) return response;
    let size = 0;
    const isText = utf8Check();
    const counted = response.body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
            transform: (chunk, out) => {
                size += chunk.byteLength;
                const isOver = size > maxBytes;
                if (!isOver && (!response.ok || isText(chunk))) return out.enqueue(chunk);
                const fail = isOver ? tooLarge(server, maxBytes) : notText(server);
                for (const id of ids) refuse(id, fail);
                out.error(fail);
            },
        }),
    );
    return new Response(counted, { status: response.status, statusText: response.statusText, headers: response.headers });
}
