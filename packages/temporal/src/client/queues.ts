/**
 * Activities and workflows of a team's task queues, called for the tools of a program.
 *
 * Boundary: between one call and Temporal's client, whose converter is the team's. What may be called is decided before.
 *
 * QC1: a call has its own id (QT1): one that goes on is waited for, one that succeeded gives its result again, and nothing of it is made twice.
 * QC2: an activity is tried once, unless its description says that a second time does no harm; then as often as its time allows.
 */
import type { QueueCall, QueueCaller } from "@remit/host";
import type { Json } from "@remit/language";
import {
    ActivityExecutionAlreadyStartedError,
    ActivityExecutionFailedError,
    type Client,
    WorkflowExecutionAlreadyStartedError,
    WorkflowFailedError,
} from "@temporalio/client";

/** What was begun, on whichever side. */
interface Begun {
    result(): Promise<unknown>;
    cancel(reason: string): Promise<unknown>;
}

export function queueCaller(client: () => Client | Promise<Client>): QueueCaller {
    return async (call) => {
        const to = await client();
        const begun = await (call.kind === "activity" ? activity(to, call) : workflow(to, call));
        const { signal } = call;
        const stopped = Promise.withResolvers<never>();
        // The call is over all the same; a server that is away ends it by its time.
        const stop = (): void => {
            begun.cancel("the run needs it no longer").catch(() => undefined);
            stopped.reject(signal.reason);
        };
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
        try {
            return ((await Promise.race([begun.result(), stopped.promise])) ?? null) as Json;
        } catch (error) {
            throw plainly(error);
        } finally {
            signal.removeEventListener("abort", stop);
        }
    };
}

const AGAIN = { idReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY", idConflictPolicy: "USE_EXISTING" } as const;

/** QC1. */
async function activity({ activity: client }: Client, { queue, type, args, id, timeout, repeatable }: QueueCall): Promise<Begun> {
    const retry = repeatable ? {} : { retry: { maximumAttempts: 1 } };
    try {
        return await client.start(type, { ...AGAIN, id, taskQueue: queue, args: [...args], scheduleToCloseTimeout: timeout, ...retry });
    } catch (error) {
        if (!(error instanceof ActivityExecutionAlreadyStartedError)) throw error;
        return client.getHandle(id);
    }
}

async function workflow({ workflow: client }: Client, { queue, type, args, id, timeout }: QueueCall): Promise<Begun> {
    const { idReusePolicy: workflowIdReusePolicy, idConflictPolicy: workflowIdConflictPolicy } = AGAIN;
    const how = { workflowIdReusePolicy, workflowIdConflictPolicy, workflowExecutionTimeout: timeout };
    try {
        return await client.start(type, { ...how, workflowId: id, taskQueue: queue, args: [...args] });
    } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        return client.getHandle(id);
    }
}

/** The innermost cause says what happened. */
function plainly(error: unknown): unknown {
    if (!(error instanceof ActivityExecutionFailedError || error instanceof WorkflowFailedError)) return error;
    let cause: unknown = error;
    while (cause instanceof Error && cause.cause instanceof Error) ({ cause } = cause);
    return cause;
}
