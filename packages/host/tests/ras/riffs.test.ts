/** Riffs as they are written in practice, run to the end; the same one in three languages leaves one trace. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Json } from "@remit/language";
import type { LedgerEvent } from "@remit/machine";
import { afterAll, expect, test } from "vitest";
import { trust } from "../../src/config/trust.ts";
import { readCommand } from "../../src/ras/command.ts";
import { callProgram, listRiffs, loadRas, type RasObservation, type RasRunOptions } from "../../src/ras/run.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "remit-riffs-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function written(path: string, text: string): string {
    const full = join(folder, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
    return full;
}

interface Ran {
    readonly seen: RasObservation;
    readonly events: readonly LedgerEvent[];
}

/** `replies`: what the model says, in order. */
async function runs(what: string, replies: readonly Json[], more: RasRunOptions = {}, inputs: Json = {}): Promise<Ran> {
    const script = written("script.json", JSON.stringify({ replies: replies.map((json) => ({ json })) }));
    const { program, input } = await loadRas(what, {
        workspace: folder,
        model: `scripted:${script}`,
        env: { ...process.env, XDG_CONFIG_HOME: join(folder, ".config"), HOME: join(folder, "home") },
        ...more,
    });
    try {
        const handle = program.run(input(inputs));
        const seen = await handle.value;
        const events: LedgerEvent[] = [];
        for await (const event of handle.events) events.push(event);
        return { seen, events };
    } finally {
        await program.close();
    }
}

const tools = written(
    "tools.remit",
    `import tool bash from "shell:" { run: may }
import tool notify from "host:notify" { call: may }
main func() { none }
`,
);
const notify = { notify: { call: (args: Json) => ({ sent: args }) } };

test("a health check: a loop, a verdict, printed as Python prints it", async () => {
    const file = written(
        "health.py",
        `RIFF_ID = "team.health_check.v1"
import json
attempt = 0
while attempt < 3:
    attempt += 1
    probe = await act("bash", "cat state-" + str(attempt) + ".txt")
    verdict = await reason(
        ["Goal: is the service healthy?", "Observation: " + probe["content"][0]["text"], f"Attempt {attempt} of 3"],
        {"healthy": True, "action": "wait", "reason": ""},
    )
    if verdict["data"]["healthy"]:
        break
print(verdict["data"])
`,
    );
    written("state-1.txt", "503\n");
    written("state-2.txt", "200\n");
    const { seen } = await runs(
        file,
        [
            { healthy: false, action: "wait", reason: "503" },
            { healthy: true, action: "none", reason: "200" },
        ],
        { toolsFile: tools, tools: notify },
    );
    expect(seen).toEqual({ output: "{'healthy': True, 'action': 'none', 'reason': '200'}\n" });
});

test("a retry gate: a failing command is an error result, not an exception", async () => {
    const file = written(
        "gate.py",
        `RIFF_ID = "team.ci_retry_gate.v1"
result = await act("bash", "echo flaky; exit 1")
if result.get("isError"):
    gate = await reason(f"Retry? {result['content'][0]['text']}", example={"action": "retry"})
    if gate["data"]["action"] == "retry":
        result = await act("bash", {"cmd": "echo ok"})
return {"ok": not result.get("isError"), "text": result["content"][0]["text"]}
`,
    );
    expect((await runs(file, [{ action: "retry" }], { toolsFile: tools, tools: notify })).seen).toEqual({
        output: "",
        value: { ok: true, text: "ok\n" },
    });
});

test("a research brief: questions at once, one after the other in the ledger", async () => {
    const file = written(
        "brief.py",
        `import asyncio
plan = await reason("Which questions?", ["question"])
claims = await asyncio.gather(*[reason(["Answer", q], {"claims": [{"fact": "", "evidence": ""}]}) for q in plan["data"]])
for one in claims:
    for claim in one["data"]["claims"]:
        print("-", claim["fact"])
`,
    );
    const claim = (fact: string): Json => ({ claims: [{ fact, evidence: "e" }] });
    expect((await runs(file, [["a", "b"], claim("one"), claim("one")])).seen.output).toBe("- one\n- one\n");
});

const ROUTER = {
    py: `route = await reason(["Route this", inputs["mail"]], {"queue": "", "urgent": True})
note = await act("notify", {"to": route["data"]["queue"]})
missing = await act("nosuch", {})
print(note["structuredContent"]["sent"]["to"], missing["isError"])
`,
    ts: `const route = await reason(["Route this", inputs.mail], { queue: "", urgent: true });
const note = await act("notify", { to: route.data.queue });
const missing = await act("nosuch", {});
console.log(note.structuredContent.sent.to, missing.isError ? "True" : "False");
`,
    sh: `queue=$(reason --prompt "Route this" --prompt "$(printf '%s' "$RIFF_PARAMS" | jq -r .mail)" --structure '{"queue": "", "urgent": true}' | jq -r .data.queue)
to=$(act notify "{\\"to\\": \\"$queue\\"}" | jq -r .structuredContent.sent.to)
missing=$(act nosuch | jq -r .isError)
echo "$to \${missing^}"
`,
};

