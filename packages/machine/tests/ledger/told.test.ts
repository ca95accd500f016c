/** What an agent told of a turn that was told again: after a question that parked the run, or a crash. */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { atifOfRun, checkTrajectory, otlp, type Trajectory, traceText } from "../../src/index.ts";
import { event, seal } from "./support.ts";

const SESSION = "main/agent#0";
const TURN = `${SESSION}/turn[0]`;
const of = { agent: "Fixer", session: SESSION, turn: 0 };
const about = { about: { confinement: "sandbox", agent: { name: "coder", version: "2" } } };
/** Ids of calls begin anew in each process. */
const called = (path: string) => ({ kind: "call", id: "c1", name: "write", status: "completed", input: { path }, output: "written" });
const noted = (...notes: Json[]) => event("agent.noted", TURN, { ...of, notes: [about, ...notes] });
const used = (input: number) => ({ kind: "usage", usage: { input, output: 1 } });

const EVENTS = seal([
    event("run.started", "main", { entry: { file: "m.remit", agent: null, function: "main" }, input: {} }),
    event("yield.opened", SESSION, { agent: "Fixer", uri: "acp://coder", by: "agent" }),
    event("agent.asked", TURN, { ...of, prompt: [{ type: "text", text: "mend it" }] }),
    noted({ entry: called("first.txt") }, { entry: used(10) }, { usage: { input: 10, output: 1 } }),
    event("ask.requested", `${TURN}/hand[1]/ask`, { request: { question: "May Fixer call Repo.write?" } }),
    event("ask.decided", `${TURN}/hand[1]/ask`, { ok: true, value: "once" }),
    noted({ entry: called("second.txt") }),
    event("agent.answered", TURN, {
        ...of,
        ok: true,
        reply: {
            text: "Done.",
            stop: "end_turn",
            entries: [called("second.txt"), used(20), { kind: "message", text: "Done." }],
            confinement: "sandbox",
            spent: { steps: 2, calls: 1, ms: 5 },
        },
        usage: { input: 20, output: 1 },
    }),
    event("yield.closed", SESSION, { agent: "Fixer", ok: true, turns: 1 }),
    event("run.ended", "main", { ok: true, value: "Done.", steps: 3, usage: {} }),
]);

test("the trace has the calls of each time, in their order", () => {
    const lines = traceText(EVENTS).split("\n");
    const told = lines.filter((line) => /first\.txt|told its turn again|second\.txt/.test(line)).map((line) => line.trim());
    expect(told).toEqual([
        expect.stringContaining('write({"path":"first.txt"}) → "written"'),
        "- was told its turn again",
        expect.stringContaining('write({"path":"second.txt"}) → "written"'),
    ]);
});

test("so has the trajectory, with the prompt of each and the question between them", () => {
    const { trajectory } = atifOfRun(EVENTS);
    expect(checkTrajectory(trajectory)).toEqual([]);
    const inside = (trajectory as unknown as Trajectory).subagent_trajectories?.[0];
    const said = inside?.steps.map(({ source, message, tool_calls: calls }) => [source, message, calls?.[0]?.arguments.path]);
    expect(said).toEqual([
        ["user", "mend it", undefined],
        ["system", "May Fixer call Repo.write?", undefined],
        ["agent", "", "first.txt"],
        ["user", "mend it", undefined],
        ["agent", "", "second.txt"],
        ["agent", "Done.", undefined],
    ]);
    expect(inside?.steps[1]?.extra).toMatchObject({ permission: { decision: "once" } });
    expect(inside?.final_metrics).toMatchObject({ total_prompt_tokens: 30, total_completion_tokens: 2 });
});

test("and each is a span of its own", () => {
    const spans = [
        ...JSON.stringify(otlp(EVENTS, { content: true, version: "1" })).matchAll(/"spanId":"(\w+)"[^}]*"name":"execute_tool write"/g),
    ];
    expect(new Set(spans.map(([, id]) => id)).size).toBe(2);
});

test("a call whose arguments the agent did not tell has its title in the trace, where that says more than its name", () => {
    const entry = (more: Json) => ({ entry: { kind: "call", id: JSON.stringify(more), status: "completed", ...(more as object) } });
    const lines = traceText(
        seal([
            event("agent.asked", TURN, { ...of, prompt: [] }),
            noted(
                entry({ name: "read_file", title: "notes.txt" }),
                entry({ name: "read_file", title: "ReadFile" }),
                entry({ name: "ls", title: "List", input: {} }),
            ),
        ]),
    ).split("\n");
    expect(lines.slice(1).map((line) => line.trim())).toEqual(['- read_file() "notes.txt" done', "- read_file() done", "- ls({}) done"]);
});
