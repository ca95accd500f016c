/** What the tests share: a real server a file, a worker here or in a process of its own, a ledger in a folder that goes with the test. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type LedgerStore, openStore } from "@remit/host";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import {
    connect,
    createWorker,
    type DevServer,
    type DevServerOptions,
    type Keys,
    placeOf,
    type RemitClient,
    type RemitWorker,
    type RemitWorkerOptions,
    remitClient,
    type Settings,
    startDevServer,
    startSkippingServer,
} from "../src/index.ts";

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
export const skippingServer = (): Promise<DevServer> =>
    startSkippingServer(program("REMIT_TEST_TEMPORAL_SKIPPING", "temporal-test-server"));

/** Bundles of the workflow, kept between tests. */
export const BUNDLES = join(root, ".tools", "temporal-bundles");

export interface Room extends AsyncDisposable {
    readonly folder: string;
    readonly store: LedgerStore;
    readonly client: RemitClient;
    readonly queue: string;
    /** A worker in this process, which ends with the room. */
    worker(options?: Partial<RemitWorkerOptions>): Promise<RemitWorker>;
}

let rooms = 0;

export async function roomAt(server: DevServer, settings: Partial<Settings> = {}, keys?: Keys): Promise<Room> {
    const folder = mkdtempSync(join(tmpdir(), "remit-temporal-"));
    const store = await openStore(join(folder, "ledger.db"), { config: folder, state: folder });
    const connection = await connect(placeOf({ address: server.address }));
    const queue = `room-${process.pid}-${++rooms}`;
    const client = remitClient({ connection, store, queue, settings, ...(keys === undefined ? {} : { keys }) });
    const workers: RemitWorker[] = [];
    return {
        folder,
        store,
        client,
        queue,
        worker: async (options = {}) => {
            const made = await createWorker({
                connect: { address: server.address },
                ledger: store,
                queue,
                cache: BUNDLES,
                ...(keys === undefined ? {} : { keys }),
                ...options,
            });
            workers.push(made);
            return made;
        },
        [Symbol.asyncDispose]: async () => {
            await Promise.all(workers.map((one) => one[Symbol.asyncDispose]()));
            await connection.close();
            await store.close();
            rmSync(folder, { recursive: true, force: true });
        },
    };
}
