/** The process that ends while an agent works: `node noted.ts FOLDER HOW`. Once three calls of the agent are on record: `kill`, `abort`, or `late`. */
import { join } from "node:path";
import type { LedgerEvent } from "@remit/machine";
import { openLedger } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";

const [folder = "", how = ""] = process.argv.slice(2);
const abort = new AbortController();
const on = {
    event: ({ data }: LedgerEvent): void => {
        if (!JSON.stringify(data).includes('"c3"')) return;
        if (how === "kill") process.kill(process.pid, "SIGKILL");
        if (how === "abort") abort.abort();
        // An hour passes.
        const { hrtime } = process;
        const later = (): [number, number] => {
            const [seconds, nanoseconds] = hrtime();
            return [seconds + 3_600, nanoseconds];
        };
        if (how === "late") process.hrtime = Object.assign(later, { bigint: hrtime.bigint });
    },
};
const ledger = await openLedger(join(folder, "ledger.db"), { config: join(folder, "config") });
const about = { workspace: folder, trust: true, on, signal: abort.signal };
const program = await load(join(folder, "main.remit"), { ...about, ledger: ledger.store, cache: false });
const { ok } = await program.run({}).result;
await program.close();
await ledger.close();
process.stdout.write(String(ok));
