/** Attacks by what an agent tells in a turn: so much, or nested so deep, that whoever keeps it breaks. */
import { expect, test } from "vitest";
import { weightOf } from "../../src/agent/reported.ts";
import { Transcript } from "../../src/agent/transcript.ts";
import { createScrubber } from "../../src/secret/scrub.ts";

const MI = 1024 * 1024;
const LARGE = "x".repeat(4 * MI);

function nested(depth: number): unknown {
    let value: unknown = 1;
    for (let i = 0; i < depth; i++) value = [value];
    return value;
}

const PARTS: readonly [string, (i: number) => { [key: string]: unknown }][] = [
    ["pictures", () => ({ sessionUpdate: "agent_message_chunk", content: { type: "image", mimeType: "image/png", data: LARGE } })],
    [
        "documents",
        (i) => ({ sessionUpdate: "agent_message_chunk", content: { type: "resource", resource: { uri: `x:${i}`, text: LARGE } } }),
    ],
    ["arguments of calls", (i) => ({ sessionUpdate: "tool_call", toolCallId: `c${i}`, rawInput: { text: LARGE } })],
    ["names of calls", (i) => ({ sessionUpdate: "tool_call", toolCallId: `${LARGE}${i}`, title: LARGE })],
    ["places of calls", (i) => ({ sessionUpdate: "tool_call", toolCallId: `c${i}`, locations: [{ path: LARGE }] })],
    ["plans", () => ({ sessionUpdate: "plan", entries: [{ content: LARGE, status: "pending" }] })],
    ["thoughts", () => ({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: LARGE } })],
];

test.each(PARTS)("%s without end pass a limit, and no more is kept", (_name, update) => {
    const said = new Transcript({ limits: {}, secrets: createScrubber() });
    let told = 0;
    while (said.breach === null && told < 50) said.update(update(told++));
    expect(said.breach).toMatchObject({ kind: "limit.bytes" });
    for (let i = 0; i < 20; i++) said.update(update(told++));
    expect(weightOf(said.reply({ stop: "cancelled", confinement: "remote", agent: undefined }), 200 * MI)).toBeLessThan(64 * MI);
});

test("one call that is told again and again is counted once", () => {
    const said = new Transcript({ limits: {}, secrets: createScrubber() });
    const text = "x".repeat(MI);
    for (let i = 0; i < 200; i++) said.update({ sessionUpdate: "tool_call_update", toolCallId: "c", rawInput: { text }, rawOutput: { i } });
    expect(said.breach).toBeNull();
    expect(said.call("c")?.input).toEqual({ text });
});

test("what is nested too deep is not told, and no arguments of before stand in its place", () => {
    const said = new Transcript({ limits: {}, secrets: createScrubber() });
    said.update({ sessionUpdate: "tool_call", toolCallId: "c", kind: "execute", rawInput: { command: "ls" } });
    said.update({ sessionUpdate: "tool_call_update", toolCallId: "c", rawInput: { command: nested(100_000) }, rawOutput: nested(100_000) });
    expect(said.call("c")).not.toHaveProperty("input");
    expect(said.call("c")?.output).toBe("(not kept: it is nested too deep)");
    said.update({ sessionUpdate: "tool_call_update", toolCallId: "c", rawInput: { command: nested(20) } });
    expect(said.call("c")?.input).toEqual({ command: nested(20) });
});

test("a call that changes without end passes a limit, and no more of it is noted", () => {
    const notes: unknown[] = [];
    const said = new Transcript({ limits: {}, secrets: createScrubber(), note: (note) => void notes.push(note) });
    const change = (i: number): void =>
        said.update({
            sessionUpdate: "tool_call_update",
            toolCallId: "c",
            status: i % 2 === 0 ? "pending" : "completed",
            rawInput: { text: LARGE },
        });
    let told = 0;
    while (said.breach === null && told < 50) change(told++);
    expect(said.breach).toMatchObject({ kind: "limit.bytes" });
    for (let i = 0; i < 20; i++) change(told++);
    expect(weightOf(notes, 200 * MI)).toBeLessThan(33 * MI);
});

test("updates of a call that say nothing new are noted once", () => {
    const notes: unknown[] = [];
    const said = new Transcript({ limits: {}, secrets: createScrubber(), note: (note) => void notes.push(note) });
    for (let i = 0; i < 1000; i++)
        said.update({ sessionUpdate: "tool_call_update", toolCallId: "c", status: "in_progress", rawOutput: { printed: "x".repeat(i) } });
    expect(notes).toHaveLength(1);
});
