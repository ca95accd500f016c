/**
 * The routes of `/v1`, each a row.
 *
 * Boundary: from checked bodies to the server's sessions and clients. What a session does with them is `../session/`.
 *
 * RTE1: a control call is answered with `accepted`, `rejected` or `unsupported` and a reason; what names nothing is 404.
 */
import { parseModelUri } from "@remit/host";
import { type Json, plainLine } from "@remit/language";
import { randomBytes } from "node:crypto";
import { notTaken } from "../session/pictures.ts";
import { KeyConflict } from "../session/keys.ts";
import type { Session } from "../session/session.ts";
import {
    Answer,
    CallResult,
    Decision,
    Login,
    MAX_SPEC_BYTES,
    NewClient,
    NewSession,
    NewTurn,
    Pair,
    Pairing,
    ToolSpec,
} from "../wire/bodies.ts";
import type * as Wire from "../wire/messages.ts";
import { listedSession } from "../wire/messages.ts";
import { MAX_PICTURE_BYTES, MAX_PICTURES } from "../wire/bounds.ts";
import { cookieName } from "../access/guard.ts";
import { cursorOf, eventStream } from "./events.ts";
import { openApi } from "./openapi.ts";
import { waitedFor } from "./waiting.ts";
import { type Answered, type Asked, type Env, HttpError, type Route, route, streamOf } from "./route.ts";
import { CHAT_ROUTES } from "./routes-chat.ts";
import { RUN_ROUTES } from "./routes-runs.ts";
import { decideRouted, routedAsks } from "../runs/asks.ts";

/** Pictures in base64, and what stands around them. */
const MAX_PICTURED = Math.ceil((MAX_PICTURES * MAX_PICTURE_BYTES * 4) / 3) + (1 << 20);
const TOOL_NAME = /^[a-zA-Z][a-zA-Z0-9_]{0,39}$/;

const ok = (json: unknown, status = 200): Answered => ({ json: json as Json, status });
const ACK = { 200: "`accepted`, or `rejected` or `unsupported` with a reason: then nothing was changed", 404: "no such session" };

function sessionOf({ server, params }: Pick<Asked<unknown>, "server" | "params">): Session {
    const session = server.sessions.get(params["session"] ?? "");
    if (session === undefined) throw new HttpError(404, "unknown", "there is no such session", { hint: "GET /v1/sessions lists them" });
    return session;
}

const session = "/v1/sessions/{session}";

