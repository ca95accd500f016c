/**
 * The server under load: `node bench/serve.ts [FOLDER] [SESSIONS] [SECONDS] [RATE] [--only ROUND]`. Sessions run a program that calls a lent tool again
 * and again; their clients live in another process (`serve-clients.ts`), half of them over WebSocket and half over server-sent events and requests, and further
 * readers in a third.
 *
 * Prints, paced at RATE trips a second together and then unpaced: trips a second, and the time from a result sent to the next call heard (two durable
 * commits lie between), by transport, at the median and the 99th percentile; the delay of the server's event loop; what the disk's own sync takes; and
 * the same of a bare server on hono that makes the same two commits; then paced again with a thousand further readers of the sessions, fifty of which
 * never read. Processor time is that of the server's process, a trip. No call is answered before every session has called, and nothing is measured
 * before `WARM_MS` went by then, so that opening sessions and loading programs count for nothing. FOLDER says which disk; `--only` makes the round of
 * that name alone. With `--json` the last line is all of it as JSON. The figures are for a quiet machine.
 */
import { fork } from "node:child_process";
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import type { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openProcess } from "../packages/host/src/process/process.ts";
import { ServeClient, Server } from "../packages/serve/src/index.ts";
import type { Order, Said, Trips } from "./serve-clients.ts";

const CLIENTS = fileURLToPath(new URL("./serve-clients.ts", import.meta.url));
const SOURCE = `import tool Lent from "host:lent"
main func(input: { n: number }) {
    i = 0
    loop until i >= input.n max 1000000 {
        Lent.owner__echo({ i: i })
        i += 1
    }
    i
}
`;

/** What a round gave; times in milliseconds, processor time in microseconds a trip. */
export interface Measured {
    readonly name: string;
    readonly perSecond: number;
    readonly transports: { readonly [transport: string]: { readonly p50: number; readonly p99: number } };
    readonly cpu: number;
    /** Of it, that of the thread that answers; the rest is that of the thread that writes, and of the engine's own. */
    readonly main: number;
    readonly loop: number;
    /** Of the clients' process: the delay of its event loop, p99, and what it took of a processor. Where it is long, the times are its own in part. */
    readonly clients: { readonly loop: number; readonly share: number };
    readonly mib: number;
}

// ---- what is compared

/** A server with the same streams and the same two commits a trip, and nothing else. */
async function bareServer(file: string): Promise<{ readonly url: string; close(): void }> {
    const db = new DatabaseSync(file);
    db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE events (session TEXT, n INTEGER, data TEXT)");
    const add = db.prepare("INSERT INTO events VALUES (?, ?, ?)");
    const { Hono } = await import("hono");
    const { createAdaptorServer } = await import("@hono/node-server");
    const app = new Hono();
    const streams = new Map<string, (text: string) => void>();
    let n = 0;
    const call = (session: string): void => {
        add.run(session, ++n, "x".repeat(1200));
        streams.get(session)?.(`event: call\ndata: {"id":"${n}"}\n\n`);
    };
    app.get("/v1/sessions/:id/events", (c) => {
        const id = c.req.param("id");
        const body = new ReadableStream({
            start: (controller) => {
                streams.set(id, (text) => controller.enqueue(new TextEncoder().encode(text)));
                call(id);
            },
            cancel: () => void streams.delete(id),
        });
        return new Response(body, { headers: { "content-type": "text/event-stream" } });
    });
    app.post("/v1/sessions/:id/calls/:call/result", async (c) => {
        await c.req.json();
        add.run(c.req.param("id"), ++n, "x".repeat(1200));
        call(c.req.param("id"));
        return c.json({ status: "accepted" });
    });
    const http = createAdaptorServer({ fetch: app.fetch }) as ReturnType<typeof createServer>;
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    return {
        url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
        close: () => {
            http.closeAllConnections();
            http.close();
            db.close();
        },
    };
}

function syncs(folder: string): number[] {
    const fd = openSync(join(folder, "sync"), "w");
    const times: number[] = [];
    for (let i = 0; i < 200; i++) {
        writeSync(fd, "x".repeat(2500));
        const before = performance.now();
        fdatasyncSync(fd);
        times.push(performance.now() - before);
    }
    closeSync(fd);
    return times;
}

