/**
 * `fetch` for MCP servers over HTTP, with bounds.
 *
 * Boundary: one request and its redirects; the protocol is the library's.
 *
 * MF7: a redirect is followed within the origin of the request only: headers, credentials among them, go nowhere else.
 * MF8: a body has at most so many bytes as decoded.
 */
import { ToolFail } from "./tool.ts";

const MAX_REDIRECTS = 5;

export function boundedFetch(server: string, maxBytes: number): (url: string | URL, init?: RequestInit) => Promise<Response> {
    return async (url, init) => {
        let at = new URL(url);
        for (let redirects = 0; ; redirects++) {
            const response = await fetch(at, { ...init, redirect: "manual" });
            const location = response.headers.get("location");
            if (location === null || response.status < 300 || response.status > 399) return bounded(response, server, maxBytes);
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

function bounded(response: Response, server: string, maxBytes: number): Response {
    if (response.body === null) return response;
    let size = 0;
    const counted = response.body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
            transform: (chunk, out) => {
                size += chunk.byteLength;
                if (size > maxBytes) out.error(new ToolFail(`an answer of the server '${server}' is larger than ${maxBytes} bytes`));
                else out.enqueue(chunk);
            },
        }),
    );
    return new Response(counted, { status: response.status, statusText: response.statusText, headers: response.headers });
}
