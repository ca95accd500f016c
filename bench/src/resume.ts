/**
 * Going on with a run after 10 and after 100,000 finished effects, and in the middle of a long plan: the ledger is opened, the state loaded, and the time
 * stops when the next effect is performed.
 */
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { load, openLedger, type RunHandle } from "@remit/host";
import { chain, type Shape, tools } from "./chain.ts";
import { chainOf } from "./nodes.ts";
import { figure, median, QUICK, type Row, type Section } from "./harness.ts";

const GOAL = 20;
const TIMES = QUICK ? 1 : 15;
const SIZES = QUICK ? [10, 100] : [10, 1_000, 100_000];
/** Nodes of plans. */
const PLANS = QUICK ? [100] : [1_000, 10_000];

interface Made {
    /** `plan`: a chain of twice as many nodes. */
    readonly shape: Shape | "plan";
    readonly n: number;
    readonly file: string;
    /** The same on a file system in memory. */
    readonly inMemory: string | null;
    readonly times: number[];
    readonly code: number[];
}

export async function resume(): Promise<Section> {
    const disk = mkdtempSync(join(tmpdir(), "remit-bench-"));
    // The long run is made in memory where that is possible, since a slow disk would take minutes, and copied.
    const memory = existsSync("/dev/shm") ? mkdtempSync("/dev/shm/remit-bench-") : null;
    try {
        const files: Made[] = [];
        for (const shape of ["sum", "items", "plan"] as const)
            for (const n of shape === "plan" ? PLANS.map((nodes) => nodes / 2) : SIZES) {
                const file = await interrupted(memory ?? disk, `${shape}-${n}`, shape, n);
                if (memory !== null) cpSync(dirname(file), join(disk, `${shape}-${n}`), { recursive: true });
                files.push({
                    shape,
                    n,
                    file: join(disk, `${shape}-${n}`, "ledger.db"),
                    inMemory: memory === null ? null : file,
                    times: [],
                    code: [],
                });
            }
        for (let round = -2; round < TIMES; round++)
            for (const one of files) {
                const time = await next(one.file, one.n);
                const code = one.inMemory === null ? null : await next(one.inMemory, one.n);
                if (round < 0) continue;
                one.times.push(time);
                if (code !== null) one.code.push(code);
            }
        const least = median(files[0]?.times ?? []);
        const rows = files.map(({ shape, n, times, code }): Row => {
            const ours = median(times);
            const shown = (count: number): string => count.toLocaleString("en");
            const of = shape === "plan" ? `, plan of ${shown(2 * n)} nodes` : shape === "items" ? `, list of ${shown(n)} items` : "";
            return {
                name: `after ${shown(n)} effects${of}`,
                ours,
                unit: "ms",
                against: [
                    { name: "after 10 effects", value: least, ratio: least / ours },
                    ...(code.length === 0 ? [] : [{ name: "file system in memory", value: median(code), ratio: median(code) / ours }]),
                ],
                ...(shape === "sum" || n <= 10_000 ? { goal: `≤ ${GOAL} ms`, met: ours <= GOAL } : {}),
                note: `best ${figure(Math.min(...times))} ms`,
            };
        });
        return {
            title: "Resuming",
            how: "Opening the ledger file, owning the run, loading program and state, and getting to the next effect, in a process that has the modules loaded. Ratio is time of the other ÷ time. What is loaded grows with the state alone: the second group holds a list of all results, of which the last has 100,000 items. The third is in the middle of a plan, whose program grows with it.",
            rows,
            cause: "Before the next effect is performed, the ledger says so with a sync of this disk, and the first write after opening syncs the head of the write-ahead log: see the figures for the file system in memory. A plan's program is read, compared with its hash and compiled once a process; the first run of a process that goes on with a plan of 10,000 nodes takes some 200 ms more.",
        };
    } finally {
        rmSync(disk, { recursive: true, force: true });
        if (memory !== null) rmSync(memory, { recursive: true, force: true });
    }
}

/** A ledger below `folder/name` with a run that was stopped at effect n. */
async function interrupted(folder: string, name: string, shape: Made["shape"], n: number): Promise<string> {
    const file = join(folder, name, "ledger.db");
    const stop = new AbortController();
    const step = (i: number, signal: AbortSignal): unknown => {
        // The next node of a plan is given what this one gave.
        if (i < n) return shape === "plan" ? i + 1 : i;
        queueMicrotask(() => stop.abort());
        return waits(signal);
    };
    const program = shape === "plan" ? await planOf(2 * n, file, step) : await chain({ ledger: file, shape, step });
    const result = await program.start(n + 1_000_000, stop.signal).result;
    await program.close();
    if (result.status !== "stopped") throw new Error(`the run was to be stopped, it is ${result.status}`);
    return file;
}

async function planOf(nodes: number, ledger: string, step: Parameters<typeof tools>[0]): Promise<Started> {
    const limits = { steps: 1_000_000_000, calls: 10_000_000 };
    const program = await load<null, number>({ source: chainOf(nodes) }, { tools: tools(step), limits, cache: false, ledger });
    return { start: (_, signal) => program.run(null, { signal }), close: () => program.close() };
}

interface Started {
    start(n: number, signal: AbortSignal): RunHandle<number>;
    close(): Promise<void>;
}

/** Milliseconds until the next effect is performed; then the run is stopped again. */
async function next(file: string, n: number): Promise<number> {
    const stop = new AbortController();
    let passed = 0;
    let at = -1;
    const begun = performance.now();
    const ledger = await openLedger(file);
    const step = (i: number, signal: AbortSignal): unknown => {
        passed = performance.now() - begun;
        at = i;
        queueMicrotask(() => stop.abort());
        return waits(signal);
    };
    const handle = await ledger.resume("last", { tools: tools(step), signal: stop.signal });
    await handle.result;
    await ledger.close();
    if (at !== n) throw new Error(`resumed at effect ${at}, not ${n}`);
    return passed;
}

function waits(signal: AbortSignal): Promise<never> {
    return new Promise((_resolve, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
}
