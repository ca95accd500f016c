/**
 * The commit that is under way: one at a time (D1), tried again where it may be kept later.
 *
 * Boundary: numbers and what waits for them; what a batch holds is `draft.ts`.
 */
import type { Batch, Decision } from "./messages.ts";

/** A commit that may be kept later is tried again after so many milliseconds, then after twice as many, up to the most. */
const AGAIN_MS = 250;
const MOST_AGAIN_MS = 10_000;

interface Commit {
    readonly decision: Decision;
    /** Carried out once it is kept. */
    readonly after: readonly Decision[];
    readonly ends: boolean;
}

export class Commits {
    private under: Commit | null = null;
    private n = 0;
    private tries = 0;

    get isOpen(): boolean {
        return this.under !== null;
    }

    /** What is said of the one that is under way. */
    get said(): Decision[] {
        return this.under === null ? [] : [this.under.decision];
    }

    begin(batch: Batch, after: readonly Decision[], ends: boolean): Decision {
        const decision: Decision = { kind: "commit", n: ++this.n, batch };
        this.under = { decision, after, ends };
        this.tries = 0;
        return decision;
    }

    isUnder(n: number): boolean {
        return this.under !== null && this.n === n;
    }

    /** The one that is under way is kept; null where that is another one. */
    kept(n: number): Commit | null {
        if (!this.isUnder(n)) return null;
        const { under } = this;
        this.under = null;
        return under;
    }

    /** Milliseconds until it is tried again. */
    again(): number {
        return Math.min(AGAIN_MS * 2 ** this.tries++, MOST_AGAIN_MS);
    }
}
