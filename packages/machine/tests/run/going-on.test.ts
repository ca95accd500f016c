/** SD1–SD4: runs that failed go on: what stopped is asked for again, what was paid for is not, and siblings have finished. */
import type { Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
    Compiled,
    costOf,
    type Effect,
    Fail,
    type GoOn,
    Machine,
    type MachineEvent,
    type Outcome,
    type StartOptions,
} from "../../src/index.ts";
import { seal } from "../ledger/support.ts";
import { OPTIONS } from "./forms.ts";
import { formOf, runText } from "./text.ts";

const IMPORTS = `
import tool T from "http://e.test"
import llm M from "anthropic://m"
`;
const WITH = `role "r" description "d" model M`;
const main = (body: string): string => `main agent A { ${WITH}\n main func(input) {\n${body}\n }\n}`;

type Answer = (effect: Effect) => Outcome | null;

const ok = (value: Json, usage?: { input: number; output: number }): Outcome => ({
    ok: true,
    value,
    origins: ["tool:T"],
    ...(usage === undefined ? {} : { usage }),
});
const down: Outcome = { ok: false, failure: { kind: "unreachable", message: "down" } };
const reply = (value: Json, tokens = 10): Outcome =>
    ok({ text: JSON.stringify(value), value, finish: "stop", model: "m" }, { input: tokens - 1, output: 1 });

/** A run that can be stopped, saved, loaded and continued; effects of kind `sleep` never end unless `answer` says so. */
class Subject {
    machine: Machine;
    readonly effects: Effect[] = [];
    readonly events: MachineEvent[] = [];
    private readonly text: string;
    private readonly options: StartOptions;
    private documents: Json[] = [];

    constructor(body: string, options: Partial<StartOptions> = {}) {
        this.text = IMPORTS + body;
        this.options = { ...OPTIONS, ...options };
        this.machine = Machine.start(this.compiled(), this.options);
    }

    private compiled(): Compiled {
        return new Compiled(formOf(this.text, true));
    }

    /** Runs until the end, or until only what `answer` gives nothing for is left. */
    run(answer: Answer): this {
        for (;;) {
            const { state, effects, events } = this.machine.advance();
            this.effects.push(...effects);
            this.events.push(...events);
            if (state === "done") return this;
            if (state === "slice") continue;
            const next = this.machine.pending
                .map((effect) => [effect.path, answer(effect)] as const)
                .find(([, outcome]) => outcome !== null);
            if (next === undefined) return this;
            this.machine.resolve(next[0], next[1] as Outcome);
        }
    }

    /** Saved, printed, read and loaded in a machine of its own. */
    moved(): this {
        const saved = this.machine.save({ image: this.documents.length === 0 });
        if ("image" in saved) this.documents = [saved.image];
        else this.documents.push(saved.delta);
        this.machine = Machine.load(this.compiled(), this.options, JSON.parse(JSON.stringify(this.documents)) as Json[]);
        this.documents = [];
        return this;
    }

    goOn(how: GoOn): this {
        this.machine.goOn(how, "os:1");
        return this;
    }

    get end(): Json {
        const { result } = this.machine;
        return result === null ? "goes on" : result.ok ? result.value : `${result.failure.kind}: ${result.failure.message}`;
    }

    calls(kind: string): string[] {
        return this.effects
            .filter((effect) => effect.kind === kind)
            .map(({ path, attempt }) => path + (attempt === undefined ? "" : ` ~${attempt}`));
    }
}

const number: Answer = (effect) => (effect.kind === "tool" ? ok(1) : null);

