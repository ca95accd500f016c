/** Whole runs with stub agents: every stub, every fault as the program sees it, recordings that play the same run, skills that reach the agent. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { canonicalJson, comparable, type LedgerEvent } from "@remit/machine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { load } from "../../src/run/program.ts";
import type { LoadOptions } from "../../src/run/setup.ts";

let root: string;
beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "remit-agents-"));
    writeFileSync(join(root, "remit.json"), "{}\n");
    writeFileSync(join(root, "a.txt"), "three tests failed");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function ran(source: string, input: Json = {}, options: LoadOptions = {}) {
    writeFileSync(join(root, "main.remit"), source);
    const program = await load<Json, Json>(join(root, "main.remit"), { workspace: root, cache: false, env: { HOME: root }, ...options });
    try {
        const handle = program.run(input);
        const result = await handle.result;
        const events: LedgerEvent[] = [];
        for await (const event of handle.events) events.push(event);
        return { result, events };
    } finally {
        await program.close();
    }
}
const yielding = (uri: string, tail = "-> json"): string => `import tool Repo from "file://workspace"
import agent Fixer from ${JSON.stringify(uri)}

main func(log: string) {
    try {
        return Fixer.yield(log: log, repo: Repo) with { turns: 3, silence: 200 } ${tail}
    } catch failure {
        return failure.kind
    }
}
`;

test.each<[string, Json]>([
    ["stub:noop", null],
    [`stub:value?json=${encodeURIComponent('{"a b": [1, -2.5, null, "\\u0001\\""]}')}`, { "a b": [1, -2.5, null, '\u0001"'] }],
    ["stub:passthrough?param=log", "red"],
    ["stub:source:answer.remit", "three tests failed: red"],
    ["stub:sequence:replies.json", "red in src"],
    ["stub:text?say=no+function", "invalid_payload"],
    ["stub:faulty?kind=refusal", "refusal"],
    ["stub:faulty?kind=unreachable", "unreachable"],
    ["stub:faulty?kind=timeout", "timeout"],
    ["stub:faulty?kind=rate_limited", "rate_limited"],
    ["stub:faulty?kind=invalid_payload", "invalid_payload"],
    ["stub:faulty?kind=crash", "unreachable"],
    ["stub:faulty?kind=silence", "timeout"],
    ["stub:faulty?kind=bad_source", "invalid_payload"],
    ["stub:faulty?kind=wrong_signature", "invalid_payload"],
    ["stub:faulty?kind=error_then_ok&times=2&json=7", 7],
    ["stub:faulty?kind=error_then_ok&times=3&json=7", "invalid_payload"],
])("F58: %s gives %j", async (uri, value) => {
    writeFileSync(
        join(root, "answer.remit"),
        'func answer(agent, log, repo) {\n    said = repo.read({ path: "a.txt" })\n    said.content + ": " + log\n}\n',
    );
    writeFileSync(
        join(root, "replies.json"),
        JSON.stringify([
            {
                source: "func answer(agent, log, repo) {\n    second = agent.yield(log: log) -> { where: string }\n    log + second.where\n}",
            },
            { value: { where: " in src" } },
        ]),
    );
    const { result } = await ran(yielding(uri), { log: "red" });
    expect(result).toMatchObject({ ok: true, value });
});

test("a function that asks its agent for a text", async () => {
    writeFileSync(
        join(root, "replies.json"),
        JSON.stringify([{ source: 'func answer(agent, log, repo) {\n    where = agent.send("Where?")\n    "second: " + where\n}' }, "src"]),
    );
    expect((await ran(yielding("stub:sequence:replies.json"), { log: "red" })).result).toMatchObject({ ok: true, value: "second: src" });
});

test("an answer that is too large is not run", async () => {
    const { result } = await ran(yielding("stub:faulty?kind=huge&bytes=2000000"), { log: "red" });
    expect(result).toMatchObject({ ok: true, value: expect.stringMatching(/^(?:invalid_payload|limit\.bytes)$/) });
});

test("F59: a recording plays the same value, steps and record; a changed handshake is told", async () => {
    writeFileSync(
        join(root, "replies.json"),
        JSON.stringify([
            { source: "func answer(agent, log, repo) {\n    return (\n}" },
            {
                source: 'func answer(agent, log, repo) {\n    said = repo.read({ path: "a.txt" })\n    { hint: log, said: said.content }\n}',
                use: [{ tool: "Repo", method: "read", args: [{ path: "a.txt" }] }],
                usage: { input: 100, output: 20, usd: 0.01 },
            },
        ]),
    );
    const source = yielding("stub:sequence:replies.json", "-> { hint: string, said: string }");
    const file = join(root, "recorded.ndjson");
    const first = await ran(source, { log: "red" }, { record: file });
    expect(first.result).toMatchObject({ ok: true, value: { hint: "red", said: "three tests failed" } });
    rmSync(join(root, "replies.json"));

    const again = await ran(source, { log: "red" }, { model: `recorded:${file}` });
    expect(again.result).toMatchObject({
        ok: true,
        value: first.result.value as Json,
        steps: first.result.steps,
        usage: first.result.usage,
    });
    const lines = (events: readonly LedgerEvent[]): string[] =>
        events.map((one) => canonicalJson(comparable(one) as unknown as Json)).sort();
    expect(lines(again.events)).toEqual(lines(first.events));
    const written = readFileSync(file, "utf8").trim().split("\n");
    expect(written).toHaveLength(2);
    expect(written[1]).toContain("Repo.read");

    const other = await ran(
        source.replace("return failure.kind", "return failure.message"),
        { log: "green" },
        { model: `recorded:${file}` },
    );
    expect(other.result.value).toMatch(/^no answer is recorded for Fixer .* turn 0: what is sent differs .*: handshake\.params\.log$/);
});

test("a skill that is imported reaches the agent, as it was when the program was loaded", async () => {
    mkdirSync(join(root, "skills/triage"), { recursive: true });
    writeFileSync(join(root, "skills/triage/SKILL.md"), "---\nname: triage\ndescription: Sorts.\n---\n\nLook at the log first.\n");
    const { events, result } = await ran(
        `import agent Fixer from "stub:noop"
import skill Triage from "./skills/triage"

main func(log: string) {
    Fixer.yield(log: log) with { skills: [Triage] }
}
`,
        { log: "red" },
    );
    expect(result.ok).toBe(true);
    const asked = events.find((one) => one.kind === "agent.asked")?.data as { prompt: { text: string }[] };
    const handshake = JSON.parse(asked.prompt[1]?.text ?? "") as { skills: { [name: string]: Json } };
    expect(Object.keys(handshake.skills)).toEqual(["protocol", "triage"]);
    expect(handshake.skills.triage).toMatchObject({ name: "triage", description: "Sorts.", inline: "Look at the log first." });
});
