import { openai } from "@ai-sdk/openai";
import { isStepCount, Output, ToolLoopAgent, tool, type ModelMessage } from "ai";
import { z } from "zod";
import { findOrder, refundOrder } from "./orders.ts";

const agent = new ToolLoopAgent({
    model: openai("gpt-5-mini"),
    instructions: "You are a clerk. You answer about orders.",
    tools: {
        find: tool({
            description: "The state of an order.",
            inputSchema: z.object({ id: z.string() }),
            execute: findOrder,
        }),
        refund: tool({
            description: "Pays an order back.",
            inputSchema: z.object({ id: z.string(), amount: z.number().max(500) }),
            execute: refundOrder,
            needsApproval: true,
        }),
    },
    output: Output.object({ schema: z.object({ answer: z.string(), refunded: z.boolean() }) }),
    stopWhen: isStepCount(6),
});

const messages: ModelMessage[] = [{ role: "user", content: process.argv[2] ?? "" }];
let result = await agent.generate({ messages });
const asked = result.content.filter((part) => part.type === "tool-approval-request");
if (asked.length > 0) {
    messages.push(...result.responseMessages);
    const answers = asked.map(({ approvalId }) => ({
        type: "tool-approval-response" as const,
        approvalId,
        approved: true, // ask a person here
    }));
    messages.push({ role: "tool", content: answers });
    result = await agent.generate({ messages });
}
console.log(result.output);
