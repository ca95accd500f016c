/** Projections of one sample run: canonical ledger, trace, cost, journal, diff, OpenTelemetry. */
import { describe, expect, test } from "vitest";
import fc from "fast-check";
import type { Json } from "@remit/language";
import {
    canonicalLedger,
    comparePaths,
    costOf,
    diffLines,
    diffRuns,
    diffText,
    type LedgerEvent,
    type MachineEvent,
    otlp,
    redactEvent,
    type SealedEvent,
    traceText,
    watching,
} from "../../src/index.ts";
import { millis } from "../../src/ledger/read.ts";
import { event, sample, seal, sha256 } from "./support.ts";

const events = seal(sample());
const redacted = events.map((one) => redactEvent(one, ["content"], sha256));

describe("canonical ledger", () => {
    test("does not hold time, sequence, run or hashes, nor measured times", () => {
        const other = seal(
            sample().map((one) => (one.kind === "tool.ended" ? { ...one, data: { ...(one.data as object), timing: { ms: 3 } } } : one)),
            "run-2",
            30,
        );
        expect(canonicalLedger(other)).toBe(canonicalLedger(events));
    });
    test("does not depend on the order of paths", () => {
        fc.assert(
            fc.property(fc.infiniteStream(fc.nat()), (stream) => {
                const rest = new Map<string, MachineEvent[]>();
                for (const one of sample()) rest.set(one.path, [...(rest.get(one.path) ?? []), one]);
                const shuffled: MachineEvent[] = [];
                for (const pick of stream) {
                    const open = [...rest.values()].filter((left) => left.length > 0);
                    if (open.length === 0) break;
                    shuffled.push((open[pick % open.length] as MachineEvent[]).shift() as MachineEvent);
                }
                expect(canonicalLedger(shuffled)).toBe(canonicalLedger(sample()));
            }),
            { numRuns: 30 },
        );
    });
    test("paths stand by their numbers, a path before what is under it", () => {
        const paths = ["main/for[10]", "main/for[2]/generate#0", "main", "main/for[2]", "main/a#1", "main/a#0/b#0"];
        expect(paths.sort(comparePaths)).toEqual([
            "main",
            "main/a#0/b#0",
            "main/a#1",
            "main/for[2]",
            "main/for[2]/generate#0",
            "main/for[10]",
        ]);
    });
});

