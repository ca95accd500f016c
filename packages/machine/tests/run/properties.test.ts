/** CU1, M4, M5, STE1, M6: the same program is the same run, however it is compiled, sliced, saved or answered. */
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import type { MachineEvent } from "../../src/index.ts";
import type { Json, Program } from "@remit/language";
import { type Answer, echo, type How, type Ran, runAll as run } from "./forms.ts";
import { LARGE_TEXT } from "../../src/value/texts.ts";
import { randomProgram } from "./random.ts";
import { body, formOf } from "./text.ts";

/** One seed for all properties: the programs of one are those of the others, so that each is compiled and run straight once. */
const RUNS = { numRuns: 250, seed: Math.floor(Math.random() * 2 ** 31) };

/** Random programs may build values that are huge as JSON. */
const runAll = (p: Program, how: How = {}): Ran =>
    run(p, { ...how, options: { ...how.options, limits: { bytes: 3_000_000, ...how.options?.limits } } });

const plain = (ran: Ran): Pick<Ran, "result" | "steps" | "events" | "effects"> =>
    JSON.parse(JSON.stringify({ result: ran.result, steps: ran.steps, events: ran.events, effects: ran.effects }));
interface Known {
    readonly program: Program;
    readonly straight: ReturnType<typeof plain>;
}
const known = new Map<string, Known>();
afterAll(() => known.clear());

/** The program as it was met first, and how it runs when nothing is done to it. */
function straightly(p: Program): Known {
    const text = JSON.stringify(p);
    let found = known.get(text);
    if (found === undefined) {
        found = { program: p, straight: plain(runAll(p)) };
        known.set(text, found);
    }
    return found;
}

const byPath = (events: readonly MachineEvent[]) => events.map((e) => JSON.stringify(e)).sort();

describe("one run, however it is run", () => {
    test("closures and frames count the same steps and do the same", () => {
        fc.assert(
            fc.property(randomProgram, (p) => {
                const { program, straight } = straightly(p);
                expect(plain(runAll(program, { options: { mode: "frames" } }))).toEqual(straight);
            }),
            RUNS,
        );
    });

    test("a given-up stretch leaves nothing behind: any slice gives the same run", () => {
        fc.assert(
            fc.property(randomProgram, fc.integer({ min: 1, max: 60 }), (p, slice) => {
                const { program, straight } = straightly(p);
                expect(plain(runAll(program, { options: { slice } }))).toEqual(straight);
            }),
            RUNS,
        );
    });

    test("saved, printed, loaded and continued after every step", () => {
        fc.assert(
            fc.property(randomProgram, fc.constantFrom(1_000_000, 40), (p, slice) => {
                const { program, straight } = straightly(p);
                expect(plain(runAll(program, { saving: true, options: { slice } }))).toEqual(straight);
            }),
            RUNS,
        );
    });

    test("loaded from an image and the deltas after it", () => {
        fc.assert(
            fc.property(randomProgram, fc.integer({ min: 2, max: 9 }), fc.constantFrom(1_000_000, 10), (p, saving, slice) => {
                const { program, straight } = straightly(p);
                expect(plain(runAll(program, { saving, options: { slice } }))).toEqual(straight);
            }),
            RUNS,
        );
    });

    test("with large texts and values, some of them alike, and what looks like a reference", () => {
        const answer: Answer = (effect) => {
            const outcome = echo(effect);
            if (!outcome.ok) return outcome;
            const long = String(effect.path.length % 4).repeat(LARGE_TEXT + 1);
            const odd = { $text: 1, $plain: { $text: long }, of: "json" };
            const given = outcome.value as { [key: string]: Json };
            const value: Json = effect.path.length % 3 === 0 ? { ...given, given: long } : { ...given, value: [long, odd, [long]] };
            return { ...outcome, value };
        };
        fc.assert(
            fc.property(randomProgram, fc.integer({ min: 1, max: 5 }), (p, saving) => {
                expect(plain(runAll(p, { answer, saving }))).toEqual(plain(runAll(p, { answer })));
            }),
            { numRuns: 50 },
        );
    });

    test("the order of outcomes changes the order of events and nothing else", () => {
        fc.assert(
            fc.property(randomProgram, fc.array(fc.nat(7), { minLength: 1, maxLength: 20 }), (p, order) => {
                let i = 0;
                const { program, straight } = straightly(p);
                const shuffled = plain(runAll(program, { pick: (waiting) => (order[i++ % order.length] as number) % waiting.length }));
                // fibers draw from one pool: where it runs dry depends on who came first
                fc.pre([straight, shuffled].every(({ result }) => result.ok || !result.failure.kind.startsWith("limit.")));
                expect(shuffled.result).toEqual(straight.result);
                expect(shuffled.steps).toBe(straight.steps);
                expect(byPath(shuffled.events)).toEqual(byPath(straight.events));
            }),
            RUNS,
        );
    });

    test("a limit of steps ends a run at the same place in both forms", () => {
        fc.assert(
            fc.property(randomProgram, fc.integer({ min: 0, max: 80 }), fc.integer({ min: 1, max: 50 }), (p, steps, slice) => {
                const { program } = straightly(p);
                const straight = plain(runAll(program, { options: { limits: { steps } } }));
                expect(plain(runAll(program, { options: { limits: { steps }, mode: "frames", slice } }))).toEqual(straight);
                if (!straight.result.ok && straight.result.failure.kind === "limit.steps")
                    expect(straight.steps).toBeLessThanOrEqual(steps + 40);
            }),
            RUNS,
        );
    });

    test.each([
        [
            "an assignment that is refused",
            "xs = [1]  n = 0  r = parallel for p in xs max 1 { for i in xs max 2 { try { n = if true { y = 1  y } else { 2 } } catch e { i } }  p }  r",
        ],
        [
            "a call of what is no function",
            "x = 1  for i in [1] max 1 { try { x(one(1)) } catch e { i } }  repeat * 2 { try { 5(one(1)) } catch e { x } }",
        ],
        ["too many arguments", "repeat * 2 { try { one(one(1), one(2)) } catch e { 1 }  try { text(one(1), one(2), 3) } catch e { 2 } }"],
        ["a name that is not there", "repeat * 2 { try { nothing += one(1) } catch e { 1 } }"],
    ])("%s counts the same in both forms", (_, statements) => {
        const form = formOf(body(statements, "func one(x) { y = x  y }"), true);
        expect(plain(runAll(form, { options: { mode: "frames" } }))).toEqual(plain(runAll(form)));
    });

    test("what a lambda assigns before it is given up is put back", () => {
        const form = formOf(body("n = 0  xs = [1, 2, 3, 4].map((x) => if true { n = n + x\n n } else { 0 })\n return [n, xs]"));
        expect(runAll(form, { options: { slice: 5 } }).result).toMatchObject({ ok: true, value: [10, [1, 3, 6, 10]] });
    });

    test("paths are unique", () => {
        fc.assert(
            fc.property(randomProgram, (p) => {
                const { effects } = straightly(p).straight;
                expect(new Set(effects.map((e) => e.path)).size).toBe(effects.length);
            }),
            RUNS,
        );
    });
});
