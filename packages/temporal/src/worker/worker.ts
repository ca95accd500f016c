/**
 * A worker: carries out runs of a ledger for a Temporal server.
 *
 * Boundary: puts connection, workflow, activities and world together.
 */
import { join } from "node:path";
import { cacheFolder, knownSecrets, openProcess, type Process, type ResumeRunOptions } from "@remit/host";
import type { NativeConnection, Worker, WorkerOptions } from "@temporalio/worker";
import { Client } from "@temporalio/client";
import { activitiesOf } from "../activity/activities.ts";
import { queueCaller } from "../client/queues.ts";
import { type ConnectSettings, connectWorker, type Place, placeOf } from "../server/connect.ts";
import { workerSdk } from "../server/sdk.ts";
import { converter } from "../codec/converter.ts";
import { BEAT_MS, QUEUE } from "../wire/messages.ts";
import { workflowBundle } from "./bundle.ts";
import { ofActivities, type ServingOptions } from "./options.ts";

export interface RemitWorkerOptions extends ServingOptions {
    readonly connect: ConnectSettings;
    readonly queue?: string;
    /** The build that executions are pinned to; absent: they go to any worker. */
    readonly version?: { readonly deployment: string; readonly build: string };
    /** Tuning, and whatever else Temporal's worker takes. */
    readonly tune?: Partial<WorkerOptions>;
}

export interface RemitWorker extends AsyncDisposable {
    /** Resolves when it was shut down; rejects where it cannot go on. */
    readonly ended: Promise<void>;
    /** Takes no more, and ends when what it has is done. */
    shutdown(): Promise<void>;
}

/**
 * From here on Temporal's library says errors only, and leaves signals to the caller. `metrics`: `HOST:PORT` at which its figures (tasks, slots, latencies) are read, as Prometheus reads
 * them. Once a process, before its first connection. Gives what ends the library where no worker came of it: else it keeps the process.
 */
export function onlyErrors({ metrics }: { readonly metrics?: string } = {}): () => Promise<void> {
    const { DefaultLogger, Runtime } = workerSdk();
    const installed = Runtime.install({
        logger: new DefaultLogger("ERROR"),
        shutdownSignals: [],
        telemetryOptions: {
            logging: { forward: {}, filter: "OFF" },
            ...(metrics === undefined
                ? {}
                : { metrics: { prometheus: { bindAddress: metrics, countersTotalSuffix: true, unitSuffix: true } } }),
        },
    });
    return () => installed.shutdown();
}

export async function createWorker(options: RemitWorkerOptions): Promise<RemitWorker> {
    const on: Process = options.host?.process ?? openProcess();
    const place = placeOf({ env: on.env, ...options.connect });
    const connection = await connectWorker(place);
    try {
        return await over(connection, place, on, options);
    } catch (error) {
        await connection.close();
        throw error;
    }
}

async function over(connection: NativeConnection, place: Place, on: Process, options: RemitWorkerOptions): Promise<RemitWorker> {
    const { queue = QUEUE, ledger, programs = {} } = options;
    const holder = {};
    const store = typeof ledger === "string" ? await on.store(ledger, holder) : ledger;
    const codePath = await workflowBundle(options.cache ?? join(cacheFolder(on.env), "temporal"));
    const queues = queueCaller(() => new Client({ connection, namespace: place.namespace }));
    const host: ResumeRunOptions = { queues, ...options.host, process: on };
    const own = `${queue}/${on.user}/${process.pid}-${Date.now().toString(36)}`;
    const { activities, secrets, ended: worldsEnded } = activitiesOf({ store, host, queue: own, programs, ...ofActivities(options) });
    const known = knownSecrets(on.env);
    const { keys } = options;
    const common = {
        connection,
        dataConverter: converter({ store, shows: false, scrubbers: () => [known, ...secrets()], ...(keys === undefined ? {} : { keys }) }),
        namespace: place.namespace,
        maxHeartbeatThrottleInterval: BEAT_MS,
        defaultHeartbeatThrottleInterval: BEAT_MS,
    };
    const { Worker } = workerSdk();
    const main = await Worker.create({
        ...common,
        activities: { ...activities },
        workflowBundle: { codePath },
        taskQueue: queue,
        ...versioning(options.version),
        ...options.tune,
    });
    // Sessions with agents stay here.
    const sessions = await Worker.create({ ...common, activities: { ...activities }, taskQueue: own });
    return running([main, sessions], connection, async () => {
        await worldsEnded();
        await on.release(holder);
        if (options.host?.process === undefined) await on.close();
    });
}

function running(workers: readonly Worker[], connection: NativeConnection, end: () => Promise<void>): RemitWorker {
    const shutdown = (): void => {
        for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
    };
    const all = workers.map((worker) => worker.run().finally(shutdown));
    const ended = Promise.all(all).then(async () => {
        await end();
        await connection.close();
    });
    // A caller that does not wait for it is told where the worker is shut down.
    ended.catch(() => undefined);
    const over = async (): Promise<void> => {
        shutdown();
        await ended;
    };
    return { ended, shutdown: over, [Symbol.asyncDispose]: over };
}

function versioning(version: RemitWorkerOptions["version"]): Partial<WorkerOptions> {
    if (version === undefined) return {};
    const { deployment: deploymentName, build: buildId } = version;
    return {
        workerDeploymentOptions: { version: { deploymentName, buildId }, useWorkerVersioning: true, defaultVersioningBehavior: "PINNED" },
    };
}
