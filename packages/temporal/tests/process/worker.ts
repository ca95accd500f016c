/**
 * A worker in a process of its own, which is killed at a chosen place: `node worker.ts JSON`.
 *
 * The tool `Log` writes a line for every call that really happens: `NAME PID`.
 */
import { appendFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { type LedgerStore, openProcess, type RunWriter } from "@remit/host";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { createWorker } from "../../src/index.ts";
import { callsIn } from "./calls.ts";

export interface ChildOptions {
    readonly address: string;
    readonly queue: string;
    readonly folder: string;
    /** Address of the ledger, in place of the file in the folder. */
    readonly ledger?: string;
    readonly cache: string;
    /** The build that executions are pinned to. */
    readonly version?: { readonly deployment: string; readonly build: string };
    /** A call takes so long after it happened, milliseconds. */
    readonly pause?: number;
    /** A call ends once this many processes have made one. */
    readonly together?: number;
    /** Name of the call at which the process is killed: before it happens, or after it, when its outcome is not told yet. */
    readonly kill?: { readonly at: string; readonly when: "before" | "after" };
    /** So many outcomes are kept when the process is killed. */
    readonly outcomes?: number;
    /** The process is killed when the ledger has the end of a run, which nothing was told of yet. */
    readonly ended?: true;
}

const {
    address,
    queue,
    folder,
    cache,
    ledger = join(folder, "ledger.db"),
    pause = 0,
    together = 1,
    outcomes = Number.POSITIVE_INFINITY,
    kill,
    ended,
    version,
} = JSON.parse(process.argv[2] as string) as ChildOptions;
Runtime.install({ logger: new DefaultLogger("ERROR"), telemetryOptions: { logging: { forward: {}, filter: "OFF" } } });

/** A model calls it with an object. */
async function call(given: string | { readonly name: string }): Promise<number> {
    const name = typeof given === "string" ? given : given.name;
    const dies = (when: "before" | "after"): void => {
        if (kill?.at === name && kill.when === when) process.kill(process.pid, "SIGKILL");
    };
    dies("before");
    appendFileSync(join(folder, "calls"), `${name} ${process.pid}\n`);
    dies("after");
    while (new Set(callsIn(folder).map(({ pid }) => pid)).size < together) await new Promise((resolve) => setTimeout(resolve, 20));
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    return name.length;
}
let kept = 0;
function recorded(): void {
    if (++kept === outcomes) process.kill(process.pid, "SIGKILL");
}
function deadlyAtEnd(store: LedgerStore): LedgerStore {
    const join: LedgerStore["join"] = async (run, epoch) => {
        const writer = await store.join(run, epoch);
        const commit: RunWriter["commit"] = async (batch, n) => {
            await writer.commit(batch, n);
            if (batch.end !== undefined) process.kill(process.pid, "SIGKILL");
            return null;
        };
        return Object.create(writer, { commit: { value: commit } });
    };
    return Object.create(store, { join: { value: join } });
}
const on = openProcess({ cwd: folder });
const worker = await createWorker({
    connect: { address },
    ledger: ended === undefined ? ledger : deadlyAtEnd(await on.store(ledger, {})),
    queue,
    cache,
    ...(version === undefined ? {} : { version }),
    ofRun: () => ({ recorded }),
    host: { process: on, tools: { Log: { write: { call }, read: { call, readOnly: true } } } },
    // A worker that was killed is not waited for long.
    tune: { stickyQueueScheduleToStartTimeout: "500ms", maxConcurrentActivityTaskExecutions: 4 },
});
// Else a process that is killed keeps nothing of what V8 compiled for the next one.
flushCompileCache();
process.stdout.write("ready\n");
process.once("SIGTERM", () => void worker.shutdown());
await worker.ended;
await on.close();
