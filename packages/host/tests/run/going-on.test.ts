/** Failed runs go on, from the ledger: with a larger bound, a retry, an outcome given by hand; nothing is paid for twice. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { compareMoments, type Moment, timelineOf } from "../../src/debug/timeline.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import { type Ledger, openLedger, type ResumeRunOptions } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";

let folder = "";
let ledger: Ledger;
let made: number[] = [];
let isUp = true;
const open = async (): Promise<Ledger> => openLedger(openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") }));
beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "remit-going-on-"));
    ledger = await open();
    made = [];
    isUp = true;
});
afterEach(async () => {
    await ledger.close();
    rmSync(folder, { recursive: true, force: true });
});

const work = {
    Work: {
        call: async (n: Json): Promise<Json> => {
            if (n === 2 && !isUp) throw new Error("down");
            made.push(n as number);
            return n;
        },
    },
};
const main = (body: string): string => `import tool Work from "host:work"\nmain agent A { main func(input) {\n${body}\n} }\n`;

async function failed(body: string, limits: object = {}): Promise<string> {
    const program = await load({ source: main(body) }, { tools: work, ledger: ledger.store, ...limits });
    const handle = program.run({});
    expect(await handle.result).toMatchObject({ status: "failed" });
    return handle.id;
}

/** In a process that knows nothing but the file. */
async function resumed(id: string, how: ResumeRunOptions): Promise<unknown> {
    await ledger.close();
    ledger = await open();
    const handle = await ledger.resume<Json>(id, { tools: work, ...how });
    const result = await handle.result;
    return result.ok ? result.value : result.failure;
}

