/**
 * Connections to MCP servers: one a server, made at its first use, kept while a program of this process uses it.
 *
 * Boundary: processes, transports and the protocol's era. What calls mean is in `mcp.ts`. Specification: Model Context Protocol, revisions up to
 * 2025-11-25 (`legacy`) and 2026-07-28 (`modern`).
 *
 * MR1: a server is started only from a configuration that counts (CO3 in `config.ts`), without a shell, with a small environment and what it names.
 * MR2: a server that ended is started again at the next call, never within one.
 * MS9: programs share a connection where everything that the server is started or reached with is equal, credentials among it, and the configuration
 *     file, the name, the workspace, the user and the identity on whose behalf the call is are, too; one with a credential serves that credential in
 *     one program. What a server keeps in its session is so seen by one user in one workspace alone.
 * MR3: `close` ends every process with its group: its input is closed, then it is asked, then it is killed, a grace time between each.
 * MR6: a server's schema of its results is not run: its patterns may take time without bound, and what it gives is data, held by the program's
 *     contracts. (What a model sends is checked against the schema of arguments by the machine.)
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { Client, JsonSchemaValidator, RequestId } from "@modelcontextprotocol/client";
import { didYouMean } from "@remit/language";
import type { FailureKind } from "@remit/machine";
import { expand } from "../config/expand.ts";
import type { From } from "../config/config.ts";
import type { ServerConfig } from "../config/rules.ts";
import { unconfinedEnv } from "../process/sandbox.ts";
import { lastLines, MAX_STDERR } from "../process/piped.ts";
import { tailOf } from "../secret/cut.ts";
import { looksSecret } from "../secret/names.ts";
import type { Scrubber } from "../secret/scrub.ts";
import type { Begin } from "../process/child.ts";
import { elicit } from "./mcp-elicit.ts";
import { type Authorizing, authorizing } from "./mcp-authorized.ts";
import { boundedFetch } from "./mcp-fetch.ts";
import { refusal, typed } from "./mcp-result.ts";
import { stdioTransport } from "./mcp-stdio.ts";
import { type Asked, type CallIO, type ToolContext, ToolFail } from "./tool.ts";

export interface Connection {
    readonly client: Client;
    /** Calls under way, in the order in which they began, and how many questions each has led to. */
    readonly calls: Map<CallIO, number>;
    /** The last that the server wrote to its standard error, without secrets. */
    stderr(secrets: Scrubber): string;
    /** The last that it wrote to its standard output and that is no message, without secrets. */
    stray(secrets: Scrubber): string;
    ended(): boolean;
    /** The credential that its requests are sent with. */
    readonly newest?: Authorizing["newest"];
}

export interface Servers {
    connect(key: string, asked: Asked): Promise<Connection>;
    /** Lets go of the connections; one that no other program uses ends. */
    close(): Promise<void>;
}

/** How a server is reached, with all that its configuration and the environment put in. */
interface Target {
    readonly key: string;
    /** The configuration that says so. */
    readonly file: string;
    readonly protocol: NonNullable<ServerConfig["protocol"]>;
    readonly at: { readonly url: string; readonly headers: { readonly [name: string]: string } } | Begin;
}

/** Largest message a server may send, bytes. */
const MAX_MESSAGE = 16 * 1024 * 1024;
/** Time a server has to start and say hello, milliseconds. */
const CONNECT_MS = 30_000;
const MODERN = "2026-07-28";

export function mcpServers(context: ToolContext): Servers {
    const holder = {};
    const id = randomUUID();
    const targets = new Map<string, Target>();
    const { pool, user, workspace, children, secrets } = context;
    return {
        connect: async (key, asked) => {
            const { owner = user, signal } = asked;
            const target = targets.get(key) ?? targetOf(key, serverOf(key, context), context);
            targets.set(key, target);
            const sent =
                "url" in target.at ? await authorizing(target.at.url, asked, context.credentials, hasHeader(target.at.headers)) : null;
            const shared = [target, workspace, owner, asked.effect?.as ?? null, ...(sent === null ? [] : [id, sent.key])];
            const made = pool
                .take(JSON.stringify(shared), holder, (ending) => connectTo({ ...target, children, secrets }, sent, ending))
                .then((connection) => {
                    // It may have been made with an earlier value.
                    if (sent !== null && connection.newest !== undefined) Object.assign(connection.newest, sent.newest);
                    return connection;
                });
            return signal === undefined ? made : raced(made, signal);
        },
        close: () => pool.release(holder),
    };
}

