/**
 * `mcp://SERVER`: the tools of a configured MCP server.
 *
 * Boundary: calls and descriptions; connections are in `mcp-servers.ts`. Results are AgentScript's: `{ok, text, content, structured, isError}`.
 *
 * MCP4: `readOnly` and `repeatable` are what the server says in its annotations; without a word a tool neither only reads nor may be repeated.
 * MCP6: labels that a server states (`_meta.ifc` of a result, of a part of it or of a resource in one, `openWorldHint: true`) restrict: one part that is not trusted, or that is
 *     private, is enough, and a word that is not known counts as the stricter.
 *     What a tool with that hint tells as an error is not trusted either, nor is what a server with such a tool wrote to its standard error.
 * MCP7: what the result itself, as a whole, states otherwise can be let to grant (`labels from server`), where no part and no hint restricts it.
 * MCP5: what a server describes is cut to `MAX_TOOLS`, `MAX_DESCRIPTION` and `MAX_SCHEMA` before a model or a person sees it.
 */
import type { Client } from "@modelcontextprotocol/client";
import { isObject, type Json } from "@remit/language";
import type { Claims, Grants } from "@remit/machine";
import { type Fields, objectArgument, readFields } from "./args.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { type Connection, failedBy, tidy } from "./mcp-servers.ts";
import { refusedOf } from "./mcp-result.ts";
import { callAsTask } from "./mcp-task.ts";
import { patience } from "./patience.ts";
import { type CallIO, type MethodInfo, type Open, Sourced, ToolFail } from "./tool.ts";

const MAX_TOOLS = 512;
/** UTF-16 units. */
const MAX_DESCRIPTION = 4096;
const MAX_SCHEMA = 64 * 1024;
const CALL_MS = 60_000;
/** A call that keeps telling its progress may take this long altogether, milliseconds. */
const MAX_CALL_MS = 30 * 60_000;

const CALL: Fields = {
    tool: { type: "text", description: "name of the server's tool", needed: true },
    args: { type: "object", description: "its arguments", default: {} },
};

type Tool = Awaited<ReturnType<Client["listTools"]>>["tools"][number];

export const openMcp: Open = async (uri, _about, context) => {
    const key = uri.replace(/^mcp:(\/\/)?/, "").replace(/\/$/, "");
    if (key === "")
        throw new ToolFail("the import names no server", { hint: "write mcp://SERVER, with SERVER as in mcpServers of remit.json" });
    const servers = await context.servers();
    const { secrets } = context;
    return {
        methods: async (asked = {}) =>
            (await toolsOf(await servers.connect(key, asked), { key, secrets })).map((tool) => methodOf(tool, secrets)),
        call: async (method, args, io) => {
            const connection = await servers.connect(key, io);
            const tools = await toolsOf(connection, { key, secrets });
            let name = method;
            let given = objectArgument(io.name, method, args);
            // `call` is ours; a server's tool of that name is reached by `call({tool: "call"})`.
            if (method === "call") {
                const fields = readFields(given, CALL);
                name = fields.tool as string;
                given = fields.args as { readonly [key: string]: Json };
            }
            const tool = tools.find((one) => one.name === name);
            if (tool === undefined)
                throw new ToolFail(
                    `the server '${key}' has no tool '${name}'. Available: ${tools.map((one) => one.name).join(", ") || "none"}`,
                );
            const timeout = context.config.servers[key]?.timeoutMs ?? CALL_MS;
            return callTool(connection, { key, secrets, tool, timeout, isOpen: tools.some(readsOpenWorld) }, given, io);
        },
    };
};

async function toolsOf(connection: Connection, { key, secrets }: Pick<Called, "key" | "secrets">): Promise<readonly Tool[]> {
    try {
        const { tools } = await connection.client.listTools();
        if (tools.length > MAX_TOOLS)
            throw new ToolFail(`the server '${key}' describes ${tools.length} tools; at most ${MAX_TOOLS} are taken`);
        return tools;
    } catch (error) {
        throw await failed(error, connection, { key, secrets, timeout: CALL_MS }, null);
    }
}

