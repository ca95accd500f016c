/** `remit check`: each mistake once, however many programs import its file, and none folded into another. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Room, room } from "./remit.ts";

let at: Room;
beforeAll(() => {
    at = room();
});
afterAll(() => at.clear());

interface Found {
    readonly file: string;
    readonly code: string;
    readonly severity: string;
    readonly message: string;
}
const errorsOf = (json: string): Found[] => (JSON.parse(json) as Found[]).filter((one) => one.severity === "error");

test("each thing that a generate lacks is a mistake, in check as in run", () => {
    at.write(
        "a.remit",
        'import llm M from "mock:"\nmain agent A {\n    model M\n    main func(input) {\n        generate({ input: "x" })\n    }\n}\n',
    );
    const { code, err } = at.remit("check", "a.remit");
    expect(code).toBe(1);
    expect(err).toMatch(/\n2 errors\n$/);
    expect(errorsOf(at.remit("check", "a.remit", "--json").out).map((one) => one.message)).toEqual([
        "no role is in scope here",
        "no description is in scope here",
    ]);
    const run = at.remit("run", "a.remit").err;
    expect(run.match(/error MISSING_GENERATE_CONFIG/g)).toHaveLength(2);
});

test("a mistake of a file that two programs import is told once", () => {
    at.write("shared.remit", "agent B {\n    main func(input) {\n        nothing\n    }\n}\n");
    for (const name of ["one", "two"])
        at.write(
            `${name}.remit`,
            `import agent B from "./shared.remit"\nmain agent A {\n    main func(input) {\n        B.main(input)\n    }\n}\n`,
        );
    expect(at.remit("check", "one.remit", "two.remit").err.match(/UNKNOWN_IDENTIFIER/g)).toHaveLength(1);
});

test("programs of one name in two folders are two programs, each with its own lines", () => {
    at.write("x/main.remit", "main func(input) { alpha }\n");
    at.write("y/main.remit", "main func(input) { omega }\n");
    const { err } = at.remit("check", "x/main.remit", "y/main.remit");
    expect(err).toContain("x/main.remit:1:20: error UNKNOWN_IDENTIFIER");
    expect(err).toContain("y/main.remit:1:20: error UNKNOWN_IDENTIFIER");
    expect(err).toContain("1 | main func(input) { alpha }");
    expect(err).toContain("1 | main func(input) { omega }");
    expect(errorsOf(at.remit("check", "x/main.remit", "y/main.remit", "--json").out).map((one) => one.file)).toEqual([
        "x/main.remit",
        "y/main.remit",
    ]);
});

test("what the project's policy adds is told before the run, with its place, and stands in the table", () => {
    const program = (to: string): string => `import tool Web from "https://pages.example.com"
import tool Mail from "mcp://mail"
agent Fixer { func fix(text) { Mail.send({ to: text }) } }
main agent {
    main func(input) {
        page = Web.get({ url: "/" })
        Fixer.fix(${to})
    }
}
`;
    at.write(
        "p/remit.json",
        '{ "policy": {\n  "clauses": { "Mail": ["send: ask", "arg to: trusted"] },\n  "remits": { "Fixer": "may Mail.send" }, "untrusted": "ask" } }\n',
    );
    at.write("p/main.remit", program("page.body"));
    const refused = at.remit("check", "p/main.remit");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("main.remit:7:19: error FLOW_REFUSED: this comes from Web");
    expect(refused.err).toMatch(/see: .*remit\.json: the clause \(line 2\)/);
    const both = at.remit("check", "--authority", "p/main.remit");
    expect(both.code).toBe(1);
    expect(both.out).toMatch(/Fixer +Mail\.send/);
    expect(both.err).toContain("error FLOW_REFUSED");
    expect(at.remit("check", "--authority", "--json", "p/main.remit").out).toMatch(/^\[/);
    at.write("p/main.remit", program("input.to"));
    const table = at.remit("check", "--authority", "p/main.remit");
    expect(table.code).toBe(0);
    expect(table.out).toMatch(/Fixer +Mail\.send \(tool mcp:\/\/mail\) +may +remit +.*remit\.json:3 +arg to: trusted; untrusted: ask/);
    expect(table.out).toMatch(/Mail\.send \(tool mcp:\/\/mail\) +ask +clause +.*remit\.json:2/);
    at.write("p/remit.json", '{ "policy": { "remits": { "Fixer": "may Mial.send" } } }\n');
    expect(at.remit("check", "p/main.remit").err).toContain("names Mial, which main.remit does not have");
});

test("what a lock of another author says stays in the line of its warning", () => {
    at.write("cloned/remit.json", "{}");
    at.write("cloned/main.remit", 'import tool Far from "mcp://far"\nmain func() { Far.note({}) }\n');
    const tools = { "main.remit#Far": { uri: "mcp://far", methods: { "note\n0 errors\u001b[2J": "x" } } };
    at.write(
        "cloned/remit.lock",
        JSON.stringify({ format: "remit-lock/1", programs: { "main.remit": { agents: {}, skills: {}, tools } } }),
    );
    at.write("cloned/remit.tools.json", JSON.stringify({ format: "remit-tools/1", said: {} }));
    const { err } = at.remit("check", "cloned/main.remit");
    expect(err).toMatch(/^warning: calls of Far are not checked: .*note 0 errors\\x1b\[2J; write it anew/m);
});