describe("trace", () => {
    test("is a tree with what came of each", () => {
        expect(traceText(events)).toBe(
            [
                '- run run-1 → {"ok":true} (8.5 s, 35 tokens in, 7 out)',
                '  - tool Repo.list({"path":"."}) → ["a"] (500 ms)',
                '  - generate "Why did the build fail?" with Claude in 2 attempts → {"ok":true} (1.5 s, 20 tokens in, 4 out)',
                "    - attempt 1 LLM provider did not return JSON: Sure (10 tokens in, 2 out)",
                "    - attempt 2 ok (10 tokens in, 2 out)",
                '  - for f[0] "a"',
                '    - generate "Why did the build fail?" with Claude → "fine" (2.5 s, 15 tokens in, 3 out, $0.2500)',
                '      - effect describe[Repo] → {"methods":[{"name":"read","input":{},"readOnly":true}]}',
                "      - attempt 1 calls Repo_read (10 tokens in, 2 out)",
                '        - tool Repo.read({"path":"a"}) → "text of a" (500 ms)',
                "        - attempt 1, turn 2 ok (5 tokens in, 1 out, $0.2500)",
                '  - tool Repo.read({"path":"x\\u001b[2J"}) failed: "no such file" (500 ms)',
            ].join("\n"),
        );
    });
    test("in full has the prompts", () => {
        const full = traceText(events, { full: true });
        expect(full).toContain("[build log] log, clipped from 34 to 23");
        expect(full).toContain("You are a careful engineer.");
        expect(full).not.toContain("\u001b");
    });
    test("of a run that was cut off says what did not end", () => {
        expect(traceText(events.slice(0, 2))).toBe('- run run-1 did not end\n  - tool Repo.list({"path":"."}) did not end');
    });
    test("of a run that waits for an answer says so, and of what failed otherwise that it did not end", () => {
        const [started, listing] = events as unknown as [LedgerEvent, LedgerEvent];
        const at = (seq: number, kind: string, path: string, parent: string | null, data: object) =>
            ({ ...listing, seq, kind, path, parent, data }) as unknown as LedgerEvent;
        const main = started.path;
        const asked = at(2, "ask.requested", `${main}/Repo.write#0/ask`, `${main}/Repo.write#0`, { question: "May A write?" });
        expect(traceText([started, listing, asked])).toBe(
            '- run run-1 waits for an answer\n  - tool Repo.list({"path":"."}) did not end\n  - ask "May A write?" waits for an answer',
        );
        const decided = at(3, "ask.decided", asked.path, asked.parent, { decision: "once" });
        expect(traceText([started, asked, decided])).toContain("- run run-1 did not end");
        // of what an agent does with its own hands the question stands in the request
        const hands = { ...asked, data: { request: { question: "May Fixer call Repo.write?" }, host: true } };
        expect(traceText([hands])).toContain('- ask "May Fixer call Repo.write?"');
    });
    test("is there for redacted events, unknown data and nothing", () => {
        expect(traceText(redacted)).toContain("- attempt 2 ok (10 tokens in, 2 out)");
        expect(traceText([])).toBe("(empty trace)");
        const odd = seal(
            ["turn.text", "failure", "parallel.started", "budget", "plan.node.started"].map((kind) =>
                event(kind as MachineEvent["kind"], `main/${kind}`, null),
            ),
        );
        expect(traceText(odd).split("\n")).toHaveLength(5);
    });
    test("nothing in data can move the cursor or turn the text around", () => {
        const odd = seal([event("failure", "main", { kind: "value", message: "a\u001b[2J\u202eb\nc" })]);
        expect(traceText(odd)).toBe('- failed value: "a [2J b c"');
    });
    test("paints what failed", () => {
        const painted = traceText(events, { paint: (style, text) => `<${style}>${text}</${style}>` });
        expect(painted).toContain('<red>failed: "no such file"</red>');
    });
});

test("a run that is watched: what begins and what came of it, in its order, and which pass of a parallel for it is of", () => {
    const tool = { tool: "Repo", method: "read", args: [{ path: "a" }] };
    const [one, two] = ["main/parallel[0]/Repo.read#0", "main/parallel[1]/Repo.read#0"];
    const lines = seal([
        event("run.started", "main", {}),
        event("tool.started", one, tool),
        event("tool.started", two, tool),
        event("tool.ended", two, { ...tool, ok: false, error: "there is no \u001b[31ma" }),
        event("tool.ended", one, { ...tool, ok: true, result: "A" }),
        event("ask.requested", "main/ask", { request: { question: "May it?" } }),
        event("ask.decided", "main/ask", { ok: true, value: "once" }),
        event("failure", "main", { kind: "tool", message: "no" }),
        event("run.ended", "main", { ok: false, kind: "tool", message: "no" }),
    ]).flatMap(watching());
    expect(lines).toEqual([
        "run run-1 …",
        '[0] tool Repo.read({"path":"a"}) …',
        '[1] tool Repo.read({"path":"a"}) …',
        '[1] tool Repo.read({"path":"a"}) failed: "there is no  [31ma" (500 ms)',
        '[0] tool Repo.read({"path":"a"}) → "A" (1.5 s)',
        'ask "May it?" …',
        'ask "May it?" → "once" (500 ms)',
        'failed tool: "no"',
        'run run-1 failed: "no" (4.0 s)',
    ]);
});

test("times are read without the host's calendar", () => {
    fc.assert(
        fc.property(
            fc.date({ min: new Date("1970-01-01T00:00:00Z"), max: new Date("2200-01-01T00:00:00Z"), noInvalidDate: true }),
            (date) => {
                expect(millis(date.toISOString())).toBe(date.getTime());
            },
        ),
    );
    expect(millis("yesterday")).toBe(null);
});

