/**
 * The tests' own agent at work for a real program: what it finds in its sandbox and may do with its hands follows from the program's remit, ruled
 * on by the machine, asked of whoever is there, made by the program's own tools.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Json } from "@remit/language";
import type { AskRequest, LedgerEvent } from "@remit/machine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openLedger } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";
import type { LoadOptions } from "../../src/run/setup.ts";
import { whyOf } from "../../src/run/why.ts";
import { type Act, AGENT } from "./rig.ts";

const ROOT = join(dirname(AGENT), "..", "..", "..", "..", "..");
let root: string;
beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "remit-hands-")));
    const tester = { command: [process.execPath, AGENT], sandbox: { read: [ROOT] }, graceMs: 300 };
    writeFileSync(join(root, "remit.json"), JSON.stringify({ agents: { tester } }));
    writeFileSync(join(root, "a.txt"), "inside");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

interface Did {
    readonly events: readonly LedgerEvent[];
    /** What the acts found out, in order. */
    readonly found: readonly Json[];
}

/** One `agent()` whose prompt is the acts. `remit`: of the agent, at its import. */
async function did(remit: string, acts: readonly Act[], options: LoadOptions = {}, more = "", before = ""): Promise<Did> {
    const file = join(root, "main.remit");
    const source = `import tool Repo from "file://workspace"
import tool Shell from "shell:"
${before}
import agent Fixer from "acp://tester" { remit { ${remit} } }

main func(acts: string) {
    return agent(acts, { agent: Fixer${more} })
}
`;
    writeFileSync(file, source);
    const program = await load<Json, Json>(file, {
        workspace: root,
        cache: false,
        trust: true,
        env: { HOME: root, PATH: process.env.PATH },
        ...options,
    });
    try {
        const handle = program.run({ acts: JSON.stringify(acts) });
        const result = await handle.result;
        const events: LedgerEvent[] = [];
        for await (const event of handle.events) events.push(event);
        if (!result.ok) throw new Error(JSON.stringify(result.failure));
        const { data } = result.value as { data?: { text: string } };
        const lines = (data?.text ?? "").split("\n").filter((line) => line !== "");
        return { events, found: lines.map((line) => JSON.parse(line) as Json) };
    } finally {
        await program.close();
    }
}

const closed = ({ events }: Did): Json => events.find(({ kind }) => kind === "yield.closed")?.data as Json;

describe("its budget", () => {
    test("a further try is a new process in a new session, and the last failure is told as it was", async () => {
        const log = join(root, "log.txt");
        const acts: Act[] = [{ do: "append", path: log, text: "tried" }, { do: "crash" }];
        const ran = await did("may Repo.read, Repo.write", acts, {}, ', on_error: "retry_within_budget", budget: { max_turns: 3 }');
        expect(readFileSync(log, "utf8")).toBe("tried".repeat(3));
        expect(closed(ran)).toMatchObject({
            ok: false,
            kind: "unreachable",
            turns: 3,
            error: expect.stringContaining("its process is gone"),
        });
    });

    test("calls of its hands are calls", async () => {
        const call = (n: number): Act => ({
            do: "update",
            update: { sessionUpdate: "tool_call", toolCallId: `c${n}`, title: "Look", kind: "read", status: "completed" },
        });
        const two = await did("may Repo.read\n spend 5 calls", [call(1), call(2)]);
        expect(closed(two)).toMatchObject({ ok: true, spent: { used: { calls: 3 } } });
        const eight = await did("may Repo.read\n spend 5 calls", [1, 2, 3, 4, 5, 6, 7, 8].map(call));
        expect(closed(eight)).toMatchObject({ ok: false, kind: "limit.calls" });
    });
});

