/**
 * An MCP server of the era AgentScript was written for (protocol 2025-03-26, stdio), by hand: one tool that searches, one that counts its calls,
 * one that fails. `$GREETING` of its environment is part of an answer.
 */
import { createInterface } from "node:readline";

const TOOLS = [
    { name: "search", description: "Finds.", inputSchema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] } },
    { name: "count", description: "Counts.", inputSchema: { type: "object", properties: {} } },
    { name: "broken", description: "Fails.", inputSchema: { type: "object", properties: {} } },
];
let calls = 0;

function answer(method, params) {
    if (method === "initialize")
        return { protocolVersion: "2025-03-26", capabilities: { tools: {} }, serverInfo: { name: "played", version: "1.0.0" } };
    if (method === "tools/list") return { tools: TOOLS };
    if (method === "ping") return {};
    if (method !== "tools/call") return null;
    calls++;
    if (params.name === "search")
        return { content: [{ type: "text", text: `${process.env.GREETING ?? ""}found ${params.arguments.query}` }, { type: "text", text: "twice" }] };
    if (params.name === "count") return { content: [{ type: "text", text: String(calls) }], structuredContent: { calls } };
    return { content: [{ type: "text", text: "it is broken" }], isError: true };
}

for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) continue;
    const result = answer(method, params ?? {});
    const reply = result === null ? { error: { code: -32601, message: "no such method" } } : { result };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
}
