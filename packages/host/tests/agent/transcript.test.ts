/**
 * What agents report, as entries and as steps. The reports are those of real agents, cut short: opencode 1.18.33, qwen-code 0.24.4, gemini-cli 0.61.0,
 * codex-acp 2.6.0.
 */
import type { Json } from "@remit/language";
import { type AgentEntry, type AgentNote, type AgentReply, checkTrajectory, type Trajectory, trajectoryOf } from "@remit/machine";
import { expect, test } from "vitest";
import { replyNoted } from "../../../machine/src/ledger/notes.ts";
import { Transcript } from "../../src/agent/transcript.ts";
import { createScrubber } from "../../src/secret/scrub.ts";

type Update = { readonly [key: string]: unknown };
const call = (toolCallId: string, more: Update): Update => ({ sessionUpdate: "tool_call", toolCallId, status: "pending", ...more });
const later = (toolCallId: string, more: Update): Update => ({ sessionUpdate: "tool_call_update", toolCallId, ...more });
const say = (text: string, more: Update = {}): Update => ({
    sessionUpdate: "agent_message_chunk",
    content: { type: "text", text },
    ...more,
});
const block = (text: string): Update => ({ type: "content", content: { type: "text", text } });
const used = (inputTokens: number, outputTokens: number): Update => say("", { _meta: { usage: { inputTokens, outputTokens } } });

function told(updates: readonly Update[], answer: Update = {}) {
    const notes: AgentNote[] = [];
    const transcript = new Transcript({
        limits: {},
        secrets: createScrubber(),
        note: (note) => void notes.push(note),
        now: () => new Date(0),
    });
    for (const update of updates) transcript.update(update);
    transcript.answered(answer);
    const reply = transcript.reply({ stop: "end_turn", confinement: "sandbox", agent: undefined });
    return { reply, usage: transcript.usage(), notes };
}

function steps(reply: AgentReply, usage?: ReturnType<Transcript["usage"]>): Trajectory["steps"] {
    const turn = { prompt: [], reply, ...(usage === undefined ? {} : { usage }) };
    const { trajectory } = trajectoryOf({ agent: { name: "F" }, session: "main/F#0", turns: [turn], end: { reason: "done" } });
    expect(checkTrajectory(trajectory, { writing: true, exists: () => true })).toEqual([]);
    return (trajectory as unknown as Trajectory).steps.slice(1);
}

const names = (all: Trajectory["steps"]): (string | string[])[] =>
    all.map((step) => [String(step.message), ...(step.tool_calls ?? []).map((one) => one.function_name)]);
const callsIn = (reply: AgentReply): Extract<AgentEntry, { kind: "call" }>[] => reply.entries.filter((one) => one.kind === "call");

const OPENCODE = [
    say("I read it first.", { messageId: "m1" }),
    call("c1", { title: "read", kind: "read", rawInput: {} }),
    later("c1", { status: "in_progress", title: "read", rawInput: { filePath: "/w/a.txt" } }),
    call("c2", { title: "grep", kind: "search", rawInput: { pattern: "x" } }),
    later("c1", { status: "completed", title: "w/a.txt", content: [block("a needle")], rawOutput: { output: "<file>1: a needle</file>" } }),
    later("c2", { status: "completed", title: "x", content: [block("none")], rawOutput: { output: "none" } }),
    call("c3", { title: "edit", kind: "edit", rawInput: { filePath: "/w/a.txt" } }),
    later("c3", { title: "/w/a.txt", content: [{ type: "diff", path: "/w/a.txt", oldText: "a needle\n", newText: "a thread\n" }] }),
    later("c3", { status: "completed", title: "edit", content: [block("Edit applied successfully.")] }),
    say("Done.", { messageId: "m2" }),
    { sessionUpdate: "usage_update", used: 350, size: 1000 },
];
const LAST_ALONE = { usage: { inputTokens: 350, outputTokens: 12, totalTokens: 362 } };

