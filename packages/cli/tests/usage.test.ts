/** What is asked wrongly is refused before anything begins: no run, no model, no ledger. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Room, room } from "./remit.ts";

let at: Room;
beforeAll(() => {
    at = room();
    at.write("three.json", "3");
    at.write(
        "a.remit",
        `import llm M from "mock:"
main agent A {
    model M
    role "r"
    description "d"
    func other() {
        1
    }
    main func() {
        x = "1"
        use one of {
            short: x max 10
            long: x
        } as evidence
        generate({ input: "Answer." }) -> { ok: boolean }
    }
}
`,
    );
});
afterAll(() => at.clear());

test("a command that there is not is answered with where the commands are listed", () => {
    const { code, out, err } = at.remit("unknowncommand");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toBe("error: unknown command 'unknowncommand'\n  remit --help lists the commands\n");
});

test.each([
    [["--input", "1", "--input", "2"], "error: --input is given twice\n  one value counts: leave the other out"],
    [["--timeout", "0"], "error: --timeout takes a number above 0"],
    [["--model", "x"], "error: --model: 'x' is not the URI of a model"],
    [["--model", "bogus://y"], "error: --model: no provider is called 'bogus'\n  a model is openai://MODEL"],
    [["--model", "opeani://y"], "error: --model: no provider is called 'opeani'\n  did you mean openai://y?"],
    [
        ["--model", "gpt-5"],
        "error: --model: 'gpt-5' is not the URI of a model\n  put its provider before it, such as openai://gpt-5; a model is",
    ],
    [["--model", "scripted:nowhere.json"], "error: --model: there is no file nowhere.json\n  write that file: a scripted model is"],
    [["--model", "scripted:a.remit"], "error: --model: the scripted model's file 'a.remit' is not JSON: "],
    [["--model", "scripted:three.json"], "'three.json' is neither a list of replies nor an object with replies, labels or rules"],
    [["--model", "recorded:nowhere.ndjson"], "error: --model: there is no file nowhere.ndjson\n  make that file with --record FILE"],
    [["--model", "recorded:a.remit"], "error: --model: the recording 'a.remit' cannot be read: line 1 is no reply"],
    [["--concurrency", "0"], "error: --concurrency takes a number above 0"],
    [["--concurrency", "-1"], "error: --concurrency takes a whole number such as 500 or 20k, not '-1'"],
    [["--variant", "evidence=short"], "error: there is no use one of at evidence\n  it has a.remit#A.main[evidence]"],
    [["--variant", "a.remit#A.main[evidence]=middle"], "has no candidate 'middle'\n  it has short, long"],
    [["--agent", "B"], "error: there is no agent 'B' in a.remit\n  it declares A"],
    [["--agent", "A", "--function", "nothing"], "error: agent A has no function 'nothing'\n  it declares other, main"],
] as const)("remit run %j", (options, message) => {
    const { code, out, err } = at.remit("run", "a.remit", ...options);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
    expect(err).not.toContain("run ");
    expect(at.remit("runs").err).toContain("No runs yet");
});

test("a file that is not there is an error, not a kind of failure, and says which programs are there", () => {
    at.write("one/main.remit", "main func() { 1 }");
    symlinkSync("loop.remit", join(at.folder, "loop.remit"));
    for (const command of ["run", "check", "compile"])
        for (const [name, said] of [
            ["one/nowhere.remit", "there is no file nowhere.remit\n  help: write one/main.remit"],
            ["one/main", "there is no file main\n  help: write one/main.remit"],
            ["one", "one is a folder\n  help: write one/main.remit"],
            ["loop.remit", "its links lead in a circle"],
        ] as const)
            expect(at.remit(command, name)).toEqual({ code: 1, out: "", err: expect.stringContaining(said) });
});

test("a run that is over is not resumed, which is said once", () => {
    at.write("one.remit", "main agent {\n    main func() {\n        1\n    }\n}\n");
    expect(at.remit("run", "one.remit", "--ledger", "own.db").code).toBe(0);
    const { code, err } = at.remit("resume", "last", "--ledger", "own.db");
    expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringMatching(/^error: run \S+ is over\n {2}remit trace shows it, remit replay repeats it\n$/),
    });
});

test("what the environment names is refused as the environment's", () => {
    const { code, err } = at.remitWith({ env: { REMIT_MODEL: "x" } }, "run", "a.remit");
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("error: REMIT_MODEL: 'x' is not the URI of a model") });
});

test("a candidate that is there is chosen", () => {
    const { code, err } = at.remit("run", "a.remit", "--trace", "--variant", "a.remit#A.main[evidence]=short");
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining("one of: short") });
});

describe("who answered", () => {
    const program = (model: string): string =>
        `import llm M from "${model}"\nmain agent A {\n    model M\n    role "r"\n    description "d"\n    main func() {\n        generate({ input: "Say it." })\n    }\n}\n`;
    test("is said where a model answered, in the singular where it is one effect", () => {
        at.write("answers.remit", program("mock:"));
        const { err } = at.remit("run", "answers.remit");
        expect(err).toContain("Answered by the mock model");
        expect(err).toMatch(/· 1 effect( ·|$)/m);
    });
    test("is said once and before the first call where it stands in for a model that cannot be used", () => {
        at.write("stands.remit", program("anthropic://claude"));
        const { err } = at.remitWith({ env: { REMIT_FALLBACK: "mock:" } }, "run", "stands.remit");
        expect(err.match(/in place of anthropic:\/\/claude.*ANTHROPIC_API_KEY is not set/g)).toHaveLength(1);
        expect(err.indexOf("in place of")).toBeLessThan(err.indexOf("done: generate"));
        expect(err).not.toContain("Answered by");
    });
    test("is not said where none did", () => {
        at.write("silent.remit", program("https://127.0.0.1:1/v1#m"));
        const { code, err } = at.remitWith(
            { env: { AGENTSCRIPT_LLM_TIMEOUT_MS: "200" } },
            "run",
            "silent.remit",
            "--model",
            "scripted:empty.json",
        );
        expect(code).toBe(2);
        expect(err).not.toContain("Answered by");
        at.write("empty.json", "[]");
        const none = at.remit("run", "silent.remit", "--model", "scripted:empty.json");
        expect(none.code).toBe(1);
        expect(none.err).not.toContain("Answered by");
    });
});

describe("trust", () => {
    const config = JSON.stringify({ mcpServers: { search: { command: "search-server" } } });
    test("is not given where nobody can be asked, but with --yes", () => {
        at.write("p/remit.json", config);
        const refused = at.remit("trust", "p");
        expect(refused.code).toBe(2);
        expect(refused.err).toContain("remit trust --yes");
        expect(existsSync(join(at.folder, ".config", "remit", "trust.json"))).toBe(false);
        const given = at.remit("trust", "p", "--yes");
        expect(given).toMatchObject({ code: 0, out: expect.stringContaining("trusted as it is now") });
        expect(at.remit("trust", "p", "--show").out).toContain("  trusted\n");
    });
});

test("remit tools FILE looks from the program's root, as running does", () => {
    at.write("q/remit.json", JSON.stringify({ allow: { local: ["tools/sum.ts"] } }));
    at.write("q/tools/sum.ts", "/** @readOnly */\nexport function add(a: number, b: number): number {\n    return a + b;\n}\n");
    at.write(
        "q/programs/a.remit",
        'import tool Sum from "../tools/sum.ts"\nmain agent A {\n    main func() {\n        Sum.add(1, 2)\n    }\n}\n',
    );
    expect(at.remit("run", "q/programs/a.remit", "--trust", "--quiet")).toEqual({ code: 0, out: "3\n", err: "" });
    const { code, out } = at.remit("tools", "q/programs/a.remit", "--trust");
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("reachable") });
    expect(out).toContain("add");
});

