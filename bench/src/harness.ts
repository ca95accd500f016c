/**
 * Measuring: each case runs in rounds that alternate between Remit and what it is compared with; medians and ratios are taken over the rounds. Others
 * run in processes of their own (`apart.ts`), Remit beside parts of itself in one.
 */
import { cpus, loadavg, release, totalmem } from "node:os";

export interface Row {
    readonly name: string;
    /** Of one unit of work, in `unit`. Median over the rounds. */
    readonly ours: number;
    readonly unit: string;
    readonly against: readonly Other[];
    readonly goal?: string;
    readonly met?: boolean;
    readonly note?: string;
}

/** `lost`: why it has no figure. */
export type Other =
    | { readonly name: string; readonly value: number; readonly ratio: number; readonly lost?: undefined }
    | { readonly name: string; readonly value?: undefined; readonly ratio?: undefined; readonly lost: string };

export interface Section {
    readonly title: string;
    readonly how: string;
    readonly rows: readonly Row[];
    /** Why a goal is missed, told where one is. */
    readonly cause?: string;
}

/** NaN of nothing. */
export function median(values: readonly number[]): number {
    if (values.length === 0) return Number.NaN;
    const sorted = [...values].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

export function geometricMean(values: readonly number[]): number {
    return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

/** Whether this is only to see that every section reaches its end: one short round of small cases, and no result is kept. */
export const QUICK = process.env.REMIT_BENCH_QUICK === "1";

/** A contender was ended because it passed a bound, or ended by itself. */
export class Lost extends Error {
    readonly reason: string;
    constructor(name: string, reason: string) {
        super(`${name}: ${reason}`);
        this.reason = reason;
    }
}

export interface Turn {
    /** Milliseconds of one run. */
    readonly ms: number;
    /** Processor time of one run, all threads of the process. */
    readonly cpu: number;
}

export interface Contender {
    readonly name: string;
    /** Does the work as often as fits into `slice` milliseconds, once at least. Throws `Lost`. */
    turn(slice: number): Promise<Turn>;
}

/** A contender in this process. */
export function here(name: string, run: () => unknown): Contender {
    return {
        name,
        turn: async (slice) => {
            const used = process.cpuUsage();
            const start = performance.now();
            let runs = 0;
            let passed = 0;
            do {
                const result = run();
                if (result instanceof Promise) await result;
                runs++;
                passed = performance.now() - start;
            } while (passed < slice);
            const { user, system } = process.cpuUsage(used);
            return { ms: passed / runs, cpu: (user + system) / 1000 / runs };
        },
    };
}

export interface Round {
    readonly name: string;
    /** Milliseconds of one run. */
    readonly median: number;
    readonly best: number;
    /** Processor time of one run, all threads of the process: says more than the clock where other programs are in the way. */
    readonly cpu: number;
    /** Why nothing was measured; the figures are not numbers then. */
    readonly lost: string | null;
}

/**
 * Each contender once a round (as often as fits into `slice` milliseconds), in turn, for as many rounds as `budget` milliseconds allow (one at least,
 * `most` at most). The first round warms up, unless it took most of the budget: then it counts. One that is lost takes no further turn.
 */
export async function rounds(
    contenders: readonly Contender[],
    options: { readonly budget?: number; readonly most?: number; readonly slice?: number } = {},
): Promise<Round[]> {
    const { budget = Number.POSITIVE_INFINITY, most = 9, slice = 0 } = QUICK ? { budget: 0 } : options;
    const lost = new Map<Contender, string>();
    let samples = new Map<Contender, Turn[]>();
    const begun = performance.now();
    for (let round = 0; round <= most; round++) {
        const before = performance.now();
        for (const one of contenders) {
            if (lost.has(one)) continue;
            try {
                samples.set(one, [...(samples.get(one) ?? []), await one.turn(slice)]);
            } catch (error) {
                if (!(error instanceof Lost)) throw error;
                lost.set(one, error.reason);
            }
        }
        const now = performance.now();
        if (now - begun + (now - before) > budget) break;
        if (round === 0) samples = new Map();
    }
    return contenders.map((one) => {
        const turns = lost.has(one) ? [] : (samples.get(one) ?? []);
        const times = turns.map((turn) => turn.ms);
        return {
            name: one.name,
            median: median(times),
            best: Math.min(...times),
            cpu: median(turns.map((turn) => turn.cpu)),
            lost: lost.get(one) ?? null,
        };
    });
}

/** A row's entry of another contender. `per`: from milliseconds of a run to the row's unit. */
export function other(round: Round, ours: number, per: (ms: number) => number): Other {
    const value = per(round.median);
    return round.lost === null ? { name: round.name, value, ratio: value / ours } : { name: round.name, lost: round.lost };
}

export function machineFacts(): string {
    const cpu = cpus();
    return `${cpu.length} × ${cpu[0]?.model.trim() ?? "unknown CPU"}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${release()}, Node ${process.versions.node}, V8 ${process.versions.v8}; load ${(loadavg()[0] as number).toFixed(1)}`;
}

export function figure(value: number): string {
    if (Number.isInteger(value)) return String(value);
    if (value < 0) return `-${figure(-value)}`;
    return value >= 100
        ? value.toFixed(0)
        : value >= 10
          ? value.toFixed(1)
          : value >= 0.01
            ? value.toFixed(value >= 1 ? 2 : 3)
            : value.toExponential(1);
}
