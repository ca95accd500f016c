/**
 * The ledger store alone, without a machine: `node bench/store.ts [FOLDER] [RUNS] [COMMITS]`. Batches of about 2.5 kB, as one durable effect writes.
 *
 * Prints pages of the write-ahead log a commit, one run's time a commit, and for RUNS runs at once their commits a second and the delay of the event
 * loop. One run commits synchronously in the caller's thread, so its rate is what the runs would have together without the shared sync.
 * Then the same commits on SQLite and on a PostgreSQL of its own beside each other: one run's time a commit at the median and at p99, and the
 * commits a second of RUNS runs at once.
 * FOLDER says which disk, for both. The figures are for a quiet machine.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import type { LedgerStore } from "../packages/host/src/ledger/store.ts";
import { openPostgres } from "../packages/host/src/ledger/postgres/store.ts";
import { openSqlite } from "../packages/host/src/ledger/sqlite.ts";
import { postgresOfItsOwn } from "../packages/host/tests/postgres-server.ts";

const [disk = tmpdir(), runs = "200", commits = "50"] = process.argv.slice(2);
const folder = mkdtempSync(join(disk, "remit-store-"));
const file = join(folder, "ledger.db");
const TEXT = "x".repeat(500);
/** Bytes of a frame of the write-ahead log: a page and its head. */
const FRAME = 4096 + 24;

async function write(
    store: LedgerStore,
    id: string,
    count: number,
    after: (n: number, ms: number) => void = () => undefined,
): Promise<void> {
    const program = { format: "remit-program/1" as const, files: [] };
    const writer = await store.create({ id, program, hash: "h", file: "a.remit", root: "", options: {} });
    const about = {
        parent: null,
        principal: "user",
        site: { file: "a.remit", line: 1, column: 1 },
        labels: ["user"],
        data: { text: TEXT },
    };
    for (let n = 1; n <= count; n++) {
        const [before, path] = [`main/T.x#${n - 1}`, `main/T.x#${n}`];
        const begun = performance.now();
        await writer.commit({
            outcomes: n === 1 ? [] : [{ path: before, outcome: { ok: true, value: TEXT, origins: ["tool:T"] } }],
            events: [
                { ...about, path: before, kind: "tool.ended" },
                { ...about, path, kind: "tool.started" },
            ],
            pending: [{ path, begun: true }],
            state: { kind: n % 64 === 1 ? "image" : "delta", json: { n, text: TEXT } },
            steps: n,
        });
        after(n, performance.now() - begun);
        await new Promise((resolve) => setImmediate(resolve));
    }
    await writer.commit({ end: { status: "done", value: null } });
}

const store = openSqlite(file, { config: join(folder, "config") });
try {
    const pages = (): number => Math.floor(statSync(`${file}-wal`).size / FRAME);
    await write(store, "first", 10);
    const first = pages();
    await write(store, "pages", 50);
    console.log(`${((pages() - first) / 50).toFixed(1)} pages a commit in a run's first 50`);
    // The log begins anew, so that it holds all that follows.
    const other = new DatabaseSync(file);
    other.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    other.close();
    let seen = 0;
    await write(store, "more pages", 160, (n) => {
        if (n === 64 || n === 160) seen = pages() - seen;
    });
    console.log(`${(seen / 96).toFixed(1)} pages a commit after that, where states take the room of older ones`);
    let begun = performance.now();
    await write(store, "single", 1000);
    const single = 1_000_000 / (performance.now() - begun);
    console.log(`one run: ${(1_000_000 / single).toFixed(0)} µs a commit, ${single.toFixed(0)} commits a second`);
    await Promise.all([1, 2, 3].map((n) => write(store, `warm ${n}`, 200)));
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    begun = performance.now();
    await Promise.all(Array.from({ length: Number(runs) }, (_, n) => write(store, `run ${n}`, Number(commits))));
    const rate = (Number(runs) * Number(commits) * 1000) / (performance.now() - begun);
    delay.disable();
    console.log(`${runs} runs: ${rate.toFixed(0)} commits a second, ${(rate / single).toFixed(1)} times one run's`);
    console.log(`event loop delay: p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms`);
} finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
}

/** One run alone, then all at once. */
async function compared(name: string, store: LedgerStore): Promise<void> {
    await write(store, `${name} warm`, 200);
    const took: number[] = [];
    await write(store, `${name} one`, 1000, (_, ms) => void took.push(ms));
    took.sort((a, b) => a - b);
    const at = (part: number): string => (took[Math.floor(took.length * part)] as number).toFixed(2);
    const begun = performance.now();
    await Promise.all(Array.from({ length: Number(runs) }, (_, n) => write(store, `${name} ${n}`, Number(commits))));
    const rate = (Number(runs) * Number(commits) * 1000) / (performance.now() - begun);
    console.log(`${name}: one run p50 ${at(0.5)} ms, p99 ${at(0.99)} ms; ${runs} runs ${rate.toFixed(0)} commits a second`);
}

const beside = mkdtempSync(join(disk, "remit-store-"));
const server = await postgresOfItsOwn("fsync = on", disk);
try {
    const embedded = openSqlite(join(beside, "ledger.db"), { config: join(beside, "config") });
    await compared("SQLite", embedded);
    await embedded.close();
    const database = await openPostgres(server.fresh(), { config: join(beside, "config"), state: beside });
    await compared("PostgreSQL", database);
    await database.close();
} finally {
    await server.stop();
    rmSync(beside, { recursive: true, force: true });
}