describe.each([
    ["in the machine that ran", (s: Subject) => s],
    ["saved and loaded first", (s: Subject) => s.moved()],
])("%s", (_, moved) => {
    test("a larger bound of a region: the call that it refused is made, those before it are not made again", () => {
        const s = new Subject(main(`n = 0\nspend 2 calls { repeat * 4 { n += T.get(1) } }\nn`)).run(number);
        expect(s.end).toMatch(/^limit\.calls/);
        moved(s)
            .goOn({ raise: [{ account: "main/spend#0", meter: "calls", amount: 10 }] })
            .run(number);
        expect(s.end).toBe(4);
        expect(new Set(s.calls("tool")).size).toBe(4);
        expect(s.calls("tool")).toHaveLength(4);
        expect(s.events.filter((event) => event.kind === "run.resumed").map((event) => event.data)).toEqual([
            { by: "os:1", raise: [{ account: "main/spend#0", meter: "calls", amount: 10 }], retry: false, answer: [] },
        ]);
    });

    test("a larger bound of the run, in steps", () => {
        const s = new Subject(main(`n = 0\nrepeat * 500 { n += 1 }\nn`), { limits: { steps: 300 } }).run(number);
        expect(s.end).toMatch(/^limit\.steps/);
        moved(s)
            .goOn({ raise: [{ account: "run", meter: "steps", amount: 100_000 }] })
            .run(number);
        expect(s.end).toBe(500);
    });

    test("M4: a bound of the run that several fibers met names the same place, and they go on in the same order", () => {
        // The second iteration meets it first.
        const body = `parallel for i in [0, 1] max 2 {\nif i == 0 {\nT.get("a")\nT.get("b")\n} else {\nT.get("c")\n}\n}`;
        const run = new Subject(main(body), { limits: { calls: 1 } }).run(number);
        const { result } = moved(run).machine;
        expect([run.end, result?.ok === false && result.failure.site?.line]).toEqual([expect.stringMatching(/^limit\.calls/), 9]);
        run.goOn({ raise: [{ account: "run", meter: "calls", amount: 9 }] }).run(number);
        expect(run.effects.map(({ request }) => (request as { args: Json[] }).args[0])).toEqual(["a", "b", "c"]);
    });

    test("a bound that is too small again stops it again", () => {
        const s = new Subject(main(`n = 0\nspend 2 calls { repeat * 4 { n += T.get(1) } }\nn`)).run(number);
        moved(s)
            .goOn({ raise: [{ account: "main/spend#0", meter: "calls", amount: 3 }] })
            .run(number);
        expect(s.end).toMatch(/^limit\.calls: the region's budget of 3 calls is used up/);
        moved(s)
            .goOn({ raise: [{ account: "main/spend#0", meter: "calls", amount: 4 }] })
            .run(number);
        expect(s.end).toBe(4);
        expect(s.calls("tool")).toHaveLength(4);
    });

    test("SD3: an answer that overdrew its budget is used once the budget is raised, and not paid for twice", () => {
        const answer: Answer = (effect) => (effect.kind === "model" ? reply({ a: "yes" }, 900) : ok(1));
        const s = new Subject(main(`spend 500 tokens { x = generate({ input: "q" }) -> { a: string }\nreturn x.a }`)).run(answer);
        expect(s.end).toMatch(/^limit\.tokens/);
        moved(s)
            .goOn({ raise: [{ account: "main/spend#0", meter: "tokens", amount: 5000 }] })
            .run(answer);
        expect(s.end).toBe("yes");
        expect(s.calls("model")).toHaveLength(1);
    });

    test("AC11: turns that were refused because the model did not report what they use are asked for once it does", () => {
        const body = 'parallel for n in [1, 2, 3, 4] max 4 { generate("a") }';
        const s = new Subject(main(body), { limits: { tokens: 50 }, concurrency: 1 }).run(() =>
            ok({ text: "a", value: "a", finish: "stop" }),
        );
        expect([s.end, s.calls("model").length]).toEqual([expect.stringMatching(/^limit\.tokens: .* does not say/), 1]);
        moved(s)
            .goOn({ raise: [{ account: "run", meter: "tokens", amount: 5000 }] })
            .run(() => reply("a"));
        expect([s.end, s.calls("model").length]).toEqual([["a", "a", "a", "a"], 4]);
    });

    test("COS2: what a turn cost that overdrew its budget is told, and is one turn once the budget is raised", () => {
        const run = new Subject(main(`spend 40 tokens { x = generate("a")  y = generate("b")  return [x, y] }`)).run(() => reply("hi", 25));
        const paid = (): Json => costOf(seal(run.events)).rows as unknown as Json;
        const told = { model: "M (anthropic://m)", answered: "m", where: "A.main[0]", turns: 1, input: 24, output: 1 };
        expect(paid()).toMatchObject([told, { ...told, where: "A.main[1]" }]);
        run.moved()
            .goOn({ raise: [{ account: "main/spend#0", meter: "tokens", amount: 5000 }] })
            .run(() => reply("hi", 25));
        expect(paid()).toMatchObject([told, { ...told, where: "A.main[1]" }]);
        expect(run.machine.usage.tokens).toBe(50);
    });

    test("a retry asks again for what failed, as the next attempt", () => {
        let isUp = false;
        const answer: Answer = (effect) => (effect.path.includes("#1") && !isUp ? down : ok(2));
        const s = new Subject(main(`a = T.get(1)\nb = T.get(2)\na + b`)).run(answer);
        expect(s.end).toBe("unreachable: down");
        isUp = true;
        moved(s).goOn({ retry: true }).run(answer);
        expect(s.end).toBe(4);
        expect(s.calls("tool")).toEqual(["main/T.get#0", "main/T.get#1", "main/T.get#1 ~2"]);
    });

    test("a retry of a model turn that failed, and of a generate whose attempts are used up", () => {
        let isUp = false;
        const s = new Subject(main(`generate({ input: "q" }) -> { a: string }`)).run((e) =>
            isUp ? reply({ a: "yes" }) : e.kind === "model" ? down : ok(1),
        );
        expect(s.end).toBe("unreachable: down");
        isUp = true;
        moved(s)
            .goOn({ retry: true })
            .run(() => reply({ a: "yes" }));
        expect(s.end).toEqual({ a: "yes" });
        const wrong = new Subject(main(`generate({ input: "q" }) -> { a: string }`)).run(() => reply({ b: 1 }));
        expect(wrong.end).toMatch(/^contract/);
        moved(wrong)
            .goOn({ retry: true })
            .run(() => reply({ a: "now" }));
        expect(wrong.end).toEqual({ a: "now" });
        expect(wrong.calls("model")).toEqual(["main/generate#0/attempt[0]", "main/generate#0/attempt[0] ~2"]);
    });

    test("an outcome that the owner of the run gives by hand is checked like any other and is not asked for", () => {
        const s = new Subject(main(`x = T.get(1)\ny = generate({ input: "q" }) -> { a: string }\n[x, y.a]`)).run((e) =>
            e.kind === "tool" ? ok(7) : down,
        );
        const [path] = s.calls("model") as [string];
        expect(() => s.goOn({ answer: ["main/T.get#0"] })).toThrow(
            expect.objectContaining({ message: "no effect at main/T.get#0 failed", hint: `these failed: ${path}` }),
        );
        moved(s).goOn({ answer: [path] });
        s.machine.resolve(path, reply({ a: 1 }));
        s.run(() => down);
        expect(s.end).toMatch(/^contract/);
        moved(s)
            .goOn({ retry: true })
            .run(() => reply({ a: "yes" }));
        expect(s.end).toEqual([7, "yes"]);
        expect(s.calls("tool")).toHaveLength(1);
    });

    test("PAR2: the rest runs where more iterations stop than may run at once", () => {
        const answer = (e: Effect): Outcome =>
            Number((e.request as { args?: Json[] }).args?.[0]) < 5 && e.attempt === undefined ? down : ok(1);
        const s = new Subject(main(`parallel for x in [1, 2, 3, 4, 5, 6] max 9 { T.get(x) }`), { concurrency: 2 }).run(answer);
        expect(s.end).toBe("unreachable: parallel for failed: [0, 1, 2, 3] down");
        expect(s.calls("tool")).toHaveLength(6);
        moved(s).goOn({ retry: true }).run(answer);
        expect(s.end).toEqual([1, 1, 1, 1, 1, 1]);
        expect(s.calls("tool")).toHaveLength(10);
    });

    test("PAR3: no iteration begins once enough have failed; made good, the rest begins", () => {
        const answer: Answer = (e) =>
            Number((e.request as { args?: Json[] }).args?.[0]) % 2 === 1 && e.attempt === undefined ? down : ok(1);
        const s = new Subject(main(`parallel for x in [1, 2, 3, 4, 5, 6, 7] max 9 stop after 2 failures { T.get(x) }`), {
            concurrency: 2,
        }).run(answer);
        expect(s.end).toBe("unreachable: parallel for failed, and 3 of 7 items were not begun: [0, 2] down");
        expect(s.calls("tool")).toHaveLength(4);
        moved(s).goOn({ retry: true }).run(answer);
        expect(s.end).toEqual([1, 1, 1, 1, 1, 1, 1]);
        expect(s.calls("tool")).toHaveLength(9);
    });

    test("SD1: siblings finish, and only what stopped is asked for again", () => {
        let isUp = false;
        const answer: Answer = (e) =>
            e.kind === "tool" && !isUp && (e.request as { args: Json[] }).args[0] === 2
                ? down
                : ok((e.request as { args: Json[] }).args[0] as Json);
        const s = new Subject(main(`parallel for x in [1, 2, 3, 2, 5] max 9 { T.get(x) }`), { concurrency: 2 }).run(answer);
        expect(s.end).toBe("unreachable: parallel for failed: [1, 3] down");
        isUp = true;
        moved(s).goOn({ retry: true }).run(answer);
        expect(s.end).toEqual([1, 2, 3, 2, 5]);
        expect(s.calls("tool")).toHaveLength(7);
        expect(s.events.filter((event) => event.kind === "parallel.ended")).toHaveLength(1);
    });

    test("the time of a region: what came back in it counts, and what did not is asked for again", () => {
        let first = true;
        const s = new Subject(main(`spend 5 s { return parallel for x in [1, 2] max 2 { T.get(x) } }`)).run((e) => {
            if (e.kind === "sleep") return first ? null : ok(null);
            if (!e.path.includes("[0]")) return null;
            first = false;
            return ok(1);
        });
        expect(s.end).toMatch(/^limit\.time/);
        moved(s)
            .goOn({ raise: [{ account: "main/spend#0", meter: "time", amount: 60_000 }], retry: true })
            .run(number);
        expect(s.end).toEqual([1, 1]);
        expect(s.calls("tool")).toEqual(["main/parallel[0]/T.get#0", "main/parallel[1]/T.get#0", "main/parallel[1]/T.get#0 ~2"]);
    });
});

describe("what is refused", () => {
    const stopped = (): Subject => new Subject(main(`spend 2 calls { repeat * 4 { T.get(1) } }`)).run(number);
    const refused = (s: Subject, how: GoOn): string => {
        const before = JSON.stringify(s.machine.save({ image: true }));
        try {
            s.goOn(how);
        } catch (error) {
            if (!(error instanceof Fail)) throw error;
            expect(JSON.stringify(s.machine.save({ image: true })).length).toBe(before.length);
            return `${error.message} / ${error.hint}`;
        }
        return "nothing";
    };

    test("an account that is not open, a meter that there is none of, no change, and a run that ended well", () => {
        expect(refused(stopped(), { raise: [{ account: "main/spend#7", meter: "calls", amount: 9 }] })).toBe(
            "the run has no open account 'main/spend#7' / its accounts are run, main/spend#0",
        );
        expect(refused(stopped(), { raise: [{ account: "run", meter: "words" as "calls", amount: 9 }] })).toMatch(
            /^there is no meter 'words' \/ the meters are/,
        );
        expect(refused(stopped(), {})).toBe("nothing of what stopped the run is changed by this / raise the limit that it names");
        expect(refused(new Subject(main(`raise "no"`)).run(number), { retry: true })).toBe(
            "nothing of what stopped the run is changed by this / no effect failed: the program itself did",
        );
        expect(refused(new Subject(main(`1`)).run(number), { retry: true })).toMatch(/^the run has not failed/);
    });
});

test("however a run is stopped by bounds and goes on, it ends as it would with bounds that suffice, and makes each call once", () => {
    const text = main(
        `n = 0\nspend 3 calls { for x in [1, 2, 3, 4] max 9 { n += T.get(x) } }\nys = parallel for x in [1, 2, 3] max 3 { spend 1 calls { [T.get(x), T.get(x)] } }\n[n, ys]`,
    );
    const free = new Subject(text.replace("spend 3", "spend 99").replace("spend 1", "spend 99")).run(number);
    fc.assert(
        fc.property(fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 3 })), { minLength: 1, maxLength: 12 }), (moves) => {
            const s = new Subject(text).run(number);
            for (let i = 0; s.machine.result?.ok === false && i < 40; i++) {
                const [isMoved, more] = moves[i % moves.length] as [boolean, number];
                if (isMoved) s.moved();
                const accounts = JSON.parse(JSON.stringify(s.machine.save({ image: true }))) as {
                    image: { accounts: { path: string; limits: { calls: number } }[] };
                };
                s.goOn({
                    raise: accounts.image.accounts.map(({ path, limits }) => ({
                        account: path,
                        meter: "calls",
                        amount: limits.calls + more,
                    })),
                }).run(number);
            }
            expect(s.end).toEqual(free.end);
            expect([...s.calls("tool")].sort()).toEqual([...free.calls("tool")].sort());
        }),
        { numRuns: 60 },
    );
});

