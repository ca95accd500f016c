/** `at most 3`, `once by order_id` (LANGUAGE 5): counted in a run, of one thing, over all principals; what goes beyond is `denied`. */
import type { Json, Program } from "@remit/language";
import { describe, expect, test } from "vitest";
import { Compiled, type Effect, Machine, type Outcome, type RunRequest, refusalIn, refusalText, remedyOf } from "../../src/index.ts";
import { Standing } from "../../src/state/delegations.ts";
import { OPTIONS } from "../run/forms.ts";
import { type Asked, did, formOf, once, outcome, run, said, trying } from "./running.ts";

const reply = (calls: readonly Json[]): Outcome => {
    const about = { text: "", model: "m" };
    return said(calls.length > 0 ? { ...about, finish: "tool", calls: [...calls] } : { ...about, finish: "stop", value: "done" }, [
        "model:M",
    ]);
};

/** `remit`: of Clerk; `body`: of main. */
const text = (clauses: string, remit: string, body: string): string => `
import tool Pay from "mcp://pay"${clauses === "" ? "" : ` { ${clauses} }`}
agent Clerk {
    remit { ${remit} }
    func go(x) { Pay.refund({ order_id: x, amount: 1 }) }
    func twice(x) { Pay.refund({ order_id: x })  Pay.refund({ order_id: x }) }
    func use(pay, x) { pay.refund({ order_id: x }) }
}
agent Other {
    remit { may Pay }
    func go(x) { Pay.refund({ order_id: x }) }
    func find() { Pay.find({}) }
}
main agent Main { main func() { ${body} } }
`;
const go = (clauses: string, remit: string, body: string, more: Asked = {}) => run(text(clauses, remit, body), more);
const sent = (ran: ReturnType<typeof go>): number => did(ran).filter((one) => one === "Pay.refund").length;
const BY = "may Pay.refund once by order_id";

