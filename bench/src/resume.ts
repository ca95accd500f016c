/**
 * Going on with a run after 10 and after 100,000 finished effects: the ledger is opened, the state loaded, and the time stops when the next
 * effect is performed.
 */
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLedger } from "@remit/host";
import { chain, type Shape, tools } from "./chain.ts";
import { figure, median, type Row, type Section } from "./harness.ts";

const GOAL = 20;
const TIMES = 15;
const SIZES = [10, 1_000, 100_000];

export async function resume(): Promise<Section> {
    const disk = mkdtempSync(join(tmpdir(), "remit-bench-"));
    try {
        const files: { readonly shape: Shape; readonly n: number; readonly file: string; readonly times: number[] }[] = [];
        for (const shape of ["sum", "items"] as const)
            for (const n of SIZES) files.push({ shape, n, file: await interrupted(disk, shape, n), times: [] });
        for (let round = -2; round < TIMES; round++)
            for (const one of files) {
                const time = await next(one.file, one.n);
                if (round >= 0) one.times.push(time);
            }
        const least = median(files[0]?.times ?? []);
        const rows = files.map(({ shape, n, times }): Row => {
            const ours = median(times);
            const flat = shape === "sum";
            return {
                name: `after ${n.toLocaleString("en")} effects${flat ? "" : `, list of ${n.toLocaleString("en")} items`}`,
                ours,
                unit: "ms",
                against: [{ name: "after 10 effects", value: least, ratio: ours / least }],
                ...(flat || n <= 10_000 ? { goal: `≤ ${GOAL} ms`, met: ours <= GOAL } : {}),
                note: `best ${figure(Math.min(...times))} ms`,
            };
        });
        return {
            title: "Resuming",
            how: "Opening the ledger file, owning the run, loading program and state, and getting to the next effect, in a process that has the modules loaded. Ratio is time ÷ time after 10 effects. What is loaded grows with the state alone: the second group holds a list of all results, of which the last has 100,000 items.",
            rows,
            cause: "Taking a run over writes to the ledger, and this disk's sync is part of that.",
        };
    } finally {
        rmSync(disk, { recursive: true, force: true });
    }
}

/** A ledger with a run that was stopped at effect n. Made in memory where that is possible, since a slow disk would take minutes. */
async function interrupted(disk: string, shape: Shape, n: number): Promise<string> {
    const name = `${shape}-${n}`;
    const fast = existsSync("/dev/shm") ? mkdtempSync("/dev/shm/remit-bench-") : null;
    try {
        const made = join(fast ?? disk, name);
        const stop = new AbortController();
        const step = (i: number, signal: AbortSignal): unknown => {
            if (i < n) return i;
            queueMicrotask(() => stop.abort());
            return waits(signal);
        };
        const program = await chain({ ledger: join(made, "ledger.db"), shape, step });
        const result = await program.start(n + 1_000_000, stop.signal).result;
        await program.close();
        if (result.status !== "stopped") throw new Error(`the run was to be stopped, it is ${result.status}`);
        if (fast !== null) cpSync(made, join(disk, name), { recursive: true });
        return join(disk, name, "ledger.db");
    } finally {
        if (fast !== null) rmSync(fast, { recursive: true, force: true });
    }
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
    ledger.close();
    if (at !== n) throw new Error(`resumed at effect ${at}, not ${n}`);
    return passed;
}

function waits(signal: AbortSignal): Promise<never> {
    return new Promise((_resolve, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
}
