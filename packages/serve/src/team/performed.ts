/**
 * A request that another process handed on, performed here.
 *
 * Boundary: from what came over the team to the routes and back (PRS1): as over a WebSocket, with the client that the other process has identified.
 */
import type { Hono } from "hono";
import type { Env } from "../http/route.ts";
import type { Answered, Forwarded } from "./processes.ts";

export async function performed(
    app: Hono<Env>,
    { client, method, path, headers, body: sent }: Forwarded,
    signal: AbortSignal,
): Promise<Answered> {
    const request = new Request(new URL(path, "http://localhost"), {
        method,
        headers: { ...headers, "content-type": "application/json" },
        ...(sent === "" ? {} : { body: sent }),
        signal,
    });
    const response = await app.fetch(request, { client, here: true });
    const told = TOLD.flatMap((name) => {
        const value = response.headers.get(name);
        return value === null ? [] : [[name, value] as const];
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isText = /^(?:application\/json|text\/)/.test(response.headers.get("content-type") ?? "");
    const { status } = response;
    const body = bytes.toString(isText ? "utf8" : "base64");
    return { status, headers: Object.fromEntries(told), body, ...(isText ? {} : { isBase64: true }) };
}

/** Headers that go along. */
const TOLD = ["content-type", "location", "retry-after", "cache-control", "content-security-policy"];