export const ROUTES: readonly Route[] = [
    route({
        method: "get",
        path: "/v1/openapi.json",
        scope: null,
        summary: "This description",
        answers: { 200: "OpenAPI 3.1" },
        run: () => ok(openApi(ROUTES)),
    }),
    route({
        method: "get",
        path: "/v1/me",
        scope: "observe",
        summary: "The client that the credential belongs to",
        answers: { 200: "id, name, scopes" },
        run: ({ client, server, c }) => ok({ ...client, csrf: server.guard.csrfOf(c.req.raw.headers) }),
    }),

    // ---- clients ----
    route({
        method: "post",
        path: "/v1/clients",
        scope: "admin",
        summary: "Makes a client; its token is told once",
        body: NewClient,
        answers: { 201: "the client and its token" },
        run: async ({ server, body }) => {
            const { client, token } = await server.mint(body.name, body.scopes, body);
            return ok({ ...client, token }, 201);
        },
    }),
    route({
        method: "get",
        path: "/v1/clients",
        scope: "admin",
        summary: "All clients, also revoked ones",
        answers: { 200: "a list" },
        run: ({ server }) => ok({ clients: server.clients.list() }),
    }),
    route({
        method: "delete",
        path: "/v1/clients/{client}",
        scope: "admin",
        summary: "Revokes a client: its token ends, its tools are withdrawn",
        answers: { ...ACK, 404: "no such client" },
        run: async ({ server, params }) => ok(await server.revoke(params["client"] ?? "")),
    }),
    route({
        method: "post",
        path: "/v1/pairings",
        scope: "admin",
        summary: "Makes a code with which one client pairs itself, once, within ten minutes",
        body: Pairing,
        answers: { 201: "the code" },
        run: async ({ server, body }) => ok({ code: await server.pairings.code(body) }, 201),
    }),
    route({
        method: "post",
        path: "/v1/pair",
        scope: null,
        summary: "Turns a pairing code into a client with a token",
        body: Pair,
        answers: { 201: "the client and its token", 403: "the code is wrong, used, or too old", 429: "too many wrong codes" },
        run: async ({ server, body, header }) => {
            const { scopes, as } = taken(await server.pairings.take(body.code));
            const origin = header("origin");
            const { client, token } = await server.mint(body.name, scopes, { origin, as });
            return ok({ ...client, token, identity: server.identity().key }, 201);
        },
    }),
    route({
        method: "post",
        path: "/v1/login",
        scope: null,
        summary: "Turns a login code of the terminal into a cookie for the console",
        body: Login,
        answers: { 200: "the token against forgery", 403: "the code is wrong, used, or too old", 429: "too many wrong codes" },
        run: async ({ server, body, c }) => {
            const client = taken(await server.logins.take(body.code));
            const cookie = randomBytes(32).toString("base64url");
            const csrf = randomBytes(24).toString("base64url");
            await server.guard.login(cookie, { client, csrf });
            const set = `${cookieName(c.req.raw.headers)}=${cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800${server.isSecure ? "; Secure" : ""}`;
            return { json: { csrf, client: client.id }, headers: { "set-cookie": set } };
        },
    }),
    route({
        method: "post",
        path: "/v1/logout",
        scope: "observe",
        summary: "Ends the console's login",
        answers: { 200: "`accepted`" },
        run: async ({ server, c }) => {
            await server.guard.logout(c.req.raw.headers);
            return {
                json: { status: "accepted" },
                headers: { "set-cookie": `${cookieName(c.req.raw.headers)}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0` },
            };
        },
    }),
    route({
        method: "post",
        path: "/v1/tickets",
        scope: "observe",
        summary: "A ticket that a page sends as the first message of its WebSocket, once, within a minute",
        answers: { 201: "the ticket" },
        run: async ({ server, client }) => ok({ ticket: await server.tickets.ticket(client) }, 201),
    }),

    // ---- sessions ----
    route({
        method: "post",
        path: "/v1/sessions",
        scope: "submit",
        summary: "Opens a session",
        body: NewSession,
        answers: {
            201: "the session",
            400: "there is no model of this name",
            403: "the server does not offer the model",
            429: "as many sessions are open as may be",
        },
        run: async (asked) => ok((await asked.server.open(asked.client, await meant(asked))).info(), 201),
    }),
    route({
        method: "get",
        path: "/v1/sessions",
        scope: "observe",
        summary: "Sessions that are open, newest first, without their turns",
        answers: { 200: "a list" },
        run: async ({ server: { sessions, processes } }) => {
            const here = [...sessions.values()].map((one) => listedSession(one.info()));
            const all = [...here, ...((await processes?.others()) ?? [])];
            return ok({ sessions: all.sort((a, b) => (a.created < b.created ? 1 : -1)) });
        },
    }),
    route({
        method: "get",
        path: session,
        scope: "observe",
        summary: "A session: its turns, the tools that are lent to it, what it waits for",
        answers: { 200: "the session", 404: "no such session" },
        run: (asked) => ok(sessionOf(asked).info()),
    }),
    route({
        method: "delete",
        path: session,
        scope: "submit",
        summary: "Closes a session for ever; a turn that runs is cancelled",
        answers: ACK,
        run: async (asked) => ok(await asked.server.close(sessionOf(asked), asked.client)),
    }),
    route({
        method: "get",
        path: `${session}/events`,
        scope: "observe",
        summary: "The session's events as they come (server-sent events); `id` is the number to come back with",
        query: { from: "number of the last event that was seen" },
        headers: { "last-event-id": "the same, as browsers send it" },
        answers: { 200: "text/event-stream", 400: "the number is none", 404: "no such session" },
        streams: true,
        run: async (asked) => {
            const from = cursorOf(asked.header("last-event-id"), asked.query("from"));
            if (from === null) throw new HttpError(400, "contract", "the event to go on from has to be a whole number");
            const { outgoing } = asked.c.env as Env["Bindings"];
            const session = (await asked.server.streamed(asked.params["session"] ?? "")) ?? sessionOf(asked);
            const leave = streamOf(asked);
            return eventStream(session, {
                client: asked.client.id,
                after: from,
                signal: asked.signal,
                leave,
                outgoing,
                drop: () => {
                    asked.server.metrics.cut();
                    outgoing?.destroy();
                },
            });
        },
    }),

    // ---- turns ----
    route({
        method: "post",
        path: `${session}/turns`,
        scope: "submit",
        summary: "Submits a turn",
        body: NewTurn,
        query: { wait: "`1`: answer when the turn is over; a client that goes away before cancels it, unless the request has a key" },
        most: MAX_PICTURED,
        headers: { "idempotency-key": "the same key with the same body is the same turn" },
        answers: {
            400: "there is no model of this name",
            202: "the turn, queued or begun",
            200: "with `wait`: the turn, over",
            403: "the server does not offer the model",
            409: "the key was used for something else",
            429: "too many wait",
        },
        run: submit,
    }),
    route({
        method: "get",
        path: `${session}/turns/{turn}`,
        scope: "observe",
        summary: "A turn",
        answers: { 200: "the turn", 404: "no such turn" },
        run: (asked) => {
            const turn = sessionOf(asked).turn(asked.params["turn"] ?? "");
            if (turn === null) throw new HttpError(404, "unknown", "there is no such turn in this session");
            return ok(turn);
        },
    }),
    route({
        method: "get",
        path: `${session}/turns/{turn}/images/{n}`,
        scope: "observe",
        summary: "A picture that a turn came with, by its place from 0",
        answers: { 200: "its bytes", 404: "no such picture" },
        run: picture,
    }),
    route({
        method: "post",
        path: `${session}/turns/{turn}/cancel`,
        scope: "submit",
        summary: "Cancels a turn that runs or waits for its turn",
        answers: ACK,
        run: async (asked) => ok(await sessionOf(asked).cancel(asked.params["turn"] ?? "", asked.client)),
    }),

    // ---- tools ----
    route({
        method: "put",
        path: `${session}/tools/{tool}`,
        scope: "lend",
        summary: "Lends a tool to the session; lent again it is another tool",
        body: ToolSpec,
        answers: { ...ACK, 413: "the description with its schema is longer than 4,096 bytes" },
        run: async (asked) => {
            const { params, body, client } = asked;
            const tool = params["tool"] ?? "";
            if (!TOOL_NAME.test(tool))
                throw new HttpError(400, "contract", `'${tool.slice(0, 60)}' is no name of a tool`, {
                    hint: "a letter, then letters, digits and _, at most 40",
                });
            if (Buffer.byteLength(JSON.stringify(body)) > MAX_SPEC_BYTES)
                throw new HttpError(413, "too-large", `the description of a tool is longer than ${MAX_SPEC_BYTES} bytes`);
            return ok(await sessionOf(asked).lend(client.id, tool, body));
        },
    }),
    route({
        method: "delete",
        path: `${session}/tools/{tool}`,
        scope: "lend",
        summary: "Withdraws a tool; its open calls fail with that reason",
        answers: ACK,
        run: async (asked) => ok(await sessionOf(asked).withdraw(asked.client.id, asked.params["tool"] ?? "")),
    }),
    route({
        method: "post",
        path: `${session}/calls/{call}/result`,
        scope: "lend",
        summary: "The result of a call, from the client that the call went to; the same one again counts once",
        body: CallResult,
        isOnce: true,
        most: MAX_PICTURED,
        answers: ACK,
        run: async (asked) => {
            if (asked.body.ok) checkPictures(asked.body.images);
            return ok(await sessionOf(asked).result(asked.client.id, asked.params["call"] ?? "", asked.body));
        },
    }),

    // ---- people ----
    route({
        method: "post",
        path: `${session}/asks/{ask}/decision`,
        scope: "approve",
        summary: "Decides about a call that waits",
        body: Decision,
        answers: ACK,
        run: async (asked) => ok(await sessionOf(asked).decide(asked.client.id, asked.params["ask"] ?? "", asked.body.decision)),
    }),
    route({
        method: "post",
        path: `${session}/asks/{ask}/answer`,
        scope: "submit",
        summary: "Answers a question of the program; without `answer`, says that the person gives none",
        body: Answer,
        answers: ACK,
        run: async (asked) => {
            const { answer } = asked.body;
            const [asking, by, ask] = [sessionOf(asked), asked.client.id, asked.params["ask"] ?? ""] as const;
            return ok(await (answer === undefined ? asking.lapse(by, ask) : asking.answer(by, ask, answer)));
        },
    }),

    route({
        method: "get",
        path: "/v1/asks",
        scope: "observe",
        summary: "Open questions of runs of no session here, which their projects send to the server",
        answers: { 200: "`asks`, oldest first" },
        run: async ({ server, client }) => ok({ asks: server.secrets.scrub((await routedAsks(server, client)) as unknown as Json) }),
    }),
    route({
        method: "post",
        path: "/v1/asks/{ask}/decision",
        scope: "approve",
        summary: "Decides one of them, as the client's identity; the run goes on where it is resumed",
        body: Decision,
        answers: ACK,
        run: async ({ server, client, params, body }) => ok(await decideRouted(server, client, params["ask"] ?? "", body.decision)),
    }),

    // ---- runs ----
    ...RUN_ROUTES,
    ...CHAT_ROUTES,
];

