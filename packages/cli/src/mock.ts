/**
 * `--mock`, as AgentScript has it: tools and memories that touch nothing. The model is `mock:`.
 *
 * Boundary: outcomes of tool and memory effects, for one process: a run that was begun so is not one to resume.
 */
import type { Performers } from "@remit/host";
import type { Json } from "@remit/language";
import type { Effect, MemoryRequest, Outcome, ToolRequest } from "@remit/machine";

export function mockPerformers(): Performers {
    const records = new Map<string, Json[]>();
    return {
        tool: async (effect) => given(tool(effect.request as unknown as ToolRequest), `tool:${nameOf(effect, "tool")}`),
        remember: async (effect) => {
            const { memory, arg } = effect.request as unknown as MemoryRequest;
            const kept = records.get(memory) ?? [];
            const made = { id: String(kept.length + 1), created_at: "mock", updated_at: "mock", record: arg };
            records.set(memory, [...kept, made]);
            return given(made, `memory:${memory}`);
        },
        // the query is not looked at: everything, the newest first
        recall: async (effect) => {
            const { memory } = effect.request as unknown as MemoryRequest;
            return given([...(records.get(memory) ?? [])].reverse(), `memory:${memory}`);
        },
    };
}

function given(value: Json, origin: string): Outcome {
    return { ok: true, value, origins: [origin] };
}

function nameOf(effect: Effect, key: string): string {
    return String((effect.request as { [key: string]: Json })[key] ?? "");
}

function tool(request: ToolRequest): Json {
    if (request.op === "describe") return { methods: [] };
    const { tool: name, uri, method, args } = request;
    const scheme = /^[a-z]+/i.exec(uri)?.[0].toLowerCase();
    if (scheme === "file" && method === "read") return { ok: true, content: `mock file content from ${uri}` };
    if (scheme === "file" && method === "list") return { ok: true, entries: [] };
    if (scheme === "env" && method === "get") return { ok: true, value: null };
    return { ok: true, summary: `${name}.${method}`, source: uri, args: args ?? [] };
}
