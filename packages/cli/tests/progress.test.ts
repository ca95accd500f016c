/** The line that is redrawn on a terminal: what streams in, and what is taken back. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LedgerEvent } from "@remit/machine";
import { progress } from "../src/progress.ts";

beforeEach(() => {
    vi.useFakeTimers();
    vi.stubEnv("TERM", "xterm");
});
afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
});

test("text of a try that failed is taken back when the next one begins", () => {
    let written = "";
    const write = (text: string): boolean => {
        written = text;
        return true;
    };
    const shown = progress({ isTTY: true, columns: 200, write } as unknown as NodeJS.WriteStream);
    shown.part("main/generate#0", { type: "text", delta: "half of it" });
    vi.advanceTimersByTime(500);
    expect(written).toContain("half of it");
    shown.part("main/generate#0", { type: "restart" });
    shown.part("main/generate#0", { type: "text", delta: "all of it" });
    vi.advanceTimersByTime(500);
    expect(written).toContain("all of it");
    expect(written).not.toContain("half");
    shown.end();
});

test.each([false, true])("a note of a performer is a line of its own, without what a terminal would obey (terminal: %s)", (isTTY) => {
    vi.stubEnv("NO_COLOR", "1");
    let written = "";
    const write = (text: string): boolean => {
        written += text;
        return true;
    };
    const shown = progress({ isTTY, columns: 200, write } as unknown as NodeJS.WriteStream);
    shown.part("main/Fixer.yield#0/turn[0]", { type: "notice", text: "opencode finds no `rg`\u001b[2J\nFAKE" });
    expect(written.split("\n").at(-2)).toMatch(/^note: opencode finds no `rg`/);
    expect(written).not.toContain("\u001b[2J");
    shown.end();
});

/** Events of a `parallel for` over so many items, eight at once, each with one `generate`; `why`: how that of an item fails. */
function batch(items: number, why: (index: number) => string | null, ended: object | null): LedgerEvent[] {
    let seq = 0;
    const event = (kind: string, path: string, data: object): LedgerEvent =>
        ({ kind, path, data, seq: ++seq, time: new Date(1_000 * Math.floor(seq / 4)).toISOString(), run: "r" }) as unknown as LedgerEvent;
    const out = [event("parallel.started", "main/parallel#0", { item: "x", items, concurrency: 8 })];
    const end = (index: number): void => {
        const path = `main/parallel[${index}]/generate#0`;
        const error = why(index);
        out.push(event("generate.attempt", `${path}/attempt[0]`, { usage: { input: 3, output: 1 }, reply: null, error }));
        out.push(event("generate.ended", path, error === null ? { ok: true } : { ok: false, error }));
    };
    for (let index = 0; index < items; index++) {
        if (index >= 8) end(index - 8);
        out.push(
            event("generate.started", `main/parallel[${index}]/generate#0`, {
                label: "A.main[0]",
                instruction: { text: `Sort letter ${index}` },
            }),
        );
    }
    for (let index = Math.max(0, items - 8); index < items; index++) end(index);
    if (ended !== null) out.push(event("parallel.ended", "main/parallel#0", ended));
    out.push(event("run.ended", "main", { ok: ended !== null }));
    return out;
}

function logged(events: readonly LedgerEvent[], parts: readonly object[] = []): string[] {
    let written = "";
    const shown = progress({ isTTY: false, write: (text: string) => (written += text) } as unknown as NodeJS.WriteStream);
    for (const [at, event] of events.entries()) {
        shown.event(event);
        const part = parts[at];
        if (part !== undefined) shown.part(event.path, part as never);
    }
    shown.end();
    return written.trimEnd().split("\n");
}

test("a loop over thousands is about ten lines of a log, which count its items and name the first of each kind that failed", () => {
    const log = logged(batch(2_000, (index) => (index % 3 === 0 ? `refused: bad request ${index}` : null), null));
    expect(log).toEqual([
        "parallel for x: 2,000 items, 8 at once",
        "  item 0 (Sort letter 0) failed: refused: bad request 0",
        expect.stringMatching(/^parallel for x: 200 of 2,000 done, 67 failed, \d+ tokens \(.*\)$/),
        ...[400, 600, 800].map((n) => expect.stringMatching(new RegExp(`^parallel for x: ${n} of 2,000 done`))),
        ...["1,000", "1,200", "1,400", "1,600", "1,800"].map((n) =>
            expect.stringMatching(new RegExp(`^parallel for x: ${n} of 2,000 done`)),
        ),
        expect.stringMatching(/^ended: parallel for x: 2,000 of 2,000 done, 667 failed, 8\.0k tokens/),
    ]);
});

test("where a loop has ended, its own event says how many failed: what was caught inside is no failure", () => {
    const iterations = Array.from({ length: 20 }, (_, index) => ({ index, ok: true }));
    const log = logged(batch(20, (index) => (index === 3 ? "down" : null), { ok: true, iterations }));
    expect(log.at(-1)).toMatch(/^done: parallel for x: 20 of 20 done, 80 tokens/);
});

test("pauses for a provider are said once and counted", () => {
    const slow = { type: "pause", text: "M takes no more requests for now", ms: 1_500 };
    const log = logged(
        batch(20, () => null, null),
        Array.from({ length: 30 }, () => slow),
    );
    expect(log.filter((line) => line.startsWith("note:"))).toEqual(["note: M takes no more requests for now: waiting 1.5 s"]);
    expect(log.at(-1)).toContain("30 pauses for the provider");
});

