/** Agents that do it wrong: each ends in a failure that says what happened, with what there was of the reply, and nothing is left running. */
import { existsSync, readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { judge } from "./real/schema.ts";
import { type Act, handOf, type Rig, rig } from "./rig.ts";

/** A process that is gone, or is a zombie that nobody waits for any more. */
function runs(pid: number): boolean {
    const status = `/proc/${pid}/status`;
    return existsSync(status) && !/^State:\s+Z/m.test(readFileSync(status, "utf8"));
}
async function gone(pid: number): Promise<void> {
    while (runs(pid)) await new Promise((done) => setTimeout(done, 20));
}
const hands = [handOf("file://workspace", { read: "may" })];
/** Until it has shown a text of the agent. */
const shown = ({ parts }: Rig, text: string): Promise<void> => expect.poll(() => JSON.stringify(parts)).toContain(text);

test("what is no message is survived", async () => {
    await using here = rig({ fault: "garbage" });
    const { text } = await here.reply([
        { do: "raw", text: 'not json\n{"jsonrpc":"2.0"}\n{"jsonrpc":"1.0","id":1,"method":"x"}\n[]\n' },
        { do: "raw", text: '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","update":null}}\n' },
        { do: "raw", text: '{"jsonrpc":"2.0","method":"session/update","params":7}\n' },
        { do: "say", text: "Still here." },
    ]);
    expect(text).toBe("Still here.");
});

test("bytes that are not UTF-8 end the connection: they are not replaced in silence", async () => {
    await using here = rig();
    const failure = await here.failure([
        { do: "raw", encoding: "latin1", text: '{"jsonrpc":"2.0","method":"_x","params":{"a":"caf\xe9"}}\n' },
    ]);
    expect(failure).toMatchObject({ kind: "unreachable", message: expect.stringContaining("it sent bytes that are not UTF-8") });
});

test("unknown requests are answered so, unknown notifications are let pass", async () => {
    await using here = rig();
    const found = await here.found([
        { do: "request", method: "craft/drainMidTurnQueue", params: {} },
        { do: "request", method: "_vendor/thing", params: { a: 1 } },
        { do: "notify", method: "_auth/status_update", params: { a: 1 } },
        { do: "request", method: "fs/read_text_file", params: { path: 7 } },
        { do: "request", method: "terminal/kill", params: { terminalId: "none" } },
    ]);
    expect(found).toEqual([{ no: -32601 }, { no: -32601 }, { no: -32602 }, { no: -32002 }]);
    expect(judge(here.seen, "client").invalid).toEqual([]);
});

test("a crash in a turn says how, with the last of the standard error and what there was; the session is taken up again", async () => {
    await using here = rig({ agent: { env: { API_KEY: "$API_KEY" } } });
    const failure = await here.failure([{ do: "say", text: "I begin." }, { do: "crash" }]);
    expect(failure).toMatchObject({ kind: "unreachable", message: expect.stringContaining("it ended with code 7") });
    expect(failure.message).toContain("it wrote: panic: out of luck");
    expect(failure.reply?.text).toBe("I begin.");
    // the scrubber of the run knows it before anybody sees the failure
    expect(here.secrets.get("env:API_KEY")).toBe("k-0123456789abcdef");
    const [about] = (await here.found([{ do: "about" }])) as [{ turns: number }];
    expect(about.turns).toBe(8);
    expect((await here.reply([])).entries).toEqual([]);
});

test("a session that cannot be taken up again is lost", async () => {
    await using here = rig({ fault: "no load" });
    await here.failure([{ do: "crash" }]);
    expect(await here.failure([])).toMatchObject({
        kind: "unreachable",
        message: expect.stringContaining("cannot take a session up again"),
    });
});

test.each([
    ["protocol 99", "it speaks version 99 of the Agent Client Protocol, not 1"],
    ["protocol 2", "it speaks version 2 of the Agent Client Protocol, not 1"],
    ["auth", "it wants to be authenticated first"],
    ["dies at once", "it ended with code 3"],
])("%s: no session", async (fault, message) => {
    await using here = rig({ fault });
    const failure = await here.failure([]);
    expect(failure).toMatchObject({ kind: "unreachable", message: expect.stringContaining(message) });
    if (fault === "auth") expect(failure.hint).toContain("Log in with the browser");
    if (fault === "dies at once") expect(failure.message).toContain("it wrote: fatal: no licence");
});

test("an agent that never says hello is given up", async () => {
    await using here = rig({ fault: "hangs", setting: { startMs: 700 } });
    expect(await here.failure([])).toMatchObject({
        kind: "unreachable",
        message: expect.stringContaining("did not say hello within 700 ms"),
    });
});

test.each([
    ["limit.bytes", { bytes: 20 }, "it may use 20 bytes of text"],
    ["limit.time", { ms: 400 }, "it may take 400 ms"],
] as const)("one that never ends is ended by %s", async (kind, limits, message) => {
    // So that it has the time to stop.
    await using here = rig({ agent: { graceMs: 60_000 } });
    const failure = await here.failure([{ do: "spin" }], { limits, io: { wait: () => shown(here, "x") } });
    expect(failure).toMatchObject({ kind, message: expect.stringContaining(message) });
    expect(failure.reply?.stop).toBe("cancelled");
    expect(failure.reply?.text).toMatch(/^x+$/);
    // it stopped when it was told, so the session goes on
    expect((await here.reply([{ do: "say", text: "Again." }])).text).toBe("Again.");
});

test("steps and calls are counted while the turn runs", async () => {
    const call = (id: string) => ({ do: "update", update: { sessionUpdate: "tool_call", toolCallId: id, title: id, kind: "other" } });
    const acts = [call("a"), call("b"), call("c"), { do: "wait" }];
    await using here = rig();
    expect(await here.failure(acts, { limits: { calls: 2 } })).toMatchObject({ kind: "limit.calls", reply: { spent: { calls: 3 } } });
    expect(await here.failure(acts, { limits: { steps: 1 } })).toMatchObject({ kind: "limit.steps" });
    const used = { inputTokens: 90, outputTokens: 20, totalTokens: 110 };
    const dear: Act[] = [{ do: "say", text: "a", more: { _meta: { usage: used } } }, { do: "wait" }];
    const outcome = await here.turn(dear, { limits: { tokens: 100 } });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: "limit.tokens" }, usage: { input: 90, output: 20 } });
    const cost: Act[] = [
        { do: "update", update: { sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount: 2, currency: "USD" } } },
        { do: "wait" },
    ];
    expect(await here.failure(cost, { limits: { usd: 1 } })).toMatchObject({ kind: "limit.cost" });
});

