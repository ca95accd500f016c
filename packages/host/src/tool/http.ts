/**
 * `http://origin` and `https://origin`: requests to one origin.
 *
 * Boundary: one request and its redirects. A method is a verb of HTTP. Results are AgentScript's.
 *
 * P1: no request leaves the origin of the import, whatever a URL or a redirect says.
 * P2: an address that is private, link-local or reserved is not connected to, unless the program itself says a loopback or private address in
 *     an import or literal, or the configuration allows the origin. The address that was checked is the address that is used: names are looked up once.
 * P3: a body is read up to `MAX_BODY` bytes as decoded; time covers the whole exchange, redirects included.
 * P4: a secret goes only to origins its entry in `secrets` names, the credential of a stage where its source lets it go (CRD1), and neither along a
 *     redirect to anywhere else (P1).
 */
import { lookup as dnsLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import type { Json } from "@remit/language";
import type { Agent, Dispatcher } from "undici";
import { authorizationOf, type Given } from "../credential/credentials.ts";
import { isLoopback } from "../process/loopback.ts";
import { isSecretRef, resolveSecret } from "../secret/ref.ts";
import { readJson } from "../input/json.ts";
import { literalOf, reachOf } from "./address.ts";
import { type Fields, objectArgument, readFields, schemaOf, unknownMethod } from "./args.ts";
import { checkUrl } from "./bounds.ts";
import { made, type CallIO, type MethodInfo, type Open, type ToolContext, ToolFail, type ToolHandle } from "./tool.ts";

const FIELDS: Fields = {
    url: { type: "text", description: "URL, relative to the import's", needed: true },
    headers: {
        type: "object",
        description: 'names and values; a value is text, a number, {"$secret": "env:NAME"}, or a list of these that are joined',
    },
    body: { type: "json", description: "text as it is, anything else as JSON" },
    timeout: { type: "number", description: "milliseconds", default: 10_000 },
};

/** Verbs that are described. Safe methods as in RFC 9110 section 9.2.1. */
const VERBS: readonly { readonly name: string; readonly safe: boolean }[] = [
    { name: "get", safe: true },
    { name: "head", safe: true },
    { name: "options", safe: true },
    { name: "post", safe: false },
    { name: "put", safe: false },
    { name: "patch", safe: false },
    { name: "delete", safe: false },
];
/**
 * Verbs that are sent all the same: the others of letters in IANA's registry of HTTP methods (RFC 9110 section 16.1), and what caches take. Any other
 * name is a slip: a server would answer it with 400 or 405, which a program may take for a result.
 */
const RARE_VERBS: ReadonlySet<string> = new Set(
    "ACL BIND CHECKIN CHECKOUT COPY LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL MKREDIRECTREF MKWORKSPACE MOVE ORDERPATCH PROPFIND PROPPATCH PURGE QUERY REBIND REPORT SEARCH UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF".split(
        " ",
    ),
);
/** Verbs that make a tunnel or show a request's own headers. */
const REFUSED_VERBS = new Set(["CONNECT", "TRACE", "TRACK"]);
/** Headers that belong to the connection. */
const REFUSED_HEADERS = new Set([
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "upgrade",
    "keep-alive",
    "te",
    "trailer",
    "expect",
    "proxy-authorization",
    "proxy-connection",
]);

/** Largest body of an answer, bytes as decoded. */
export const MAX_BODY = 16 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const MAX_TIMEOUT = 2 ** 31 - 1;

export const openHttp: Open = (uri, _about, context) => requestsTo(uri, context, true);

/** `meant`: the import itself says this origin. One that the caller chose gives no leave for private addresses (P2). */
export function requestsTo(uri: string, context: ToolContext, meant: boolean): ToolHandle {
    if (!URL.canParse(uri)) throw new ToolFail(`'${uri}' is not a URL`);
    const base = new URL(uri);
    if (base.username !== "" || base.password !== "")
        throw new ToolFail("the import's URL holds a name or a password", {
            kind: "denied",
            hint: 'give credentials in a header: {"$secret": "env:NAME"}',
        });
    const allowed = allowedReach(base, context, meant);
    const to = { origin: base.origin, named: meant, free: meant && isLoopback(base.hostname) };
    let dispatcher: Dispatcher | null = null;
    const methods: MethodInfo[] = VERBS.map(({ name, safe }) => ({
        name,
        description: `Sends a ${name.toUpperCase()} request to ${base.origin}.`,
        input: schemaOf(FIELDS),
        readOnly: safe,
        repeatable: safe,
    }));
    return {
        methods: () => methods,
        call: async (method, args, io) => {
            const verb = method.toUpperCase();
            // Of other signs some are these letters in capitals.
            if (!/^[A-Za-z]{1,20}$/.test(method) || REFUSED_VERBS.has(verb))
                throw new ToolFail(`'${method}' is no verb of a request`, { kind: "denied" });
            if (!RARE_VERBS.has(verb) && !VERBS.some(({ name }) => name === verb.toLowerCase()))
                throw unknownMethod(
                    io.name,
                    method,
                    VERBS.map(({ name }) => name),
                );
            const given = readFields(objectArgument(io.name, method, args), FIELDS);
            const url = within(base, given.url as string);
            checkUrl(io, uri, url);
            if (dispatcher === null) dispatcher = await connections(allowed);
            const request = { verb, url, headers: headersOf(given.headers, base, context), ...bodyOf(verb, given.body) };
            const timeout = Math.min(given.timeout as number, MAX_TIMEOUT);
            const through = dispatcher;
            // What the call itself gives comes first.
            if (request.headers.has("authorization")) return exchange(request, base, through, timeout, io);
            return context.credentials.send(io, to, {
                send: (credential) => exchange(authorized(request, credential), base, through, timeout, io),
                unauthorized: ({ status }) => status === 401,
            });
        },
        close: async () => {
            const open = dispatcher;
            dispatcher = null;
            await open?.destroy();
        },
    };
}

/** Is a method of an http tool only reading? */
export function isSafeVerb(method: string): boolean {
    return VERBS.some(({ name, safe }) => safe && name === method.toLowerCase());
}

interface Allowed {
    readonly private: boolean;
    /** Link-local and reserved addresses: only where the configuration names the origin. */
    readonly never: boolean;
}

/** Connections to an origin that a program names, under the same rules (P2). The caller that takes them ends them. */
export function reachable(base: URL, config: ToolContext["config"], more: Pick<Agent.Options, "webSocket"> = {}): Promise<Dispatcher> {
    return connections(allowedReach(base, { config }, true), more);
}

function allowedReach(base: URL, context: Pick<ToolContext, "config">, meant: boolean): Allowed {
    const named = context.config.privateOrigins.has(base.origin);
    const literal = literalOf(base.hostname);
    if (literal === null) return { private: named, never: false };
    const reach = reachOf(literal);
    if ((reach === "never" || (reach === "private" && !meant)) && !named)
        throw new ToolFail(`${base.hostname} is an address that programs do not reach`, {
            kind: "denied",
            hint: `http.private of a trusted remit.json can allow ${base.origin}`,
        });
    return { private: reach === "private" || named, never: reach === "never" };
}

/** The URL of a request: relative ones resolved, other origins refused. */
function within(base: URL, text: string): URL {
    if (!URL.canParse(text, base.href)) throw new ToolFail(`'${text}' is not a URL`);
    const url = new URL(text, base);
    if (url.origin !== base.origin)
        throw new ToolFail(`${url.origin} is not the origin of this import, ${base.origin}`, {
            kind: "denied",
            hint: `import another tool from "${url.origin}"`,
        });
    if (url.username !== "" || url.password !== "") throw new ToolFail("a URL must not hold a name or a password", { kind: "denied" });
    url.hash = "";
    return url;
}

function headersOf(given: Json | undefined, base: URL, context: ToolContext): Headers {
    const headers = new Headers({ "user-agent": "remit", accept: "*/*" });
    for (const [name, value] of Object.entries((given ?? {}) as { [name: string]: Json })) {
        if (value === null) continue;
        if (REFUSED_HEADERS.has(name.toLowerCase())) throw new ToolFail(`the header '${name}' belongs to the connection`);
        const text = (Array.isArray(value) ? value : [value]).map((part) => headerPart(name, part, base, context)).join("");
        setHeader(headers, name, text);
    }
    return headers;
}

/** P4: with the credential of its stage. */
function authorized(request: Request, given: Given | null): Request {
    if (given === null) return request;
    const headers = new Headers(request.headers);
    setHeader(headers, "authorization", authorizationOf(given));
    return { ...request, headers };
}

function setHeader(headers: Headers, name: string, text: string): void {
    try {
        headers.set(name, text);
    } catch (error) {
        // The platform's own message would show the value.
        if (!(error instanceof TypeError)) throw error;
        throw new ToolFail(`the header '${name}' has a name or a value that no request can carry`);
    }
}

function headerPart(name: string, part: Json, base: URL, context: ToolContext): string {
    if (typeof part === "string" || typeof part === "number" || typeof part === "boolean") return String(part);
    if (!isSecretRef(part)) throw new ToolFail(`the value of the header '${name}' must be text`);
    const reference = part.$secret;
    const allowed = context.config.secrets[reference];
    if (allowed === undefined || !allowed.origins.includes(base.origin))
        throw new ToolFail(`the secret ${reference} may not be sent to ${base.origin}`, {
            kind: "denied",
            hint: `in a trusted remit.json write "secrets": {"${reference}": ["${base.origin}"]}`,
        });
    const secret = resolveSecret(reference, { env: context.env, folder: allowed.file.folder });
    if (!secret.ok) throw new ToolFail(secret.message, { kind: "denied" });
    context.secrets.add({ name: reference, value: secret.value });
    return secret.value;
}

function bodyOf(verb: string, body: Json | undefined): { readonly body: string | null; readonly type: string | null } {
    if (body === undefined) return { body: null, type: null };
    if (verb === "GET" || verb === "HEAD") throw new ToolFail(`a ${verb} request has no body`);
    return typeof body === "string" ? { body, type: "text/plain;charset=UTF-8" } : { body: JSON.stringify(body), type: "application/json" };
}

/** Connections whose addresses are checked when they are made (P2), as `resolve` says where names lead. */
export async function connections(
    allowed: Allowed,
    more: Pick<Agent.Options, "webSocket"> = {},
    resolve: typeof dnsLookup = dnsLookup,
): Promise<Dispatcher> {
    // A bundle has its names in the default alone.
    const { Agent } = (await import("undici")).default;
    const fits = (address: string): boolean => {
        const reach = reachOf(address);
        return reach === "public" || (reach === "private" ? allowed.private : allowed.never);
    };
    const lookup: LookupFunction = (hostname, options, done) => {
        resolve(hostname, { ...options, all: true }, (error, found) => {
            if (error !== null) return done(error, "", 0);
            const good = found.filter(({ address }) => fits(address));
            const [first] = good;
            if (first === undefined)
                return done(
                    Object.assign(new Error(`${hostname} is at an address that programs do not reach`), { code: FORBIDDEN }),
                    "",
                    0,
                );
            if (options.all === true) done(null, good);
            else done(null, first.address, first.family);
        });
    };
    return new Agent({ connect: { lookup }, connections: 16, pipelining: 1, allowH2: false, ...more });
}
const FORBIDDEN = "REMIT_FORBIDDEN_ADDRESS";

interface Request {
    readonly verb: string;
    readonly url: URL;
    readonly headers: Headers;
    readonly body: string | null;
    readonly type: string | null;
}

async function exchange(first: Request, base: URL, dispatcher: Dispatcher, timeout: number, io: CallIO): Promise<Answer> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeout);
    const signal = AbortSignal.any([io.signal, late.signal]);
    let hasLeft = false;
    try {
        let request = first;
        for (let redirects = 0; ; redirects++) {
            const response = await send(request, dispatcher, signal);
            hasLeft = true;
            const next = redirect(request, response, base);
            if (next === null) return await answer(response, request.url);
            if (redirects >= MAX_REDIRECTS) throw new ToolFail(`more than ${MAX_REDIRECTS} redirects`);
            await response.body?.cancel();
            checkUrl(io, base.href, next.url);
            request = next;
        }
    } catch (error) {
        const fail = failed(error, first.url, timeout, io.signal, late.signal);
        throw hasLeft && fail instanceof ToolFail ? made(fail) : fail;
    } finally {
        clearTimeout(timer);
    }
}