function hasHeader(headers: { readonly [name: string]: string }): boolean {
    return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}

function raced<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise((done, fail) => {
        const stop = (): void => fail(new ToolFail("the call was cancelled", { kind: "cancelled" }));
        if (signal.aborted) return stop();
        signal.addEventListener("abort", stop, { once: true });
        work.then(done, fail).finally(() => signal.removeEventListener("abort", stop));
    });
}

function serverOf(key: string, context: ToolContext): From<ServerConfig> {
    const { servers, withheld } = context.config;
    const found = Object.hasOwn(servers, key) ? servers[key] : undefined;
    if (found !== undefined) return found;
    const file = withheld.get(`mcp:${key}`);
    if (file !== undefined)
        throw new ToolFail(
            `the server '${key}' is configured by ${file.name}, which is not trusted${file.trust.state === "changed" ? " since it was changed" : ""}`,
            {
                kind: "denied",
                hint: "it would start a command or send credentials: look at that file, then trust it with `remit trust`, or --trust for once",
            },
        );
    const known = Object.keys(servers);
    const meant = didYouMean(key, known);
    throw new ToolFail(`no server '${key}' is configured`, {
        kind: "unreachable",
        hint:
            known.length === 0
                ? 'write {"mcpServers": {"NAME": {"command": "…"}}} into remit.json'
                : (meant ?? `configured are ${known.join(", ")}`),
    });
}

interface Attempt {
    readonly client: Client;
    readonly connection: Connection;
    connect(): Promise<void>;
    /** Ends the process or the requests, whether or not the client has the transport yet. */
    readonly close: () => void;
}

async function connectTo(
    target: Target & Pick<ToolContext, "children" | "secrets">,
    sent: Authorizing | null,
    ending: AbortSignal,
): Promise<Connection> {
    const { protocol } = target;
    // A process is asked the old way first: that starts it once whichever era it speaks, unless it speaks the new one alone.
    const modes =
        protocol === "auto" ? ("url" in target.at ? (["auto"] as const) : (["legacy", "modern"] as const)) : ([protocol] as const);
    let problem: unknown = null;
    for (const mode of modes) {
        const attempt = await prepare(target, sent, mode);
        if (ending.aborted) throw new ToolFail("the call was cancelled", { kind: "cancelled" });
        // A server that never says hello does not hold up the end of the run.
        ending.addEventListener("abort", attempt.close, { once: true });
        try {
            await attempt.connect();
            return attempt.connection;
        } catch (error) {
            await attempt.client.close();
            problem = sent?.newest.fail ?? unreachable(target, error, attempt.connection, target.secrets);
            if (!(await answered(error))) break;
        } finally {
            ending.removeEventListener("abort", attempt.close);
        }
    }
    throw problem;
}

/** The server answered, though not as was hoped: it may speak the other era. */
async function answered(error: unknown): Promise<boolean> {
    const { ProtocolError } = await import("@modelcontextprotocol/client");
    return error instanceof ProtocolError;
}

/** MR6, in the library's words. */
function takesAll<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
}

async function prepare(
    { key, at, children, secrets }: Target & Pick<ToolContext, "children" | "secrets">,
    sent: Authorizing | null,
    mode: "auto" | "legacy" | "modern",
): Promise<Attempt> {
    const sdk = await import("@modelcontextprotocol/client");
    const client = new sdk.Client(
        { name: "remit", version: "0.1.0" },
        {
            capabilities: { elicitation: { form: {} } },
            versionNegotiation: { mode: mode === "modern" ? { pin: MODERN } : mode },
            listMaxPages: 50,
            jsonSchemaValidator: { getValidator: takesAll },
        },
    );
    let ended = false;
    let wrote: Wrote = { stderr: () => "", stray: () => "" };
    const calls = new Map<CallIO, number>();
    client.onclose = () => {
        ended = true;
    };
    // Told again by the call that it concerns; a stray message is no call's failure.
    client.onerror = () => undefined;
    client.setRequestHandler("elicitation/create", (request) => elicit(key, request.params, calls, secrets));

    let transport: Parameters<Client["connect"]>[0];
    if ("url" in at) {
        const refuse = (id: RequestId, fail: ToolFail): void => transport.onmessage?.(refusal(id, fail));
        const bounded = boundedFetch({ server: key, maxBytes: MAX_MESSAGE, refuse });
        transport = new sdk.StreamableHTTPClientTransport(new URL(at.url), {
            requestInit: { headers: at.headers },
            fetch: sent === null ? bounded : sent.fetch(bounded),
        });
    } else {
        const stdio = await stdioTransport(children, at, { server: key, maxMessage: MAX_MESSAGE });
        wrote = stdio;
        transport = stdio;
    }
    const newest = sent === null ? {} : { newest: sent.newest };
    const connection: Connection = {
        client,
        calls,
        stderr: (secrets) => wrote.stderr(secrets),
        stray: (secrets) => wrote.stray(secrets),
        ended: () => ended,
        ...newest,
    };
    return {
        client,
        connection,
        connect: () => client.connect(typed(transport), { timeout: CONNECT_MS }),
        close: () => void transport.close(),
    };
}