describe("an MCP server of the program is passed on where all of it is granted", () => {
    test.each<[string, boolean, string?]>([
        ["may Fs", true],
        ["may all", true],
        ["", false],
        ["ask Fs", false],
        ["may Fs.read_file", false],
        ["may Fs\n never Fs.delete", false],
        ["may Fs\n ask Fs.delete", false],
        ["may Fs", false, "{ delete: ask }"],
        ["may Fs", false, "{ delete: never }"],
        ["may Fs", false, "{ arg path: trusted }"],
        ["may Fs", false, '{ reads: "hr" }'],
        ["may Fs", false, '{ reads look: "hr" }'],
    ])("%j: %s", async (remit, passed, clauses = "") => {
        const config = JSON.parse(readFileSync(join(root, "remit.json"), "utf8")) as { [key: string]: Json };
        const mcpServers = { fs: { command: process.execPath, args: ["--version"] }, other: { command: process.execPath, args: [] } };
        writeFileSync(join(root, "remit.json"), JSON.stringify({ ...config, mcpServers }));
        const { found } = await did(remit, [{ do: "about" }], {}, "", `import tool Fs from "mcp://fs" ${clauses}`);
        const { servers } = found[0] as { servers: { name: string }[] };
        expect(servers.map(({ name }) => name)).toEqual(passed ? ["fs"] : []);
    });
});

test("a server of the project that is passed on starts in the agent's sandbox, by arguments that were relative to the project", async () => {
    const config = JSON.parse(readFileSync(join(root, "remit.json"), "utf8")) as { [key: string]: Json };
    const args = ["tools/server.mjs", "--notes", "notes.txt", "nothing.txt", "."];
    writeFileSync(join(root, "remit.json"), JSON.stringify({ ...config, mcpServers: { notes: { command: "node", args } } }));
    mkdirSync(join(root, "tools"));
    writeFileSync(join(root, "notes.txt"), "a note");
    writeFileSync(join(root, "secret.txt"), "not this");
    writeFileSync(
        join(root, "tools/said.mjs"),
        "export const said = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));\n",
    );
    writeFileSync(
        join(root, "tools/server.mjs"),
        `import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { said } from "./said.mjs";
const [, , , notes] = process.argv;
for await (const line of createInterface({ input: process.stdin })) {
    const { id, method } = JSON.parse(line);
    if (method === "initialize") said(id, { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "notes", version: "1" } });
    if (method === "tools/list") said(id, { tools: [{ name: "read", inputSchema: { type: "object" } }] });
    if (method === "tools/call") said(id, { content: [{ type: "text", text: readFileSync(notes, "utf8") }] });
}
`,
    );
    const before = 'import tool Notes from "mcp://notes"';
    const { found } = await did("may Notes", [{ do: "about" }], {}, "", before);
    const [server] = (found[0] as { servers: { command: string; args: string[] }[] }).servers;
    expect(server?.args).toEqual([join(root, "tools/server.mjs"), "--notes", join(root, "notes.txt"), "nothing.txt", root]);
    const asked = [
        {
            id: 1,
            method: "initialize",
            params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } },
        },
        { method: "notifications/initialized" },
        { id: 2, method: "tools/call", params: { name: "read", arguments: {} } },
    ];
    const lines = asked.map((one) => `'${JSON.stringify({ jsonrpc: "2.0", ...one })}'`).join(" ");
    const command = [server?.command, ...(server?.args ?? [])].map((one) => `'${one}'`).join(" ");
    const ran = await did(
        "may Notes",
        [
            { do: "run", text: `printf '%s\\n' ${lines} | ${command}` },
            { do: "file", path: join(root, "secret.txt") },
        ],
        {},
        "",
        before,
    );
    expect(ran.found[0]).toMatchObject({ status: 0, stdout: expect.stringContaining('"text":"a note"') });
    expect(ran.found[1]).toMatchObject({ no: expect.stringMatching(/^(?:EACCES|ENOENT)$/) });
});

const writing = (): Act[] => [
    { do: "file", path: join(root, "a.txt") },
    { do: "write", path: join(root, "b.txt"), text: "by itself" },
];
const cannot = { no: expect.stringMatching(/^(?:EROFS|EACCES|ENOENT)$/) as Json };

