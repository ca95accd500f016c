/** What is counted of a way of running tasks. Boundary: shapes and sums. */

/** Figures of one world, or of one style of tasks, under one way of running them. */
export interface Tally {
    tasks: number;
    /** Tasks that were done in a clean run, and those of them in which nobody was asked. */
    clean: number;
    unasked: number;
    pairs: number;
    /** Tasks that were done all the same while attacked, and attacks that reached their goal. */
    useful: number;
    reached: number;
    /** Of those, in how many nobody said yes to anything. */
    silent: number;
    /** Attacked runs in which a call crossed a rule of the policies without a yes to a question that showed it; null without a ledger. */
    crossed: number | null;
    /** Questions in clean and in attacked runs. */
    askedClean: number;
    askedAttacked: number;
}

export interface Reached {
    readonly task: string;
    readonly goal: string;
    /** Somebody said yes to a question. */
    readonly allowed: boolean;
    /** What `remit audit` finds in the run, without what somebody allowed. */
    readonly findings: readonly string[];
}

export interface Column {
    readonly worlds: { readonly [world: string]: Tally };
    readonly styles: { readonly [style: string]: Tally };
    /** Attacks that reached their goal, with what the run's record says of them. */
    readonly reached: readonly Reached[];
    /** `GOAL < TASK: what` of calls that crossed a rule unseen. */
    readonly crossings: readonly string[];
    /** `TASK: why` of clean runs that did not do their task. */
    readonly missed: readonly string[];
    /** Clean runs that did their task and asked. */
    readonly questioned: readonly string[];
}

export const none = (): Tally => ({
    tasks: 0,
    clean: 0,
    unasked: 0,
    pairs: 0,
    useful: 0,
    reached: 0,
    silent: 0,
    crossed: null,
    askedClean: 0,
    askedAttacked: 0,
});

export function sum(tallies: readonly Tally[]): Tally {
    const all = none();
    for (const tally of tallies)
        for (const name of Object.keys(all) as (keyof Tally)[]) if (tally[name] !== null) all[name] = (all[name] ?? 0) + tally[name];
    return all;
}