/** What an agent says that it used, in every form that is read; no number of it is a number in JSON that the machine could not take. */
const told = {
    chunk: (usage: object): Act => ({ do: "say", text: "a", more: { _meta: { usage } } }) as Act,
    cost: (amount: number): Act => ({
        do: "update",
        update: { sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount, currency: "USD" } },
    }),
    end: (usage: object): Act => ({ do: "stop", with: { usage } }) as Act,
};
const MOST = Number.MAX_SAFE_INTEGER;

test.each<[string, Act[], object]>([
    [
        "less at the end than before",
        [told.chunk({ inputTokens: 90, outputTokens: 10 }), told.end({ inputTokens: 0, outputTokens: 0 })],
        { input: 90, output: 10 },
    ],
    ["a sum of the session that falls", [told.cost(2), told.cost(0.5), told.cost(0.75)], { usd: 2.25 }],
    ["numbers below zero", [told.chunk({ inputTokens: -1e9, outputTokens: 3 }), told.cost(-5)], { input: 0, output: 3 }],
    ["sums beyond every number", [1, 2].map(() => told.chunk({ inputTokens: 1e308, outputTokens: 1e308 })), { input: MOST, output: MOST }],
    ["a cost beyond every number", [told.cost(1.7e308)], { usd: MOST }],
    [
        "cached tokens beyond every number",
        [told.end({ inputTokens: 1e308, cachedReadTokens: 1e308, cachedWriteTokens: 1e308, totalTokens: 1e308 })],
        { input: MOST },
    ],
    ["parts of tokens", [told.end({ inputTokens: 0.1, outputTokens: 1e-300 })], { input: 1, output: 1 }],
    ["what is no number", [told.end({ inputTokens: "7", outputTokens: null, totalTokens: 5 })], { input: 0, output: 0 }],
])("an agent that reports %s takes nothing back and breaks nothing", async (_what, acts, usage) => {
    await using here = rig();
    const outcome = await here.turn(acts);
    expect(outcome).toMatchObject({ ok: true, usage });
    expect(JSON.parse(JSON.stringify(outcome.usage))).toEqual(outcome.usage);
});

test("what an agent reports ends its turn at the limit, and what it says after that changes nothing", async () => {
    await using here = rig();
    const lowers = [told.end({ inputTokens: 0, outputTokens: 0 }), told.cost(0), told.chunk({ inputTokens: 0, outputTokens: 0 })];
    const tokens = [told.chunk({ inputTokens: 1e308, outputTokens: 1e308 }), ...lowers];
    expect(await here.failure(tokens, { limits: { tokens: 100 } })).toMatchObject({ kind: "limit.tokens" });
    expect(await here.failure([told.cost(2), ...lowers], { limits: { usd: 1 } })).toMatchObject({ kind: "limit.cost" });
});

