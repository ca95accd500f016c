/** Sections 1.5, 1.9 and 1.10: imports, tools on real files, real HTTP and a real MCP server, memory; rows 34 to 36 of the checklist. */
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Json } from "@remit/language";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fails, is, refused, rules } from "./cases.ts";
import { folderWith, inMain, play } from "./harness.ts";

const files = { "a.txt": "one\ntwo\nthree two\n", "sub/b.txt": "two\n", "sub/c.md": "# c\n" };
const F = {
    before: 'import tool F from "file://workspace"\nimport tool Find from "sh://find"\nimport tool Grep from "sh://grep"\nimport tool Range from "sh://read-range"\nimport tool E from "env://process"',
    files,
    name: "x/main.as",
};

rules("1.9 files", [
    ["read", 'F.read({ path: "a.txt" })', is({ ok: true, content: "one\ntwo\nthree two\n" }), F],
    ["list", 'F.list({ path: "sub" })', is({ ok: true, entries: ["b.txt", "c.md"] }), F],
    [
        "write tells its effect",
        'r = F.write({ path: "n.txt", content: "x" }) e = r.effects[0] return [r.ok, r.effects.length, e.tool, e.action, e.path, e.undoable, e.existed]',
        is([true, 1, "F", "write", "n.txt", true, false]),
        F,
    ],
    [
        "write over a file keeps what was there",
        'r = F.write({ path: "a.txt", content: "x" }) return [r.effects[0].existed, F.read({ path: "a.txt" }).content]',
        is([true, "x"]),
        F,
    ],
    [
        "patch: the first occurrence",
        'F.patch({ path: "a.txt", search: "two", replace: "2" }) F.read({ path: "a.txt" }).content',
        is("one\n2\nthree two\n"),
        F,
    ],
    [
        "patch: the text must exist",
        'F.patch({ path: "a.txt", search: "nope", replace: "2" })',
        fails("tool: Tool F.patch (file://workspace) failed: …"),
        F,
    ],
    [
        "undo",
        'r = F.write({ path: "a.txt", content: "x" }) u = F.undo(r.effects) return [u.ok, F.read({ path: "a.txt" }).content]',
        is([true, "one\ntwo\nthree two\n"]),
        F,
    ],
    [
        "undo of a new file",
        'r = F.write({ path: "n.txt", content: "x" }) F.undo(r.effects) F.read({ path: "n.txt" })',
        fails("tool: Tool F.read (file://workspace) failed: …"),
        F,
    ],
    ["a missing file", 'F.read({ path: "none.txt" })', fails("tool: Tool F.read (file://workspace) failed: …"), F],
    ["35: a path out of the workspace", 'F.read({ path: "../x" })', fails("denied: Tool F.read (file://workspace) failed: …"), F],
    ["35: an absolute path", 'F.read({ path: "/etc/hostname" })', fails("denied: Tool F.read (file://workspace) failed: …"), F],
    [
        "one object argument",
        'F.read(json.parse("1"))',
        fails("tool: Tool F.read (file://workspace) failed: F.read expects one json object argument…"),
        F,
    ],
    ["one object argument, where the checker sees that it is none", 'F.read("a.txt")', refused("CONTRACT_MISMATCH"), F],
    ["find", 'Find.run({ path: ".", type: "file" }).files', is(["a.txt", "sub/b.txt", "sub/c.md", "x/main.as"]), F],
    [
        "find: name, type, max",
        'return [Find.run({ path: ".", name: "*.txt" }).files, Find.run({ path: ".", type: "dir" }).files, Find.run({ path: ".", max: 1 }).files.length]',
        is([["a.txt", "sub/b.txt"], ["sub", "x"], 1]),
        F,
    ],
    [
        "grep: a plain text, not a pattern",
        'return [Grep.run({ path: ".", pattern: "two", include: "*.txt" }).matches, Grep.run({ path: ".", pattern: "t.o", include: "*.txt" }).matches]',
        is([
            [
                { path: "a.txt", line: 2, text: "two" },
                { path: "a.txt", line: 3, text: "three two" },
                { path: "sub/b.txt", line: 1, text: "two" },
            ],
            [],
        ]),
        { ...F, name: "x/.main.as" },
    ],
    [
        "read-range",
        'return [Range.run({ path: "a.txt", start: 2, max: 1 }), Range.run({ path: "a.txt" }).start]',
        is([{ ok: true, text: "two", start: 2, end: 2 }, 1]),
        F,
    ],
    [
        "env: get",
        'return [E.get({ name: "PLAIN" }), E.get({ name: "UNSET" })]',
        is([
            { ok: true, value: "v" },
            { ok: true, value: null },
        ]),
        { ...F, env: { PLAIN: "v" } },
    ],
    ["a shell is never a tool", "1", refused("INVALID_IMPORT_URI"), { before: 'import tool S from "sh://bash"' }],
    ["nor another command", "1", refused("INVALID_IMPORT_URI"), { before: 'import tool S from "sh://rm"' }],
    ["36: node: without an allow list", "1", refused("UNAUTHORIZED_TOOL_IMPORT"), { before: 'import tool P from "node:path"' }],
    ["36: npm: without an allow list", "1", refused("UNAUTHORIZED_TOOL_IMPORT"), { before: 'import tool P from "npm:left"' }],
    [
        "36: a list that names others",
        "1",
        refused("UNAUTHORIZED_TOOL_IMPORT"),
        { before: 'import tool P from "node:path"', files: { "agentscript.npm.json": '{ "allow": { "node": ["crypto"] } }' }, trust: true },
    ],
    [
        "a result that is no data",
        'P.parse("http://a/")',
        fails("tool: …"),
        { before: 'import tool P from "node:url"', files: { "agentscript.npm.json": '{ "allow": { "node": ["url"] } }' }, trust: true },
    ],
]);

