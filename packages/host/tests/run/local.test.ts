/** The local shell over a machine made for the test: order of commits and effects (D1–D5, FO1–PE3), cancel, time, waiting. */
import type { Json } from "@remit/language";
import type { Advance, Conducted, Effect, MachineEvent, Outcome, Result } from "@remit/machine";
import { expect, test } from "vitest";
import { LedgerError } from "../../src/ledger/error.ts";
import { memoryStore } from "../../src/ledger/memory.ts";
import type { Batch, LedgerStore } from "../../src/ledger/store.ts";
import { conduct, type LocalOptions } from "../../src/run/local.ts";
import type { Host, Later, PerformIO } from "../../src/run/host.ts";
import { createScrubber } from "../../src/secret/scrub.ts";
import { type StillClock, stillClock } from "./still-clock.ts";

const effect = (path: string, more: Partial<Effect> = {}): Effect => ({
    path,
    kind: "tool",
    principal: "user",
    site: null,
    request: { op: "call" },
    labels: [],
    ...more,
});

/** Asks for the effects of one stage after the other, all of a stage at once; the value is the list of answers in order of asking. */
function staged(stages: readonly (readonly Effect[])[], slices = 0): Conducted {
    const answers = new Map<string, Outcome>();
    let stage = 0;
    let asked = false;
    let left = slices;
    let ended: Result | null = null;
    const state = { steps: 0 };
    const event = (path: string, kind: MachineEvent["kind"]): MachineEvent => ({
        path,
        parent: null,
        kind,
        principal: "user",
        site: null,
        labels: [],
        data: null,
    });
    const machine: Conducted = {
        get usage() {
            return state;
        },
        reach: 0,
        resolve: (path, outcome) => void answers.set(path, outcome),
        pending: [],
        save: () => ({ image: { stage, answers: [...answers.keys()] } }),
        rule: () => ({ kind: "refused", message: "no remit is here", principal: "user", labels: [] }),
        exceed: (kind, message, hint) => {
            ended = { ok: false, failure: { kind, message, ...(hint === undefined ? {} : { hint }) } };
        },
        advance: (): Advance => {
            if (ended !== null) return { state: "done", events: [event("main", "run.ended")], effects: [], withdrawn: [], result: ended };
            state.steps++;
            if (left > 0) {
                left--;
                return { state: "slice", events: [event("main", "use")], effects: [], withdrawn: [] };
            }
            const now = stages[stage] ?? [];
            if (asked && now.every((one) => answers.has(one.path))) {
                stage++;
                asked = false;
                left = slices;
                return machine.advance();
            }
            if (stage === stages.length) {
                const value = stages.flat().map((one): Json => {
                    const outcome = answers.get(one.path) as Outcome;
                    return outcome.ok ? outcome.value : outcome.failure.kind;
                });
                return {
                    state: "done",
                    events: [event("main", "run.ended")],
                    effects: [],
                    withdrawn: [],
                    result: { ok: true, value, origins: [] },
                };
            }
            const effects = asked ? [] : [...now];
            asked = true;
            return { state: "waiting", events: effects.map((one) => event(one.path, "tool.started")), effects, withdrawn: [] };
        },
    };
    return machine;
}

interface Setup {
    readonly store: LedgerStore;
    readonly batches: Batch[];
    readonly log: string[];
    readonly run: (machine: Conducted, perform: Host["perform"], more?: Partial<LocalOptions>) => ReturnType<typeof conduct>;
}
async function setup(fail?: (batch: Batch, n: number) => void): Promise<Setup> {
    const store = memoryStore();
    const inner = await store.create({
        id: "r",
        program: { format: "remit-program/1", files: [] },
        hash: "h",
        file: "a",
        root: "",
        options: {},
    });
    const batches: Batch[] = [];
    const log: string[] = [];
    const writer: LocalOptions["writer"] = {
        batches: inner.batches,
        timed: (spent) => inner.timed(spent),
        release: () => inner.release(),
        commit: async (batch) => {
            fail?.(batch, batches.length);
            batches.push(batch);
            for (const one of batch.outcomes ?? []) log.push(`keep ${one.path}`);
            for (const one of batch.pending ?? []) if (one.begun) log.push(`start ${one.path}`);
            for (const path of batch.begin ?? []) log.push(`start ${path}`);
            return inner.commit(batch);
        },
    };
    return {
        store,
        batches,
        log,
        run: (machine, perform, more = {}) =>
            conduct(machine, {
                store,
                writer,
                secrets: createScrubber(),
                ...more,
                host: {
                    perform: async (one, io) => {
                        log.push(`perform ${one.path}`);
                        return perform(one, io);
                    },
                },
            }),
    };
}
const echo = async (one: Effect): Promise<Outcome> => ({ ok: true, value: one.path, origins: [] });
const forever = (_one: Effect, io: PerformIO): Promise<Outcome> =>
    new Promise((_resolve, reject) => {
        if (io.signal.aborted) reject(io.signal.reason);
        io.signal.addEventListener("abort", () => reject(io.signal.reason));
    });

