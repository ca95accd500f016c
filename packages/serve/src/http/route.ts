/**
 * What a route is: one row that the server answers by and its description is made from.
 *
 * Boundary: shapes and the way from a request to a row's handler.
 */
import type { Readable, Writable } from "node:stream";
import { isLater, type LedgerError, mayBeKept } from "@remit/host";
import type { Json } from "@remit/language";
import type { Context } from "hono";
import type { z } from "zod";
import { isRefusal, lacks, type Refusal } from "../access/guard.ts";
import type { Client } from "../access/clients.ts";
import type { Server } from "../server.ts";
import { Undecided } from "../session/asks.ts";
import { type At, whyText } from "../watch/stalls.ts";
import { isTooDeep, MAX_DEPTH } from "../wire/bodies.ts";
import type { Scope } from "../wire/messages.ts";

/** What the server's own parts hand in with a request; nothing of it comes from outside. */
export type Env = {
    Bindings: {
        /** Who sends it, where a WebSocket has said so before. */
        readonly client?: Client;
        /** What came over a WebSocket. */
        readonly message?: Message;
        /** The request as Node has it, where it came by one. */
        readonly incoming?: Readable;
        /** Another process handed it on: it is performed here, or not at all. */
        readonly here?: true;
        readonly outgoing?: Writable;
    };
    Variables: {
        /** Path of the row that answers. */
        route?: string;
        /** Id of the client. */
        client?: string;
    };
};

/** A request that came as a message. */
export interface Message {
    /** Its body, read; `undefined`: it has none. */
    readonly body: unknown;
    /** Of the whole message. */
    readonly bytes: number;
    /** Ends with the connection. */
    readonly signal: AbortSignal;
}

export interface Asked<B> {
    readonly server: Server;
    readonly client: Client;
    readonly params: { readonly [name: string]: string };
    readonly body: B;
    query(name: string): string | undefined;
    header(name: string): string | undefined;
    readonly signal: AbortSignal;
    /** Id that this request has in the log. */
    readonly c: Context;
}

export interface Route<B = unknown> {
    readonly method: "get" | "post" | "put" | "delete";
    /** With `{name}` where a parameter stands, as OpenAPI has it. */
    readonly path: string;
    /** What a client needs; null: no credential. */
    readonly scope: Scope | null;
    readonly summary: string;
    readonly body?: z.ZodType<B>;
    /** It answers with a stream, which is not handed to another process as a whole. */
    readonly streams?: true;
    /** The same request again changes nothing more. */
    readonly isOnce?: true;
    /** Longest body, bytes; 1 MiB where absent. */
    readonly most?: number;
    readonly query?: { readonly [name: string]: string };
    readonly headers?: { readonly [name: string]: string };
    /** What it answers with, by status. */
    readonly answers: { readonly [status: number]: string };
    run(asked: Asked<B>): Promise<Response | Answered> | Response | Answered;
}

export interface Answered {
    readonly status?: number;
    readonly json: Json;
    readonly headers?: { readonly [name: string]: string };
}

/** A row whose handler knows its body. */
export function route<B>(row: Route<B>): Route {
    return row as Route;
}

/** What a request is answered with where it cannot be: a kind, what happened, what to do. */
export class HttpError extends Error {
    override readonly name = "HttpError";
    readonly status: number;
    readonly kind: string;
    readonly hint: string | undefined;
    readonly headers: { readonly [name: string]: string };
    constructor(
        status: number,
        kind: string,
        message: string,
        more: { hint?: string; headers?: { readonly [name: string]: string } } = {},
    ) {
        super(message);
        this.status = status;
        this.kind = kind;
        this.hint = more.hint;
        this.headers = more.headers ?? {};
    }
}

const KINDS: { readonly [status: number]: string } = { 401: "unauthorised", 403: "forbidden", 421: "misdirected", 429: "too-many" };

export function refused({ status, message, hint }: Refusal): HttpError {
    const headers: { readonly [name: string]: string } =
        status === 401 ? { "www-authenticate": 'Bearer realm="remit"' } : status === 429 ? { "retry-after": "60" } : {};
    return new HttpError(status, KINDS[status] ?? "refused", message, { ...(hint === undefined ? {} : { hint }), headers });
}

