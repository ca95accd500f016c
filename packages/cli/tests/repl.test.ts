/** `remit repl`: from a pipe, and at a terminal with its keys. */
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Ran, type Room, room } from "./remit.ts";
import { Terminal } from "./typed.ts";

let at: Room;
beforeEach(() => {
    at = room();
});
afterEach(() => at.clear());

const repl = (input: string, ...args: string[]): Ran => at.remitProcess({ input }, "repl", ...args);

test("a pipe: values are plain, names live on, an input goes on over lines, and what is wrong is told with its line", () => {
    expect(repl("1+1\n")).toEqual({ code: 0, out: "2\n", err: "" });
    const ran = repl(
        [
            "x = 20",
            "func twice(n) {",
            "    n * 2",
            "}",
            "shape Point { x: number }",
            "x = twice(x)",
            "both = {",
            "    a: x,",
            "    b: [x, none]",
            "}",
            "// nothing",
            "",
            "both",
            "x = nope",
            "x",
            "both.b.length",
            "both.b[7].floor()",
            "return 3",
            "[1, 2].map((n) => n + 1)",
            ":clear",
            "x",
        ].join("\n"),
        "--json",
    );
    expect(ran.out.trim().split("\n")).toEqual(['{"a":40,"b":[40,null]}', "40", "2", "[2,3]"]);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("input:1:5: error UNKNOWN_IDENTIFIER: 'nope' is not defined here\n  1 | x = nope\n    |     ^^^^");
    expect(ran.err).toMatch(/input:1:\d+: \w+: .*\n {2}1 \| both\.b\[7\]\.floor\(\)\n/);
    expect(ran.err).toContain("`return` would end the program");
    expect(ran.err).not.toContain("repl.remit");
    // of an input before, the place is in that input
    const inner = repl("func bad(n) {\n    n.missing.more\n}\nbad({ missing: none })\n");
    expect(inner.err).toMatch(/input 1:2:\d+: \w+: .*\n {2}2 \| {5}n\.missing\.more\n/);
    // A line that a hint names is one of the input, too.
    expect(repl("x = (1,\n2").err).toContain("input:1:7: error SYNTAX: Expected `)`, found `,`.\n  1 | x = (1,\n");
    expect(repl("x = (1,\n2").err).toContain("The bracket `(` was opened on line 1.");
    for (const [input, place] of [
        ["x = [1,\n2", "2:2"],
        ["1 +", "1:4"],
        ["for i in [1] {", "1:15"],
    ] as const) {
        const { err } = repl(input);
        expect(err).toContain(`input:${place}: error SYNTAX: the input ends here, and is not complete\n`);
        expect(err).not.toMatch(/\d \| [)}]$/m);
    }
});

test("a text in backticks and a block string go on over lines; one that is never closed is told where it begins", () => {
    expect(repl('`one\ntwo {1 + 1}`\n"""\nthree\n"""\n')).toEqual({ code: 0, out: '"one\\ntwo 2"\n"three"\n', err: "" });
    expect(repl("x = 1\ny = `one\ntwo").err).toContain("input:1:5: error UNTERMINATED_STRING");
    expect(repl('x = "one\n2').out).toBe("2\n");
});

test("from a pipe a command ends an input that is open before it, but not a text that goes on over lines", () => {
    const open = repl("y = {\n:program\n1 + 1\n");
    expect([open.code, open.out]).toEqual([1, expect.stringMatching(/main agent Repl[\s\S]*\n2\n$/)]);
    expect(open.err).toMatch(/^input:1:\d+: error SYNTAX: .*(?:ends here|Expected)/);
    expect(repl('x = """\n:quit\n"""\nx\n', "--json").out).toContain(":quit");
    at.write("a.remit", "main func(n: number) { n }\n");
    expect(repl(":run a.remit {n\n").err).toMatch(/^error: the input behind the file is not JSON/);
});

test("VRS1, VRS2, VRS3: what is declared anew counts from then on, also for what uses it; what came before stays, and no effect is made again", () => {
    at.write("a.txt", "one");
    at.write("b/a.txt", "two");
    const ran = repl(
        [
            'import tool Files from "file://workspace"',
            'func f(n) { Files.read({ path: "a.txt" }).content + n }',
            "func g(n) { [f(n)] }",
            'x = g("!")',
            'import tool Files from "file://workspace/b"',
            '[x, g("?")]',
            // The same once more is nothing new.
            'import tool Files from "file://workspace/b"',
            "func f(f: string) {",
            "    o = { f: f }",
            '    o.f + "."',
            "}",
            'g("ff")',
            "shape P { x: number }",
            "shape P { x: number, y: number }",
            "func h(p: P) { p.y }",
            "h({ x: 1, y: 7 })",
            "func f(a, b) { a + b }",
            "func f(n) { n.nope.x }",
            "f({ nope: none })",
            'import llm Model from "scripted:a.txt"',
            'import llm Model from "mock:"',
            ":program",
        ].join("\n"),
        "--json",
    );
    expect(ran.out.split("\n").slice(0, 3)).toEqual(['[["one!"],["two?"]]', '["ff."]', "7"]);
    // One that does not fit what uses it is refused, with the place where it is used.
    expect(ran.err).toMatch(/^input 3:1:14: error INVALID_ARGUMENT_COUNT: .*\n {2}1 \| func g\(n\) \{ \[f\(n\)\] \}\n/);
    expect(ran.err).toMatch(/input \d+:1:13: \w+: .*\n {2}1 \| func f\(n\) \{ n\.nope\.x \}\n/);
    expect(ran.out.match(/^import .*$/gm)).toEqual([
        'import tool Files from "file://workspace"',
        'import tool Files_2 from "file://workspace/b"',
        'import llm Model from "mock:"',
    ]);
});

