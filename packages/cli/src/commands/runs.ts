/** `remit runs`: what the ledger holds, newest first. */
import type { RunInfo } from "@remit/host";
import { atLeastOne, whole } from "../amounts.ts";
import { EXIT, count, duration, paint, plainLine, print, printJson, say, table } from "../io.ts";
import { openForReading } from "../ledger.ts";

/** The word shown for a run's state: a run whose process is gone is interrupted, whatever it was doing. */
export function stateOf(run: RunInfo): string {
    return run.status === "running" && !run.live ? "interrupted" : run.status;
}

export default async function runs(_args: string[], options: Record<string, unknown>): Promise<number> {
    const limit = atLeastOne(whole(String(options["limit"] ?? "20"), "--limit"), "--limit");
    const store = await openForReading(options);
    if (store === null) {
        say("No runs yet: `remit run FILE` makes the first one.");
        if (options["json"]) printJson([]);
        return EXIT.ok;
    }
    try {
        const open = (run: RunInfo): boolean => ["interrupted", "waiting", "stopped"].includes(stateOf(run));
        const found = options["waiting"] ? store.runs().filter(open).slice(0, limit) : store.runs(limit);
        if (options["json"]) {
            printJson(found.map((run) => ({ ...run, status: stateOf(run) })) as never);
            return EXIT.ok;
        }
        if (found.length === 0) {
            say(options["waiting"] ? "No run waits." : "No runs yet: `remit run FILE` makes the first one.");
            return EXIT.ok;
        }
        const colour = paint(process.stdout);
        const rows = found.map((run) => {
            const state = stateOf(run);
            const took = run.ended ? duration(Date.parse(run.ended) - Date.parse(run.started)) : "";
            const tokens = (run.usage.input ?? 0) + (run.usage.output ?? 0);
            const cost = run.usage.usd === undefined || run.usage.usd === 0 ? "" : `$${run.usage.usd.toFixed(4)}`;
            return [
                run.id,
                run.started.replace("T", " ").slice(0, 19),
                state,
                took,
                String(run.effects),
                tokens ? count(tokens) : "",
                cost,
                plainLine(run.file),
            ];
        });
        const text = table(rows, ["RUN", "STARTED (UTC)", "STATE", "TOOK", "EFFECTS", "TOKENS", "COST", "PROGRAM"]);
        const [head, ...lines] = text.split("\n");
        print([colour("dim", head ?? ""), ...lines].join("\n"));
        const waiting = found.filter(open);
        if (waiting.length > 0)
            say(`\n${waiting.length === 1 ? "One run" : `${waiting.length} runs`} can go on: remit resume ${waiting[0]?.id ?? "RUN"}`);
        return EXIT.ok;
    } finally {
        store.close();
    }
}
