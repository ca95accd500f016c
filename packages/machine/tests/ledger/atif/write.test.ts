/** ATIF as it is written: sessions with agents and whole runs, valid whatever the agents said. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "@remit/language";
import {
    type AgentReply,
    atifOfRun,
    atifText,
    checkTrajectory,
    readTrajectory,
    type Trajectory,
    trajectoryOf,
} from "../../../src/index.ts";
import { event, RUN, sample as sampleRun, seal } from "../support.ts";
import { schemaProblems, turns } from "./support.ts";

const END = { stop: "end_turn", reason: "done" };
const AGENT = { name: "Fixer" };
const base: Pick<AgentReply, "confinement" | "spent" | "stop"> = {
    confinement: "sandbox",
    spent: { steps: 3, calls: 1, ms: 9 },
    stop: "end_turn",
};

/** What was written, after it passed every check of a writer. */
function valid(written: { readonly trajectory: Json; readonly media: readonly { readonly path: string }[] }): Trajectory {
    expect(
        checkTrajectory(written.trajectory, { writing: true, exists: (path) => written.media.some((one) => one.path === path) }),
    ).toEqual([]);
    const trajectory = written.trajectory as unknown as Trajectory;
    if (trajectory.schema_version === "ATIF-v1.7") expect(schemaProblems(written.trajectory)).toEqual([]);
    return trajectory;
}

test("a session is its prompts, thoughts, messages and calls, and nothing that nobody said", () => {
    const reply: AgentReply = {
        ...base,
        text: "Done.",
        agent: { name: "opencode", version: "1.2", model: "m-1" },
        entries: [
            { kind: "thought", text: "Look first.", time: "2026-11-21T12:00:00Z" },
            { kind: "message", text: "I look." },
            {
                kind: "call",
                id: "c1",
                name: "read",
                title: "Read a",
                toolKind: "read",
                input: { path: "a" },
                status: "pending",
                locations: ["a"],
            },
            {
                kind: "call",
                id: "c2",
                name: "bash",
                input: "ls -l",
                output: "no",
                status: "failed",
                permission: { allowed: false, by: "remit", why: "w" },
            },
            { kind: "call", id: "c1", name: "", input: {}, output: "text of a", status: "completed" },
            { kind: "compaction", summary: "a was read" },
            { kind: "message", text: "Done.", time: "just now" },
        ],
    };
    const written = trajectoryOf({
        agent: AGENT,
        session: "main/Fixer.yield#0",
        run: "r1",
        turns: [
            {
                prompt: [
                    { type: "text", text: "Fix it." },
                    { type: "resource", uri: "a:b", mediaType: "text/plain", text: "B" },
                ],
                reply,
                usage: { input: 100, cached: 40, output: 5, usd: 0.01 },
            },
        ],
        end: { ...END, limits: { steps: 40 }, spent: { steps: 3 } },
    });
    const extra = { stop_reason: "end_turn", confinement: "sandbox", spent: { steps: 3, calls: 1, ms: 9 } };
    expect(valid(written)).toEqual({
        schema_version: "ATIF-v1.7",
        session_id: "r1",
        trajectory_id: "r1:main/Fixer.yield#0",
        agent: { name: "opencode", version: "1.2", model_name: "m-1", extra: { imported_as: "Fixer" } },
        steps: [
            {
                step_id: 1,
                source: "user",
                message: [
                    { type: "text", text: "Fix it." },
                    { type: "text", text: "B" },
                ],
                extra: { resources: [{ part: 1, uri: "a:b", media_type: "text/plain" }] },
            },
            {
                step_id: 2,
                timestamp: "2026-11-21T12:00:00Z",
                source: "agent",
                message: "I look.",
                reasoning_content: "Look first.",
                tool_calls: [
                    {
                        tool_call_id: "c1",
                        function_name: "read",
                        arguments: { path: "a" },
                        extra: { title: "Read a", kind: "read", locations: ["a"] },
                    },
                    {
                        tool_call_id: "c2",
                        function_name: "bash",
                        arguments: { _raw: "ls -l" },
                        extra: { permission: { allowed: false, by: "remit", why: "w" } },
                    },
                ],
                observation: {
                    results: [
                        { source_call_id: "c1", content: "text of a", extra: { is_error: false } },
                        { source_call_id: "c2", content: "no", extra: { is_error: true } },
                    ],
                },
            },
            {
                step_id: 3,
                source: "system",
                message: "",
                extra: { context_management: { type: "compaction", boundary: "replace" } },
                observation: { results: [{ content: "a was read" }] },
            },
            {
                step_id: 4,
                source: "agent",
                message: "Done.",
                metrics: { prompt_tokens: 100, completion_tokens: 5, cached_tokens: 40, cost_usd: 0.01 },
                extra,
            },
        ],
        final_metrics: {
            total_prompt_tokens: 100,
            total_completion_tokens: 5,
            total_cached_tokens: 40,
            total_cost_usd: 0.01,
            total_steps: 4,
        },
        extra: { stop_reason: "end_turn", termination_reason: "done", limits: { steps: 40 }, spent: { steps: 3 } },
    });
});