/** Tells every secret that is put in. */
function targetOf(key: string, config: From<ServerConfig>, { env, secrets }: ToolContext): Target {
    const put = (text: string, what: string): string => {
        const { text: out, used } = expand(text, env);
        for (const name of used) secrets.add({ name: `env:${name}`, value: env[name] ?? "" });
        if (used.length === 0 && looksSecret(what, out)) secrets.add({ name: `config:${key}.${what}`, value: out });
        return out;
    };
    const putAll = (map: { readonly [name: string]: string } | undefined): { [name: string]: string } =>
        Object.fromEntries(Object.entries(map ?? {}).map(([name, text]) => [name, put(text, name)]));
    const { folder } = config.file;
    const at =
        config.url !== undefined
            ? { url: config.url, headers: putAll(config.headers) }
            : {
                  command: commandOf(config.command ?? "", folder),
                  args: config.args ?? [],
                  env: unconfinedEnv(env, putAll(config.env)),
                  cwd: resolve(folder, config.cwd ?? "."),
              };
    return { key, file: config.file.path, protocol: config.protocol ?? "auto", at };
}

/** `node` means this Node where the search path has none; a path begins at the configuration's folder. */
function commandOf(command: string, folder: string): string {
    if (command === "node") return process.execPath;
    return command.includes("/") && !isAbsolute(command) ? resolve(folder, command) : command;
}

type Wrote = Pick<Connection, "stderr" | "stray">;

/** Of a server that does not answer, with what it wrote: that may tell why, and a hint from it goes before that of `more`. */
export function failedBy(
    { stderr, stray }: Wrote,
    message: string,
    secrets: Scrubber,
    more: { readonly kind: FailureKind; readonly hint?: string },
): ToolFail {
    const [said, line] = [tidy(stderr(secrets), MAX_STDERR, secrets), tidy(stray(secrets), 1000, secrets)];
    return new ToolFail(said === "" ? message : `${message}; it wrote: ${lastLines(said)}`, {
        ...more,
        ...(line === "" ? {} : { hint: `its standard output is for messages of the protocol, and it wrote there: ${line}` }),
        ...(said === "" ? {} : { detail: { stderr: said } }),
    });
}

export function unreachable({ key, at }: Target, error: unknown, wrote: Wrote, secrets: Scrubber): ToolFail {
    if (error instanceof ToolFail) return error;
    const code = Error.isError(error) && "code" in error && typeof error.code === "string" ? error.code : "";
    const where = "url" in at ? at.url : at.command;
    const isGone = code === "ENOENT";
    // The system says the same where the folder is missing.
    const folder = isGone && "cwd" in at && !existsSync(at.cwd) ? at.cwd : null;
    const why =
        code === "REQUEST_TIMEOUT"
            ? `it did not say hello within ${CONNECT_MS} ms, so it may not speak the Model Context Protocol`
            : tidy(Error.isError(error) ? error.message : String(error), 500, secrets);
    const message = isGone
        ? `the server '${key}' cannot be started: there is no ${folder === null ? `command '${where}'` : `folder '${folder}'`}`
        : `the server '${key}' (${where}) cannot be reached: ${why}`;
    const install = "install it, put its folder on the PATH, or mend `command` of that server in remit.json";
    const hint = folder === null ? install : "mend `cwd` of that server in remit.json";
    return failedBy(wrote, message, secrets, { kind: "unreachable", ...(isGone ? { hint } : {}) });
}

/** Sequences a terminal obeys: ECMA-48, control sequences. */
const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, "g");

/** The end of a text without secrets and without control characters: what a terminal would obey is not shown. */
export function tidy(text: string, max: number, secrets: Scrubber): string {
    // Before, too: a key of several lines has control characters in it.
    const plain = secrets
        .text(text)
        .replace(ESCAPES, "")
        .replace(/[\p{Cc}--[\n\t]]/gv, "")
        .trim();
    return tailOf(plain, max, secrets);
}
