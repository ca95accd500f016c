/** Spans of agents and of what they give, by a table of the GenAI conventions; and the trace context that goes out with requests. */
import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
import * as semconv from "@opentelemetry/semantic-conventions/incubating";
import { beforeAll, expect, test } from "vitest";
import type { Json } from "@remit/language";
import { otelSpans, otlp, traceparent, traceText } from "../../src/index.ts";
import { event, RUN, sample, seal } from "./support.ts";

interface Span {
    traceId: string;
    spanId: string;
    parentSpanId?: string;
    name: string;
    kind: number;
    startTimeUnixNano: string;
    endTimeUnixNano: string;
    attributes: { key: string; value: { [type: string]: Json } }[];
    status: { code?: number };
}

const SESSION = "main/Coder.yield#0";
const reply: Json = {
    text: "```remit\nfunc f() { 1 }\n```",
    stop: "end_turn",
    entries: [
        { kind: "message", text: "I look." },
        {
            kind: "call",
            id: "c1",
            name: "read",
            title: "Read a.txt",
            toolKind: "read",
            input: { path: "a.txt" },
            output: "the secret text",
            status: "completed",
            time: "2026-11-21T12:00:00.000Z",
            ended: "2026-11-21T12:00:01.500Z",
        },
        {
            kind: "call",
            id: "c2",
            name: "Writing to b.txt",
            toolKind: "edit",
            status: "failed",
            diffs: [{ path: "b.txt", old: "one\ntwo\n", new: "one\n2\n" }],
            permission: { allowed: false, by: "remit" },
        },
        { kind: "plan", items: [{ content: "mend it", status: "in_progress" }] },
    ],
    agent: { name: "codex", version: "9", model: "m-1" },
    confinement: "sandbox",
    spent: { steps: 1, calls: 0, ms: 5 },
};
const RUN_EVENTS = seal([
    event("run.started", "main", { program: "ab", entry: { file: "m.remit", agent: "Main", function: "main" }, input: {} }),
    event("yield.opened", SESSION, { agent: "Coder", uri: "acp://codex", by: "yield", params: [], limits: {} }),
    event("agent.asked", `${SESSION}/turn[0]`, {
        agent: "Coder",
        session: SESSION,
        turn: 0,
        prompt: [{ type: "text", text: "the secret" }],
    }),
    event("tool.started", `${SESSION}/turn[0]/use[0]`, { tool: "Repo", method: "read", uri: "mcp://repo", args: [{}] }),
    event("tool.ended", `${SESSION}/turn[0]/use[0]`, {
        tool: "Repo",
        method: "read",
        uri: "mcp://repo",
        args: [{}],
        ok: true,
        result: "x",
    }),
    event("agent.answered", `${SESSION}/turn[0]`, {
        agent: "Coder",
        session: SESSION,
        turn: 0,
        ok: true,
        reply,
        usage: { input: 50, cached: 20, output: 9, reasoning: 4, usd: 0.5 },
    }),
    event("yield.payload", `${SESSION}/turn[0]`, { agent: "Coder", form: "source", text: "func f() { 1 }", ok: true }),
    event("tool.started", `${SESSION}/turn[0]/f/Repo.list#0`, { tool: "Repo", method: "list", uri: "file://workspace", args: ["."] }),
    event("tool.ended", `${SESSION}/turn[0]/f/Repo.list#0`, {
        tool: "Repo",
        method: "list",
        uri: "file://workspace",
        args: ["."],
        ok: true,
        result: [],
    }),
    event("agent.asked", `${SESSION}/turn[1]`, { agent: "Coder", session: SESSION, turn: 1, prompt: [] }),
    event("agent.answered", `${SESSION}/turn[1]`, {
        agent: "Coder",
        session: SESSION,
        turn: 1,
        ok: false,
        kind: "limit.time",
        error: "too late, secret",
    }),
    event("yield.closed", SESSION, { agent: "Coder", turns: 2, ok: false, kind: "limit.time", error: "too late, secret" }),
    event("run.ended", "main", { ok: false, value: null, kind: "limit.time", steps: 3, usage: {} }),
]);

