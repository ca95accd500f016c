/** Text of files, models, tools and configurations never makes a terminal do anything, and JSON keeps its value. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Room, room } from "./remit.ts";

/** As a program may hold it. */
const WRITTEN = "a\u009b2J\u202eb\u2066c\u200bd\u{e0041}e";
const BAD = "a\u001b]0;t\u0007\u009b2J\u202eb\u2066c\u200bd\u{e0041}\u007fe";
const obeyed = /(?!\u200c|\u200d|\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

let at: Room;
beforeAll(() => {
    at = room();
    at.write("bad.txt", BAD);
    at.write("replies.json", JSON.stringify([{ answer: `${BAD} 1` }]));
    at.write(
        "a.remit",
        `import llm M from "mock:"
import tool Files from "file://workspace"
main agent A {
    model M
    role "r"
    description "d"
    main func(input: { fail?: boolean }) {
        text = Files.read({ path: "bad.txt" }).content
        use text as "what ${WRITTEN} is"
        answer = generate({ input: "Answer." }) -> { answer: string }
        if input?.fail {
            raise { message: text, kind: text }
        }
        { text: text, answer: answer.answer }
    }
}
`,
    );
    at.write("wrong.remit", `main agent A {\n    main func() {\n        nowhere("${BAD}")\n    }\n}\n`);
    at.write("remit.json", JSON.stringify({ mcpServers: { [`s${BAD}`]: { command: BAD } } }));
});
afterAll(() => at.clear());

const run = ["run", "a.remit", "--model", "scripted:replies.json"];

test("a run's value is JSON of the same value", () => {
    const { code, out, err } = at.remit(...run, "--trace");
    expect({ code, value: JSON.parse(out) }).toEqual({ code: 0, value: { text: BAD, answer: `${BAD} 1` } });
    expect(out).not.toMatch(obeyed);
    expect(err).not.toMatch(obeyed);
});

test("failures show what they say, and change no terminal", () => {
    const { code, err } = at.remit(...run, "--input", '{"fail": true}');
    expect(code).toBe(1);
    expect(err).toContain("\\x1b]0;t\\x07\\x9b2J\\u{202e}b");
    expect(err).not.toMatch(obeyed);
    expect(at.remit(...run, "--json", "--input", '{"fail": true}').err).not.toMatch(obeyed);
});

test.each([
    [["trace", "last"]],
    [["trace", "last", "--full"]],
    [["trace", "last", "--follow"]],
    [["trace", "last", "--ndjson"]],
    [["trace", "last", "--otel", "--content"]],
    [["explain", "last", "--full"]],
    [["explain", "last", "--json"]],
    [["explain", "a.remit"]],
    [["diff", "last", "last"]],
    [["runs"]],
    [["cost", "last"]],
    [["replay", "last"]],
    [["check", "a.remit", "wrong.remit"]],
    [["parse", "a.remit"]],
    [["compile", "a.remit"]],
    [["tools"]],
    [["models"]],
    [["trust", "--show"]],
] as const)("remit %j", (args) => {
    const { out, err } = at.remit(...args.flat());
    expect(out + err).not.toBe("");
    expect(out).not.toMatch(obeyed);
    expect(err).not.toMatch(obeyed);
});

test("a tool of a server whose name has several lines is one line of the list", () => {
    const own = room();
    const args = [join(import.meta.dirname, "../../host/tests/tool/mcp-liar.mjs"), "lines"];
    own.write("remit.json", JSON.stringify({ mcpServers: { liar: { command: "node", args } } }));
    own.write("l.remit", 'import tool T from "mcp://liar"\nmain func() { 1 }\n');
    const { out } = own.remit("tools", "l.remit", "--trust");
    expect(out).toContain("  go");
    expect(out).not.toMatch(/^Forged/mu);
    own.clear();
});

test("a formatted text is the text itself where it is kept, and visible where it is looked at", () => {
    expect(at.remit("fmt", "a.remit").out).toContain("\u202e");
    const { seen } = at.onTerminal({}, "fmt", "a.remit");
    expect(seen.replaceAll("\r\n", "\n")).not.toMatch(obeyed);
    expect(seen).toContain("\\u{202e}");
});

test("questions and runs of a ledger that another user wrote", () => {
    at.write(
        "q.remit",
        `import tool Files from "file://workspace" { write: ask }\nmain func() { Files.write({ path: "x.txt", content: "x" }) }\n`,
    );
    expect(at.remit("run", "q.remit", "--park", "--ledger", "hers.db").code).toBe(3);
    const edit = (sql: string): void => {
        const db = new DatabaseSync(join(at.folder, "hers.db"));
        db.exec(sql);
        db.close();
    };
    const bad = `char(27) || ']0;t' || char(7) || char(8238)`;
    edit(
        `UPDATE asks SET ${["id", "run", "path", "state", "owner", "decision", "decider"].map((name) => `${name} = 'x' || ${bad}`).join()}`,
    );
    const asks = at.remit("asks", "--all", "--ledger", "hers.db");
    expect(asks).toMatchObject({ code: 0, out: expect.stringContaining("x\\x1b]0;t\\x07\\u{202e}") });
    expect(asks.out).toContain("signed with another key, so it is ignored");
    edit(`UPDATE runs SET id = 'x' || ${bad}, file = ${bad}, root = ${bad}`);
    const others = [["runs"], ["replay", "last"]].map((args) => Object.values(at.remit(...args, "--ledger", "hers.db")).join("\n"));
    expect([asks.out, ...others].join("\n")).not.toMatch(obeyed);
});
