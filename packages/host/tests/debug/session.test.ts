/** Going through recorded runs in both directions: the same moment is the same state, and nothing is performed or written. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { memoryStore } from "../../src/ledger/memory.ts";
import { openLedger } from "../../src/run/open.ts";
import { type DebugSession, debugRun, moved, type Movement, movedUnless } from "../../src/debug/session.ts";
import { readBreakpoint } from "../../src/debug/breakpoint.ts";
import { ASKS, BRANCHES, contents, FAILS, killed, LOOKS, REFUSED, type Recorded, recorded, SPENDS, TOOLS, TURNS } from "./runs.ts";

const state = (s: DebugSession): unknown => [s.moment, s.where(), s.inspect(), s.threads().map((t) => s.authority(t.id, 0))];
const line = (s: DebugSession): number | null => s.where().site?.line ?? null;

/** States at every moment, forwards. */
function walk(s: DebugSession): unknown[] {
    const states = [state(s)];
    while (s.timeline.tick() !== null) states.push(state(s));
    return states;
}

describe("time", () => {
    const RUNS: { [name: string]: () => Promise<Recorded> } = {
        "branches in parallel, caught failures, lambdas": () => recorded(BRANCHES, { items: [1, 2, 3, 4] }, { concurrency: 2 }),
        "iterations of strict code, answered the last one first": () => recorded(TURNS, { items: [1, 2, 3, 4] }),
        "a failure": () => recorded(FAILS, { n: 1 }),
        "a question that waits, a remit, a delegation": () => recorded(ASKS, { to: "bob" }, { on: { ask: () => null } }),
        "a question that was answered": () => recorded(ASKS, { to: "bob" }, { on: { ask: () => "once" } }),
        "questions about itself in branches": () => recorded(LOOKS["branches that wait for one another"] as string, { items: [1, 2, 3] }),
        "several questions about itself in a statement": () =>
            recorded(LOOKS["principals, delegation and rights"] as string, { items: [1] }),
        "a budget of steps that is used up": () => recorded(BRANCHES, { items: [1, 2, 3, 4] }, { limits: { steps: 41 } }),
        "a process that was killed": async () => closing(await killed()),
    };
    const open: (() => Promise<void>)[] = [];
    afterAll(async () => {
        for (const close of open) await close();
    });
    const closing = (run: Awaited<ReturnType<typeof killed>>): Recorded => {
        open.push(run.close);
        return run;
    };

    describe.each(Object.entries(RUNS))("%s", (_name, make) => {
        let run: Recorded;
        let states: unknown[];
        let before: string;
        beforeAll(async () => {
            run = await make();
            before = await contents(run.store, run.id);
            states = walk(await debugRun(run.store, run.id));
        });
        afterAll(async () => expect(await contents(run.store, run.id)).toBe(before));

        test("backwards is forwards in reverse", async () => {
            const s = await debugRun(run.store, run.id);
            walk(s);
            const back = [state(s)];
            while (s.timeline.back() !== null) back.push(state(s));
            expect(back.reverse()).toEqual(states);
            expect(states.length).toBeGreaterThan(5);
        });

        test.each([1, 3, 1000])("checkpoints %i steps apart change nothing", async (every) => {
            const s = await debugRun(run.store, run.id, { every, ...(every === 3 ? { room: 20_000 } : {}) });
            expect(walk(s)).toEqual(states);
            const back = [state(s)];
            while (s.timeline.back() !== null) back.push(state(s));
            expect(back.reverse()).toEqual(states);
        });

        test("random walks", async () => {
            const at = new Map(states.map((one, i) => [JSON.stringify((one as unknown[])[0]), i]));
            await fc.assert(
                fc.asyncProperty(
                    fc.array(fc.nat(8), { minLength: 1, maxLength: 12 }),
                    fc.constantFrom(1, 7, 100_000),
                    fc.constantFrom(1, 5, 9999),
                    async (walked, every, leap) => {
                        const s = await debugRun(run.store, run.id, { every });
                        for (const how of walked) {
                            if (how < 3) s.timeline.tick();
                            else if (how === 3) s.timeline.leap(leap);
                            else if (how === 4) s.timeline.back();
                            else if (how === 5) moved(s.next());
                            else if (how === 6) moved(s.backOver());
                            else if (how === 7) moved(s.stepOut());
                            else s.timeline.seek((states[(walked.length * 7) % states.length] as [DebugSession["moment"]])[0]);
                            const place = at.get(JSON.stringify(s.moment));
                            expect(place).toBeDefined();
                            expect(state(s)).toEqual(states[place as number]);
                        }
                    },
                ),
                { numRuns: 25 },
            );
        });
    });

    test("budgets of regions end where they ended", async () => {
        const { store, id } = await recorded(SPENDS, { items: [1, 2, 3, 4, 5] });
        const info = await store.run(id);
        expect(info.value).toEqual(["steps", "limit.time", "limit.time"]);
        expect(await (await openLedger(store)).replay(id)).toMatchObject({ equal: true });
        const s = await debugRun(store, id);
        expect(moved(s.goTo({ kind: "path", path: "main/parallel[0]" })).reason).toBe("goto");
        const before = [...Array(40)].map(() => {
            moved(s.back());
            return state(s);
        });
        expect(s.moment.steps).toBeLessThan(30);
        const forwards = await debugRun(store, id);
        const states = new Map([[JSON.stringify(forwards.moment), state(forwards)]]);
        while (forwards.moment.steps < 30) {
            forwards.timeline.tick();
            states.set(JSON.stringify(forwards.moment), state(forwards));
        }
        for (const one of before) {
            const [moment] = one as [DebugSession["moment"]];
            if (moment.steps < 30) expect(one).toEqual(states.get(JSON.stringify(moment)));
        }
        // Around each end of a time: back over it, and to the same place again.
        for (const event of (await Array.fromAsync(store.events(id))).filter((one) => one.kind === "budget")) {
            moved(s.goTo({ kind: "event", seq: event.seq }));
            const near = state(s);
            moved(s.stepIn());
            const after = state(s);
            expect(s.moment.events).toBeGreaterThanOrEqual(event.seq);
            moved(s.back());
            expect(state(s)).toEqual(near);
            moved(s.stepIn());
            expect(state(s)).toEqual(after);
        }
        expect(moved(s.goTo({ kind: "end" }))).toMatchObject({ reason: "end", moment: { steps: info.steps } });
        expect(s.where().state).toBe("done");
    });

    test("a run whose time was up ends where it ended", async () => {
        const run = await recorded(
            "main func() {\n    x = 0\n    repeat * 100000000 {\n        x += 1\n    }\n    x\n}\n",
            {},
            { limits: { time: 60 } },
        );
        const info = await run.store.run(run.id);
        expect(info.failure?.kind).toBe("limit.time");
        const s = await debugRun(run.store, run.id);
        expect(moved(s.goTo({ kind: "end" }))).toMatchObject({ reason: "end", moment: { steps: info.steps } });
        moved(s.back());
        expect(s.where().state).toBe("running");
        const near = state(s);
        moved(s.back());
        moved(s.stepIn());
        expect(state(s)).toEqual(near);
        moved(s.stepIn());
        expect(s.where()).toMatchObject({ state: "failed" });
    });

    test("the record of another program is told, not followed", async () => {
        const { store, id } = await recorded(FAILS, { n: 1 });
        const odd = {
            ...store,
            async *outcomes(of: string, after?: number) {
                for await (const one of store.outcomes(of, after)) yield { ...one, path: "main/Other.call#0" };
            },
        };
        const s = await debugRun(odd, id);
        expect(moved(s.goTo({ kind: "end" }))).toMatchObject({ reason: "diverged", message: expect.stringContaining("main/Other.call#0") });
    });
});