test("D1: each effect is kept as started before it is performed, each outcome before what follows", async () => {
    const { log, run, store } = await setup();
    const end = await run(staged([[effect("a")], [effect("b"), effect("c")], [effect("d")]], 2), echo);
    expect(end).toEqual({ status: "done", value: ["a", "b", "c", "d"] });
    for (const path of ["a", "b", "c", "d"]) {
        expect(log.indexOf(`start ${path}`)).toBeLessThan(log.indexOf(`perform ${path}`));
        expect(log.indexOf(`perform ${path}`)).toBeLessThan(log.indexOf(`keep ${path}`));
    }
    expect(log.indexOf("keep c")).toBeLessThan(log.indexOf("start d"));
    expect(await store.run("r")).toMatchObject({ status: "done", effects: 4, live: false });
});

test("one commit an effect: outcome, state and next start together", async () => {
    const { batches, run } = await setup();
    // The stages of this machine are cut by slices of their own, so ask for one that is not.
    const paths = ["a", "b", "c", "d"];
    let at = -1;
    const machine: Conducted = {
        usage: { steps: 0 },
        reach: 0,
        resolve: () => undefined,
        pending: [],
        save: () => ({ delta: null }),
        rule: () => {
            throw new Error("unused");
        },
        exceed: () => {
            throw new Error("unused");
        },
        advance: () => {
            at++;
            const path = paths[at];
            return path === undefined
                ? { state: "done", events: [], effects: [], withdrawn: [], result: { ok: true, value: null, origins: [] } }
                : { state: "waiting", events: [], effects: [effect(path)], withdrawn: [] };
        },
    };
    await run(machine, echo);
    expect(batches.length).toBe(5);
    expect(batches[1]).toMatchObject({ outcomes: [{ path: "a" }], pending: [{ path: "b", begun: true }] });
});

test("D5: events wait for the state that follows them", async () => {
    const { batches, run } = await setup();
    await run(staged([[effect("a")]], 3), echo);
    for (const batch of batches)
        if ((batch.events?.length ?? 0) > 0) expect(batch.pending !== undefined || batch.end !== undefined).toBe(true);
});

test("the concurrency limit holds; what waits for room is kept as not begun", async () => {
    const { batches, run } = await setup();
    let now = 0;
    let most = 0;
    const many = Array.from({ length: 20 }, (_, i) => effect(`e${i}`));
    await run(
        staged([many]),
        async (one) => {
            most = Math.max(most, ++now);
            await new Promise((resolve) => setTimeout(resolve, 1));
            now--;
            return echo(one);
        },
        { concurrency: 3 },
    );
    expect(most).toBe(3);
    expect(batches[0]?.pending?.map((one) => one.begun)).toEqual(many.map((_, i) => i < 3));
    expect(batches.flatMap((batch) => batch.begin ?? []).length).toBe(17);
});

test("D3: cancel tells the performers, keeps what still finishes, leaves the rest pending", async () => {
    const { run, store } = await setup();
    const cancel = new AbortController();
    let performing = 0;
    const end = await run(
        staged([[effect("slow"), effect("finishes")]]),
        (one, io) => {
            // Cancelled when both are at work, however long that takes.
            if (++performing === 2) setImmediate(() => cancel.abort());
            return one.path === "slow"
                ? forever(one, io)
                : new Promise((resolve) => io.signal.addEventListener("abort", () => resolve(echo(one))));
        },
        { signal: cancel.signal },
    );
    expect(end).toEqual({ status: "stopped" });
    expect((await Array.fromAsync(store.outcomes("r"))).map((one) => one.path)).toEqual(["finishes"]);
    expect((await store.pending("r")).map((one) => one.path)).toEqual(["slow"]);
    expect((await store.run("r")).status).toBe("stopped");
});

