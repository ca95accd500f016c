/** The contender that is written by hand: a worker and a client in one process, activities that append before and after each effect. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { Context } from "@temporalio/activity";
import { Client, Connection } from "@temporalio/client";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { type Facts, factsOf } from "./temporal-facts.ts";

export interface Work {
    readonly shape: "chain" | "fan";
    readonly n: number;
    readonly isLocal: boolean;
}

export interface HandActivities {
    step(i: number): Promise<number>;
}

export async function hand(address: string, folder: string): Promise<(work: Work) => Promise<Facts>> {
    Runtime.install({ logger: new DefaultLogger("ERROR"), telemetryOptions: { logging: { forward: {}, filter: "OFF" } } });
    const db = new DatabaseSync(join(folder, "hand.db"));
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE steps (run TEXT, i INTEGER, at TEXT, what TEXT)");
    const insert = db.prepare("INSERT INTO steps VALUES (?, ?, ?, ?)");
    const append = (run: string, i: number, what: unknown): void => {
        insert.run(run, i, new Date().toISOString(), JSON.stringify(what));
    };
    const activities: HandActivities = {
        step: async (i) => {
            const { workflowExecution } = Context.current().info;
            const run = workflowExecution?.workflowId ?? "";
            append(run, i, { kind: "begun", tool: "Work", method: "step", args: [{ i }] });
            append(run, i, { kind: "done", value: i });
            return i;
        },
    };
    const connection = await NativeConnection.connect({ address });
    const workflowsPath = fileURLToPath(new URL("./temporal-flows.ts", import.meta.url));
    const worker = await Worker.create({ connection, taskQueue: "hand", workflowsPath, activities: { ...activities } });
    void worker.run();
    const client = new Client({ connection: await Connection.connect({ address }) });
    let run = 0;
    return async (work) => {
        const workflowId = `hand-${process.pid}-${++run}`;
        const begun = performance.now();
        const value = await client.workflow.execute("hand", { taskQueue: "hand", workflowId, args: [work] });
        const ms = performance.now() - begun;
        if (value !== work.n) throw new Error(`${value} is not ${work.n}`);
        return { ms, ...(await factsOf(client, workflowId)) };
    };
}
