/**
 * Generates pairs of runs that differ in a secret alone, as two tests of `npm test` do, and says how many look different to an observer who may not see
 * it. Half are programs of every form of control flow, half change lists and objects.
 * Exit code 1 at the first pair that differs, which is made small and printed.
 */
import fc from "fast-check";
import { pairOf, program } from "../packages/machine/tests/authority/container-programs.ts";
import { secrets } from "../packages/machine/tests/authority/pairs.ts";
import { block, pairTells } from "../packages/machine/tests/authority/strict-programs.ts";
import { flags } from "./lib/flags.mjs";

const { pairs, seed } = flags(
    `npm run label-pairs -- [--pairs 1000] [--seed N]

  --pairs  pairs in all
  --seed   of the generator; without it, one of the clock`,
    { pairs: 1000, seed: Date.now() % 2 ** 31 },
);
const numRuns = Math.max(1, Math.ceil(pairs / 2));

const KINDS = [
    ["control flow", (tells) => fc.property(block, fc.boolean(), secrets, (body, caught, both) => tells(pairTells(body, caught, both)))],
    ["containers", (tells) => fc.property(program, secrets, ([statements, caught], both) => tells(pairOf(statements, caught, both).tells))],
];
for (const [kind, property] of KINDS) {
    let telling = 0;
    const before = performance.now();
    const details = fc.check(
        property((one) => {
            telling += Number(one);
        }),
        { numRuns, seed },
    );
    const seconds = ((performance.now() - before) / 1000).toFixed(0);
    const share = ((100 * telling) / details.numRuns).toFixed(1);
    const differ = details.failed ? "1 differs" : "none differs";
    console.log(`${kind}: ${details.numRuns} pairs, ${differ}; with labels off ${share} % do. Seed ${seed}, ${seconds} s`);
    if (!details.failed) continue;
    console.error(fc.defaultReportMessage(details));
    process.exit(1);
}
