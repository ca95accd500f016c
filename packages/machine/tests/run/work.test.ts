/** R3: a slice ends by work as it does by steps, and nothing of the run depends on where. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Compiled, Machine } from "../../src/index.ts";
import { MAX_WORK } from "../../src/run/run.ts";
import { OPTIONS, type Ran, runAll } from "./forms.ts";
import { body, formOf } from "./text.ts";

const MADE = 'xs = []  repeat * 500 { xs.add(xs.length) }  s = xs.join(" ")\n';

/** Statements that look at all of `xs` or `s` (500 items, 1,890 characters). */
const HEAVY = [
    "xs.unique().length",
    "xs.summary.length",
    "xs.sum()",
    "xs.any((x) => x < 0)",
    "xs.sort_by((x) => 0 - x).length",
    'xs.join("-").length',
    "[...xs, 1].length",
    "{ ...xs.group_by((x) => x % 100) }.keys().length",
    "if xs == xs.summary { 1 } else { 0 }",
    's.split(" ").length',
    "s.upper().length",
    'if s.contains("nothing") { 1 } else { 0 }',
    's.replace("1", "2").length',
    'if s.match("(1|2)+x") == none { 1 } else { 0 }',
    "json.parse(json.text(xs)).length",
    'if s == s + "" { 1 } else { 0 }',
    "whole(xs).length",
    "text(xs).length",
];
const plain = (ran: Ran): Ran => JSON.parse(JSON.stringify(ran)) as Ran;
const BEFORE = "func whole(xs: list[number]) { xs }";

describe("a loop of heavy work returns to its host", () => {
    for (const [where, program] of [
        ["on frames", (e: string) => body(`${MADE} n = 0  repeat * 100 { x = ${e}  n += 1 }  n`, BEFORE)],
        ["as closures", (e: string) => body("f()", `${BEFORE}\nfunc f() {\n${MADE} n = 0  repeat * 100 { x = ${e}  n += 1 }  n\n}`)],
        [
            "in a lambda",
            (e: string) =>
                body(
                    "f()",
                    `${BEFORE}\nfunc f() {\n${MADE} [1, 2, 3].map((i) => g(xs, s)).length\n}\nfunc g(xs, s) {\nn = 0  repeat * 100 { x = ${e}  n += 1 }  n\n}`,
                ),
        ],
    ] as const)
        test.each(HEAVY)(`${where}: %s`, (e) => {
            const compiled = new Compiled(formOf(program(e)));
            const m = Machine.start(compiled, { ...OPTIONS, slice: 1000 });
            const straight = Machine.start(compiled, { ...OPTIONS, slice: MAX_WORK });
            let slices = 1;
            for (; m.advance().state === "slice"; slices++);
            while (straight.advance().state === "slice");
            expect(m.result).toEqual(straight.result);
            expect(m.result).toMatchObject({ ok: true });
            expect(m.usage).toEqual(straight.usage);
            // Building it takes some 1,000 steps; then a hundred times 100 units or more, but for a few that take 30.
            if (where !== "in a lambda") expect(slices).toBeGreaterThan(4);
        });
});

test("a slice that ended by work is the slice that was granted the steps up to there (replayed by steps alone)", () => {
    const at = (statements: string): Compiled => new Compiled(formOf(body(statements)));
    fc.assert(
        fc.property(
            fc.array(
                fc.constantFrom(
                    "x = xs.unique().length",
                    "xs.add(xs.length)",
                    "y = xs.map((v) => xs.sum()).length",
                    "if xs == [1] { x = 2 }",
                    "repeat * 7 { z = [...xs] }",
                ),
                {
                    minLength: 1,
                    maxLength: 8,
                },
            ),
            fc.integer({ min: 1, max: 400 }),
            fc.constantFrom("closures" as const, "frames" as const),
            (statements, slice, mode) => {
                const compiled = at(`xs = [1, 2, 3]  repeat * 20 {\n${statements.join("\n")}\n}\nxs.length`);
                const m = Machine.start(compiled, { ...OPTIONS, slice, mode });
                const replayed = Machine.start(compiled, { ...OPTIONS, mode: "closures" });
                for (let nth = 0; m.advance().state === "slice" && nth < 30; nth++) {
                    const until = m.reach;
                    let state = "slice";
                    while (state === "slice" && replayed.reach < until) state = replayed.advance(until).state;
                    if (m.result !== null) break;
                    expect(replayed.usage).toEqual(m.usage);
                    expect(replayed.inspect()).toEqual(m.inspect());
                }
            },
        ),
        { numRuns: 150 },
    );
});

test("work counts as no step, and the budget of steps holds to the step", () => {
    const p = formOf(body(`${MADE} repeat * 100 { x = xs.unique().length }`));
    const { steps } = runAll(p);
    for (const slice of [10, 1000, 1_000_000])
        for (const mode of ["closures", "frames"] as const) {
            const limited = plain(runAll(p, { options: { slice, mode, limits: { steps: steps - 5 } } }));
            expect(limited.result).toMatchObject({ ok: false, failure: { kind: "limit.steps" } });
            expect(limited).toEqual(plain(runAll(p, { options: { limits: { steps: steps - 5 } } })));
            expect(plain(runAll(p, { options: { slice, mode, limits: { steps } } })).result).toMatchObject({ ok: true });
        }
});

test("what one instruction does with a lambda is bounded, whatever the slice", () => {
    const p = formOf(
        body('big = "x"  repeat * 24 { big = big + big }  xs = []  repeat * 2000 { xs.add(big) }  xs.map((x) => x.contains("y")).length'),
    );
    for (const slice of [1000, 1_000_000]) {
        const { result } = runAll(p, { options: { slice } });
        expect(result).toMatchObject({ ok: false, failure: { kind: "limit.steps", detail: { meter: "work", limit: MAX_WORK } } });
    }
});