function at(times: readonly number[], share: number): number {
    const sorted = [...times].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const ms = (value: number): string => `${value.toFixed(2)} ms`;

async function round(name: string, order: Order): Promise<Measured> {
    const delay = monitorEventLoopDelay({ resolution: 5 });
    const readers = order.readers === undefined ? null : fork(CLIENTS, ["readers"]);
    readers?.send(order);
    if (readers !== null) await new Promise((resolve) => readers.once("message", resolve));
    const child = fork(CLIENTS, ["trips"]);
    child.send(order);
    let used = process.cpuUsage();
    let main = process.threadCpuUsage();
    const { times, ...clients } = await new Promise<Trips>((resolve, reject) => {
        child.on("message", (said: Said) => {
            if (said === "begun") {
                delay.enable();
                used = process.cpuUsage();
                main = process.threadCpuUsage();
            } else if (said === "over") {
                delay.disable();
                used = process.cpuUsage(used);
                main = process.threadCpuUsage(main);
            } else resolve(said);
        });
        // `exit` may come before a message that was sent.
        child.on("close", (code) => reject(new Error(`the clients ended with ${code}`)));
    });
    readers?.kill();
    const trips = Object.values(times).flat().length;
    for (const transport of order.bare ? ["sse"] : ["sse", "socket"])
        if (times[transport]?.length === 0) throw new Error(`${name}: no trip over ${transport} was made in ${order.seconds} s`);
    const measured: Measured = {
        name,
        perSecond: trips / order.seconds,
        transports: Object.fromEntries(
            Object.entries(times).flatMap(([transport, of]) =>
                of.length === 0 ? [] : [[transport, { p50: at(of, 0.5), p99: at(of, 0.99) }]],
            ),
        ),
        cpu: (used.user + used.system) / trips,
        main: (main.user + main.system) / trips,
        loop: delay.percentile(99) / 1e6,
        clients,
        mib: process.memoryUsage.rss() / 2 ** 20,
    };
    const each = Object.entries(measured.transports).map(([transport, { p50, p99 }]) => `${transport} ${ms(p50)}, p99 ${ms(p99)}`);
    const [perSecond, cpu, thread, mib] = [measured.perSecond, measured.cpu, measured.main, measured.mib].map(Math.round);
    console.log(
        `${name}: ${perSecond} trips/s; ${each.join("; ")}; ${cpu} µs of processor a trip, ${thread} of them in the main thread; event loop p99 ${ms(measured.loop)}; ${mib} MiB; the clients: event loop p99 ${ms(clients.loop)}, ${Math.round(clients.share * 100)}% of a processor`,
    );
    return measured;
}

async function main(
    disk: string,
    count: number,
    seconds: number,
    rate: number,
    only: string | undefined,
): Promise<{ readonly sync: number; readonly rounds: readonly Measured[] }> {
    const folder = mkdtempSync(join(disk, "remit-serve-"));
    writeFileSync(join(folder, "main.remit"), SOURCE);
    const disks = syncs(folder);
    const sync = at(disks, 0.99);
    console.log(`fdatasync of 2.5 kB: ${ms(at(disks, 0.5))}, p99 ${ms(sync)}`);
    const rounds: Measured[] = [];
    const pause = (count / rate) * 1000;
    const ids = Array.from({ length: count }, (_, i) => `s${i}`);
    for (const [name, between] of [
        ["bare, paced", pause],
        ["bare, unpaced", 0],
    ] as const) {
        if (only !== name && only !== undefined) continue;
        const bare = await bareServer(join(folder, `${name}.db`));
        rounds.push(await round(name, { url: bare.url, token: "t", sessions: ids, pause: between, seconds, bare: true }));
        bare.close();
    }
    for (const [name, between, readers] of [
        ["remit, paced", pause, undefined],
        ["remit, unpaced", 0, undefined],
        ["remit, paced, readers", pause, { all: 1000, deaf: 50 }],
    ] as const) {
        if (only !== name && only !== undefined) continue;
        const server = await Server.start({
            program: join(folder, "main.remit"),
            ledger: join(folder, `${name}.db`),
            process: openProcess({ env: { HOME: folder }, cwd: folder }),
        });
        const client = new ServeClient({ url: server.url, token: server.ownerToken });
        const sessions = [];
        for (let i = 0; i < count; i++) sessions.push((await client.open()).id);
        const order = { url: server.url, token: server.ownerToken, sessions, pause: between, seconds, bare: false };
        rounds.push(await round(name, readers === undefined ? order : { ...order, readers }));
        await server.stop();
    }
    rmSync(folder, { recursive: true, force: true });
    return { sync, rounds };
}

const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: "boolean" }, only: { type: "string" } },
});
const [disk = tmpdir(), count = "200", seconds = "10", rate = "500"] = positionals;
const measured = await main(disk, Number(count), Number(seconds), Number(rate), values.only);
if (values.json === true) console.log(JSON.stringify(measured));
process.exit();
