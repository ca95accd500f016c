/**
 * Telling a machine again what the ledger says it was told.
 *
 * Boundary: over a record of the ledger; performs nothing. Whether what comes out is what came out before is `replay.ts`.
 *
 * J1: outcomes are told in the order in which they were told before, which is recorded input.
 * J3: where the run's time ended it is recorded input too (D6): the same slice, or waiting with the same outcomes.
 * J4: where a part of the run ran out of time while the machine computed is in that outcome (D7), so it is told before the computing begins.
 * J7: where a failed run went on, and how, is in its `run.resumed` event.
 * J6: outcomes that were told in the same moment as the one that ended the run, or a part of it, were not looked at; the ledger has them all
 *     the same.
 */
import { type Advance, type Conducted, type Failure, type GoOn, isUnasked, type LedgerEvent, type Outcome, struckAt } from "@remit/machine";
import type { RecordedOutcome, RunRecord } from "../ledger/store.ts";

export interface Retold {
    /** Outcomes that were looked at. */
    readonly outcomes: number;
    /** Effects that the machine waits for, and the ledger has no outcome for. */
    readonly open: readonly string[];
    /** The path of an outcome that the machine did not ask for: it goes another way than the one that the ledger is of. */
    readonly odd: string | null;
}

/** `see`: told of every advance; false ends the telling. */
export function retell(
    { info, events, outcomes: recorded }: Pick<RunRecord, "info" | "events" | "outcomes">,
    machine: Conducted,
    see: (advance: Advance) => boolean = () => true,
): Retold {
    const open = new Set<string>();
    /** Nobody waits for them any more. */
    const late = new Set<string>();
    let going = true;
    let ended = false;
    let outcomes = 0;
    const take = (advance: Advance): void => {
        going = see(advance) && going;
        ended = advance.state === "done";
        // J6: what still waited at the end stays, so that its outcome is known.
        if (!ended) for (const path of advance.withdrawn) if (open.delete(path)) late.add(path);
        for (const effect of advance.effects) open.add(effect.path);
    };
    let strike = info.failure?.kind === "limit.time" ? strikeOf(events) : null;
    const strikes = (): void => {
        const { kind, message, hint } = info.failure as Failure;
        machine.exceed(kind, message, hint);
        take(machine.advance());
    };
    const run = (): void => {
        for (;;) {
            const advance = machine.advance(strike?.until ?? undefined);
            take(advance);
            if (advance.state !== "slice") return;
            if (strike !== null && strike.until !== null && machine.reach >= strike.until) {
                strikes();
                return;
            }
        }
    };
    const told = (odd: string | null): Retold => ({ outcomes, open: [...open], odd });

    const resumed = [...events].filter((event) => event.kind === "run.resumed");
    /** A run that failed goes on as it did (J7). */
    const goOn = (): void => {
        const next = ended && machine.canGoOn === true ? resumed.shift() : undefined;
        if (next === undefined) return;
        const { by, ...how } = next.data as unknown as { readonly by: string } & GoOn;
        machine.goOn?.(how, by);
        strike = null;
        run();
    };

    tellStrikes(recorded, machine);
    run();
    goOn();
    for (const one of recorded) {
        if (!going) break;
        outcomes++;
        const { path, outcome } = one;
        if (isStrike(one)) {
            open.delete(path);
            continue;
        }
        if (late.delete(path)) continue;
        if (!isUnasked(one) && !open.delete(path)) return told(path);
        if (ended) continue;
        machine.resolve(path, outcome);
        run();
        goOn();
    }
    if (going && !ended && strike?.until === null) strikes();
    return told(null);
}

/** Where the host ended the run because its time was up; null where the program's own end was that failure. */
export function strikeOf(events: Iterable<LedgerEvent>): { readonly until: number | null } | null {
    for (const { kind, data } of events) {
        if (kind !== "budget" || data === null || typeof data !== "object" || Array.isArray(data)) continue;
        if (data.host === true && data.limit === "limit.time") return { until: typeof data.until === "number" ? data.until : null };
    }
    return null;
}

/** Ends of times that came while the machine computed: told at the beginning, they count where they say (J4). */
export function tellStrikes(outcomes: readonly RecordedOutcome[], machine: { resolve(path: string, outcome: Outcome): unknown }): void {
    for (const one of outcomes) if (isStrike(one)) machine.resolve(one.path, one.outcome);
}

export function isStrike(told: { readonly path: string; readonly outcome: Outcome }): boolean {
    return struckAt(told) !== Number.POSITIVE_INFINITY;
}
