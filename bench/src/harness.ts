/**
 * Measuring: each case runs in rounds that alternate between Remit and what it is compared with, in one process; medians and ratios are
 * taken over the rounds. Six other programs ran before (see `warm`), since a machine that has run one program only is faster than it ever is in use.
 */
import { cpus, loadavg, release, totalmem } from "node:os";

export interface Row {
    readonly name: string;
    /** Of one unit of work, in `unit`. Median over the rounds. */
    readonly ours: number;
    readonly unit: string;
    readonly against: readonly { readonly name: string; readonly value: number; readonly ratio: number }[];
    readonly goal?: string;
    readonly met?: boolean;
    readonly note?: string;
}

export interface Section {
    readonly title: string;
    readonly how: string;
    readonly rows: readonly Row[];
    /** Why a goal is missed, told where one is. */
    readonly cause?: string;
}

export function median(values: readonly number[]): number {
    const sorted = [...values].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

export function geometricMean(values: readonly number[]): number {
    return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

export interface Contender {
    readonly name: string;
    /** Does the work once. */
    run(): unknown;
}

/**
 * Median milliseconds of one `run` of each contender. Every round runs each of them for at least `slice` milliseconds, in turn.
 */
export async function alternate(contenders: readonly Contender[], options: { rounds?: number; slice?: number } = {}): Promise<number[]> {
    const rounds = options.rounds ?? 7;
    const slice = options.slice ?? 60;
    const samples: number[][] = contenders.map(() => []);
    for (let round = -1; round < rounds; round++) {
        for (const [index, contender] of contenders.entries()) {
            let runs = 0;
            const start = performance.now();
            let passed = 0;
            do {
                const result = contender.run();
                if (result instanceof Promise) await result;
                runs++;
                passed = performance.now() - start;
            } while (passed < slice);
            if (round >= 0) (samples[index] as number[]).push(passed / runs);
        }
    }
    return samples.map(median);
}

export interface Round {
    readonly name: string;
    /** Milliseconds of one run. */
    readonly median: number;
    readonly best: number;
    /** Processor time of one run, all threads of the process: says more than the clock where other programs are in the way. */
    readonly cpu: number;
}

/**
 * For work that may take long: each contender once a round (as often as fits into `slice` milliseconds), in turn, for as many rounds as `budget`
 * milliseconds allow (one at least, `most` at most). The first round warms up, unless it took most of the budget: then it counts.
 */
export async function rounds(
    contenders: readonly Contender[],
    options: { budget: number; most?: number; slice?: number },
): Promise<Round[]> {
    let samples: number[][] = contenders.map(() => []);
    let cpu: number[][] = contenders.map(() => []);
    const begun = performance.now();
    for (let round = 0; round <= (options.most ?? 9); round++) {
        const before = performance.now();
        for (const [index, contender] of contenders.entries()) {
            const used = process.cpuUsage();
            const start = performance.now();
            let runs = 0;
            let passed = 0;
            do {
                await contender.run();
                runs++;
                passed = performance.now() - start;
            } while (passed < (options.slice ?? 0));
            (samples[index] as number[]).push(passed / runs);
            const { user, system } = process.cpuUsage(used);
            (cpu[index] as number[]).push((user + system) / 1000 / runs);
        }
        const now = performance.now();
        const more = now - begun + (now - before) <= options.budget;
        if (round === 0 && more) {
            samples = contenders.map(() => []);
            cpu = contenders.map(() => []);
        }
        if (!more) break;
    }
    return contenders.map(({ name }, index) => {
        const all = samples[index] as number[];
        return { name, median: median(all), best: Math.min(...all), cpu: median(cpu[index] as number[]) };
    });
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
