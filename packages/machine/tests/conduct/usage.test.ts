/** What the agent of a turn that broke off had used: counted once, in the budget and in the ledger, whatever broke it off (AC10). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
    addUsage,
    type Batch,
    compileProgram,
    Conductor,
    type Decision,
    Machine,
    type News,
    type Outcome,
    type Usage,
} from "../../src/index.ts";
import type { Json } from "@remit/language";
import { formOf } from "../run/text.ts";

const AGENT = formOf('import agent Fixer from "acp://x"\n\nmain func() {\n    return agent("do it", { agent: Fixer })\n}\n');
const TURN = "main/agent#0/turn[0]";
const OPTIONS = { run: "r", programHash: "p", input: {}, limits: { tokens: 10_000 } } as never;

/** A run over several parts: what is kept of one is what the next begins with. */
class Parts {
    readonly batches: Batch[] = [];
    private documents: Json[] = [];
    private outcomes = 0;
    private at = 0;
    private open = 0;
    private readonly form: ReturnType<typeof formOf>;
    machine: Machine;
    private conductor: Conductor;

    constructor(form = AGENT, timeout?: number) {
        this.form = form;
        this.machine = Machine.start(compileProgram(form), OPTIONS);
        this.conductor = new Conductor(this.machine, { saves: true, ...(timeout === undefined ? {} : { timeout }) });
        this.next();
        this.commit();
    }
    next(news: readonly News[] = [], ms = 1): Decision[] {
        this.at += ms;
        const decisions = this.conductor.next(this.at, news);
        for (const one of decisions) {
            if (one.kind !== "commit") continue;
            this.open = one.n;
            this.batches.push(one.batch);
            const { state } = one.batch;
            if (state !== undefined) this.documents = state.kind === "image" ? [state.json] : [...this.documents, state.json];
            if (state !== undefined) this.outcomes = this.told.length;
        }
        return decisions;
    }
    commit(): Decision[] {
        return this.next([{ kind: "committed", n: this.open }]);
    }
    get told() {
        return this.batches.flatMap(({ outcomes = [] }) => outcomes);
    }
    /** In another process, after the end of this one. */
    again(goOn?: (machine: Machine) => void): void {
        this.machine = Machine.load(compileProgram(this.form), OPTIONS, JSON.parse(JSON.stringify(this.documents)) as Json[]);
        const { pending } = this.machine;
        goOn?.(this.machine);
        const begun = pending.map(({ path }) => path);
        const recovered = { outcomes: this.told.slice(this.outcomes), begun, repeatable: [], pending };
        this.conductor = new Conductor(this.machine, { saves: true, recovered });
        const asks = this.next().filter(({ kind }) => kind === "unknown");
        for (const ask of asks)
            if (ask.kind === "unknown") this.next([{ kind: "known", path: ask.effect.path, said: { answer: "again" } }]);
        this.commit();
    }
    used(tokens: number): void {
        this.next([{ kind: "up", path: TURN, up: { n: 0, note: { usage: { input: tokens } } } }]);
        this.next([{ kind: "time" }], 1100);
        this.commit();
    }
    answer(outcome: Outcome): void {
        this.next([{ kind: "outcome", path: TURN, outcome }]);
        this.commit();
    }
    /** By the budget, and by the ledger. */
    get counted(): readonly [number, number] {
        const all = this.batches.reduce<Usage>((sum, { usage }) => addUsage(sum, usage), {});
        return [this.machine.usage.tokens, all.input ?? 0];
    }
}
const reply = { text: "a", stop: "end_turn", entries: [], confinement: "remote", spent: { steps: 1, calls: 0, ms: 1 } };
const done = (usage?: Usage): Outcome => ({ ok: true, value: reply, origins: [], ...(usage === undefined ? {} : { usage }) });
const failed = (usage?: Usage): Outcome => ({
    ok: false,
    failure: { kind: "unreachable", message: "gone" },
    ...(usage === undefined ? {} : { usage }),
});