test("cost by model, agent and place", () => {
    const cost = costOf(events);
    expect(cost.rows).toEqual([
        {
            model: "Claude (anthropic://claude)",
            answered: "m-1",
            where: "Main.main[0]",
            turns: 2,
            input: 20,
            cached: 0,
            output: 4,
            reasoning: 0,
            unpriced: 2,
        },
        {
            model: "Claude (anthropic://claude)",
            answered: "m-1",
            where: "Main.main[1]",
            turns: 2,
            input: 15,
            cached: 0,
            output: 3,
            reasoning: 0,
            usd: 0.25,
            unpriced: 1,
        },
    ]);
    expect(cost.total).toEqual({ turns: 4, input: 35, cached: 0, output: 7, reasoning: 0, usd: 0.25, unpriced: 3 });
    expect(cost.models).toMatchObject([{ model: "Claude (anthropic://claude)", turns: 4 }]);
    expect(cost.agents).toMatchObject([{ agent: "Main", turns: 4 }]);
    expect(costOf(redacted)).toEqual(cost);
});

describe("diff", () => {
    test("of the same run twice is nothing", () => expect(diffRuns(events, seal(sample(), "run-2", 9))).toEqual([]));

    test("names what was added, removed and changed, prompts line by line", () => {
        const other = sample().filter((one) => one.path !== "main/Repo.list#0");
        other.push(event("use", "main/use#9", { source: "x" }));
        const changed = other.map(
            (one): MachineEvent =>
                one.kind === "generate.attempt" && one.path === "main/generate#0/attempt[1]"
                    ? { ...one, data: JSON.parse(JSON.stringify(one.data).replaceAll("alpha", "ALPHA")) as Json }
                    : one,
        );
        const found = diffRuns(events, seal(changed));
        expect(found.map((one) => `${one.change} ${one.path} ${one.kind}`)).toEqual([
            "removed main/Repo.list#0 tool.started",
            "removed main/Repo.list#0 tool.ended",
            "changed main/generate#0/attempt[1] generate.attempt",
            "added main/use#9 use",
        ]);
        const lines = found[2]?.fields.find((field) => field.lines !== undefined)?.lines ?? [];
        expect(lines.filter((line) => line.mark !== " " && line.mark !== "…")).toEqual([
            { mark: "-", text: '  "alpha",' },
            { mark: "+", text: '  "ALPHA",' },
        ]);
        expect(diffText(found)).toContain('\n      -   "alpha",\n      +   "ALPHA",\n');
    });

    test("of lines rebuilds both texts", () => {
        const text = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 14 }).map((lines) => lines.join("\n"));
        fc.assert(
            fc.property(text, text, (a, b) => {
                const lines = diffLines(a, b);
                const gaps = lines.filter((line) => line.mark === "…").length;
                if (gaps > 0) return;
                expect(lines.filter((line) => line.mark !== "+").map((line) => line.text)).toEqual(a.split("\n"));
                expect(lines.filter((line) => line.mark !== "-").map((line) => line.text)).toEqual(b.split("\n"));
            }),
            { numRuns: 500 },
        );
    });

    test("of texts that are too large or too unlike says so", () => {
        const lines = (count: number, name: string): string => Array.from({ length: count }, (_, n) => `${name}${n}`).join("\n");
        const diff = (count: number) => diffLines(lines(count, "a"), lines(count, "b"));
        expect(diff(3000)).toHaveLength(6001);
        expect(diff(3000)[0]).toEqual({ mark: "…", text: "too unlike to be compared line by line: the old lines, then the new" });
        expect(diff(6000)).toEqual([{ mark: "…", text: "too unlike to be compared: 6000 lines gone, 6000 new" }]);
        expect(diff(30_000)).toEqual([{ mark: "…", text: "not compared: more than 50000 lines differ" }]);
        expect(diffLines("a".repeat(2 ** 21), "b")).toEqual([{ mark: "…", text: "not compared: more than 2097152 characters differ" }]);
        const long = lines(100_000, "a");
        expect(diffLines(long, long.replace("a50000\n", "b\n")).map(({ mark, text }) => `${mark}${text}`)).toEqual([
            "…",
            " a49998",
            " a49999",
            "-a50000",
            "+b",
            " a50001",
            " a50002",
            "…",
        ]);
    });
});

