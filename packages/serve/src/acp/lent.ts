/**
 * Tool servers that an editor brings into a session: their tools are lent to it, and called on behalf of its runs.
 *
 * Boundary: connections and calls; what a call may is the machine's, as for every lent tool.
 *
 * ACL1: what a server says of its tools is not believed: each is one that acts, and is asked about.
 * ACL2: what a tool gives has the origin `lent:acp-NAME`, whatever it says of itself.
 * ACL3: a server that cannot be reached refuses the session, by name.
 */
import { RequestError, type McpServer } from "@agentclientprotocol/sdk";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { isObject, type Json } from "@remit/language";
import { headOf, type Scrubber } from "@remit/host";
import type { Session } from "../session/session.ts";
import { MAX_SPEC_BYTES } from "../wire/bodies.ts";
import type { CallResult } from "../wire/messages.ts";

type Fields = { readonly [key: string]: Json };

const CONNECT_MS = 20_000;
/** What is told of an error of a server, and of a result that is one, UTF-16 units. */
const MAX_TOLD = 1000;
const MAX_ERROR = 10_000;

interface Server {
    readonly name: string;
    readonly client: Client;
}

export interface LentOptions {
    /** Id of the editor. */
    readonly by: string;
    readonly cwd: string;
    readonly version: string;
    readonly log: (message: string) => void;
    readonly secrets: Pick<Scrubber, "beginning">;
}

export class LentServers {
    /** As the client that lends. */
    readonly client: string;
    readonly log: (message: string) => void;
    readonly #options: LentOptions;
    readonly #servers: Server[] = [];
    /** By the tool's name in the session. */
    readonly #tools = new Map<string, { readonly server: Server; readonly tool: string }>();
    readonly #over = new AbortController();

    constructor(options: LentOptions) {
        this.#options = options;
        // as it is in names of tools, which a model has to repeat
        this.client = options.by.replace(/[^A-Za-z0-9_-]/g, "_");
        this.log = options.log;
    }

    /** ACL3. */
    async open(session: Session, servers: readonly McpServer[]): Promise<void> {
        for (const server of servers) {
            const client = new Client({ name: "remit", version: this.#options.version }, { versionNegotiation: { mode: "auto" } });
            const named = { name: server.name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 30) || "server", client };
            try {
                await client.connect(transportOf(server, this.#options.cwd), { timeout: CONNECT_MS });
                this.#servers.push(named);
                const { tools } = await client.listTools(undefined, { timeout: CONNECT_MS });
                for (const tool of tools) await this.#lend(session, named, tool as never);
            } catch (error) {
                await this.close();
                throw new RequestError(-32603, `the tool server '${server.name}' cannot be used: ${this.#told(error)}`);
            }
        }
    }

    /** A call of the session, to the server whose tool it is. */
    async call({ id, tool, args, client }: Fields, settle: (id: string, result: CallResult) => void): Promise<void> {
        if (client !== this.client) return;
        const found = this.#tools.get(String(tool));
        if (found === undefined) return settle(String(id), { ok: false, error: "there is no such tool" });
        try {
            const result = await found.server.client.callTool(
                { name: found.tool, arguments: isObject(args) ? args : {} },
                { signal: this.#over.signal, timeout: 24 * 3_600_000 },
            );
            settle(String(id), resultOf(result as unknown as Fields, this.#options.secrets));
        } catch (error) {
            settle(String(id), { ok: false, error: this.#told(error) });
        }
    }

    async close(): Promise<void> {
        this.#over.abort();
        await Promise.all(this.#servers.map(({ client }) => client.close().catch((error: unknown) => this.log(this.#told(error)))));
    }

    #told(error: unknown): string {
        return headOf(error instanceof Error ? error.message : String(error), MAX_TOLD, this.#options.secrets);
    }

    async #lend(session: Session, server: Server, tool: { name: string; description?: string; inputSchema: Fields }): Promise<void> {
        const name = `${server.name}_${tool.name.replace(/[^A-Za-z0-9_-]/g, "_")}`.slice(0, 48);
        const spec = { description: tool.description || tool.name, input: { ...tool.inputSchema } };
        if (this.#tools.has(name) || Buffer.byteLength(JSON.stringify(spec)) > MAX_SPEC_BYTES) {
            this.log(
                `the tool ${tool.name} of ${server.name} is not lent: its name is taken, or its description is longer than ${MAX_SPEC_BYTES} bytes`,
            );
            return;
        }
        this.#tools.set(name, { server, tool: tool.name });
        // ACL1.
        await session.lend(this.client, name, spec);
    }
}

function transportOf(server: McpServer, cwd: string) {
    if (!("type" in server)) {
        const { command, args, env } = server;
        return new StdioClientTransport({
            command,
            args,
            cwd,
            stderr: "ignore",
            env: Object.fromEntries([
                ["PATH", process.env["PATH"] ?? ""],
                ["HOME", process.env["HOME"] ?? ""],
                ...env.map(({ name, value }) => [name, value]),
            ]),
        });
    }
    if (server.type !== "http") throw new Error(`servers over ${server.type} are not used; use stdio or http`);
    const headers = Object.fromEntries(server.headers.map(({ name, value }) => [name, value]));
    return new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } });
}

function resultOf({ content, structuredContent, isError }: Fields, secrets: LentOptions["secrets"]): CallResult {
    const texts = (Array.isArray(content) ? content : []).flatMap((one) =>
        isObject(one) && typeof one["text"] === "string" ? [one["text"]] : [],
    );
    if (isError === true) return { ok: false, error: headOf(texts.join("\n"), MAX_ERROR, secrets) || "the tool failed without saying why" };
    return { ok: true, value: structuredContent ?? texts.join("\n") };
}
