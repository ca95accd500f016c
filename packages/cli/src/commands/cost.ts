/** `remit cost`: tokens and money of runs, by model and by place. */
import { costOf } from "@remit/machine";
import type { Json } from "@remit/language";
import { EXIT, count, counted, paint, plain, print, printJson, say, table } from "../io.ts";
import { openForReading } from "../ledger.ts";

export default async function cost(args: string[], options: Record<string, unknown>): Promise<number> {
    const store = await openForReading(options);
    if (store === null) {
        say("No runs yet.");
        if (options["json"]) printJson([]);
        return EXIT.ok;
    }
    try {
        const chosen = args.length > 0 ? args.map((id) => store.run(id)) : store.runs(20);
        const all = chosen.map((run) => ({ run: run.id, file: run.file, ...costOf(store.events(run.id)) }));
        if (options["json"]) {
            printJson(all as unknown as Json);
            return EXIT.ok;
        }
        const colour = paint(process.stdout);
        for (const one of all) {
            print(`${colour("bold", one.run)}  ${plain(one.file)}`);
            if (one.rows.length === 0) print("  no model was called");
            else {
                const money = (usd: number | undefined): string => (usd === undefined ? "price unknown" : `$${usd.toFixed(4)}`);
                const rows = one.rows.map((row) => [
                    `  ${plain(row.model)}`,
                    plain(row.where),
                    counted(row.turns, "turn"),
                    `${count(row.input)} in`,
                    row.cached ? `${count(row.cached)} cached` : "",
                    `${count(row.output)} out`,
                    money(row.usd),
                ]);
                print(table(rows));
            }
        }
        return EXIT.ok;
    } finally {
        store.close();
    }
}
