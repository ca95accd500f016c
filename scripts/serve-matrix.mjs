#!/usr/bin/env node
/**
 * Kills servers under load, starts them again, and says what did not hold.
 *
 * npm run serve-matrix -- [--rounds 10] [--kills 4] [--sessions 50] [--trips 200] [--first 0] [--ledger ADDRESS] [--servers 2]
 *
 * `--ledger`: an address as for `remit --ledger`, such as postgres://USER@HOST:PORT/DATABASE; without it each round has a file of its own. On a database
 * several servers may share it: `--servers`; then one of them is killed at a time, and its sessions move to the others. `--ledger postgres`: on a
 * server of its own.
 */
import { parseArgs } from "node:util";
import { postgresOfItsOwn } from "../packages/host/tests/postgres-server.ts";
import { crash } from "../packages/serve/tests/crash/harness.ts";

const { values } = parseArgs({
    options: Object.fromEntries(
        ["rounds", "kills", "sessions", "trips", "first", "ledger", "servers"].map((name) => [name, { type: "string" }]),
    ),
});
const { rounds = "10", kills = "4", sessions = "50", trips = "200", first = "0", servers = "1" } = values;
const own = values.ledger === "postgres" ? await postgresOfItsOwn() : null;
let bad = 0;
const sum = { kills: 0, performed: 0, asked: 0 };
for (let round = 0; round < Number(rounds); round++) {
    const load = {
        sessions: Number(sessions),
        trips: Number(trips),
        kills: Number(kills),
        seed: Number(first) + round,
        servers: Number(servers),
    };
    const ledger = own?.fresh() ?? values.ledger;
    const report = await crash({ ...load, ...(ledger === undefined ? {} : { ledger }) });
    for (const key of Object.keys(sum)) sum[key] += report[key];
    if (report.problems.length > 0) bad++;
    for (const problem of report.problems.slice(0, 20)) console.log(`round ${load.seed}: ${problem}`);
    console.log(`round ${load.seed}: ${report.kills} kills, ${report.performed} calls, ${report.problems.length} problems`);
}
console.log(
    `${bad === 0 ? "all held" : `${bad} rounds bad`}: ${sum.kills} kills, ${sum.performed} calls performed, ${sum.asked} asked about after a kill`,
);
await own?.stop();
process.exitCode = bad === 0 ? 0 : 1;
