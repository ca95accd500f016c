/** Clauses bind the thing, by whatever import it is used (T6): the strictest of all its imports counts. */
import { authorityOf, type Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, ModelTurn, Outcome } from "../../src/index.ts";
import { did, formOf, once, outcome, run, said, trying } from "./running.ts";

const main = (body: string): string => `main agent Main { main func(input) { ${body} } }`;

describe.each([
    ["under another name", 'import tool Post from "mcp://mail"'],
    ["spelled differently", 'import tool Post from "MCP:mail/"'],
    ["which says less", 'import tool Post from "mcp://mail" { send: may, arg to: from("tool:Page") }'],
])("a second import %s", (_name, second) => {
    const first = `import tool Mail from "mcp://mail" { send: ask, drop: never, arg to: trusted, audience: "bob" }\nimport tool Page from "mcp://page"\n`;
    const text = (body: string): string => `${first}${second}\n${main(body)}`;

    test.each([
        ['Post.send({ to: "a" })', "denied", []],
        ["Post.drop({})", "violation.remit", []],
        ["Post.find({ to: Page.get({}).did })", "violation.flow", ["Page.get"]],
        ["x = Post  x.find({ to: Page.get({}).did })", "violation.flow", ["Page.get"]],
        ['Post.call({ tool: "drop", args: {} })', "violation.remit", []],
        ['Post.find({ to: "a" })', { did: "Post.find" }, ["Post.find"]],
    ] as const)("%s: %j", (body, expected, reached) => {
        const ran = run(text(trying(body)));
        expect(outcome(ran)).toEqual(expected);
        expect(did(ran)).toEqual(reached);
    });

    test("in another file", () => {
        const files = { "helper.remit": `${second}\nagent Helper { func go() { Post.send({ to: "a" }) } }` };
        const ran = run(`${first}import agent Helper from "./helper.remit"\n${main(trying("Helper.go()"))}`, { files });
        expect(outcome(ran)).toBe("denied");
        const asked = ran.effects.find((e) => e.kind === "ask")?.request as { detail: Json };
        expect(asked.detail).toMatchObject({ tool: "Post", clause: { file: "main.remit", line: 1 } });
    });

    test("the table says so", () => {
        const rows = authorityOf(formOf(text("Post.send(input)"))).filter((row) => row.name === "Post");
        expect(rows.map((row) => `${row.gate} ${row.method}`)).toEqual(["may *", "ask send", "never drop"]);
        expect(rows[0]?.flow.map((clause) => clause.kind)).toEqual(expect.arrayContaining(["arg", "audience"]));
    });
});

test("what loosens counts only where all say it", () => {
    const text = (second: string): string => `import tool Page from "https://p.example.com/" { trusted }
import tool Mail from "mcp://mail" { arg to: trusted }
${second}
${main(trying("Mail.send({ to: Page.get({}).did })"))}`;
    expect(outcome(run(text("")))).toEqual({ did: "Mail.send" });
    expect(outcome(run(text('import tool Other from "https://P.example.com:443" { trusted }')))).toEqual({ did: "Mail.send" });
    expect(outcome(run(text('import tool Other from "https://P.example.com:443"')))).toBe("violation.flow");
    expect(outcome(run(text('import tool Other from "https://q.example.com/"')))).toEqual({ did: "Mail.send" });
});

test("a gate `may` of one import spares no question about another", () => {
    const answer = (e: Effect): Outcome | undefined => {
        if ((e.request as { op?: string }).op === "describe")
            return said({ methods: [{ name: "send", input: { type: "object" }, readOnly: false }] }, ["tool:Mail"]);
        if (e.kind !== "model") return undefined;
        const { messages, tools } = e.request as unknown as ModelTurn;
        const calls = messages.some((one) => one.role === "tool") ? [] : [{ id: "1", name: tools?.[0]?.name ?? "", args: {} }];
        return said({ text: "x", value: "x", calls, finish: calls.length === 0 ? "stop" : "tool", model: "m" }, ["model:Own"]);
    };
    const text = (second: string): string => `import llm Own from "openai://own"
import tool Mail from "mcp://mail" { send: may }
${second}
main agent Main { model Own role "r" description "d" main func(input) { generate({ input: "x", tools: [Mail] }) } }`;
    const asks = (second: string): number => once(formOf(text(second)), { answer }).effects.filter((e) => e.kind === "ask").length;
    expect([asks(""), asks('import tool Post from "mcp://mail" { send: may }'), asks('import tool Post from "mcp://mail"')]).toEqual([
        0, 0, 1,
    ]);
});

test("a project's clauses bind what its URI leads to, however it is spelled", () => {
    const text = `import tool Mail from "MCP:mail/"\n${main(trying("Mail.send({})"))}`;
    for (const place of ["mcp://mail", "MCP:mail/", "Mail"]) {
        const policy = { clauses: { [place]: [{ kind: "gate", method: "send", gate: "never" } as const] } };
        expect(outcome(once(formOf(text), { options: { policy } }))).toBe("violation.remit");
    }
});

test.each([
    ["tool", 'import tool B from "file:."', 'B.read({ path: "x" })'],
    ["tool", 'import tool B from "FILE://workspace/"', 'B.read({ path: "x" })'],
    ["memory", 'import memory B from "file://./notes.jsonl"', "B.query({})"],
])("a remit's never holds for the %s, however it is spelled: %s", (what, second, use) => {
    const first = what === "tool" ? 'import tool A from "file://workspace"' : 'import memory A from "file://notes.jsonl"';
    const ran = run(`${first}\n${second}\nagent F { remit { may all  never A } func go() { ${use} } }\n${main(trying("F.go()"))}`);
    expect(outcome(ran)).toBe("violation.remit");
    expect(did(ran)).toEqual([]);
});

test("a memory of another folder is another memory", () => {
    const files = {
        "sub/helper.remit":
            'import memory Notes from "file://notes.jsonl"\nimport memory Top from "file://../notes.jsonl"\nagent Helper { remit {} func own() { Notes.query({}) } func top() { Top.query({}) } }',
    };
    const text = `import memory Notes from "file://notes.jsonl"\nimport agent Helper from "./sub/helper.remit"\n${main(
        `delegate Notes to Helper { [${trying("Helper.own()")}, Helper.top().did != 1] }`,
    )}`;
    const ran = once(formOf(text, files));
    expect(did(ran)).toEqual(["Top recall"]);
});
