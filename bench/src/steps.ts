/**
 * What one step and one effect cost, in chains of 10 to 10,000 that grow a list by an item each: Remit with budgets, labels and the ledger in
 * memory, and what others do. The durable side is `durable.ts`.
 */
import { type Apart, apart } from "./apart.ts";
import { chain } from "./chain.ts";
import { figure, other, QUICK, type Row, rounds, type Section } from "./harness.ts";

const SIZES = QUICK ? [10, 100] : [10, 100, 1_000, 10_000];
const GOAL = 10;
/** A contender whose one run would take longer than this, by its last sizes, is left out, milliseconds. */
const TOO_LONG = 20_000;

/** Name → the function of `steps-peers.ts` that makes it. */
const PEERS: { readonly [name: string]: string } = {
    Effect: "effect",
    XState: "xstate",
    Mastra: "mastra",
    "AI SDK tool loop": "aiSdk",
    LangGraph: "langgraph",
    "LangGraph + MemorySaver": "checkpointed",
};

/** Remit's own process: the chain of so many steps. */
export async function remit(): Promise<(n: number) => Promise<void>> {
    const { run } = await chain({ ledger: "memory" });
    return run;
}

export async function steps(): Promise<Section> {
    const own = apart("Remit", { module: import.meta.url, make: "remit" });
    const module = new URL("./steps-peers.ts", import.meta.url).href;
    const peers: readonly Apart[] = Object.entries(PEERS).map(([name, made]) => apart(name, { module, make: "chains", args: [made] }));
    const rows: Row[] = [];
    /** Milliseconds of one run at each size before. */
    const past = new Map<string, number[]>();
    for (const n of SIZES) {
        const within = peers.filter(({ name }) => expected(past.get(name) ?? []) <= TOO_LONG);
        const [first, ...results] = await rounds(
            [own, ...within].map((one) => one.at(n)),
            { budget: 30_000, most: n <= 100 ? 21 : 9, slice: 60 },
        );
        if (first === undefined || first.lost !== null) throw new Error(`Remit was ended: ${first?.lost}`);
        const perStep = (ms: number): number => (ms * 1000) / n;
        const ours = perStep(first.median);
        for (const { name, median, lost } of results)
            past.set(name, [...(past.get(name) ?? []), lost === null ? median : Number.POSITIVE_INFINITY]);
        const left = peers.filter((one) => !within.includes(one)).map(({ name }) => name);
        rows.push({
            name: `${n.toLocaleString("en")} steps`,
            ours,
            unit: "µs/step",
            against: results.map((one) => other(one, ours, perStep)),
            goal: `≤ ${GOAL} µs`,
            met: ours <= GOAL,
            note: `best round ${figure(perStep(first.best))} µs, processor time ${figure(perStep(first.cpu))} µs${left.length === 0 ? "" : `; left out, since one run would take more than ${TOO_LONG / 1000} s or a shorter one was ended: ${left.join(", ")}`}`,
        });
    }
    for (const one of [own, ...peers]) one.close();
    return {
        title: "One step with one effect, ledger in memory",
        how: "A loop in which every pass performs one effect, a function that does nothing, and adds its result to a list. Remit with budgets, labels, events and the record of outcomes on. Ratio is time of the other ÷ time of Remit.",
        rows,
        cause: "A run has a fixed cost of 0.1 to 0.3 ms (an identifier, a ledger of its own, checking the input, clock and signals), which ten steps share; from 100 steps on a step costs the same at any length. Two attempts: sets of one origin found without text and events kept a commit at a time took processor time from 26 to 20 µs a step; identifiers from pooled randomness took off part of the fixed cost. By profile a tenth is the look for secrets in what leaves the machine, an eighth the collection of garbage, and nothing else takes more than 4%; fewer objects made before an effect took 3% (two pairs of processes in turn, busy machine). By samples of the heap a step makes 30 kB of objects, of which the machine's own part is a sixth; the rest are what a performer is given, promises, and what the conductor keeps of an effect.",
    };
}

/** Milliseconds of the next run, ten times as long, by how the runs grew so far. */
function expected(past: readonly number[]): number {
    const last = past.at(-1);
    if (last === undefined) return 0;
    const before = past.at(-2);
    return last * Math.max(10, before === undefined ? 10 : last / before);
}
