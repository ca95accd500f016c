/**
 * What one step and one effect cost, in chains of 10 to 10,000 that grow a list by an item each: Remit with budgets, labels and the ledger in
 * memory, and what others do. The durable side is `durable.ts`.
 */
import { chain } from "./chain.ts";
import { type Contender, figure, type Row, rounds, type Section } from "./harness.ts";
import * as peers from "./steps-peers.ts";

const SIZES = [10, 100, 1_000, 10_000];
const GOAL = 25;
/** A contender whose one run would take longer than this, by its last sizes, is left out, milliseconds. */
const TOO_LONG = 20_000;

const PEERS: readonly { readonly name: string; readonly chain: peers.Chain }[] = [
    { name: "Effect", chain: peers.effect },
    { name: "XState", chain: peers.xstate },
    { name: "Mastra", chain: peers.mastra },
    { name: "AI SDK tool loop", chain: peers.aiSdk },
    { name: "LangGraph", chain: peers.langgraph(false) },
    { name: "LangGraph + MemorySaver", chain: peers.langgraph(true) },
];

export async function steps(): Promise<Section> {
    const remit = await chain({ ledger: "memory" });
    const rows: Row[] = [];
    /** Milliseconds of one run at each size before. */
    const past = new Map<string, number[]>();
    for (const n of SIZES) {
        const contenders: Contender[] = [{ name: "Remit", run: () => remit.run(n) }];
        for (const peer of PEERS)
            if (expected(past.get(peer.name) ?? []) <= TOO_LONG) contenders.push({ name: peer.name, run: await peer.chain(n) });
        const results = await rounds(contenders, { budget: 30_000, most: n <= 100 ? 21 : 9, slice: 60 });
        for (const { name, median } of results) past.set(name, [...(past.get(name) ?? []), median]);
        const [ours, ...others] = results.map(({ name, median, best, cpu }) => ({
            name,
            value: (median * 1000) / n,
            best: (best * 1000) / n,
            cpu: (cpu * 1000) / n,
        }));
        if (ours === undefined) continue;
        const left = PEERS.filter(({ name }) => !others.some((one) => one.name === name)).map(({ name }) => name);
        rows.push({
            name: `${n.toLocaleString("en")} steps`,
            ours: ours.value,
            unit: "µs/step",
            against: others.map(({ name, value }) => ({ name, value, ratio: value / ours.value })),
            goal: `≤ ${GOAL} µs`,
            met: ours.value <= GOAL,
            note: `best round ${figure(ours.best)} µs, processor time ${figure(ours.cpu)} µs${left.length === 0 ? "" : `; left out, since one run would take more than ${TOO_LONG / 1000} s: ${left.join(", ")}`}`,
        });
    }
    await remit.close();
    return {
        title: "One step with one effect, ledger in memory",
        how: "A loop in which every pass performs one effect, a function that does nothing, and adds its result to a list. Remit with budgets, labels, events and the record of outcomes on. Ratio is time of the other ÷ time of Remit.",
        rows,
        cause: "A run has a fixed cost of 0.1 to 0.3 ms (an identifier, a ledger of its own, checking the input, clock and signals), which ten steps share; from 100 steps on a step costs the same at any length. Two attempts: sets of one origin found without text and events kept a commit at a time took processor time from 26 to 20 µs a step; identifiers from pooled randomness took off part of the fixed cost.",
    };
}

/** Milliseconds of the next run, ten times as long, by how the runs grew so far. */
function expected(past: readonly number[]): number {
    const last = past.at(-1);
    if (last === undefined) return 0;
    const before = past.at(-2);
    return last * Math.max(10, before === undefined ? 10 : last / before);
}
