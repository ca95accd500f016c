/** `at most 3`, `once by order_id` (LANGUAGE 5): counted in a run, of one thing, over all principals; what goes beyond is `denied`. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { Compiled, type Effect, Machine, type Outcome, refusalIn, refusalText, remedyOf } from "../../src/index.ts";
import { OPTIONS } from "../run/forms.ts";
import { type Asked, did, formOf, outcome, run, said, trying } from "./running.ts";

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

test("a part that was told nothing of the counts has none", () => {
    const alone = run(text("refund: at most 1", "may Pay", "Clerk.go(1)"), { options: { bindings: {} } });
    expect([sent(alone), outcome(alone)]).toEqual([0, "denied"]);
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