test("without usage there are no numbers; how many turns said nothing is told", () => {
    const reply: AgentReply = { ...base, text: "Hi", entries: [] };
    const made = valid(trajectoryOf({ agent: AGENT, session: "s", turns: [{ prompt: [{ type: "text", text: "?" }], reply }], end: END }));
    expect(made.steps[1]).toEqual({
        step_id: 2,
        source: "agent",
        message: "Hi",
        extra: { stop_reason: "end_turn", confinement: "sandbox", spent: base.spent },
    });
    expect(made.final_metrics).toEqual({ total_steps: 2, extra: { turns_without_usage: 1 } });
    expect(JSON.stringify(made)).not.toMatch(/llm_call_count|timestamp|"metrics"/);
});

test("what cannot be true is kept under its own name, and is no metric", () => {
    const reply: AgentReply = { ...base, text: "Hi", entries: [] };
    const made = valid(
        trajectoryOf({
            agent: AGENT,
            session: "s",
            turns: [{ prompt: [], reply, usage: { input: 10, cached: 11, output: -1, usd: Number.NaN } }],
            end: END,
        }),
    );
    expect(made.steps[1]?.metrics).toEqual({ prompt_tokens: 10, extra: { reported_cached: 11, reported_output: -1, reported_usd: "NaN" } });
});

test("pictures and sounds are files beside it; sound makes it 1.8", () => {
    const reply = (mediaType: string): AgentReply => ({
        ...base,
        text: "Look",
        entries: [
            {
                kind: "message",
                text: "Look",
                media: [
                    { mediaType, data: "AAEC" },
                    { mediaType: "video/mp4", data: "AA==" },
                ],
            },
            {
                kind: "call",
                id: "1",
                name: "shot",
                status: "completed",
                output: [
                    { type: "content", content: { type: "image", mimeType: "image/png", data: "AAEC" } },
                    { type: "text", text: "a shot" },
                ],
            },
        ],
    });
    const of = (mediaType: string) =>
        trajectoryOf({ agent: AGENT, session: "s", turns: [{ prompt: [], reply: reply(mediaType) }], end: END, mediaFolder: "t.media" });
    const written = of("image/PNG");
    const made = valid(written);
    expect(made.schema_version).toBe("ATIF-v1.7");
    expect(made.steps[1]?.message).toEqual([
        { type: "text", text: "Look" },
        { type: "image", source: { media_type: "image/png", path: "t.media/1.png" } },
    ]);
    expect(made.steps[1]?.extra).toMatchObject({ media: [{ media_type: "video/mp4", path: "t.media/2.mp4" }] });
    expect(made.steps[1]?.observation?.results[0]?.content).toEqual([
        { type: "image", source: { media_type: "image/png", path: "t.media/1.png" } },
        { type: "text", text: "a shot" },
    ]);
    expect(written.media).toEqual([
        { path: "t.media/1.png", mediaType: "image/png", data: "AAEC" },
        { path: "t.media/2.mp4", mediaType: "video/mp4", data: "AA==" },
    ]);
    const sound = valid(of("audio/x-wav"));
    expect(sound.schema_version).toBe("ATIF-v1.8");
    expect(sound.steps[1]?.message).toContainEqual({ type: "audio", source: { media_type: "audio/wav", path: "t.media/1.wav" } });
});