describe("the folder in the sandbox is what the remit gives whole", () => {
    test.each<[string, string, { ok: Json } | { no: Json }, boolean]>([
        ["reads and writes without bounds", "may Repo.read, Repo.write", { ok: "inside" }, true],
        ["reads without bounds", "may Repo.read", { ok: "inside" }, false],
        ["writes within a bound", 'may Repo.read, Repo.write in "src/**"', { ok: "inside" }, false],
        ["writes after asking", "may Repo.read\n ask Repo.write", { ok: "inside" }, false],
        ["writes but in one place", 'may Repo.read, Repo.write\n never Repo.write in "keys/**"', { ok: "inside" }, false],
        ["everything but writing", "may Repo\n never Repo.write", { ok: "inside" }, false],
        ["everything, writing after asking", "may Repo\n ask Repo.write", { ok: "inside" }, false],
        ["everything but reading", "may Repo\n never Repo.read", cannot, false],
        ["reads within a bound", 'may Repo.read in "src/**"', cannot, false],
        ["reads but in one place", 'may Repo.read\n never Repo.read in "keys/**"', cannot, false],
        ["reads after asking, writes without", "may Repo.write\n ask Repo.read", cannot, false],
    ])("%s", async (_, remit, read, written) => {
        const { found } = await did(remit, writing());
        expect(found[0]).toEqual(read);
        expect(found[1]).toEqual(written ? { ok: null } : cannot);
        expect(existsSync(join(root, "b.txt"))).toBe(written);
    });

    test.each(["ask", "never"] as const)("reads alone, where the policy for what no clause speaks of is %s", async (untrusted) => {
        const { found } = await did("may Repo", writing(), { untrusted });
        expect(found).toEqual([{ ok: "inside" }, cannot]);
        expect(existsSync(join(root, "b.txt"))).toBe(false);
    });
});

test("what only some may read is no use for its hands, and is not in its sandbox", async () => {
    const acts: Act[] = [
        { do: "file", path: join(root, "hr", "b.txt") },
        { do: "request", method: "fs/read_text_file", params: { path: join(root, "hr", "b.txt") } },
    ];
    mkdirSync(join(root, "hr"));
    writeFileSync(join(root, "hr", "b.txt"), "salaries");
    for (const readers of ['"hr"', "result by", '"hr", "Fixer"']) {
        const ran = await did("may Hr", acts, {}, "", `import tool Hr from "file://workspace/hr" { reads: ${readers} }`);
        expect(ran.found[0]).toEqual(cannot);
        expect(ran.found[1]).toMatchObject({ no: expect.anything() as Json });
        expect(ran.events.filter(({ kind }) => kind === "policy.denied")).toHaveLength(1);
        expect(JSON.stringify(ran.found)).not.toContain("salaries");
    }
});

describe("its own hands are ruled on", () => {
    const call = (kind: string, path: string): Json => ({ toolCallId: `${kind} ${path}`, title: "Edit", kind, locations: [{ path }] });
    const acts = (): Act[] => [
        { do: "permission", call: call("edit", join(root, "free/a.txt")) },
        { do: "permission", call: call("edit", join(root, "src/a.txt")) },
        { do: "permission", call: call("edit", join(root, "keys/a.txt")) },
        { do: "permission", call: call("delete", join(root, "free/a.txt")) },
        { do: "request", method: "fs/write_text_file", params: { path: join(root, "src/b.txt"), content: "as ruled" } },
    ];
    const REMIT = 'may Repo.read, Repo.write in "free/**"\n ask Repo.write in "src/**"';
    const told = (...said: string[]): Json[] => said.map((optionId) => ({ ok: { outcome: "selected", optionId } }));

    test("what may be may be, what is asked is asked, nothing else is", async () => {
        const asked: AskRequest[] = [];
        const ask = (request: AskRequest): string => {
            asked.push(request);
            return "once";
        };
        const yes = await did(REMIT, acts(), { on: { ask } });
        expect(yes.found).toEqual([...told("a", "a", "r", "r"), { ok: {} }]);
        expect(readFileSync(join(root, "src/b.txt"), "utf8")).toBe("as ruled");
        expect(asked.map(({ question }) => question)).toEqual(["May Fixer call Repo.write?", "May Fixer call Repo.write?"]);
        expect(asked[1]?.detail).toMatchObject({ capability: "Repo.write", args: [{ path: "src/b.txt", content: "as ruled" }] });
        expect(yes.events.filter(({ kind }) => kind === "policy.denied")).toHaveLength(1);
        expect(yes.events.filter(({ kind }) => kind === "tool.started")).toMatchObject([{ data: { host: true } }]);
    });
    test("nobody there is a no", async () => {
        const no = await did(REMIT, acts());
        expect(no.found).toEqual([...told("a", "r", "r", "r"), { no: -32603 }]);
        expect(existsSync(join(root, "src"))).toBe(false);
    });
});