describe("at most", () => {
    test.each([
        ["at the import, over principals", "refund: at most 2", "may Pay", 'Clerk.go("a")  Other.go("b")  Pay.refund({})', 2, "denied"],
        [
            "uses of other methods do not count",
            "refund: at most 1",
            "may Pay",
            'Other.find()  Other.find()  Clerk.go("a")',
            1,
            { did: "Pay.refund" },
        ],
        ["in a remit, what others used counts", "", "may Pay.refund at most 1", 'Other.go("a")  Clerk.go("b")', 1, "denied"],
        [
            "a principal without the line is not bound",
            "",
            "may Pay.refund at most 1",
            'Clerk.go("a")  Other.go("b")',
            2,
            { did: "Pay.refund" },
        ],
        ["all methods of a thing", "", "may Pay at most 1", 'Other.find()  Clerk.go("a")', 0, "denied"],
        ["the stricter of two", "refund: at most 3", "may Pay.refund at most 1", 'Clerk.go("a")  Clerk.go("b")', 1, "denied"],
        [
            "within its own bounds",
            "",
            "may Pay.refund in amount: 0..5 at most 1",
            'Pay.refund({ amount: 9 })  Clerk.go("a")',
            2,
            { did: "Pay.refund" },
        ],
        [
            "what may lie within them counts",
            "",
            "may Pay.refund in amount: 0..5 at most 1",
            'Pay.refund({ amount: "1" })  Clerk.go("a")',
            1,
            "denied",
        ],
        ["through an argument", "", "may Pay.refund at most 1", "Clerk.use(Pay, 1)  Clerk.go(2)", 1, "denied"],
        [
            "what was passed keeps its giver's count",
            "refund: at most 1",
            "may Pay",
            "Clerk.use(Pay.only(refund), 1)  Clerk.use(Pay, 2)",
            1,
            "denied",
        ],
        ["in a delegation", "refund: at most 1", "may Pay.find", "delegate Pay.refund to Clerk { Clerk.go(1)  Clerk.go(2) }", 1, "denied"],
        [
            "the generic call of the server is the method",
            "refund: at most 1",
            "may Pay",
            'Pay.call({ tool: "refund", args: {} })  Clerk.go(1)',
            0,
            "denied",
        ],
        ["in an iteration of a loop", "refund: at most 3", "may Pay", "for x in [1, 2, 3, 4] max 9 { Clerk.go(x) }", 3, "denied"],
        ["side by side", "refund: at most 3", "may Pay", "parallel for x in [1, 2, 3, 4, 5] max 9 { Clerk.go(x) }", 3, "denied"],
        ["under other names of the thing", "refund: at most 1", "may Pay", "p = Pay  p.refund({})  Pay.refund({})", 1, "denied"],
    ])("%s", (_, clauses, remit, body, times, gives) => {
        const ran = go(clauses, remit, body);
        expect([sent(ran), outcome(ran)]).toEqual([times, gives]);
    });

    test("beyond it is a failure that the code itself can catch, and no question", () => {
        const ran = go("refund: at most 1, refund: ask", "may Pay", `Clerk.go("a")  x = ${trying('Clerk.go("b")')}  x`, { yes: "once" });
        expect([sent(ran), outcome(ran), ran.effects.filter((e) => e.kind === "ask").length]).toEqual([1, "denied", 1]);
    });

    test("a yes for the session is none for more", () => {
        const ran = go("refund: at most 2, refund: ask", "may Pay", "for x in [1, 2, 3] max 9 { Clerk.go(x) }", { yes: "session" });
        expect([sent(ran), outcome(ran)]).toEqual([2, "denied"]);
    });

    test("what fails may have happened and counts; what was denied did not", () => {
        for (const [kind, times] of [
            ["tool", 1],
            ["unreachable", 1],
            ["denied", 2],
        ] as const) {
            const answer = (e: Effect): Outcome | undefined =>
                (e.request as { method?: string }).method === "refund" ? { ok: false, failure: { kind, message: "no" } } : undefined;
            const ran = go("refund: at most 1", "may Pay", `x = ${trying("Clerk.go(1)")}  y = ${trying("Clerk.go(1)")}  y`, { answer });
            expect([kind, sent(ran)]).toEqual([kind, times]);
        }
    });

    test("code that may not even use it is refused as before", () => {
        expect(outcome(go("refund: at most 1", "may Pay.find", "Clerk.go(1)"))).toBe("violation.remit");
    });

    test("a refusal names the count, the uses, the line and what more would open", () => {
        const { events } = go("", "may Pay.refund at most 1", 'Clerk.go("a")  Clerk.go("b")');
        const refusal = refusalIn(events.find(({ kind }) => kind === "policy.denied")?.data);
        if (refusal === null) throw new Error("no refusal");
        expect(refusalText(refusal)).toBe("Pay.refund was used once in this run, and the rule is `at most 1` (main.remit:4)");
        expect(remedyOf(refusal)).toBe(
            "write `at most 2` in place of `at most 1` where more are right: every principal of the run may then use it once more",
        );
    });

    test("a project's policy counts too", () => {
        const policy = { clauses: { Pay: [{ kind: "count", method: "refund", counts: [{ most: 1 }] }] } } as const;
        const ran = go("", "may Pay", 'Clerk.go("a")  Clerk.go("b")', { options: { policy } });
        expect([sent(ran), outcome(ran)]).toEqual([1, "denied"]);
    });

    test("memories are counted by method", () => {
        const ran = run(`
import memory Notes from "sqlite:n" { add: at most 1 }
main agent Main { main func() { Notes.query({})  Notes.query({})  Notes.add({ a: 1 })  Notes.add({ a: 2 }) } }
`);
        expect([did(ran), outcome(ran)]).toEqual([["Notes recall", "Notes recall", "Notes remember"], "denied"]);
    });
});

