/**
 * The process that is killed: `node killed.ts FOLDER [MOMENT]`. Begins the run of `program.ts`, or goes on with it where the ledger has one, and
 * kills itself at the moment: `before 1` and `after 1` of what call 1 does, `ended 1` when its outcome is in the ledger. Prints the result.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@remit/language";
import type { Effect, LedgerEvent, UnknownAnswer } from "@remit/machine";
import { loadRas } from "../../src/ras/run.ts";
import { openLedger } from "../../src/run/open.ts";

const [folder = "", at = ""] = process.argv.slice(2);
const side = join(folder, "side.log");
const moment = (name: string): void => {
    if (name === at) process.kill(process.pid, "SIGKILL");
};
const tools = {
    Work: {
        step: ({ n }: { n: number }): Json => {
            moment(`before ${n}`);
            appendFileSync(side, `${n}\n`);
            moment(`after ${n}`);
            return { tenfold: n * 10 };
        },
    },
};
const isWork = (request: Json): boolean => (request as { tool?: Json }).tool === "Work";
const event = ({ kind, data }: LedgerEvent): void => {
    const { result } = data as { result?: { tenfold?: number } };
    if (kind === "tool.ended" && result?.tenfold !== undefined) moment(`ended ${result.tenfold / 10}`);
};
/** What a person finds who looks whether it happened. */
const unknown = ({ request }: Effect): UnknownAnswer => {
    if (!isWork(request)) throw new Error(`nobody knows what became of ${JSON.stringify(request)}`);
    const [{ n }] = (request as unknown as { args: [{ n: number }] }).args;
    const done = existsSync(side) && readFileSync(side, "utf8").split("\n").includes(String(n));
    return done ? { answer: "done", value: { tenfold: n * 10 } } : { answer: "again" };
};
const on = { event, unknown };
const ledger = await openLedger(join(folder, "ledger.db"), { config: join(folder, "config") });
const [before] = await ledger.runs();
if (before === undefined) {
    const loading = {
        workspace: folder,
        toolsFile: join(folder, "tools.remit"),
        tools,
        ledger: ledger.store,
        model: "mock:",
        cache: false,
        on,
    };
    const { program, input } = await loadRas(join(folder, "program.ts"), loading);
    process.stdout.write(JSON.stringify(await program.run(input({})).result));
} else {
    const handle = await ledger.resume(before.id, { tools, on });
    process.stdout.write(JSON.stringify(await handle.result));
}
await ledger.close();