/** The same agent, with a secret of its own. */
const SECRET: Json = { tester: { command: [process.execPath, AGENT], sandbox: { read: [ROOT] }, graceMs: 300, env: { KEY: "$API_KEY" } } };

describe("a command", () => {
    const run = (command: string): Act => ({ do: "request", method: "terminal/create", params: { command } });
    const at = (method: string): Act => ({ do: "request", method: `terminal/${method}`, params: { terminalId: "terminal-1" } });

    test("ends with its own code", async () => {
        const { found } = await did("may Shell.run", [run("echo out; exit 3"), at("wait_for_exit"), at("output")]);
        expect(found[1]).toEqual({ ok: { exitCode: 3, signal: null } });
        expect(found[2]).toMatchObject({ ok: { output: "out\n" } });
    });
    test("shows what it printed so far while it runs, of both streams, and all of it when it has ended", async () => {
        const line = "echo one; while [ ! -e near ]; do sleep 0.02; done; echo two >&2; while [ ! -e go ]; do sleep 0.02; done; echo three";
        const until = (text: string): Act => ({ ...at("output"), do: "poll", text });
        const make = (name: string): Act => ({ do: "write", path: join(root, name), text: "" });
        const acts = [run(line), until("one"), make("near"), until("two"), make("go"), at("wait_for_exit"), at("output")];
        const { found } = await did("may Shell.run, Repo.read, Repo.write", acts);
        expect(found[1]).toEqual({ ok: { output: "one\n", truncated: false } });
        expect(found[3]).toEqual({ ok: { output: "one\ntwo\n", truncated: false } });
        expect(found[5]).toEqual({ ok: { exitCode: 0, signal: null } });
        expect(found[6]).toEqual({ ok: { output: "one\ntwo\nthree\n", truncated: false, exitStatus: { exitCode: 0, signal: null } } });
    });
    test("of which only so many bytes are kept shows the end, from the beginning of a character", async () => {
        const kept: readonly [limit: number, output: string][] = [
            [8, "€€\n"],
            [6, "€\n"],
            [1, "\n"],
            [0, ""],
        ];
        const acts = kept.flatMap(([outputByteLimit], index): Act[] => {
            const create = { do: "request", method: "terminal/create", params: { command: "printf '%s\\n' 'aaaa€€€'", outputByteLimit } };
            const terminalId = `terminal-${index + 1}`;
            const ended = ["wait_for_exit", "output"].map((one) => ({ do: "request", method: `terminal/${one}`, params: { terminalId } }));
            return [create, ...ended];
        });
        const { found } = await did("may Shell.run", acts);
        expect(found.filter((_, index) => index % 3 === 2)).toEqual(
            kept.map(([, output]) => ({ ok: { output, truncated: true, exitStatus: { exitCode: 0, signal: null } } })),
        );
    });
    test("that prints for ever can be read, killed, read again, waited for and released", async () => {
        const acts = [run("yes"), { ...at("output"), do: "poll", text: "y\ny" }, at("kill"), at("wait_for_exit"), at("output")];
        const { found, events } = await did("may Shell.run", [...acts, at("kill"), at("release"), at("output"), at("wait_for_exit")]);
        const [, during, , ended, after] = found as unknown as [null, ...{ ok: { output: string; truncated: boolean } }[]];
        expect(during?.ok).not.toHaveProperty("exitStatus");
        expect(during?.ok.output.length).toBeLessThanOrEqual(1024 * 1024);
        expect(ended).toEqual({ ok: { exitCode: null, signal: "SIGKILL" } });
        expect(after?.ok).toMatchObject({ output: expect.stringMatching(/y\n/), exitStatus: { exitCode: null, signal: "SIGKILL" } });
        expect(found.slice(5)).toEqual([{ ok: {} }, { ok: {} }, { no: -32002 }, { no: -32002 }]);
        expect(events.filter(({ kind }) => kind === "tool.ended")).toHaveLength(1);
    });
    test("shows no secret, not even one that comes in two pieces", async () => {
        writeFileSync(
            join(root, "remit.json"),
            JSON.stringify({ ...JSON.parse(readFileSync(join(root, "remit.json"), "utf8")), agents: SECRET }),
        );
        const secret = "k-0123456789abcdef";
        const halves = [secret.slice(0, 9), secret.slice(9)];
        const acts = [run(`printf %s ${halves[0]}; sleep 0.3; echo ${halves[1]}; echo end`), { ...at("output"), do: "poll", text: "end" }];
        const { found } = await did("may Shell.run", acts, { env: { HOME: root, PATH: process.env.PATH, API_KEY: secret } });
        expect(JSON.stringify(found)).not.toContain(secret);
        expect(found[1]).toMatchObject({ ok: { output: expect.stringMatching(/^.+\nend\n$/) } });
    });
    test.each(["kill", "release"])("is stopped by terminal/%s, and the tool call is over", async (method) => {
        const { found, events } = await did("may Shell.run", [run("sleep 600"), at(method), at("wait_for_exit")]);
        expect(found[1]).toEqual({ ok: {} });
        if (method === "kill") expect(found[2]).toEqual({ ok: { exitCode: null, signal: "SIGKILL" } });
        expect(events.find(({ kind }) => kind === "tool.ended")).toMatchObject({ data: { ok: false, failure: { kind: "cancelled" } } });
    });
    test("that is left behind ends with the turn, and before the turn does", async () => {
        const { events } = await did("may Shell.run", [run("sleep 600")]);
        const order = events.map(({ kind }) => kind).filter((kind) => kind === "tool.ended" || kind === "agent.answered");
        expect(order).toEqual(["tool.ended", "agent.answered"]);
    });
});

