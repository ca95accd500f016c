/** `parallel for`: its order, its limits, and what is said of its failures. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { Compiled, type Effect, Machine, type Outcome } from "../../src/index.ts";
import { type Answer, OPTIONS } from "./forms.ts";
import { body, evaluated, formOf, runText } from "./text.ts";

const IMPORTS = `
import tool T from "http://example.test"
import memory Notes from "file://notes.jsonl"
import llm M from "mock://m"
`;

const ok = (value: Json, origins: string[] = ["tool:T"]): Outcome => ({ ok: true, value, origins });
const args = (e: Effect): Json[] => (e.request as { args: Json[] }).args;

describe("parallel for", () => {
    const slow: Answer = (e) => (args(e)[0] === 2 ? { ok: false, failure: { kind: "tool", message: "two" } } : ok(args(e)[0] as Json));
    test("results in input order, under the limit, whatever order outcomes come in", () => {
        for (const pick of [() => 0, (w: readonly Effect[]) => w.length - 1]) {
            const ran = runText(body(`parallel for x in [1, 3, 4, 5, 6] max 4 { y = T.get(x)  y * 10 }`, IMPORTS), {
                pick,
                answer: slow,
                options: { concurrency: 2 },
            });
            expect(JSON.parse(JSON.stringify(ran.result))).toMatchObject({ ok: true, value: [10, 30, 40, 50] });
        }
    });

    test("at most `concurrency` effects wait at once", () => {
        const m = Machine.start(new Compiled(formOf(body(`parallel for x in [1, 2, 3, 4, 5] max 9 { T.get(x) }`, IMPORTS))), {
            ...OPTIONS,
            concurrency: 2,
        });
        let step = m.advance();
        for (let n = 0; step.state !== "done"; n++) {
            expect(m.pending.length).toBe(Math.min(2, 5 - n));
            m.resolve((m.pending[0] as Effect).path, ok(1));
            step = m.advance();
        }
        expect(step.result).toMatchObject({ ok: true, value: [1, 1, 1, 1, 1] });
    });

    test("waits for all, then one failure names every iteration", () => {
        const ran = runText(body(`parallel for x in [1, 2, 3, 2] max 9 { T.get(x) }`, IMPORTS), { answer: slow });
        expect(ran.result).toMatchObject({ ok: false, failure: { kind: "tool", message: "parallel for failed: [1, 3] two" } });
        expect(ran.effects.length).toBe(4);
        const caught = runText(body(`try { parallel for x in [1, 2, 3, 2] max 9 { T.get(x) } } catch e { e.message }`, IMPORTS), {
            answer: slow,
        });
        expect(caught.events.find((e) => e.kind === "parallel.ended")?.data).toMatchObject({ ok: false, failed_indices: [1, 3] });
    });

    test("PAR3: caught, the loop tells what was not begun", () => {
        const ran = runText(
            body(
                `return try { parallel for x in [2, 2, 1, 1, 1, 1, 1, 1] max 9 stop after 1 failure { T.get(x) } } catch e { e.message }`,
                IMPORTS,
            ),
            { answer: slow },
        );
        expect(ran.result).toMatchObject({
            ok: true,
            value: expect.stringMatching(/^parallel for failed, and \d of 8 items were not begun: /),
        });
        const ended = ran.events.find((e) => e.kind === "parallel.ended")?.data as { iterations: { kind?: string }[] };
        expect(ended).toMatchObject({ ok: false, stop_after: 1 });
        expect(ended.iterations).toHaveLength(8);
        expect(ended.iterations.at(-1)).toMatchObject({ ok: false, kind: "cancelled", error: "it was not begun" });
    });

    test("many failures are told by what they have in common, a few as they are", () => {
        const said = (n: number, message: (i: number) => string): string => {
            const items = Array.from({ length: n }, (_, i) => i);
            const ran = runText(body(`parallel for x in [${items}] max 999 { T.get(x) }`, IMPORTS), {
                answer: (e) => ({
                    ok: false,
                    failure: { kind: "tool", message: message(Number((e.request as { args: Json[] }).args[0])) },
                }),
            });
            return (ran.result as { failure: { message: string } }).failure.message;
        };
        expect(said(300, () => "down")).toBe("parallel for failed: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 290 more] down");
        expect(said(12, (i) => `order ${i} is late`)).toBe(
            "parallel for failed: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more] order 0 is late (the others differ in numbers)",
        );
        expect(said(3, (i) => `order ${i} is late`)).toBe(
            "parallel for failed: [0] order 0 is late; [1] order 1 is late; [2] order 2 is late",
        );
        expect(said(500, (i) => `${"abcdefghij"[i % 10]} failed`)).toMatch(/; 250 others for 5 other reasons$/);
    });

    test("an account around the loop that is used up is told once, wherever its iterations were", () => {
        const ran = runText(
            body("spend 3 calls { parallel for x in [1, 2, 3, 4] max 9 { if x < 3 { T.get(x) }  T.ask(x)  T.get(x) } }", IMPORTS),
            { answer: () => ({ ok: true, value: 1, origins: [] }) },
        );
        const { message } = (ran.result as { failure: { message: string } }).failure;
        expect(message).toMatch(/^parallel for failed: \[[0-3, ]+\] the region's budget of 3 calls is used up \(3\), by user at [^;]+$/);
    });

    test("what iterations share cannot be changed, by whatever route", () => {
        const before = `${IMPORTS}\nfunc grow(xs) { xs.add(1) }`;
        for (const change of [
            "xs.add(x)",
            "ys = xs  ys.add(x)",
            "grow(xs)",
            "o.k = 1",
            "xs[0] = 1",
            "o.list.add(1)",
            "T.get(x)  xs.add(1)",
            "grow(o.list)",
        ])
            expect(
                evaluated(`xs = [0]  o = { k: 0, list: [] }  parallel for x in [1] max 1 { ${change}  x }`, { before, unchecked: true }),
            ).toMatch(/^value: parallel for failed: \[0\] a parallel for changed/);
        expect(evaluated("xs = [0]  n = 1  parallel for x in [1] max 1 { n = 2  n }", { before, unchecked: true })).toMatch(
            /cannot assign 'n'/,
        );
        expect(evaluated("parallel for x in [1, 2] max 9 { xs = []  xs.add(x)  grow(xs) }", { before })).toEqual([
            [1, 1],
            [2, 1],
        ]);
        expect(evaluated("r = parallel for x in [1, 2] max 9 { [x] }  r[0].add(5)  r", { before })).toEqual([[1, 5], [2]]);
    });

    test("a return ends its iteration, nested ones have their own paths", () => {
        const ran = runText(
            body(`parallel for x in [1, 2] max 9 { if x == 1 { return "one" }  parallel for y in [x] max 1 { T.get(y) } }`, IMPORTS),
        );
        expect(ran.effects.map((e) => e.path)).toEqual(["main/parallel[1]/parallel[0]/T.get#0"]);
        expect(ran.result).toMatchObject({ ok: true });
    });
});
