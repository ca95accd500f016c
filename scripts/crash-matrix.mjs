#!/usr/bin/env node
/**
 * Kills runs at many random points, resumes them, and says what did not hold.
 *
 * node scripts/crash-matrix.mjs [CASES=200] [FIRST=0]
 */
import { caseOf, crash } from "../packages/host/tests/run/crash/harness.ts";

const cases = Number(process.argv[2] ?? 200);
const first = Number(process.argv[3] ?? 0);
let kills = 0;
let again = 0;
let bad = 0;
for (let n = first; n < first + cases; n++) {
    const report = await crash(caseOf(n));
    kills += report.kills;
    again += report.again;
    if (report.problems.length > 0) {
        bad++;
        console.log(`case ${n} ${JSON.stringify(caseOf(n))}`);
        for (const problem of report.problems) console.log(`    ${problem}`);
    }
    if ((n - first + 1) % 20 === 0)
        console.log(`${n - first + 1} of ${cases}: ${kills} kills, ${again} steps asked about and done again, ${bad} cases bad`);
}
console.log(bad === 0 ? `all ${cases} cases held: ${kills} kills` : `${bad} of ${cases} cases bad`);
process.exitCode = bad === 0 ? 0 : 1;
