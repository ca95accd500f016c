/**
 * What a node of a plan costs in this process: chains of a block, each node one effect that does nothing, with the ledger in memory and with every outcome
 * on the disk, beside a step of a graph in LangGraph and of a workflow in Mastra.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load, type LoadOptions, type RemitProgram } from "@remit/host";
import { type Apart, apart } from "./apart.ts";
import { tools } from "./chain.ts";
import { figure, here, other, QUICK, type Row, rounds, type Section } from "./harness.ts";

const SIZES = QUICK ? [10, 100] : [10, 100, 1_000, 10_000];
const GOALS = { memory: 25, durable: 500 } as const;
const LIMITS = { steps: 1_000_000_000, calls: 10_000_000 };

/** A block of so many nodes in a row. */
export function chainOf(n: number): string {
    const stages = Array.from({ length: n }, (_, i) => (i === 0 ? "step 0" : "step"));
    return `import tool Work from "host:work"\nfunc step(i) { Work.step({ i: i }) }\nmemory static ( ${stages.join(" >=> ")} )`;
}

export function planOf(n: number, ledger: LoadOptions["ledger"]): Promise<RemitProgram<null, number>> {
    return load<null, number>(
        { source: chainOf(n) },
        { tools: tools((i) => i), limits: LIMITS, cache: false, ...(ledger === undefined ? {} : { ledger }) },
    );
}

/** Short plans come first and take little time in all: without this they would be measured as code that was just begun to be compiled. */
async function warm(disk: string, peers: readonly Apart[]): Promise<void> {
    const slice = QUICK ? 0 : 2_000;
    for (const ledger of ["memory", join(disk, "warm.db")]) {
        const some = await planOf(100, ledger);
        await here("Remit", () => some(null)).turn(slice);
        await some.close();
    }
    for (const one of peers) await one.at(100).turn(slice);
}

export async function nodes(): Promise<Section> {
    const disk = mkdtempSync(join(tmpdir(), "remit-bench-"));
    const module = new URL("./steps-peers.ts", import.meta.url).href;
    const peers = ["langgraph", "mastra"].map((made) =>
        apart(made === "mastra" ? "Mastra" : "LangGraph", { module, make: "chains", args: [made] }),
    );
    try {
        const rows: Row[] = [];
        await warm(disk, peers);
        for (const n of SIZES) {
            const inMemory = await planOf(n, "memory");
            const durable = await planOf(n, join(disk, "ledger.db"));
            const within = n > 1_000 ? [] : peers;
            const contenders = [
                here("Remit", () => inMemory(null)),
                here("durable", () => durable(null)),
                ...within.map((one) => one.at(n)),
            ];
            const [first, second, ...others] = await rounds(contenders, { budget: 30_000, most: 9, slice: 60 });
            const per = (ms: number): number => (ms * 1_000) / n;
            const name = `${n.toLocaleString("en")} nodes`;
            for (const [kind, round] of [["memory", first] as const, ["durable", second] as const]) {
                if (round === undefined) continue;
                const ours = per(round.median);
                const against = kind === "memory" ? others.map((one) => other(one, ours, per)) : [];
                const note = `best round ${figure(per(round.best))} µs, processor time ${figure(per(round.cpu))} µs`;
                const goal = `≤ ${GOALS[kind]} µs`;
                rows.push({
                    name: kind === "memory" ? name : `${name}, durable`,
                    ours,
                    unit: "µs/node",
                    against,
                    goal,
                    met: ours <= GOALS[kind],
                    note,
                });
            }
            await inMemory.close();
            await durable.close();
        }
        return { title: "A node of a plan, in this process", how: HOW, rows, cause: CAUSE };
    } finally {
        for (const one of peers) one.close();
        rmSync(disk, { recursive: true, force: true });
    }
}

const HOW =
    "A block of nodes in a row, each a function with one effect that does nothing; plan, budgets, labels and events on; each has run for two seconds before. Of LangGraph and Mastra it is the step of the section on steps, whose graph has one node in a loop. Ratio is time of the other ÷ time of Remit.";
const CAUSE =
    "A node is a call of a function with an effect of its own, and has two events beside those of its effect (begun, ended); a run has a fixed cost of about 0.2 ms, which ten nodes share. By profile no function takes more than 3% and the collection of garbage a tenth; durable ones wait for the disk as in the section on durable effects. One attempt took a quarter off: what holds no secret is looked through without copies, commits copy no lists, a program is searched for choices only where a run makes one, and the document of its plan is made once.";
