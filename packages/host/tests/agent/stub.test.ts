/** Stub agents (SU1–G3): every one of the table, its faults, and what it does with its hands. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Json, parse, source } from "@remit/language";
import type { AgentReply, AgentTurn, Effect, Outcome } from "@remit/machine";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FAULTS, parseStubUri, STUBS } from "../../src/agent/stub-uri.ts";
import type { AgentSession } from "../../src/agent/session.ts";
import { openStub } from "../../src/agent/stub.ts";
import { readJson } from "../../src/input/json.ts";
import type { AgentUse, PerformIO } from "../../src/run/host.ts";

let root: string;
let sessions: Map<string, AgentSession>;
beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "remit-stub-"));
    sessions = new Map();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const HANDSHAKE = {
    format: "remit-yield/1",
    session: "main/Fixer.yield#0",
    turn: 0,
    params: [
        { name: "log", contract: { type: "string" }, value: "red", origins: ["user"] },
        { name: "repo", handle: [{ method: "read", input: {}, gate: "may" }] },
    ],
};

function effectOf(uri: string, more: Partial<AgentTurn> = {}): Effect {
    const turn: AgentTurn = {
        op: "turn",
        agent: { name: "Fixer", uri, file: "main.remit" },
        session: "main/Fixer.yield#0",
        turn: 0,
        prompt: [
            { type: "resource", uri: "remit:handshake", mediaType: "application/json", text: JSON.stringify(HANDSHAKE) },
            { type: "text", text: "Answer with a function." },
        ],
        hands: [],
        limits: {},
        ...more,
    };
    return {
        path: "main/Fixer.yield#0/turn[0]",
        kind: "agent",
        principal: "user",
        site: null,
        request: turn as unknown as Json,
        labels: [],
    };
}

function ioOf(more: Partial<PerformIO> = {}): PerformIO {
    return {
        signal: new AbortController().signal,
        emit: () => undefined,
        wait: () => Promise.resolve(),
        child: async () => ({ ok: false, failure: { kind: "unreachable", message: "none" } }),
        ...more,
    };
}

async function ask(uri: string, more: Partial<AgentTurn> = {}, io: Partial<PerformIO> = {}): Promise<Outcome> {
    const effect = effectOf(uri, more);
    const turn = effect.request as unknown as AgentTurn;
    const session = sessions.get(turn.session) ?? openStub(turn, { root });
    sessions.set(turn.session, session);
    return session.turn(turn, effect, ioOf(io));
}
async function text(uri: string, more: Partial<AgentTurn> = {}): Promise<string> {
    const outcome = await ask(uri, more);
    if (!outcome.ok) throw new Error(outcome.failure.message);
    return (outcome.value as unknown as AgentReply).text;
}
const PLAIN: Partial<AgentTurn> = { prompt: [{ type: "text", text: "How are you?" }] };

test("F58: what a yield is answered with", async () => {
    expect(await text("stub:noop")).toBe("```remit\nfunc answer(agent, log, repo) {\n    return none\n}\n```\n");
    expect(await text("stub:passthrough?param=log")).toContain("    return log\n");
    expect(await text(`stub:value?json=${encodeURIComponent('{"a b": [1, -2.5, null, "x\\"\\u0001"]}')}`)).toContain(
        'return { "a b": [1, -2.5, none,',
    );
    expect(await text("stub:text?say=hello%20you")).toBe("hello you");
});

test("what a prompt without a handshake is answered with", async () => {
    expect(await text("stub:noop", PLAIN)).toBe("");
    expect(await text("stub:passthrough?param=log", PLAIN)).toBe("How are you?");
    expect(await text('stub:value?json={"a":1}', PLAIN)).toBe('{"a":1}');
    expect(await text('stub:value?json="fine"', PLAIN)).toBe("fine");
});

/** JSON with whole numbers that the language can hold. */
const isTaken = (json: unknown): boolean => readJson(JSON.stringify(json)).ok;

test("any JSON value comes as source that parses", async () => {
    await fc.assert(
        fc.asyncProperty(fc.jsonValue({ noUnicodeString: false }).filter(isTaken), async (json) => {
            const said = await text(`stub:value?json=${encodeURIComponent(JSON.stringify(json))}`);
            const inner = said.replace(/^`+remit\n|\n`+\n$/g, "");
            expect(parse(source(inner, "answer.remit")).diagnostics.filter((one) => one.severity === "error")).toEqual([]);
        }),
        { numRuns: 60 },
    );
});

