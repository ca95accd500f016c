// An MCP server over stdio, without a library: a desk that opens accounts and orders things.
import { createInterface } from "node:readline";

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const inputSchema = { type: "object", properties: { who: { type: "string" } }, required: ["who"] };
const serverInfo = { name: "desk", version: "1" };
createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize") say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
    else if (method === "tools/list")
        say({ id, result: { tools: ["open", "order"].map((name) => ({ name, description: `Does ${name}.`, inputSchema })) } });
    else if (method === "tools/call") {
        const { who } = params.arguments;
        const structuredContent = { state: params.name === "open" ? `opened: ${who}` : `ordered for ${who}` };
        say({ id, result: { content: [{ type: "text", text: structuredContent.state }], structuredContent } });
    } else if (id !== undefined) say({ id, error: { code: -32601, message: "no such method" } });
});
