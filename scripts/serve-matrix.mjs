#!/usr/bin/env node
/**
 * Kills servers under load, starts them again, and says what did not hold.
 */
import { postgresOfItsOwn } from "../packages/host/tests/postgres-server.ts";
import { crash } from "../packages/serve/tests/crash/harness.ts";
import { flags } from "./lib/flags.mjs";

const {
    rounds,
    first,
    ledger: address,
    ...load
} = flags(
    `npm run serve-matrix -- [--rounds 10] [--kills 4] [--sessions 50] [--trips 200] [--first 0] [--ledger ADDRESS] [--servers 1]

  --ledger   an address as for \`remit --ledger\`, such as postgres://USER@HOST:PORT/DATABASE; without it each round has a file of its own;
             \`postgres\`: a server of its own
  --servers  on a database several servers may share it: one of them is killed at a time, and its sessions move to the others
  --first    number of the first round: one that failed runs alone by its number`,
    { rounds: 10, kills: 4, sessions: 50, trips: 200, first: 0, servers: 1, ledger: undefined },
);
const own = address === "postgres" ? await postgresOfItsOwn() : null;
let bad = 0;
const sum = { kills: 0, performed: 0, asked: 0 };
for (let seed = first; seed < first + rounds; seed++) {
    const ledger = own?.fresh() ?? address;
    const report = await crash({ ...load, seed, ...(ledger === undefined ? {} : { ledger }) });
    for (const key of Object.keys(sum)) sum[key] += report[key];
    if (report.problems.length > 0) bad++;
    for (const problem of report.problems.slice(0, 20)) console.log(`round ${seed}: ${problem}`);
    console.log(`round ${seed}: ${report.kills} kills, ${report.performed} calls, ${report.problems.length} problems`);
}
console.log(
    `${bad === 0 ? "all held" : `${bad} rounds bad`}: ${sum.kills} kills, ${sum.performed} calls performed, ${sum.asked} asked about after a kill`,
);
await own?.stop();
process.exitCode = bad === 0 ? 0 : 1;
