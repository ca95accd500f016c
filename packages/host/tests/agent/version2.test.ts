/** Version 2 of the protocol behind `protocol: 2`, against an agent of the SDK's that speaks it. */
import { expect, test } from "vitest";
import { handOf, type Rig, rig, type RigMore } from "./rig.ts";
import { scriptAt } from "../script.ts";

const SECOND = scriptAt("packages/host/tests/agent/agents/second.ts");
const second = (more: RigMore = {}): Rig =>
    rig({ ...more, agent: { command: [process.execPath, SECOND], protocol: 2, mode: "code", ...more.agent } });

test("a turn: what it tells, what it asks, and its end", async () => {
    await using here = second({ allow: ["Repo.write a.txt"] });
    const hands = [handOf("file://workspace", { write: "ask" }), handOf("shell:", { run: "ask" }, undefined, "Shell")];
    const reply = await here.reply([], { hands, last: here.here.workspace });
    expect(reply).toMatchObject({
        text: "In mode code: hello.\n\nDone.",
        stop: "end_turn",
        agent: { name: "second", version: "0.2" },
        entries: [
            { kind: "thought", text: "Let me see." },
            { kind: "message", text: "In mode code: hello." },
            { kind: "plan", items: [{ content: "one", status: "completed" }] },
            {
                kind: "call",
                name: "edit_file",
                status: "completed",
                output: expect.stringMatching(/^modify .*a\.txt\ndid it$/),
                permission: { allowed: true },
            },
            { kind: "call", name: "edit_file", status: "failed", permission: { allowed: false, by: "remit" } },
            { kind: "call", toolKind: "execute", input: { command: "npm test" }, permission: { allowed: false } },
            { kind: "message", text: "Done." },
        ],
    });
    expect(here.uses.map(({ use }) => [use.tool, use.method, use.args[0]])).toEqual([
        ["Repo", "write", { path: "a.txt" }],
        ["Shell", "run", { command: "npm test" }],
    ]);
    expect((await here.reply([], { hands, last: here.here.workspace })).text).toContain("hello.");
});

test("a turn that is called off ends, and the session goes on", async () => {
    await using here = second();
    const stop = new AbortController();
    const turn = here.failure([], { last: "hang", signal: stop.signal });
    // it is at work: the answer to the prompt says so, and not that it is done
    await expect.poll(() => JSON.stringify(here.seen)).toContain("session_info_update");
    stop.abort();
    expect(await turn).toMatchObject({ kind: "cancelled" });
    expect(await here.failure([], { last: "break" })).toMatchObject({ kind: "unreachable", message: expect.stringContaining("no more") });
    expect((await here.reply([], { last: here.here.workspace })).stop).toBe("end_turn");
});

test("one that answers with another version is not spoken to", async () => {
    await using here = rig({ agent: { protocol: 2 } });
    expect(await here.failure([])).toMatchObject({
        kind: "unreachable",
        message: expect.stringContaining("it speaks version 1 of the Agent Client Protocol"),
    });
});
