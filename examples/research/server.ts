/**
 * A small MCP server over stdio: full-text search in a folder of notes. Real enough to research with, small enough to read.
 * Usage: node server.ts FOLDER
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const folder = process.argv[2] ?? ".";
const documents = new Map(
    readdirSync(folder)
        .filter((name) => name.endsWith(".md"))
        .sort()
        .map((name) => [basename(name, ".md"), readFileSync(join(folder, name), "utf8")] as const),
);

const server = new McpServer({ name: "library", version: "1.0.0" });
const text = (value: unknown) => ({ content: [{ type: "text" as const, text: JSON.stringify(value) }] });

server.registerTool(
    "search",
    {
        description: "Finds documents that contain every word. Returns ids with the first matching line.",
        inputSchema: z.object({ words: z.string(), limit: z.number().int().positive().optional() }),
        annotations: { readOnlyHint: true },
    },
    ({ words, limit }) => {
        const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
        const hits = [...documents]
            .filter(([, body]) => wanted.every((word) => body.toLowerCase().includes(word)))
            .slice(0, limit ?? 5)
            .map(([id, body]) => ({ id, line: body.split("\n").find((line) => wanted.some((word) => line.toLowerCase().includes(word))) ?? "" }));
        return text(hits);
    },
);

server.registerTool(
    "read",
    { description: "Reads one document by its id.", inputSchema: z.object({ id: z.string() }), annotations: { readOnlyHint: true } },
    ({ id }) => {
        const body = documents.get(id);
        return body === undefined ? { ...text({ error: `no document ${id}`, known: [...documents.keys()] }), isError: true } : text({ id, body });
    },
);

await server.connect(new StdioServerTransport());
