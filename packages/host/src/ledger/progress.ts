/**
 * The run's row as a commit leaves it: what every commit writes, and what claims the run.
 *
 * Boundary: from two standings to one statement. What else a commit writes is `writer.ts`.
 *
 * RPG1: what is made from all of a run's pending effects, or from all that came before its turn, is made once for what is written together, not once a
 *     batch.
 */
import { type BoundParts, bind, earlyHash, pendingHash } from "./bound.ts";
import type { LedgerFile, Standing, Statements } from "./calls.ts";
import { pendingText, type RunRow } from "./rows.ts";

/** Q2: it changes nothing where the row is not as `before` says. */
export function progressed(
    file: Pick<LedgerFile, "key" | "now">,
    before: Standing,
    after: Standing,
): { readonly next: Standing; readonly statement: Statements[number] } {
    const { pending, early } = after;
    const row: RunRow = pending === before.pending ? after.row : { ...after.row, pending: pendingText(pending) };
    const parts: BoundParts = {
        ...after.parts,
        ...(pending === before.pending ? {} : { pending: pendingHash(pending) }),
        ...(early === before.early ? {} : { early: earlyHash(early) }),
    };
    const bound = bind(file.key(), row, parts);
    const { status, result, ended, usage, steps, effects, count, head, answers, answered, owner, spent, batches } = row;
    const progress = [status, result, ended, usage, steps, effects, count, head, answers, answered, owner, file.now(), spent] as const;
    return {
        next: { ...after, row, parts, bound },
        statement: ["progress", ...progress, bound, batches, row.pending, row.key, row.epoch, before.row.owner, before.bound],
    };
}

/** The row as it is, which has to be the writer's still. */
export function held(file: Pick<LedgerFile, "now">, { row, bound }: Standing): Statements[number] {
    return ["hold", file.now(), row.key, row.epoch, bound];
}
