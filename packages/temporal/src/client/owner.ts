/**
 * Which execution has a run of the ledger, and how it is made to let the run go.
 *
 * Boundary: asks the server, and tells an execution to drain or to end. Taking the run is the caller's, from the epoch that is said here.
 *
 * TOW1: what an execution that was given up still does is refused: the ledger takes nothing of an older epoch. So a run is never carried out twice,
 *     whatever the server knows of it.
 */
import { setTimeout as after } from "node:timers/promises";
import { infoOf, LedgerError, type LedgerStore, type RunInfo } from "@remit/host";
import { partOf } from "@remit/machine";
import {
    type Client,
    isGrpcServiceError,
    ServiceError,
    WorkflowFailedError,
    type WorkflowHandle,
    WorkflowNotFoundError,
} from "@temporalio/client";
import { GUARD, ownerOf, QUERIES, SIGNALS, type Status } from "../wire/messages.ts";

/** What a run was taken from. */
export type Released =
    /** No execution had it. */
    | { readonly how: "free" }
    /** What had begun has ended, and nothing is unknown. */
    | { readonly how: "drained" }
    /** The execution was ended in the middle, as it did not drain in time. */
    | { readonly how: "ended"; readonly performing: readonly string[] }
    /** There is no such execution any more, or it ended without letting the run go: `status` as the server says it. */
    | { readonly how: "gone"; readonly status: string };

export interface ReleaseOptions {
    /** No worker takes from its queue any more: it is ended at once. */
    readonly unserved?: boolean;
    /** How long what has begun is waited for, milliseconds; then the execution is ended. */
    readonly grace?: number;
    readonly signal?: AbortSignal;
    /** The execution drains: what it still waits for. */
    readonly waits?: (performing: readonly string[]) => void;
}

const GRACE_MS = 30_000;
/** A worker that has not answered a query by then is away, milliseconds. */
const ANSWER_MS = 5_000;

/** Of the execution that has the run, by the server; null: none has it. */
export async function executionOf(client: Client, { id, by }: RunInfo): Promise<string | null> {
    if (by?.startsWith(ownerOf(client.options.namespace, id)) !== true) return null;
    try {
        return (await client.workflow.getHandle(id).describe()).status.name;
    } catch (error) {
        if (error instanceof WorkflowNotFoundError) return "NOT_FOUND";
        throw error;
    }
}

/** The run, so that its owner can be another one: `own` with `from: epoch`. Rejects with `LedgerError` `owned` where its owner is not on this server. */
export async function release(
    client: Client,
    store: LedgerStore,
    run: string,
    options: ReleaseOptions = {},
): Promise<Released & { readonly epoch: number }> {
    const info = await store.run(run);
    const status = await executionOf(client, info);
    if (status === null) {
        if (info.live) throw new LedgerError("owned", `run ${info.id} is owned by ${info.by ?? "another process"}`);
        return { how: "free", epoch: info.epoch };
    }
    const released: Released =
        status !== "RUNNING"
            ? { how: "gone", status }
            : await (options.unserved === true ? ended(client, info.id) : drained(client, client.workflow.getHandle(info.id), options));
    for (const { path } of await store.pending(info.id)) await partReleased(client, store, partOf(info.id, path), options);
    return { ...released, epoch: (await store.run(info.id)).epoch };
}

/** A block that is a run of its own goes on by itself where the run around it was given up: it is let go, too, and has no owner then. */
async function partReleased(client: Client, store: LedgerStore, id: string, options: ReleaseOptions): Promise<void> {
    const info = await infoOf(store, id);
    if (info === null || (await executionOf(client, info)) === null) return;
    const { how, epoch } = await release(client, store, id, options);
    if (how === "drained" || (await store.run(id)).by === undefined) return;
    await (await store.own(id, { from: epoch })).release();
}

/** TOW1. With the guards of its blocks, which no worker would end. */
async function ended(client: Client, run: string): Promise<Released> {
    const flow = client.workflow.getHandle(run);
    const { raw } = await flow.describe();
    const guards = (raw.pendingChildren ?? []).filter(({ workflowTypeName }) => workflowTypeName === GUARD);
    for (const one of [flow, ...guards.map(({ workflowId }) => client.workflow.getHandle(workflowId as string))]) {
        try {
            await one.terminate("the run goes on elsewhere");
        } catch (error) {
            // It has ended meanwhile.
            if (!(error instanceof WorkflowNotFoundError)) throw error;
        }
    }
    return { how: "ended", performing: [] };
}

async function drained(client: Client, flow: WorkflowHandle, { grace = GRACE_MS, signal, waits }: ReleaseOptions): Promise<Released> {
    await flow.signal(SIGNALS.drain);
    const over = new AbortController();
    const until = AbortSignal.any([over.signal, ...(signal === undefined ? [] : [signal])]);
    // However it ended: the ledger says what became of the run.
    const ended = client
        .withAbortSignal(over.signal, () => flow.result())
        .then(
            () => true,
            (error: unknown) => {
                if (over.signal.aborted || error instanceof WorkflowFailedError) return true;
                throw error;
            },
        );
    const within = (ms: number): Promise<boolean> => Promise.race([ended, after(ms, false, { signal: until }).catch(() => false)]);
    try {
        const soon = Math.min(1_000, grace);
        if (await within(soon)) return { how: "drained" };
        const performing = await performingOf(client, flow);
        waits?.(performing);
        if (await within(grace - soon)) return { how: "drained" };
        signal?.throwIfAborted();
        // TOW1.
        await flow.terminate("the run goes on elsewhere");
        return { how: "ended", performing };
    } finally {
        over.abort();
    }
}

/** None where no worker answers. */
async function performingOf(client: Client, flow: WorkflowHandle): Promise<readonly string[]> {
    const away = AbortSignal.timeout(ANSWER_MS);
    try {
        return (await client.withAbortSignal(away, () => flow.query<Status>(QUERIES.status))).performing;
    } catch (error) {
        if (away.aborted || error instanceof ServiceError || isGrpcServiceError(error)) return [];
        throw error;
    }
}