describe("OpenTelemetry", () => {
    type Span = {
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        name: string;
        kind: number;
        startTimeUnixNano: string;
        endTimeUnixNano: string;
        attributes: { key: string; value: Record<string, Json> }[];
        status: { code?: number };
    };
    const spansOf = (content?: boolean, of: readonly SealedEvent[] = events): Span[] =>
        (otlp(of, content === undefined ? {} : { content }) as unknown as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] })
            .resourceSpans[0]?.scopeSpans[0]?.spans as Span[];
    const attribute = (span: Span | undefined, key: string): Json | undefined =>
        Object.values(span?.attributes.find((one) => one.key === key)?.value ?? {})[0];

    test("names, kinds and nesting", () => {
        const spans = spansOf();
        expect(spans.map((span) => `${span.name} ${span.kind}`)).toEqual([
            "invoke_workflow Main 1",
            "execute_tool Repo.list 1",
            "generate Main.main[0] 1",
            "chat claude 3",
            "chat claude 3",
            "generate Main.main[1] 1",
            "chat claude 3",
            "execute_tool Repo.read 1",
            "chat claude 3",
            "execute_tool Repo.read 1",
        ]);
        expect(new Set(spans.map((span) => span.spanId)).size).toBe(spans.length);
        expect(new Set(spans.map((span) => span.traceId)).size).toBe(1);
        for (const span of spans) {
            expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
            expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
            expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
            expect(span.parentSpanId === undefined || spans.some((other) => other.spanId === span.parentSpanId)).toBe(true);
        }
        expect(spans[3]?.parentSpanId).toBe(spans[2]?.spanId);
        expect(spans[5]?.parentSpanId).toBe(spans[0]?.spanId);
        expect(spans[1]?.startTimeUnixNano).toBe(`${Date.UTC(2026, 10, 21, 12, 0, 0, 500)}000000`);
    });

    test("required and recommended attributes", () => {
        const spans = spansOf();
        const [workflow, tool, , failedChat, chat] = spans;
        expect(attribute(workflow, "gen_ai.operation.name")).toBe("invoke_workflow");
        expect(attribute(tool, "gen_ai.tool.name")).toBe("Repo.list");
        expect(attribute(chat, "gen_ai.provider.name")).toBe("anthropic");
        expect(attribute(chat, "gen_ai.request.model")).toBe("claude");
        expect(attribute(chat, "gen_ai.response.model")).toBe("m-1");
        expect(attribute(chat, "gen_ai.usage.input_tokens")).toBe("10");
        expect(attribute(chat, "gen_ai.usage.output_tokens")).toBe("2");
        expect(attribute(failedChat, "error.type")).toBe("contract");
        expect(attribute(spans.at(-1), "error.type")).toBe("tool");
        expect(spans.at(-1)?.status.code).toBe(2);
    });

    test("content is off unless asked for", () => {
        expect(JSON.stringify(spansOf())).not.toMatch(/alpha|careful|no such file|text of a|Sure/);
        const spans = spansOf(true);
        expect(attribute(spans[4], "gen_ai.input.messages")).toContain("alpha");
        expect(JSON.parse(attribute(spans[4], "gen_ai.output.messages") as string)).toEqual([
            { role: "assistant", parts: [{ type: "text", content: '{"ok":true}' }], finish_reason: "stop" },
        ]);
        expect(attribute(spans[7], "gen_ai.tool.call.result")).toBe('"text of a"');
    });

    test("redacted events make the same spans", () =>
        expect(spansOf(false, redacted).map((span) => span.name)).toEqual(
            expect.arrayContaining(["chat claude", "generate Main.main[0]"]),
        ));
});

