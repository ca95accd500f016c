/**
 * A program of Remit as a child of a team's own workflow, with types: `const review = remitChild<Draft, Verdict>("Review")`.
 *
 * Boundary: runs in the team's workflow, so it holds nothing of the machine. What a name stands for, the worker says (`programs`).
 *
 * RCH1: the run is in the ledger before its workflow begins, and has its id; a replay begins nothing again.
 */
import type { RunOptions } from "@remit/host";
import type { Json } from "@remit/language";
import type { Failure } from "@remit/machine";
import {
    ActivityFailure,
    ApplicationFailure,
    ChildWorkflowFailure,
    type ChildWorkflowOptions,
    executeChild,
    proxyActivities,
    uuid4,
} from "@temporalio/workflow";
import {
    FAILURES,
    LOCAL,
    type NamedActivities,
    type RunInput,
    type RunOutput,
    SETTINGS,
    type Settings,
    WORKFLOW,
} from "../wire/messages.ts";

export interface RemitChildOptions {
    /** Queue of the workers that have the program. Default: that of the workflow. */
    readonly taskQueue?: string;
    readonly settings?: Partial<Settings>;
    /** What else the run is begun with. */
    readonly run?: Pick<RunOptions, "entry" | "limits" | "inputOrigins" | "concurrency">;
    /** What else Temporal takes: what becomes of it when the parent ends, a cancel, a summary. */
    readonly child?: Omit<ChildWorkflowOptions, "workflowId" | "taskQueue" | "args">;
}

/** `program`: a name that the worker knows. The function rejects with Temporal's failure of a child; `remitFailure` tells what the program said. */
export function remitChild<In extends Json, Out extends Json>(
    program: string,
    options: RemitChildOptions = {},
): (input: In) => Promise<Out> {
    const { taskQueue, settings = {}, run: more = {}, child = {} } = options;
    const where = taskQueue === undefined ? {} : { taskQueue };
    const { ["remit.begin"]: begin } = proxyActivities<NamedActivities>({ ...where, ...LOCAL });
    return async (input) => {
        const run = uuid4();
        await begin({ run, program, input, more });
        const given: RunInput = { run, settings: { ...SETTINGS, ...settings } };
        const options = { staticSummary: program, ...child, ...where, workflowId: run, args: [given] as [RunInput] };
        const { value } = await executeChild<(given: RunInput) => Promise<RunOutput>>(WORKFLOW, options);
        return value as Out;
    };
}

/** With what a program failed, where an error of a child is that; else null. */
export function remitFailure(error: unknown): Failure | null {
    // An input that does not fit is told by the activity that would begin the run.
    const cause = error instanceof ChildWorkflowFailure || error instanceof ActivityFailure ? error.cause : error;
    if (!(cause instanceof ApplicationFailure) || cause.type !== FAILURES.failed) return null;
    return (cause.details?.[0] as Failure | undefined) ?? null;
}
