/**
 * Telling a machine again what the ledger says it was told, with turns of the event loop in between.
 *
 * Boundary: over a record of the ledger; performs nothing. What is told when is the conductor's (`Retelling`); whether what comes out is what came out
 * before is `replay.ts`.
 */
import { type Advance, type Conducted, Retelling, type Told, toldParts, toldPlaces } from "@remit/machine";
import type { RunRecord } from "../ledger/store.ts";
import { monotonic, TURN_MS } from "./turn.ts";

export interface Retold {
    /** Outcomes that were looked at. */
    readonly outcomes: number;
    /** Effects that the machine waits for, and the ledger has no outcome for. */
    readonly open: readonly string[];
    /** The path of an outcome that the machine did not ask for: it goes another way than the one that the ledger is of. */
    readonly odd: string | null;
}

/** What came in, by the ledger. `upTo`: steps at which the telling ends where the run was computing then. */
export function toldBy({ info, events, outcomes }: Pick<RunRecord, "info" | "events" | "outcomes">, upTo = stepsOf(info)): Told {
    return { outcomes, parts: toldParts(events, info.failure), places: toldPlaces(events), upTo };
}

/** Steps of a run that has not ended: none is known beyond them. */
function stepsOf({ status, steps }: RunRecord["info"]): number {
    return status === "done" || status === "failed" ? Number.POSITIVE_INFINITY : steps;
}

/** `see`: told of every advance; false ends the telling. `upTo` as in `toldBy`. */
export async function retell(
    record: Pick<RunRecord, "info" | "events" | "outcomes">,
    machine: Conducted,
    see: (advance: Advance) => boolean = () => true,
    upTo?: number,
): Promise<Retold> {
    const retelling = new Retelling(machine, toldBy(record, upTo));
    let turned = monotonic();
    for (let advance = retelling.next(); advance !== null && see(advance); advance = retelling.next()) {
        if (monotonic() - turned <= TURN_MS) continue;
        await new Promise<void>((resolve) => void setImmediate(resolve));
        turned = monotonic();
    }
    retelling.tellRest();
    retelling.end();
    return { outcomes: retelling.outcomes, open: [...retelling.open], odd: retelling.odd };
}
