/** Mastra's contender: its agent in one activity; a worker and a client in one process. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import type { MastraModelConfig } from "@mastra/core/llm";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { type AgentFacts, type AgentOrder, book } from "../src/agent-work.ts";
import { beating, contender } from "./worker.ts";

export interface MastraActivities {
    whole(): Promise<string>;
}

export function mastra(address: string, folder: string, url: string): Promise<(order: AgentOrder) => Promise<AgentFacts>> {
    // Its declarations want a model that streams in both methods; at run time any of the AI SDK's will do.
    const model = createOpenAICompatible({ name: "stub", baseURL: url })("stub") as unknown as MastraModelConfig;
    const desk = createTool({
        ...{ id: "book", description: "Books a room", inputSchema: z.object({ i: z.number().int() }) },
        execute: ({ i }) => book(folder, i),
    });
    const agent = new Agent({
        id: "clerk",
        name: "clerk",
        instructions: "You are a clerk. Books what is asked for.",
        model,
        tools: { book: desk },
    });
    const activities = {
        whole: () => beating(async () => (await agent.generate("Book the rooms 0 to 9.", { maxSteps: 20 })).text),
    } satisfies MastraActivities;
    return contender({ address, folder, queue: "agent-mastra", flows: "./mastra-flows.ts", activities });
}
