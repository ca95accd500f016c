/** What a workflow left behind, over all its executions. */
import type { Client } from "@temporalio/client";

export interface Facts {
    /** From the call of the client to the value, milliseconds. */
    readonly ms: number;
    readonly events: number;
    readonly bytes: number;
}

/** `workflowId`: of a workflow that has ended. */
export async function factsOf({ workflow, workflowService }: Client, workflowId: string): Promise<Omit<Facts, "ms">> {
    let [events, bytes] = [0, 0];
    let runId: string | null | undefined;
    do {
        const { historyLength, historySize = 0, runId: at } = await workflow.getHandle(workflowId, runId ?? undefined).describe();
        events += historyLength;
        bytes += historySize;
        const { history } = await workflowService.getWorkflowExecutionHistory({
            ...{ namespace: "default", execution: { workflowId, runId: at }, maximumPageSize: 1 },
        });
        runId = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    } while (runId);
    return { events, bytes };
}