test("35: a link out of the workspace is refused, and walks skip links", async () => {
    const outside = folderWith({ "secret.txt": "outside two" });
    const folder = folderWith({ "in.txt": "two" });
    symlinkSync(outside, join(folder, "link"));
    mkdirSync(join(folder, "sub"));
    const { value } = await play(inMain('Grep.run({ path: ".", pattern: "two", include: "*.txt" }).matches', F.before), { folder });
    expect(value).toEqual([{ path: "in.txt", line: 1, text: "two" }]);
    const { failure } = await play(inMain('F.read({ path: "link/secret.txt" })', F.before), { folder });
    expect(failure?.kind).toBe("denied");
});

describe("1.9 HTTP", () => {
    let base = "";
    const server = createServer((request, response) => {
        if (request.url === "/base/json") response.writeHead(200, { "content-type": "application/json" }).end('{"a":[1]}');
        else if (request.url === "/moved") response.writeHead(302, { location: "https://example.com/" }).end();
        else
            response
                .writeHead(request.method === "PUT" ? 204 : 404)
                .end(request.method === "PUT" ? undefined : `${request.method} ${request.url}`);
    });
    beforeAll(async () => {
        await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
        base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterAll(() => server.close());
    const call = async (text: string) => play(inMain(text, `import tool H from "${base}/base/"`));

    test("shapes of results: ok for 2xx, status, body, json or null", async () => {
        expect((await call('H.get({ url: "json" })')).value).toEqual({ ok: true, status: 200, body: '{"a":[1]}', json: { a: [1] } });
        expect((await call('H.delete({ url: "/gone" })')).value).toEqual({ ok: false, status: 404, body: "DELETE /gone", json: null });
        expect((await call('H.put({ url: "/x", body: "t" })')).value).toEqual({ ok: true, status: 204, body: "", json: null });
    });

    test("35: another origin is refused, also by way of a redirect", async () => {
        expect((await call('H.get({ url: "https://example.com/" })')).failure).toMatchObject({
            kind: "denied",
            message: expect.stringMatching(/^Tool H\.get \(http:.*\) failed: /),
        });
        expect((await call('H.get({ url: "/moved" })')).failure?.kind).toBe("denied");
    });
});

describe("1.9 MCP", () => {
    const config = {
        "agentscript.mcp.json": JSON.stringify({
            mcpServers: {
                search: {
                    transport: "stdio",
                    command: process.execPath,
                    args: [fileURLToPath(new URL("mcp-server.mjs", import.meta.url))],
                },
            },
        }),
    };
    const call = async (text: string) => play(inMain(text, 'import tool S from "mcp://search"'), { files: config, trust: true });

    test("by call and by name: one shape", async () => {
        const shape = {
            ok: true,
            text: "found x\ntwice",
            content: [
                { type: "text", text: "found x" },
                { type: "text", text: "twice" },
            ],
            structured: null,
            isError: false,
        };
        expect((await call('return [S.call({ tool: "search", args: { query: "x" } }), S.search({ query: "x" })]')).value).toEqual([
            shape,
            shape,
        ]);
    });

    test("structured content; a tool that fails is a result", async () => {
        expect((await call("S.count({}) S.count({}).structured")).value).toEqual({ calls: 2 });
        expect((await call("S.broken({})")).value).toMatchObject({ ok: false, isError: true, text: "it is broken" });
        // D14: unless nothing looks at it.
        const dropped = await call("S.broken({}) 1");
        expect(dropped.failure).toMatchObject({ kind: "tool", message: "S.broken: it is broken" });
    });

    test("an unknown tool lists those there are; a number is no argument", async () => {
        expect((await call("S.nope({})")).failure?.message).toMatch(/search.*count.*broken/);
        expect((await call('S.search(json.parse("1"))')).failure?.message).toContain("expects one json object argument");
    });
});

const MEM = {
    before: 'import memory N from "file://./n.jsonl"\nimport memory D from "sqlite://d.db"\nimport memory D2 from "sqlite://d.db#other"',
};
rules("1.10 memory", [
    [
        "add gives an envelope",
        'e = N.add({ kind: "k", n: 1 }) return [e.record, e.id.length, e.created_at == e.updated_at, e.created_at.length]',
        is([{ kind: "k", n: 1 }, 36, true, 24]),
        MEM,
    ],
    [
        "query: newest first, 10 where no limit is said",
        "for i in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] max 20 { N.add({ n: i }) } r = [] for e in N.query({}) max 20 { r.add(e.record.n) } r",
        is([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]),
        MEM,
    ],
    [
        "query: kind, limit",
        'N.add({ kind: "a", n: 1 }) N.add({ kind: "b", n: 2 }) N.add({ kind: "a", n: 3 }) r = [] for e in N.query({ kind: "a" }) max 9 { r.add(e.record.n) } return [r, N.query({ limit: 1 })[0].record.n]',
        is([[3, 1], 3]),
        MEM,
    ],
    [
        "query: text is a part of record.text, whatever the case",
        'N.add({ text: "Hello\\nΟΔΟΣ (1)" }) N.add({ text: "bye" }) return [N.query({ text: "hello\\nοδοσ (1)" }).length, N.query({ text: "." }).length]',
        is([1, 0]),
        MEM,
    ],
    [
        "query: … or of the record's JSON, whose keys are in order",
        'for M in [N, D] max 2 { M.add({ text: "yes", question: "Why?" }) M.add({ b: 1, a: "Hello" }) } r = [] for q in ["why?", "hello\\",\\"B\\":1"] max 2 { r.add([N.query({ text: q }).length, D.query({ text: q }).length]) } r',
        is([
            [1, 1],
            [1, 1],
        ]),
        MEM,
    ],
    [
        "query: where",
        "N.add({ a: { b: [1] }, c: 2 }) N.add({ a: { b: [2] }, c: 2 }) return [N.query({ where: { c: 2 } }).length, N.query({ where: { a: { b: [1] }, c: 2 } }).length, N.query({ where: { x: none } }).length]",
        is([2, 1, 0]),
        MEM,
    ],
    ["query: the limit is a positive integer", "N.query({ limit: 0 })", fails("tool: …"), MEM],
    [
        "sqlite: the same",
        'D.add({ kind: "a", n: 1 }) D.add({ kind: "b", n: 2 }) D2.add({ n: 3 }) return [D.query({ kind: "a" })[0].record, D.query({}).length, D2.query({}).length, D.query({ where: { n: 2 } }).length]',
        is([{ kind: "a", n: 1 }, 2, 1, 1]),
        MEM,
    ],
    ["other methods", "N.delete({})", refused("UNKNOWN_MEMORY_METHOD"), MEM],
    ["one argument", "N.add({}, {})", refused("INVALID_ARGUMENT_COUNT"), MEM],
    ["a record is an object", 'N.add(json.parse("1"))', fails("value: N.add expects an object"), MEM],
    ["a record is an object, where the checker sees that it is none", 'N.add("text")', refused("CONTRACT_MISMATCH"), MEM],
]);

test("1.10 JSONL: one envelope a line, in the folder of the program, over runs; a bad line is an error with its number", async () => {
    const folder = folderWith();
    const text = inMain("N.add({ n: input.n }) N.query({}).length", MEM.before);
    expect((await play(text, { folder, name: "p/main.as", input: { n: 1 } })).value).toBe(1);
    expect((await play(text, { folder, name: "p/main.as", input: { n: 2 } })).value).toBe(2);
    const lines = readFileSync(join(folder, "p/n.jsonl"), "utf8").trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { record: Json }).record)).toEqual([{ n: 1 }, { n: 2 }]);
    const { failure } = await play(text, { folder, name: "p/main.as", input: { n: 3 }, files: { "p/n.jsonl": `${lines[0]}\nnot json\n` } });
    expect(failure?.message).toMatch(/\b2\b/);
});

