/**
 * An outcome that the owner of a run gives by hand, of an effect that failed or whose outcome is unknown: the value as the effect itself would have
 * given it.
 *
 * Boundary: from a value to an outcome. Whether it may be given, and whether it fits, is the machine's.
 *
 * BY4: it carries the origins that the outcome would have had, and `answered`; never `user`.
 */
import type { Json } from "@remit/language";
import type { AgentReply, AgentTurn, Effect, MemoryRequest, ModelReply, ModelTurn, Outcome, ToolRequest } from "../effect/effect.ts";

export function answeredOutcome({ kind, request }: Effect, value: Json): Outcome {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const given = (origin: string, said: Json): Outcome => ({ ok: true, value: said, origins: ["answered", origin].sort() });
    if (kind === "model") {
        const reply: ModelReply = { text, value, finish: "stop", model: "answered" };
        return given(`model:${(request as unknown as ModelTurn).model.name}`, reply as unknown as Json);
    }
    if (kind === "agent") {
        const reply: AgentReply = {
            text,
            stop: "end_turn",
            entries: [{ kind: "message", text }],
            confinement: "remote",
            spent: { steps: 0, calls: 0, ms: 0 },
        };
        return given(`agent:${(request as unknown as AgentTurn).agent.name}`, reply as unknown as Json);
    }
    if (kind === "tool") return given(`tool:${(request as unknown as ToolRequest).tool}`, value);
    if (kind === "recall" || kind === "remember") return given(`memory:${(request as unknown as MemoryRequest).memory}`, value);
    return given(kind, value);
}
