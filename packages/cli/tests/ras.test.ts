/** The commands `reason`, `act` and `remit ras` as a shell runs them, in real pipelines. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BIN, type Room, room } from "./remit.ts";
import { scriptAt } from "../../host/tests/script.ts";

const SERVER = scriptAt("packages/host/tests/tool/mcp-server.ts");

let here: Room;
beforeAll(() => {
    here = room();
    mkdirSync(join(here.folder, "bin"));
    for (const name of ["reason", "act"]) {
        const path = join(here.folder, "bin", name);
        writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${join(dirname(BIN), `${name}.mjs`)}' "$@"\n`);
        chmodSync(path, 0o755);
    }
    here.write(
        "model.json",
        JSON.stringify({
            rules: [
                { when: "which tools", reply: { json: ["bash", "webfetch"] } },
                { when: ["what failed", "E_DISK"], reply: { json: { cause: "disk", retry_cmd: "echo again" } } },
                { when: "sum up", reply: { json: { summary: "all is well" } } },
                { when: "never right", reply: { json: { other: 1 } } },
            ],
        }),
    );
});
afterAll(() => here.clear());

function bash(script: string): { readonly code: number | null; readonly out: string; readonly err: string } {
    const { status, stdout, stderr } = spawnSync("bash", ["-c", script], {
        cwd: here.folder,
        env: { ...here.env, PATH: `${join(here.folder, "bin")}:${process.env["PATH"]}`, REMIT_MODEL: "scripted:model.json" },
        encoding: "utf8",
    });
    return { code: status, out: stdout, err: stderr };
}

test("a manual is reasoned about, each tool named is used", () => {
    const { out, err } = bash(
        `act --manual | reason --prompt "which tools" --prompt - --structure '["tool_name"]' | jq -r '.data[]' | while read -r tool; do act --manual "$tool"; done`,
    );
    expect(err).toBe("");
    expect(out).toMatch(/^bash\.run: .*\n\{"type":"object".*"command".*\nwebfetch\.call: .*\n\{.*"url".*\n$/);
});

test("standard input stands where its dash does; what is reasoned is run", () => {
    const { out, code } = bash(
        `echo E_DISK | reason --prompt "what failed" --prompt - --prompt "be brief" --structure '{"cause": "", "retry_cmd": ""}' | jq -r .data.retry_cmd | { read -r cmd; act --may bash bash "$cmd"; } | jq -r '.content[0].text'`,
    );
    expect(out).toBe("again\n\n");
    expect(code).toBe(0);
});

test("an error is an envelope and exit code 1, a wrong command line 2", () => {
    const never = bash(`reason --prompt "never right" --structure '{"a": 1}'`);
    expect(never.code).toBe(1);
    expect(JSON.parse(never.out)).toEqual({ error: expect.stringContaining("'a'") });
    const denied = bash("act bash 'echo no'");
    expect(denied.code).toBe(1);
    expect(JSON.parse(denied.out)).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("not allowed") }] });
    const failed = bash("act --may bash bash --loud 'exit 3'");
    expect(JSON.parse(failed.out)).toMatchObject({ isError: true });
    expect(bash("reason --prompt x").code).toBe(2);
    expect(bash("act").code).toBe(2);
});

test("a Bash program that is run speaks to its own run, with one ledger and an equal replay", () => {
    here.write(
        "sum.sh",
        `RIFF_ID="sum"\nreason --prompt "sum up" --prompt "$(printf '%s' "$RIFF_PARAMS" | jq -r .who)" --structure '{"summary": ""}' | jq -r .data.summary\n`,
    );
    const { out, code } = here.remitWith(
        { env: { REMIT_MODEL: "scripted:model.json" } },
        "ras",
        "run",
        "sum.sh",
        "--input",
        "who=us",
        "-q",
    );
    expect([out, code]).toEqual(["all is well\n", 0]);
    expect(here.remit("replay", "last").out).toMatch(/equal: /);
});

test("act in a pipe: tools of the project's servers, standard input, arguments by name; what only reads is not asked about", () => {
    here.write("notes.txt", "build broke\n");
    here.write(
        "remit.json",
        JSON.stringify({ mcpServers: { notes: { command: "node", args: [SERVER, join(here.folder, "notes.txt")] } } }),
    );
    const { out, err } = bash(`
echo '{"text": "build"}' | act --trust search - | jq -c '[.structuredContent.notes, .isError]'
printf build | act --trust notes.search --text - | jq -c .structuredContent.notes
act --trust add --note x | jq -c '[.isError, .content[0].text]'
act --trust --may notes add --note x | jq -c .content[0].text
act --trust --may bash bash '{"cmd": "exit 3"}' | jq -c '[.isError, .structuredContent.exit_code]'
act --trust --manual nosuch; echo "code $?"
`);
    expect(err).toBe("");
    expect(out.split("\n")).toEqual([
        '[["build broke"],null]',
        '["build broke"]',
        expect.stringMatching(/^\[true,"notes\.add was not allowed/),
        '"note 2"',
        "[true,3]",
        expect.stringContaining("there is no tool 'nosuch'"),
        "code 1",
        "",
    ]);
});

test("a program that fails says where, and ends with 1", () => {
    here.write("bad.py", 'print("begun")\nraise ValueError("no")\n');
    const { out, err, code } = here.remitWith({ env: { REMIT_MODEL: "scripted:model.json" } }, "ras", "run", "bad.py", "-q");
    expect([out, code]).toEqual(["begun\n", 1]);
    expect(err).toContain('File "bad.py", line 2');
    expect(here.remit("ras", "run", "nothing.py").err).toContain("no file nothing.py");
});

test("no message names a file that nobody wrote", () => {
    here.write("calls.py", 'await reason("sum up", {"summary": ""})\nawait reason("sum up", {"summary": ""})\n');
    const env = { REMIT_MODEL: "scripted:model.json" };
    const over = here.remitWith({ env }, "ras", "run", "calls.py", "-q", "--max-steps", "30");
    expect([over.code, over.err]).toEqual([1, expect.stringMatching(/^limit\.steps: the run's budget of 30 steps/)]);
    const agent = here.remitWith({ env }, "ras", "run", "calls.py", "-q", "--agent", "nope:x");
    expect([agent.code, agent.err]).toEqual([1, expect.stringMatching(/^error: no agent has the scheme 'nope:'/)]);
});

test("says what a program is offered, with the extension ria.agent", () => {
    const { code, out } = bash(`'${process.execPath}' '${BIN}' ras capabilities`);
    expect(code).toBe(0);
    const said = JSON.parse(out) as { readonly extensions: readonly { readonly id: string }[] };
    expect(said.extensions.map((one) => one.id)).toEqual(["ria.agent"]);
});

test("Riffs of a project are named, trusted and then run", () => {
    here.write(".agents/riffs/hello.sh", 'RIFF_ID="hello"\necho hello\n');
    expect(here.remit("ras", "list")).toMatchObject({
        out: expect.stringMatching(/hello +bash +project +not trusted/),
        err: expect.stringContaining("remit trust"),
    });
    expect(here.remit("ras", "run", "hello", "--llm", "mock:")).toMatchObject({ code: 1, err: expect.stringContaining("remit trust") });
    expect(here.remit("trust", "--yes").out).toContain("Riff hello");
    expect(here.remit("ras", "run", "hello", "--llm", "mock:")).toMatchObject({ code: 0, out: "hello\n" });
});

test("what an answer without data was refused for is said where a program asks for its data", () => {
    here.write("refuse.json", JSON.stringify([{ fail: { kind: "refusal", message: "I will not do that" } }]));
    here.write("asks.py", 'v = await reason("hi", {"action": "x"})\nprint("data" in v, v.get("data"))\nprint(v["data"])\n');
    const { code, out, err } = here.remit("ras", "run", "asks.py", "--llm", "scripted:refuse.json");
    expect([code, out]).toEqual([1, "False None\n"]);
    expect(err).toMatch(/line 3, in <module>[\s\S]*KeyError: .*I will not do that/);
});

test("REMIT_MAY names what is called without a question, for a whole pipeline; --may comes before it", () => {
    const act = (may: string, ...more: string[]): { readonly code: number | null; readonly out: string } =>
        here.remitWith({ env: { REMIT_MAY: may } }, "act", ...more, "bash", "echo said");
    expect(act("bash,webfetch")).toMatchObject({ code: 0, out: expect.stringContaining("said") });
    expect(act("webfetch")).toMatchObject({ code: 1, out: expect.stringContaining("was not allowed") });
    expect(act("bash", "--may", "webfetch")).toMatchObject({ code: 1, out: expect.stringContaining("was not allowed") });
});

test("--may takes a method as act --manual lists it, and refuses what is not there", () => {
    const config = { mcpServers: { s: { command: process.execPath, args: [SERVER, join(here.folder, "may.txt")] } } };
    here.write("may/remit.json", JSON.stringify(config));
    const act = (may: string, ...args: string[]): { readonly code: number | null; readonly out: string; readonly err: string } =>
        here.remitWith({ cwd: "may" }, "act", "--trust", "--may", may, ...args);
    const said = (text: string): object => ({ code: 0, out: expect.stringContaining(text) });
    const refused = (text: string): object => ({ code: 1, out: expect.stringContaining(text) });
    expect(act("s.add", "s.add", "--note", "one")).toMatchObject(said("note 1"));
    expect(act("s.add", "add", "--note", "two")).toMatchObject(said("note 2"));
    expect(act("s.add", "s.touch")).toMatchObject(refused("was not allowed"));
    expect(act("s.add", "s.search", "--text", "o")).toMatchObject(said("one"));
    expect(act("bash.run", "shell", "echo said")).toMatchObject(said("said"));
    expect(act("s.ad", "s.touch")).toMatchObject(refused("the tool 's' has no method 'ad'; there are s.search, s.add"));
    const wrong = (may: string): string => act(may, "bash", "echo said").err;
    expect(wrong("bsah")).toContain("--may bsah: there is no tool 'bsah'");
    expect(wrong("nothing.at.all")).toContain("there are s, bash, shell, webfetch, skills");
    expect(wrong("bash.rnu")).toContain("the tool 'bash' has no method 'rnu'");
    expect(wrong("s.a-b")).toContain("no name of a method");
    here.write("gone/remit.json", JSON.stringify({ mcpServers: { s: { command: "no-such-command" } } }));
    const away = (...args: string[]): object =>
        here.remitWith({ cwd: "gone" }, "act", "--trust", "--may", "s.add", "--may", "bash", ...args);
    expect(away("bash", "echo said")).toMatchObject(said("said"));
    expect(away("s.add")).toMatchObject(refused("no-such-command"));
});

test("agent is a command of a pipe: the text before it is its task, its answer is one line, and an error is the exit code", () => {
    here.write(
        "jobs.remit",
        'import tool Files from "file://workspace"\nremit Reading { may Files.read, Files.list }\nmain func() { none }\n',
    );
    const stub = ["--agent", "stub:text?say=done"];
    const done = here.remitWith({ input: "find the cause" }, "agent", "--prompt", "Task:", "--prompt", "-", ...stub);
    expect(done).toMatchObject({ code: 0, err: "" });
    expect(JSON.parse(done.out)).toMatchObject({
        data: { text: "done", trajectory: { steps: [{ message: "Task:\n\nfind the cause" }, { message: "done" }] } },
    });
    const under = (policy: string): { readonly code: number | null; readonly out: string } =>
        here.remit("agent", "--prompt", "x", "--config", JSON.stringify({ policy }), "--tools", "jobs.remit", ...stub);
    expect(under("Reading").code).toBe(0);
    expect(under("Writing")).toMatchObject({ code: 1, out: expect.stringContaining("there is no policy 'Writing'; there are Reading") });
    const none = { on_error: "fail", tries: 2 };
    const failed = here.remit("agent", "--prompt", "x", "--config", JSON.stringify(none), ...stub);
    expect([failed.code, Object.keys(JSON.parse(failed.out) as object)]).toEqual([1, ["error"]]);
    expect(here.remit("agent", "--prompt", "x")).toMatchObject({ code: 1, out: expect.stringContaining("name one with --agent") });
});