function methodOf(tool: Tool, secrets: Scrubber): MethodInfo {
    const readOnly = tool.annotations?.readOnlyHint === true && tool.annotations.destructiveHint !== true;
    const schema = JSON.stringify(tool.inputSchema);
    const large = schema.length > MAX_SCHEMA;
    const whole = `${tool.description ?? tool.title ?? ""}${large ? " (Its schema is too large to be shown.)" : ""}`;
    const said = tidy(secrets.beginning(whole, MAX_DESCRIPTION).text.slice(0, MAX_DESCRIPTION), MAX_DESCRIPTION, secrets);
    return {
        name: tool.name,
        ...(said === "" ? {} : { description: said }),
        input: large ? { type: "object" } : (JSON.parse(schema) as Json),
        readOnly,
        ...(tool.annotations?.readOnlyHint === false || tool.annotations?.destructiveHint === true ? { writes: true } : {}),
        repeatable: readOnly || (tool.annotations?.idempotentHint === true && tool.annotations.destructiveHint !== true),
    };
}

function readsOpenWorld({ annotations }: Tool): boolean {
    return annotations?.openWorldHint === true;
}

interface Called {
    readonly key: string;
    readonly secrets: Scrubber;
    readonly tool: Tool;
    readonly timeout: number;
    /** Some tool of its server reads the open world. */
    readonly isOpen: boolean;
}

async function callTool(
    connection: Connection,
    { key, secrets, tool, timeout, isOpen }: Called,
    args: { readonly [key: string]: Json },
    io: CallIO,
): Promise<Json | Sourced> {
    const isTask = tool.execution?.taskSupport === "required";
    const longest = Math.max(timeout, MAX_CALL_MS);
    const limit = isTask ? longest : timeout;
    const waits = patience(limit, io.signal);
    // A person may think about a question for as long as it is open.
    const asking: CallIO = { ...io, child: (effect) => waits.during(() => io.child(effect)) };
    connection.calls.set(asking, 0);
    try {
        const params = {
            name: tool.name,
            arguments: { ...args },
            ...(io.traceparent === undefined ? {} : { _meta: { traceparent: io.traceparent } }),
        };
        const { client } = connection;
        const result = isTask
            ? await callAsTask(client, params, { signal: waits.signal, timeout, longest })
            : await client.callTool(params, {
                  signal: waits.signal,
                  timeout: longest,
                  onprogress: ({ progress, total, message }) => {
                      waits.renew();
                      io.emit({
                          progress,
                          ...(total === undefined ? {} : { total }),
                          ...(message === undefined ? {} : { message: tidy(message, 500, secrets) }),
                      });
                  },
              });
        const { claims, grants } = statedBy(result, tool);
        return claims === undefined && grants === undefined
            ? resultOf(result)
            : new Sourced(resultOf(result), undefined, { claims, grants });
    } catch (error) {
        const fail =
            waits.isOver() && !io.signal.aborted
                ? late(connection, { key, secrets, timeout: limit })
                : await failed(error, connection, { key, secrets, timeout: longest }, io.signal);
        // What a tool that reads the open world tells as an error is from there, too. The last words of a server may be of any of its tools.
        if (fail instanceof ToolFail && (readsOpenWorld(tool) || (isOpen && fail.detail !== undefined))) fail.claims = { untrusted: true };
        throw fail;
    } finally {
        waits.end();
        connection.calls.delete(asking);
    }
}

function resultOf(result: Awaited<ReturnType<Client["callTool"]>>): Json {
    const text = JSON.stringify({ content: result.content ?? [], structured: result.structuredContent ?? null });
    // Through text: what came from the wire is data of its own, without prototypes or shared parts.
    const { content, structured } = JSON.parse(text) as { content: { type?: Json; text?: Json }[]; structured: Json };
    const isError = result.isError === true;
    const [lost, rounded] = [lossIn(result.structuredContent as Json | undefined), lossIn(content as Json)];
    const notes = [
        ...(lost === null ? [] : [`structured is none: the number at ${lost} in it is ${BEYOND}`]),
        ...(rounded === null ? [] : [`the number at ${rounded} in content is ${BEYOND}`]),
    ];
    return {
        ok: !isError,
        text: content.flatMap((part) => (part.type === "text" && typeof part.text === "string" ? [part.text] : [])).join("\n"),
        content: content as Json,
        structured: lost === null ? structured : null,
        isError,
        ...(notes.length === 0 ? {} : { note: notes.join("; ") }),
    };
}