test("a further turn of the same call is answered with its function, another call's with a text", async () => {
    await text("stub:noop");
    expect(await text("stub:noop", { ...PLAIN, turn: 1 })).toContain("func answer(agent, log, repo)");
    const effect = { ...effectOf("stub:noop", { ...PLAIN, turn: 2 }), path: "main/Fixer.yield#0/turn[1]/answer/agent.send#0/turn[0]" };
    const session = sessions.get("main/Fixer.yield#0") as AgentSession;
    expect(await session.turn(effect.request as unknown as AgentTurn, effect, ioOf())).toMatchObject({ value: { text: "" } });
});

test("SU1: a sequence goes in order, anew in each session", async () => {
    writeFileSync(
        join(root, "list.json"),
        JSON.stringify([
            "one",
            { source: "func answer(agent) {\n    1\n}\n" },
            { json: { a: 1 } },
            { value: 7 },
            { fail: { kind: "rate_limited", message: "later" } },
        ]),
    );
    const uri = "stub:sequence:list.json";
    expect([await text(uri), await text(uri), await text(uri), await text(uri)]).toEqual([
        "one",
        "```remit\nfunc answer(agent) {\n    1\n}\n```\n",
        '```json\n{\n  "a": 1\n}\n```\n',
        "```remit\nfunc answer(agent, log, repo) {\n    return 7\n}\n```\n",
    ]);
    expect(await ask(uri)).toMatchObject({ ok: false, failure: { kind: "rate_limited", message: "Agent Fixer: later" } });
    expect(await ask(uri)).toMatchObject({
        ok: false,
        failure: { kind: "unreachable", message: expect.stringContaining("has no reply for turn 5") },
    });
    expect(await text(uri, { session: "main/Fixer.yield#1" })).toBe("one");
    sessions.clear();
    expect(await text(uri)).toBe("one");
    writeFileSync(join(root, "lines.ndjson"), '"a"\n\n{"text": "b", "stop": "max_tokens", "usage": {"input": 3}}\n');
    expect(await text("stub:sequence:lines.ndjson", { session: "s" })).toBe("a");
    expect(await ask("stub:sequence:lines.ndjson", { session: "s" })).toMatchObject({
        value: { text: "b", stop: "max_tokens" },
        usage: { input: 3 },
    });
});

