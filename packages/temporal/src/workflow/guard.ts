/**
 * The workflow `remitGuard`: sees to it that a block that is a workflow of its own does not go on alone.
 *
 * Boundary: one part and the workflow around it, by their ids. It knows nothing of runs, and decides nothing else.
 *
 * WG1: it is a child that the server cancels when the execution around it ends, however it ends: terminated, out of time, or to go on in a new one.
 *     Only where no execution goes on under that id it cancels the part. (As the part's own rule the server's would hit the part of a run that
 *     only goes on in a new execution, too.)
 */
import { CancellationScope, getExternalWorkflowHandle, isCancellation, TemporalFailure } from "@temporalio/workflow";
import { type GuardInput, SIGNALS } from "../wire/messages.ts";

export async function remitGuard({ around, part }: GuardInput): Promise<null> {
    await CancellationScope.current().cancelRequested.catch((error: unknown) => {
        if (!isCancellation(error)) throw error;
    });
    return CancellationScope.nonCancellable(async () => {
        if (!(await signalled(around, SIGNALS.here))) await cancelled(part);
        return null;
    });
}

/** False where there is no such workflow that goes on. */
export function signalled(workflow: string, signal: string, ...args: unknown[]): Promise<boolean> {
    return isThere(() => getExternalWorkflowHandle(workflow).signal(signal, ...args));
}

function cancelled(workflow: string): Promise<boolean> {
    return isThere(() => getExternalWorkflowHandle(workflow).cancel());
}

async function isThere(tell: () => Promise<void>): Promise<boolean> {
    try {
        await tell();
        return true;
    } catch (error) {
        if (isCancellation(error) || !(error instanceof TemporalFailure)) throw error;
        return false;
    }
}