describe("steps", () => {
    test("in, over, out, and back again", async () => {
        const { store, id } = await recorded(FAILS, { n: 1 });
        const s = await debugRun(store, id);
        expect(line(s)).toBe(8);
        moved(s.next());
        expect(line(s)).toBe(9);
        moved(s.stepIn());
        expect([line(s), s.where().frame?.name]).toEqual([3, "last"]);
        moved(s.stepIn());
        expect(s.where()).toMatchObject({ state: "waiting", site: { line: 3 } });
        expect(s.inspect().pending).toMatchObject([{ path: "main/last#0/Work.step#0", kind: "tool" }]);
        moved(s.stepIn());
        expect([line(s), s.where().state]).toEqual([4, "running"]);
        expect(s.look({ thread: 0, frame: 0, names: ["x"] })?.view).toMatchObject({ text: "2", origins: ["tool:Work"] });
        moved(s.next());
        expect(s.look({ thread: 0, frame: 0, names: ["y", "a"] }, 0, 10)).toMatchObject({
            view: { type: "list", size: 2, inside: ["tool:Work", "user"] },
            parts: [
                { name: "[0]", text: "2", origins: ["tool:Work"] },
                { name: "[1]", text: "1", origins: ["user"] },
            ],
        });
        moved(s.backOver());
        moved(s.backOver());
        expect(line(s)).toBe(3);
        moved(s.backOver());
        expect([line(s), s.where().frame?.name]).toEqual([9, "main"]);
        moved(s.stepIn());
        moved(s.stepOut());
        expect(s.where().state).toBe("failed");
    });

    test("over a parallel for, and into its branches", async () => {
        const { store, id } = await recorded(BRANCHES, { items: [1, 2] });
        const s = await debugRun(store, id);
        s.breakpoints = [readBreakpoint("main.remit:18", null) ?? { kind: "failure" }];
        moved(s.continue());
        expect(line(s)).toBe(18);
        moved(s.stepIn());
        expect(s.where().frame?.path).toBe("main/parallel[0]");
        expect(s.where().frame?.scopes.map((one) => [one.name, one.variables.map((v) => v.name)])).toEqual([
            ["locals", ["n"]],
            ["around", ["input", "seen", "total", "sorted"]],
            ["imports", ["Work"]],
        ]);
        expect(s.threads().map((t) => [t.name, t.parent, t.state])).toEqual([
            ["main", null, "waiting"],
            ["main/parallel[0]", 0, "next"],
            ["main/parallel[1]", 0, "ready"],
        ]);
        moved(s.stepOut());
        expect([line(s), s.where().thread]).toEqual([24, 0]);
        moved(s.backOver());
        expect(line(s)).toBe(18);
        s.breakpoints = [];
        moved(s.next());
        expect(line(s)).toBe(24);
    });
});

