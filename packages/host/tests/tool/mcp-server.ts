/**
 * A small MCP server: a notebook that is kept in a file. It speaks both eras of the protocol, over stdio and over HTTP.
 *
 * Usage: node mcp-server.ts FILE [--http] [--legacy-only | --modern-only]
 * With `--http` it listens on a free port of the loopback address and prints `listening on URL` to standard error.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const flags = process.argv.slice(2).filter((arg) => arg.startsWith("--"));
const file = process.argv.slice(2).find((arg) => !arg.startsWith("--")) ?? "notes.txt";

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
const lines = (): string[] =>
    existsSync(file)
        ? readFileSync(file, "utf8")
              .split("\n")
              .filter((line) => line !== "")
        : [];

function notebook(): McpServer {
    const server = new McpServer({ name: "notebook", version: "1.0.0" });
    server.registerTool(
        "search",
        {
            description: "Notes that contain a text.",
            inputSchema: z.object({ text: z.string() }),
            outputSchema: z.object({ notes: z.array(z.string()) }),
            annotations: { readOnlyHint: true },
        },
        ({ text: wanted }) => {
            const notes = lines().filter((line) => line.includes(wanted));
            return { ...text(JSON.stringify({ notes })), structuredContent: { notes } };
        },
    );
    server.registerTool("add", { description: "Adds a note.", inputSchema: z.object({ note: z.string() }) }, ({ note }) => {
        appendFileSync(file, `${note}\n`);
        return text(`note ${lines().length}`);
    });
    server.registerTool(
        "touch",
        {
            description: "Says hello to the notebook.",
            inputSchema: z.object({}),
            annotations: { idempotentHint: true, destructiveHint: false },
        },
        (_args, context) => {
            const traceparent = context.mcpReq._meta?.["traceparent"];
            return text(typeof traceparent === "string" ? `hello ${traceparent}` : "hello");
        },
    );
    server.registerTool("refuse", { description: "Always fails.", inputSchema: z.object({}) }, () => ({
        ...text("not today"),
        isError: true,
    }));
    server.registerTool(
        "count",
        { description: "Counts slowly, telling its progress.", inputSchema: z.object({ to: z.number() }) },
        async ({ to }, context) => {
            const token = context.mcpReq._meta?.progressToken;
            for (let nth = 1; nth <= to; nth++) {
                await pause(30);
                if (token !== undefined)
                    await context.mcpReq.notify({
                        method: "notifications/progress",
                        params: { progressToken: token, progress: nth, total: to, message: `at ${nth}` },
                    });
            }
            return text(String(to));
        },
    );
    server.registerTool("wait", { description: "Waits.", inputSchema: z.object({ ms: z.number() }) }, async ({ ms }) => {
        await pause(ms);
        return text("waited");
    });
    server.registerTool("environment", { description: "Names and values of some variables.", inputSchema: z.object({}) }, () =>
        text(
            JSON.stringify({
                NOTEBOOK_KEY: process.env.NOTEBOOK_KEY ?? null,
                OTHER_SECRET: process.env.OTHER_SECRET ?? null,
                cwd: process.cwd(),
            }),
        ),
    );
    const who = {
        message: "Who are you?",
        requestedSchema: { type: "object" as const, properties: { name: { type: "string" as const } }, required: ["name"] },
    };
    server.registerTool("greet", { description: "Asks for a name.", inputSchema: z.object({}) }, async (_args, context) => {
        const given = acceptedContent<{ name: string }>(context.mcpReq.inputResponses, "who");
        if (given !== undefined) return text(`hello ${given.name}`);
        if (context.mcpReq.envelope !== undefined && context.mcpReq.inputResponses === undefined)
            return inputRequired({ inputRequests: { who: inputRequired.elicit(who) } });
        if (context.mcpReq.inputResponses !== undefined) return text("hello nobody");
        const answer = await context.mcpReq.elicitInput(who);
        return text(answer.action === "accept" ? `hello ${String(answer.content?.name)}` : "hello nobody");
    });
    server.registerTool("crash", { description: "Ends the server.", inputSchema: z.object({}) }, () => {
        process.stderr.write("notebook: out of paper\n", () => process.exit(3));
        return new Promise<never>(() => undefined);
    });
    return server;
}

if (flags.includes("--http")) {
    const handler = createMcpHandler(() => notebook());
    const http = createServer(async (request, response) => {
        if (process.env.NOTEBOOK_KEY !== undefined && request.headers.authorization !== `Bearer ${process.env.NOTEBOOK_KEY}`) {
            response.writeHead(401).end();
            return;
        }
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const headers = new Headers(
            Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
                value === undefined ? [] : [[name, String(value)]],
            ),
        );
        const answer = await handler.fetch(
            new Request(`http://${request.headers.host}${request.url}`, {
                method: request.method ?? "GET",
                headers,
                ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
            }),
        );
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        for await (const chunk of answer.body ?? []) response.write(chunk);
        response.end();
    });
    http.listen(0, "127.0.0.1", () => process.stderr.write(`listening on http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp\n`));
} else if (flags.includes("--legacy-only")) {
    await notebook().connect(new StdioServerTransport());
} else {
    serveStdio(() => notebook(), { legacy: flags.includes("--modern-only") ? "reject" : "serve" });
}
