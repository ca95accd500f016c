/** What calls of a Re in Act program reach and how wrong ones end: policies, budgets, tools by name, arguments by name; and what is told outside. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Json } from "@remit/language";
import { atifOfRun, type LedgerEvent, otlp } from "@remit/machine";
import { afterAll, expect, test } from "vitest";
import { loadRas, type RasObservation, type RasRunOptions } from "../../src/ras/run.ts";
import { scriptAt } from "../script.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "remit-ras-calls-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function written(path: string, text: string): string {
    const full = join(folder, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
    return full;
}

const SERVER = scriptAt("packages/host/tests/tool/mcp-server.ts");
written("remit.json", JSON.stringify({ mcpServers: { notes: { command: "node", args: [SERVER, join(folder, "notes.txt")] } } }));
const script = written("script.json", JSON.stringify({ replies: [{ json: { queue: "billing" } }] }));
const env = { ...process.env, XDG_CONFIG_HOME: join(folder, ".config"), HOME: join(folder, "home") };

interface Ran {
    readonly seen: RasObservation;
    readonly events: readonly LedgerEvent[];
    readonly asked: readonly string[];
}

async function runs(name: string, text: string, more: RasRunOptions = {}): Promise<Ran> {
    const asked: string[] = [];
    const { program, input } = await loadRas(written(name, text), {
        workspace: folder,
        root: folder,
        model: `scripted:${script}`,
        env,
        trust: true,
        ...more,
    });
    try {
        const ask = async ({ question }: { readonly question: string }): Promise<string> => {
            asked.push(question);
            return "deny";
        };
        const handle = program.run(input({ mail: "m" }), { on: { ask } });
        const seen = await handle.value;
        const events: LedgerEvent[] = [];
        for await (const event of handle.events) events.push(event);
        return { seen, events, asked };
    } finally {
        await program.close();
    }
}

written("replies.json", JSON.stringify([{ text: "done", use: [{ tool: "Files", method: "read", args: [{ path: "mail.txt" }] }] }]));
written("mail.txt", "hello");
const AGENT = "stub:sequence:replies.json";
const TOOLS = written(
    "tools.remit",
    `import tool Files from "file://workspace"
import tool Notes from "mcp://notes"
import agent Other from "stub:text?say=x"
remit Reading { may Files.read, Files.list }
remit Nothing { never Files }
remit Elsewhere { may Other }
main func() { none }
`,
);

test("what agent() is told wrongly is its own error, in words of the program", async () => {
    const { seen } = await runs(
        "wrong.py",
        `for config in [{"policy": "NoSuch"}, {"policy": 5}, {"budget": {"maxSteps": 3}}, {"budget": 7}, {"tries": 2}, {"on_error": "ignore"}, {"agent": "X"}, {"budget": {"max_steps": -1}}, "quick"]:
    r = await agent("do it", config)
    print(r["error"]["message"] if isinstance(r["error"], dict) else r["error"])
fine = await agent("do it")
print(fine["data"]["text"], fine["data"]["trajectory"]["schema_version"][:6])
`,
        { agent: AGENT, toolsFile: TOOLS },
    );
    expect(seen.error).toBeUndefined();
    expect(seen.output).not.toContain("ras-bridge");
    expect(seen.output.split("\n")).toEqual([
        "there is no policy 'NoSuch'; there are Reading, Nothing",
        "there is no policy '5'; there are Reading, Nothing",
        expect.stringContaining("the budget has no 'maxSteps'"),
        "'budget' is an object",
        "agent() has no option 'tries'",
        expect.stringContaining("'on_error' is one of fail"),
        "agent(): which agent it is, is said by --agent",
        expect.stringContaining("'max_steps' of the budget"),
        "agent(): its config must be an object",
        "done ATIF-v",
        "",
    ]);
});

test("on_error fail is an error of the program at the line of the call, which it may catch", async () => {
    const text = `try:
    await agent("x", {"on_error": "fail", "budget": {"max_calls": 0}})
except AgentError as error:
    print("caught", error)
await agent("x", {"on_error": "fail", "policy": "None"})
`;
    const { seen } = await runs("fails.py", text, { agent: AGENT });
    expect(seen.output).toMatch(/^caught .*0 tool calls/);
    expect(seen.error).toMatch(/line 5[\s\S]*AgentError: there is no policy 'None'; this run has none/);
    const node = await runs("fails.ts", 'const x = 1;\nawait agent("x", { on_error: "fail", policy: "P" });\n', { agent: AGENT });
    expect(node.seen.error).toMatch(/^Error: there is no policy 'P'.*\n.*fails\.ts:2/);
});

test("a policy gives the agent what that remit of the tools' file gives, and without one it has no tools", async () => {
    const { events } = await runs(
        "policies.py",
        'for policy in ["Reading", "Nothing", None]:\n    await agent("x", {"policy": policy})\n',
        { agent: AGENT, toolsFile: TOOLS },
    );
    const used = events.filter((one) => one.kind === "tool.ended" && one.path.includes("/hand["));
    expect(used.map((one) => (one.data as { readonly ok: boolean }).ok)).toEqual([true]);
    const entries = events.flatMap((one) => {
        const { reply } = one.data as {
            readonly reply?: { readonly entries: readonly { readonly kind: string; readonly status?: string }[] };
        };
        return one.kind === "agent.answered" ? [reply?.entries.find(({ kind }) => kind === "call")?.status] : [];
    });
    expect(entries).toEqual(["completed", "failed", "failed"]);
});

test("tools that say that they only read are not asked about; a tool of a server goes by its own name; arguments by name are typed", async () => {
    const { seen, asked } = await runs(
        "reads.sh",
        `act add '{"note": "n"}' | jq -r '.isError'
act search --text - <<<"n" | jq -c '[.structuredContent.notes, .isError]'
act Files.read --path mail.txt | jq -r .structuredContent.content
act Files.write --path a.txt --content x | jq -r .isError
act refuse | jq -c '[.isError, .content[0].text, .structuredContent]'
act nosuch | jq -r .isError
act --manual nosuch; echo "code $?"
act --manual search | head -1
for name in Ras.start Ras.ready BridgeReader used worked drive; do act $name '{}' | jq -r .isError; done | sort | uniq -c | tr -d ' '
`,
        { toolsFile: TOOLS },
    );
    expect(seen.error).toBeUndefined();
    expect(seen.output.split("\n")).toEqual([
        "true",
        "[[],null]",
        "hello",
        "true",
        '[true,"Notes.refuse was not allowed",null]',
        "true",
        expect.stringContaining("there is no tool 'nosuch'"),
        "code 1",
        expect.stringMatching(/^Notes\.search \(or search\): Notes that contain/),
        "6true",
        "",
    ]);
    expect(asked).toEqual(["May Bridge call Notes.add?", "May Bridge call Files.write?", "May Bridge call Notes.refuse?"]);
});

test.each([
    ["nothing is said of them", "", {}, "seen"],
    ["another import of the same folder has a clause", 'import tool Same from "file:data" { read: ask }', {}, "missing"],
    ["the project says something of the folder", "", { clauses: { "file:data": "read: ask" } }, "missing"],
    ["the project says something of the tool", "", { clauses: { Data: "read: at most 1" } }, "missing"],
    ["the project binds who calls it", "", { remits: { BridgeReader: "never Data" } }, "missing"],
])("the files of a tool are beside the program only where no rule bounds them: %s", async (_, more, policy, expected) => {
    const at = (path: string): string =>
        join(`bound-${expected}-${Object.keys(policy).join("")}${JSON.stringify(policy).length}${more.length}`, path);
    written(at("data/a.txt"), "x");
    written(at("remit.json"), JSON.stringify({ policy }));
    const toolsFile = written(at("tools.remit"), `import tool Data from "file:data"\n${more}\nmain func() { none }\n`);
    const root = dirname(toolsFile);
    const { seen } = await runs("beside/look.sh", "test -e a.txt && echo seen || echo missing\n", { toolsFile, root, workspace: root });
    expect(seen.output).toBe(`${expected}\n`);
});

const attribute = (span: Json, key: string): Json | undefined =>
    (span as { attributes: { key: string; value: { stringValue: Json } }[] }).attributes.find((one) => one.key === key)?.value.stringValue;

test("spans and trajectory are those of the Riff: one workflow, a chat for each reason(), a tool for each act(), an agent for each agent()", async () => {
    const text = `RIFF_ID = "team.router.v1"
route = await reason("Route", {"queue": ""})
await act("Files.read", {"path": "mail.txt"})
await agent("do", {"policy": "Reading"})
print(route["data"]["queue"])
`;
    const { seen, events } = await runs("router.py", text, { agent: AGENT, toolsFile: TOOLS });
    expect(seen.output).toBe("billing\n");
    const body = otlp(events) as { resourceSpans: { scopeSpans: { spans: Json[] }[] }[] };
    const spans = body.resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
    const named = spans.map((span) => (span as { readonly name: string }).name);
    expect(named).toEqual([
        "invoke_workflow team.router.v1",
        "reason",
        expect.stringMatching(/^chat .*script\.json$/),
        "execute_tool Files.read",
        "agent WorkerReading",
        "invoke_agent WorkerReading",
        // the call as the agent tells of it, and the use of the program's tool that it led to
        "execute_tool Files.read",
        "execute_tool Files.read",
    ]);
    const told = spans.slice(6).map((span) => attribute(span as Json, "gen_ai.tool.call.id"));
    expect(told.toSorted()).toEqual(["use-1", undefined]);
    expect(attribute(spans[0] as Json, "gen_ai.workflow.name")).toBe("team.router.v1");
    expect(attribute(spans[2] as Json, "gen_ai.agent.name")).toBe("team.router.v1");
    const run = events[0]?.run ?? "";
    expect(String(attribute(spans[5] as Json, "gen_ai.conversation.id")).startsWith(`${run}/`)).toBe(true);
    expect(JSON.stringify(spans)).not.toMatch(/"Bridge|Ras\./);
    const trajectory = atifOfRun(events).trajectory as unknown as {
        readonly agent: { readonly name: string };
        readonly steps: readonly { readonly message: Json; readonly tool_calls?: readonly { readonly function_name: string }[] }[];
    };
    expect(trajectory.agent.name).toBe("team.router.v1");
    expect(trajectory.steps[0]?.message).toBe('{"mail":"m"}');
    expect(trajectory.steps.flatMap((step) => step.tool_calls ?? []).map((one) => one.function_name)).toEqual(["Files.read", "agent"]);
});