test("an iteration that fails before it asks for anything takes no other with it", () => {
    const { events, result } = runText(`import tool Words from "http://example.test"
main agent A { main func(input) { parallel for x in [1, 2, 3] max 3 { if x == 1 { raise "no" }  Words.get({ x: x }) } } }`);
    expect(events.filter((e) => e.kind === "tool.started").map((e) => e.path)).toEqual([
        "main/parallel[1]/Words.get#0",
        "main/parallel[2]/Words.get#0",
    ]);
    expect(result).toMatchObject({ ok: false, failure: { message: "parallel for failed: [0] no" } });
});

test.each(["usd", "tokens"])("a bound of %s on a model that does not say what it used is not one to raise", (meter) => {
    const run = new Subject(main(`spend 5000 ${meter} { generate({ input: "Look." }) }`));
    run.run(() => ok({ text: "x", finish: "stop", model: "m" }, meter === "usd" ? { input: 1, output: 1 } : undefined));
    expect(run.end).toContain("cannot be kept");
    expect(run.machine.remedies.raise).toEqual([]);
});

test("turns that the program gives a generate are no bound that a run can raise", () => {
    const run = new Subject(main('generate({ input: "Look.", tools: [T.find], turns: 2 })'));
    const calls: Answer = ({ kind, path, request }) => {
        if (kind === "model") return ok({ text: "", finish: "stop", model: "m", calls: [{ id: path, name: "T_find", arguments: {} }] });
        const found = { methods: [{ name: "find", input: { type: "object" }, readOnly: true }] };
        return ok((request as { method?: string }).method === "find" ? 1 : found);
    };
    run.run(calls);
    expect(run.end).toBe("limit.turns: m still called tools after 2 turns");
    expect(run.machine.remedies.raise).toEqual([]);
    const raising = (): unknown => run.goOn({ raise: [{ account: "run", meter: "turns", amount: 20 }] });
    expect(raising).toThrow("nothing of what stopped the run is changed by this");
    expect(run.end).toBe("limit.turns: m still called tools after 2 turns");
});

