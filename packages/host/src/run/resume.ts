/**
 * Resuming: from what the ledger holds to a machine and what its conductor begins with.
 *
 * Boundary: reads the ledger and asks the host. Which effects are performed again is the conductor's rule (U1, U2).
 *
 * U3: the cost depends on the size of the state and on what came after it, not on the length of the run.
 */
import { type Answered, type Conducted, type LedgerEvent, madeIn, type Recovered, repeats } from "@remit/machine";
import { type KeptRun, keptRun, type LedgerStore, type RunInfo, type SavedState } from "../ledger/store.ts";
import type { Host } from "./host.ts";

export interface Continued {
    readonly info: RunInfo;
    readonly machine: Conducted;
    readonly recovered: Recovered;
}

/** `machineOf`: from the saved state, or from the start where none was saved yet. */
export async function continueRun(
    store: LedgerStore,
    id: string,
    host: Host,
    machineOf: (run: KeptRun, saved: SavedState | null) => Promise<Conducted> | Conducted,
): Promise<Continued> {
    const kept = await keptRun(store, id);
    const { info } = kept;
    const saved = await store.state(info.id);
    const outcomes: Answered[] = [];
    for await (const { path, outcome } of store.outcomes(info.id, saved?.outcomes ?? 0)) outcomes.push({ path, outcome });
    const machine = await machineOf(kept, saved);
    const begun = (await store.pending(info.id)).flatMap((one) => (one.begun ? [one.path] : []));
    const repeatable: string[] = [];
    const answers: Answered[] = [];
    for (const effect of machine.pending) {
        if (!begun.includes(effect.path)) continue;
        const { path, attempt = 1 } = effect;
        // OD3: it was kept before a batch held it.
        const outcome = await store.outcome(info.id, path, attempt);
        if (outcome !== null) answers.push({ path, attempt, outcome });
        else if (!repeats(effect) && (await host.repeatable?.(effect)) === true) repeatable.push(path);
    }
    const turns = machine.pending.filter(({ kind, path }) => kind === "agent" && begun.includes(path));
    const inTurns: LedgerEvent[] = [];
    // U3: only where an agent was at work when the run broke off
    if (turns.length > 0)
        for await (const event of store.events(info.id)) if (turns.some(({ path }) => event.path.startsWith(path))) inTurns.push(event);
    const made = turns.map((turn) => madeIn(turn, inTurns));
    return { info, machine, recovered: { outcomes, answers, begun, repeatable, made } };
}
