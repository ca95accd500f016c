/**
 * A program as an MCP server for a test, and clients of it: the SDK's, and requests by hand.
 *
 * Boundary: a real server with a ledger on disk; what the model says stands in a script.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { type Ledger, openLedger, openProcess } from "@remit/host";
import type { Json } from "@remit/language";
import { type McpOptions, type McpServing, serveMcp } from "../src/index.ts";

export const PROGRAM = `import llm Model from "openai://gpt-5-mini"
import tool Files from "file://workspace"
shape Words { words: string, title: string? }
func add(a: number, b: number = 1) -> number { a + b }
func greet(input: { name: string, title?: string }) -> Words { { words: "hello " + input.name, title: none } }
func either(x: { a: string } | { b: string }) { x }
func anything(x) { x }
func fails() { raise("not today") }
agent Clerk {
    model Model
    role "a clerk"
    description "Writes notes."
    main func(input: { task: string }) -> string {
        use input.task as "the task"
        generate({ input: "Do it.", tools: [Files], turns: 6 }) -> string
    }
}
`;

export type Answer = { readonly action: "accept" | "decline" | "cancel"; readonly content?: { readonly [field: string]: Json } };
export const accept = (decision: string): Answer => ({ action: "accept", content: { decision } });

export interface At extends AsyncDisposable {
    readonly folder: string;
    readonly serves: McpServing;
    readonly ledger: () => Promise<Ledger>;
    readonly asked: string[];
    client: Client;
}

export type Way = "legacy stream" | "modern stream" | "legacy http" | "modern http";
export const WAYS: readonly Way[] = ["legacy stream", "modern stream", "legacy http", "modern http"];

interface How {
    readonly replies?: Json;
    readonly program?: string;
    readonly answer?: (message: string) => Answer;
    readonly options?: Partial<McpOptions>;
    /** Files of its folder. */
    readonly prepare?: { readonly [name: string]: Buffer };
}

export async function at(way: Way, { replies = [], program = PROGRAM, answer, options = {}, prepare = {} }: How = {}): Promise<At> {
    const folder = mkdtempSync(join(tmpdir(), "remit-mcp-"));
    writeFileSync(join(folder, "main.remit"), program);
    writeFileSync(join(folder, "replies.json"), JSON.stringify(replies));
    for (const [name, bytes] of Object.entries(prepare)) writeFileSync(join(folder, name), bytes);
    const [input, output] = [new PassThrough(), new PassThrough()];
    const isHttp = way.endsWith("http");
    const serves = await serveMcp({
        ...{ program: join(folder, "main.remit"), model: `scripted:${join(folder, "replies.json")}`, ledger: join(folder, "ledger.db") },
        process: openProcess({ env: { HOME: folder, PATH: process.env["PATH"] }, cwd: folder }),
        ...(isHttp ? { http: { port: 0 } } : { input, output }),
        clientApproves: true,
        ...options,
    });
    const asked: string[] = [];
    const client = new Client(
        { name: "tester", version: "1" },
        {
            versionNegotiation: { mode: way.startsWith("modern") ? "auto" : "legacy" },
            capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
        },
    );
    if (answer !== undefined)
        client.setRequestHandler("elicitation/create", ({ params }) => {
            asked.push(params.message);
            return answer(params.message) as never;
        });
    await client.connect(
        isHttp ? new StreamableHTTPClientTransport(new URL(serves.url as string)) : new StdioServerTransport(output, input),
    );
    const ledgers: Ledger[] = [];
    return {
        ...{ folder, serves, asked, client },
        ledger: async () => {
            const opened = await openLedger(join(folder, "ledger.db"), { process: openProcess({ env: { HOME: folder } }) });
            ledgers.push(opened);
            return opened;
        },
        [Symbol.asyncDispose]: async () => {
            await client.close();
            for (const one of ledgers) await one.close();
            await serves.close();
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

export interface Sent {
    readonly status: number;
    readonly body: string;
}

/** A request with headers that no client would send. */
export function sent(url: string, headers: { readonly [name: string]: string }, body: string, method = "POST"): Promise<Sent> {
    return new Promise((resolve, reject) => {
        const request = httpRequest(
            url,
            { method, headers: { accept: "application/json, text/event-stream", "content-type": "application/json", ...headers } },
            (response) => {
                let text = "";
                response.on("data", (piece) => (text += String(piece)));
                response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
            },
        );
        request.on("error", reject);
        request.end(body);
    });
}

export const MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
};

export interface Said {
    readonly result?: { readonly resultType?: string; readonly requestState?: string; readonly [name: string]: Json | undefined };
    readonly error?: Json;
}

/** A request of the modern era as it is on the wire. */
export async function modern(url: string, method: string, params: { readonly [name: string]: Json }, more: object = {}): Promise<Said> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: MODERN, ...more } });
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": String(params["name"] ?? params["taskId"]) };
    const { body: said } = await sent(url, headers, body);
    const line = said.split("\n").find((one) => one.startsWith("data: ") && one.includes('"id":1'));
    return JSON.parse(line === undefined ? said : line.slice(6)) as Said;
}

export function call(url: string, name: string, args: Json, more: object = {}): Promise<Said> {
    return modern(url, "tools/call", { name, arguments: args }, more);
}
