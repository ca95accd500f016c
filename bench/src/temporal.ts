/**
 * What a node costs on Temporal: programs of the machine and plans against workflows that are written by hand, whose activities append as much. All on
 * one server, each in a process of its own, in pairs that take turns. And how long a worker takes until it takes work.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DevServer, findServer, startDevServer } from "@remit/temporal";
import { type Apart, apart } from "./apart.ts";
import { figure, median, QUICK, type Row, type Section } from "./harness.ts";
import type { Facts } from "./temporal-facts.ts";

/** A contender may take so long for one run, and so much memory. */
const BOUNDS = { bytes: 3 * 2 ** 30, ms: 180_000 };

interface Case {
    readonly shape: "chain" | "fan";
    readonly n: number;
    readonly isLocal: boolean;
    readonly pairs: number;
    /** At most so many times what is written by hand takes. */
    readonly goal: number;
}
const CASES: readonly Case[] = QUICK
    ? [
          { shape: "chain", n: 10, isLocal: false, pairs: 1, goal: 1.2 },
          { shape: "fan", n: 10, isLocal: true, pairs: 1, goal: 1.3 },
      ]
    : [
          { shape: "chain", n: 100, isLocal: false, pairs: 5, goal: 1.2 },
          { shape: "fan", n: 100, isLocal: false, pairs: 5, goal: 1.2 },
          { shape: "chain", n: 100, isLocal: true, pairs: 5, goal: 1.3 },
          { shape: "fan", n: 100, isLocal: true, pairs: 5, goal: 1.3 },
          { shape: "chain", n: 1_000, isLocal: false, pairs: 5, goal: 1.2 },
          { shape: "fan", n: 1_000, isLocal: false, pairs: 5, goal: 1.2 },
      ];

/** The server, as the tests and the command line start it. */
export async function benchServer(): Promise<DevServer> {
    const program = findServer(process.env, process.cwd());
    if (program === null) throw new Error("there is no Temporal server: `npm run setup -- temporal` brings it");
    return startDevServer({ program });
}

export async function temporal(): Promise<Section> {
    const folder = mkdtempSync(join(tmpdir(), "remit-bench-"));
    const server = await benchServer();
    const part = (name: string): Apart => {
        const module = new URL(`./temporal-${name}.ts`, import.meta.url).href;
        return apart(name, { module, make: name, args: [server.address, folder] }, BOUNDS);
    };
    const [hand, remit] = [part("hand"), part("remit")];
    try {
        const rows: Row[] = [];
        for (const one of CASES) rows.push(...(await compared(one, hand, remit)));
        hand.close();
        remit.close();
        rows.push(...(await starts(server.address, folder)));
        return { title: "A node on Temporal", how: HOW, rows, cause: CAUSE };
    } finally {
        hand.close();
        remit.close();
        await server.stop();
        rmSync(folder, { recursive: true, force: true });
    }
}

async function compared({ shape, n, isLocal, pairs, goal }: Case, hand: Apart, remit: Apart): Promise<Row[]> {
    const facts: { readonly [name: string]: Facts[] } = { hand: [], machine: [], plan: [] };
    // A first, short one warms up.
    for (let pair = -1; pair < pairs; pair++) {
        const work = { shape, isLocal, n: pair < 0 ? Math.min(n, 20) : n };
        const all = [
            await hand.ask(work),
            await remit.ask({ ...work, how: "machine" }),
            await remit.ask({ ...work, how: "plan" }),
        ] as const;
        for (const [i, name] of (["hand", "machine", "plan"] as const).entries()) if (pair >= 0) facts[name]?.push(all[i]?.value as Facts);
    }
    const of = (name: string, what: keyof Facts): number => median((facts[name] ?? []).map((one) => one[what])) / n;
    const own = JSON.stringify([{ i: n - 1 }]).length + String(n - 1).length;
    return ["machine", "plan"].map((how): Row => {
        const [ours, value] = [of(how, "ms"), of("hand", "ms")];
        const bytes = of(how, "bytes") - own;
        const events = `${of(how, "events").toFixed(2)} events of history a node (by hand ${of("hand", "events").toFixed(2)})`;
        return {
            name: `${shape === "chain" ? "chain of" : "fan-out of"} ${n.toLocaleString("en")}, ${how}${isLocal ? ", local activities" : ""}`,
            ours,
            unit: "ms/node",
            against: [{ name: "by hand", value, ratio: value / ours }],
            goal: `≤ ${goal}× by hand, ≤ 3 kB`,
            met: ours <= goal * value && bytes <= 3_000,
            note: `${figure(ours / value)}× by hand; ${events}, ${figure(bytes / 1000)} kB beyond arguments and result (by hand ${figure((of("hand", "bytes") - own) / 1000)})`,
        };
    });
}

