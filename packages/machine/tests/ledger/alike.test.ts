/** Passes of a `parallel for` that failed alike, in the text of a trace. */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { type LedgerEvent, traceText } from "../../src/index.ts";
import { event, seal } from "./support.ts";

const call = (path: string, message: string | null): ReturnType<typeof event>[] => [
    event("tool.started", `${path}/T.a#0`, { tool: "T", method: "a", args: [path] }),
    event("tool.ended", `${path}/T.a#0`, message === null ? { ok: true, result: 1 } : { ok: false, failure: { kind: "tool", message } }),
];

/** What each pass failed with; null: it did not. */
function trace(messages: readonly (string | null)[], options: { readonly full?: boolean } = {}): string[] {
    const events: LedgerEvent[] = seal([
        event("parallel.started", "main/parallel#0", { item: "x" } as Json),
        ...messages.flatMap((message, index) => call(`main/parallel[${index}]`, message)),
        event("parallel.ended", "main/parallel#0", { ok: false, failure: { kind: "tool", message: "all" } }),
    ]);
    return traceText(events, options)
        .split("\n")
        .filter((line) => line.includes("iteration"))
        .map((line) => line.trim());
}

test("the first is shown, and one line counts the others", () => {
    expect(trace(["gone", "gone", null, "gone"])).toEqual(["- iteration [0]", "- iterations [1, 3] failed like [0]", "- iteration [2]"]);
});

test("failures that differ in numbers are alike, and those that differ in words are not", () => {
    expect(trace(["port 1", "port 22", "no port", "port 3"])).toEqual([
        "- iteration [0]",
        "- iterations [1, 3] failed like [0]",
        "- iteration [2]",
    ]);
});

test("ten of them are named, and the rest is counted", () => {
    expect(trace(Array.from({ length: 14 }, () => "gone"))).toEqual([
        "- iteration [0]",
        "- iterations [1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 3 more] failed like [0]",
    ]);
});

test("passes that did not fail are all shown, and so is each one with --full", () => {
    expect(trace([null, null])).toEqual(["- iteration [0]", "- iteration [1]"]);
    expect(trace(["gone", "gone"], { full: true })).toEqual(["- iteration [0]", "- iteration [1]"]);
});

test("loops inside one another: an inner group stands inside the pass that is shown", () => {
    const inner = (outer: number) => [
        event("parallel.started", `main/parallel[${outer}]/parallel#0`, { item: "y" } as Json),
        ...[0, 1].flatMap((index) => call(`main/parallel[${outer}]/parallel[${index}]`, "gone")),
        event("parallel.ended", `main/parallel[${outer}]/parallel#0`, { ok: false, failure: { kind: "tool", message: "both" } }),
    ];
    const text = traceText(
        seal([
            event("parallel.started", "main/parallel#0", { item: "x" } as Json),
            ...[0, 1].flatMap(inner),
            event("parallel.ended", "main/parallel#0", { ok: false, failure: { kind: "tool", message: "all" } }),
        ]),
    );
    const lines = text.split("\n").filter((line) => line.includes("iteration"));
    expect(lines.map((line) => line.trimEnd())).toEqual([
        "  - iteration [0]",
        "      - iteration [0]",
        "      - iteration [1] failed like [0]",
        "  - iteration [1] failed like [0]",
    ]);
});
