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

describe("an https tool reaches its whole origin, so two imports of one origin are one thing", () => {
    const first = 'import tool Api from "https://api.example.com/v1" { post: ask, delete: never, arg body: trusted }\n';
    const page = 'import tool Page from "mcp://page"\n';
    test.each([
        ["beside it", "https://api.example.com/v2"],
        ["above it", "https://api.example.com"],
        ["below it", "https://api.example.com/v1/items/"],
        ["spelled differently", "HTTPS://API.example.com:443/v1/../v3?x#y"],
    ])("an import %s is no way around", (_name, uri) => {
        const text = (body: string): string => `${first}${page}import tool Other from "${uri}"\n${main(trying(body))}`;
        const at = "https://api.example.com/v1/items";
        expect(outcome(run(text(`Other.post({ url: "${at}", body: "x" })`)))).toBe("denied");
        expect(outcome(run(text(`Other.DELETE({ url: "${at}" })`)))).toBe("violation.remit");
        expect(outcome(run(text(`Other.put({ url: "${at}", body: Page.get({}).did })`)))).toBe("violation.flow");
        expect(did(run(text(`Other.get({ url: "${at}" })`)))).toEqual(["Other.get"]);
    });

    test("nor is it for a remit that forbids the other", () => {
        const agent = `agent F { remit { may all  never Api.get in "https://api.example.com/v1/**" } func go(u) { Other.get({ url: u }) } }`;
        const text = (url: string): string =>
            `${first}import tool Other from "https://api.example.com/v2"\n${agent}\n${main(trying(`F.go("${url}")`))}`;
        expect(outcome(run(text("https://api.example.com/v1/secret")))).toBe("violation.remit");
        expect(outcome(run(text("../v1/secret")))).toBe("violation.remit");
        expect(did(run(text("items")))).toEqual(["Other.get"]);
    });

    test("a bound stays relative to the import that it names", () => {
        const agent = `agent F { remit { may Api.get in "items/*" } func go(u) { Other.get({ url: u }) } }`;
        const text = (url: string): string =>
            `import tool Api from "https://api.example.com/v1/"\nimport tool Other from "https://api.example.com/v2/"\n${agent}\n${main(trying(`F.go("${url}")`))}`;
        expect(outcome(run(text("items/1")))).toBe("violation.remit");
        expect(outcome(run(text("https://api.example.com/v1/items/1")))).toEqual({ did: "Other.get" });
    });

    test("trust in one is trust in none, unless both say so; another origin is another thing", () => {
        const text = (second: string): string =>
            `import tool Docs from "https://api.example.com/docs" { trusted }\nimport tool Mail from "mcp://mail" { arg to: trusted }\n${second}\n${main(trying("Mail.send({ to: Docs.get({}).did })"))}`;
        expect(outcome(run(text('import tool Any from "https://api.example.com/upload"')))).toBe("violation.flow");
        expect(outcome(run(text('import tool Any from "https://api.example.com/upload" { trusted }')))).toEqual({ did: "Mail.send" });
        for (const other of ["http://api.example.com", "https://api.example.com:444", "https://apis.example.com"])
            expect(outcome(run(text(`import tool Any from "${other}"`)))).toEqual({ did: "Mail.send" });
    });
});
