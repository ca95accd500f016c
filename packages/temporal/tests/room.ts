/** What the tests share: a real server, workers here or in processes of their own, a ledger in a folder that goes with the test. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type LedgerStore, openProcess, type Process } from "@remit/host";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import {
    connect,
    createWorker,
    type DevServer,
    type DevServerOptions,
    type Keys,
    placeOf,
    type Question,
    type RemitClient,
    type RemitWorker,
    type RemitWorkerOptions,
    remitClient,
    type Settings,
    startDevServer,
} from "../src/index.ts";
import { BUNDLES } from "./bundles.ts";

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

Runtime.install({ logger: new DefaultLogger("ERROR"), telemetryOptions: { logging: { forward: {}, filter: "OFF" } } });

function program(variable: string, name: string): string {
    const found = process.env[variable] ?? join(root, ".tools", "temporal", "bin", name);
    if (!existsSync(found))
        throw new Error(`These tests need a real Temporal server: ${found} is not there. \`npm run setup -- temporal\` brings it.`);
    return found;
}

export const devServer = (options: Omit<DevServerOptions, "program"> = {}): Promise<DevServer> =>
    startDevServer({ program: program("REMIT_TEST_TEMPORAL", "temporal"), ...options });

let shared: Promise<DevServer> | null = null;
/** One a process, begun with the first test that asks for it: runs and queues of its rooms are told apart by their names. It ends with the process. */
export function sharedServer(): Promise<DevServer> {
    shared ??= devServer();
    return shared;
}

/** The server that skips time where it is told to. */
export const skippingServer = (): Promise<TestWorkflowEnvironment> => {
    const path = program("REMIT_TEST_TEMPORAL_SKIPPING", "temporal-test-server");
    return TestWorkflowEnvironment.createTimeSkipping({ server: { executable: { type: "existing-path", path } } });
};

export interface RoomOptions {
    readonly settings?: Partial<Settings>;
    readonly keys?: Keys;
    readonly env?: { readonly [name: string]: string };
    /** Address of the ledger, in place of a file in the folder. */
    readonly ledger?: string;
}

export interface Room extends AsyncDisposable {
    readonly folder: string;
    readonly file: string;
    readonly store: LedgerStore;
    /** With whose key the ledger is written. */
    readonly on: Process;
    readonly client: RemitClient;
    readonly queue: string;
    /** A worker in this process, which ends with the room. */
    worker(options?: Partial<RemitWorkerOptions>): Promise<RemitWorker>;
}

let rooms = 0;

export async function roomAt(
    server: { readonly address: string },
    { settings = {}, keys, env: more = {}, ledger }: RoomOptions = {},
): Promise<Room> {
    const folder = mkdtempSync(join(tmpdir(), "remit-temporal-"));
    const file = ledger ?? join(folder, "ledger.db");
    const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "", XDG_CACHE_HOME: "", ...more };
    const on = openProcess({ env, cwd: folder });
    const store = await on.store(file, {});
    const connection = await connect(placeOf({ address: server.address }));
    const queue = `room-${process.pid}-${++rooms}`;
    const encrypted = keys === undefined ? {} : { keys };
    const client = remitClient({ connection, store, queue, settings, env, ...encrypted });
    const workers: RemitWorker[] = [];
    return {
        folder,
        file,
        store,
        on,
        client,
        queue,
        worker: async ({ host, ...options } = {}) => {
            const at = { connect: { address: server.address }, ledger: store, queue, cache: BUNDLES, ...encrypted };
            const made = await createWorker({ ...at, ...options, host: { ...host, process: on } });
            workers.push(made);
            return made;
        },
        [Symbol.asyncDispose]: async () => {
            await Promise.all(workers.map((one) => one[Symbol.asyncDispose]()));
            await connection.close();
            await on.close();
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

/** Those of a run, once there are some. */
export async function questionsOf(room: Room, run: string): Promise<readonly Question[]> {
    for (;;) {
        const { state, questions } = await room.client.status(run);
        if (questions.length > 0) return questions;
        if (state === "done" || state === "failed") throw new Error(`the run is ${state} and asked nothing`);
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}
