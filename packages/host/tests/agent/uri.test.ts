/** What an agent's URI means, and what it takes to start a command. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Json } from "@remit/language";
import { AgentFail } from "../../src/agent/fail.ts";
import { type AgentTarget, targetOf, wordsOf } from "../../src/agent/uri.ts";
import { ConfigError } from "../../src/config/check.ts";
import { NO_CONFIG } from "../../src/config/config.ts";
import { work } from "../tool/setup.ts";
import { tellingScrubber } from "../secret/told.ts";

async function target(
    uri: string,
    json: Json = {},
    trust = true,
): Promise<AgentTarget & { readonly secrets: ReadonlyMap<string, string> }> {
    await using here = work();
    const secrets = new Map<string, string>();
    const env = { PATH: process.env.PATH ?? "", MY_KEY: "k-0123456789" };
    const config = here.config(json, trust);
    const made = targetOf(uri, { config, env, workspace: here.workspace, secrets: tellingScrubber(secrets) });
    return { ...made, secrets };
}
async function fails(uri: string, json?: Json, trust?: boolean): Promise<AgentFail> {
    try {
        await target(uri, json, trust);
    } catch (error) {
        if (error instanceof AgentFail) return error;
        throw error;
    }
    throw new Error(`${uri} was understood`);
}
const tester = (more: { readonly [key: string]: Json } = {}): Json => ({
    agents: { tester: { command: ["/bin/sh", "-c", "x"], ...more } },
});

test("a configured agent is its command, with the environment that its file names", async () => {
    const made = await target(
        "acp://tester",
        tester({ env: { KEY: "$MY_KEY", PLAIN: "p" }, endpoints: ["https://api.example.com"], sandbox: { read: ["lib"] } }),
    );
    expect(made).toMatchObject({
        kind: "process",
        command: "/bin/sh",
        args: ["-c", "x"],
        env: { KEY: "k-0123456789", PLAIN: "p" },
        protocol: 1,
    });
    expect([...made.secrets]).toEqual([["env:MY_KEY", "k-0123456789"]]);
    expect((made as unknown as { endpoints: URL[] }).endpoints.map(({ origin }) => origin)).toEqual(["https://api.example.com"]);
    expect((made as unknown as { read: string[] }).read[0]).toMatch(/work\/lib$/);
});

test("an argument that names a file of the configuration's folder is that file, and the agent may read it with its packages alone", async () => {
    await using here = work();
    const program = here.write("agent.mjs", "");
    const packages = here.write("package.json", "{}");
    here.write("lib/a.mjs", "");
    const agents = { mine: { command: ["node", "agent.mjs", "lib", ".", "../work", "--acp", ""] } };
    const config = here.config({ agents }, true);
    const found = targetOf("acp://mine", { config, env: here.env, workspace: "/elsewhere", secrets: tellingScrubber() });
    expect(found).toMatchObject({ fullArgs: [program, "lib", ".", "../work", "--acp", ""], read: [program, packages] });
});

test("an agent that is known but not here says what brings it", async () => {
    const error = await fails("acp://codex");
    expect(error).toMatchObject({ kind: "unreachable", hint: expect.stringContaining("npm install -g @agentclientprotocol/codex-acp") });
    expect(await fails("acp://nobody")).toMatchObject({
        kind: "unreachable",
        hint: expect.stringMatching(/^known are opencode, qwen-code/),
    });
    expect(await fails("acp://opencod")).toMatchObject({ hint: expect.stringMatching(/^did you mean 'opencode'\? known are /) });
    expect(await fails("acp://testr", tester())).toMatchObject({ hint: expect.stringMatching(/^did you mean 'tester'\? known are /) });
});

test("what opencode looks for is shown from the search path or from where it keeps its own, else it is said", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-uri-"));
    const program = (path: string): string => {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), "#!/bin/sh\n", { mode: 0o755 });
        return join(folder, path);
    };
    const opencode = program("bin/opencode");
    const of = (env: { readonly [name: string]: string }) =>
        targetOf("acp://opencode", { config: NO_CONFIG, env, secrets: tellingScrubber(), workspace: folder });
    const none = { PATH: join(folder, "bin"), HOME: join(folder, "home") };
    expect(of(none)).toMatchObject({
        command: opencode,
        programs: [],
        lacks: [expect.stringMatching(/^opencode finds no `rg`: .*`glob`.*ripgrep/)],
    });
    const kept = program("home/.cache/opencode/bin/rg");
    expect(of(none)).toMatchObject({ programs: [kept], lacks: [] });
    expect(of({ ...none, XDG_CACHE_HOME: join(folder, "elsewhere") })).toMatchObject({ programs: [] });
    const found = program("found/rg");
    expect(of({ ...none, PATH: `${none.PATH}${delimiter}${dirname(found)}` })).toMatchObject({ programs: [found], lacks: [] });
    rmSync(folder, { recursive: true });
});

test("opencode is told to ask before it changes something, unless the configuration says otherwise", async () => {
    const of = async (env: Json) => {
        const made = await target("acp://opencode", { agents: { opencode: { command: ["/bin/sh"], env } } });
        return made.kind === "process" ? made.env : {};
    };
    const asks = { edit: "ask", bash: "ask", webfetch: "ask", external_directory: "ask" };
    const { OPENCODE_PERMISSION: told = "", ...rest } = await of({ OPENCODE_CONFIG_CONTENT: "{}" });
    expect([JSON.parse(told), rest]).toMatchObject([asks, { OPENCODE_CONFIG_CONTENT: "{}" }]);
    expect(await of({ OPENCODE_PERMISSION: "{}" })).toMatchObject({ OPENCODE_PERMISSION: "{}" });
    expect(await target("acp://tester", tester())).toMatchObject({ env: {} });
});

test("a file that is not trusted starts nothing, and neither does a program of itself", async () => {
    expect(await fails("acp://tester", tester(), false)).toMatchObject({ kind: "denied", message: expect.stringContaining("not trusted") });
    expect(await fails("acp:/bin/sh -c x", {}, false)).toMatchObject({ kind: "denied", hint: expect.stringContaining("--trust") });
    expect(await fails("acp:/bin/sh -c x", tester(), false)).toMatchObject({ kind: "denied" });
    expect(await target("acp:/bin/sh -c x")).toMatchObject({ command: "/bin/sh", args: ["-c", "x"] });
});

test.each([
    ["a b  c", ["a", "b", "c"]],
    ['a \'b c\' "d \\" e" f\\ g', ["a", "b c", 'd " e', "f g"]],
    ["a ''", ["a", ""]],
])("words of %s", (line, words) => {
    expect(wordsOf(line)).toEqual(words);
});

test.each(["acp:", "acp://", "acp://..", "acp://a b", "acp:'x", "acp+ftp://x", "acp+http://"])("%s names no agent", async (uri) => {
    expect(await fails(uri)).toMatchObject({ kind: "unreachable" });
});

test("servers somewhere else are held to the addresses that programs may reach", async () => {
    expect(await target("acp+https://agents.example.com/acp")).toMatchObject({ kind: "remote", transport: "http" });
    expect(await target("acp+ws://127.0.0.1:9/acp")).toMatchObject({ kind: "remote", transport: "ws" });
    expect(await fails("acp+http://169.254.169.254/")).toMatchObject({ kind: "denied" });
    expect(await fails("acp+https://a:b@example.com/")).toMatchObject({ kind: "denied" });
});

test("the configuration is read strictly", async () => {
    await using here = work();
    const problems = (agent: Json): readonly string[] => {
        try {
            here.config({ agents: { a: agent } });
        } catch (error) {
            if (error instanceof ConfigError) return error.problems.map(({ key }) => key);
            throw error;
        }
        return [];
    };
    expect(problems({ command: [] })).toEqual(["agents.a.command"]);
    expect(problems({ commnd: ["x"] })).toEqual(["agents.a.commnd"]);
    expect(problems({ protocol: 3 })).toEqual(["agents.a.protocol"]);
    expect(problems({ endpoints: ["api.example.com"] })).toEqual(["agents.a.endpoints[0]"]);
    expect(problems({ options: { x: 7 } })).toEqual(["agents.a.options.x"]);
    expect(problems({ env: { A: "$B" }, mode: "code", options: { x: true, y: "z" }, graceMs: 10 })).toEqual([]);
});
