/**
 * The process that is killed. `node child.ts FOLDER local|remote [MOMENT]`: begins the run, or goes on with it where the ledger has one, and kills
 * itself at the given moment; prints the result. `remote`: the steps are performed in a child process, which a kill leaves behind.
 */
import { join } from "node:path";
import { openLedger } from "../../../src/run/open.ts";
import { load } from "../../../src/run/program.ts";
import { remotePerformers } from "./far.ts";
import { INPUT, lookUp, world } from "./program.ts";

const [folder = "", shell = "", at = ""] = process.argv.slice(2);
let left = at === "" ? Number.POSITIVE_INFINITY : Number(at);
const moment = (): void => {
    if (--left < 0) process.kill(process.pid, "SIGKILL");
};
const side = join(folder, "side.log");
await using far = shell === "remote" ? remotePerformers(side, moment) : null;
const setting = { tools: { Work: world(side, { moment }) }, ...(far === null ? {} : { performers: far.performers }) };
const ledger = await openLedger(join(folder, "ledger.db"), { config: join(folder, "config") });
const [before] = await ledger.runs();
const on = { event: moment, unknown: (effect: Parameters<typeof lookUp>[1]) => lookUp(side, effect) };
if (before?.status === "done") process.stdout.write(JSON.stringify({ ok: true, value: before.value }));
else {
    const handle =
        before === undefined
            ? (
                  await load(join(folder, "program.remit"), {
                      ...setting,
                      ledger: ledger.store,
                      cache: false,
                      on,
                  })
              ).run(INPUT)
            : await ledger.resume(before.id, { ...setting, on });
    const result = await handle.result;
    process.stdout.write(JSON.stringify(result));
}
await ledger.close();
