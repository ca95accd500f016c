/** Runs that are killed at random points and gone on with (U1, U2, D1, T1). All points are `scripts/crash-matrix.mjs`. */
import { describe, expect, test } from "vitest";
import { cases } from "../../../../machine/tests/cases.ts";
import { caseOf, crash, SHELLS } from "./harness.ts";

const CASES = Array.from({ length: cases(12) }, (_, n) => n);

describe("killed and resumed", () => {
    test.each(CASES)("case %i: nothing finished is done again, the value is the same, the chain verifies", async (n) => {
        const report = await crash(caseOf(n, SHELLS[(n + (n >> 2)) % SHELLS.length]));
        expect(report.problems).toEqual([]);
    });
});
