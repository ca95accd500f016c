/** What holds of the embedded store while several runs write at once (G1–G6), in this process and in others. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SqliteOptions } from "../../src/ledger/connect.ts";
import { LedgerError } from "../../src/ledger/error.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import type { LedgerStore, RunWriter } from "../../src/ledger/store.ts";
import { crowdOn } from "./crowds.ts";
import { event, inThread, kept, newRun } from "./stores.ts";

let folder = "";
let file = "";
let config = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-together-"));
    file = join(folder, "ledger.db");
    config = join(folder, "config");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const codes = async (all: readonly Promise<unknown>[]): Promise<string[]> =>
    (await Promise.allSettled(all)).map((one) =>
        one.status === "fulfilled" ? "kept" : one.reason instanceof LedgerError ? one.reason.code : String(one.reason),
    );

/** Several writers of a store that writes in a thread; that thread too. */
async function threaded(
    ids: readonly string[],
    more: Partial<SqliteOptions> = {},
): Promise<{ store: LedgerStore; writers: RunWriter[]; worker: Worker }> {
    const made = await inThread(folder, more);
    const writers: RunWriter[] = [];
    for (const id of ids) writers.push(await made.store.create(newRun(id)));
    return { ...made, writers };
}

describe("in the thread of a file", () => {
    test("G1, Q2: of runs that commit together one that lost its owner fails alone, with all that it called behind", async () => {
        const { store, writers } = await threaded(["a", "b", "c"]);
        const other = new DatabaseSync(file);
        other.exec(`UPDATE runs SET owner = '{"host":"x","pid":1,"start":"","nonce":"y"}', epoch = epoch + 1 WHERE id = 'b'`);
        other.close();
        const all = [1, 2, 3].flatMap((n) => writers.map((writer) => writer.commit({ events: [event(n)] })));
        expect(await codes(all)).toEqual(["kept", "owned", "kept", "kept", "owned", "kept", "kept", "owned", "kept"]);
        expect([await kept(store, "a"), await kept(store, "b"), await kept(store, "c")]).toEqual([[1, 2, 3], [], [1, 2, 3]]);
        await store.close();
    });

    test("CKP1: while runs write, what they wrote is copied into the file, so that the log begins anew", async () => {
        const { store, writers } = await threaded(["a", "b"], { checkpointFrom: 10 });
        /** Random numbers in the log's head, which change each time it begins. */
        const begun = (): string => readFileSync(`${file}-wal`).subarray(16, 24).toString("hex");
        const before = begun();
        let n = 0;
        while (begun() === before) {
            n++;
            await Promise.all(writers.map((writer) => writer.commit({ events: [event(n)] })));
        }
        const all = Array.from({ length: n }, (_, i) => i + 1);
        expect([await kept(store, "a"), await kept(store, "b")]).toEqual([all, all]);
        await store.close();
        expect(existsSync(`${file}-wal`)).toBe(false);
    });

    test("G2: where there is no room for one, the others are kept; it is kept when it fits", async () => {
        const { store, writers } = await threaded(["a", "b", "c"], { maxPages: 200 });
        const [a, b, c] = writers as [RunWriter, RunWriter, RunWriter];
        const large = "x".repeat(15_000);
        const many = Array.from({ length: 100 }, (_, i) => event(i + 1, { n: i + 1, text: `${i}${large}` }));
        expect(await codes([a.commit({ events: [event(1)] }), b.commit({ events: many }), c.commit({ events: [event(1)] })])).toEqual([
            "kept",
            "full",
            "kept",
        ]);
        await b.commit({ events: [event(1)] });
        for (const { id } of writers) {
            expect(await kept(store, id)).toEqual([1]);
            expect(await store.verify(id)).toMatchObject({ ok: true });
        }
        await store.close();
    });

    test("G6: when the thread ends nothing hangs, nothing acknowledged is lost, and runs can be gone on with", async () => {
        const { store, writers, worker } = await threaded(["a", "b"]);
        const all = Array.from({ length: 200 }, (_, n) => (writers[n % 2] as RunWriter).commit({ events: [event(n)] }));
        const ended = worker.terminate();
        const said = await codes(all);
        await ended;
        for (const [i, { id }] of writers.entries()) {
            const acknowledged = said.filter((one, n) => n % 2 === i && one === "kept").length;
            expect((await kept(store, id)).length).toBeGreaterThanOrEqual(acknowledged);
            expect(await store.verify(id)).toMatchObject({ ok: true });
        }
        const next = await store.create(newRun("d"));
        await next.commit({ events: [event(1)], end: { status: "stopped" } });
        expect(await kept(store, "d")).toEqual([1]);
        await store.close();
    });

    test("closing waits for what was called before", async () => {
        const { store, writers } = await threaded(["a", "b"]);
        const all = Array.from({ length: 50 }, (_, n) => (writers[n % 2] as RunWriter).commit({ events: [event(n)] }));
        await store.close();
        expect(new Set(await codes(all))).toEqual(new Set(["kept"]));
        const again = openSqlite(file, { config });
        expect((await kept(again, "a")).length + (await kept(again, "b")).length).toBe(50);
        await again.close();
    });
});

/** Runs a crowd on the file of the test. */
const crowd = (runs: number, commits: number | null, kill: number) => crowdOn({ ledger: file, config }, runs, commits, kill);

describe("in processes", () => {
    test.each([40, 150, 400])("killed after %i acknowledgements: each of them is there, and the chains hold", async (kill) => {
        const { signal, acks } = await crowd(8, null, kill);
        expect(signal).toBe("SIGKILL");
        const store = openSqlite(file, { config });
        for (const [run, n] of acks) {
            expect((await kept(store, run)).length).toBeGreaterThanOrEqual(n);
            expect(await store.verify(run)).toMatchObject({ ok: true, bound: "yes" });
            await (await store.own(run)).release();
        }
        expect(acks.size).toBe(8);
        await store.close();
    });

    test("a process whose thread was begun and got no job ends, without closing its store", async () => {
        expect(await crowd(2, 0, Number.POSITIVE_INFINITY)).toMatchObject({ code: 0, signal: null });
    });

    test("two processes with many runs each take turns at one file, and end without closing it", async () => {
        const ended = await Promise.all([crowd(4, 30, Number.POSITIVE_INFINITY), crowd(4, 30, Number.POSITIVE_INFINITY)]);
        const store = openSqlite(file, { config });
        for (const { code, acks } of ended) {
            expect(code).toBe(0);
            expect([...acks.values()]).toEqual([30, 30, 30, 30]);
            for (const run of acks.keys()) expect(await store.verify(run)).toMatchObject({ ok: true, events: 30 });
        }
        await store.close();
    });
});
