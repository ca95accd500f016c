#!/usr/bin/env node
/**
 * Kills runs at many random points, resumes them, and says what did not hold: on the local shell, on the remote one, and on both in turn.
 */
import { caseOf, crash, SHELLS } from "../packages/host/tests/run/crash/harness.ts";
import { flags } from "./lib/flags.mjs";

const { points: cases, first } = flags(
    `npm run crash-matrix -- [--points 200] [--first 0]

  --points  cases, each on every shell
  --first   number of the first case: one that failed runs alone by its number`,
    { points: 200, first: 0 },
);
let kills = 0;
let again = 0;
let bad = 0;
let done = 0;
const all = Array.from({ length: cases }, (_, n) => SHELLS.map((shells) => caseOf(first + n, shells))).flat();
for (const test of all) {
    const report = await crash(test);
    kills += report.kills;
    again += report.again;
    if (report.problems.length > 0) {
        bad++;
        console.log(`case ${first + Math.floor(done / SHELLS.length)} ${JSON.stringify(test)}`);
        for (const problem of report.problems) console.log(`    ${problem}`);
    }
    if (++done % 40 === 0)
        console.log(`${done} of ${all.length}: ${kills} kills, ${again} steps asked about and done again, ${bad} cases bad`);
}
console.log(bad === 0 ? `all ${all.length} cases held: ${kills} kills` : `${bad} of ${all.length} cases bad`);
process.exitCode = bad === 0 ? 0 : 1;