describe("breakpoints and places", () => {
    test.each([
        ["as their answers come", TURNS.replace("flow strict", "")],
        ["in their own order", TURNS],
    ])("each iteration stops once at each line, where iterations go on %s", async (_name, source) => {
        const run = await recorded(source, { items: [1, 2, 3, 4] });
        for (const line of [5, 6, 7, 8]) {
            const s = await debugRun(run.store, run.id);
            s.breakpoints = [{ kind: "line", file: "main.remit", line }];
            const threads: number[] = [];
            while (moved(s.continue()).reason === "breakpoint") {
                threads.push(s.where().thread);
                expect(
                    s
                        .threads()
                        .filter(({ state: of }) => of === "next")
                        .map(({ id }) => id),
                ).toEqual([s.where().thread]);
            }
            expect([line, threads.length, new Set(threads).size]).toEqual([line, 4, 4]);
        }
    });

    let run: Recorded;
    beforeAll(async () => {
        run = await recorded(BRANCHES, { items: [1, 2, 3] });
    });
    const all = (s: DebugSession, go: () => Movement): [number, number | null][] => {
        const found: [number, number | null][] = [];
        for (;;) {
            const stop = moved(go());
            if (stop.reason !== "breakpoint") return found;
            found.push([stop.moment.steps, line(s)]);
        }
    };

    test.each([
        "3",
        "main.remit:7",
        "tool.started",
        "tool.ended",
        "failure",
        "main/twice#0",
        "main/for[1]/twice#1",
        "main/parallel[2]/checked#0",
    ])("%s: as often backwards as forwards, at the same places", async (text) => {
        for (const every of [2, 100_000]) {
            const s = await debugRun(run.store, run.id, { every });
            const point = readBreakpoint(text, "main.remit");
            expect(point).not.toBeNull();
            s.breakpoints = [point as NonNullable<typeof point>];
            const forwards = all(s, () => s.continue());
            moved(s.goTo({ kind: "end" }));
            const backwards = all(s, () => s.reverseContinue());
            expect(backwards.reverse()).toEqual(forwards);
            if (text !== "main/twice#0") expect(forwards.length).toBeGreaterThan(0);
        }
    });

    test("violations stop before what is refused", async () => {
        const refused = await recorded(REFUSED, { to: "bob@b.com" });
        expect((await refused.store.run(refused.id)).value).toBe("violation.remit");
        const s = await debugRun(refused.store, refused.id);
        s.breakpoints = [{ kind: "violation" }];
        expect(moved(s.continue())).toMatchObject({ reason: "breakpoint", breakpoint: { kind: "violation" } });
        expect(s.where()).toMatchObject({ site: { line: 6 }, frame: { principalName: "Sender" } });
        expect(s.authority(s.where().thread, 0)).toMatchObject({
            name: "Sender",
            base: false,
            remits: [{ rows: [{ method: "send", gate: "may", within: [{ arg: "to", patterns: ["*@a.com"] }] }] }],
        });
        expect(s.authority(0, 1)).toMatchObject({ name: "user", base: true, remits: [] });
    });

    test("authority, delegations and tokens in force", async () => {
        const asks = await recorded(ASKS, { to: "bob" }, { on: { ask: () => null } });
        expect((await asks.store.run(asks.id)).status).toBe("waiting");
        const s = await debugRun(asks.store, asks.id);
        expect(moved(s.goTo({ kind: "end" })).reason).toBe("waiting");
        expect(s.where()).toMatchObject({ state: "open", site: { line: 6 } });
        expect(s.inspect().pending).toMatchObject([{ kind: "ask" }]);
        expect(s.authority(0, 0)).toMatchObject({ name: "Sender", delegations: [{ from: "user", onward: false }] });
        expect(s.authority(0, 1)?.delegations).toEqual([]);
        moved(s.back());
        moved(s.goTo({ kind: "start" }));
        expect(s.authority(0, 0)?.delegations).toEqual([]);
    });

    test("events by number, paths, steps and the failure", async () => {
        const s = await debugRun(run.store, run.id);
        for (const event of (await Array.fromAsync(run.store.events(run.id))).reverse()) {
            moved(s.goTo({ kind: "event", seq: event.seq }));
            if (event.seq > 1) expect(s.moment.events).toBeLessThan(event.seq);
            s.timeline.tick();
            expect(s.moment.events).toBeGreaterThanOrEqual(event.seq);
            expect(s.events(1)[0]?.seq).toBe(s.moment.events);
        }
        moved(s.goTo({ kind: "path", path: "main/parallel[1]/checked#0/Work.step#0" }));
        expect(line(s)).toBe(8);
        moved(s.goTo({ kind: "path", path: "main/for[1]/twice#1" }));
        expect([line(s), s.where().frame?.path]).toEqual([3, "main/for[1]/twice#1"]);
        const here = state(s);
        expect(() => moved(s.goTo({ kind: "path", path: "main/nowhere#0" }))).toThrow("nothing in this run has the path");
        expect(() => moved(s.goTo({ kind: "event", seq: 9999 }))).toThrow("there is no event 9999");
        expect(() => moved(s.goTo({ kind: "failure" }))).toThrow("did not fail");
        expect(state(s)).toEqual(here);
        moved(s.goTo({ kind: "step", step: 12 }));
        expect(s.moment.steps).toBeGreaterThanOrEqual(12);
        const failed = await recorded(FAILS, { n: 1 });
        const f = await debugRun(failed.store, failed.id);
        moved(f.goTo({ kind: "failure" }));
        expect([line(f), f.where().state]).toEqual([5, "running"]);
    });

    test("a movement can be stopped: forwards where it came to, backwards where it began", async () => {
        const long = await recorded("main func() {\n    x = 0\n    repeat * 40000 {\n        x += 1\n    }\n    x\n}\n", {});
        const s = await debugRun(long.store, long.id);
        s.breakpoints = [{ kind: "line", file: "main.remit", line: 6 }];
        expect(await movedUnless(s.continue(), () => true)).toBeNull();
        expect(s.moment.steps).toBeGreaterThan(0);
        expect(moved(s.continue()).reason).toBe("breakpoint");
        const end = state(s);
        expect(await movedUnless(s.reverseContinue(), () => true)).toBeNull();
        expect(state(s)).toEqual(end);
        expect(moved(s.reverseContinue()).reason).toBe("start");
    });

    test("lines of statements", async () => {
        const s = await debugRun(run.store, run.id);
        expect(s.settle("main.remit", 9)).toEqual({ file: "main.remit", line: 11 });
        expect(s.settle("/somewhere/main.remit", 3)).toEqual({ file: "main.remit", line: 3 });
        expect(s.settle("main.remit", 99)).toBeNull();
        expect(s.settle("other.remit", 1)).toBeNull();
    });

    test.each([
        ["12", { kind: "line", file: "a.remit", line: 12 }],
        ["lib/b.remit:3", { kind: "line", file: "lib/b.remit", line: 3 }],
        ["C:\\x.remit:3", { kind: "line", file: "C:\\x.remit", line: 3 }],
        ["tool.started", { kind: "event", event: "tool.started" }],
        ["violation", { kind: "violation" }],
        ["main/for[1]", { kind: "path", path: "main/for[1]" }],
        ["0", null],
        ["", null],
        ["two words", null],
    ])("reading %j", (text, point) => expect(readBreakpoint(text, "a.remit")).toEqual(point));
});

test("no tool is called and a secret that was taken out stays out", async () => {
    let calls = 0;
    const store = memoryStore();
    const { id } = await recorded(
        FAILS,
        { n: 1 },
        { tools: { ...TOOLS, Work: { ...TOOLS.Work, step: (n: number) => ++calls + n } } },
        store,
    );
    const before = await contents(store, id);
    const frozen = new Proxy(store, {
        get: (target, name) => {
            if (name === "own" || name === "create") throw new Error("written to");
            return Reflect.get(target, name);
        },
    });
    const s = await debugRun(frozen, id);
    moved(s.continue());
    moved(s.reverseContinue());
    moved(s.goTo({ kind: "failure" }));
    expect(calls).toBe(1);
    expect(await contents(store, id)).toBe(before);
});
