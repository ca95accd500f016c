/**
 * The shop's orders as an MCP server over stdio. Usage: node orders.ts FILE
 */
import { readFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

interface Order {
    readonly item: string;
    readonly state: string;
}
const orders = new Map(Object.entries(JSON.parse(readFileSync(process.argv[2] ?? "orders.json", "utf8")) as Record<string, Order>));

const server = new McpServer({ name: "orders", version: "1.0.0" });
server.registerTool(
    "lookup",
    {
        description: "Finds an order by its number.",
        inputSchema: z.object({ order: z.string() }),
        outputSchema: z.object({ found: z.boolean(), item: z.string(), state: z.string() }),
        annotations: { readOnlyHint: true },
    },
    ({ order }) => {
        const known = orders.get(order);
        const result = { found: known !== undefined, item: known?.item ?? "", state: known?.state ?? "" };
        return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
    },
);
await server.connect(new StdioServerTransport());