test("a program's file alone is run, with the options of `remit run`, as AgentScript's own command is called", () => {
    at.write("own.as", "main agent A { main func(input) { input.n + 1 } }\n");
    expect(at.remit("own.as", "--input", '{"n":1}', "--quiet")).toMatchObject({ code: 0, out: "2\n" });
    expect(at.remit("missing.as")).toMatchObject({ code: 1, err: expect.stringContaining("missing.as") });
});

test("the command that a missing input tells is one that a shell reads as it is meant, whatever the program's text says", () => {
    at.write("hostile.remit", `main func(a: "x'; touch pwned; '" | "b", c: string) { a }\n`);
    const { code, err } = at.remit("run", "hostile.remit");
    expect(code).toBe(2);
    const [, word] = /for example --input (.*)\n/.exec(err) as RegExpExecArray;
    const read = spawnSync("sh", ["-c", `printf %s ${word}`], { cwd: at.folder, encoding: "utf8" });
    expect(JSON.parse(read.stdout)).toEqual({ a: "x'; touch pwned; '", c: "…" });
    expect(readdirSync(at.folder)).not.toContain("pwned");
});

test("what a command cannot take names the thing, and what to write", () => {
    at.write("slip.remit", "main func(input: { message: string }) {\n    input.message\n}\n");
    at.write("broken.remit", "main func(input) {\n    x = ]\n}\n");
    const err = (...args: string[]): string => at.remit(...args).err;
    expect(err("trace")).toBe("error: missing required argument 'run'\n  write: remit trace <run>; remit trace --help lists the options\n");
    expect(err("fmt", "a.remit", "--write")).toContain("remit fmt --help lists the options");
    expect(err("fmt", ".")).toBe("error: . is a folder\n  name a file\n");
    expect(err("run", "slip.remit", "--input", "@.")).toBe("error: . is a folder\n  name a file\n");
    expect(err("run", "slip.remit", "--input", "three.json")).toContain("\n  it is the name of a file: write @three.json\n");
    // Longer than a name may be, and JSON.
    expect(at.remit("run", "slip.remit", "--input", `{"message": "${"x".repeat(300)}"}`).code).toBe(0);
    expect(err("init", "three.json")).toBe("error: three.json is a file\n  name a new folder\n");
    expect(err("verbs", "reed")).toBe("error: there is no verb 'reed'\n  did you mean 'read'?\n");
    expect(err("run", "slip.remit", "--input", '{"mesage": "x"}')).toContain(
        "help: the input has 'mesage': did you mean 'message'? give the input with --input",
    );
    const tools = at.remit("tools", "broken.remit");
    expect(tools.code).toBe(1);
    expect(tools.err).toContain("broken.remit:2:9: error SYNTAX");
});
