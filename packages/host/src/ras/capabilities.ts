/**
 * What a Re in Act program is offered here, as capability metadata: its core functions, the extension `ria.agent`, and its limits.
 *
 * Boundary: data. A program finds the extensions in `RIA_EXTENSIONS` of its environment, a person with `remit ras capabilities`.
 */
import { RAS_LIMITS } from "./process.ts";

export const RIA_CAPABILITIES = {
    core: { reason: { attempts: 3, tools: false, memory: false }, act: { discovery: "__manual__", result: "mcp.CallToolResult" } },
    forms: ["python", "typescript", "bash"],
    extensions: [
        {
            id: "ria.agent",
            status: "draft",
            agents: ["acp", "remit", "stub"],
            trajectory: "ATIF-v1.8",
            budget: ["max_steps", "max_minutes", "max_seconds", "max_tokens", "max_cost", "max_calls", "max_turns", "max_silence"],
            on_error: ["fail", "return_error", "retry_within_budget"],
            limits: "a budget of tokens or cost on an agent that reports no usage needs one of turns or time beside it",
        },
    ],
    limits: RAS_LIMITS,
} as const;
