/** A worker and a client in one process for workflows named `agent`, with `book` as an activity beside the contender's own. */
import { heartbeat } from "@temporalio/activity";
import { Client, Connection } from "@temporalio/client";
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from "@temporalio/worker";
import { fileURLToPath } from "node:url";
import { type AgentFacts, type AgentOrder, book } from "../src/agent-work.ts";
import { factsOf } from "../src/temporal-facts.ts";

export interface AgentActivities {
    book(i: number): Promise<string>;
}

export interface Settings {
    readonly address: string;
    readonly folder: string;
    readonly queue: string;
    /** The file of workflows, beside this one. */
    readonly flows: string;
    readonly plugins?: WorkerOptions["plugins"];
    readonly activities?: { readonly [name: string]: (...args: never[]) => Promise<unknown> };
}

const BEAT_MS = 1_000;

export async function contender({
    address,
    folder,
    queue,
    flows,
    plugins = [],
    activities,
}: Settings): Promise<(order: AgentOrder) => Promise<AgentFacts>> {
    Runtime.install({ logger: new DefaultLogger("ERROR"), telemetryOptions: { logging: { forward: {}, filter: "OFF" } } });
    const connection = await NativeConnection.connect({ address });
    const own: AgentActivities = { book: (i) => beating(() => book(folder, i)) };
    const worker = await Worker.create({
        ...{ connection, taskQueue: queue, plugins, activities: { ...own, ...activities } },
        workflowsPath: fileURLToPath(new URL(flows, import.meta.url)),
    });
    void worker.run();
    const client = new Client({ connection: await Connection.connect({ address }) });
    return async ({ id, begin }) => {
        const begun = performance.now();
        const handle = begin
            ? await client.workflow.start("agent", { taskQueue: queue, workflowId: id, args: [] })
            : client.workflow.getHandle(id);
        const value = await handle.result();
        const ms = performance.now() - begun;
        if (value !== "all are booked") throw new Error(`${JSON.stringify(value)} is not what the model said`);
        return { ms, asked: 0, ...(await factsOf(client as never, id)) };
    };
}

/** So that the server knows of the worker's death before the activity's whole time is up. */
export async function beating<T>(work: () => Promise<T>): Promise<T> {
    const timer = setInterval(() => heartbeat(), BEAT_MS);
    try {
        return await work();
    } finally {
        clearInterval(timer);
    }
}
