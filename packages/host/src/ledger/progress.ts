/**
 * The run's row as a commit leaves it, with what stands beside it by name: what every commit writes, and what claims the run.
 *
 * Boundary: from two standings to statements. What else a commit writes is `writer.ts`.
 *
 * RPG1: of pending effects and of what came before its turn only what changed is written and hashed, once for all that is written together.
 * RPG2: a few pending effects stand in the run's row, so that a commit touches few pages (S3); many are rows of their own, until none is left.
 */
import type { KeyObject } from "node:crypto";
import { type BoundParts, bind, type Sets, setCodes } from "./bound.ts";
import type { LedgerFile, Standing, Statements } from "./calls.ts";
import { begunText, IN_ROWS, pendingKey, pendingText, type RunRow } from "./rows.ts";

/** RPG2. */
const FEW = 16;

/** What is written where these sets become those, beside the run's row; its column of pending effects, and the codes of the sets. */
export function entered(
    key: KeyObject,
    before: Standing,
    after: Sets,
): { readonly statements: Statements; readonly pending: string; readonly codes: Pick<BoundParts, "pending" | "early"> } {
    const run = before.row.key;
    const was = before.row.pending === IN_ROWS;
    const is = after.pending.size > (was ? 0 : FEW);
    const changes: (readonly [name: string, was: string | undefined, is: string | undefined])[] = [...after.early.since(before.early)];
    if (was) {
        for (const [path, one, now] of after.pending.since(before.pending))
            changes.push([pendingKey(path), one && begunText(one), now && begunText(now)]);
    } else if (is) for (const [path, one] of after.pending) changes.push([pendingKey(path), undefined, begunText(one)]);
    const statements: Statements = changes.flatMap(([name, old, now]) => [
        ...(old === undefined ? [] : [["settleEarly", run, name] as const]),
        ...(now === undefined ? [] : [["early", run, name, now] as const]),
    ]);
    const isSame = after.pending === before.pending && was === is;
    const pending = isSame ? before.row.pending : is ? IN_ROWS : pendingText(after.pending);
    return { statements, pending, codes: setCodes(key, after, before) };
}

/** Q2: the first statement changes nothing where the row is not as `before` says. */
export function progressed(
    file: Pick<LedgerFile, "key" | "now">,
    before: Standing,
    after: Standing,
): { readonly next: Standing; readonly statements: Statements } {
    const key = file.key();
    const { statements, pending, codes } = entered(key, before, after);
    const row: RunRow = { ...after.row, pending };
    const parts = { ...after.parts, ...codes };
    const bound = bind(key, row, parts);
    const { status, result, ended, usage, steps, effects, count, head, answers, answered, owner, spent, batches } = row;
    const progress = [status, result, ended, usage, steps, effects, count, head, answers, answered, owner, file.now(), spent] as const;
    return {
        next: { ...after, row, parts, bound },
        statements: [["progress", ...progress, bound, batches, pending, row.key, row.epoch, before.row.owner, before.bound], ...statements],
    };
}

/** The row as it is, which has to be the writer's still. */
export function held(file: Pick<LedgerFile, "now">, { row, bound }: Standing): Statements[number] {
    return ["hold", file.now(), row.key, row.epoch, bound];
}
