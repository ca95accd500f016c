/** The first minutes at a terminal: help, a new project, progress that leaves nothing behind. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FAILURE_KINDS } from "@remit/machine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sideBySide } from "../src/commands/init-from.ts";
import { scriptAt } from "../../host/tests/script.ts";
import { type Room, room } from "./remit.ts";

/** Where the command itself is, for what the programs of a project start. */
const BIN = fileURLToPath(new URL("../../../node_modules/.bin", import.meta.url));

let at: Room;
const read = (path: string): string => readFileSync(join(at.folder, path), "utf8");
beforeEach(() => {
    at = room();
});
afterEach(() => at.clear());

test("init makes a first project, and never writes over what is there", () => {
    expect(at.remit("init", "hello").code).toBe(0);
    expect(at.remit("init", "hello")).toMatchObject({ code: 2, err: expect.stringContaining("hello is not empty") });
    at.write("hello/main.remit", "mine");
    rmSync(join(at.folder, "hello/mailbox.txt"));
    symlinkSync(join(at.folder, "nowhere"), join(at.folder, "hello/mailbox.txt"));
    const again = at.remit("init", "hello", "--force");
    expect(again).toMatchObject({ code: 0, err: expect.stringMatching(/kept mailbox\.txt[\s\S]*kept main\.remit/) });
    expect(readdirSync(at.folder)).not.toContain("nowhere");
    expect(read("hello/main.remit")).toBe("mine");
    expect(at.remit("init", "other", "--template", "tirage")).toMatchObject({ code: 2, err: expect.stringContaining("triage") });
    const bare = at.remitWith({ env: { XDG_CACHE_HOME: at.folder, REMIT_MODEL: "", OPENAI_API_KEY: "" } }, "init", "bare");
    expect(bare.err).toContain("remit models pull local");
    at.remitWith({ env: { OPENAI_API_KEY: "k" } }, "init", "keyed");
    expect(read("keyed/main.remit")).toContain('import llm Model from "openai://');
});

test.each([
    ["start", [{ order: "A-1042" }, { order: "B-2077" }, { order: null }]],
    ["triage", { rows: [{ queue: "this week" }, { queue: "today" }, { queue: "today" }] }],
    ["extract", { rows: 3, left: [] }],
    ["research", { known: true, quotes: [{ id: "insulation.md" }] }],
    ["review", { findings: [{ file: "src/total.mjs", severity: "bug" }], dropped: 0 }],
    ["service", { order: "B-2077" }],
    ["nightly", { sales: 4, total: 298.75, negative: 1, report: "reports/2026-03-31.md" }],
])("the project %s checks, is formatted, and runs without a question", (template, value) => {
    expect(at.remit("init", "made", "--template", template).code).toBe(0);
    const env = { PATH: `${BIN}:${process.env["PATH"]}` };
    const own = (...args: string[]) => at.remitWith({ cwd: "made", env }, ...args);
    const programs = readdirSync(join(at.folder, "made")).filter((name) => name.endsWith(".remit"));
    expect(own("fmt", "--check", ...programs)).toEqual({ code: 0, out: "", err: "" });
    expect(own("check", ...programs).err).toBe("no errors\n");
    const model = template === "review" ? [] : ["--model", "scripted:replies.json", "--concurrency", "1"];
    const trust = template === "research" ? ["--trust"] : [];
    const mocked = own("run", "main.remit", "--input", "@input.json", "-q", "--mock", ...trust);
    expect({ code: mocked.code, err: mocked.err }).toEqual({ code: 0, err: "" });
    const { code, out, err } = own("run", "main.remit", "--input", "@input.json", "-q", ...model, ...trust);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(JSON.parse(out)).toMatchObject(value);
    // `remit trace last` is about this run, also where its tool server is a program
    expect(own("runs", "--limit", "1").out).toMatch(/ main\.remit\n?$/);
});

test.each([
    ["a choice makes the project", "\u001b[B\r", 0],
    ["Ctrl-D is no choice (PMT1)", "\u0004", 130],
])("on a terminal init asks what to build: %s", async (_, keys, code) => {
    const line = `'${process.execPath}' '${scriptAt("packages/cli/bin/remit.mjs")}' init made`;
    const shell = spawn("script", ["-qec", `stty cols 100 rows 40; ${line}`, "/dev/null"], {
        cwd: at.folder,
        env: { ...at.env, TERM: "xterm" },
    });
    let seen = "";
    let left = keys;
    shell.stdout.setEncoding("utf8").on("data", (text: string) => {
        seen += text;
        if (left === "" || !seen.includes("Enter: confirm")) return;
        shell.stdin.write(left);
        left = "";
    });
    const [exit] = await once(shell, "close");
    expect({ exit, unsettled: seen.includes("unsettled") }, seen).toEqual({ exit: code, unsettled: false });
    expect(existsSync(join(at.folder, "made/inbox"))).toBe(code === 0);
});

