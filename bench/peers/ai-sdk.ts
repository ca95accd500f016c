/** `@temporalio/ai-sdk`'s contender: its plugin, a worker and a client in one process. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { AiSdkPlugin } from "@temporalio/ai-sdk";
import type { AgentFacts, AgentOrder } from "../src/agent-work.ts";
import { contender } from "./worker.ts";

export function aiSdk(address: string, folder: string, url: string): Promise<(order: AgentOrder) => Promise<AgentFacts>> {
    const modelProvider = createOpenAICompatible({ name: "stub", baseURL: url });
    return contender({ address, folder, queue: "agent-ai-sdk", flows: "./ai-sdk-flows.ts", plugins: [new AiSdkPlugin({ modelProvider })] });
}