describe("once by", () => {
    test.each([
        ["one use for each value", BY, 'Clerk.go("a")  Clerk.go("b")', 2, { did: "Pay.refund" }],
        ["the same value again", BY, 'Clerk.go("a")  Clerk.go("a")', 1, "denied"],
        ["within one function", BY, 'Clerk.twice("a")', 1, "denied"],
        ["what others used counts", BY, 'Pay.refund({ order_id: "a" })  Clerk.go("a")', 1, "denied"],
        ["keys are JSON: a number is no text", BY, 'Clerk.go("1")  Clerk.go(1)', 2, { did: "Pay.refund" }],
        ["the order of keys tells nothing apart", BY, "Clerk.go({ a: 1, b: 2 })  Clerk.go({ b: 2, a: 1 })", 1, "denied"],
        ["none is no value", BY, "Clerk.go(none)", 0, "denied"],
    ])("%s", (_, remit, body, times, gives) => {
        const ran = go("", remit, body);
        expect([sent(ran), outcome(ran)]).toEqual([times, gives]);
    });

    test.each([
        "Pay.refund({})",
        'Pay.refund("a")',
        'Pay.refund("a", 1)',
        'Pay.refund({ orderId: "a" })',
        'Pay.refund([{ order_id: "a" }])',
    ])("%s: uses that cannot be told apart are refused", (use) => {
        const ran = go("refund: once by order_id", "may Pay", use);
        expect([sent(ran), outcome(ran)]).toEqual([0, "denied"]);
    });

    test("by place", () => {
        const ran = go("refund: once by 1", "may Pay", 'Pay.refund("a", 1)  Pay.refund("b", 1)  Pay.refund("a", 2)');
        expect([sent(ran), outcome(ran)]).toEqual([2, "denied"]);
    });

    test("another name for the argument takes only what is trusted", () => {
        const ran = run(
            `
import tool Web from "https://pages.test"
import tool Pay from "mcp://pay" { refund: once by order_id }
main agent Main { main func() { Pay.refund({ order_id: "a", ref: Web.get({ url: "/" }) }) } }
`,
            {
                answer: (e) =>
                    e.kind === "tool" && (e.request as { op?: string }).op === "describe"
                        ? said({ methods: [{ name: "refund", input: { type: "object" } }] }, [])
                        : undefined,
            },
        );
        expect(outcome(ran)).toBe("violation.flow");
    });
});

describe("calls that a model chose", () => {
    const program = (gate: string): string => `
import llm M from "openai://m"
import tool Pay from "mcp://pay" { refund: at most 2, refund: once by order_id${gate} }
main agent Main { model M  role "r"  description "d"  main func() { generate({ input: "go", tools: [Pay.refund] }) } }
`;
    const wants = (...ids: string[]): Outcome => reply(ids.map((id, at) => ({ id: `c${at}`, name: "Pay_refund", args: { order_id: id } })));
    const playing = (turns: readonly Outcome[]) => {
        const left = [...turns];
        return (e: Effect): Outcome | undefined => (e.kind === "model" ? (left.shift() ?? reply([])) : undefined);
    };

    test.each([
        ["several in one turn", ", refund: may", ["a", "b", "c"], 2],
        ["the same twice in one turn", ", refund: may", ["a", "a"], 1],
        ["asked about together", ", refund: ask", ["a", "b", "c"], 2],
    ])("%s", (_, gate, ids, times) => {
        const left = [wants(...ids)];
        const ran = run(program(gate), {
            yes: "once",
            answer: (e) => (e.kind === "model" ? playing(e.path.includes("turn[") ? [] : left)(e) : undefined),
        });
        expect(sent(ran)).toBe(times);
        const shown = JSON.stringify(ran.effects.filter((e) => e.kind === "model").at(-1)?.request);
        expect(shown).toContain("was used");
    });
});

describe("per day", () => {
    const daily = (e: Effect | undefined): Json => (e?.request as { daily?: Json } | undefined)?.daily ?? null;
    const calls = (ran: ReturnType<typeof go>): Effect[] =>
        ran.effects.filter((e) => (e.request as { method?: string }).method === "refund");

    test("the call says what it counts for, whoever makes it, and the rule that binds it", () => {
        const ran = go(
            "",
            "may Pay.refund in amount: 0..5 at most 2 per day at most 9",
            "Pay.refund({ amount: 9 })  Pay.refund({ amount: 1 })  Clerk.go(1)",
        );
        const counter = expect.stringContaining("mcp://pay");
        expect(calls(ran).map(daily)).toEqual([null, [{ counter }], [{ counter, most: 2, rule: "`at most 2 per day` (main.remit:4)" }]]);
    });

    test("with a yes, and in a generate", () => {
        const asked = go("refund: ask, refund: at most 2 per day", "may Pay", "Clerk.go(1)", { yes: "once" });
        expect(daily(calls(asked)[0])).toMatchObject([{ most: 2 }]);
        for (const gate of ["ask", "may"]) {
            const source = `
import llm M from "openai://m"
import tool Pay from "mcp://pay" { refund: ${gate}, refund: at most 2 per day }
main agent Main { model M  role "r"  description "d"  main func() { generate({ input: "go", tools: [Pay.refund] }) } }
`;
            const ran = run(source, {
                yes: "once",
                answer: (e) =>
                    e.kind === "model" ? reply(e.path.includes("turn[") ? [] : [{ id: "c", name: "Pay_refund", args: {} }]) : undefined,
            });
            expect(daily(calls(ran)[0])).toMatchObject([{ most: 2 }]);
        }
    });

    test("a memory", () => {
        const ran = run(`
import memory Notes from "sqlite:n" { add: at most 1 per day }
main agent Main { main func() { Notes.query({})  Notes.add({ a: 1 }) } }
`);
        expect(ran.effects.map(daily)).toMatchObject([null, [{ most: 1 }]]);
    });
});

