/**
 * Telling a machine again what the ledger says it was told, with turns of the event loop in between.
 *
 * Boundary: over a record of the ledger; performs nothing. What is told when is the conductor's (`Retelling`); whether what comes out is what came out
 * before is `replay.ts`.
 */
import { type Advance, type Conducted, Retelling, toldParts } from "@remit/machine";
import type { RunRecord } from "../ledger/store.ts";
import { TURN_MS } from "./local.ts";

export interface Retold {
    /** Outcomes that were looked at. */
    readonly outcomes: number;
    /** Effects that the machine waits for, and the ledger has no outcome for. */
    readonly open: readonly string[];
    /** The path of an outcome that the machine did not ask for: it goes another way than the one that the ledger is of. */
    readonly odd: string | null;
}

/** `see`: told of every advance; false ends the telling. */
export async function retell(
    { info, events, outcomes }: Pick<RunRecord, "info" | "events" | "outcomes">,
    machine: Conducted,
    see: (advance: Advance) => boolean = () => true,
): Promise<Retold> {
    const retelling = new Retelling(machine, { outcomes, parts: toldParts(events, info.failure) });
    let turned = performance.now();
    for (let advance = retelling.next(); advance !== null && see(advance); advance = retelling.next()) {
        if (performance.now() - turned <= TURN_MS) continue;
        await new Promise<void>((resolve) => void setImmediate(resolve));
        turned = performance.now();
    }
    return { outcomes: retelling.outcomes, open: [...retelling.open], odd: retelling.odd };
}
