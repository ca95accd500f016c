/** Recordings of agents (C3–C6). */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import type { AgentTurn, Effect, Outcome } from "@remit/machine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { recordedAgents, recordingAgents, turnHash } from "../../src/agent/recorded.ts";
import { readRecordedAgents, readRecording } from "../../src/model/replies.ts";
import type { AgentUse, PerformIO } from "../../src/run/host.ts";
import { createScrubber } from "../../src/secret/scrub.ts";

let folder: string;
let file: string;
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-recorded-"));
    file = join(folder, "fixer.ndjson");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SECRET = "hunter2-and-more";
const { scrub } = createScrubber([{ name: "env:KEY", value: SECRET }]);

function turnOf(
    more: { log?: string; session?: string; limits?: AgentTurn["limits"]; text?: string; uri?: string; turn?: number } = {},
): AgentTurn {
    const session = more.session ?? "main/Fixer.yield#0";
    const handshake = {
        format: "remit-yield/1",
        session,
        turn: more.turn ?? 0,
        params: [{ name: "log", contract: { type: "string" }, value: more.log ?? "red", origins: ["user"] }],
        expects: { type: "object" },
    };
    return {
        op: "turn",
        agent: { name: "Fixer", uri: more.uri ?? "acp://opencode", file: "main.remit" },
        session,
        turn: more.turn ?? 0,
        prompt: [
            { type: "resource", uri: `remit:${session}`, mediaType: "application/json", text: JSON.stringify(handshake) },
            { type: "text", text: more.text ?? `Answer in ${session}.` },
        ],
        hands: [{ tool: "Repo", uri: "file://workspace", file: "main.remit", methods: [{ method: "read", gate: "may" }] }],
        limits: more.limits ?? ({ turns: 4, ms: 1000 } as AgentTurn["limits"]),
    };
}
function effectOf(turn: AgentTurn): Effect {
    return { path: turn.session, kind: "agent", principal: "user", site: null, request: turn as unknown as Json, labels: [] };
}
const SITE_IO: PerformIO = {
    signal: new AbortController().signal,
    emit: () => undefined,
    wait: () => Promise.resolve(),
    child: async () => ({ ok: false, failure: { kind: "unreachable", message: "none" } }),
};
const reply = (text: string): Outcome => ({
    ok: true,
    value: { text, stop: "end_turn", entries: [{ kind: "message", text }], confinement: "remote", spent: { steps: 1, calls: 0, ms: 3 } },
    origins: ["agent:Fixer"],
    usage: { input: 5, output: 2 },
});

async function record(turn: AgentTurn, outcome: Outcome, io: PerformIO = SITE_IO): Promise<void> {
    await recordingAgents(async () => outcome, { file, scrub })(effectOf(turn), io);
}
const replay = (turn: AgentTurn, io: PerformIO = SITE_IO) => recordedAgents({ file, scrub })(effectOf(turn), io);