test("effects are made once, whatever comes after them; each input is a run, with the origins of what came before", () => {
    at.write("a.txt", "one");
    at.write("replies.json", JSON.stringify([{ word: "hello" }, { word: "again" }]));
    const ran = repl(
        [
            'import tool Files from "file://workspace"',
            'import llm Model from "scripted:replies.json"',
            'text = Files.read({ path: "a.txt" }).content',
            'Files.write({ path: "b.txt", content: text }).effects.length',
            'use text as "the text"',
            'said = generate({ input: "Say a word." }) -> { word: string }',
            "said.word",
            'Files.read({ path: "missing.txt" })',
            "said.word + text",
            ":why said.word + text",
            ":why said",
            ":trace",
            ":explain",
            ":program",
        ].join("\n"),
    );
    expect(ran.out.split("\n").slice(0, 3)).toEqual(["1", '"hello"', '"helloone"']);
    expect(ran.err).toMatch(/input:1:1: \w+: .*missing\.txt/);
    expect(ran.out).toContain("carries model:Model, tool:Files");
    expect(ran.out).toContain('the text"');
    const runs = JSON.parse(at.remit("runs", "--json").out) as { id: string; status: string }[];
    expect(runs.map(({ status }) => status)).toContain("failed");
    for (const { id } of runs.filter(({ status }) => status === "done").slice(0, 2)) {
        expect(at.remit("trace", "verify", id).code).toBe(0);
        expect(at.remit("replay", id).out).toContain("equal");
    }
    // the model answered once, although later inputs came after it
    expect(ran.out.match(/attempt 1 ok/g)).toHaveLength(1);
});

test(":run runs a program of a file; its failure is told at its line; what is no command is told", () => {
    at.write("good.remit", "main func(input { n: number }) {\n    input.n + 1\n}\n");
    at.write("bad.remit", "main func() {\n    [1][3].x\n}\n");
    at.write("input.json", '{ "n": 41 }');
    const ran = repl(":run good.remit @input.json\n:run bad.remit\n:run none.remit\n:bogus\n/bogus\n:help\n:quit\n1 + 1\n");
    expect(ran).toMatchObject({ code: 1, out: "42\n" });
    for (const part of ["bad.remit:2:", "there is no command :bogus", "there is no /bogus", ":why [EXPRESSION]"])
        expect(ran.err).toContain(part);
});