test("a call keeps the name it was told of first, and what it changed", () => {
    const { reply } = told(OPENCODE);
    expect(callsIn(reply).map(({ name, title }) => [name, title])).toEqual([
        ["read", "w/a.txt"],
        ["grep", "x"],
        ["edit", "edit"],
    ]);
    expect(callsIn(reply)[2]?.diffs).toEqual([{ path: "/w/a.txt", old: "a needle\n", new: "a thread\n" }]);
    const [, third] = steps(reply);
    expect(third?.tool_calls?.[0]?.extra?.diffs).toEqual([{ path: "/w/a.txt", old_text: "a needle\n", new_text: "a thread\n" }]);
    expect(third?.observation?.results[0]?.content).toBe("Edit applied successfully.");
});

test("a step is one call of the model: what comes after all results begins the next", () => {
    const { reply } = told(OPENCODE);
    expect(names(steps(reply))).toEqual([["I read it first.", "read", "grep"], ["", "edit"], ["Done."]]);
});

test("a thought with an id of its own is of the message that comes next, in the same step", () => {
    const { reply } = told([
        { ...say("I look first.", { messageId: "p1" }), sessionUpdate: "agent_thought_chunk" },
        { ...say("Then I edit.", { messageId: "p2" }), sessionUpdate: "agent_thought_chunk" },
        ...OPENCODE.slice(0, -2),
        { ...say("All is well.", { messageId: "p3" }), sessionUpdate: "agent_thought_chunk" },
        ...OPENCODE.slice(-2),
    ]);
    expect(names(steps(reply))).toEqual([["I read it first.", "read", "grep"], ["", "edit"], ["Done."]]);
    expect(steps(reply).map((step) => step.reasoning_content)).toEqual(["I look first.\nThen I edit.", undefined, "All is well."]);
});

test("what a tool gave in the agent's own form is kept where it says more", () => {
    const [read, grep] = callsIn(told(OPENCODE).reply);
    expect(read).toMatchObject({ output: "a needle", raw: { output: "<file>1: a needle</file>" } });
    expect(grep).not.toHaveProperty("raw");
});

test("usage of the last call alone is partial; a sum is not", () => {
    expect(told(OPENCODE, LAST_ALONE).usage).toEqual({ input: 350, output: 12, partial: true });
    expect(told(OPENCODE, { usage: { inputTokens: 980, outputTokens: 40, totalTokens: 1020 } }).usage).toEqual({ input: 980, output: 40 });
    // one call of the model: its last is all
    expect(told([say("Hi."), OPENCODE.at(-1) as Update], LAST_ALONE).usage).toEqual({ input: 350, output: 12 });
    const { reply, usage } = told(OPENCODE, LAST_ALONE);
    expect(steps(reply, usage).at(-1)?.metrics).toEqual({ prompt_tokens: 350, completion_tokens: 12, extra: { partial: true } });
});

test("where each call of the model tells what it used, each step has that, and an empty text is no message", () => {
    const updates = [
        say("Both."),
        call("c1", { title: "ReadFile", _meta: { toolName: "read_file" } }),
        used(100, 20),
        later("c1", { status: "completed", content: [block("a")] }),
        call("c2", { title: "Shell", _meta: { toolName: "run_shell_command" } }),
        used(130, 5),
        later("c2", { status: "failed", content: [block("no")] }),
        say("Done."),
        used(150, 7),
    ];
    const { reply, usage } = told(updates);
    expect(reply.spent).toMatchObject({ steps: 4, calls: 2 });
    const all = steps(reply, usage);
    expect(names(all)).toEqual([["Both.", "read_file"], ["", "run_shell_command"], ["Done."]]);
    expect(all.map(({ metrics, llm_call_count }) => [metrics?.prompt_tokens, metrics?.completion_tokens, llm_call_count])).toEqual([
        [100, 20, 1],
        [130, 5, 1],
        [150, 7, 1],
    ]);
});

