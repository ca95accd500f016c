/**
 * Tools of an MCP server that can only be called as tasks (revision 2025-11-25, `taskSupport: "required"`): a call that begins, and a request that waits
 * for what it gives.
 *
 * Boundary: the two requests. What the result means is `mcp.ts`'s.
 *
 * MTK1: a call that is cancelled cancels its task, and waits at most `CANCEL_MS` for the server to say so.
 */
import type { CallToolResult, Client, RequestOptions } from "@modelcontextprotocol/client";

type Params = Parameters<Client["callTool"]>[0];

/** Milliseconds. */
const CANCEL_MS = 2000;

interface Waiting {
    readonly signal: AbortSignal;
    /** For the beginning, milliseconds. */
    readonly timeout: number;
    /** For the end, milliseconds; the server forgets the task after it. */
    readonly longest: number;
}

export async function callAsTask(client: Client, params: Params, { signal, timeout, longest }: Waiting): Promise<CallToolResult> {
    const { specTypeSchemas } = await import("@modelcontextprotocol/client");
    const ask: RequestOptions = { signal, timeout };
    const asTask = { ...params, task: { ttl: longest } };
    const { task } = await client.request({ method: "tools/call", params: asTask }, specTypeSchemas.CreateTaskResult, ask);
    const about = { taskId: task.taskId };
    try {
        const waits = { signal, timeout: longest };
        return await client.request({ method: "tasks/result", params: about }, specTypeSchemas.CallToolResult, waits);
    } catch (error) {
        // MTK1. A server that is gone has no task any more.
        if (signal.aborted)
            await client
                .request({ method: "tasks/cancel", params: about }, specTypeSchemas.CancelTaskResult, { timeout: CANCEL_MS })
                .catch(() => undefined);
        throw error;
    }
}
