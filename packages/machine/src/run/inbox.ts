/**
 * Outcomes that were told and are not applied yet.
 *
 * Boundary: which of them counts next, and when. What applying does is `outcomes.ts`.
 */
import type { Outcome } from "../effect/effect.ts";
import { notedIn } from "../ledger/notes.ts";
import { isUnasked } from "../state/verdicts.ts";
import type { Machine } from "./machine.ts";
import { applyOutcome } from "./outcomes.ts";
import { struckAt } from "../state/spending.ts";

export interface Note {
    readonly path: string;
    readonly outcome: Outcome;
}

/** Whether something waits for it, or it is told without that. Notes of a turn that begins once more are numbered anew. */
export function takes(m: Machine, told: Note): boolean {
    if (notedIn(told) !== null) return true;
    return (m.waiting.has(told.path) || isUnasked(told)) && !m.inbox.some(({ path }) => path === told.path);
}

/**
 * Applies what came while the machine computed, where that was: an outcome of waiting for time that says `{at: STEPS}` counts at the end of
 * the slice that reached them, and no slice goes beyond (M4).
 */
export function strike(m: Machine): void {
    for (let i = 0; i < m.inbox.length && m.result === null; ) {
        const told = m.inbox[i] as Note;
        const { path, outcome } = told;
        const pending = m.waiting.get(path);
        if (struckAt(told) > m.reach || pending?.timer === undefined) {
            i++;
            continue;
        }
        m.inbox.splice(i, 1);
        m.waiting.delete(path);
        applyOutcome(m, pending, outcome);
    }
}

/** Count of steps at which the next such outcome counts; infinite where there is none. */
export function nextStrike(m: Machine): number {
    let next = Number.POSITIVE_INFINITY;
    for (const told of m.inbox) {
        const at = struckAt(told);
        if (at > m.reach && at < next) next = at;
    }
    return next;
}

/** The next outcome that counts now. */
export function nextTold(m: Machine): Note | undefined {
    const at = m.inbox.findIndex((told) => {
        const steps = struckAt(told);
        return steps === Number.POSITIVE_INFINITY || steps <= m.run.steps;
    });
    return at < 0 ? undefined : m.inbox.splice(at, 1)[0];
}
