/**
 * Whether what is begun is carried out: a namespace that is there, and a worker that takes runs from the queue.
 *
 * Boundary: asks the server. A server tells of a worker for five minutes after it was heard of last, so one that has just ended still counts.
 */
import { setTimeout as after } from "node:timers/promises";
import { type Program, stagesOf } from "@remit/language";
import { type Client, isGrpcServiceError, ServiceError } from "@temporalio/client";
import { NamespaceNotFoundError, WorkflowNotFoundError } from "@temporalio/common";
import proto from "@temporalio/proto";
import { ConnectError, isNotFound, noNamespace } from "../server/connect.ts";

/** So long a worker that is just beginning is waited for, and how often it is looked for, milliseconds. */
const PATIENCE_MS = 1_500;
const LOOK_MS = 250;
/** The server does not tell, or not this client: gRPC's UNIMPLEMENTED and PERMISSION_DENIED. */
const UNTOLD: ReadonlySet<unknown> = new Set([12, 7]);
const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;

const WORKER = "start one with remit worker --queue";
const LATER = "remit submit without --wait leaves the run for a worker that comes later";

/** Also where the server does not tell. */
export async function hasWorker(client: Client, queue: string, taskQueueType = TASK_QUEUE_TYPE_WORKFLOW): Promise<boolean> {
    const { namespace } = client.options;
    try {
        const about = { namespace, taskQueue: { name: queue }, taskQueueType };
        const { pollers } = await client.workflowService.describeTaskQueue(about);
        return (pollers ?? []).length > 0;
    } catch (error) {
        if (!isGrpcServiceError(error)) throw error;
        if (UNTOLD.has(error.code)) return true;
        throw isNotFound(error) ? noNamespace(namespace, error) : called(error, "its workers are not known");
    }
}

/** Rejects with `ConnectError` where no worker takes runs from the queue, or none what stages of the program send to queues of their own. */
export async function attended(client: Client, queue: string, program?: Program): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    while (!(await hasWorker(client, queue))) {
        if (performance.now() > until) throw unattended(queue, `${WORKER} ${queue}; ${LATER}`);
        await after(LOOK_MS);
    }
    for (const { name, at } of program === undefined ? [] : queuesIn(program))
        while (!(await hasWorker(client, name, TASK_QUEUE_TYPE_ACTIVITY))) {
            if (performance.now() > until) throw unattended(name, `${WORKER} ${name}; ${at} names it`);
            await after(LOOK_MS);
        }
}

/** Queues of stages, each with the place that names it first. */
function queuesIn({ files }: Program): { readonly name: string; readonly at: string }[] {
    const found = new Map<string, string>();
    for (const { file, blocks = [] } of files)
        for (const { at, with: how } of blocks.flatMap(({ body }) => stagesOf(body)))
            if (how?.queue !== undefined && !found.has(how.queue)) found.set(how.queue, `${file}:${at?.[0] ?? 1}:${at?.[1] ?? 1}`);
    return [...found].map(([name, at]) => ({ name, at }));
}

function unattended(queue: string, hint: string): ConnectError {
    return new ConnectError(`no worker takes runs from the queue '${queue}'`, hint, undefined);
}

/** So long a worker has to tell of a run that it has, milliseconds: it may have to read the whole history first. */
const TELL_MS = 10_000;
/** gRPC's DEADLINE_EXCEEDED and FAILED_PRECONDITION: the server waits for a worker, or knows that none can tell. */
const UNSAID: ReadonlySet<unknown> = new Set([4, 9]);

/** What the workflow of a run says of it. Rejects with `ConnectError` where no worker answers for it. */
export async function tellOf<T>(client: Client, run: string, query: string, ...args: readonly unknown[]): Promise<T> {
    const flow = client.workflow.getHandle(run);
    try {
        return await client.withDeadline(Date.now() + TELL_MS, () => flow.query<T, unknown[]>(query, ...args));
    } catch (error) {
        throw unheard(error, run, `no worker says what run ${run} does`);
    }
}

/** What the call itself came to, where the library tells it in words of its own; null: it is no error of a call. */
function causeOf(error: unknown): { readonly code: number; readonly details: string } | null {
    const cause = error instanceof ServiceError ? error.cause : error;
    return isGrpcServiceError(cause) ? cause : null;
}

/** What the server says where no worker can carry a query or an update to the workflow now. */
export function unheard(error: unknown, run: string, message: string): unknown {
    if (!UNSAID.has(causeOf(error)?.code)) return called(error, message);
    return new ConnectError(
        message,
        `its workers are away, stopped, very busy, of another build, or without a key of its payloads: ${WORKER} QUEUE, or give it to those that serve now with remit resume ${run} --on temporal --move; remit trace ${run} shows what the ledger has of it`,
        error,
    );
}

/** Rejects with `ConnectError` where the run has no workflow here, or where no worker is there that could say what it does. */
export async function reachable(client: Client, run: string): Promise<void> {
    let queue: string;
    try {
        queue = (await client.workflow.getHandle(run).describe()).taskQueue;
    } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw called(error, `what became of run ${run} is not known here`);
        const hint = `remit resume ${run} --on temporal gives it one; remit trace ${run} shows what the ledger has of it`;
        throw new ConnectError(`run ${run} has no workflow on this Temporal server`, hint, error);
    }
    if (!(await hasWorker(client, queue))) throw unattended(queue, `${WORKER} ${queue}`);
}

/** Of a server that was there, and took no more calls or refused one: `what` did not happen by that. All else as it is. */
export function called(error: unknown, what: string): unknown {
    if (!(error instanceof ServiceError || isGrpcServiceError(error))) return unplaced(error);
    const cause = causeOf(error);
    const isRefused = cause !== null && !AWAY.has(cause.code);
    const said = isRefused ? `refused a call: ${cause.details}` : "went away while it was called";
    const hint = isRefused
        ? "look at what the server says of it, then run the command again"
        : "look whether it runs (remit temporal dev starts one), then run the command again";
    return new ConnectError(`the Temporal server ${said}; ${what}`, hint, error);
}

export async function answered<T>(call: Promise<T>, what: string): Promise<T> {
    try {
        return await call;
    } catch (error) {
        throw called(error, what);
    }
}

/** gRPC's DEADLINE_EXCEEDED and UNAVAILABLE. */
const UNANSWERED: ReadonlySet<unknown> = new Set([4, 14]);

/** The server gave no answer, also where it was asked again. */
export function isUnanswered(error: unknown): boolean {
    return UNANSWERED.has(causeOf(error)?.code);
}

/** gRPC's CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, INTERNAL and UNAVAILABLE: what a connection comes to that breaks, or that a server closes as it ends. */
const AWAY: ReadonlySet<unknown> = new Set([1, 2, 4, 13, 14]);

/** With those that the library tries again, and that may come after a try whose answer was lost: RESOURCE_EXHAUSTED, ABORTED, OUT_OF_RANGE, DATA_LOSS. */
const LOST: ReadonlySet<unknown> = new Set([...AWAY, 8, 10, 11, 15]);

/** The server may have done what it was called for. */
export function isUnclear(error: unknown): boolean {
    return LOST.has(causeOf(error)?.code);
}

/** An error that says which namespace is not there, in the words of this package. */
function unplaced(error: unknown): unknown {
    return error instanceof NamespaceNotFoundError ? noNamespace(error.namespace, error) : error;
}