test("an inbox router in Python, TypeScript and Bash leaves one trace", async () => {
    const traces: Json[] = [];
    for (const [ending, text] of Object.entries(ROUTER)) {
        const file = written(`router.${ending}`, text);
        const { seen, events } = await runs(
            file,
            [{ queue: "billing", urgent: false }],
            { toolsFile: tools, tools: notify },
            { mail: "where is my invoice" },
        );
        expect(seen, ending).toEqual({ output: "billing True\n" });
        const trace = events.flatMap((event): Json[] => {
            const data = event.data as { readonly [name: string]: Json };
            if (data.tool === "Ras" || event.kind.startsWith("run.")) return [];
            return [
                [
                    event.kind,
                    event.path,
                    data.tool ?? null,
                    data.args ?? null,
                    data.instruction ?? null,
                    data.items ?? null,
                    data.messages ?? null,
                    data.schema ?? null,
                ],
            ];
        });
        expect(trace.map((one) => (one as Json[])[0])).toContain("generate.started");
        expect(trace.map((one) => (one as Json[])[0])).toContain("tool.started");
        traces.push(trace);
    }
    expect(traces[1]).toEqual(traces[0]);
    expect(traces[2]).toEqual(traces[0]);
});

test("Riffs as skills: found, listed, called by each other to a bounded depth", async () => {
    written(
        ".agents/riffs/greet/SKILL.md",
        `---
name: greet
description: Greets somebody.
metadata:
  riff: "true"
  script: scripts/ras.py
  parameters: '{"type": "object", "properties": {"who": {"type": "string"}}}'
---
Greets.
`,
    );
    written(
        ".agents/riffs/greet/scripts/ras.py",
        'import os, json\nreturn {"text": "hello " + json.loads(os.environ["RIFF_PARAMS"])["who"]}\n',
    );
    written(".agents/riffs/deep.sh", 'RIFF_ID="deep"\nact deep | jq -r ".content[0].text"\n');
    written(".agents/skills/plain/SKILL.md", "---\nname: plain\ndescription: No Riff.\n---\nText.\n");
    const env = { ...process.env, XDG_CONFIG_HOME: join(folder, ".config"), HOME: join(folder, "home") };
    const caller = written(
        "caller.ts",
        'const r = await act("greet", { who: "Ann" });\nconst m = await act("__manual__", {});\nconsole.log(r.structuredContent?.text ?? r.content[0].text, m.content[0].text.includes("greet: Greets"), m.content[0].text.includes("Ras."));\n',
    );
    // not before they are trusted
    const found = listRiffs({ workspace: folder, env });
    expect(found.riffs).toEqual([]);
    expect(found.withheld.map(({ name, trust: mark }) => [name, mark?.state])).toEqual([
        ["deep", "unknown"],
        ["greet", "unknown"],
    ]);
    expect((await runs(caller, [])).seen.output).toMatch(
        /^the Riff 'greet' came with the project and is not trusted \(read .*, then: remit trust\) false false\n$/,
    );
    await expect(runs("deep", [])).rejects.toMatchObject({
        failure: {
            kind: "denied",
            message: "the Riff 'deep' came with the project and is not trusted",
            hint: expect.stringContaining("remit trust"),
        },
    });
    expect((await runs(caller, [], { trust: true })).seen.output).toBe("hello Ann true false\n");
    for (const { trust: mark } of found.withheld) if (mark !== null) trust(mark.path, env, mark);
    const listed = listRiffs({ workspace: folder, env });
    expect(listed.warnings).toEqual([]);
    expect(listed.riffs.map(({ name, language, scope }) => [name, language, scope])).toEqual([
        ["deep", "bash", "project"],
        ["greet", "python", "project"],
    ]);
    expect((await runs(caller, [])).seen).toEqual({ output: "hello Ann true false\n" });
    expect((await runs("deep", [])).seen.output.trim()).toBe("Riffs call each other more than 5 deep");
    // nor after a change
    written(".agents/riffs/greet/scripts/ras.py", 'return {"text": "changed"}\n');
    expect((await runs(caller, [])).seen.output).toContain("the Riff 'greet' has changed since it was trusted");
});

test("a tool that nobody allowed is an error result; the bridge's own names are out of reach", async () => {
    const file = written(
        "denied.py",
        'for name in ["bash", "Ras.start", "Ras", "drive"]:\n    r = await act(name, "touch /tmp/x")\n    print(r["isError"], r["content"][0]["text"])\n',
    );
    const { seen } = await runs(file, []);
    expect(seen.output).toMatch(
        /^True bash.run was not allowed.*\nTrue there is no tool 'Ras.start'.*\nTrue there is no tool 'Ras'.*\nTrue there is no tool 'drive'.*\n$/,
    );
});

test.each([
    [[], 3],
    [["--attempts", "1"], 1],
    [["--attempts=5"], 5],
])("`reason` with %j asks a model that is never right %i times", async (more, times) => {
    const script = written("never.json", JSON.stringify({ replies: Array.from({ length: 6 }, () => ({ json: { other: 1 } })) }));
    const read = readCommand("reason", ["--prompt", "Why?", "--structure", '{"cause": ""}', ...more], "");
    if (!read.ok) throw new Error(read.message);
    const env = { ...process.env, XDG_CONFIG_HOME: join(folder, ".config"), HOME: join(folder, "home") };
    const program = await callProgram("reason", { workspace: folder, model: `scripted:${script}`, env });
    const handle = program.run(read.args);
    expect(await handle.value).toEqual({ error: expect.any(String) });
    const kinds: string[] = [];
    for await (const event of handle.events) kinds.push(event.kind);
    expect(kinds.filter((kind) => kind === "generate.attempt")).toHaveLength(times);
    await program.close();
});

test.each(["0", "11", "two", "1.5", ""])("--attempts %j is a wrong command line", (attempts) => {
    expect(readCommand("reason", ["--prompt", "x", "--structure", '""', "--attempts", attempts], "")).toMatchObject({
        ok: false,
        message: expect.stringContaining("from 1 to 10"),
    });
});