const spansOf = (of: typeof RUN_EVENTS, content = false): Span[] =>
    (otlp(of, { content }) as unknown as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans[0]?.scopeSpans[0]
        ?.spans as Span[];
const held = (span: Span): { [key: string]: Json } =>
    Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0] as Json]));

let spans: Span[];
beforeAll(() => {
    spans = spansOf(RUN_EVENTS);
});

test("a session is its turns, what the agent did in them, and the function that it gave", () => {
    const byId = new Map(spans.map((span) => [span.spanId, span.name]));
    expect(spans.map((span) => [span.name, span.kind, byId.get(span.parentSpanId ?? "")])).toEqual([
        ["invoke_workflow Main", 1, undefined],
        ["yield Coder", 1, "invoke_workflow Main"],
        ["invoke_agent Coder", 3, "yield Coder"],
        ["execute_tool read", 1, "invoke_agent Coder"],
        ["execute_tool edit", 1, "invoke_agent Coder"],
        ["invoke_workflow payload", 1, "yield Coder"],
        ["execute_tool Repo.read", 1, "invoke_agent Coder"],
        ["execute_tool Repo.list", 1, "invoke_workflow payload"],
        ["invoke_agent Coder", 3, "yield Coder"],
    ]);
    const [payload, list] = [spans[5] as Span, spans[7] as Span];
    expect(payload.endTimeUnixNano).toBe(list.endTimeUnixNano);
    expect(payload.startTimeUnixNano < payload.endTimeUnixNano).toBe(true);
});

test("what an agent's turn says, and what only with content", () => {
    expect(held(spans[2] as Span)).toMatchObject({
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "codex",
        "gen_ai.agent.name": "Coder",
        "gen_ai.agent.version": "9",
        "gen_ai.conversation.id": `run-1/${SESSION}`,
        "gen_ai.response.model": "m-1",
        "gen_ai.usage.input_tokens": "50",
        "gen_ai.usage.cache_read.input_tokens": "20",
        "gen_ai.usage.output_tokens": "9",
        "remit.confinement": "sandbox",
    });
    expect(held(spans[8] as Span)).toMatchObject({ "error.type": "limit.time", "gen_ai.provider.name": "_OTHER" });
    expect(spans[8]?.status.code).toBe(2);
    expect(JSON.stringify(spans)).not.toMatch(/secret|func f|a\.txt|b\.txt/);
    const told = spansOf(RUN_EVENTS, true);
    expect(held(told[2] as Span)["gen_ai.input.messages"]).toContain("the secret");
    expect(held(told[2] as Span)["gen_ai.output.messages"]).toContain("func f");
});

test("a call that the agent made itself is a span of its own, from its begin to its end", () => {
    const [read, edit] = [spans[3] as Span, spans[4] as Span];
    expect(held(read)).toMatchObject({ "gen_ai.tool.name": "read", "gen_ai.tool.call.id": "c1", "remit.tool.kind": "read" });
    expect(BigInt(read.endTimeUnixNano) - BigInt(read.startTimeUnixNano)).toBe(1_500_000_000n);
    expect(held(edit)).toMatchObject({ "error.type": "tool", "remit.permission": "refused", "remit.permission.by": "remit" });
    const [, , , told, changed] = spansOf(RUN_EVENTS, true) as [Span, Span, Span, Span, Span];
    expect(held(told)).toMatchObject({ "gen_ai.tool.call.arguments": '{"path":"a.txt"}', "gen_ai.tool.call.result": '"the secret text"' });
    expect(held(changed)["remit.tool.diffs"]).toContain("two");
});

test("what is over while the run goes on is the same span that is sent at its end", () => {
    const half = otelSpans(RUN_EVENTS.slice(0, 6));
    const whole = new Map(otelSpans(RUN_EVENTS).map((one) => [one.id, one.span]));
    const over = half.filter(({ isOver }) => isOver);
    expect(over.map(({ span }) => (span as unknown as Span).name)).toEqual([
        "invoke_agent Coder",
        "execute_tool read",
        "execute_tool edit",
        "execute_tool Repo.read",
    ]);
    for (const { id, span } of over) expect(whole.get(id)).toEqual(span);
    expect(half.filter(({ isOver }) => !isOver).map(({ span }) => (span as unknown as Span).name)).toEqual([
        "invoke_workflow Main",
        "yield Coder",
    ]);
});