describe("a run that failed", () => {
    test("goes on with a larger bound; calls that were made are not made again", async () => {
        const id = await failed("n = 0\nspend 2 calls { for x in [1, 2, 3, 4] max 9 { n += Work.call(x) } }\nn");
        expect(made).toEqual([1, 2]);
        expect(await resumed(id, { raise: [{ account: "main/spend#0", meter: "calls", amount: 9 }] })).toBe(10);
        expect(made).toEqual([1, 2, 3, 4]);
        expect(await ledger.run(id)).toMatchObject({ status: "done", value: 10 });
        expect(await ledger.verify(id)).toMatchObject({ ok: true });
        expect(await ledger.replay(id)).toMatchObject({ equal: true });
    });

    test("asks again for what failed; siblings have finished; both attempts are in the ledger", async () => {
        isUp = false;
        const id = await failed("parallel for x in [1, 2, 3] max 3 { Work.call(x) }");
        expect([...made].sort()).toEqual([1, 3]);
        expect(await resumed(id, { retry: true })).toMatchObject({ message: expect.stringContaining("down") });
        isUp = true;
        expect(await resumed(id, { retry: true })).toEqual([1, 2, 3]);
        expect([...made].sort()).toEqual([1, 2, 3]);
        expect(await ledger.verify(id)).toMatchObject({ ok: true });
        expect(await ledger.replay(id)).toMatchObject({ equal: true });
    });

    test("in an iteration that only computes: its siblings are run to their ends, before it and after it", async () => {
        const id = await failed("parallel for x in [1, 2, 3] max 3 { if x == 2 { spend 1 steps { y = 1  y = 2 } }  Work.call(x + 10) }");
        expect(made.toSorted()).toEqual([11, 13]);
        expect(await resumed(id, { raise: [{ account: "main/parallel[1]/spend#0", meter: "steps", amount: 9 }] })).toEqual([11, 12, 13]);
        expect(made).toHaveLength(3);
        expect(await ledger.replay(id)).toMatchObject({ equal: true });
    });

    test("takes a value by hand, which carries where it came from", async () => {
        isUp = false;
        const id = await failed("a = Work.call(1)\nb = Work.call(2)\n[a, b]");
        expect(await resumed(id, { answers: { "main/Work.call#1": 20 } })).toEqual([1, 20]);
        expect(await ledger.replay(id)).toMatchObject({ equal: true });
        expect(made).toEqual([1]);
        const ended: unknown[] = [];
        for await (const event of ledger.events(id)) if (event.kind === "tool.ended" && event.path.endsWith("#1")) ended.push(event.labels);
        expect(ended.at(-1)).toEqual(["answered", "tool:Work"]);
    });

    test("says what it needs, and stays as it is, where nothing or nothing that helps is said", async () => {
        const id = await failed("spend 1 calls { Work.call(1)  Work.call(2) }");
        const refused = (how: ResumeRunOptions): Promise<unknown> => ledger.resume(id, { tools: work, ...how });
        await expect(refused({})).rejects.toMatchObject({ hint: expect.stringContaining("--raise") });
        await expect(refused({ raise: [{ account: "main/spend#3", meter: "calls", amount: 2 }] })).rejects.toMatchObject({
            message: "value: the run has no open account 'main/spend#3'",
        });
        await expect(refused({ answers: { "main/Work.call#0": 1 } })).rejects.toMatchObject({
            message: `value: run ${id} takes no such answer at 'main/Work.call#0'`,
        });
        expect(await ledger.run(id)).toMatchObject({ status: "failed" });
        expect(await ledger.verify(id)).toMatchObject({ ok: true });
        expect(await resumed(id, { raise: [{ account: "main/spend#0", meter: "calls", amount: 2 }] })).toBe(null);
        await expect(ledger.resume(id, { tools: work, retry: true })).rejects.toMatchObject({ code: "finished" });
    });

    test("its result says what lets it go on, for a program that decides", async () => {
        const remedies = async (body: string, limits: object = {}): Promise<unknown> => {
            const program = await load({ source: main(body) }, { tools: work, ledger: ledger.store, ...limits });
            const { remedies } = await program.run({}).result;
            return remedies === undefined ? remedies : { ...remedies, answer: remedies.answer.map(({ path }) => path) };
        };
        isUp = false;
        const none = { raise: [], retry: false, answer: [] };
        expect(await remedies("Work.call(2)")).toEqual({ ...none, retry: true, answer: ["main/Work.call#0"] });
        const calls = { account: "main/spend#0", meter: "calls", amount: 1 };
        expect(await remedies("spend 1 calls { Work.call(1)  Work.call(3) }")).toEqual({ ...none, raise: [calls] });
        const both = "parallel for x in [1, 2] max 2 { if x == 1 { spend 1 steps { y = 1  y = 2  y = 3 } }  Work.call(x) }";
        expect(await remedies(both)).toEqual({
            raise: [{ account: "main/parallel[0]/spend#0", meter: "steps", amount: 1 }],
            retry: true,
            answer: ["main/parallel[1]/Work.call#0"],
        });
        for (const [body, meter, amount] of [
            ["repeat * 500 { n = 1 }", "steps", 100],
            ['t = "x"\nrepeat * 10 { t = t + t }', "bytes", 600],
            ['l = ["x"]\nrepeat * 16 { l = l.concat(l) }', "memory", 100_000],
            ["repeat * 90000000 { n = 1 }", "time", 20],
        ] as const)
            expect(await remedies(body, { limits: { [meter]: amount } })).toEqual({
                ...none,
                raise: [{ account: "run", meter, amount: meter === "memory" ? expect.any(Number) : amount }],
            });
        expect(await remedies('raise "no"')).toBe(undefined);
        expect(await remedies("input.a.b")).toBe(undefined);
    });

    test("turns of a yield that are used up are raised, and the agent is asked once more", async () => {
        const prompts: string[] = [];
        let says = "nothing that runs";
        const agent = async ({ path }: { readonly path: string }) => {
            prompts.push(path);
            const reply = { text: says, stop: "end_turn", entries: [], confinement: "remote", spent: { steps: 0, calls: 0, ms: 0 } };
            return { ok: true as const, value: reply, origins: ["agent:Fixer"] };
        };
        const source =
            'import agent Fixer from "acp://fixer"\nmain agent A { main func(input) { Fixer.yield() with { turns: 2 } -> number } }\n';
        const program = await load({ source }, { performers: { agent }, ledger: ledger.store });
        const { id, result } = program.run({});
        expect(await result).toMatchObject({ failure: { kind: "invalid_payload" }, remedies: { retry: true } });
        says = "```remit\nfunc fix(agent) { 7 }\n```";
        const how = { performers: { agent } };
        expect(await resumed(id, { ...how, retry: true })).toMatchObject({ kind: "limit.turns" });
        const raise = { account: "main/Fixer.yield#0", meter: "turns" as const, amount: 3 };
        expect(await resumed(id, { ...how, raise: [raise] })).toBe(7);
        expect(prompts).toHaveLength(3);
        expect(await ledger.replay(id)).toMatchObject({ equal: true });
    });

    test("depth and memory of the whole run: nothing is performed again", async () => {
        const text = `import tool Work from "host:work"\nfunc deep(n) { if n == 0 { return 0 }  deep(n - 1) + 1 }
main agent A { main func(input) { a = Work.call(1)  b = deep(60)  Work.call(b) } }`;
        const program = await load({ source: text }, { tools: work, ledger: ledger.store, limits: { depth: 40 } });
        const deep = program.run({});
        expect(await deep.result).toMatchObject({ failure: { kind: "limit.depth" } });
        expect(await resumed(deep.id, { raise: [{ account: "run", meter: "depth", amount: 50 }] })).toMatchObject({ kind: "limit.depth" });
        expect(await resumed(deep.id, { raise: [{ account: "run", meter: "depth", amount: 100 }] })).toBe(60);
        const large = await failed('a = Work.call(3)\nl = ["x"]\nrepeat * 16 { l = l.concat(l) }\nWork.call(l.length)', {
            limits: { memory: 100_000 },
        });
        const local = { account: "main/spend#0", meter: "memory", amount: 1e9 } as const;
        await expect(ledger.resume(large, { tools: work, raise: [local] })).rejects.toMatchObject({
            message: "value: only the whole run has a bound of memory",
        });
        expect(await resumed(large, { raise: [{ account: "run", meter: "memory", amount: 1e9 }] })).toBe(65_536);
        expect(made).toEqual([1, 60, 3, 65_536]);
        for (const id of [deep.id, large]) {
            expect(await ledger.verify(id)).toMatchObject({ ok: true });
            expect(await ledger.replay(id)).toMatchObject({ equal: true });
        }
    });

    test("its time is up again after it went on, while it waits and while it computes: it replays as it was", async () => {
        let isStuck = true;
        const tools = { Work: { call: (n: Json) => (isStuck ? new Promise<Json>(() => undefined) : (made.push(n as number), n)) } };
        const more = (time: number): ResumeRunOptions => ({
            tools,
            raise: [{ account: "run", meter: "time", amount: time }],
            on: { unknown: () => ({ answer: "again" }) },
        });
        const program = await load({ source: main("Work.call(1)  Work.call(2)") }, { tools, ledger: ledger.store, limits: { time: 50 } });
        const waiting = program.run({});
        expect(await waiting.result).toMatchObject({ failure: { kind: "limit.time" } });
        expect(await resumed(waiting.id, more(100))).toMatchObject({ kind: "limit.time" });
        expect(await ledger.replay(waiting.id)).toMatchObject({ equal: true });
        isStuck = false;
        expect(await resumed(waiting.id, more(100_000))).toBe(2);
        expect(await ledger.replay(waiting.id)).toMatchObject({ equal: true });

        const computing = await failed("n = 0\nrepeat * 90000000 { n += 1 }\nn", { limits: { time: 50 } });
        expect(await resumed(computing, more(100))).toMatchObject({ kind: "limit.time" });
        expect(await ledger.replay(computing)).toMatchObject({ equal: true });
        const part = await failed("n = 0\nspend 20 ms { repeat * 90000000 { n += 1 } }\nn");
        expect(await resumed(part, { raise: [{ account: "main/spend#0", meter: "time", amount: 40 }] })).toMatchObject({
            kind: "limit.time",
        });
        expect(await ledger.replay(part)).toMatchObject({ equal: true });
    });

    test("a bound of the whole run", async () => {
        const id = await failed("n = 0\nrepeat * 500 { n += 1 }\nWork.call(n)", { limits: { steps: 300 } });
        expect(await resumed(id, { raise: [{ account: "run", meter: "steps", amount: 100_000 }] })).toBe(500);
    });

    test("whose time was up after an outcome that took no step is told again to the same place", async () => {
        const tools = {
            Work: {
                call: (n: Json, { signal }: { signal: AbortSignal }): Promise<Json> =>
                    n === 2
                        ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("ended"))))
                        : work.Work.call(n),
            },
        };
        const program = await load(
            { source: main("parallel for x in [1, 2, 3] max 3 { Work.call(x) }") },
            { tools, ledger: ledger.store, limits: { time: 300 } },
        );
        const { id, result } = program.run({});
        expect(await result).toMatchObject({ status: "failed", failure: { kind: "limit.time" } });
        expect(made).toEqual([1, 3]);
        expect(await ledger.replay(id)).toMatchObject({ equal: true });
    });

    test("whose time was up twice is told again from its ledger, by a replay and by the debugger", async () => {
        let hangs = true;
        const tools = {
            Work: {
                call: (n: Json, { signal }: { signal: AbortSignal }): Promise<Json> =>
                    hangs && n === 2
                        ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("ended"))))
                        : work.Work.call(n),
            },
        };
        const program = await load(
            { source: main("a = Work.call(1)\nb = Work.call(2)\n[a, b]") },
            { tools, ledger: ledger.store, limits: { time: 300 } },
        );
        const { id, result } = program.run({});
        expect(await result).toMatchObject({ status: "failed", failure: { kind: "limit.time" } });
        const on = { unknown: () => ({ answer: "again" as const }) };
        const raised = (amount: number) => ({ tools, on, raise: [{ account: "run", meter: "time" as const, amount }] });
        expect(await resumed(id, raised(600))).toMatchObject({ kind: "limit.time" });
        expect(await ledger.replay(id)).toMatchObject({ equal: true });
        hangs = false;
        expect(await resumed(id, raised(600_000))).toEqual([1, 2]);
        expect(made).toEqual([1, 2]);
        expect(await ledger.replay(id)).toMatchObject({ equal: true });

        const timeline = await timelineOf(ledger.store, id);
        const moments: Moment[] = [timeline.moment];
        while (timeline.tick() !== null) moments.push(timeline.moment);
        expect(timeline.divergence).toBe(null);
        expect(moments.at(-1)).toMatchObject({ part: 2, ended: true, outcomes: 2 });
        expect(moments.map(({ part, ended }) => `${part} ${ended}`)).toContain("0 true");
        for (const [n, moment] of moments.entries()) if (n > 0) expect(compareMoments(moments[n - 1] as Moment, moment)).toBeLessThan(0);
        for (const moment of moments.toReversed()) {
            timeline.seek(moment);
            expect(timeline.moment).toEqual(moment);
        }
    });
});