test("a performer that ignores cancel holds the end up for the grace time only", async () => {
    const { run } = await setup();
    const cancel = new AbortController();
    cancel.abort();
    expect(await run(staged([[effect("deaf")]]), () => new Promise(() => undefined), { signal: cancel.signal, grace: 20 })).toEqual({
        status: "stopped",
    });
});

test("D8: a cancel is seen, and timers ring, where performers settle without a turn of the event loop", async () => {
    const many = (): Conducted => staged(Array.from({ length: 200 }, (_, n) => [effect(`quick-${n}`)]));
    const quick = async (): Promise<Outcome> => {
        for (const until = performance.now() + 1; performance.now() < until; );
        return { ok: true, value: null, origins: [] };
    };
    const cancel = new AbortController();
    setTimeout(() => cancel.abort(), 1);
    expect(await (await setup()).run(many(), quick, { signal: cancel.signal })).toEqual({ status: "stopped" });
    let rang: boolean | null = null;
    const timed = async (): Promise<Outcome> => {
        if (rang === null) {
            rang = false;
            setTimeout(() => {
                rang = true;
            }, 1);
        }
        await quick();
        return { ok: true, value: rang, origins: [] };
    };
    expect(await (await setup()).run(many(), timed)).toMatchObject({ status: "done", value: expect.arrayContaining([false, true]) });
});

test("the run's time ends it with limit.time, in computing and in waiting", async () => {
    const waiting = await setup();
    const end = await waiting.run(staged([[effect("a")]]), forever, { timeout: 20 });
    expect(end).toMatchObject({ status: "failed", failure: { kind: "limit.time" } });
    const computing = await setup();
    expect(await computing.run(staged([[effect("a")]], 1e9), echo, { timeout: 20 })).toMatchObject({ failure: { kind: "limit.time" } });
});

test("D4: what earlier parts of a run took counts; how much it is is kept with every commit", async () => {
    const { run, store, batches } = await setup();
    const end = await run(staged([[effect("a")]]), forever, { timeout: 1e7, spent: 1e7 + 5 });
    expect(end).toMatchObject({ status: "failed", failure: { kind: "limit.time" } });
    expect(batches.every((batch) => (batch.spent ?? 0) >= 1e7 + 5)).toBe(true);
    expect((await store.run("r")).spent).toBeGreaterThanOrEqual(1e7 + 5);
});

test("D6: where the time was up is kept: at a step, or waiting", async () => {
    for (const [slices, until] of [
        [0, null],
        [1e9, 0],
    ] as const) {
        const { run, store } = await setup();
        await run(staged([[effect("a")]], slices), forever, { timeout: 20 });
        const events = (await Array.fromAsync(store.events("r"))).filter((event) => event.kind === "budget");
        expect(events.map((event) => event.data)).toMatchObject([{ limit: "limit.time", until, host: true }]);
    }
});

/** The answer of a person who thinks about it for longer than the run may take, also by the timers of this process. */
async function thoughtAbout(one: Effect, clock: StillClock): Promise<Outcome> {
    clock.pass(200);
    await new Promise((resolve) => setTimeout(resolve, 200));
    return echo(one);
}

test("D4: time stands still while a person is asked", async () => {
    using clock = stillClock();
    const { run } = await setup();
    const end = await run(staged([[effect("q", { kind: "ask" })]]), (one) => thoughtAbout(one, clock), { timeout: 100 });
    expect(end).toEqual({ status: "done", value: ["q"] });
});

test("D4: so it does while a person is asked about what came up in an effect, and the effect's own deadline with it", async () => {
    using clock = stillClock();
    const { run, store } = await setup();
    const asking = async (one: Effect, io: PerformIO): Promise<Outcome> =>
        one.kind === "ask"
            ? await thoughtAbout(one, clock)
            : await io.child({ ...effect("a/ask", { kind: "ask" }), request: { question: "May it?", detail: null, options: ["once"] } });
    const end = await run(staged([[effect("a", { deadline: 100 })]]), asking, { timeout: 100 });
    expect(end).toEqual({ status: "done", value: ["a/ask"] });
    expect((await store.run("r")).status).toBe("done");
});