async function send({ verb, url, headers, body, type }: Request, dispatcher: Dispatcher, signal: AbortSignal) {
    const { fetch } = (await import("undici")).default;
    const all: [string, string][] = [...headers];
    if (type !== null && !headers.has("content-type")) all.push(["content-type", type]);
    return fetch(url, { method: verb, headers: all, body, redirect: "manual", dispatcher, signal });
}
type Response = Awaited<ReturnType<typeof send>>;

/** What to ask for next; null where this is the answer. As RFC 9110 section 15.4: 303, and 301 or 302 after a POST, go on as GET. */
function redirect(request: Request, response: Response, base: URL): Request | null {
    const location = response.headers.get("location");
    if (location === null || ![301, 302, 303, 307, 308].includes(response.status)) return null;
    if (!URL.canParse(location, request.url.href)) throw new ToolFail("the server redirected to something that is not a URL");
    const to = new URL(location, request.url);
    if (to.origin !== base.origin)
        throw new ToolFail(`the server redirected to another origin, ${to.origin}`, {
            kind: "denied",
            hint: `import a tool from "${to.origin}" to follow it`,
        });
    const url = within(base, to.href);
    const asGet = response.status === 303 ? request.verb !== "HEAD" : response.status < 303 && request.verb === "POST";
    return asGet ? { ...request, url, verb: "GET", body: null, type: null } : { ...request, url };
}