test("what was recorded comes again, usage and origins too", async () => {
    await record(turnOf(), reply("done"));
    expect(await replay(turnOf())).toEqual(reply("done"));
    await record(turnOf({ turn: 1 }), { ok: false, failure: { kind: "rate_limited", message: "later" }, usage: { input: 1 } });
    expect(await replay(turnOf({ turn: 1 }))).toMatchObject({
        ok: false,
        failure: { kind: "rate_limited", message: "later" },
        usage: { input: 1 },
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("C3: what does not change an answer does not change the hash", () => {
    const hash = turnHash(turnOf());
    expect(turnHash(turnOf({ session: "main/helper#3/Fixer.yield#1" }))).toBe(hash);
    expect(turnHash(turnOf({ uri: "stub:noop" }))).toBe(hash);
    expect(turnHash(turnOf({ limits: { ms: 5, silence: 1 } }))).toBe(hash);
    for (const other of [{ log: "green" }, { text: "Else." }, { turn: 1 }, { limits: { bytes: 9 } }])
        expect(turnHash(turnOf(other))).not.toBe(hash);
});

test("the same turn several times is answered in order, the last again", async () => {
    for (const text of ["one", "two"]) await record(turnOf(), reply(text));
    const perform = recordedAgents({ file, scrub });
    const texts: unknown[] = [];
    for (let i = 0; i < 3; i++)
        texts.push(((await perform(effectOf(turnOf()), SITE_IO)) as unknown as { value: { text: string } }).value.text);
    expect(texts).toEqual(["one", "two", "two"]);
});

test("C5: a changed handshake is a miss that names what differs", async () => {
    await record(turnOf(), reply("done"));
    expect(await replay(turnOf({ log: "green", text: "Else." }))).toMatchObject({
        ok: false,
        failure: {
            kind: "unreachable",
            message:
                "no answer is recorded for Fixer main/Fixer.yield#0 turn 0: what is sent differs from what was recorded as Fixer main/Fixer.yield#0 turn 0: handshake.params.log, text 1",
            detail: { differs: ["handshake.params.log", "text 1"] },
            hint: expect.stringContaining("record again"),
        },
    });
    const other = turnOf();
    expect(await replay({ ...other, agent: { ...other.agent, name: "Other" } })).toMatchObject({
        failure: { message: expect.stringContaining("the recording holds no turn of Other") },
    });
});

test("F59: neither a secret nor what was sent is in the file", async () => {
    await record(turnOf({ log: `key ${SECRET}` }), reply(`I saw ${SECRET}`));
    const text = readFileSync(file, "utf8");
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain("Answer in");
    expect(text).toContain("I saw ");
    // another value of the secret is the same turn
    expect(await replay(turnOf({ log: `key ${SECRET}` }))).toMatchObject({ ok: true });
});

test("C4: a cancelled turn is not written", async () => {
    await record(turnOf(), { ok: false, failure: { kind: "cancelled", message: "stopped" } });
    expect(() => statSync(file)).toThrow();
});

test("C6: uses of hands are made again, and must be decided as they were", async () => {
    const use: AgentUse = { tool: "Repo", method: "read", args: ["a"] };
    const hands = (allowed: boolean, seen: string[]): PerformIO => ({
        ...SITE_IO,
        may: async (one) => {
            seen.push(`may ${one.method}`);
            return { allowed: true, by: "remit" };
        },
        use: async (one) => {
            seen.push(`use ${one.method}`);
            return allowed ? { ok: true, value: "A", origins: [] } : { ok: false, failure: { kind: "violation.remit", message: "no" } };
        },
    });
    const perform = recordingAgents(
        async (_, io) => {
            await io.may?.(use);
            await io.use?.(use);
            return reply("done");
        },
        { file, scrub },
    );
    const first: string[] = [];
    await perform(effectOf(turnOf()), hands(true, first));
    const second: string[] = [];
    expect(await replay(turnOf(), hands(true, second))).toMatchObject({ ok: true });
    expect(second).toEqual(first);
    expect(await replay(turnOf(), hands(false, []))).toMatchObject({
        failure: { kind: "unreachable", message: "the recorded agent used Repo.read, which was allowed then and is refused now" },
    });
});

test("models and agents share a file", async () => {
    const model = { v: 1, request: "a".repeat(64), label: "A.f[0]", reply: { text: "hi", finish: "stop", model: "m", constrained: false } };
    writeFileSync(file, `${JSON.stringify(model)}\n`);
    await record(turnOf(), reply("done"));
    const [models, agents] = [readRecording(file), readRecordedAgents(file)];
    if (typeof models === "string" || typeof agents === "string") throw new Error("not read");
    expect([[...models.keys()], [...agents.keys()]]).toEqual([["a".repeat(64)], [turnHash(turnOf())]]);
    writeFileSync(file, '{"v": 1, "kind": "agent", "request": "x", "reply": {"text": ""}}\n');
    expect(await replay(turnOf())).toMatchObject({
        failure: { kind: "unreachable", message: expect.stringContaining("line 1 is no reply") },
    });
    expect(await recordedAgents({ file: join(folder, "none"), scrub })(effectOf(turnOf()), SITE_IO)).toMatchObject({
        failure: { message: expect.stringContaining("is not there") },
    });
});
