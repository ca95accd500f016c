/**
 * The start of a workflow or a schedule, where the answer of the server may not come although the server began it.
 *
 * Boundary: calls and looks. What becomes of the run in the ledger is the caller's.
 *
 * STW1: a start without an answer is looked for by a mark that it alone has. Where the server has it, it was begun; where the server has none, it was not.
 *     Where the server does not tell, the caller gets `UnclearError`, and takes nothing back.
 */
import { randomUUID } from "node:crypto";
import { type Client, isGrpcServiceError, WorkflowExecutionAlreadyStartedError, type WorkflowStartOptions } from "@temporalio/client";
import { ConnectError, isNotFound } from "../server/connect.ts";
import type { Begin } from "../wire/begin.ts";
import { type RunInput, type RunOutput, WORKFLOW } from "../wire/messages.ts";
import { textIn } from "./payloads.ts";
import { isUnclear } from "./workers.ts";

/** The server may have begun it, or not. The hint names the command that tells. */
export class UnclearError extends ConnectError {}

/** How long the look at what became of a start may take, milliseconds: as long as a command waits for any call. */
const LOOK_MS = 10_000;

/** `other`: one of that name that another start began, and that goes on. */
export type Found = "begun" | "other" | "none";

export interface Start {
    /** For people: a run or a schedule, and its id. */
    readonly what: string;
    /** What the server may have done. */
    readonly did: string;
    /** What to do where the server does not tell. */
    readonly hint: string;
    call(mark: string): Promise<unknown>;
    /** Rejects where the server does not tell; with gRPC's NOT_FOUND where it has none. */
    look(mark: string): Promise<Found>;
    /** Of another one of that name. */
    taken(): Error;
}

/** STW1. Rejects as the call did where nothing was begun. */
export async function started(client: Client, { what, did, hint, call, look, taken }: Start): Promise<void> {
    const mark = randomUUID();
    try {
        await call(mark);
    } catch (error) {
        if (!isUnclear(error)) throw error;
        const found = await client.withDeadline(Date.now() + LOOK_MS, () => look(mark)).catch(without);
        if (found === "begun") return;
        if (found === "other") throw taken();
        if (found === "none") throw error;
        const message = `the Temporal server went away while it was called; ${what} ${did}`;
        throw new UnclearError(message, hint, error);
    }
}

/** Null: the server does not tell. */
function without(error: unknown): Found | null {
    if (!isGrpcServiceError(error)) throw error;
    return isNotFound(error) ? "none" : null;
}

/** Begins the workflow of a run. */
export async function workflowStarted(client: Client, begin: Begin, more: Partial<WorkflowStartOptions> = {}): Promise<void> {
    const { workflowId: id, memo } = begin;
    const { namespace } = client.options;
    await started(client, {
        what: `run ${id}`,
        did: "may have begun there",
        hint: `remit status ${id} tells whether it has; where it has not, remit resume ${id} --on temporal begins it`,
        call: (mark) =>
            client.workflow.start<(input: RunInput) => Promise<RunOutput>>(WORKFLOW, {
                ...more,
                ...begin,
                memo: { ...memo, [MARK]: mark },
            }),
        look: async (mark) => {
            const { workflowExecutionInfo: info } = await client.workflowService.describeWorkflowExecution({
                namespace,
                execution: { workflowId: id },
            });
            const context = { type: "workflow", namespace, workflowId: id } as const;
            if ((await textIn(client, info?.memo?.fields?.[MARK], context)) === mark) return "begun";
            return info?.closeTime ? "none" : "other";
        },
        taken: () => new WorkflowExecutionAlreadyStartedError("Workflow execution already started", id, WORKFLOW),
    });
}

/** Name of the mark in a memo. */
export const MARK = "start";
