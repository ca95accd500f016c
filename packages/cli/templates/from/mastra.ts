import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { findOrder, refundOrder } from "./orders.ts";

const find = createTool({
    id: "find",
    description: "The state of an order.",
    inputSchema: z.object({ id: z.string() }),
    execute: findOrder,
});
const refund = createTool({
    id: "refund",
    description: "Pays an order back.",
    inputSchema: z.object({ id: z.string(), amount: z.number().max(500) }),
    requireApproval: true,
    execute: refundOrder,
});

const clerk = new Agent({
    id: "clerk",
    name: "clerk",
    instructions: "You are a clerk. You answer about orders.",
    model: "openai/gpt-5-mini",
    tools: { find, refund },
});
const agent = new Mastra({ agents: { clerk } }).getAgent("clerk");

const schema = z.object({ answer: z.string(), refunded: z.boolean() });
const options = { maxSteps: 6, structuredOutput: { schema } };
let output = await agent.generate(process.argv[2] ?? "", options);
if (output.finishReason === "suspended") {
    // ask a person here
    const { runId = "", suspendPayload } = output;
    output = await agent.approveToolCallGenerate({ ...options, runId, toolCallId: suspendPayload.toolCallId });
}
console.log(output.object);