test("passes of a parallel for stand under it, in the order of the input, each with what it did", () => {
    const base = { time: "2026-01-01T00:00:00.000Z", run: "r", principal: "user", site: null, labels: [], prev: "", hash: "" };
    const made = (seq: number, kind: string, path: string, data: Json = {}): LedgerEvent =>
        ({ ...base, seq, kind, path, parent: null, data }) as unknown as LedgerEvent;
    const text = traceText([
        made(1, "parallel.started", "main/parallel#0", { item: "x" }),
        made(2, "tool.started", "main/parallel[1]/T.a#0", { tool: "T", method: "a", args: [1] }),
        made(3, "tool.started", "main/parallel[0]/T.a#0", { tool: "T", method: "a", args: [0] }),
        made(4, "tool.ended", "main/parallel[1]/T.a#0", { ok: true, result: 1 }),
        made(5, "tool.ended", "main/parallel[0]/T.a#0", { ok: true, result: 0 }),
        made(6, "parallel.ended", "main/parallel#0", { ok: true }),
        made(7, "parallel.started", "main/parallel#1", { item: "y" }),
        made(8, "tool.started", "main/parallel[0]/T.b#0", { tool: "T", method: "b", args: [] }),
        made(9, "tool.ended", "main/parallel[0]/T.b#0", { ok: true, result: 2 }),
        made(10, "parallel.ended", "main/parallel#1", { ok: true }),
    ]);
    const shape = text
        .split("\n")
        .map((line) => `${" ".repeat(line.length - line.trimStart().length)}${/iteration \[\d\]|parallel|T\.\w\(\d?\)/.exec(line)?.[0]}`);
    expect(shape).toEqual([
        "parallel",
        "  iteration [0]",
        "    T.a(0)",
        "  iteration [1]",
        "    T.a(1)",
        "parallel",
        "  iteration [0]",
        "    T.b()",
    ]);
});

test("a use stands in the block that it is written in, before what comes after it, at every depth alike", () => {
    const base = { time: "2026-01-01T00:00:00.000Z", run: "r", principal: "user", site: null, labels: [], prev: "", hash: "" };
    let seq = 0;
    const made = (kind: string, path: string, data: Json = {}): LedgerEvent =>
        ({ ...base, seq: ++seq, kind, path, parent: null, data }) as unknown as LedgerEvent;
    const generate = (path: string): LedgerEvent[] => [made("generate.started", path), made("generate.ended", path, { ok: true })];
    const text = traceText([
        made("run.started", "main"),
        made("use", "main", { source: "a" }),
        ...generate("main/generate#0"),
        made("for", "main/for[0]", { item: "x", index: 0, value: 1 }),
        made("use", "main/for[0]", { source: "b" }),
        ...generate("main/for[0]/generate#1"),
        made("use", "main/loop[0]", { source: "c" }),
        ...generate("main/loop[0]/generate#2"),
        made("parallel.started", "main/parallel#0", { item: "x" }),
        made("use", "main/parallel[1]", { source: "e" }),
        made("use", "main/parallel[0]", { source: "d" }),
        ...generate("main/parallel[1]/generate#3"),
        ...generate("main/parallel[0]/generate#3"),
        made("parallel.ended", "main/parallel#0", { ok: true }),
        made("use", "main", { source: "f" }),
        ...generate("main/generate#4"),
        made("run.ended", "main", { ok: true }),
    ]);
    expect(text.split("\n").map((line) => /^ *- (?:run|use \w|generate|for|parallel|iteration \[\d\])/.exec(line)?.[0])).toEqual([
        "- run",
        "  - use a",
        "  - generate",
        "  - for",
        "    - use b",
        "    - generate",
        "  - use c",
        "  - generate",
        "  - parallel",
        "    - iteration [0]",
        "      - use d",
        "      - generate",
        "    - iteration [1]",
        "      - use e",
        "      - generate",
        "  - use f",
        "  - generate",
    ]);
});
