/** Remit's contender: a worker and a client in one process, the same work as a program of the machine or as a plan. */
import { join } from "node:path";
import { openLedger, openWorld, type ProgramWorld } from "@remit/host";
import { connect, createWorker, onlyErrors, placeOf, remitClient } from "@remit/temporal";
import { tools } from "./chain.ts";
import { type Facts, factsOf } from "./temporal-facts.ts";

export interface Work {
    readonly how: "machine" | "plan";
    readonly shape: "chain" | "fan";
    readonly n: number;
    readonly isLocal: boolean;
}

/** A worker that is started, alone in its process; one that made the bundle came before it. */
export async function starting(address: string, folder: string): Promise<() => Promise<number>> {
    onlyErrors();
    const { store } = await openLedger(join(folder, "start.db"));
    return async () => {
        const begun = performance.now();
        await createWorker({ connect: { address }, ledger: store, queue: `start-${process.pid}`, cache: join(folder, "bundles") });
        return performance.now() - begun;
    };
}

/** As wide as the one that is written by hand: nodes and iterations of the run, and effects of its shell. */
const WIDTH = 2_000;

export async function remit(address: string, folder: string): Promise<(work: Work) => Promise<Facts>> {
    onlyErrors();
    const { store } = await openLedger(join(folder, "remit.db"));
    const options = { tools: tools((i) => i), limits: { steps: 1_000_000_000, calls: 10_000_000 }, cache: false };
    await createWorker({ connect: { address }, ledger: store, host: { tools: options.tools } });
    const connection = await connect(placeOf({ address }));
    const clients = [false, true].map((isLocal) =>
        remitClient({ connection, store, settings: { concurrency: WIDTH, ...(isLocal ? { local: ["tool"] } : {}) } }),
    );
    const worlds = new Map<string, Promise<ProgramWorld>>();
    return async (work) => {
        const source = sourceOf(work);
        const world = worlds.get(source) ?? openWorld({ source }, options);
        worlds.set(source, world);
        const program = await world;
        const client = clients[work.isLocal ? 1 : 0] as (typeof clients)[number];
        const input = work.how === "machine" ? { n: work.n, items: counted(work) } : null;
        const begun = performance.now();
        const run = await client.submit(program, program.kept(input, { concurrency: WIDTH }));
        const value = await client.result(run);
        const ms = performance.now() - begun;
        const right = work.how === "plan" && work.shape === "chain" ? 0 : work.n;
        if ((Array.isArray(value) ? value.length : value) !== right) throw new Error(`${JSON.stringify(value)} is not ${right}`);
        return { ms, ...(await factsOf(client.client, run)) };
    };
}

/** What the program that fans out goes over. */
function counted({ shape, n }: Work): number[] {
    return shape === "fan" ? Array.from({ length: n }, (_, i) => i) : [];
}

function sourceOf({ how, shape, n }: Work): string {
    const work = 'import tool Work from "host:work"\n';
    if (how === "plan") {
        const stages = Array.from({ length: n }, (_, i) => (shape === "fan" || i === 0 ? `step ${i}` : "step"));
        return `${work}func step(i) { Work.step({ i: i }) }\ntemporal static ( ${stages.join(shape === "fan" ? " <*> " : " >=> ")} )`;
    }
    if (shape === "fan") return `${work}main func(input) { parallel for i in input.items max 10000 { Work.step({ i: i }) } }`;
    return `${work}main func(input) {
    i = 0
    loop until i >= input.n max 10000 {
        Work.step({ i: i })
        i += 1
    }
    i
}`;
}