test("a call that the model is still writing is not of the call of the model that is over, whose own calls were not told", () => {
    const writing = (id: string): Update => call(id, { title: "Glob", _meta: { toolName: "glob", phase: "preparing" } });
    const done = (id: string): Update => later(id, { status: "completed", content: [block("a")] });
    const { reply, usage } = told([
        say("A plan."),
        used(100, 20),
        writing("c1"),
        writing("c2"),
        used(130, 5),
        done("c1"),
        done("c2"),
        say("Done."),
        used(150, 7),
    ]);
    const all = steps(reply, usage);
    expect(names(all)).toEqual([["A plan."], ["", "glob", "glob"], ["Done."]]);
    expect(all.map(({ metrics }) => metrics?.prompt_tokens)).toEqual([100, 130, 150]);
});

test("an id that names the tool and its place among the calls of a reply is read", () => {
    const id = (name: string, at: number, nth: number): string => `${name}__${name}_${at}_${nth}`;
    const done = (name: string, at: number, nth: number): Update =>
        call(id(name, at, nth), { status: "completed", title: "a.txt", kind: "read", content: [] });
    const at = 1795871490734;
    const { reply } = told([done("read_file", at, 0), done("glob", at, 1), done("read_file", at + 90, 0)]);
    expect(names(steps(reply))).toEqual([
        ["", "read_file", "glob"],
        ["", "read_file"],
    ]);
});

test("RPD3: what was shown before a call ran is no result, where the agent says at its end that there is none", () => {
    const shown = { kind: "execute", status: "in_progress", content: [block("[in /w]")] };
    const { reply } = told([
        call("c1", shown),
        later("c1", { status: "completed", content: [] }),
        call("c2", shown),
        later("c2", { status: "completed" }),
    ]);
    expect(callsIn(reply).map(({ status, output }) => [status, output])).toEqual([
        ["completed", undefined],
        ["completed", "[in /w]"],
    ]);
});

test("the output of an agent's own terminal is put together", () => {
    const piece = (data: string): Update => later("c1", { _meta: { terminal_output_delta: { data, terminal_id: "c1" } } });
    const { reply } = told([
        call("c1", { name: "exec_command", title: "ls", content: [{ type: "terminal", terminalId: "c1" }] }),
        piece("a\n"),
        piece("b\n"),
        later("c1", { status: "completed", rawOutput: { exit_code: 0 } }),
    ]);
    expect(callsIn(reply)).toMatchObject([{ name: "exec_command", output: "a\nb\n", raw: { exit_code: 0 }, status: "completed" }]);
});

test("no result is dropped in silence: pictures, documents, links, what is too large or too deep, and what comes beyond the last entry", () => {
    let deep: Json = "x";
    for (let i = 0; i < 600; i++) deep = [deep];
    const outputs = [
        { content: [block("see"), { type: "content", content: { type: "image", data: "aGk=", mimeType: "image/png" } }] },
        { content: [{ type: "content", content: { type: "resource", resource: { uri: "file:///a", text: "its text" } } }] },
        { content: [{ type: "content", content: { type: "resource_link", name: "report", uri: "file:///r.pdf" } }] },
        { rawOutput: deep },
        { rawOutput: { big: "x".repeat(1024 * 1024) } },
    ];
    const { reply } = told(outputs.map((more, nth) => call(`c${nth}`, { title: "t", status: "completed", ...more })));
    expect(callsIn(reply).map(({ output }) => output)).toEqual([
        [
            { type: "text", text: "see" },
            { type: "image", data: "aGk=", mimeType: "image/png" },
        ],
        "its text",
        "(report: file:///r.pdf)",
        "(not kept: it is nested too deep)",
        expect.stringContaining("(not kept: more than"),
    ]);
    const many = told(Array.from({ length: 10_003 }, (_, nth) => call(`c${nth}`, { title: "t", status: "completed" })));
    expect(many.reply).toMatchObject({ unkept: 3, spent: { steps: 10_003 } });
});