/** What a client is told that has as many streams as it may. */
export function tooManyStreams({ limits }: Server): string {
    return `the client has ${limits.streams} streams, which is as many as it may; end one, or start the server with a higher --limit streams=…`;
}

/** One stream more of the client; gives what ends it. Throws `HttpError` where it has as many as it may. */
export function streamOf({ server, client }: Asked<unknown>): () => void {
    const leave = server.allowance.stream(client.id);
    if (leave === null) throw new HttpError(429, "too-many", tooManyStreams(server), { headers: { "retry-after": "5" } });
    return leave;
}

const MAX_BODY = 1 << 20;

/** Runs a row for a request. Throws `HttpError`. */
export async function answer(server: Server, row: Route, c: Context<Env>): Promise<Response> {
    const { headers, method } = c.req.raw;
    c.set("route", row.path);
    let client: Client | null = null;
    if (row.scope !== null) {
        const found = (c.env as Env["Bindings"]).client ?? (await server.guard.identified(headers, method));
        if (isRefusal(found)) throw refused(found);
        const no = lacks(found, row.scope);
        if (no !== null) throw refused(no);
        // What another process handed on was counted there.
        if ((c.env as Env["Bindings"]).here !== true && !server.allowance.request(found.id))
            throw new HttpError(429, "too-many", `${found.id} sends more than ${server.limits.requests} requests a second`, {
                hint: "send fewer, or start the server with a higher --limit requests=…",
                headers: { "retry-after": "1" },
            });
        client = found;
        c.set("client", found.id);
    }
    const away = client === null || (c.env as Env["Bindings"]).here === true ? null : await elsewhere(server, row, c, client);
    if (away !== null) return away;
    const asked: Asked<unknown> = {
        server,
        client: client as Client,
        params: c.req.param() as { readonly [name: string]: string },
        body: row.body === undefined ? undefined : await bodyOf(c, row.body, row.most ?? MAX_BODY),
        query: (name) => c.req.query(name),
        header: (name) => c.req.header(name),
        // Asked for by few: Hono makes a whole `Request` for it.
        get signal() {
            return signalOf(c);
        },
        c,
    };
    const gave = await answered(server, row, asked);
    if (gave instanceof Response) return gave;
    return c.json(gave.json as never, (gave.status ?? 200) as never, { "cache-control": "no-store", ...gave.headers });
}

const OF_SESSION = "/v1/sessions/{session}";
const KEY = "idempotency-key";

/** RDY2. */
async function answered(server: Server, row: Route, asked: Asked<unknown>): Promise<Answered | Response> {
    const { session } = asked.params;
    const work = Promise.resolve(row.run(asked));
    if (row.method === "get" || session === undefined) return work;
    const came = await server.ready.stalls.orStalled(session, work);
    if ("gave" in came) return came.gave;
    const { why, at } = came.stalled;
    const what = at === undefined ? `the session ${session}` : runText(at);
    const isOnce = row.isOnce === true || (row.headers?.[KEY] !== undefined && asked.header(KEY) !== undefined);
    const again = isOnce ? "send it again as it is, it counts once" : "look at the session before you send it again";
    throw notTaken(why, `${what} goes on when it can be written`, `what was sent may count then: ${again}`);
}

function runText({ run, path }: At): string {
    return `the run ${run}${path === "" ? "" : `, which is at ${path},`}`;
}

function notTaken(why: LedgerError, what: string, hint: string): HttpError {
    return new HttpError(503, "ledger", `the server's ledger takes nothing now: ${whyText(why)}; ${what}`, {
        hint: `${hint}; /readyz says when`,
        headers: { "retry-after": "2" },
    });
}

/** What the ledger did not take; null: something else went wrong. */
export function unkept(error: Error): HttpError | null {
    if (error instanceof Undecided)
        return notTaken(error.why, `the question of ${runText(error.at)} stays open`, "answer it again when the ledger takes it");
    if (!isLater(error)) return null;
    const what = mayBeKept(error) ? "it may have been kept" : "nothing of it was kept";
    return notTaken(error, what, "send it again when the ledger takes it");
}