/**
 * The body with the model that is meant. What is not listed is an error, and never another model: a URI says more than which model, such as a file that
 * is read, or an address that the conversation is sent to. The owner may name any.
 */
async function meant<B extends { readonly model?: string | undefined }>({ server, client, body }: Asked<B>): Promise<B> {
    const { model } = body;
    if (model === undefined) return body;
    const found = await server.modelMeant(model);
    if (found.ok) return { ...body, model: found.model };
    const isUri = model.includes(":") && parseModelUri(model).ok;
    if (isUri && client.scopes.includes("admin")) return body;
    throw new HttpError(isUri ? 403 : 400, isUri ? "forbidden" : "model", plainLine(found.message), { hint: plainLine(found.hint) });
}

async function submit(asked: Asked<Wire.NewTurn>): Promise<Answered | Response> {
    const { client, signal } = asked;
    const session = sessionOf(asked);
    const body = await meant(asked);
    checkPictures(body.images);
    const key = asked.header("idempotency-key");
    if (key !== undefined && (key === "" || key.length > 200))
        throw new HttpError(400, "contract", "the idempotency key has 1 to 200 characters");
    try {
        const turn = await session.submit(client.id, body, key);
        if (turn === null)
            throw new HttpError(429, "too-many", "too many turns wait in this session", {
                hint: "wait for one, or cancel one",
                headers: { "retry-after": "5" },
            });
        if (asked.query("wait") === "1") {
            const over = new AbortController();
            const gone = (): void => {
                over.abort();
                // With a key the client says that it comes back.
                if (key === undefined)
                    session
                        .cancel(turn.id, client)
                        .catch((error: Error) => asked.server.log("error", `a turn was not cancelled: ${error.message}`));
            };
            signal.addEventListener("abort", gone, { once: true });
            return waitedFor(session.ended(turn.id, over.signal) as Promise<Json>, gone);
        }
        const headers = { location: `/v1/sessions/${session.id}/turns/${turn.id}` };
        return { status: 202, json: turn as unknown as Json, headers };
    } catch (error) {
        if (!(error instanceof KeyConflict)) throw error;
        throw new HttpError(409, "conflict", `the idempotency key was used for another turn, ${error.message}`);
    }
}

function checkPictures(pictures: readonly Wire.Picture[] | undefined): void {
    const why = notTaken(pictures);
    if (why !== null)
        throw new HttpError(400, "picture", why, { hint: `PNG, JPEG, WebP and GIF are taken, at most ${MAX_PICTURES} of 5 MiB each` });
}

async function picture(asked: Asked<unknown>): Promise<Response> {
    const { params } = asked;
    const found = (await sessionOf(asked).pictures(params["turn"] ?? ""))[Number(params["n"])];
    if (found === undefined) throw new HttpError(404, "unknown", "this turn came with no such picture");
    return new Response(Buffer.from(found.data, "base64"), {
        headers: {
            "content-type": found.media_type,
            "content-security-policy": "default-src 'none'; sandbox",
            "cache-control": "private, max-age=3600",
        },
    });
}

function taken<T>(one: T | null | "locked"): T {
    if (one === "locked")
        throw new HttpError(429, "too-many", "too many wrong codes within a minute", { headers: { "retry-after": "60" } });
    if (one === null)
        throw new HttpError(403, "forbidden", "the code is wrong, was used, or is too old", { hint: "ask the terminal for a new one" });
    return one as T;
}
