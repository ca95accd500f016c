/**
 * The process that is killed: `node killed.ts FOLDER [NTH]`. Begins the run of `main.remit`, or goes on with it where the ledger has one, and
 * kills itself once the NTH answer of an agent is on record, before the program has it.
 */
import { join } from "node:path";
import type { LedgerEvent } from "@remit/machine";
import { openLedger } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";

const [folder = "", nth = "0"] = process.argv.slice(2);
let answers = 0;
const on = {
    event: ({ kind }: LedgerEvent): void => {
        if (kind === "agent.answered" && ++answers === Number(nth)) process.kill(process.pid, "SIGKILL");
    },
};
const ledger = await openLedger(join(folder, "ledger.db"), { config: join(folder, "config") });
const [before] = await ledger.runs();
const about = { workspace: folder, trust: true, on };
const handle =
    before === undefined
        ? (await load(join(folder, "main.remit"), { ...about, ledger: ledger.store, cache: false })).run({})
        : await ledger.resume(before.id, about);
await handle.result;