test("what its hands read stands beside what it said, with its place in the ledger", async () => {
    const ledger = await openLedger(join(root, "ledger.db"), { config: join(root, "config") });
    try {
        const read: Act = { do: "request", method: "fs/read_text_file", params: { path: join(root, "a.txt") } };
        const missing: Act = { do: "request", method: "fs/read_text_file", params: { path: join(root, "none.txt") } };
        const { events } = await did("may Repo.read", [read, missing], { ledger: ledger.store });
        const why = await whyOf(ledger.store, (await ledger.runs())[0]?.id ?? "", "data/text");
        expect(why.chain.map(({ what }) => what)).toContain("agent Fixer");
        const ended = events.filter(({ kind }) => kind === "tool.ended");
        expect(ended).toHaveLength(2);
        const turn = "main/agent#0/turn[0]";
        expect(why.hands).toEqual([
            { path: `${turn}/hand[0]`, turn, tool: "Repo", method: "read", args: [{ path: "a.txt" }], ok: true, seq: ended[0]?.seq },
            { path: `${turn}/hand[1]`, turn, tool: "Repo", method: "read", args: [{ path: "none.txt" }], ok: false, seq: ended[1]?.seq },
        ]);
        expect(why.origins).toContain("tool:Repo");
    } finally {
        await ledger.close();
    }
});

test("the trace context of the turn goes with its prompt", async () => {
    const traced = await did("may Repo.read", [{ do: "about" }], { telemetry: true });
    const [{ prompt }] = traced.found as unknown as [{ prompt: { _meta?: { traceparent?: string } } }];
    expect(prompt._meta?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    const [plain] = (await did("may Repo.read", [{ do: "about" }])).found as unknown as [{ prompt: object }];
    expect(plain.prompt).not.toHaveProperty("_meta");
});