test("a compaction is told once, by its id, with its summary in its place", () => {
    const of = (compactionId: string, more: Update): Update => ({ sessionUpdate: "compaction_update", compactionId, ...more });
    const piece = (text: string): Update => ({
        sessionUpdate: "compaction_summary_chunk",
        compactionId: "k1",
        content: { type: "text", text },
    });
    const updates = [
        say("Before.", { messageId: "m1" }),
        of("k1", { status: "in_progress" }),
        piece("They read "),
        say("After.", { messageId: "m2" }),
        piece("a.txt."),
        of("k1", { status: "completed" }),
        of("k2", { status: "failed", error: "no room" }),
    ];
    const { reply, notes } = told(updates);
    expect(reply.entries.filter(({ kind }) => kind === "compaction")).toMatchObject([
        { id: "k1", status: "completed", summary: "They read a.txt." },
        { id: "k2", status: "failed", error: "no room" },
    ]);
    // what was noted on the way says the same
    expect(replyNoted(notes)?.reply.entries).toEqual(reply.entries);
    expect(
        steps(reply).map((step) => [step.source, step.message, step.extra?.context_management, step.observation?.results[0]?.content]),
    ).toEqual([
        ["agent", "Before.", undefined, undefined],
        ["system", "", { type: "compaction", boundary: "replace" }, "They read a.txt."],
        ["agent", "After.", undefined, undefined],
        ["system", "", { type: "compaction" }, undefined],
    ]);
});

test("TN5: a compaction that is told of again and again is noted no more than a turn keeps", () => {
    const update: Update = { sessionUpdate: "compaction_update", compactionId: "k1" };
    const summary = "x".repeat(4 * 1024 * 1024);
    let noted = 0;
    const transcript = new Transcript({
        limits: {},
        secrets: createScrubber(),
        note: (note) => (noted += JSON.stringify(note).length),
        now: () => new Date(0),
    });
    transcript.update({ ...update, summary: [{ type: "text", text: summary }] });
    for (let i = 0; i < 20; i++) transcript.update({ ...update, status: `${i}` });
    expect(noted).toBeLessThan(33 * 1024 * 1024);
    expect(transcript.breach).toMatchObject({ kind: "limit.bytes" });
});

test("a message of a try that failed is on record, and no part of the reply", () => {
    const back = (of: string): Update => ({ sessionUpdate: "notice", severity: "warning", title: "again", _meta: { "remit/restart": of } });
    const { reply } = told([say("half", { messageId: "m" }), back("m"), back("other"), say("all of it", { messageId: "m~1" })]);
    expect(reply.text).toBe("all of it");
    expect(reply.entries.map((entry) => (entry.kind === "message" ? entry.text : entry.kind))).toEqual(["half", "all of it"]);
    // Of what was not said yet nothing is kept.
    expect(told([back("later"), say("said", { messageId: "later" })]).reply.text).toBe("said");
});

test("codex's patch that deletes a file is no edit, and a call that was refused has failed when the turn is over", () => {
    const transcript = new Transcript({ limits: {}, secrets: createScrubber() });
    const diff = { type: "diff", path: "/w/a.txt", oldText: "a", newText: "", _meta: { kind: "delete" } };
    transcript.update(call("c1", { title: "Editing files", kind: "edit", content: [diff] }));
    transcript.asked({ toolCallId: "c1", title: "Edit files", kind: "edit", status: "pending" });
    expect(transcript.call("c1")).toMatchObject({ toolKind: "delete" });
    transcript.decided("c1", { allowed: false, by: "remit" });
    transcript.answered({});
    expect(transcript.call("c1")).toMatchObject({ status: "failed", ended: expect.any(String) });
});
