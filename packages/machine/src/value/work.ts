/**
 * How much work it is to look at a value: the unit in which operators, built-ins, contracts and rendering tell it to the run.
 *
 * Boundary: numbers only. Who counts them and where they end is the run's (`Runtime.work`).
 */

/**
 * Units of work, each about as long as a step, from 10 to 30 ns: what it costs to look at `values` lists, objects and other values wherever
 * they are in memory, at `items` in a row, at `chars` in a row.
 */
export const WORK = {
    values: (n: number): number => 4 * n,
    items: (n: number): number => Math.ceil(n / 4),
    chars: (n: number): number => Math.ceil(n / 16),
} as const;