test("a limit on tokens with an agent that reports none fails, unless time bounds it as well", async () => {
    await using here = rig();
    const failure = await here.failure([{ do: "say", text: "Hi." }], { limits: { tokens: 1000 } });
    expect(failure).toMatchObject({ kind: "limit.tokens", message: expect.stringContaining("does not report its tokens") });
    expect(failure.reply?.text).toBe("Hi.");
    expect(await here.failure([], { limits: { usd: 1 } })).toMatchObject({ kind: "limit.cost" });
    expect((await here.reply([{ do: "say", text: "Hi." }], { limits: { tokens: 1000, ms: 60_000 } })).text).toBe("Hi.");
});

test("silence ends a turn, and waiting for an answer of ours is none", async () => {
    await using here = rig();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
        const silent = here.failure([{ do: "say", text: "Well" }, { do: "wait" }], { limits: { silence: 300 } });
        await shown(here, "Well");
        await vi.advanceTimersByTimeAsync(300);
        expect(await silent).toMatchObject({ kind: "timeout", reply: { text: "Well" } });
        const ask = { do: "permission", call: { toolCallId: "p", kind: "read", locations: [{ path: `${here.here.workspace}/a` }] } };
        const may = async () => {
            await vi.advanceTimersByTimeAsync(700);
            return { allowed: true, by: "person" } as const;
        };
        expect((await here.reply([ask], { hands, limits: { silence: 300 }, io: { may } })).stop).toBe("end_turn");
    } finally {
        vi.useRealTimers();
    }
});

test("a cancel is told, pending questions with it, and what there was is kept", async () => {
    await using here = rig();
    const stop = new AbortController();
    const ask = { do: "permission", call: { toolCallId: "p", kind: "read", locations: [{ path: `${here.here.workspace}/a` }] } };
    const may = async () => {
        stop.abort(new Error("nobody waits for this any more"));
        return new Promise<never>(() => undefined);
    };
    const failure = await here.failure([{ do: "say", text: "I ask." }, ask], { hands, signal: stop.signal, io: { may } });
    expect(failure).toMatchObject({ kind: "cancelled", reply: { text: expect.stringContaining("I ask.") } });
    const answered = here.seen
        .filter(({ from }) => from === "client")
        .map(({ message }) => message as { method?: string; result?: { outcome?: object } });
    expect(answered.some(({ method }) => method === "session/cancel")).toBe(true);
    expect(answered.some(({ result }) => JSON.stringify(result?.outcome) === '{"outcome":"cancelled"}')).toBe(true);
});

test("one that ignores a cancel is killed", async () => {
    await using here = rig({ fault: "ignores cancel", unconfined: true });
    const [left] = (await here.found([{ do: "leave" }])) as [{ pid: number }];
    expect(runs(left.pid)).toBe(true);
    const io = { wait: () => shown(here, "Never.") };
    const failure = await here.failure([{ do: "say", text: "Never." }, { do: "wait" }], { limits: { ms: 200 }, io });
    expect(failure).toMatchObject({ kind: "limit.time", reply: { text: "Never." } });
    process.kill(left.pid, "SIGKILL");
});

test("one that ignores the end of its input, and what it left behind in its group, is killed with the session", async () => {
    // Other files share this process, and may have children in it.
    const others = children();
    await using here = rig({ fault: "ignores the end" });
    const [{ stdout }] = (await here.found([{ do: "run", text: "echo $PPID" }])) as [{ stdout: string }];
    expect(Number(stdout)).toBeGreaterThan(0);
    const before = children().filter((pid) => !others.includes(pid));
    expect(before.length).toBeGreaterThan(0);
    await here.host.close();
    for (const pid of before) await gone(pid);
});

test("a storm of permission requests ends the turn", async () => {
    await using here = rig();
    const call = { toolCallId: "p", kind: "read", locations: [{ path: `${here.here.workspace}/a` }] };
    const failure = await here.failure([{ do: "permission", call, times: 1000 }], { hands });
    expect(failure).toMatchObject({ kind: "limit.calls" });
    expect(here.uses.length).toBeLessThan(600);
});

test("a message of more than 32 MiB ends the session", async () => {
    await using here = rig();
    const failure = await here.failure([{ do: "huge", bytes: 33 * 1024 * 1024 }, { do: "wait" }]);
    expect(failure).toMatchObject({ kind: "unreachable", message: expect.stringContaining("a message of more than 33554432 bytes") });
});

test("a reason to stop that is none is no answer; a refusal is one", async () => {
    await using here = rig();
    expect(await here.failure([{ do: "stop", with: { stopReason: "bored" } }])).toMatchObject({ kind: "invalid_payload" });
    expect((await here.reply([{ do: "stop", with: { stopReason: "refusal" } }])).stop).toBe("refusal");
    expect((await here.reply([{ do: "stop", with: { stopReason: "max_tokens" } }])).stop).toBe("max_tokens");
});

/** Processes below this one. */
function children(): number[] {
    const all = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").trim();
    const pids = all === "" ? [] : all.split(" ").map(Number);
    // The watchdog of this process ends with it.
    return pids.filter((pid) => !readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("remit-watchdog"));
}