test("whatever agents say, the trajectory is valid, and reads as itself", () => {
    fc.assert(
        fc.property(turns, (given) => {
            const written = trajectoryOf({
                agent: AGENT,
                session: "s",
                turns: given,
                end: { reason: "limit.time", message: "late \ud800" },
            });
            const made = valid(written);
            expect(readTrajectory(written.trajectory)).toEqual({ ok: true, trajectory: made, notes: [] });
            expect(written.media.every((one) => /^media\/\d+\.[a-z0-9]+$/.test(one.path))).toBe(true);
            const calls = new Set(
                given.flatMap((turn, at) => (turn.reply?.entries ?? []).flatMap((one) => (one.kind === "call" ? [`${at} ${one.id}`] : []))),
            );
            expect(made.steps.flatMap((step) => step.tool_calls ?? [])).toHaveLength(calls.size);
            for (const line of atifText(made, { full: true }).split("\n")) expect(line).not.toMatch(/\p{Cc}/u);
        }),
        { numRuns: 150 },
    );
});

test("a run is its generates, tool calls and what came of them", () => {
    const made = valid(atifOfRun(seal(sampleRun())));
    expect(made).toMatchObject({ session_id: RUN, trajectory_id: RUN, agent: { name: "Main", version: "unknown" } });
    const [input, list, ...rest] = made.steps;
    expect(input).toMatchObject({ source: "user", message: '{"q":1}' });
    expect(list).toMatchObject({
        source: "agent",
        llm_call_count: 0,
        tool_calls: [{ tool_call_id: "main/Repo.list#0", function_name: "Repo.list", arguments: { path: "." } }],
        observation: { results: [{ source_call_id: "main/Repo.list#0", content: '["a"]', extra: { is_error: false } }] },
    });
    const replies = rest.filter((step) => step.source === "agent" && step.llm_call_count === 1);
    expect(replies.map((step) => step.message)).toEqual(["Sure", expect.stringContaining("ok"), expect.any(String), "fine"]);
    expect(replies[0]?.extra).toMatchObject({ path: expect.stringContaining("main/generate#0"), error: expect.any(String) });
    const called = replies[2];
    expect(called?.tool_calls).toMatchObject([{ tool_call_id: "1", function_name: "Repo_read", arguments: { path: "a" } }]);
    expect(called?.observation?.results).toMatchObject([{ source_call_id: "1", content: "text of a", extra: { is_error: false } }]);
    expect(replies[3]?.metrics).toEqual({ prompt_tokens: 5, completion_tokens: 1, cost_usd: 0.25 });
    expect(made.agent.tool_definitions).toEqual([{ type: "function", function: { name: "Repo_read", parameters: {} } }]);
    expect(rest.at(-1)).toMatchObject({
        llm_call_count: 0,
        observation: { results: [{ content: "no such file", extra: { is_error: true, kind: "tool" } }] },
    });
    expect(made.extra).toMatchObject({ termination_reason: "done", result: { ok: true }, spent: { steps: 12 } });
});

