/** `remit cost`: tokens and money of runs, by model and by place. */
import { LedgerError, type UnreadableRun } from "@remit/host";
import { costOf } from "@remit/machine";
import type { Json } from "@remit/language";
import { EXIT, count, counted, paint, plain, printJson, printLines, table } from "../io.ts";
import { openForReading, sayNoRuns } from "../ledger.ts";
import { sayUnreadable } from "./runs.ts";

export default async function cost(args: string[], options: Record<string, unknown>): Promise<number> {
    const store = await openForReading(options);
    if (store === null) {
        sayNoRuns("No runs yet.", options);
        if (options["json"]) printJson([]);
        return EXIT.ok;
    }
    try {
        const unreadable: UnreadableRun[] = [];
        const chosen =
            args.length > 0 ? await Promise.all(args.map((id) => store.run(id))) : await store.runs(20, (one) => unreadable.push(one));
        const all: ({ run: string; file: string } & ReturnType<typeof costOf>)[] = [];
        for (const run of chosen)
            try {
                all.push({ run: run.id, file: run.file, ...costOf(await Array.fromAsync(store.events(run.id))) });
            } catch (error) {
                if (!(error instanceof LedgerError)) throw error;
                unreadable.push({ id: run.id, error });
            }
        sayUnreadable(unreadable);
        const code = unreadable.length === 0 ? EXIT.ok : EXIT.failed;
        if (options["json"]) {
            printJson(all as unknown as Json);
            return code;
        }
        const colour = paint(process.stdout);
        for (const one of all) {
            printLines(`${colour("bold", one.run)}  ${plain(one.file)}`);
            if (one.rows.length === 0) printLines("  no model was called");
            else {
                const money = (usd: number | undefined): string => (usd === undefined ? "price unknown" : `$${usd.toFixed(4)}`);
                const rows = one.rows.map((row) => [
                    `  ${plain(row.model)}${row.answered === undefined ? "" : ` answered by ${plain(row.answered)}`}`,
                    plain(row.where),
                    counted(row.turns, "turn"),
                    `${count(row.input)} in`,
                    row.cached ? `${count(row.cached)} cached` : "",
                    `${count(row.output)} out`,
                    money(row.usd),
                ]);
                printLines(table(rows));
            }
        }
        return code;
    } finally {
        await store.close();
    }
}