/** A worker's start, with the bundle in the cache, and the size of that. */
async function starts(address: string, folder: string): Promise<Row[]> {
    const times: number[] = [];
    const module = new URL("./temporal-remit.ts", import.meta.url).href;
    // The first makes the bundle.
    for (let i = 0; i < (QUICK ? 2 : 6); i++) {
        const child = apart("worker", { module, make: "starting", args: [address, folder] });
        try {
            times.push((await child.ask(null)).value as number);
        } finally {
            child.close();
        }
    }
    const [first, ...others] = times;
    const ms = median(others);
    const bundles = join(folder, "bundles");
    const name = readdirSync(bundles).find((file) => file.endsWith(".bundle.js")) as string;
    const code = readFileSync(join(bundles, name), "utf8").replace(/\/\/# sourceMappingURL=data:.*/s, "");
    const none = { against: [] };
    const from = `in a new process, from createWorker until it polls; ${figure(first as number)} ms where the bundle has to be made`;
    return [
        { ...none, name: "start of a worker", ours: ms, unit: "ms", goal: "≤ 1 s", met: ms <= 1_000, note: from },
        { ...none, name: "code of the workflow", ours: code.length / 1e6, unit: "MB", goal: "≤ 2 MB", met: code.length <= 2e6 },
    ];
}

const HOW =
    "One effect a node: a tool that does nothing, its start and its outcome each durable in SQLite (`synchronous = FULL`), by Remit in its ledger with events, labels, budgets and the machine's state, by hand two rows in a table. Time is from the client's call to the value, the median of five rounds in which the contenders take turns. Ratio is time by hand ÷ time of Remit; events and bytes are over all executions of a workflow, those of a long one that goes on in a new execution included.";
const CAUSE =
    "A node takes about twice the processor time of the hand-written one in the worker's process (the server's is the same). By profile of a fan-out a fifth of the main thread's is the ledger (events sealed, the run's row bound and written twice a node) and a tenth the codecs, the rest the SDK's way between its parts, on which three times as many bytes travel; a fifth of the workflow thread's is the SDK's stacks of eight promises an effect, a quarter entering its sandbox. In a fan-out with local activities the hand-written activity takes 1 ms in all, so this shows most there. Attempts: joined writers of one run share one line of calls (a quarter off the main thread), opening and flushing by local activities (15 events of history and 60 ms a run less), no conditions and fewer promises in the workflow (from 19 to 13 an effect, then two less; with the version of the code made faster, a tenth off a replay), small payloads compressed on the spot, and none for local activities. Outcomes that end together in one task of the workflow brought nothing. What activities of one run write together is one commit now, what a commit does no longer grows with the effects under way, and a run keeps no stacks of promises. Before and after by interleaved pairs, times by hand on a busy machine: a fan-out of 100 from 1.53 to 0.94 (machine) and 1.56 to 1.30 (plan), with local activities from 1.95 to 0.81 and 1.66 to 0.70, a chain with local activities from 1.66 to 1.07; a fan-out of 1,000 (machine) from 2.75 to 1.69, its processor time from 3.0 to 1.4; remote chains stayed about as they were. A saved state names the shorter list of effects, those under way or the others: a fan-out of 1,000 whose outcomes come one by one saves 4.0 MB of state in place of 28.1, and the worker's process took 4.1 s of processor time in place of 5.2 (two interleaved pairs, busy machine). What grew with the width of a fan-out was the server: events of 1,000 activities were more than the 512 kB that it keeps at hand, so it read the whole batch again for each activity. What begins an effect is compressed now, and the development server keeps 32 MB: processor time of the server a node in a fan-out of 1,000 from 11.2 to 5.3 ms (machine) and 12.1 to 4.6 (plan) by the first alone, by hand 4.6 (three interleaved rounds, busy machine). A server that has not been told otherwise fails a task of the workflow during which more than 100 outcomes arrive, and the worker then replays the whole history: in a fan-out of 1,900 that happened 20 times a run, to the hand-written workflow too. The development server keeps 10,000 outcomes now: the worker took 2.1 ms of processor time a node in place of 5.4 (plan), by hand 1.4 in place of 2.8 (two interleaved rounds each, busy machine).";
