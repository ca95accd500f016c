#!/usr/bin/env node
/**
 * Runs random plans in memory and on a real Temporal server and compares them; then kills workers and servers at random moments, and says what did
 * not hold.
 *
 * node scripts/temporal-matrix.mjs [PLANS=200] [KILLS=100] [FIRST=0]
 */
import { kills } from "../packages/temporal/tests/matrix/kills.ts";
import { plans, tools } from "../packages/temporal/tests/matrix/plans.ts";
import { devServer, roomAt } from "../packages/temporal/tests/room.ts";

const [count = 200, deaths = 100, first = 0] = process.argv.slice(2).map(Number);
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
