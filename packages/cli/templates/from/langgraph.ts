import { createAgent, humanInTheLoopMiddleware, tool } from "langchain";
import { Command, MemorySaver } from "@langchain/langgraph";
import { z } from "zod";
import { findOrder, refundOrder } from "./orders.ts";

const find = tool(findOrder, {
    name: "find",
    description: "The state of an order.",
    schema: z.object({ id: z.string() }),
});
const refund = tool(refundOrder, {
    name: "refund",
    description: "Pays an order back.",
    schema: z.object({ id: z.string(), amount: z.number().max(500) }),
});

const agent = createAgent({
    model: "openai:gpt-5-mini",
    tools: [find, refund],
    systemPrompt: "You are a clerk. You answer about orders.",
    responseFormat: z.object({ answer: z.string(), refunded: z.boolean() }),
    middleware: [humanInTheLoopMiddleware({ interruptOn: { refund: true } })],
    checkpointer: new MemorySaver(),
});

const config = { configurable: { thread_id: "1" }, recursionLimit: 12 };
const message = process.argv[2] ?? "";
let state = await agent.invoke({ messages: [{ role: "user", content: message }] }, config);
if ("__interrupt__" in state) {
    const decisions = [{ type: "approve" as const }]; // ask a person here
    state = await agent.invoke(new Command({ resume: { decisions } }), config);
}
console.log(state.structuredResponse);
