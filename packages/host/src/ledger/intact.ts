/**
 * Whether a run may be gone on with: what a resume would begin with is what was kept.
 *
 * Boundary: rules over what a store has read. Each throws `LedgerError` where it does not hold.
 *
 * ITC1: a run that was bound with this key and does not hold is refused, whatever the caller says (BN2); one of another key where the caller does not
 *       accept it, or its chains do not hold (BN3).
 */
import { amountOf } from "@remit/language";
import type { Anchor } from "./anchor.ts";
import type { Held } from "./bound.ts";
import { LedgerError } from "./error.ts";
import { chainOutcome } from "./order.ts";
import type { RunRow } from "./rows.ts";
import type { Verification } from "./store.ts";
import type { ChainedOutcome } from "./verify.ts";

/** `path`: the ledger, for messages. */
export interface About {
    readonly path: string;
    readonly row: RunRow;
}

function changed({ path, row }: About, what: string): LedgerError {
    return new LedgerError("tampered", `run ${row.id} in ${path} was changed since it was recorded: ${what}`);
}

/** False where it was bound with another key, or with none, and is to be taken all the same: then `isSound` has to be asked. */
export function isHeld(about: About, found: Held, acceptForeign: boolean): boolean {
    if (found.held === "broken") throw changed(about, found.message);
    if (found.held === "yes") return true;
    const why =
        found.held === "foreign" ? "was recorded under another key: by another user, or on another machine" : "carries no code of any key";
    if (!acceptForeign)
        throw new LedgerError("elsewhere", `run ${about.row.id} in ${about.path} ${why}; whether it was changed cannot be told`);
    return false;
}

export function isSound(about: About, { problem }: Verification): void {
    if (problem !== undefined) throw changed(about, problem.message);
}

/** `saved`: how many outcomes the state contains; `last`: the last of these; `after`: those behind it. */
export interface Outcomes {
    readonly saved: number;
    readonly last: ChainedOutcome | undefined;
    readonly after: Iterable<ChainedOutcome>;
}

export function isWhole(about: About, { saved, last, after }: Outcomes, anchor: Anchor | undefined): void {
    const { row } = about;
    let hash = last?.hash ?? "";
    let n = saved;
    for (const one of after) {
        hash = chainOutcome(hash, one.path, one.attempt, one.text);
        if (one.n !== ++n || hash !== one.hash) throw changed(about, `outcome ${n} is not the one that was kept`);
    }
    if (n !== row.answers || hash !== row.answered) throw changed(about, `outcome ${n} is not the last one that was kept`);
    if (anchor !== undefined && (anchor.count > row.count || anchor.answers > row.answers))
        throw changed(
            about,
            `it has ${amountOf(row.count, "event")} and ${amountOf(row.answers, "outcome")}, and ${anchor.count} and ${anchor.answers} were anchored`,
        );
}