test("/browser: a turn of a server that begins here; its answer goes on with its origins, and one that is empty gives nothing", () => {
    const rules = [
        { when: "say hello", reply: { text: "Hello." } },
        { when: "silent", reply: { text: "" } },
    ];
    at.write("replies.json", JSON.stringify({ rules }));
    const lines = [
        "/browser",
        "/browser be silent",
        "browsed",
        "/browser say hello",
        "browsed + browsed",
        ":why browsed",
        'use browsed as "it"',
    ];
    const ran = repl(`${lines.join("\n")}\n`, "--model", "scripted:replies.json");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("/browser needs a task");
    expect(ran.err.match(/No server runs, so one begins here/g)).toHaveLength(1);
    // A panel that was paired before looks there.
    expect(ran.err).toMatch(/The console: http:\/\/127\.0\.0\.1:4173\d\/#code=[a-z0-9]{4}-[a-z0-9]{4}$/m);
    expect(ran.err).toContain("no tools are lent to it");
    expect(ran.err).toContain("the turn gave nothing");
    expect(ran.err).toContain("'browsed' is not defined here");
    expect(ran.out).toMatch(/Hello\.\n"Hello\.Hello\."\nvalue carries .*model:Model.*tool:Browser/);
    // the turn is a run of the same ledger, beside those of the inputs
    const runs = JSON.parse(at.remit("runs", "--json").out) as { id: string; status: string }[];
    expect(runs.filter(({ id }) => /^session-.*\.t2$/.test(id))).toHaveLength(1);
});

/** `remit repl` at a terminal. */
const replAt = (...args: string[]): Terminal => new Terminal(at, "repl", ...args);

test("at a terminal: history over sessions in a private file, completion, several lines, a question, Ctrl-C and Ctrl-D", async () => {
    at.write("a.txt", "one");
    {
        await using terminal = replAt("--model", "mock:");
        await terminal.shows("remit> ");
        // pasted in one piece
        terminal.type('text = {\r  word: "hello",\r  size: 5\r}\rtext.wo');
        await terminal.shows("remit> ");
        await terminal.shows("text.wo");
        terminal.type("\t\r");
        await terminal.shows('"hello"');
        await terminal.shows("remit> ");
        terminal.type("[1,\r");
        await terminal.shows("   ... ");
        terminal.type("2].length\r");
        await terminal.shows("2\r\n");
        await terminal.shows("remit> ");
        terminal.type('import tool Files from "file://workspace" { write: ask }\r');
        await terminal.shows("remit> ");
        terminal.type('Files.wr\t({ path: "b.txt", content: text.word }).effects.length\r');
        await terminal.shows("May user call Files.write?");
        await terminal.shows("v view all >");
        terminal.type("y\r");
        await terminal.shows("1\r\n");
        await terminal.shows("remit> ");
        expect(readFileSync(join(at.folder, "b.txt"), "utf8")).toBe("hello");
        terminal.type('Files.write({ path: "c.txt", content: "x" })  loop until false max 900000000 { n = 1 }\r');
        await terminal.shows("v view all >");
        terminal.type("y\r");
        await expect.poll(() => existsSync(join(at.folder, "c.txt"))).toBe(true);
        terminal.type("\u0003");
        await terminal.shows("Cancelled; the conversation is as it was.");
        await terminal.shows("remit> ");
        // as the terminal sends it where no prompt stands yet
        terminal.interrupt();
        terminal.type("text.si\u0003");
        await terminal.shows("text.si");
        terminal.type("text.size + 1\r");
        await terminal.shows("6\r\n");
        // Typed before the prompt stands, the terminal keeps Ctrl-D as an end of file, which the prompt then reads as a NUL.
        await terminal.shows("remit> ");
        terminal.type("\u0004");
        expect(await terminal.ends()).toBe(0);
    }
    const file = join(at.folder, "remit", "repl-history");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toContain("text.size + 1\n");
    await using terminal = replAt("--model", "mock:");
    await terminal.shows("remit> ");
    terminal.type("\u001b[A");
    await terminal.shows("text.size + 1");
    terminal.type("\r");
    await terminal.shows("error UNKNOWN_IDENTIFIER");
    await terminal.shows("remit> ");
    terminal.type(":qu\t\r");
    expect(await terminal.ends()).toBe(0);
    writeFileSync(join(at.folder, "seen.txt"), terminal.seen);
});

test("/browser: Ctrl-C goes on without a server that says nothing, and before a turn is submitted submits none", async () => {
    const asked: string[] = [];
    let [isSilent, breaks] = [true, false];
    const between = createServer((request, response) => {
        const { method, url } = request;
        asked.push(`${method} ${url}`);
        if (url === "/v1/me" && isSilent) return terminal.interrupt();
        if (url?.endsWith("/turns") && !breaks) return terminal.interrupt();
        if (url?.endsWith("/events?from=1")) {
            response.writeHead(200, { "content-type": "text/event-stream" }).write(":\n\n");
            return terminal.interrupt();
        }
        if (url?.endsWith("/cancel")) return request.destroy();
        const session = { id: "session-1", title: "", seq: 1, turns: [], tools: [], asks: [] };
        const me = { id: "owner", name: "owner", scopes: ["approve"] };
        const body = url === "/v1/me" ? me : `${method} ${url}` === "GET /v1/sessions" ? { sessions: [session] } : session;
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    }).listen(0, "127.0.0.1");
    await once(between, "listening");
    const { port } = between.address() as AddressInfo;
    await using terminal = replAt("--model", "mock:", "--url", `http://127.0.0.1:${port}`, "--token", "t");
    await terminal.shows("remit> ");
    terminal.type("/browser wait\r");
    await terminal.shows("it was cancelled");
    await terminal.shows("remit> ");
    expect(asked).toEqual(["GET /v1/me"]);
    isSilent = false;
    terminal.type("/browser wait\r");
    await terminal.shows("Cancelling the turn");
    terminal.interrupt();
    await terminal.shows("finished");
    await terminal.shows("remit> ");
    // A cancel that does not get through ends no REPL.
    breaks = true;
    terminal.type("/browser wait\r");
    await terminal.shows("not cancelled: the server");
    terminal.interrupt();
    await terminal.shows("finished");
    await terminal.shows("remit> ");
    between.close();
    between.closeAllConnections();
});
