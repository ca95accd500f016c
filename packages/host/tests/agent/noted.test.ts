/** What an agent reports while it works is on record when something else ends its turn: a time limit, an abort, a kill. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Json } from "@remit/language";
import { atifOfRun, checkTrajectory, type LedgerEvent, traceText } from "@remit/machine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Ledger, openLedger } from "../../src/run/open.ts";
import { AGENT } from "./rig.ts";
import { scriptAt } from "../script.ts";

const ROOT = join(dirname(AGENT), "..", "..", "..", "..", "..");
const CHILD = scriptAt("packages/host/tests/agent/noted.ts");
const SECRET = "k-0123456789abcdef";
let root: string;
beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "remit-noted-")));
    const tester = { command: [process.execPath, AGENT], env: { FAULT: "ignores cancel", KEY: "$API_KEY" }, sandbox: { read: [ROOT] } };
    writeFileSync(join(root, "remit.json"), JSON.stringify({ agents: { tester: { ...tester, graceMs: 60_000 } } }));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const called = (id: string, more: object = {}) => ({
    do: "update",
    update: { sessionUpdate: "tool_call", toolCallId: id, title: `Read ${id}`, kind: "read", rawInput: { path: id }, ...more },
});
const ended = (id: string) => ({
    do: "update",
    update: {
        sessionUpdate: "tool_call_update",
        toolCallId: id,
        status: "completed",
        content: [{ type: "content", content: { type: "text", text: `text of ${id}` } }],
    },
});
/** Three calls, a secret in two pieces, then it hangs. */
const ACTS = [
    { do: "say", text: "I look: " },
    { do: "spell", name: "KEY" },
    { do: "say", text: "." },
    called("c1"),
    ended("c1"),
    called("c2"),
    ended("c2"),
    { do: "update", update: { sessionUpdate: "plan", entries: [{ content: "read all", status: "in_progress" }] } },
    called("c3", { status: "in_progress" }),
    { do: "wait", ms: 600_000 },
];

function written(before: string, options: string, after: string): void {
    const source = `import agent Tester from "acp://tester"

main func() {
${before}
    worked = agent(${JSON.stringify(JSON.stringify(ACTS))}, { agent: Tester${options} })
    ${after}
}
`;
    writeFileSync(join(root, "main.remit"), source);
}

async function opened<T>(look: (ledger: Ledger, id: string) => Promise<T>): Promise<T> {
    const ledger = await openLedger(join(root, "ledger.db"), { config: join(root, "config") });
    try {
        const [run] = await ledger.runs();
        return await look(ledger, run?.id ?? "");
    } finally {
        await ledger.close();
    }
}
const recorded = () =>
    opened(async (ledger, id) => {
        const events: LedgerEvent[] = await Array.fromAsync(ledger.store.events(id));
        const end = events.at(-1)?.data as { readonly value?: Json };
        return { events, result: end.value ?? null, verified: (await ledger.verify(id)).ok };
    });

/** The run goes on without the turn, and a replay of all of it gives the same. */
async function givenUp(): Promise<void> {
    const value = await opened(async (ledger, id) => {
        const on = { unknown: () => ({ answer: "give up" }) as const };
        const env = { PATH: process.env.PATH, API_KEY: SECRET };
        const result = await (await ledger.resume(id, { workspace: root, trust: true, env, on })).result;
        return result.value as Json;
    });
    told(value);
    const { events, verified } = await recorded();
    whole(events);
    expect(verified).toBe(true);
    await replayed();
}
async function replayed(): Promise<void> {
    const again = await opened((ledger, id) => ledger.replay(id));
    expect(again).toMatchObject({ equal: true });
}

/** What `agent()` gives holds the calls, too. */
function told(value: Json): void {
    const { steps } = (value as { error: { trajectory: { steps: { tool_calls?: { tool_call_id: string }[] }[] } } }).error.trajectory;
    const calls = steps.flatMap((step) => step.tool_calls ?? []);
    expect(calls.map((call) => call.tool_call_id)).toEqual(["c1", "c2", "c3"]);
}

function ran(how: string) {
    const env = { ...process.env, NODE_OPTIONS: "", HOME: root, XDG_CONFIG_HOME: join(root, "config"), API_KEY: SECRET };
    const { signal, stdout, stderr } = spawnSync(process.execPath, [CHILD, root, how], { encoding: "utf8", env });
    expect(stderr).toBe("");
    return { signal, stdout };
}

/** All three calls with what came of them, in the trace and in a sound trajectory; no secret. */
function whole(events: readonly LedgerEvent[]): void {
    const trace = traceText(events);
    const { trajectory } = atifOfRun(events);
    const inside = JSON.stringify(trajectory);
    for (const id of ["c1", "c2", "c3"]) {
        expect(trace).toContain(`Read ${id}`);
        expect(inside).toContain(`"tool_call_id":"${id}"`);
    }
    expect(inside).toContain("text of c2");
    expect(inside).toContain("read all");
    expect(inside).toContain("I look: [secret env:API_KEY].");
    expect(checkTrajectory(trajectory)).toEqual([]);
    expect(JSON.stringify(events)).not.toMatch(/0123456/);
    expect(readFileSync(join(root, "ledger.db")).includes("0123456")).toBe(false);
}

test.each([
    ["a time limit around it", "spend 1800 s {", "}", ""],
    ["a time limit of its own", "", "", ", budget: { max_seconds: 1800 }"],
])("%s", async (_name, before, after, options) => {
    written(`    try { ${before}`, options, `return worked ${after} } catch failure { return failure.kind }`);
    expect(ran("late").signal).toBeNull();
    const { events, verified, result } = await recorded();
    whole(events);
    expect(verified).toBe(true);
    if (options === "") expect(result).toBe("limit.time");
    else told(result);
    await replayed();
});

test("an abort, and a run that goes on: what it did stands in the trajectory of a turn that is given up", async () => {
    written("", "", "return worked");
    ran("abort");
    whole((await recorded()).events);
    await givenUp();
});

test("kill -9, and a run that goes on", async () => {
    written("", "", "return worked");
    expect(ran("kill").signal).toBe("SIGKILL");
    whole((await recorded()).events);
    await givenUp();
});