test("a run that goes on counts on from what its loop had done; what failed is tried again", async () => {
    const events = batch(200, () => null, { ok: true, iterations: [] });
    // items 0 to 100 had ended when the run failed, and number 99 had failed
    const stop = events.findIndex(({ path }) => path.startsWith("main/parallel[108]"));
    const before = events.slice(0, stop).filter(({ path, kind }) => kind !== "generate.ended" || !path.startsWith("main/parallel[99]"));
    before.push({
        ...before.at(-1),
        kind: "generate.ended",
        path: "main/parallel[99]/generate#0",
        data: { ok: false, error: "no" },
    } as never);
    let written = "";
    const shown = progress({ isTTY: false, write: (text: string) => (written += text) } as unknown as NodeJS.WriteStream);
    async function* told() {
        yield* [...before, events.at(-1) as LedgerEvent];
    }
    await shown.before?.(told());
    for (const event of [...events.filter(({ path }) => path.startsWith("main/parallel[99]")), ...events.slice(stop)]) shown.event(event);
    const log = written.trimEnd().split("\n");
    expect(log[0]).toBe("parallel for x goes on: 100 of 200 were done");
    expect(log.slice(1, -1).every((line) => /^parallel for x: 1\d\d of 200 done/.test(line))).toBe(true);
    expect(log.length).toBeLessThan(9);
});

test("what an agent does with its own hands has the name of its tool", () => {
    const of = (kind: string, data: object): LedgerEvent =>
        ({ kind, path: "main/agent#0/use", data, time: "2026-01-01T00:00:00Z" }) as never;
    const request = { op: "call", tool: "Repo", method: "write", args: [] };
    expect(logged([of("tool.started", { request, host: true }), of("tool.ended", { ok: true })])).toEqual(["done: Repo.write (0 ms)"]);
});

test("a question about what an agent does is shown with its words, and as refused where no person was there", () => {
    const data = (more: object): object => ({ effect: "ask", host: true, ...more });
    const ask = (kind: string, more: object): LedgerEvent =>
        ({
            kind,
            path: "main/agent#0/turn[0]/hand[1]/ask",
            data: data(more),
            seq: 1,
            time: new Date(0).toISOString(),
            run: "r",
        }) as unknown as LedgerEvent;
    const lines = logged([
        ask("ask.requested", { request: { question: "May Reviewer call Repo.write?" } }),
        ask("ask.decided", { ok: false, failure: { kind: "denied", message: "no person was there to answer" } }),
    ]);
    expect(lines).toEqual(["refused: May Reviewer call Repo.write? (0 ms)"]);
});

test("what was stopped because its sibling failed is cancelled, not failed", () => {
    const of = (kind: string, id: string, data: object): LedgerEvent =>
        ({ kind, path: `main/plan#0/${id}`, data: { id, ...data }, time: "2026-01-01T00:00:00Z" }) as never;
    const failure = { kind: "cancelled", message: "the block failed" };
    expect(
        logged([
            of("plan.node.started", "echo#0", {}),
            of("plan.node.started", "echo#1", {}),
            of("tool.started", "echo#1/T.get#0", { tool: "T", method: "get" }),
            of("plan.node.ended", "echo#0", { state: "failed" }),
            of("tool.ended", "echo#1/T.get#0", { ok: false, kind: "cancelled", failure }),
            of("plan.node.ended", "echo#1", { state: "cancelled" }),
        ]),
    ).toEqual(["failed: echo#0 (0 ms)", "cancelled: T.get (0 ms)", "cancelled: echo#1 (0 ms)"]);
});

test("a loop over a few items is shown call by call", () => {
    const log = logged(batch(3, () => null, { ok: true, iterations: [] }));
    expect(log.filter((line) => line.startsWith("done: generate"))).toHaveLength(3);
});

test("on a terminal one line says how far a loop is, what runs, and what is waited for", () => {
    vi.stubEnv("NO_COLOR", "1");
    let written = "";
    const shown = progress({ isTTY: true, columns: 200, write: (text: string) => (written = text) } as unknown as NodeJS.WriteStream);
    const events = batch(400, (index) => (index % 2 === 0 ? "down" : null), null);
    for (const event of events.slice(0, 600)) shown.event(event);
    shown.part("main", { type: "pause", text: "M takes no more requests for now", ms: 60_000 });
    vi.advanceTimersByTime(500);
    expect(written).toMatch(
        /left · parallel for x: \d+ of 400 done, \d+ failed, \d+ tokens, M takes no more requests for now: waiting \S+ s · Sort letter \d+/,
    );
    shown.end();
});

test("a call whose tool says that it failed is not told as done", () => {
    const event = (kind: string, data: object): LedgerEvent =>
        ({ kind, path: "main/S.send#0", data: { tool: "S", method: "send", ...data }, time: new Date(0).toISOString() }) as never;
    const ended = (result: object): string[] => logged([event("tool.started", {}), event("tool.ended", { ok: true, result })]);
    expect(ended({ ok: false, isError: true, text: "no such box" })).toEqual([expect.stringMatching(/^failed: S\.send /)]);
    expect(ended({ ok: true, isError: false, text: "sent" })).toEqual([expect.stringMatching(/^done: S\.send /)]);
});
