/**
 * A run of the ledger that is given to a shell elsewhere, with what was said of how it goes on.
 *
 * Boundary: checks what was said and says under which epoch the run stands; the shell elsewhere takes it from that epoch (`takeover.ts`).
 *
 * HND1: only one caller at a time gives a run away, and none while an owner has it; what does not fit it is refused, and it stays as it was.
 */
import type { Answered, GoOn, UnknownAnswer } from "@remit/machine";
import { LedgerError } from "../ledger/error.ts";
import type { LedgerStore } from "../ledger/store.ts";
import type { ResumeRunOptions } from "./open.ts";
import { resumptionOf } from "./resumption.ts";

/** What was said of a run that goes on: JSON. */
export interface GoesOn {
    /** Under which it was given away; the shell that takes it has the next one. */
    readonly epoch: number;
    readonly by: string;
    /** Of a run that failed. */
    readonly how: GoOn | null;
    readonly given: readonly Answered[];
    readonly became: { readonly [path: string]: UnknownAnswer };
}

/**
 * `give` begins the shell elsewhere; where it rejects the run is as it was. Rejects with `LedgerError` `owned` while an owner has the run, and with
 * `RemitError` where what was said does not fit it.
 */
export async function handOver(
    store: LedgerStore,
    id: string,
    options: ResumeRunOptions,
    give: (goesOn: GoesOn) => Promise<void>,
): Promise<void> {
    const { acceptForeign = false, from, became = {} } = options;
    const writer = await store.own(id, { acceptForeign, ...(from === undefined ? {} : { from }) });
    try {
        const { host, how, given, user, decide } = await resumptionOf(store, writer.id, options, {});
        await host.close?.();
        await decide();
        await give({ epoch: writer.epoch, by: user, how, given, became });
    } finally {
        await writer.release().catch(unlessTaken);
    }
}

/** The shell elsewhere may have taken it already. */
function unlessTaken(error: unknown): void {
    if (!(error instanceof LedgerError) || error.code !== "owned") throw error;
}
