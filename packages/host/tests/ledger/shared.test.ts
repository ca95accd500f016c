/** What activities of one process write to one run, together (Q6). */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Outcome } from "@remit/machine";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { SqliteOptions } from "../../src/ledger/connect.ts";
import { LedgerError } from "../../src/ledger/error.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { append, performOnce } from "../../src/run/elsewhere.ts";
import { createScrubber } from "../../src/secret/scrub.ts";
import { begins, effectOf } from "../run/elsewhere/batches.ts";
import { event, kept, newRun, pathOf } from "./stores.ts";

let folder = "";
let file = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-shared-"));
    file = join(folder, "ledger.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function made(more: Partial<SqliteOptions> = {}): Promise<{ store: LedgerStore; epoch: number }> {
    const store = openSqlite(file, { config: join(folder, "config"), ...more });
    const { epoch, release } = await store.create({ ...newRun("r1"), by: "flow/1" });
    await release();
    return { store, epoch };
}

/** Transactions in the write-ahead log: frames that say how large the file is after them. */
function commits(): number {
    const log = readFileSync(`${file}-wal`);
    const frame = 24 + log.readUInt32BE(8);
    return Array.from({ length: Math.floor((log.length - 32) / frame) }, (_, i) => log.readUInt32BE(32 + i * frame + 4)).filter(
        (pages) => pages > 0,
    ).length;
}

const secrets = createScrubber();
const done = (n: number): Outcome => ({ ok: true, value: n, origins: [] });

test("Q6: effects that begin and end together share their commits, and each is durable when it is told", async () => {
    const { store, epoch } = await made();
    const width = 40;
    await append({ store, secrets }, { run: "r1", epoch, batches: [{ n: 1, batch: begins(width) }] });
    const before = commits();
    const all = Array.from({ length: width }, async (_, i) => {
        const n = i + 1;
        const carried = { run: "r1", epoch, batches: [{ n: n + 1, batch: { pending: [{ path: pathOf(n), begun: true }] } }] };
        const outcome = await performOnce({ store, secrets }, carried, effectOf(n), async () => done(n));
        expect(await store.outcome("r1", pathOf(n), 1)).toEqual(outcome);
    });
    await Promise.all(all);
    // Two for each, were each alone.
    expect(commits() - before).toBeLessThan(width / 4);
    const writer = await store.join("r1", epoch);
    const outcomes = Array.from({ length: width }, (_, i) => ({ path: pathOf(i + 1), outcome: done(i + 1) }));
    await writer.commit({ outcomes, end: { status: "done", value: width } });
    expect(await store.verify("r1")).toMatchObject({ ok: true, bound: "yes" });
    await store.close();
});

test("Q6: of those that come together one that finds no room fails alone", async () => {
    const { store, epoch } = await made({ maxPages: 200 });
    const large = "x".repeat(15_000);
    const many = Array.from({ length: 100 }, (_, i) => event(i + 1, { n: i + 1, text: `${i}${large}` }));
    const batches = [[event(1)], many, [event(2)]].map((events, i) => [i + 1, { events }] as const);
    const said = await Promise.allSettled(
        batches.map(([n, batch]) => append({ store, secrets }, { run: "r1", epoch, batches: [{ n, batch }] })),
    );
    expect(said.map((one) => (one.status === "fulfilled" ? "kept" : one.reason instanceof LedgerError && one.reason.code))).toEqual([
        "kept",
        "full",
        "kept",
    ]);
    // The third waits for the second.
    expect(await kept(store, "r1")).toEqual([1]);
    await append({ store, secrets }, { run: "r1", epoch, batches: [{ n: 2, batch: { events: [event(7)] } }] });
    expect(await kept(store, "r1")).toEqual([1, 7, 2]);
    expect(await store.verify("r1")).toMatchObject({ ok: true, bound: "yes" });
    await store.close();
});

test("Q6: what was called before the ledger is closed is kept", async () => {
    const { store, epoch } = await made();
    const writer = await store.join("r1", epoch);
    const all = [1, 2, 3].map((n) => writer.commit({ events: [event(n)] }, n));
    await store.close();
    await Promise.all(all);
    const again = openSqlite(file, { config: join(folder, "config") });
    expect(await kept(again, "r1")).toEqual([1, 2, 3]);
    await again.close();
});