test("abort as the answer about a model's call is the end: no run goes on with it", () => {
    const run = new Subject(
        main('generate({ input: "Look.", tools: [T.send] })').replace("func main", "remit { may M  ask T.send }\n func main"),
    );
    run.run(({ kind, path, request }) => {
        if (kind === "model") return ok({ text: "", finish: "stop", model: "m", calls: [{ id: path, name: "T_send", arguments: {} }] });
        if (kind === "ask") return { ok: true, value: "abort", origins: ["user"] };
        return (request as { op?: string }).op === "describe" ? ok({ methods: [{ name: "send", input: { type: "object" } }] }) : null;
    });
    expect(run.calls("ask")).toHaveLength(1);
    expect([run.end, run.machine.canGoOn]).toEqual(["cancelled: the run was ended at a question", false]);
});

test("what a tool has is told by the tool alone: a retry asks it again, and nobody gives it by hand", () => {
    const run = new Subject(main('generate({ input: "Look.", tools: [T.find] })'));
    const asked: string[] = [];
    let away = true;
    const found: Answer = ({ kind, path, request }) => {
        if (kind === "model") return ok({ text: "done", finish: "stop", model: "m" });
        if (away) asked.push(path);
        if (away) return { ok: false, failure: { kind: "tool", message: "its server is away" } };
        return (request as { op?: string }).op === "describe" ? ok({ methods: [{ name: "find", input: { type: "object" } }] }) : null;
    };
    run.run(found);
    expect([run.end, asked]).toEqual(["tool: its server is away", ["main/generate#0/describe[T]"]]);
    expect(run.machine.remedies).toEqual({ raise: [], retry: true, answer: [] });
    expect(() => run.goOn({ answer: asked })).toThrow("asks a tool what it has");
    away = false;
    run.goOn({ retry: true });
    run.run(found);
    expect(run.end).toBe("done");
});
