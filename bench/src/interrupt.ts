/** How soon a run ends after its first Ctrl-C, in the middle of each thing that it can be in. The tests ask that it ends at all, and how. */
import { INTERRUPTS, interrupted } from "../../packages/cli/tests/interrupted.ts";
import { median, QUICK, type Row, type Section } from "./harness.ts";

const GOAL = 1_000;
const ROUNDS = QUICK ? 1 : 5;

export async function interrupts(): Promise<Section> {
    const rows: Row[] = [];
    for (const one of INTERRUPTS) {
        const times: number[] = [];
        for (let n = 0; n < ROUNDS; n++) times.push((await interrupted(one)).ms);
        const longest = Math.max(...times);
        rows.push({
            name: one.name,
            ours: median(times),
            unit: "ms",
            against: [],
            goal: `≤ ${GOAL} ms`,
            met: longest <= GOAL,
            note: `longest of ${ROUNDS} ${Math.round(longest)} ms`,
        });
    }
    return {
        title: "After a Ctrl-C",
        how: "A process of the command that is in the middle of the work gets one SIGINT, on a terminal the key; measured to the end of the process. While a program is read nothing has begun and the signal itself ends the process.",
        rows,
    };
}