test("a call that was refused behind its request, as by a redirect, has happened", () => {
    const refused = (detail: Json): number => {
        const answer = (e: Effect): Outcome | undefined =>
            (e.request as { method?: string }).method === "refund"
                ? { ok: false, failure: { kind: "denied", message: "no", ...(detail === null ? {} : { detail }) } }
                : undefined;
        const tries = ["a", "b", "c"].map((name) => `${name} = ${trying("Clerk.go(1)")}`).join("\n");
        return sent(go("refund: at most 1", "may Pay", tries, { answer }));
    };
    expect([refused({ made: true }), refused({ other: 1 })]).toEqual([1, 3]);
});

describe("a part that runs elsewhere", () => {
    const blocks = (body: string): string => `
import tool Pay from "mcp://pay" { refund: at most 2 }
func pay(x) { Pay.refund({ order_id: x })  x }
func safely(x) { got = try { Pay.refund({ order_id: x })  x } catch e { e.kind }  got }
${body}
`;
    /** Carries out parts as runs of their own, as a host does. `made`: what was used in parts; `lost`: their outcomes do not come back whole. */
    const within = (form: Program, made: Effect[], lost = false) => {
        const answer = (e: Effect): Outcome | undefined => {
            if (e.kind === "ask") return said("once", ["user"]);
            if (e.kind !== "run") return undefined;
            const { entry, path, input, bindings, uses, backend } = e.request as unknown as RunRequest;
            const options = { entry, path, bindings, backend, input: input.json, ...(uses === undefined ? {} : { uses }) };
            const part = once(form, { options, answer });
            made.push(...part.effects.filter((one) => (one.request as { method?: string }).method === "refund"));
            const { uses: used } = (part.events.at(-1) as { data: Json }).data as { uses?: NonNullable<RunRequest["uses"]> };
            const came = lost || used === undefined ? {} : { uses: used };
            return part.result.ok
                ? { ok: true, value: part.result.value, origins: [], ...came }
                : { ok: false, failure: part.result.failure, ...came };
        };
        return answer;
    };
    const ran = (body: string, lost = false) => {
        const form = formOf(blocks(body));
        const made: Effect[] = [];
        const all = run(blocks(body), { options: { input: "a" }, answer: within(form, made, lost) });
        // The run is repeated in every way of saving it: one of them is looked at.
        made.length = 0;
        once(form, { options: { input: "a" }, answer: within(form, made, lost) });
        return { outcome: outcome(all), here: sent(all), there: made.length };
    };
    test.each([
        ["has what was used before", "memory static ( pay >=> pay >=> temporal static ( safely ) )", 2, 0, "denied"],
        ["gives back what it used", "memory static ( temporal static ( pay >=> pay ) >=> safely )", 0, 2, "denied"],
        ["counts in parts of its own", "memory static ( temporal static ( memory static ( pay ) >=> pay ) >=> safely )", 0, 2, "denied"],
        ["leaves what is not used", "memory static ( temporal static ( pay ) >=> pay )", 1, 1, "a"],
    ])("%s", (_what, body, here, there, value) => {
        const found = ran(body);
        expect([found.here, found.there]).toEqual([here, there]);
        expect(found.outcome).toEqual(value);
    });

    test("what can use nothing that is counted has no counts, and runs beside one that has", () => {
        const begun = (branch: string): (boolean | undefined)[] => {
            const more =
                'func echo(x) { x }\nfunc named(x) { act("Pay.refund", { order_id: x }) }\nfunc held(x) { f = Pay  f.refund({ order_id: x }) }\n';
            const form = formOf(blocks(`${more}memory static ( temporal static ( pay ) <*> temporal static ( ${branch} ) )`));
            const machine = Machine.start(new Compiled(form), { ...OPTIONS, input: "a", limits: {} });
            return machine.advance().effects.map(({ request }) => (request as { uses?: Json }).uses !== undefined);
        };
        expect(begun("echo")).toEqual([true, false]);
        for (const one of ["pay", "named", "held"]) expect([one, begun(one)]).toEqual([one, [true]]);
    });

    test.each([
        ["within what is left", "memory static ( temporal static ( pay ) <*> pay )", 1, 1, ["a", "a"]],
        ["beyond it", "memory static ( temporal static ( pay >=> pay ) <*> safely )", 0, 2, ["a", "denied"]],
        ["inside a part", "temporal static ( temporal static ( pay ) <*> pay )", 0, 2, ["a", "a"]],
        [
            "inside a part beside another",
            "memory static ( temporal static ( temporal static ( pay ) <*> safely ) <*> safely )",
            0,
            2,
            [["a", "a"], "denied"],
        ],
    ])("COU5: what is used beside it waits for the counts: %s", (_what, body, here, there, value) => {
        expect(ran(body)).toEqual({ here, there, outcome: value });
    });

    test("COU5: what waits ends with the block where the part fails", () => {
        const fails = (x: string): string =>
            `func fails(x) { pay(x)  raise "broken" }\nmemory static ( temporal static ( fails ) <*> ${x} )`;
        for (const branch of ["pay", "safely"]) expect([branch, ran(fails(branch)).outcome]).toEqual([branch, "raised"]);
    });

    test("COU5: what waits is refused where the part does not bring the counts back", () => {
        expect(ran("memory static ( temporal static ( pay ) <*> safely )", true)).toEqual({ outcome: ["a", "denied"], here: 0, there: 1 });
    });

    test("COU5: a use that waits ends with the time of what is around it", () => {
        const bounded = "func bounded(x) { got = try { spend 1 min { Pay.refund({ order_id: x })  x } } catch e { e.kind }  got }";
        const form = formOf(blocks(`${bounded}\nmemory static ( temporal static ( pay ) <*> bounded )`));
        const machine = Machine.start(new Compiled(form), { ...OPTIONS, input: "a", limits: {} });
        const told = (kind: string, value: Json, uses?: NonNullable<RunRequest["uses"]>): ReturnType<Machine["advance"]> => {
            const path = machine.pending.find((one) => one.kind === kind)?.path as string;
            expect(machine.resolve(path, { ...said(value, []), ...(uses === undefined ? {} : { uses }) })).toBe(true);
            return machine.advance();
        };
        machine.advance();
        told("tool", { methods: [{ name: "refund", input: { type: "object", properties: { order_id: {} } } }] });
        expect(machine.pending.map(({ kind }) => kind)).toEqual(["run", "sleep"]);
        told("sleep", null);
        expect(told("run", "a", [])).toMatchObject({ state: "done", result: { ok: true, value: ["a", "limit.time"] } });
    });

    describe("COU5: a call that a model makes in its turn waits for the counts", () => {
        const MODEL = `import llm M from "openai://m"
agent Clerk { model M  role "r"  description "d"  func turn(x) { generate({ input: x, tools: [Pay.refund] }) } }
func turn(x) { Clerk.turn(x) }
func find(x) { Pay.find({})  x }
func bounded(x) { got = try { spend 1 min { Clerk.turn(x) } } catch e { e.kind }  got }
func fails(x) { pay(x)  raise "broken" }
`;
        const FIRST = ["model", "tool", "sleep", "ask", "run"];
        const isRefund = (e: Effect): boolean => (e.request as { method?: string }).method === "refund";
        /** What is pending longest of the first of the kinds has its outcome first: a part has its own last. */
        const turned = (body: string, { lost = false, gate = "may", first = FIRST } = {}) => {
            const source = blocks(`${MODEL}${body}`).replace("at most 2", `at most 2, refund: ${gate}`);
            const parts = within(formOf(source), [], lost);
            const ran = run(source, {
                options: { input: "a" },
                pick: (all) => first.map((kind) => all.findIndex((e) => e.kind === kind)).find((at) => at >= 0) ?? 0,
                answer: (e) => {
                    if (e.kind !== "model") return parts(e);
                    return reply(e.path.includes("turn[") ? [] : [{ id: "c", name: "Pay_refund", args: { order_id: "m" } }]);
                },
            });
            const read = ran.effects.filter((e) => e.kind === "model").map((e) => JSON.stringify(e.request));
            const told = ["was used 2 times", "has the counts"].filter((words) => read.at(-1)?.includes(words));
            return { here: ran.effects.filter(isRefund).length, told, outcome: outcome(ran) };
        };

        test.each([
            ["within what is left", "memory static ( temporal static ( pay ) <*> turn )", {}, 1, [], ["a", "done"]],
            ["beyond it", "memory static ( temporal static ( pay >=> pay ) <*> turn )", {}, 0, ["was used 2 times"], ["a", "done"]],
            [
                "beside a use of the program",
                "memory static ( temporal static ( pay ) <*> turn <*> safely )",
                {},
                1,
                [],
                ["a", "done", "denied"],
            ],
            ["once it was asked about", "memory static ( temporal static ( pay ) <*> turn )", { gate: "ask" }, 1, [], ["a", "done"]],
            [
                "where the part began while a person was asked",
                "memory static ( find >=> temporal static ( pay ) <*> turn )",
                { gate: "ask", first: ["model", "tool", "ask", "run"] },
                1,
                [],
                ["a", "done"],
            ],
            [
                "that do not come back",
                "memory static ( temporal static ( pay ) <*> turn )",
                { lost: true },
                0,
                ["has the counts"],
                ["a", "done"],
            ],
            ["until the part fails", "memory static ( temporal static ( fails ) <*> turn )", {}, 0, [], "raised"],
            [
                "until the time is up of what is around it",
                "memory static ( temporal static ( pay ) <*> bounded )",
                {},
                0,
                [],
                ["a", "limit.time"],
            ],
        ])("%s", (_what, body, how, here, told, value) => {
            expect(turned(body, how)).toEqual({ here, told, outcome: value });
        });
    });

    test("two at once do not use the same count, and nothing is used beside one", () => {
        expect(ran("memory static ( temporal static ( pay >=> safely ) <*> temporal static ( safely >=> safely ) )")).toMatchObject({
            there: 2,
        });
        expect(ran("memory static ( temporal static ( pay >=> pay ) <*> safely )")).toMatchObject({ here: 0, there: 2 });
    });

    test("what a part used that nothing tells of stays used", () => {
        expect(ran("memory static ( temporal static ( pay ) >=> safely )", true)).toEqual({ outcome: "denied", here: 0, there: 1 });
    });

    test("one that failed and may go on keeps the counts, and what it used is counted once", () => {
        const standing = new Standing();
        standing.count(["refund"], 1);
        expect(standing.lend("main/block#0")).toEqual([["refund", 1]]);
        expect(standing.lend("main/block#1")).toBeNull();
        standing.cameBack("main/block#0", [["refund", 2]]);
        standing.keepsCounts("main/block#0");
        expect([standing.isAway, standing.uses.get("refund")]).toEqual([true, 3]);
        const again = new Standing();
        again.restore(JSON.parse(JSON.stringify(standing.doc())));
        again.lend("main/block#0");
        again.cameBack("main/block#0", [["refund", 4]]);
        expect([again.isAway, again.uses.get("refund")]).toEqual([false, 5]);
    });

    test("one that was told nothing of the counts has none", () => {
        const alone = run(text("refund: at most 1", "may Pay", "Clerk.go(1)"), { options: { bindings: {} } });
        expect([sent(alone), outcome(alone)]).toEqual([0, "denied"]);
    });
});

test("a run that is saved while a use is open does not forget it, and what goes on from there counts on", () => {
    const form = formOf(text("refund: at most 1", "may Pay", "Clerk.go(1)  Clerk.go(2)"));
    const here = new Compiled(form);
    const machine = Machine.start(here, OPTIONS);
    let step = machine.advance();
    while (step.state === "slice") step = machine.advance();
    if (step.effects.some((e) => (e.request as { op?: string }).op === "describe")) {
        machine.resolve(
            step.effects[0]?.path as string,
            said({ methods: [{ name: "refund", input: { type: "object", properties: { order_id: {} } } }] }, []),
        );
        step = machine.advance();
    }
    const saved = JSON.parse(JSON.stringify((machine.save() as { image?: Json }).image)) as Json;
    // Two processes that go on from one state: a fork counts for itself, and neither forgets what was open.
    for (const _ of [1, 2]) {
        const again = Machine.load(new Compiled(form), OPTIONS, [saved]);
        again.resolve(step.effects[0]?.path as string, said(1, ["tool:Pay"]));
        let next = again.advance();
        while (next.state === "slice") next = again.advance();
        expect(next).toMatchObject({ state: "done", result: { ok: false, failure: { kind: "denied" } } });
    }
});
