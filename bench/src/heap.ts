/**
 * What 10,000 runs of one loaded program leave on the heap, after a forced collection; each case in a process of its own.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { QUICK, type Row, type Section } from "./harness.ts";

const GOAL = 5;
export const RUNS = QUICK ? 200 : 10_000;

export async function heap(): Promise<Section> {
    const child = fileURLToPath(new URL("./heap-child.ts", import.meta.url));
    const rows = (["pure", "effects", "parallel"] as const).map((which): Row => {
        const out = execFileSync(process.execPath, ["--expose-gc", child, which, String(RUNS)], { encoding: "utf8" });
        const { before, after, half } = JSON.parse(out) as { before: number; half: number; after: number };
        const grown = (after - before) / 1e6;
        return {
            name:
                which === "pure"
                    ? "no effect"
                    : which === "effects"
                      ? "five effects each"
                      : "parallel for over four effects, one of which fails",
            ours: grown,
            unit: "MB growth",
            against: [
                { name: `of it in the second ${RUNS / 2} runs`, value: (after - half) / 1e6, ratio: (after - half) / (after - before) },
            ],
            goal: `≤ ${GOAL} MB`,
            met: grown <= GOAL,
            note: `${(before / 1e6).toFixed(1)} MB before`,
        };
    });
    return {
        title: `Heap after ${RUNS.toLocaleString("en")} runs`,
        how: "One program as a library, each run with a ledger of its own in memory. Measured after 500 runs and after all, with forced collections.",
        rows,
    };
}
