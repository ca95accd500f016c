/**
 * What one step and one effect cost, in chains of 10 to 10,000 that grow a list by an item each: Remit with budgets and the ledger in memory,
 * Remit with every effect durable, and what others do.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "@remit/host";
import type { Json } from "@remit/language";
import { figure, median, type Row, type Section } from "./harness.ts";
import * as peers from "./steps-peers.ts";

const SOURCE = `
import tool Work from "host:work"
main agent Chain {
    main func(input: { n: number }) {
        items = []
        i = 0
        loop until i >= input.n max 1000000 {
            items.add(Work.step({ i: i }))
            i += 1
        }
        items.length
    }
}`;

const SIZES = [10, 100, 1_000, 10_000];

async function chain(ledger: "memory" | string): Promise<(n: number) => Promise<number>> {
    const program = await load<Json, number>(
        { source: SOURCE },
        {
            tools: { Work: { step: ({ i }: { i: number }) => i } } as never,
            ledger,
            limits: { steps: 100_000_000, tokens: 1_000_000, calls: 1_000_000 },
            cache: false,
        },
    );
    return async (n) => {
        const begun = performance.now();
        const value = await program({ n });
        if (value !== n) throw new Error(`${value} is not ${n}`);
        return performance.now() - begun;
    };
}

/** Microseconds a step: median of several runs after warm runs. */
async function perStep(run: (n: number) => Promise<number>, n: number): Promise<number> {
    const runs = n >= 10_000 ? 3 : n >= 1_000 ? 5 : 15;
    for (let i = 0; i < Math.max(2, runs / 3); i++) await run(n);
    const times: number[] = [];
    for (let i = 0; i < runs; i++) times.push(await run(n));
    return (median(times) * 1000) / n;
}

const PEERS: readonly { name: string; chain: peers.Chain; upTo: number }[] = [
    { name: "Effect", chain: peers.effect, upTo: 10_000 },
    { name: "XState", chain: peers.xstate, upTo: 1_000 },
    { name: "Mastra", chain: peers.mastra, upTo: 1_000 },
    { name: "AI SDK tool loop", chain: peers.aiSdk, upTo: 1_000 },
    { name: "LangGraph", chain: peers.langgraph(false), upTo: 1_000 },
    { name: "LangGraph + MemorySaver", chain: peers.langgraph(true), upTo: 1_000 },
];

export async function steps(): Promise<Section> {
    const folder = mkdtempSync(join(tmpdir(), "remit-bench-"));
    try {
        const inMemory = await chain("memory");
        const durable = await chain(join(folder, "ledger.db"));
        const rows: Row[] = [];
        for (const n of SIZES) {
            const memory = await perStep(inMemory, n);
            const disk = await perStep(durable, n);
            const against = [{ name: "Remit, every effect durable", value: disk, ratio: disk / memory }];
            for (const peer of PEERS) {
                if (n > peer.upTo) continue;
                const run = await peer.chain(n);
                const value = await perStep(async () => {
                    const begun = performance.now();
                    await run();
                    return performance.now() - begun;
                }, n);
                against.push({ name: peer.name, value, ratio: value / memory });
            }
            rows.push({
                name: `${n} steps`,
                ours: memory,
                unit: "µs/step",
                against,
                goal: "≤ 25 µs in memory, ≤ 500 µs durable",
                met: memory <= 25 && disk <= 500,
                note: `${figure(1e6 / disk)} durable effects/s`,
            });
        }
        return {
            title: "One step with one effect",
            how: "A loop in which every pass performs one effect of a function that does nothing, and adds its result to a list. Remit with budgets and labels on. Ratio is time of the other ÷ time of Remit in memory. Others are measured up to the size at which one run takes seconds.",
            rows,
        };
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}