describe("what an agent says that it used", () => {
    test.each([
        ["the reply says more", done({ input: 350 }), 350],
        ["the reply says the same", done({ input: 300 }), 300],
        ["the reply says nothing of it", done(), 300],
        ["it failed with what it used", failed({ input: 320, output: 5 }), 325],
        ["it failed and says nothing", failed(), 300],
    ])("counts once where %s", (_what, outcome, tokens) => {
        const run = new Parts();
        run.used(100);
        run.used(300);
        run.answer(outcome);
        const [budget, ledger] = run.counted;
        expect(budget).toBe(tokens);
        expect(ledger).toBe(Math.min(tokens, 350) - (outcome.usage?.output ?? 0));
    });

    test("counts once where the process was killed in the middle of the turn, and the turn begins once more", () => {
        const run = new Parts();
        run.used(300);
        run.again();
        expect(run.counted).toEqual([300, 300]);
        run.used(40);
        expect(run.counted).toEqual([340, 340]);
        run.again();
        // Of this one there are no notes.
        run.answer(done({ input: 200 }));
        expect(run.counted).toEqual([540, 540]);
    });

    test("counts once where the run was cancelled: what came with the end of the turn is counted, too", () => {
        const run = new Parts();
        run.used(300);
        run.next([{ kind: "cancel" }]);
        const cut: Outcome = { ok: false, failure: { kind: "cancelled", message: "stopped" }, usage: { input: 360 } };
        run.next([{ kind: "outcome", path: TURN, outcome: cut }]);
        run.commit();
        run.commit();
        expect(run.told.at(-1)).toMatchObject({ path: `${TURN}/note[1]`, outcome: { usage: { input: 60 } } });
        run.again();
        expect(run.counted).toEqual([360, 360]);
        run.answer(done({ input: 200 }));
        expect(run.counted).toEqual([560, 560]);
    });

    test("counts once where the time of its region is up", () => {
        const region = formOf(
            'import agent Fixer from "acp://x"\n\nmain func() {\n    try { spend 2 s { agent("do it", { agent: Fixer }) } } catch e { e.kind }\n}\n',
        );
        const run = new Parts(region);
        run.next([{ kind: "up", path: TURN, up: { n: 0, note: { usage: { input: 300 } } } }]);
        run.next([{ kind: "time" }], 2100);
        run.commit();
        expect(run.counted).toEqual([300, 300]);
    });

    test("counts once where the time of the run is up, and the run goes on", () => {
        const run = new Parts(AGENT, 2000);
        run.next([{ kind: "up", path: TURN, up: { n: 0, note: { usage: { input: 300 } } } }]);
        run.next([{ kind: "time" }], 2100);
        run.next([], 2000);
        run.commit();
        run.commit();
        expect(run.counted[1]).toBe(300);
        run.again((machine) => machine.goOn({ raise: [{ account: "run", meter: "time", amount: 60_000 }] }, "me"));
        run.answer(done({ input: 200 }));
        expect(run.counted).toEqual([500, 500]);
    });
});

describe("US2: whatever an agent or a performer says that was used", () => {
    const number = fc.oneof(
        fc.constantFrom(-1, -1e308, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e308, Number.MAX_VALUE, 0, -0, 0.1),
        fc.nat(500),
    );
    const amount = (told: number): number => (told >= 0 ? Math.min(told, Number.MAX_SAFE_INTEGER) : 0);

    test("the budget and the ledger count the most that was said of a turn, as finite numbers that never fall", () => {
        fc.assert(
            fc.property(fc.array(number, { minLength: 1, maxLength: 5 }), number, fc.boolean(), (notes, last, resumed) => {
                const run = new Parts();
                let most = 0;
                const holds = (): void => {
                    for (const counted of run.counted) {
                        expect(counted).toBeGreaterThanOrEqual(most - 1e-6);
                        expect(counted).toBeLessThanOrEqual(most * (1 + 1e-9) + 1e-6);
                    }
                };
                for (const told of notes) {
                    run.used(told);
                    most = Math.max(most, amount(told));
                    holds();
                }
                // The continuation is JSON that loads, and the account in it says the same.
                if (resumed) {
                    const before = run.counted;
                    run.again();
                    expect(run.counted).toEqual(before);
                }
                const base = resumed ? most : 0;
                run.answer(done({ input: last }));
                most = resumed ? Math.min(base + amount(last), Number.MAX_SAFE_INTEGER) : Math.max(most, amount(last));
                holds();
            }),
            { numRuns: 60 },
        );
    });

    test("a budget that was used up stays so, however little is said afterwards", () => {
        const run = new Parts();
        run.used(1e308);
        run.used(0);
        run.used(-1e308);
        run.answer(done({ input: Number.NaN }));
        expect(run.counted).toEqual([Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);
        expect(run.batches.at(-1)?.end).toMatchObject({ failure: { kind: "limit.tokens" } });
    });
});

test("an outcome that comes while a run whose time is up winds up is kept, and is what the run goes on with", () => {
    const tool = formOf('import tool T from "host:t"\n\nmain func() {\n    T.get(1) + T.get(2)\n}\n');
    const run = new Parts(tool, 2000);
    const path = "main/T.get#0";
    run.next([{ kind: "time" }], 2100);
    run.next([{ kind: "outcome", path, outcome: { ok: true, value: 7, origins: [] } }]);
    run.commit();
    run.commit();
    expect(run.told).toMatchObject([{ path, outcome: { value: 7 } }]);
    run.again((machine) => machine.goOn({ raise: [{ account: "run", meter: "time", amount: 60_000 }] }, "me"));
    expect(run.machine.pending.map((effect) => effect.path)).toEqual(["main/T.get#1"]);
});
