/**
 * A request that another process handed on, performed here.
 *
 * Boundary: from what came over the team to the routes and back (PRS1): as over a WebSocket, with the client that the other process has identified.
 */
import type { Hono } from "hono";
import type { Env } from "../http/route.ts";
import type { Answered, Forwarded } from "./processes.ts";

export async function performed(app: Hono<Env>, { client, method, path, headers, body }: Forwarded): Promise<Answered> {
    const request = new Request(new URL(path, "http://localhost"), {
        method,
        headers: { ...headers, host: "localhost", "content-type": "application/json" },
        ...(body === "" ? {} : { body }),
    });
    const response = await app.fetch(request, { client, here: true });
    const told = ["content-type", "location", "retry-after"].flatMap((name) => {
        const value = response.headers.get(name);
        return value === null ? [] : [[name, value] as const];
    });
    return { status: response.status, headers: Object.fromEntries(told), body: await response.text() };
}