interface Answer {
    readonly [key: string]: Json;
    readonly status: number;
}

async function answer(response: Response, url: URL): Promise<Answer> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const reader = response.body?.getReader();
    for (; reader !== undefined; ) {
        const { done, value } = await reader.read();
        if (done) break;
        size += value.byteLength;
        if (size > MAX_BODY) {
            await reader.cancel();
            throw new ToolFail(`the answer of ${url.origin}${url.pathname} is larger than ${MAX_BODY} bytes`);
        }
        chunks.push(value);
    }
    const type = response.headers.get("content-type") ?? "";
    const { body, note } = decoded(Buffer.concat(chunks), type);
    const read = readJson(body);
    // JSON that could not be read as it stands is left in the body. What is none is told where it was said to be some.
    const isMeant = !read.ok && (read.isJson || (body !== "" && /^[^;]*[/+]json\b/i.test(type)));
    const notes = [...(note === null ? [] : [note]), ...(isMeant ? [`the body ${read.message}; json is none, the text is in body`] : [])];
    return {
        ok: response.status >= 200 && response.status < 300,
        status: response.status,
        body,
        json: read.ok ? read.value : null,
        ...(notes.length === 0 ? {} : { note: notes.join("; ") }),
    };
}

/** As the content type says; an unknown one is read as UTF-8. What cannot be read as it stands is told. */
function decoded(bytes: Uint8Array, type: string): { readonly body: string; readonly note: string | null } {
    const charset = /;\s*charset="?([^";\s]+)/i.exec(type)?.[1] ?? "utf-8";
    let label = "utf-8";
    let note: string | null = null;
    try {
        label = new TextDecoder(charset).encoding;
    } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        note = `the charset '${charset.slice(0, 40)}' of the body is not known: it is read as UTF-8`;
    }
    try {
        return { body: new TextDecoder(label, { fatal: true }).decode(bytes), note };
    } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        const why = `the body holds bytes that are not ${label.toUpperCase()}: each stands as U+FFFD`;
        return { body: new TextDecoder(label).decode(bytes), note: note === null ? why : `${note}; ${why}` };
    }
}

function failed(error: unknown, url: URL, timeout: number, cancelled: AbortSignal, late: AbortSignal): unknown {
    if (error instanceof ToolFail) return error;
    if (cancelled.aborted) return new ToolFail("the request was cancelled", { kind: "cancelled" });
    if (late.aborted) return new ToolFail(`no answer after ${timeout} ms`, { kind: "timeout" });
    for (let cause: unknown = error; Error.isError(cause); cause = cause.cause) {
        const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
        if (code === FORBIDDEN)
            return new ToolFail(cause.message, { kind: "denied", hint: `http.private of a trusted remit.json can allow ${url.origin}` });
        if (code !== "") return new ToolFail(`${url.origin} cannot be reached (${code})`, { kind: "unreachable" });
    }
    return Error.isError(error) ? new ToolFail(`${url.origin} cannot be reached (${error.message})`, { kind: "unreachable" }) : error;
}
