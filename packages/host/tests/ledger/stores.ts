/** Every kind of store, for the suite that holds all of them, and what their tests are made of. A new store is one line in `STORES`. */
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { canonicalJson, type Json } from "@remit/language";
import type { MachineEvent } from "@remit/machine";
import { sha256 } from "../../src/ledger/blob.ts";
import type { SqliteOptions } from "../../src/ledger/connect.ts";
import { LedgerError } from "../../src/ledger/error.ts";
import { memoryStore } from "../../src/ledger/memory.ts";
import { openPostgres } from "../../src/ledger/postgres/store.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import type { LedgerStore, NewRun } from "../../src/ledger/store.ts";
import { postgres } from "../postgres-server.ts";

/** Opens a store whose files, if it has any, are in `folder`; another call opens what is there again. */
export type Open = (folder: string) => Promise<LedgerStore>;

export const STORES: { readonly [name: string]: Open } = {
    memory: async () => memoryStore(),
    sqlite: async (folder) => openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") }),
    postgres: async (folder) => openPostgres(await addressIn(folder), { config: join(folder, "config") }),
    "sqlite, in a thread": async (folder) => (await inThread(folder)).store,
};

/** A schema for the folder: the same one at the next call, as with a file in it. */
async function addressIn(folder: string): Promise<string> {
    const file = join(folder, "address");
    if (!existsSync(file)) writeFileSync(file, (await postgres()).fresh());
    return readFileSync(file, "utf8");
}

/** A store that writes everything in its thread, and the thread. */
export async function inThread(
    folder: string,
    more: Partial<SqliteOptions> = {},
): Promise<{ readonly store: LedgerStore; readonly worker: Worker }> {
    const began = new Promise<Worker>((resolve) => process.once("worker", resolve));
    const store = openSqlite(join(folder, "ledger.db"), { config: join(folder, "config"), threadFrom: 1, ...more });
    const first = await store.create(newRun("first"));
    const worker = await began;
    await once(worker, "message");
    await first.release();
    await store.remove(["first"]);
    return { store, worker };
}

const PROGRAM = { format: "remit-program/1" as const, files: [] };
/** Of that program. */
export const HASH = sha256(canonicalJson(PROGRAM));
export const newRun = (id: string): NewRun => ({
    id,
    program: PROGRAM,
    hash: HASH,
    file: "a.remit",
    root: "",
    options: { input: { log: "x" } },
});
export const pathOf = (n: number): string => `main/Tool.call#${n}`;
export const event = (n: number, data: Json = { n }): MachineEvent => ({
    path: pathOf(n),
    parent: "main",
    kind: "tool.ended",
    principal: "user",
    site: { file: "a.remit", line: n, column: 1 },
    labels: ["tool:T", "user"],
    data,
});
/** Numbers of the events that are kept. */
export const kept = async (store: LedgerStore, id: string): Promise<unknown[]> =>
    (await Array.fromAsync(store.events(id))).map((one) => (one.data as { n: number }).n);
export const codeOf = async (work: () => unknown): Promise<string> => {
    try {
        await work();
    } catch (error) {
        if (error instanceof LedgerError) return error.code;
        throw error;
    }
    return "nothing thrown";
};
export const fill = async (store: LedgerStore, id: string, count: number): Promise<void> => {
    const writer = await store.create(newRun(id));
    for (let n = 1; n <= count; n++) {
        await writer.commit({ pending: [{ path: pathOf(n), begun: true }] });
        await writer.commit({
            outcomes: [{ path: pathOf(n), outcome: { ok: true, value: n, origins: [] } }],
            events: [event(n)],
            usage: { input: 2 },
        });
    }
    await writer.commit({ end: { status: "done", value: count } });
};
