/**
 * The server's requests: checks that hold for every one, then the row of its route.
 *
 * Boundary: standard requests and responses (hono). Listening is `../server.ts`.
 *
 * APP1: what goes wrong is told as `{ error: { kind, message, hint } }` and with no more than that: no stack, no path of this machine.
 */
import { upgradeWebSocket } from "@hono/node-server";
import { LedgerError } from "@remit/host";
import { type Context, Hono } from "hono";
import { lacks } from "../access/guard.ts";
import { LimitError } from "../access/limits.ts";
import type { Server } from "../server.ts";
import { Undecided } from "../session/asks.ts";
import { consolePage } from "./console.ts";
import { lendScript } from "./lend.ts";
import { answer, type Env, HttpError, refused, type Route, signalOf, unkept } from "./route.ts";
import { ROUTES } from "./routes.ts";
import { socketOf } from "./socket.ts";

const ALLOWED_HEADERS = "authorization, content-type, idempotency-key, last-event-id, x-remit-csrf";

export function appOf(server: Server): Hono<Env> {
    const app = new Hono<Env>();
    app.onError((error, c) => told(server, error, c));
    app.use("*", async (c, next) => {
        const began = performance.now();
        await next();
        watched(server, c, performance.now() - began);
    });
    app.use("*", async (c, next) => {
        const { headers, method } = c.req.raw;
        // What another process handed on was looked at there.
        const no = (c.env as Env["Bindings"]).here === true ? null : server.guard.place(headers, new URL(c.req.url));
        if (no !== null) throw refused(no);
        const readable = server.guard.readableBy(headers);
        if (method === "OPTIONS") return preflight(c, readable);
        await next();
        const out = c.res.headers;
        out.set("x-content-type-options", "nosniff");
        out.set("referrer-policy", "no-referrer");
        // A page of another site does not even load it as a script or a picture, whatever cookie its browser adds.
        if (!out.has("cross-origin-resource-policy") && readable === null) out.set("cross-origin-resource-policy", "same-origin");
        out.append("vary", "Origin");
        if (readable !== null) out.set("access-control-allow-origin", readable);
    });
    const byPath = Map.groupBy(ROUTES, ({ path }) => path);
    for (const [path, rows] of byPath) {
        const at = path.replace(/\{(\w+)\}/g, ":$1");
        for (const row of rows) app.on(row.method.toUpperCase(), at, (c) => answer(server, row, c));
        app.all(at, () => {
            throw methodNotAllowed(rows);
        });
    }
    app.get("/healthz", (c) => c.json({ ok: true }));
    app.get("/readyz", async (c) => {
        const why = await server.notReady();
        return why === null ? c.json({ ok: true }) : c.json({ ok: false, why }, 503, { "retry-after": "1" });
    });
    app.get("/metrics", (c) => metrics(server, c));
    app.get("/lend.js", lendScript);
    app.get("/v1/socket", upgradeWebSocket(socketOf(server, app)) as never);
    app.get("*", (c) => consolePage(c));
    app.all("*", () => {
        throw new HttpError(404, "unknown", "there is nothing at this address", { hint: "/v1/openapi.json describes what there is" });
    });
    return app;
}

function preflight(c: Context, readable: string | null): Response {
    if (readable === null) return c.body(null, 204);
    return c.body(null, 204, {
        "access-control-allow-origin": readable,
        "access-control-allow-methods": "GET, POST, PUT, DELETE",
        "access-control-allow-headers": ALLOWED_HEADERS,
        "access-control-max-age": "600",
        vary: "Origin",
    });
}

function methodNotAllowed(rows: readonly Route[]): HttpError {
    const allow = rows.map(({ method }) => method.toUpperCase()).join(", ");
    return new HttpError(405, "method", `this address takes ${allow}`, { headers: { allow } });
}

function told(server: Server, error: Error, c: Context): Response {
    // Who asked is gone: no client hears the answer.
    if (signalOf(c).aborted) return c.body(null, 400);
    const failed = error instanceof Undecided ? error.why : error;
    if (failed instanceof LedgerError) server.ready.failed(failed);
    const known = knownOf(error) ?? new HttpError(500, "error", "the server could not do it; its log says why");
    if (known.status === 500) server.log("error", `${c.req.method} ${c.req.path}: ${error.stack ?? error.message}`);
    const { status, kind, message, hint, headers } = known;
    const readable = server.guard.readableBy(c.req.raw.headers);
    return c.json({ error: { kind, message, ...(hint === undefined ? {} : { hint }) } }, status as never, {
        ...headers,
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        vary: "Origin",
        ...(readable === null ? {} : { "access-control-allow-origin": readable }),
    });
}

/** Counts and writes it, with the row's path in place of its own: that may hold an id. */
function watched(server: Server, c: Context<Env>, ms: number): void {
    const { method } = c.req;
    const { status } = c.res;
    const route = c.get("route") ?? (PLAIN.has(c.req.path) ? c.req.path : "other");
    server.metrics.request(KNOWN.has(method) ? method : "other", route, status, ms);
    const client = c.get("client");
    const about = { method, route, status, ms: Math.round(ms * 100) / 100, ...(client === undefined ? {} : { client }) };
    server.log(REFUSED.has(status) ? "warn" : "debug", REFUSED.has(status) ? "refused" : "request", about);
}

const PLAIN: ReadonlySet<string> = new Set(["/", "/healthz", "/readyz", "/metrics", "/lend.js", "/v1/socket"]);
const KNOWN: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "DELETE", "OPTIONS"]);
const REFUSED: ReadonlySet<number> = new Set([401, 403, 421, 429]);

/** Null: something else went wrong. */
function knownOf(error: Error): HttpError | null {
    if (error instanceof HttpError) return error;
    if (error instanceof LedgerError && error.code === "owned")
        return new HttpError(503, "unreachable", "another process has the session now", {
            hint: "ask again; a turn that is sent again with the same Idempotency-Key is the same turn",
            headers: { "retry-after": "1" },
        });
    const later = unkept(error);
    if (later !== null) return later;
    if (!(error instanceof LimitError)) return null;
    return new HttpError(429, "too-many", error.message, error.hint === undefined ? {} : { hint: error.hint });
}

async function metrics(server: Server, c: Context): Promise<Response> {
    const found = await server.guard.identified(c.req.raw.headers, "GET");
    if ("status" in found) throw refused(found);
    const no = lacks(found, "observe");
    if (no !== null) throw refused(no);
    return c.text(await server.metrics.text(), 200, { "content-type": server.metrics.contentType });
}
