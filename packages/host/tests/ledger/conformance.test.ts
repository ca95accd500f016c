/** What holds of every store (T1–T5, T8, OD1–OD5): one suite, run over each of `STORES`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import type { Batch, LedgerEvent, Outcome } from "@remit/machine";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BLOB_THRESHOLD } from "../../src/ledger/blob.ts";
import { follow } from "../../src/ledger/follow.ts";
import type { LedgerStore, RunWriter } from "../../src/ledger/store.ts";
import { codeOf, event, fill, HASH, kept, newRun, type Open, pathOf, STORES } from "./stores.ts";

let folder = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-conformance-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
const done = (value: Json): Outcome => ({ ok: true, value, origins: [] });
/** Batch `n` of a run that performs one effect after the other. */
const batch = (n: number): Batch => ({
    outcomes: n === 1 ? [] : [{ path: pathOf(n - 1), outcome: done(n - 1) }],
    events: [event(2 * n - 1), event(2 * n)],
    pending: [{ path: pathOf(n), begun: true }],
    usage: { input: 1 },
    steps: n,
});

describe.each(Object.entries<Open>(STORES))("%s", (_name, open) => {
    test("AN4: a run that is let go in good order is anchored to its last event", async () => {
        const store = await open(folder);
        const writer = await store.create(newRun("r1"));
        for (let n = 1; n <= 3; n++) await writer.commit({ events: [event(n)] });
        await writer.release();
        const { anchored } = await store.verify("r1");
        expect(anchored).toBe(store.durable ? "yes" : anchored);
        await store.close();
    });

    test("a reader that has all is given the commit that it waited for, as it is read back, and reads what came with it or after", async () => {
        const store = await open(folder);
        const writer = await store.create(newRun("r1"));
        let reads = 0;
        const counted: LedgerStore = {
            ...store,
            events: (id, from) => {
                reads++;
                return store.events(id, from);
            },
        };
        let wake: (events: readonly LedgerEvent[] | null) => void = () => undefined;
        let newest: number | null = null;
        const commit = async (n: number): Promise<readonly LedgerEvent[] | null> => {
            const made = await writer.commit({ events: [event(n, { n, big: "ü".repeat(BLOB_THRESHOLD + 1) })] });
            newest = made === null ? null : (made.at(-1)?.seq ?? newest);
            return made;
        };
        const news = (): Promise<readonly LedgerEvent[] | null> => new Promise((resolve) => (wake = resolve));
        const reader = follow(counted, "r1", { news, newest: () => newest, live: () => true });
        await commit(1);
        const given = [(await reader.next()).value];
        const second = reader.next();
        const made = await commit(2);
        wake(made);
        given.push((await second).value);
        if (made !== null) expect(reads).toBe(1);
        const third = reader.next();
        const [one] = await Promise.all([commit(3), commit(4)]);
        wake(one);
        given.push((await third).value, (await reader.next()).value);
        await reader.return(undefined);
        expect(given).toEqual(await Array.fromAsync(store.events("r1")));
        expect(given[1]).not.toBe(made?.[0]);
        await writer.release();
        await store.close();
    });

    test("what is committed is read back", async () => {
        const store = await open(folder);
        const writer = await store.create(newRun("r1"));
        const big = "ü".repeat(BLOB_THRESHOLD + 1);
        await writer.commit({
            events: [event(1, { big, $blob: "not one" }), event(2)],
            pending: [
                { path: pathOf(1), begun: true },
                { path: pathOf(2), begun: false },
            ],
            state: { kind: "image", json: { heap: [big] } },
            steps: 7,
        });
        expect(await store.pending("r1")).toEqual([{ path: pathOf(1), begun: true }]);
        await writer.commit({
            outcomes: [{ path: pathOf(1), outcome: { ok: true, value: { big }, origins: ["tool:T"], usage: { input: 3, usd: 0.5 } } }],
            begin: [pathOf(2)],
            state: { kind: "delta", json: { d: 1 } },
            usage: { input: 3, usd: 0.5 },
        });
        expect(await store.pending("r1")).toEqual([{ path: pathOf(2), begun: true }]);
        expect(await store.state("r1")).toEqual({ image: { heap: [big] }, deltas: [{ d: 1 }], outcomes: 1 });
        expect(await Array.fromAsync(store.outcomes("r1"))).toMatchObject([{ n: 1, path: pathOf(1), outcome: { value: { big } } }]);
        expect(await Array.fromAsync(store.outcomes("r1", 1))).toEqual([]);
        const events = await Array.fromAsync(store.events("r1"));
        expect(events.map((one) => one.seq)).toEqual([1, 2]);
        expect(events[0]).toMatchObject({ ...event(1, { big, $blob: "not one" }), run: "r1" });
        expect(events[1]?.prev).toBe(events[0]?.hash);
        await writer.commit({ state: { kind: "image", json: { heap: [] } } });
        expect(await store.state("r1")).toEqual({ image: { heap: [] }, deltas: [], outcomes: 1 });
        await writer.commit({ end: { status: "done", value: [1] }, usage: { output: 4 } });
        expect(await store.run("r1")).toMatchObject({
            status: "done",
            live: false,
            value: [1],
            usage: { input: 3, usd: 0.5, output: 4 },
            steps: 7,
            effects: 1,
            events: 2,
        });
        expect(await store.state("r1")).toBeNull();
        expect(await store.verify("r1")).toMatchObject({ ok: true, events: 2 });
        expect(await store.program(HASH)).toEqual({ format: "remit-program/1", files: [] });
        await store.close();
    });

    test("a run has one owner, a finished one none", async () => {
        const store = await open(folder);
        const writer = await store.create(newRun("r1"));
        expect(await codeOf(() => store.own("r1"))).toBe("owned");
        await writer.commit({ end: { status: "stopped" } });
        expect(await store.run("r1")).toMatchObject({ status: "stopped", live: false });
        expect(await codeOf(() => writer.commit({ events: [event(1)] }))).toBe("owned");
        const second = await store.own("r1");
        await second.commit({ events: [event(1)] });
        await second.commit({ end: { status: "failed", failure: { kind: "value", message: "no" } } });
        expect((await store.run("r1")).failure).toEqual({ kind: "value", message: "no" });
        expect(await codeOf(() => store.own("r1"))).toBe("finished");
        expect(await codeOf(() => store.own("nobody"))).toBe("unknown");
        await store.close();
    });

    test("a run that is let go before anything is committed is as it was", async () => {
        const store = await open(folder);
        await (await store.create(newRun("r1"))).commit({ end: { status: "waiting" } });
        await (await store.own("r1")).release();
        expect(await store.run("r1")).toMatchObject({ status: "waiting", live: false });
        const writer = await store.own("r1");
        await writer.commit({ events: [event(1)] });
        await writer.release();
        expect(await store.run("r1")).toMatchObject({ status: "running", live: false });
        expect(await store.verify("r1")).toMatchObject({ ok: true, bound: "yes" });
        await store.close();
    });

    test("runs are found by beginning, by last and in order", async () => {
        const store = await open(folder);
        await fill(store, "abc1", 1);
        await fill(store, "abd2", 1);
        expect((await store.run("abd")).id).toBe("abd2");
        expect((await store.run("last")).id).toBe("abd2");
        expect((await store.runs()).map((run) => run.id)).toEqual(["abd2", "abc1"]);
        await store.close();
    });

    test("T4: commits that are called without waiting are kept in their order, each run's events without gaps", async () => {
        const store = await open(folder);
        const writers = await Promise.all(["a", "b", "c"].map((id) => store.create(newRun(id))));
        const all: Promise<unknown>[] = [];
        for (let n = 1; n <= 40; n++) for (const writer of writers) all.push(writer.commit({ events: [event(n)] }));
        await Promise.all(all);
        for (const { id } of writers) {
            expect(await kept(store, id)).toEqual(numbers(40));
            expect(await store.verify(id)).toMatchObject({ ok: true, events: 40 });
        }
        await store.close();
    });

    test("OD1: batches in any order, twice, from several writers, are the run that they are in order", async () => {
        const store = await open(folder);
        let runs = 0;
        const order = fc.shuffledSubarray(numbers(9), { minLength: 9 });
        await fc.assert(
            fc.asyncProperty(order, fc.array(fc.nat(2), { minLength: 9, maxLength: 9 }), fc.boolean(), async (numbered, by, waits) => {
                const id = `run-${++runs}-`;
                const owner = await store.create(newRun(id));
                const writers = [owner, await store.join(id, owner.epoch), await store.join(id, owner.epoch)];
                const all: Promise<unknown>[] = [];
                for (const [i, n] of [...numbered, ...numbered.slice(0, 3)].entries()) {
                    const writer = writers[by[i % 9] as number] as RunWriter;
                    all.push(writer.commit(batch(n), n));
                    if (waits) await all.at(-1);
                }
                await Promise.all(all);
                expect(await kept(store, id)).toEqual(numbers(18));
                expect((await Array.fromAsync(store.outcomes(id))).map(({ n, path }) => `${n} ${path}`)).toEqual(
                    numbers(8).map((n) => `${n} ${pathOf(n)}`),
                );
                expect(await store.pending(id)).toEqual([{ path: pathOf(9), begun: true }]);
                expect(await store.run(id)).toMatchObject({ usage: { input: 9 }, steps: 9, effects: 8, events: 18 });
                expect(await store.verify(id)).toMatchObject({ ok: true, events: 18, bound: "yes" });
                expect((await store.join(id, owner.epoch)).batches).toBe(9);
                await owner.release();
            }),
            { numRuns: 25 },
        );
        await store.close();
    });

    test("OD1: a batch that waits for one before it is kept, but does not count yet", async () => {
        const store = await open(folder);
        const writer = await store.create(newRun("r1"));
        await writer.commit(batch(2), 2);
        await writer.commit(batch(3), 3);
        expect(await kept(store, "r1")).toEqual([]);
        expect(await store.verify("r1")).toMatchObject({ ok: true, events: 0, bound: "yes" });
        await writer.commit(batch(1));
        expect(await kept(store, "r1")).toEqual(numbers(6));
        await store.close();
    });

    test("OD2: what an owner of an earlier epoch appends is refused; effects that it began count as begun", async () => {
        const store = await open(folder);
        const first = await store.create(newRun("r1"));
        await first.commit(batch(1));
        const helper = await store.join("r1", first.epoch);
        await helper.commit(batch(3), 3);
        await first.release();
        expect(await codeOf(() => helper.commit(batch(2), 2))).toBe("owned");
        const second = await store.own("r1");
        expect(await codeOf(() => store.join("r1", first.epoch))).toBe("owned");
        expect([second.epoch, second.batches]).toEqual([first.epoch + 1, 1]);
        expect(await codeOf(() => helper.commit(batch(2), 2))).toBe("owned");
        expect(await codeOf(() => helper.record({ path: pathOf(1), outcome: done(1) }))).toBe("owned");
        expect(await store.pending("r1")).toEqual([1, 3].map((n) => ({ path: pathOf(n), begun: true })));
        await second.commit(batch(2));
        expect(await kept(store, "r1")).toEqual([1, 2, 3, 4]);
        expect(await store.verify("r1")).toMatchObject({ ok: true, bound: "yes" });
        await store.close();
    });

    test("OD3: an outcome is there before its turn, the first one stays, and it is the one that counts", async () => {
        const store = await open(folder);
        const writer = await store.create(newRun("r1"));
        const helper = await store.join("r1", writer.epoch);
        await writer.commit(batch(1));
        expect(await store.outcome("r1", pathOf(1))).toBeNull();
        await helper.record({ path: pathOf(1), outcome: done("first") });
        await writer.record({ path: pathOf(1), outcome: done("second") });
        expect(await store.outcome("r1", pathOf(1), 1)).toEqual(done("first"));
        expect(await store.outcome("r1", pathOf(1), 2)).toBeNull();
        expect(await Array.fromAsync(store.outcomes("r1"))).toEqual([]);
        expect(await store.verify("r1")).toMatchObject({ ok: true, bound: "yes" });
        await writer.commit(batch(2));
        expect(await Array.fromAsync(store.outcomes("r1"))).toMatchObject([{ n: 1, path: pathOf(1), outcome: done("first") }]);
        await helper.record({ path: pathOf(1), outcome: done("third") });
        expect(await store.outcome("r1", pathOf(1))).toEqual(done("first"));
        expect(await store.verify("r1")).toMatchObject({ ok: true, bound: "yes" });
        await store.close();
    });

    test("OD3: a writer says that an effect lacks its outcome only while it does, also where its batch waits for its turn", async () => {
        const store = await open(folder);
        const { epoch } = await store.create(newRun("r1"));
        const writer = await store.join("r1", epoch);
        const begins = { pending: [{ path: pathOf(1), begun: true }] };
        await writer.commit(begins, 2);
        expect([writer.lacks(pathOf(1), 1), await store.outcome("r1", pathOf(1), 1)]).toEqual([true, null]);
        await writer.commit({}, 1);
        expect(writer.lacks(pathOf(1), 1)).toBe(true);
        const helper = await store.join("r1", epoch);
        await helper.record({ path: pathOf(1), outcome: done(1) });
        expect((await store.join("r1", epoch)).lacks(pathOf(1), 1)).toBe(false);
        await helper.commit({ outcomes: [{ path: pathOf(1), outcome: done(1) }] }, 3);
        expect([helper.lacks(pathOf(1), 1), await store.outcome("r1", pathOf(1), 1)]).toEqual([false, done(1)]);
        await store.close();
    });

    test("OD3: an outcome of an attempt before the one that is asked for is refused", async () => {
        const store = await open(folder);
        const writer = await store.create(newRun("r1"));
        await writer.commit({ pending: [{ path: pathOf(1), begun: true }] });
        await writer.commit({ outcomes: [{ path: pathOf(1), outcome: done(1) }] });
        await writer.commit({ pending: [{ path: pathOf(1), begun: true, attempt: 2 }] });
        expect(await store.pending("r1")).toEqual([{ path: pathOf(1), begun: true, attempt: 2 }]);
        expect(await store.outcome("r1", pathOf(1))).toBeNull();
        expect(await store.outcome("r1", pathOf(1), 1)).toEqual(done(1));
        expect(await codeOf(() => writer.record({ path: pathOf(1), attempt: 1, outcome: done(0) }))).toBe("late");
        await writer.record({ path: pathOf(1), attempt: 2, outcome: done(2) });
        await writer.commit({ outcomes: [{ path: pathOf(1), outcome: done(2) }] });
        expect((await Array.fromAsync(store.outcomes("r1"))).map(({ n, attempt }) => [n, attempt])).toEqual([
            [1, undefined],
            [2, 2],
        ]);
        expect(await store.outcome("r1", pathOf(1))).toEqual(done(2));
        expect(await store.verify("r1")).toMatchObject({ ok: true, bound: "yes" });
        await store.close();
    });

    test("OD1: what waits and what it waits for may be large, and called in one go", async () => {
        const store = await open(folder);
        const writer = await store.create(newRun("r1"));
        const big = (n: number): string => `${n}`.repeat(BLOB_THRESHOLD + 1);
        const large = (n: number): Batch => ({ ...batch(n), events: [event(2 * n - 1, { n: 2 * n - 1, big: big(n) }), event(2 * n)] });
        await Promise.all([3, 2, 1].map((n) => writer.commit(large(n), n)));
        expect(await kept(store, "r1")).toEqual(numbers(6));
        const outcome = done(big(7));
        expect(
            await Promise.all([0, 1].map((other) => writer.record({ path: pathOf(3), outcome: other === 0 ? outcome : done(other) }))),
        ).toEqual([outcome, outcome]);
        await store.close();
    });

    test("T8: an owner with a name makes and takes its run as often as it says so; nobody else does", async () => {
        const store = await open(folder);
        const first = await store.create({ ...newRun("r1"), by: "flow/1" });
        await first.release();
        expect(await store.run("r1")).toMatchObject({ live: true, by: "flow/1", epoch: 1 });
        expect((await store.create({ ...newRun("r1"), by: "flow/1" })).epoch).toBe(1);
        expect(await codeOf(() => store.create({ ...newRun("r1"), by: "flow/2" }))).toBe("exists");
        expect(await codeOf(() => store.create({ ...newRun("r1"), by: "flow/1", hash: "another" }))).toBe("exists");
        expect(await codeOf(() => store.create(newRun("r1")))).toBe("exists");
        expect(await codeOf(() => store.own("r1"))).toBe("owned");
        expect(await codeOf(() => store.remove(["r1"]))).toBe("owned");
        await first.release();
        const own = await store.own("r1", { by: "flow/1" });
        await own.commit(batch(1), 1);
        await own.release();
        expect(await store.run("r1")).toMatchObject({ live: true, epoch: 1, events: 2 });
        await store.close();
    });

    test("T8: an execution that was reset takes its run from the epoch before, once; that one appends no more", async () => {
        const store = await open(folder);
        await (await store.create({ ...newRun("r1"), by: "flow/1" })).commit(batch(1), 1);
        const before = await store.join("r1", 1);
        expect(await codeOf(() => store.own("r1", { by: "flow/2", from: 7 }))).toBe("owned");
        const both = await Promise.all([0, 1].map(() => store.own("r1", { by: "flow/2", from: 1 })));
        expect(both.map(({ epoch, batches }) => [epoch, batches])).toEqual([
            [2, 1],
            [2, 1],
        ]);
        expect((await store.own("r1", { by: "flow/2", from: 1 })).epoch).toBe(2);
        expect(await codeOf(() => store.own("r1", { by: "flow/1" }))).toBe("owned");
        expect(await codeOf(() => before.commit(batch(2), 2))).toBe("owned");
        expect(await codeOf(() => before.record({ path: pathOf(1), outcome: done(1) }))).toBe("owned");
        expect(await codeOf(() => store.join("r1", 1))).toBe("owned");
        await both[0]?.commit(batch(2), 2);
        // A person can take it, too, where the shell is gone for good.
        const person = await store.own("r1", { from: 2 });
        await person.commit({ end: { status: "stopped" } });
        expect(await store.run("r1")).toMatchObject({ live: false, status: "stopped", epoch: 3, events: 4 });
        expect(await store.verify("r1")).toMatchObject({ ok: true, bound: "yes" });
        await store.close();
    });

    test("OD5: the last batch may come early and again; after it only what is there is acknowledged", async () => {
        const store = await open(folder);
        const { epoch } = await store.create({ ...newRun("r1"), by: "flow/1" });
        const end: Batch = { outcomes: [{ path: pathOf(2), outcome: done(2) }], end: { status: "done", value: 2 } };
        const [one, two] = [await store.join("r1", epoch), await store.join("r1", epoch)];
        await one.commit(end, 3);
        await one.commit(batch(4), 4);
        await two.commit(batch(1), 1);
        expect(await store.run("r1")).toMatchObject({ status: "running", live: true });
        await two.commit(batch(2), 2);
        expect(await store.run("r1")).toMatchObject({ status: "done", live: false, value: 2, effects: 2, events: 4 });
        for (const writer of [one, two, await store.join("r1", epoch)]) {
            for (const n of [1, 2]) await writer.commit(batch(n), n);
            await writer.commit(end, 3);
            expect(await codeOf(() => writer.commit(batch(4), 5))).toBe("owned");
            expect(await writer.record({ path: pathOf(2), outcome: done("late") })).toEqual(done(2));
            expect(await codeOf(() => writer.record({ path: pathOf(9), outcome: done(9) }))).toBe("finished");
            await writer.release();
        }
        expect(await store.run("r1")).toMatchObject({ status: "done", effects: 2, events: 4 });
        expect(await store.verify("r1")).toMatchObject({ ok: true, bound: "yes" });
        await store.close();
    });

    test("AK3: a question whose effect begins in a batch that came before its turn can be answered", async () => {
        const store = await open(folder);
        const { epoch } = await store.create({ ...newRun("r1"), by: "flow/1" });
        const writer = await store.join("r1", epoch);
        await writer.commit({ pending: [{ path: pathOf(2), begun: true }] }, 2);
        const about = { question: "May it?", detail: {}, options: ["once", "deny"] };
        const bound = { run: "r1", pending: pathOf(2), schema: "", owner: "os:1", expires: Date.now() + 60_000, bound: "b" };
        const ask = await store.asks.put({ ...bound, path: pathOf(2), request: about });
        expect(ask.state).toBe("open");
        expect(await store.asks.decide(ask.id, "deny", "os:1")).toMatchObject({ state: "answered" });
        expect(await store.asks.take("r1", pathOf(2), "b")).toEqual({ kind: "decided", decision: "deny", late: false });
        const other = await store.asks.put({ ...bound, path: pathOf(3), pending: pathOf(3), request: about });
        await expect(store.asks.decide(other.id, "deny", "os:1")).rejects.toMatchObject({ code: "lost" });
        await writer.release();
        await store.close();
    });

    test("OD3: an outcome that comes after the owner let go is there for the next one", async () => {
        const store = await open(folder);
        const owner = await store.create(newRun("r1"));
        await owner.commit(batch(1));
        const helper = await store.join("r1", owner.epoch);
        await owner.commit({ end: { status: "stopped" } });
        expect(await helper.record({ path: pathOf(1), outcome: done("late") })).toEqual(done("late"));
        expect(await helper.record({ path: pathOf(1), outcome: done("later") })).toEqual(done("late"));
        expect(await store.run("r1")).toMatchObject({ status: "stopped", live: false });
        const next = await store.own("r1");
        expect(await store.outcome("r1", pathOf(1))).toEqual(done("late"));
        await next.commit(batch(2));
        expect(await Array.fromAsync(store.outcomes("r1"))).toMatchObject([{ path: pathOf(1), outcome: done("late") }]);
        expect(await store.verify("r1")).toMatchObject({ ok: true, bound: "yes" });
        await store.close();
    });

    test("events and outcomes are read from any number on", async () => {
        const store = await open(folder);
        const writer = await store.create(newRun("r1"));
        for (let n = 1; n <= 40; n++) await writer.commit(batch(n));
        for (const from of [1, 2, 3, 17, 40, 77, 80, 81]) {
            const events = await Array.fromAsync(store.events("r1", from));
            expect(events.map(({ seq }) => seq)).toEqual(numbers(80).slice(from - 1));
            const outcomes = await Array.fromAsync(store.outcomes("r1", from));
            expect(outcomes.map(({ n }) => n)).toEqual(numbers(39).slice(from));
        }
        await store.close();
    });

    test("CLM1, CLM2: what is kept beside a run is given back by its hash, before the run is there too", async () => {
        const store = await open(folder);
        const text = "x".repeat(100_000);
        const name = await store.claims.put("r1", text);
        expect(await store.claims.put("r1", text)).toBe(name);
        expect(await store.claims.get(name)).toBe(text);
        await expect(store.claims.get("0".repeat(64))).rejects.toMatchObject({ code: "tampered" });
        await store.close();
    });

    test("a run is removed with all of it, but never one that goes on", async () => {
        const store = await open(folder);
        const writer = await store.create(newRun("r1"));
        await fill(store, "r2", 2);
        await writer.commit(batch(2), 2);
        expect(await codeOf(() => store.remove(["r1", "r2"]))).toBe("owned");
        await writer.release();
        expect(await store.remove(["r1", "r2"])).toMatchObject({ runs: 2 });
        expect(await store.runs()).toEqual([]);
        expect(await codeOf(() => store.run("r1"))).toBe("unknown");
        await store.close();
    });
});