test("other agents and sessions are embedded, each where it was called", () => {
    const answered = (session: string, turn: number, text: string): Json => ({
        session,
        turn,
        reply: { ...base, text, entries: [{ kind: "message", text }], agent: { name: "codex", version: "9" } } as unknown as Json,
        usage: { input: 7, output: 2 },
    });
    const written = atifOfRun(
        seal([
            event("run.started", "main", { program: "ab", entry: { file: "m.remit", agent: "Main", function: "main" }, input: {} }),
            event("agent.started", "main/Helper.short#0", { agent: "Helper", function: "short", args: ["why?"] }),
            event("agent.asked", "main/Helper.short#0/Coder.yield#0/turn[0]", {
                session: "main/Helper.short#0/Coder.yield#0",
                turn: 0,
                agent: { name: "Coder", uri: "acp://codex" },
                prompt: [{ type: "text", text: "go" }],
            }),
            event("agent.answered", "main/Helper.short#0/Coder.yield#0/turn[0]", answered("main/Helper.short#0/Coder.yield#0", 0, "gone")),
            event("tool.started", "main/Helper.short#0/Coder.yield#0/payload/Repo.read#0", {
                tool: "Repo",
                method: "read",
                args: ["a", 1],
            }),
            event("tool.ended", "main/Helper.short#0/Coder.yield#0/payload/Repo.read#0", {
                tool: "Repo",
                method: "read",
                args: ["a", 1],
                ok: true,
                result: "A",
            }),
            event("agent.asked", "main/Helper.short#0/Coder.yield#0/turn[1]", {
                session: "main/Helper.short#0/Coder.yield#0",
                turn: 1,
                agent: { name: "Coder" },
                prompt: [{ type: "text", text: "more" }],
            }),
            event("agent.answered", "main/Helper.short#0/Coder.yield#0/turn[1]", {
                session: "main/Helper.short#0/Coder.yield#0",
                turn: 1,
                error: "too late",
                kind: "limit.time",
            }),
            event("yield.closed", "main/Helper.short#0/Coder.yield#0", { ok: false, kind: "limit.time", error: "too late" }),
            event("agent.ended", "main/Helper.short#0", { agent: "Helper", function: "short", ok: true, result: "because" }),
            event("run.ended", "main", { ok: true, value: "because", steps: 3, usage: {} }),
        ]),
    );
    const made = valid(written);
    expect(made.agent).toEqual({ name: "Main", version: "sha256:ab" });
    expect(made.steps).toMatchObject([
        {
            source: "agent",
            llm_call_count: 0,
            tool_calls: [{ function_name: "Helper.short", arguments: { _raw: "why?" } }],
            observation: { results: [{ content: "because", subagent_trajectory_ref: [{ trajectory_id: `${RUN}:main/Helper.short#0` }] }] },
        },
    ]);
    const helper = made.subagent_trajectories?.[0];
    expect(helper?.steps).toMatchObject([
        { source: "user", message: "why?" },
        {
            tool_calls: [{ function_name: "Coder.yield", arguments: {} }],
            observation: { results: [{ content: "too late", extra: { is_error: true } }] },
        },
    ]);
    const coder = helper?.subagent_trajectories?.[0];
    expect(coder).toMatchObject({
        agent: { name: "codex", version: "9", extra: { imported_as: "Coder" } },
        extra: { termination_reason: "limit.time", termination_message: "too late" },
    });
    expect(coder?.steps.map((step) => [step.source, step.message, step.tool_calls?.[0]?.function_name])).toEqual([
        ["user", "go", undefined],
        ["agent", "gone", undefined],
        ["agent", "", "Repo.read"],
        ["user", "more", undefined],
    ]);
    expect(coder?.steps.at(-1)?.extra).toMatchObject({ error: { kind: "limit.time", message: "too late" } });
    // the numbers of a run are those of everything in it
    expect(made.final_metrics).toEqual({
        total_prompt_tokens: 7,
        total_completion_tokens: 2,
        total_steps: 1,
        extra: { turns_without_usage: 1 },
    });
});

test("a picture in a prompt is one file, however often it was sent", () => {
    const content = [
        { type: "text", text: "what is it?" },
        { type: "file", mediaType: "image/gif", data: "R0lG" },
    ];
    const attempt = (n: number) =>
        event("generate.attempt", `main/generate#${n}/attempt[0]`, {
            messages: [{ role: "user", content: content as unknown as Json }],
            reply: { text: "a dot" },
            attempt: 0,
            turn: 0,
        });
    const written = atifOfRun(seal([attempt(0), attempt(1)]));
    const made = valid(written);
    expect(written.media).toEqual([{ path: "media/1.gif", mediaType: "image/gif", data: "R0lG" }]);
    expect(made.steps.map((step) => step.source)).toEqual(["user", "agent", "user", "agent"]);
    expect(made.steps[2]?.message).toContainEqual({ type: "image", source: { media_type: "image/gif", path: "media/1.gif" } });
});

test("events with fields removed still make a trajectory", () => {
    const events = seal(sampleRun()).map((one) => ({ ...one, data: null }));
    valid(atifOfRun(events));
    for (const one of seal(sampleRun())) valid(atifOfRun([one]));
});
