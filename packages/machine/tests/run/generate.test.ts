/** What a generate sees: GE6, AgentScript's rules of context (lazy, lexical, closed), and what it gives back. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, Message, ModelTurn, Outcome } from "../../src/index.ts";
import type { How } from "./forms.ts";
import { runText } from "./text.ts";

const HEAD = `
import llm M from "mock://m"
import llm N from "mock://n"
import tool T from "http://example.test"
`;

const reply = (value: Json): Outcome => ({
    ok: true,
    value: { text: JSON.stringify(value), value, finish: "stop", model: "m" },
    origins: ["model:M"],
    usage: { input: 10, output: 5, usd: 0.01 },
});

const turnOf = (e: Effect): ModelTurn => e.request as unknown as ModelTurn;
const textOf = (messages: readonly Message[]): string =>
    messages
        .flatMap((m) =>
            m.role === "user" ? m.content.map((p) => (p.type === "text" ? p.text : "[file]")) : m.role === "system" ? [m.content] : [],
        )
        .join("\n");

function prompts(source: string, how: How = {}): { prompts: string[]; ran: ReturnType<typeof runText> } {
    const answer =
        how.answer ??
        ((e: Effect): Outcome =>
            e.kind === "model" ? reply({ a: "yes" }) : { ok: true, value: { text: "tool text" }, origins: ["tool:T"] });
    const ran = runText(`${HEAD}${source}`, { ...how, answer });
    return { prompts: ran.effects.filter((e) => e.kind === "model").map((e) => textOf(turnOf(e).messages)), ran };
}

const agent = (inside: string, config = ""): string =>
    `main agent A {\n model M\n role "a tester"\n description "Tests."\n ${config}\n${inside}\n}`;
const ask = 'generate({ input: "Go" }) -> { a: string }';
const main = (statements: string): string => `main func(input) {\n${statements}\n}`;

describe("context", () => {
    test("identity, items outer to inner, instruction; value and labels", () => {
        const { prompts: p, ran } = prompts(agent(main(`x = T.get({})\nuse x.text as "from tool"\nuse "OWN TEXT" as note\n${ask}`)));
        expect(p).toHaveLength(1);
        for (const part of ["a tester", "Tests.", "from tool", "x.text", "tool text", "note", "OWN TEXT", "Go"])
            expect(p[0]).toContain(part);
        expect(p[0]?.indexOf("tool text")).toBeLessThan(p[0]?.indexOf("OWN TEXT") as number);
        expect(ran.result).toEqual({ ok: true, value: { a: "yes" }, origins: ["model:M", "tool:T"] });
        expect(ran.effects[1]).toMatchObject({ path: "main/generate#0/attempt[0]", kind: "model", labels: ["tool:T"] });
        expect(turnOf(ran.effects[1] as Effect)).toMatchObject({ label: "A.main[0]", model: { name: "M", uri: "mock://m" } });
        expect(ran.events.map((e) => e.kind)).toEqual(
            expect.arrayContaining(["use", "generate.started", "generate.attempt", "generate.ended"]),
        );
    });

    test("nothing that was not used is in a prompt", () => {
        const { prompts: p } = prompts(agent(main(`secret = "MARKER1"\nx = T.get({ q: "MARKER2" })\no = { k: "MARKER3" }\n${ask}`)), {
            options: { input: { q: "MARKER4" } },
        });
        expect(p[0]).not.toMatch(/MARKER|tool text/);
    });

    test("a use is evaluated when the generate runs, in the scope it stands in", () => {
        const { prompts: p } = prompts(
            agent(main(`xs = ["one"]\nuse xs as list\ny = "before"\nuse y as word\nif true { xs.add("two")\n y = "after"\n ${ask} }\n1`)),
        );
        expect(p[0]).toContain("two");
        expect(p[0]).toContain("after");
        expect(p[0]).not.toContain("before");
    });

    test("inner uses end with their block; loops do not pile them up", () => {
        const { prompts: p } = prompts(
            agent(
                main(
                    `use "outer" as o\nif true { use "inner" as i\n ${ask} }\nfor x in ["i1", "i2"] max 5 { use x as item\n ${ask} }\n${ask}`,
                ),
            ),
        );
        expect(p).toHaveLength(4);
        expect(p[0]).toMatch(/outer[\s\S]*inner/);
        expect(p[1]).toContain("i1");
        expect(p[2]).toContain("i2");
        expect(p[2]).not.toMatch(/i1|inner/);
        expect(p[3]).not.toMatch(/i1|i2|inner/);
    });

    test("a function sees the agent's uses and its own, never its caller's", () => {
        const { prompts: p } = prompts(
            agent(`func helper(x) { use x as given\n ${ask} }\n${main('use "callers" as c\nhelper("handed")')}`, 'use "agents own" as own'),
        );
        expect(p[0]).toMatch(/agents own[\s\S]*handed/);
        expect(p[0]).not.toContain("callers");
    });

    test("iterations of a parallel for see the uses around them", () => {
        const { prompts: p } = prompts(agent(main(`use "around" as a\nparallel for x in ["p1", "p2"] max 5 { use x as item\n ${ask} }`)));
        expect(p.map((t) => [t.includes("around"), t.includes("p1"), t.includes("p2")])).toEqual([
            [true, true, false],
            [true, false, true],
        ]);
    });

    test("model, role and description are overridden for the rest of a block", () => {
        const { ran, prompts: p } = prompts(agent(main(`if true { model N\n role "another"\n ${ask} }\n${ask}`)));
        expect(ran.effects.map((e) => turnOf(e).model.name)).toEqual(["N", "M"]);
        expect(p[0]).toContain("another");
        expect(p[1]).not.toContain("another");
    });

    test("use one of: first, selected, hint, empty", () => {
        const source = (selected: string) =>
            agent(main(`use one of {\n none: empty\n small: "SMALL"\n big: "BIG"${selected}\n} as evidence\n${ask}`));
        expect(prompts(source("")).prompts[0]).not.toMatch(/SMALL|BIG/);
        expect(prompts(source(" selected")).prompts[0]).toContain("BIG");
        const hinted = prompts(source(" selected"), { options: { variants: { "main.remit#A.main[evidence]": "small" } } });
        expect(hinted.prompts[0]).toContain("SMALL");
        expect(hinted.ran.events.find((e) => e.kind === "use")?.data).toMatchObject({
            label: "evidence",
            variant: {
                site_id: "main.remit#A.main[evidence]",
                picked: "small",
                available: ["none", "small", "big"],
                reason: "trial",
                empty: false,
            },
        });
        expect(prompts(source(""), { options: { variants: { "main.remit#A.main[evidence]": "x" } } }).ran.result).toMatchObject({
            ok: false,
            failure: { kind: "value" },
        });
    });

    test("a capability never reaches a prompt, whatever route it took", () => {
        for (const s of ["t = T\nuse t as x", "o = { a: [T] }\nuse o as x", "o = { a: [T] }\nuse o.a[0] as x"]) {
            const ran = runText(`${HEAD}${agent(main(`${s}\n${ask}`))}`, { unchecked: true, answer: () => reply({ a: "x" }) });
            expect(ran.result).toMatchObject({ ok: false, failure: { kind: "violation.capability" } });
            expect(ran.effects).toEqual([]);
        }
    });
});

describe("attempts, budgets, saving", () => {
    const wrongThenRight = (): ((e: Effect) => Outcome) => {
        let n = 0;
        return () =>
            n++ === 0
                ? {
                      ok: true,
                      value: { text: "no json", error: { kind: "not_json", message: "no" }, finish: "stop", model: "m" },
                      origins: ["model:M"],
                  }
                : reply({ a: "right" });
    };
    const twice = agent(main('generate({ input: "Go", attempts: 3 }) -> { a: string }'));

    test("a wrong answer is asked for again, also across a save", () => {
        for (const saving of [false, true]) {
            const { ran } = prompts(twice, { answer: wrongThenRight(), saving });
            expect(ran.effects.map((e) => e.path)).toEqual(["main/generate#0/attempt[0]", "main/generate#0/attempt[1]"]);
            expect(ran.result).toMatchObject({ ok: true, value: { a: "right" } });
        }
    });

    test("a failed generate can be caught", () => {
        const { ran } = prompts(agent(main(`x = try { ${ask} } catch e { e.kind }\nx`)), {
            answer: () => ({ ok: false, failure: { kind: "unreachable", message: "down" } }),
        });
        expect(ran.result).toMatchObject({ ok: true, value: "unreachable", origins: [] });
    });

    test("tokens used up: no further turn is asked for", () => {
        const { ran } = prompts(agent(main(`${ask}\n${ask}\n${ask}`)), {
            options: { limits: { tokens: 300 } },
            answer: () => ({ ...reply({ a: "yes" }), usage: { input: 140, output: 10 } }),
        });
        expect(ran.effects).toHaveLength(2);
        expect(ran.result).toMatchObject({
            ok: false,
            failure: { kind: "limit.tokens", detail: { spender: "user at main/generate#2/attempt[0]" } },
        });
    });

    test("a generate without a model says so", () => {
        const ran = runText(`main agent A { main func(input) { ${ask} } }`, { unchecked: true });
        expect(ran.result).toMatchObject({ ok: false, failure: { kind: "value", message: "generate needs a model" } });
    });
});
