/** The agent as `@temporalio/ai-sdk` has it: the loop of the AI SDK in the workflow, model turns and tool calls as activities. */
import { temporalProvider } from "@temporalio/ai-sdk/workflow";
import { proxyActivities } from "@temporalio/workflow";
import { generateText, isStepCount, tool } from "ai";
import { z } from "zod";
import type { AgentActivities } from "./worker.ts";

const { book } = proxyActivities<AgentActivities>({ startToCloseTimeout: 60_000, heartbeatTimeout: 5_000 });

export async function agent(): Promise<string> {
    const { text } = await generateText({
        model: temporalProvider.languageModel("stub"),
        system: "You are a clerk. Books what is asked for.",
        prompt: "Book the rooms 0 to 9.",
        tools: { book: tool({ description: "Books a room", inputSchema: z.object({ i: z.number().int() }), execute: ({ i }) => book(i) }) },
        stopWhen: isStepCount(20),
    });
    return text;
}