test("1.10 a program's second run finds what its first kept, by any text of the record", async () => {
    const text = inMain(
        'known = Notes.query({ text: input.q })\nfacts = Facts.query({ text: input.q })\nuse known as "known"\nanswer = generate({ input: "Answer." })\nNotes.add({ kind: "note", question: input.q, text: answer }) Facts.add({ text: answer, tags: [input.q] }) return [known.length, facts.length]',
        'import memory Notes from "file://./n.jsonl"\nimport memory Facts from "sqlite://f.db"',
    );
    const folder = folderWith();
    const runs = [];
    for (const q of ["Why (this)?", "why (THIS)?"]) runs.push(await play(text, { folder, input: { q }, replies: ["because"] }));
    expect(runs.map(({ value }) => value)).toEqual([
        [0, 0],
        [1, 1],
    ]);
    expect(JSON.stringify(runs[1]?.prompts)).toContain("because");
});

rules("1.5 imports", [
    [
        "two of one name",
        "1",
        { codes: "DUPLICATE_IMPORT" },
        { before: 'import file D from "./d.txt"\nimport tool D from "env://process"', files: { "d.txt": "x" } },
    ],
    [
        "file: an absolute path and file:// inside the tree",
        "D",
        is("x"),
        { before: 'import file D from "file://./d.txt"', files: { "d.txt": "x" } },
    ],
    [
        "file: JSON by its extension",
        "return [J.a, T]",
        is([[1], '{"a":[1]}']),
        { before: 'import file J from "./j.json"\nimport file T from "./j.txt"', files: { "j.json": '{"a":[1]}', "j.txt": '{"a":[1]}' } },
    ],
    [
        "file: relative to the importing file",
        "D",
        is("inner"),
        { name: "sub/main.as", before: 'import file D from "./d.txt"', files: { "d.txt": "outer", "sub/d.txt": "inner" } },
    ],
    [
        "agent: relative to the importing file, with imports of its own",
        'main agent A { main func(input) { W() } }\nimport agent W from "./sub/w.as"',
        is("deep"),
        { files: { "sub/w.as": 'import file D from "./d.txt"\nagent W { main func() { D } }', "sub/d.txt": "deep" } },
    ],
    [
        "agent: of that exact name",
        'main agent A { main func(input) { 1 } }\nimport agent W from "./w.as"',
        refused("IMPORT_AGENT_MISSING"),
        { files: { "w.as": "agent V { main func() { 1 } }" } },
    ],
    [
        "agent: a main mark in the imported file is dropped",
        'import agent W from "./w.as"\nmain agent A { main func(input) { W() } }',
        is(2),
        { files: { "w.as": "main agent W { main func() { 2 } }" } },
    ],
    [
        "agent: the other agents of that file serve it",
        'import agent W from "./w.as"\nmain agent A { main func(input) { W() } }',
        is(3),
        { files: { "w.as": "agent W { main func() { H(2) } }\nagent H { main func(x) { x + 1 } }" } },
    ],
    [
        "agent: through two files",
        'import agent B from "./b.as"\nmain agent A { main func(input) { B(1) } }',
        is(111),
        {
            files: {
                "b.as": 'import agent C from "./sub/c.as"\nagent B { main func(x) { C(x) + 10 } }',
                "sub/c.as": "agent C { main func(x) { x + 100 } }",
            },
        },
    ],
    [
        "agent: a cycle",
        'import agent B from "./b.as"\nmain agent A { main func(input) { B(1) } }',
        { codes: "IMPORT_CYCLE" },
        { files: { "b.as": 'import agent A from "./main.as"\nagent B { main func(x) { A(x) } }' } },
    ],
    [
        "agent: a file that is not there",
        'import agent B from "./b.as"\nmain agent A { main func(input) { 1 } }',
        refused("IMPORT_NOT_FOUND"),
    ],
    ["an import of no known kind", 'import thing T from "x"\nmain agent A { main func(input) { 1 } }', { codes: "SYNTAX" }],
    [
        "llm: its schemes",
        "1",
        is(1),
        {
            before: 'import llm A1 from "openai://gpt-x"\nimport llm A2 from "anthropic://claude-x"\nimport llm A3 from "ollama://localhost:11434/q"\nimport llm A4 from "ollama://q"\nimport llm A5 from "openai://proxy.example/v1/gpt-x"',
        },
    ],
]);
