/** Times of regions and agents in a host: on the run's clock, across questions, cuts and resumes, and the same in a replay (D7, RT4). */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import { type Ledger, openLedger } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";
import { stillClock } from "./still-clock.ts";

let folder = "";
let ledger: Ledger;
beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "remit-spend-"));
    ledger = await openLedger(openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") }));
});
afterEach(async () => {
    await ledger.close();
    rmSync(folder, { recursive: true, force: true });
});

const main = (body: string, more = ""): string => `import tool Work from "host:work"${more}\nmain agent A { main func() {\n${body}\n} }\n`;
const forever = async (n: number, io: { signal: AbortSignal }): Promise<number> =>
    n === 1 ? await Promise.resolve(1) : await wait(1e7, 1, { signal: io.signal });
const work = { Work: { call: { repeatable: true, call: forever } } };

const kindOf = (body: string): string => `try { ${body} } catch e { return [e.kind, e.detail.meter] }`;

describe("time of a region", () => {
    test("ends what waits, and is replayed", async () => {
        const program = await load({ source: main(`${kindOf("spend 60 ms { Work.call(2) }")}\n1`) }, { tools: work, ledger: ledger.store });
        const handle = program.run(null);
        expect(await handle.result).toMatchObject({ status: "done", value: ["limit.time", "time"] });
        expect(await ledger.replay(handle.id)).toMatchObject({ equal: true });
        expect((await ledger.verify(handle.id)).ok).toBe(true);
    });

    test("ends what only computes, and is replayed to the same step", async () => {
        const source = main(`n = Work.call(1)\n${kindOf("spend 60 ms { repeat * 90000000 { n = n + 1 } }")}\n1`);
        const program = await load({ source }, { tools: work, ledger: ledger.store });
        const handle = program.run(null);
        expect(await handle.result).toMatchObject({ status: "done", value: ["limit.time", "time"] });
        const { steps } = await ledger.run(handle.id);
        expect(steps).toBeLessThan(90_000_000);
        expect(await ledger.replay(handle.id)).toMatchObject({ equal: true, steps: { recorded: steps, replayed: steps } });
    });

    test("iterations that compute while others wait", async () => {
        const source = main(
            `${kindOf(`spend 80 ms { parallel for x in [1, 2, 3] max 3 { n = Work.call(x)  repeat * 90000000 { n = n + 1 }  n } }`)}\n1`,
        );
        const program = await load({ source }, { tools: work, ledger: ledger.store });
        const handle = program.run(null);
        expect(await handle.result).toMatchObject({ status: "done", value: ["limit.time", "time"] });
        expect(await ledger.replay(handle.id)).toMatchObject({ equal: true });
    });

    test("one that is over in time leaves nothing behind", async () => {
        const program = await load(
            { source: main(`spend 1 h { Work.call(1) }\nspend 1 h { x = 1 }\n5`) },
            { tools: work, ledger: ledger.store },
        );
        const handle = program.run(null);
        expect(await handle.result).toMatchObject({ status: "done", value: 5, effects: 1 });
        expect(await ledger.store.pending(handle.id)).toEqual([]);
        expect(await ledger.replay(handle.id)).toMatchObject({ equal: true });
    });

    test("stands still while a person is asked", async () => {
        using clock = stillClock();
        const source = main(`${kindOf("spend 150 ms { Work.call(1)  Work.call(1) }")}\n"in time"`, " { call: ask }");
        const program = await load(
            { source },
            {
                tools: work,
                ledger: ledger.store,
                on: {
                    ask: async () => {
                        clock.pass(200);
                        await wait(200);
                        return "once";
                    },
                },
            },
        );
        const handle = program.run(null);
        expect(await handle.result).toMatchObject({ status: "done", value: "in time" });
    });

    test("does not keep a run from waiting for a person who is not there", async () => {
        const source = main(`${kindOf("spend 1 h { Work.call(1) }")}\n"in time"`, " { call: ask }");
        const program = await load({ source }, { tools: work, ledger: ledger.store, on: { ask: async () => null } });
        const handle = program.run(null);
        expect(await handle.result).toMatchObject({ status: "waiting" });
        const resumed = await ledger.resume(handle.id, { tools: work, on: { ask: async () => "once" } });
        expect(await resumed.result).toMatchObject({ status: "done", value: "in time" });
        expect(await ledger.replay(handle.id)).toMatchObject({ equal: true });
    });

    test("goes on after a resume where it was", async () => {
        const cancel = new AbortController();
        const tools = {
            Work: {
                call: {
                    repeatable: true,
                    call: async (n: number, io: { signal: AbortSignal }) => {
                        if (n === 1) return 1;
                        cancel.abort();
                        return wait(1e7, 1, { signal: io.signal });
                    },
                },
            },
        };
        const source = main(`${kindOf("spend 1 h { Work.call(1)  Work.call(2) }")}\n1`);
        const program = await load({ source }, { tools, ledger: ledger.store });
        const handle = program.run(null, { signal: cancel.signal });
        expect(await handle.result).toMatchObject({ status: "stopped" });
        // As if the first part had taken nearly all of the hour.
        await (await ledger.store.own(handle.id)).commit({ spent: 3_600_000 - 20, end: { status: "stopped" } });
        const resumed = await ledger.resume(handle.id, { tools });
        expect(await resumed.result).toMatchObject({ status: "done", value: ["limit.time", "time"] });
        expect(await ledger.replay(handle.id)).toMatchObject({ equal: true });
    });
});
