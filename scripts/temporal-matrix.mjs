#!/usr/bin/env node
/**
 * Runs random plans in memory and on a real Temporal server and compares them; then kills workers and servers at random moments, and says what did
 * not hold.
 */
import { kills } from "../packages/temporal/tests/matrix/kills.ts";
import { plans, tools } from "../packages/temporal/tests/matrix/plans.ts";
import { devServer, roomAt } from "../packages/temporal/tests/room.ts";
import { flags } from "./lib/flags.mjs";

const {
    plans: count,
    kills: deaths,
    first,
} = flags(
    `npm run temporal-matrix -- [--plans 200] [--kills 100] [--first 0]

  --plans  random plans that run in memory and on Temporal; 0 for none
  --kills  kills of a worker, the server, or both; 0 for none
  --first  number of the first plan and the first kill: one that failed runs alone by its number`,
    { plans: 200, kills: 100, first: 0 },
);
let bad = 0;
const show = (what, wrong) => {
    for (const one of wrong) console.log(one);
    console.log(wrong.length === 0 ? `all ${what} held` : `${wrong.length} of ${what} did not hold`);
    bad += wrong.length;
};
const every =
    (n, of, what) =>
    (done, wrong = []) =>
        done % n === 0 && console.log([`${done} of ${of} ${what}`, ...wrong].join("\n    "));

if (count > 0) {
    const server = await devServer();
    const room = await roomAt(server);
    try {
        await room.worker({ host: { tools } });
        show(`${count} plans`, await plans(room, first, count, every(50, count, "plans")));
    } finally {
        await room[Symbol.asyncDispose]();
        await server.stop();
    }
}
if (deaths > 0) {
    const report = await kills(first, deaths, every(5, deaths, "kills"));
    console.log(
        `${report.runs} runs, ${report.workers} workers and ${report.servers} servers killed, ${report.asked} unknown effects asked about`,
    );
    show(`${deaths} kills`, report.wrong);
}
process.exitCode = bad === 0 ? 0 : 1;
