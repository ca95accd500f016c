/**
 * A server under load, beside a bare one that makes the same two commits: `bench/serve.ts` measures, here stands what was wanted of it.
 *
 * Half of the sessions are served over WebSocket, half over server-sent events and requests; their clients live in a process of their own.
 */
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Measured } from "../serve.ts";
import type { Row, Section } from "./harness.ts";

/** By timestamps of 1,300 trips, on a disk in memory, so that no sync is waited for, while others used the machine. */
const CAUSE = `A trip waits for the thread that answers, not for the disk: of a p99 of 22 ms between a result sent and the next call heard, 14 ms lie between the client's request and the server's reading it and 11 ms between a commit's request and the server's hearing that it is kept, of which the writing thread takes 2 ms. That thread is busy for 0.9 ms a trip, in stretches: at 500 trips a second a quarter of its time is in stretches of more than 8 ms without a pause, and a collection of young objects (140 kB a trip are made, 10 MB survive one) takes 14 ms and comes 1.5 times a second. No place takes more than 7% of it: the two writes to sockets take 12%, sealing and packing what is committed 9%, messages to the writing thread 5%. Attempts: young spaces of 2 MB and of 64 MB, collections without helping threads (no p99 moved by more than its spread), jobs to the writing thread gathered for a turn of the event loop (7% less processor time a trip in 7 pairs of rounds, but 16 runs that write at once make 40% fewer commits a second). Since then: SQLite's checkpoint, which on a disk was part of about one commit in 200 and copied 900 pages there, has a thread of its own, and runs no longer write all their heartbeats at once.`;
/**
 * What 1,000 readers may take, above what the same sessions take without them: 1 MiB for each of the 50 that never read, which is what a listener keeps
 * before it is cut off (SLG2 of the session's log), and a quarter of a MiB for each connection: a page of 64 KiB, and what Node keeps of a socket.
 */
const READERS_MIB = 50 * 1 + 1000 * 0.25;
const SERVE = fileURLToPath(new URL("../serve.ts", import.meta.url));

export async function serve(): Promise<Section> {
    const isQuick = process.env["REMIT_BENCH_QUICK"] !== undefined;
    const [sessions, seconds, rate] = isQuick ? [20, 2, 100] : [200, 20, 500];
    const args = [SERVE, tmpdir(), String(sessions), String(seconds), String(rate), "--json"];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 24 });
    const { sync, rounds } = JSON.parse(stdout.trim().split("\n").at(-1) as string) as {
        readonly sync: number;
        readonly rounds: readonly Measured[];
    };
    const named = new Map(rounds.map((one) => [one.name, one]));
    const of = (name: string): Measured => named.get(name) as Measured;
    const bare = of("bare, paced");
    const bareP99 = bare.transports["sse"]?.p99 ?? 0;
    const p99 = (round: Measured, transport: "sse" | "socket", most: number): Row => {
        const value = round.transports[transport]?.p99 ?? 0;
        const goal = sync <= 1 ? most : 2 * bareP99;
        return {
            name: `p99 of a round trip over ${transport === "sse" ? "SSE" : "WebSocket"}, ${round.name.replace("remit, ", "")}`,
            ours: value,
            unit: "ms",
            against: [{ name: "bare server, SSE", value: bareP99, ratio: value / bareP99 }],
            goal: sync <= 1 ? `${most} ms` : "twice the bare server",
            met: value <= goal,
        };
    };
    const plain = (name: string, ours: number, unit: string, goal?: number): Row => ({
        ...{ name, ours, unit, against: [] },
        ...(goal === undefined ? {} : { goal: `${goal} ${unit}`, met: ours <= goal }),
    });
    const [paced, unpaced, readers] = [of("remit, paced"), of("remit, unpaced"), of("remit, paced, readers")];
    const bareUnpaced = of("bare, unpaced");
    return {
        title: "A server under load",
        how: `${sessions} sessions, ${rate} trips a second together for ${seconds} s, then as fast as they go, then with 1,000 further readers of which 50 never read. fdatasync p99 of the disk: ${sync.toFixed(2)} ms.`,
        rows: [
            p99(paced, "socket", 5),
            p99(paced, "sse", 10),
            p99(readers, "socket", 5),
            p99(readers, "sse", 10),
            {
                name: "trips unpaced",
                ours: unpaced.perSecond,
                unit: "/s",
                against: [{ name: "bare server", value: bareUnpaced.perSecond, ratio: unpaced.perSecond / bareUnpaced.perSecond }],
            },
            {
                ...plain("processor time of the server a trip, paced", paced.cpu, "µs"),
                against: [{ name: "bare server", value: bare.cpu, ratio: paced.cpu / bare.cpu }],
            },
            plain("delay of the event loop, p99, paced", paced.loop, "ms", 20),
            plain("delay of the event loop, p99, with readers", readers.loop, "ms", 20),
            plain("delay of the clients' event loop, p99, paced", paced.clients.loop, "ms"),
            plain("memory with readers", readers.mib, "MiB", Math.round(paced.mib + READERS_MIB)),
        ],
        cause: CAUSE,
    };
}
