/**
 * How many cases a generated test looks at. `REMIT_TEST_TIMES=10` makes them ten times as many, for a change of a rule that such a test holds.
 *
 * The usual numbers are what `npm test` can afford. They were chosen by taking single rules out of the code: each such change is found in at least
 * four of five runs, most in all of them.
 */
export function cases(usual: number): number {
    return Math.ceil(usual * Number(process.env.REMIT_TEST_TIMES ?? 1));
}