test.each(["langgraph", "ai-sdk", "mastra"])("a small agent of %s stands beside the same one here, which checks", (name) => {
    const wide = at.remit("init", "--from", name).out;
    expect(wide).toMatch(/^import .* import llm Model from "openai:\/\/gpt-5-mini"$/m);
    expect(sideBySide(name as "langgraph", 80)).toMatch(/^import llm Model from/m);
    const source = readFileSync(new URL("../templates/from/main.remit", import.meta.url), "utf8");
    for (const line of source.trimEnd().split("\n")) expect(wide).toContain(line);
    at.write("from.remit", source);
    expect(at.remit("check", "from.remit").err).toBe("no errors\n");
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
        /limit\.steps.*\n.*\n.*\n {2}about: remit errors limit\.steps\n {2}goes on: remit resume \S+ --raise 'main\/spend#0:steps=10'\n$/,
    );
    at.write("plain.remit", "main func() {\n    for x in [1, 2, 3] max 3 { y = x * 2 }\n    1\n}\n");
    expect(at.remit("run", "plain.remit", "--quiet", "--max-steps", "3").err).toContain("help: raise --max-steps");
});

test("a failure names the page on its kind, which `remit errors` shows; so does it of codes", () => {
    at.write("push.remit", "main func(input) { input.x.push(1) }\n");
    const { err } = at.remit("run", "push.remit", "-q", "--input", '{"x":[]}');
    expect(err).toContain("help: did you mean 'add'?\n  about: remit errors value\n");
    expect(at.remit("errors", "value").out).toContain("What to do:\n\n- `a?.b` gives none");
    expect(at.remit("errors", "flow_refused").out).toContain("FLOW_REFUSED (error)");
    expect(at.remit("errors", "valeu")).toMatchObject({ code: 2, err: expect.stringContaining("did you mean 'value'?") });
    for (const kind of Object.keys(FAILURE_KINDS)) expect(at.remit("errors").out).toContain(kind);
});

test("help says every command in a line, and each command gives an example", () => {
    const { out } = at.remit("--help");
    const commands = [...out.matchAll(/^ {2}([a-z]+)(?: [[<].*?)? {2,}\S/gm)]
        .map((found) => found[1] as string)
        .filter((one) => one !== "help");
    expect(commands).toEqual(
        "init models tools skills lock trust errors check fmt types parse compile explain run resume asks answer replay repl runs trace atif diff why audit cost debug snapshot plan verbs translate temporal worker submit schedule status result cancel approve signal serve open drive clients acp mcp ras reason agent act login logout credentials".split(
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

test.each([
    ["check", 'import tool Repo from "file://workspace"\nmain agent A { main func() {\nx = Repo.wirte(nowhere_at_all)\n} }\n'],
    ["audit", 'import tool Repo from "file://workspace" { wirte: ask, raed: may }\nmain func() { 1 }\n'],
    ["plan", 'memory static ( ( echo "one argument" <*> echo "another argument" ) >=> merge ) as joined\n'],
])("%s breaks its lines between words where the terminal is narrow, and says the same", (command, text) => {
    at.write("a.remit", text);
    fitsAndSays(40, command, "a.remit");
});

test("the help breaks its lines between words on a terminal of 80 columns", () => fitsAndSays(80, "--help"));

test("on a terminal of 40 columns what an option means stands below it", () => {
    const lines = fitsAndSays(40, "run", "--help");
    expect(lines.filter((line) => /^ {2}-.* {2}\S/.test(line))).toEqual([]);
    expect(lines.filter((line) => /^ {6}[a-z]/.test(line)).length).toBeGreaterThan(20);
});

function fitsAndSays(columns: number, ...args: string[]): string[] {
    const { seen } = at.onTerminal({ columns }, ...args);
    const lines = seen.replaceAll("\r", "").split("\n");
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
    // an indent that is further in than that of the line before is a break within a break
    if (args[0] === "--help") expect(lines.filter((line) => /^ {4,43}[a-z]/.test(line))).toEqual([]);
    const { out, err } = at.remit(...args);
    const words = (said: string): string[] => [...new Set(said.match(/[a-z_#'":0-9.]+/gi))].sort();
    const cut = words(seen).filter((word) => !words(out + err).includes(word));
    expect(cut).toEqual([]);
    return lines;
}
