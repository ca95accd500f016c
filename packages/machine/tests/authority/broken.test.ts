/** BRK1: a violation of a rule of the language itself is told like one that a gate refuses: one event, with the record that the failure holds. */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { type Refusal, refusalIn, refusalText } from "../../src/index.ts";
import { answer, run as handed, withFixer } from "../run/handing.ts";
import { run, said } from "./running.ts";

const TOOLS = 'import tool Web from "https://api.example.com"\nimport tool Mail from "mcp://mail"\n';
const web = (e: { readonly request: Json }) =>
    (e.request as { tool?: string }).tool === "Web" ? said({ s: "1" }, ["tool:Web"]) : undefined;
const CHANGE = 's = Web.get({ url: "/" }).s  a = [1]  b = [2]  one = if s == "1" { a } else { b }  one[0] = 3';
const main = (body: string): string => `main agent Main { main func(input) { ${body} } }\n`;

const told = (text: string): { readonly kind: string; readonly detail: Json; readonly all: readonly Refusal[]; readonly says: string } => {
    const { result, events } = run(text, { answer: web });
    if (result.ok) throw new Error("it did not fail");
    const all = events.flatMap((e) => (e.kind === "policy.denied" ? (refusalIn(e.data as Json) ?? []) : []));
    const { kind, detail = null, message } = result.failure;
    return { kind, detail, all, says: message };
};

test.each([
    [
        "a list that strict code may not change",
        `flow strict\n${TOOLS}${main(CHANGE)}`,
        {
            why: "change",
            capability: "list",
            principal: "user",
            clause: null,
            flow: { arg: "list", origins: ["tool:Web"], rule: "flow strict" },
        },
    ],
    [
        "of an agent whose remit says so, with the line of the remit",
        `${TOOLS}agent F {\n remit {\n flow strict\n may Web }\n func go() { ${CHANGE} } }\n${main("F.go()")}`,
        { why: "change", capability: "list", clause: { file: "main.remit", line: 4 } },
    ],
    ["a capability made a text", TOOLS + main('"a" + Mail'), { why: "data", capability: "Mail", principal: "user" }],
    ["a capability that is changed", TOOLS + main("m = Mail  m.x = 1"), { why: "data", capability: "Mail" }],
    ["a capability as the run's result", TOOLS + main("Mail"), { why: "data", capability: "Mail" }],
    ["a capability as a condition of a lambda", TOOLS + main("[Mail].map((x) => json.text(x))"), { why: "data", capability: "Mail" }],
    [
        "a function of another holder",
        `${TOOLS}func f() { 1 }\nagent F { remit { } func go(g) { [g] } }\nagent G { remit { may F } func go(g) { h = F.go(g)  h[0]() } }\n${main("G.go(f)")}`,
        { why: "holder", capability: "f" },
    ],
] as [string, string, { [key: string]: Json }][])("%s", (_what, text, record) => {
    const { kind, all, detail, says } = told(text);
    expect(all).toMatchObject([record]);
    const { principal: _, flow, ...rest } = record;
    expect(detail).toMatchObject({ ...rest, ...(flow as object | undefined) });
    expect(kind).toMatch(/^violation\./);
    if (record.why !== "data") expect(refusalText(all[0] as Refusal)).toBe(says);
});

test("one that the code around it catches is told once, with what it depends on", () => {
    const agent = `${TOOLS}agent F { remit { flow strict  may Web } func go() { ${CHANGE} } }\n`;
    const { events, result } = run(agent + main("(try { F.go() } catch e { [e.kind, e.detail.why] })"), { answer: web });
    expect(result).toMatchObject({ ok: true, value: ["violation.flow", "change"] });
    expect(events.filter((e) => e.kind === "policy.denied")).toMatchObject([{ principal: "agent:main.remit#F", labels: ["tool:Web"] }]);
});

test("in an iteration of a parallel loop it is told once, however often the failure passes on", () => {
    const body = `s = Web.get({ url: "/" }).s  parallel for x in [1, 2] max 2 { a = [1]  b = [2]  one = if s == "1" { a } else { b }  one[0] = x }`;
    const { all, kind } = told(`flow strict\n${TOOLS}${main(body)}`);
    expect([kind, all.map(({ why }) => why)]).toEqual(["violation.flow", expect.arrayContaining(["change"])]);
    expect(all.length).toBeLessThanOrEqual(2);
});

const HOSTILE = '```json\n{"name":"f","params":[{"name":"agent"},{"name":"a"}],"effects":[],"body":[],"__proto__":{"x":1}}\n```';
const READS = 'import tool Box from "mcp://box" { reads: "ann" }\nimport tool Repo from "file://workspace"';
const INNER = `${READS}\nagent Helper { main func(said) { "x" } }`;

test.each([
    ["an answer that no function may be", "Fixer.yield(a: 1) with { turns: 1 }", HOSTILE, "payload", "agent:main.remit#Fixer"],
    ["what only some may read, handed over", "Helper.yield(a: Box.read({}))", "", "hand over", "user"],
    [
        "a method that the handshake does not list",
        "Fixer.yield(a: Repo)",
        answer('return [a][0].open({ path: "x" })', "a"),
        "not told",
        "agent:main.remit#Fixer",
    ],
] as const)("of a yield: %s", (_what, call, says, why, principal) => {
    const ran = handed(withFixer(`return ${call}`, INNER), { agents: [says], unchecked: true });
    const failure = ran.result.ok ? null : ran.result.failure;
    expect(failure?.kind).toMatch(/^violation\./);
    expect(failure?.detail).toMatchObject({ why });
    const told = ran.events.flatMap((e) => (e.kind === "policy.denied" ? (refusalIn(e.data as Json) ?? []) : []));
    expect(told).toMatchObject([{ why, principal }]);
});
