/** The conductor over random programs in a simulated world: any order of outcomes, crashes, cancels and failed commits anywhere. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalLedger, type MachineEvent } from "../../src/index.ts";
import { runAll } from "../run/forms.ts";
import { randomProgram } from "../run/random.ts";
import { simulate } from "./simulated.ts";

const RUNS = Number(process.env.REMIT_TEST_CONDUCTED ?? 100);
const choices = fc.array(fc.nat(1000), { minLength: 30, maxLength: 200 });
/** What follows from the world, not from the program. */
const isHosts = ({ data }: MachineEvent): boolean => (data as { readonly host?: unknown } | null)?.host === true;

describe("in a simulated world", () => {
    const same = (how: Parameters<typeof simulate>[1], program: Parameters<typeof runAll>[0]): ReturnType<typeof simulate> => {
        const whole = runAll(program);
        const ran = simulate(program, how);
        expect(ran.repeated).toEqual([]);
        expect(new Set(ran.outcomes.map(({ path }) => path)).size).toBe(ran.outcomes.length);
        const { result } = whole;
        expect(ran.end).toEqual(result.ok ? { status: "done", value: result.value } : { status: "failed", failure: result.failure });
        expect(canonicalLedger(ran.events.filter((event) => !isHosts(event)))).toBe(canonicalLedger(whole.events));
        return ran;
    };

    test("D1, D5, D9: any order of outcomes and commits gives the same ledger, and the limit holds", () => {
        let most = 0;
        fc.assert(
            fc.property(randomProgram, choices, fc.integer({ min: 1, max: 6 }), (program, order, concurrency) => {
                const ran = same({ choices: order, concurrency }, program);
                expect(ran.most).toBeLessThanOrEqual(concurrency);
                most = Math.max(most, ran.most);
            }),
            { numRuns: RUNS, seed: 31 },
        );
        expect(most).toBeGreaterThan(1);
    });

    test("U1: crashed anywhere, it goes on from what was kept: nothing with an outcome is performed again", () => {
        let restarts = 0;
        fc.assert(
            fc.property(randomProgram, choices, (program, order) => {
                restarts += same({ choices: order, crashes: true }, program).restarts;
            }),
            { numRuns: RUNS, seed: 32 },
        );
        expect(restarts).toBeGreaterThan(RUNS / 2);
    });

    test("D3: cancelled anywhere, it goes on when it is resumed", () => {
        let restarts = 0;
        fc.assert(
            fc.property(randomProgram, choices, fc.integer({ min: 1, max: 30 }), (program, order, cancel) => {
                restarts += same({ choices: order, cancel, crashes: true }, program).restarts;
            }),
            { numRuns: RUNS, seed: 33 },
        );
        expect(restarts).toBeGreaterThan(RUNS / 2);
    });

    test("D2: commits that fail for a while are made again, and nothing is begun meanwhile", () => {
        fc.assert(
            fc.property(randomProgram, choices, (program, order) => void same({ choices: order, failing: true, crashes: true }, program)),
            { numRuns: RUNS, seed: 34 },
        );
    });
});
