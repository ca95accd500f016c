/** SRU3: a slice ends by work as it does by steps, and nothing of the run depends on where. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Compiled, Machine } from "../../src/index.ts";
import { MAX_STEPS, MAX_WORK } from "../../src/state/run.ts";
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

/** A value of 40 lists (objects) whose text would be 2^40 times longer. */
const DOUBLED = [
    ["lists", "l = [1]  repeat * 40 { l = [l, l] }"],
    ["objects", "l = { a: 1 }  repeat * 40 { l = { a: l, b: l } }"],
] as const;
const [LISTS, OBJECTS] = DOUBLED;
const OF_ALL = [
    ["json.text(l)", LISTS],
    ["text(l)", OBJECTS],
    ["[l].map((x) => json.text(x))", LISTS],
] as const;
test.each(OF_ALL.map(([e, [what, made]]) => [`${e} of ${what}`, made, e] as const))(
    "%s ends by its work, long before the text is as long as one may be",
    (_, made, e) => {
        const { result, steps } = runAll(formOf(body(`${made}\n${e}.length`)));
        expect(result).toMatchObject({ ok: false, failure: { kind: "limit.steps", detail: { meter: "work", limit: MAX_WORK } } });
        expect(steps).toBeLessThan(100);
    },
);

test("what is larger than itself is refused wherever it is walked as a tree", () => {
    const before = `${BEFORE}\nimport tool T from "http://example.test"`;
    // All ways out walk it by the same function: objects take one of them.
    const ways = ["T.get(l)", "raise l", 'endorse l because "x"', "l", "[l].map((x) => x)"];
    for (const [what, made] of DOUBLED)
        for (const e of what === "lists" ? ways : ["T.get(l)"]) {
            const { result } = runAll(formOf(body(`${made}\n${e}`, before), true));
            expect(result).toMatchObject({ ok: false, failure: { kind: "limit.bytes" } });
        }
    const same = "if l == k { 1 } else { 2 }";
    for (const e of ["[l, l].unique().length", "l.length", same])
        expect(runAll(formOf(body(`${DOUBLED[0][1]}\nk = [1]  repeat * 40 { k = [k, k] }\n${e}`))).result).toMatchObject({ ok: true });
});

test("a failure that walked a large value counts what was walked: a loop of them returns to its host", () => {
    const made = "xs = [1]  repeat * 12 { xs = xs.concat(xs) }  xs.add(xs)";
    for (const e of ["raise xs", "T.get(xs)", "T.get({ a: xs })"]) {
        const p = formOf(body(`${made}\nrepeat * 100 { try { ${e} } catch e { 1 } }`, 'import tool T from "http://example.test"'), true);
        const m = Machine.start(new Compiled(p), { ...OPTIONS, slice: 10_000 });
        let slices = 1;
        for (; m.advance().state === "slice"; slices++);
        expect(slices).toBeGreaterThan(20);
    }
});

test("one instruction with a lambda takes so many steps and no more, whatever the slice", () => {
    const made = "xs = [1]  repeat * 20 { xs = xs.concat(xs) }";
    const p = formOf(body(`${made}\nxs.map((x) => [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17].any((y) => y > 17)).length`));
    for (const slice of [1_000_000, 2 ** 26])
        expect(runAll(p, { options: { slice } }).result).toMatchObject({
            ok: false,
            failure: { kind: "limit.steps", detail: { meter: "work", limit: MAX_STEPS } },
        });
});
