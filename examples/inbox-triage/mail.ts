/**
 * A mail account as an MCP server over stdio: what is sent is written to a folder. Usage: node mail.ts FOLDER
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const folder = process.argv[2] ?? "outbox";
let count = 0;

const server = new McpServer({ name: "mail", version: "1.0.0" });
server.registerTool(
    "send",
    { description: "Sends a message.", inputSchema: z.object({ to: z.string(), subject: z.string(), body: z.string() }) },
    ({ to, subject, body }) => {
        mkdirSync(folder, { recursive: true });
        count++;
        writeFileSync(join(folder, `${count}.txt`), `To: ${to}\nSubject: ${subject}\n\n${body}\n`);
        return { content: [{ type: "text", text: `sent to ${to}` }] };
    },
);
server.registerTool("delete", { description: "Deletes a message.", inputSchema: z.object({ path: z.string() }) }, () => ({
    content: [{ type: "text", text: "deleted" }],
}));
await server.connect(new StdioServerTransport());
