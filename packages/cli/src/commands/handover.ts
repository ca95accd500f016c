/** Runs that change between this process and Temporal: given to an execution there, or taken from one. */
import { fenced, LedgerError, type LedgerStore, type RunInfo } from "@remit/host";
import type { Released } from "@remit/temporal";
import { milliseconds } from "../amounts.ts";
import { asking, resultOf } from "../client.ts";
import { count, EXIT, paint, plainLine, say } from "../io.ts";
import { hostOptions, parks } from "../running.ts";
import type { Said } from "./resume.ts";

type Options = Record<string, unknown>;

/** `remit resume RUN --on temporal`. */
export function there(id: string, options: Options, said: Said): Promise<number> {
    return asking(options, async (client, store) => {
        const { id: run } = await store.run(id);
        if (options["move"] === true)
            say(`${paint(process.stderr)("cyan", "moved")}: ${told(run, await client.move(run, { ...graceOf(options), waits }))}`);
        else await client.goOn(run, { resume: { ...hostOptions(options), ...said, ...(parks(options) ? { park: true } : {}) } });
        say(`run ${run} goes on on Temporal: remit result ${run} waits for it, remit status ${run} looks at it`);
        return options["wait"] === true ? resultOf(client, run, options) : EXIT.ok;
    });
}

function graceOf(options: Options): { readonly grace?: number } {
    return options["grace"] === undefined ? {} : { grace: milliseconds(String(options["grace"]), "--grace") };
}

function waits(performing: readonly string[]): void {
    say(`Waiting until Temporal lets the run go${performing.length === 0 ? "" : `: ${shown(performing)}`}.`);
}

/** `remit resume RUN --on memory` of a run that an execution has: the epoch from which it can be taken. */
export async function back(
    info: RunInfo,
    options: Options,
    how: { readonly signal: AbortSignal; readonly ledger: LedgerStore },
): Promise<number> {
    const { signal, ledger } = how;
    // The ledger refuses what the executions do after that.
    if (options["fence"] === true) return fenced(ledger, info.id);
    return asking(options, async (client) => {
        const { epoch, ...released } = await client.release(info.id, { ...graceOf(options), signal, waits });
        // It ended there, or as it drained.
        if ((await ledger.run(info.id)).status === "done") throw new LedgerError("finished", `run ${info.id} is over`);
        say(`${paint(process.stderr)("cyan", "taken over")}: ${told(info.id, released)}`);
        return epoch;
    });
}

function told(run: string, released: Released): string {
    switch (released.how) {
        case "free":
            return `no execution has run ${run}`;
        case "drained":
            return `Temporal let run ${run} go; what had begun has ended`;
        case "ended":
            return `the execution of run ${run} did not drain in time and was ended${released.performing.length === 0 ? "; no worker answered" : ` while it performed ${shown(released.performing)}`}`;
        case "gone":
            return released.status === "NOT_FOUND"
                ? `the server knows no execution of run ${run} any more; it is taken from the ledger`
                : `the execution of run ${run} ended without letting it go (${released.status.toLowerCase()}); it is taken from the ledger`;
    }
}

function shown(paths: readonly string[]): string {
    const [first = ""] = paths;
    return paths.length === 1 ? plainLine(first) : `${plainLine(first)} and ${count(paths.length - 1)} more`;
}