test("files are found from the importing file, inside the program's tree", async () => {
    mkdirSync(join(root, "sub"));
    writeFileSync(join(root, "sub/a.remit"), "func answer(agent) { ```\n```` }\n");
    const agent = { name: "Fixer", uri: "stub:source:a.remit", file: "sub/main.remit" };
    expect(await text("", { agent })).toBe("`````remit\nfunc answer(agent) { ```\n```` }\n`````\n");
    for (const [file, message] of [
        ["none.remit", /there is no file none.remit/],
        ["../../../../etc/passwd", /outside the program's tree/],
    ] as const)
        expect(await ask(`stub:source:${file}`)).toMatchObject({
            ok: false,
            failure: { kind: "unreachable", message: expect.stringMatching(message) },
        });
    const turn = effectOf("stub:source:a").request as unknown as AgentTurn;
    expect(await openStub(turn, {}).turn(turn, effectOf("stub:source:a"), ioOf())).toMatchObject({ ok: false });
});

test.each<[string, string, object]>([
    ["refusal", "", { ok: true, value: { stop: "refusal" } }],
    ["unreachable", "&message=gone", { failure: { kind: "unreachable", message: "Agent Fixer: gone" } }],
    ["timeout", "", { failure: { kind: "timeout" } }],
    ["rate_limited", "", { failure: { kind: "rate_limited" } }],
    ["invalid_payload", "", { value: { stop: "end_turn", text: expect.not.stringContaining("```") } }],
    ["crash", "", { failure: { kind: "unreachable", detail: { reply: { text: "I begin by" } } } }],
    ["silence", "", { failure: { kind: "timeout", message: "Agent Fixer: it said nothing for 50 ms" } }],
    ["bad_source", "", { value: { text: expect.stringContaining("return (\n") } }],
    ["wrong_signature", "", { value: { text: expect.stringContaining("func answer(agent, somebody, log, repo, more)") } }],
    ["huge", "&bytes=100000", { value: { text: expect.stringMatching(/x{100000}/) } }],
    ["error_then_ok", "&json=1", { value: { text: expect.stringContaining("return (") } }],
])("the fault %s", async (kind, more, expected) => {
    expect(await ask(`stub:faulty?kind=${kind}${more}`, { limits: { silence: 50, ms: 1000 } })).toMatchObject(expected);
    expect(Object.keys(FAULTS)).toContain(kind);
});

test("error_then_ok is right in the end", async () => {
    const uri = "stub:faulty?kind=error_then_ok&times=2&json=[1]";
    expect([await text(uri), await text(uri), await text(uri)].map((one) => /return (.*)/.exec(one)?.[1])).toEqual(["(", "(", "[1]"]);
});

test("silence ends when the turn is stopped", async () => {
    const abort = new AbortController();
    const waiting = ask("stub:faulty?kind=silence", {}, { signal: abort.signal });
    abort.abort();
    expect(await waiting).toMatchObject({ failure: { kind: "cancelled" } });
});

test.each([
    [{ bytes: 10 }, "limit.bytes"],
    [{ steps: 1 }, "limit.steps"],
    [{ calls: 0 }, "limit.calls"],
    [{ tokens: 9 }, "limit.tokens"],
    [{ usd: 0.01 }, "limit.cost"],
])("AG2: the limit %j", async (limits, kind) => {
    writeFileSync(
        join(root, "l.json"),
        JSON.stringify([{ text: "a longer text", use: [{ tool: "Repo", method: "read", args: ["a"] }], usage: { input: 10, usd: 0.02 } }]),
    );
    const outcome = await ask("stub:sequence:l.json", { limits }, { use: async () => ({ ok: true, value: "A", origins: [] }) });
    expect(outcome).toMatchObject({ ok: false, failure: { kind, detail: { reply: { stop: "cancelled" } } }, usage: { input: 10 } });
});

test("AG2: a use that its steps do not reach for is not made", async () => {
    const use = ["one", "two"].map((path) => ({ tool: "Repo", method: "write", args: [{ path }] }));
    writeFileSync(join(root, "l.json"), JSON.stringify([{ text: "done", use }]));
    const uses: AgentUse[] = [];
    const made = async (one: AgentUse) => {
        uses.push(one);
        return { ok: true as const, value: null, origins: [] };
    };
    expect(await ask("stub:sequence:l.json", { limits: { steps: 1 } }, { use: made })).toMatchObject({
        failure: { kind: "limit.steps", detail: { reply: { spent: { steps: 1, calls: 1 } } } },
    });
    expect(uses.map((one) => one.args)).toEqual([[{ path: "one" }]]);
});

test("G3: what it does with its hands goes through the remit", async () => {
    writeFileSync(
        join(root, "l.json"),
        JSON.stringify([{ text: "done", use: ["read", "write"].map((method) => ({ tool: "Repo", method, args: ["a"] })) }]),
    );
    const uses: AgentUse[] = [];
    const outcome = await ask(
        "stub:sequence:l.json",
        {},
        {
            use: async (use) => {
                uses.push(use);
                return use.method === "read"
                    ? { ok: true, value: "A", origins: [] }
                    : { ok: false, failure: { kind: "violation.remit", message: "no" } };
            },
        },
    );
    expect(uses.map((one) => one.method)).toEqual(["read", "write"]);
    expect(outcome).toMatchObject({
        value: {
            text: "done",
            confinement: "remote",
            spent: { steps: 3, calls: 2, ms: 0 },
            entries: [
                { kind: "call", name: "Repo.read", status: "completed", output: "A", permission: { allowed: true } },
                { kind: "call", name: "Repo.write", status: "failed", permission: { allowed: false, why: "no" } },
                { kind: "message", text: "done" },
            ],
        },
    });
});

test.each([
    ["stub:", /is no stub agent/],
    ["stub:other", /is no stub agent/],
    ["stub:noop?x=1", /no parameter 'x'/],
    ["stub:noop:file", /takes no file/],
    ["stub:source", /names no file/],
    ["stub:value", /'json' is missing/],
    ["stub:value?json={", /not JSON/],
    ["stub:faulty?kind=tired", /no fault 'tired'/],
    ["stub:faulty?kind=huge&bytes=much", /no whole number/],
])("no stub: %s", async (uri, message) => {
    expect(parseStubUri(uri)).toMatchObject({ message: expect.stringMatching(message), hint: expect.any(String) });
    expect(await ask(uri)).toMatchObject({ ok: false, failure: { kind: "unreachable" } });
});

test("replies that are none", async () => {
    for (const [reply, message] of [
        [{ say: 1 }, /a key 'say'/],
        [{}, /says nothing/],
        [1, /neither a text nor an object/],
        [{ fail: { kind: "tired" } }, /unknown kind/],
        [{ text: "", use: [{}] }, /whose use/],
    ] as const) {
        writeFileSync(join(root, "l.json"), JSON.stringify([reply]));
        sessions.clear();
        expect(await ask("stub:sequence:l.json")).toMatchObject({ failure: { message: expect.stringMatching(message) } });
    }
});

test("docs/testing.md says what each does", () => {
    const page = readFileSync(new URL("../../../../docs/testing.md", import.meta.url), "utf8");
    for (const { form, does } of Object.values(STUBS)) expect(page).toContain(`| \`${form}\` | ${does} |`);
    for (const [kind, does] of Object.entries(FAULTS)) expect(page).toContain(`| \`${kind}\` | ${does} |`);
});