const BEYOND = "beyond 2^53, where digits are lost";

/**
 * Where a number stands that may not be the one that the server wrote, as a JSON pointer. The library reads the text and keeps it to itself: so a large
 * number that lost nothing is told, too. Null: there is none.
 */
function lossIn(value: Json | undefined, at = ""): string | null {
    if (typeof value === "number") return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)) ? at : null;
    if (value === undefined || value === null || typeof value !== "object") return null;
    for (const [key, inner] of Object.entries(value)) {
        const lost = lossIn(inner, `${at}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
        if (lost !== null) return lost;
    }
    return null;
}

/** MCP6, MCP7. */
function statedBy(
    result: Awaited<ReturnType<Client["callTool"]>>,
    { annotations }: Tool,
): { readonly claims: Claims | undefined; readonly grants: Grants | undefined } {
    const content = result.content ?? [];
    const resources = content.flatMap((one) => (one.type === "resource" ? [one.resource] : []));
    const stated = [result, ...content, ...resources].flatMap((one) =>
        one._meta?.["ifc"] === undefined ? [] : [one._meta["ifc"] as Json],
    );
    const says = (key: string, harmless: string): boolean =>
        stated.some((one) => {
            const said = isObject(one) ? one[key] : one;
            return said !== undefined && said !== harmless;
        });
    const isUntrusted = says("integrity", "trusted") || annotations?.openWorldHint === true;
    const isPrivate = says("confidentiality", "public");
    const whole = result._meta?.["ifc"] as Json | undefined;
    const all = whole !== undefined && isObject(whole) ? whole : {};
    const isTrusted = !isUntrusted && all["integrity"] === "trusted";
    const isPublic = !isPrivate && all["confidentiality"] === "public";
    return {
        claims:
            isUntrusted || isPrivate ? { ...(isUntrusted ? { untrusted: true } : {}), ...(isPrivate ? { private: true } : {}) } : undefined,
        grants: isTrusted || isPublic ? { ...(isTrusted ? { trusted: true } : {}), ...(isPublic ? { public: true } : {}) } : undefined,
    };
}

type Asking = Pick<Called, "key" | "secrets" | "timeout">;

function late(connection: Connection, { key, secrets, timeout }: Asking): ToolFail {
    return failedBy(connection, `the server '${key}' gave no answer after ${timeout} ms`, secrets, { kind: "timeout" });
}

/** Codes of the library for a connection that is gone. */
const GONE = new Set(["NOT_CONNECTED", "CONNECTION_CLOSED", "SEND_FAILED", "NOT_INITIALIZED"]);

async function failed(error: unknown, connection: Connection, about: Asking, signal: AbortSignal | null): Promise<unknown> {
    const { key, secrets } = about;
    if (error instanceof ToolFail) return error;
    if (Error.isError(error) && error.cause instanceof ToolFail) return error.cause;
    if (signal?.aborted === true) return new ToolFail("the call was cancelled", { kind: "cancelled" });
    // The stack is all that a value from the wire can exhaust.
    if (error instanceof RangeError) return new ToolFail(`the answer of the server '${key}' is nested too deep`);
    const { SdkError, SdkHttpError } = await import("@modelcontextprotocol/client");
    const refused = refusedOf(error);
    if (refused !== null) return refused;
    const code = error instanceof SdkError ? (error.code as string) : "";
    const message = Error.isError(error) ? tidy(error.message, 1000, secrets) : String(error);
    // What the library says of it is a list of its own checks, as JSON.
    if (code === "INVALID_RESULT") return new ToolFail(`the server '${key}' gave an answer that does not follow the protocol`);
    if (code === "REQUEST_TIMEOUT") return late(connection, about);
    const network = error instanceof SdkHttpError || (error instanceof TypeError && error.cause !== undefined);
    if (GONE.has(code) || connection.ended() || network)
        return failedBy(connection, `the server '${key}' ended or cannot be reached: ${message}`, secrets, { kind: "unreachable" });
    return new ToolFail(message);
}
