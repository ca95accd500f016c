/**
 * The server of a program over HTTP: one address, `/mcp`, on loopback.
 *
 * Boundary: who may send a request, and the socket. What is said is the SDK's.
 *
 * MCH1: a request for another host, or from a page of another site, is refused before anything of it is read.
 * MCH2: what listens elsewhere than on loopback needs a token.
 */
import type { Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import {
    createMcpHandler,
    hostHeaderValidationResponse,
    localhostAllowedHostnames,
    localhostAllowedOrigins,
    type McpServerFactory,
    originValidationResponse,
} from "@modelcontextprotocol/server";
import { isSameSecret } from "@remit/host";
import { ServeError } from "../faces/error.ts";
import { Sessions } from "./sessions.ts";
import { bracketed, checkPort, listening, notListening } from "../http/listening.ts";

export interface HttpOptions {
    /** 0: any that is free. */
    readonly port: number;
    /** Default: 127.0.0.1. */
    readonly host?: string;
    /** Further names that it is reached by. */
    readonly hostNames?: readonly string[];
    /** Every request has to bring it. */
    readonly token?: string;
}

export interface HttpFace {
    readonly url: string;
    readonly closed: Promise<void>;
    close(): Promise<void>;
}

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);

/** Rejects with `ServeError`. */
export async function httpOf(factory: McpServerFactory, options: HttpOptions, log?: (message: string) => void): Promise<HttpFace> {
    const { port, host = "127.0.0.1", hostNames = [], token } = options;
    // MCH2.
    if (!LOOPBACK.has(host) && token === undefined)
        throw new ServeError(`${host} is reached from elsewhere, and no token is asked for`, "give one with --token or REMIT_TOKEN");
    const handler = createMcpHandler(factory, { onerror: (error) => log?.(error.message) });
    const names = [...localhostAllowedHostnames(), ...(LOOPBACK.has(host) ? [] : [host]), ...hostNames];
    const origins = [...localhostAllowedOrigins(), ...hostNames];
    const sessions = new Sessions(factory);
    const answered = async (request: Request): Promise<Response> => {
        // MCH1.
        const refused = hostHeaderValidationResponse(request, names) ?? originValidationResponse(request, origins);
        if (refused !== undefined) return refused;
        if (token !== undefined && !isSameSecret(request.headers.get("authorization") ?? "", `Bearer ${token}`))
            return new Response(null, { status: 401, headers: { "WWW-Authenticate": "Bearer" } });
        if (new URL(request.url).pathname !== "/mcp") return new Response(null, { status: 404 });
        return (await sessions.answered(request)) ?? handler.fetch(request);
    };
    const http = createAdaptorServer({ fetch: answered, overrideGlobalObjects: false }) as HttpServer;
    http.headersTimeout = 20_000;
    const hint = "choose another --http port";
    checkPort(port, hint);
    const error = await listening(http, port, host);
    if (error !== null) throw notListening(error, { host, port, hint });
    const closed = new Promise<void>((resolve) => http.once("close", resolve));
    return {
        url: `http://${bracketed(host)}:${(http.address() as AddressInfo).port}/mcp`,
        closed,
        close: async () => {
            if (!http.listening) return closed;
            await sessions.close();
            await handler.close();
            http.close();
            http.closeAllConnections();
            await closed;
        },
    };
}