/** Operation → how a span of it is named, its kind, and what it must say. */
const CONVENTION: { readonly [operation: string]: { readonly name: RegExp; readonly kind: number; readonly required: readonly string[] } } =
    {
        chat: { name: /^chat \S+$/, kind: 3, required: [semconv.ATTR_GEN_AI_PROVIDER_NAME, semconv.ATTR_GEN_AI_REQUEST_MODEL] },
        invoke_agent: {
            name: /^invoke_agent \S+$/,
            kind: 3,
            required: [semconv.ATTR_GEN_AI_PROVIDER_NAME, semconv.ATTR_GEN_AI_AGENT_NAME],
        },
        invoke_workflow: { name: /^invoke_workflow \S+$/, kind: 1, required: ["gen_ai.workflow.name"] },
        execute_tool: { name: /^execute_tool \S+$/, kind: 1, required: [semconv.ATTR_GEN_AI_TOOL_NAME] },
    };
/** Names that the conventions gave up. */
const OLD = /^gen_ai\.(system$|prompt$|completion$|usage\.(prompt|completion)_tokens$)/;

test.each([
    ["of agents", RUN_EVENTS],
    ["of models and tools", seal(sample())],
] as const)("names, kinds and attributes of spans %s are the convention's", (_, events) => {
    const known = new Set<string>(Object.values(semconv).filter((one) => typeof one === "string") as string[]);
    let looked = 0;
    for (const span of spansOf(events, true)) {
        const about = held(span);
        const row = CONVENTION[String(about["gen_ai.operation.name"])];
        if (about["gen_ai.operation.name"] !== undefined) {
            expect(row, span.name).toBeDefined();
            expect(span.name).toMatch(row?.name as RegExp);
            expect(span.kind).toBe(row?.kind);
            for (const key of row?.required ?? []) expect(about[key], `${span.name} ${key}`).toBeDefined();
            looked += 1;
        }
        for (const key of Object.keys(about)) {
            expect(key).not.toMatch(OLD);
            // the incubating package lags behind the conventions by these
            const newer = /^gen_ai\.(workflow\.name|agent\.version|usage\.(cache_read\.input_tokens|reasoning\.output_tokens))$/;
            expect(known.has(key) || newer.test(key) || key.startsWith("remit."), key).toBe(true);
        }
        for (const { value } of span.attributes) expect(Object.keys(value)).toHaveLength(1);
    }
    expect(looked).toBeGreaterThan(4);
});

test("the body has the shape that OpenTelemetry's own serialiser gives", () => {
    const theirs = JSON.parse(new TextDecoder().decode(JsonTraceSerializer.serializeRequest([]) as Uint8Array));
    const ours = otlp(RUN_EVENTS) as { [key: string]: Json };
    expect(Object.keys(ours)).toEqual(Object.keys(theirs));
    expect(
        spans.every(
            (span) => /^[0-9a-f]{32}$/.test(span.traceId) && /^[0-9a-f]{16}$/.test(span.spanId) && /^\d+$/.test(span.startTimeUnixNano),
        ),
    ).toBe(true);
});

test("trace context names the span of an effect before there is one", () => {
    for (const span of spans) {
        const path = held(span)["remit.path"] as string;
        if (span.name === "invoke_workflow payload" || held(span)["gen_ai.tool.call.id"] !== undefined) continue;
        expect(traceparent(RUN, path)).toBe(`00-${span.traceId}-${span.spanId}-01`);
    }
});

test("the trace for people has them too", () => {
    const text = traceText(RUN_EVENTS);
    expect(text).toContain("yield to Coder");
    expect(text).toContain('Coder asked "the secret" →');
    expect(text).toContain("Coder gave a function");
    expect(text).toContain('- said "I look."');
    expect(text).toContain('- read({"path":"a.txt"}) → "the secret text" (1.5 s)');
    expect(text).toContain("- Writing to b.txt() failed: refused by remit, was to change b.txt");
    expect(text).toContain('- plan "mend it (in progress)"');
    expect(traceText(RUN_EVENTS, { full: true })).toMatch(/change of b\.txt:\n +-two\n +\+2\n/);
    expect(text).toContain(`failed: "too late, secret"`);
});
