/** The first minutes at a terminal: help, a new project, progress that leaves nothing behind. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { wrapped } from "../src/io.ts";
import { type Room, room } from "./remit.ts";

let at: Room;
beforeEach(() => {
    at = room();
});
afterEach(() => at.clear());

test("what init makes checks, is formatted and runs", () => {
    expect(at.remit("init", "hello").code).toBe(0);
    expect(at.remitWith({ cwd: "hello" }, "fmt", "--check", "main.remit")).toEqual({ code: 0, out: "", err: "" });
    expect(at.remitWith({ cwd: "hello" }, "check", "main.remit").err).toBe("no errors\n");
    at.write("hello/replies.json", JSON.stringify([{ order_number: "A-1042" }, { order_number: "B-2077" }]));
    const { code, out } = at.remitWith(
        { cwd: "hello" },
        "run",
        "main.remit",
        "--input",
        "@input.json",
        "--model",
        "scripted:replies.json",
        "--concurrency",
        "1",
    );
    expect(code).toBe(0);
    expect(JSON.parse(out).map((one: { order: string | null }) => one.order)).toEqual(["A-1042", "B-2077", null]);
    expect(at.remit("init", "hello")).toMatchObject({ code: 2, err: expect.stringContaining("hello is not empty") });
});

test("init with an agent makes a project that hands over control, and runs without a model", () => {
    expect(at.remit("init", "hello", "--agent").code).toBe(0);
    const own = (...args: string[]) => at.remitWith({ cwd: "hello" }, ...args);
    expect(own("fmt", "--check", "main.remit", "answer.remit")).toEqual({ code: 0, out: "", err: "" });
    expect(own("check", "main.remit").err).toBe("no errors\n");
    expect(own("skills", "validate", "skills/triage").code).toBe(0);
    const { code, out } = own("run", "main.remit", "--input", "@input.json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ file: "src/total.mjs", line: "return items[0].price;" });
});

test("what is not trusted, and whose word the input is, can be said for a run", () => {
    at.write(
        "copy.remit",
        `import tool Files from "file://workspace"
main agent Copy {
    main func(input) {
        text = if input.has("text") { input.text } else { Files.read({ path: "a.txt" }).content }
        Files.write({ path: "b.txt", content: text })
        text
    }
}
`,
    );
    at.write("a.txt", "one");
    const run = (...args: string[]) => at.remit("run", "copy.remit", "--quiet", ...args);
    const kindOf = ({ err }: { readonly err: string }) => /violation\.flow|denied/.exec(err)?.[0];
    expect(run("--input", "{}").code).toBe(0);
    expect(kindOf(run("--input", "{}", "--untrusted", "never"))).toBe("violation.flow");
    expect(kindOf(run("--input", "{}", "--untrusted", "ask"))).toBe("denied");
    expect(run("--input", "{}", "--untrusted", "ask", "--yes").code).toBe(0);
    const mine = ["--input", '{"text": "two"}', "--untrusted", "never"];
    expect(run(...mine).code).toBe(0);
    expect(kindOf(run(...mine, "--input-origin", "unlabelled"))).toBe("violation.flow");
    const plain = at.remit("run", "copy.remit", ...mine, "--input-origin", "web:form");
    expect(plain.err).toContain("argument content of Files.write carries web:form");
    expect(at.remit("run", "copy.remit", "--untrusted", "maybe")).toMatchObject({
        code: 2,
        err: expect.stringContaining("--untrusted takes ask or never"),
    });
    expect(at.remit("run", "copy.remit", "--input-origin", "only:x")).toMatchObject({
        code: 2,
        err: expect.stringContaining("is no origin"),
    });
});

test("a budget of the program's own is raised by its account, one of the run by an option of `remit run` too", () => {
    at.write("spend.remit", "main func() {\n    spend 5 steps {\n        for x in [1, 2, 3] max 3 { y = x * 2 }\n    }\n    1\n}\n");
    expect(at.remit("run", "spend.remit", "--quiet").err).toMatch(
        /limit\.steps.*\n.*\n.*\n {2}goes on: remit resume \S+ --raise 'main\/spend#0:steps=10'\n$/,
    );
    at.write("plain.remit", "main func() {\n    for x in [1, 2, 3] max 3 { y = x * 2 }\n    1\n}\n");
    expect(at.remit("run", "plain.remit", "--quiet", "--max-steps", "3").err).toContain("help: raise --max-steps");
});

test("help says every command in a line, and each command gives an example", () => {
    const { out } = at.remit("--help");
    const commands = [...out.matchAll(/^ {2}([a-z]+)(?: [[<].*?)? {2,}\S/gm)]
        .map((found) => found[1] as string)
        .filter((one) => one !== "help");
    expect(commands).toEqual(
        "run resume asks answer replay repl debug snapshot ras reason act check fmt parse compile explain runs trace atif diff why audit cost plan verbs translate temporal worker submit schedule status result cancel approve signal login logout credentials serve open drive clients acp mcp init models tools skills lock trust".split(
            " ",
        ),
    );
    expect(out).toContain("Begin with: remit init hello");
    const help = at.remit("run", "--help").out;
    for (const option of ["--mock", "--dry-run", "--untrusted"]) expect(help).toContain(`\n  ${option} `);
    for (const command of ["run", "trace", "trust"]) expect(at.remit(command, "--help").out).toMatch(/\nExamples:\n {2}remit /);
});

test("the progress line fits a narrow terminal and is taken back", () => {
    at.write(
        "a.remit",
        "main agent A {\n    main func() {\n        x = 0\n        repeat * 400000 {\n            x = x + 1\n        }\n        x\n    }\n}\n",
    );
    const { code, seen } = at.onTerminal({ columns: 40 }, "run", "a.remit");
    expect(code).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the terminal's own are looked for
    const drawn = [...seen.matchAll(/\u001b\[\?7l(.*?)\u001b\[\?7h/g)].map((found) => (found[1] as string).replace(/\u001b\[\d+m/g, ""));
    for (const line of drawn) expect(line.length).toBeLessThan(40);
    expect(seen.lastIndexOf("\u001b[2K")).toBeGreaterThanOrEqual(seen.lastIndexOf("\u001b[?7h"));
});

test.each<Record<string, string>>([{ TERM: "dumb" }, { NO_COLOR: "1" }])("no colours with %j", (env) => {
    at.write("a.remit", "main agent A {\n    main func() {\n        1\n    }\n}\n");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the terminal's own are looked for
    expect(at.onTerminal({ env: { NO_COLOR: "", ...env } }, "check", "a.remit").seen).not.toMatch(/\u001b\[\d*m/);
});

test("sentences are broken between words", () => {
    expect(wrapped("one two three-and-more four", 8)).toBe("one two\nthree-and-more\nfour");
});