/** PRS1. Null where the request is for this process. */
async function elsewhere(server: Server, row: Route, c: Context, client: Client): Promise<Response | null> {
    const { processes } = server;
    const session = c.req.param("session");
    if (processes === null || session === undefined || !row.path.startsWith(OF_SESSION) || row.streams === true) return null;
    if (!(await processes.has(session))) return null;
    const { url, method } = c.req.raw;
    const { pathname, search } = new URL(url);
    const key = c.req.header(KEY);
    const body = row.body === undefined ? "" : await textOf(c, row.most ?? MAX_BODY);
    const headers: { readonly [name: string]: string } = key === undefined ? {} : { [KEY]: key };
    const said = await processes.forward({ session, client, method, path: pathname + search, headers, body }, signalOf(c));
    if (said === null)
        throw new HttpError(503, "unreachable", "the process that has the session did not answer", {
            hint: "ask again; a turn that is sent again with the same Idempotency-Key is the same turn",
            headers: { "retry-after": "2" },
        });
    const gave = said.isBase64 === true ? Buffer.from(said.body, "base64") : said.body;
    return new Response(gave, { status: said.status, headers: { "cache-control": "no-store", ...said.headers } });
}

/** Ends when the client is gone. */
export function signalOf(c: Context): AbortSignal {
    return (c.env as Env["Bindings"]).message?.signal ?? c.req.raw.signal;
}

async function bodyOf(c: Context, schema: z.ZodType, most: number): Promise<unknown> {
    const json = await jsonOf(c, most);
    if (isTooDeep(json)) throw new HttpError(400, "contract", `the body is nested more than ${MAX_DEPTH} deep`);
    const checked = schema.safeParse(json);
    if (checked.success) return checked.data;
    const [first] = checked.error.issues;
    const at = first?.path.length ? ` at \`${first.path.join(".")}\`` : "";
    throw new HttpError(400, "contract", `the body does not fit${at}: ${first?.message ?? "it is not what is expected"}`, {
        hint: "/v1/openapi.json describes it",
    });
}

async function jsonOf(c: Context, most: number): Promise<unknown> {
    const { message } = c.env as Env["Bindings"];
    if (message !== undefined) {
        if (message.bytes > most && Buffer.byteLength(textIn(message)) > most) throw tooLarge(most);
        return message.body ?? {};
    }
    const bytes = await read(c, most);
    if (bytes.length === 0) return {};
    if (!/^application\/json\b/i.test(c.req.header("content-type") ?? ""))
        throw new HttpError(415, "media-type", "the body has to be JSON", { hint: "send `Content-Type: application/json`" });
    try {
        return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    } catch (error) {
        throw new HttpError(400, "syntax", `the body is no JSON: ${(error as Error).message}`);
    }
}

async function textOf(c: Context, most: number): Promise<string> {
    const { message } = c.env as Env["Bindings"];
    return message === undefined ? new TextDecoder().decode(await read(c, most)) : textIn(message);
}

function textIn({ body }: Message): string {
    return body === undefined ? "" : JSON.stringify(body);
}

/** From Node's own stream where there is one: the one of a `Request` costs more than all that is done with a short body. */
async function read(c: Context, most: number): Promise<Uint8Array> {
    const said = Number(c.req.header("content-length") ?? 0);
    if (said > most) throw tooLarge(most);
    const { incoming } = c.env as Env["Bindings"];
    const parts: Uint8Array[] = [];
    let bytes = 0;
    // What is too long is answered on the connection that it comes over, so that stays open.
    for await (const part of incoming?.iterator({ destroyOnReturn: false }) ?? c.req.raw.body ?? []) {
        bytes += part.length;
        if (bytes > most) throw tooLarge(most);
        parts.push(part);
    }
    return Buffer.concat(parts);
}

function tooLarge(most: number): HttpError {
    return new HttpError(413, "too-large", `the body is longer than ${most} bytes`, { headers: { connection: "close" } });
}
