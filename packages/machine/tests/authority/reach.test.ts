/** Where a call may lead, as the one who performs it is told (DC5): what a row allows, and what others forbid or would have asked about. */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import type { Effect, ModelTurn, Outcome, ToolRequest } from "../../src/index.ts";
import { outcome, run, said, trying } from "./running.ts";

const text = (remit: string, body: string, more = "", main = "Fixer.go()"): string => `
import tool Repo from "file://workspace"
import tool Web from "https://api.example.com/"
import tool Mail from "mcp://mail"
import llm Own from "openai://own"
agent Fixer {
    remit { ${remit} }
    model Own
    role "r"
    description "d"
    func go() { ${body} }
    ${more}
}
main agent Main { main func() { ${main} } }
`;

/** `within` and `without` of every tool call. */
const reached = (ran: { readonly effects: readonly Effect[] }): Json =>
    ran.effects
        .map((e) => e.request as unknown as ToolRequest)
        .filter((r) => r.op === "call")
        .map(({ within, without }) => [within ?? null, without ?? null]) as unknown as Json;

test.each<[string, string, string, Json]>([
    ["nothing said", "may Repo", 'Repo.read({ path: "a" })', [null, null]],
    ["forbidden elsewhere", 'may Repo  never Repo in "secret/**"', 'Repo.read({ path: "a" })', [null, [[["secret/**"]]]]],
    ["of another method", 'may Repo  never Repo.write in "secret/**"', 'Repo.read({ path: "a" })', [null, null]],
    ["asked about elsewhere", 'may Repo  ask Repo.read in "secret/**"', 'Repo.read({ path: "a" })', [null, [[["secret/**"]]]]],
    ["asked about here", 'may Repo  ask Repo.read in "secret/**"', 'Repo.read({ path: "secret/a" })', [[["secret/**"]], null]],
    ["two patterns", 'may Repo in "src/**"  never Repo in "a", "b"', 'Repo.read({ path: "src/a" })', [[["src/**"]], [[["a", "b"]]]]],
    [
        "two bounds, both of which forbid",
        'may Repo  never Repo in "a/*" in "*/b"',
        'Repo.read({ path: "c" })',
        [null, [[["a/*"], ["*/b"]]]],
    ],
    [
        "with another argument, which fits",
        'may Repo  never Repo.write in "src/**" in content: "x"',
        'Repo.write({ path: "a", content: "x" })',
        [null, [[["src/**"]]]],
    ],
    [
        "with another argument, which does not",
        'may Repo  never Repo.write in "src/**" in content: "x"',
        'Repo.write({ path: "a", content: "y" })',
        [null, null],
    ],
    ["a URL", 'may Web  never Web in "/private/**"', 'Web.get({ url: "/a" })', [null, [[["https://api.example.com/private/**"]]]]],
    ["nothing that links lead to", 'may Mail  never Mail in to: "*@evil.test"', 'Mail.send({ to: "a" })', [null, null]],
])("%s", (_name, remit, body, expected) => {
    const ran = run(text(remit, body), { yes: "once" });
    expect(ran.result).toMatchObject({ ok: true });
    expect(reached(ran)).toEqual([expected]);
});

test.each([
    ['never Repo in "secret/**"', 'Repo.read({ path: "/secret/a" })'],
    ['never Repo in "secret/**"', 'Repo.read({ path: "x\\\\..\\\\secret" })'],
    ['never Web in "/private/**"', 'Web.get({ url: "/%2e/private" })'],
    ['never Web in "/private/**"', 'Web.get({ url: "/%70rivate/x" })'],
])("%s covers %s", (remit, body) => {
    const ran = run(text(`may all  ${remit}`, body, "", trying("Fixer.go()")));
    expect(outcome(ran)).toBe("violation.remit");
    expect(reached(ran)).toEqual([]);
});

test("what was delegated, and what was handed over, is bound as its giver is", () => {
    const giver = `func give() { delegate Repo to Helper { Helper.go(Repo.only(read)) } }`;
    const helper = `agent Helper { remit {} func go(r) { [r.read({ path: "a" }), Repo.read({ path: "a" })] } }`;
    const ran = run(`${text('may Repo, Helper  never Repo.read in "secret/**"', "1", giver, "Fixer.give()")}\n${helper}`);
    expect(ran.result).toMatchObject({ ok: true });
    expect(reached(ran)).toEqual([
        [null, [[["secret/**"]]]],
        [null, [[["secret/**"]]]],
    ]);
});

test.each(["may", "ask"])("what a model calls, where its use is %s", (gate) => {
    const answer = (e: Effect): Outcome | undefined => {
        if ((e.request as { op?: string }).op === "describe")
            return said(
                { methods: [{ name: "read", input: { type: "object", properties: { path: { type: "string" } } }, readOnly: true }] },
                ["tool:Repo"],
            );
        if (e.kind !== "model") return undefined;
        const { messages, tools } = e.request as unknown as ModelTurn;
        const calls = messages.some((one) => one.role === "tool") ? [] : [{ id: "1", name: tools?.[0]?.name ?? "", args: { path: "a" } }];
        return said({ text: "x", value: "x", calls, finish: calls.length === 0 ? "stop" : "tool", model: "m" }, ["model:Own"]);
    };
    const body = 'generate({ input: "x", tools: [Repo] })';
    const ran = run(text(`${gate} Repo in "a", "b/**"  never Repo in "secret/**"`, body), { answer, yes: "once" });
    expect(ran.effects.filter((e) => e.kind === "ask").length).toBe(gate === "ask" ? 1 : 0);
    expect(reached(ran)).toEqual([[[["a", "b/**"]], [[["secret/**"]]]]]);
});