test("an effect's deadline answers it with timeout; what comes later changes nothing (F3)", async () => {
    const { run, store } = await setup();
    const end = await run(staged([[effect("a", { deadline: 10 })], [effect("b")]]), (one, io) =>
        one.path === "a"
            ? new Promise((resolve) => io.signal.addEventListener("abort", () => resolve(echo(one))))
            : new Promise((resolve) => setTimeout(() => resolve(echo(one)), 20)),
    );
    expect(end).toEqual({ status: "done", value: ["timeout", "b"] });
    expect((await Array.fromAsync(store.outcomes("r"))).length).toBe(2);
});

test("what a performer throws is a failure of its effect", async () => {
    const { run } = await setup();
    const end = await run(staged([[effect("a"), effect("m", { kind: "model" })]]), () => {
        throw new Error("broken");
    });
    expect(end).toEqual({ status: "done", value: ["tool", "model"] });
});

test("PE2: secrets are taken out before anybody sees an outcome", async () => {
    const { run, store } = await setup();
    const end = await run(staged([[effect("a")]]), async () => ({ ok: true, value: "it is hunter2-hunter2", origins: [] }), {
        secrets: createScrubber([{ name: "env:PW", value: "hunter2-hunter2" }]),
    });
    expect(end).toEqual({ status: "done", value: ["it is [secret env:PW]"] });
    expect(JSON.stringify(await Array.fromAsync(store.outcomes("r")))).not.toContain("hunter2");
});

test("PA4: secrets are taken out of progress before anybody watches it, cut in pieces or not; nothing comes after the answer", async () => {
    const secret = "hunter2-hunter2-abc";
    const scrubber = createScrubber([{ name: "env:PW", value: secret }]);
    const seen: Json[] = [];
    const late: (() => void)[] = [];
    const { run } = await setup();
    const perform: Host["perform"] = async (one, io) => {
        for (const delta of ["it is hunt", "er2-hunter", "2-abc, or hunter2", "-hunter3 h"]) io.emit({ type: "text", delta });
        io.emit({ progress: 1, message: `with ${secret}` });
        late.push(() => io.emit("too late"));
        return echo(one);
    };
    await run(staged([[effect("a")]]), perform, {
        secrets: scrubber,
        part: (_path, part) => void seen.push(part),
    });
    for (const emit of late) emit();
    expect(seen.map((part) => (part as { delta?: string }).delta ?? "").join("")).toBe("it is [secret env:PW], or hunter2-hunter3 h");
    expect(seen).toContainEqual({ progress: 1, message: "with [secret env:PW]" });
    expect(seen).not.toContain("too late");
});

test("nobody to answer now: the rest goes on, then the run stops as waiting", async () => {
    const { run, store } = await setup();
    const end = await run(
        staged([[effect("q", { kind: "ask" }), effect("a")]]),
        async (one): Promise<Outcome | Later> => (one.kind === "ask" ? { later: true } : await echo(one)),
    );
    expect(end).toMatchObject({ status: "waiting", waiting: [{ path: "q" }] });
    expect((await Array.fromAsync(store.outcomes("r"))).map((one) => one.path)).toEqual(["a"]);
    expect((await store.pending("r")).map((one) => one.path)).toEqual(["q"]);
});

test("D2: when the ledger cannot be written nothing more is begun", async () => {
    const broken = await setup((batch) => {
        if ((batch.outcomes?.length ?? 0) > 0) throw new LedgerError("io", "no disk");
    });
    await expect(broken.run(staged([[effect("a")], [effect("b")]]), echo)).rejects.toMatchObject({ code: "io" });
    expect(broken.log.filter((line) => line.startsWith("perform"))).toEqual(["perform a"]);
    expect(await broken.store.run("r")).toMatchObject({ status: "running", live: false });
});

test("H1: a request that arises while an effect runs leaves its own events, kept before it is performed", async () => {
    const { run, store, log } = await setup();
    const end = await run(staged([[effect("a")]]), async (one, io) => {
        if (one.kind === "ask") return { ok: true, value: "yes", origins: ["user"] };
        const said = await io.child(effect("a/elicit#0", { kind: "ask" }));
        return said.ok ? { ok: true, value: said.value, origins: [] } : said;
    });
    expect(end).toEqual({ status: "done", value: ["yes"] });
    expect((await Array.fromAsync(store.events("r"))).map((event) => event.kind)).toEqual([
        "tool.started",
        "ask.requested",
        "ask.decided",
        "run.ended",
    ]);
    expect(log).toContain("perform a");
});
