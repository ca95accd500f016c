/**
 * The server under load: `node bench/serve.ts [FOLDER] [SESSIONS] [SECONDS] [RATE] [--only ROUND]`. Sessions run a program that calls a lent tool again
 * and again; their clients live in another process, half of them over WebSocket and half over server-sent events and requests.
 *
 * Prints, paced at RATE trips a second together and then unpaced: trips a second, and the time from a result sent to the next call heard (two durable
 * commits lie between), by transport, at the median and the 99th percentile; the delay of the server's event loop; what the disk's own sync takes; and
 * the same of a bare server on hono that makes the same two commits; then paced again with a thousand further readers of the sessions, fifty of which
 * never read. Processor time is that of the server's process, a trip. No call is answered before every session has called, and nothing is measured
 * before `WARM_MS` went by then, so that opening sessions and loading programs count for nothing. FOLDER says which disk; `--only` makes the round of
 * that name alone. With `--json` the last line is all of it as JSON. The figures are for a quiet machine.
 */
import { fork } from "node:child_process";
import { connect } from "node:net";
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

const MAIN = fileURLToPath(import.meta.url);
/** From the first call of every session to what is measured, milliseconds. */
const WARM_MS = 2000;
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

interface Order {
    readonly url: string;
    readonly token: string;
    readonly sessions: readonly string[];
    /** Between a call heard and its result, milliseconds. */
    readonly pause: number;
    readonly seconds: number;
    readonly bare: boolean;
    /** Further readers of the sessions. */
    readonly readers?: { readonly all: number; readonly deaf: number };
}

/** What a round gave; times in milliseconds, processor time in microseconds a trip. */
export interface Measured {
    readonly name: string;
    readonly perSecond: number;
    readonly transports: { readonly [transport: string]: { readonly p50: number; readonly p99: number } };
    readonly cpu: number;
    /** Of it, that of the thread that answers; the rest is that of the thread that writes, and of the engine's own. */
    readonly main: number;
    readonly loop: number;
    readonly mib: number;
}

/** Times of one transport, milliseconds. */
type Times = { readonly [transport: string]: readonly number[] };

/** What the clients' process says: the time that is measured begins, it is over, what was measured. */
type Said = "begun" | "over" | Times;

// ---- the clients' process

/** Readers as bytes: one that is deaf never reads, and is cut off at some time. Resolves when the others have their first byte. */
async function reading({ url, token, sessions, readers }: Order): Promise<() => void> {
    const { port, hostname } = new URL(url);
    const made = Array.from({ length: readers?.all ?? 0 }, (_, i) => {
        const id = sessions[i % sessions.length];
        const socket = connect(Number(port), hostname, () =>
            socket.write(`GET /v1/sessions/${id}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`),
        );
        socket.on("error", () => undefined);
        if (i < (readers?.deaf ?? 0)) socket.pause();
        else socket.resume();
        return {
            socket,
            begun: i < (readers?.deaf ?? 0) ? Promise.resolve() : new Promise<unknown>((resolve) => socket.once("data", resolve)),
        };
    });
    await Promise.all(made.map(({ begun }) => begun));
    return () => {
        for (const { socket } of made) socket.destroy();
    };
}

async function clients(order: Order, say: (said: Said) => void): Promise<void> {
    const { url, token, sessions, pause, seconds, bare } = order;
    const done = await reading(order);
    const times: { [transport: string]: number[] } = { sse: [], socket: [] };
    let [from, until] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    const begin = (): void => {
        from = performance.now();
        until = from + seconds * 1000;
        say("begun");
        setTimeout(() => say("over"), seconds * 1000);
    };
    let waiting = sessions.length;
    let all: () => void = () => undefined;
    const ready = new Promise<void>((resolve) => (all = resolve));
    /** A session heard a call; its first one waits for those of the others. False: the time is up. */
    const heard = async (transport: string, sent: number): Promise<boolean> => {
        const now = performance.now();
        if (sent === 0 && --waiting === 0) {
            all();
            setTimeout(begin, WARM_MS);
        }
        if (sent === 0) await ready;
        if (sent > 0 && now >= from && now < until) times[transport]?.push(now - sent);
        return now < until;
    };
    const wait = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
    const over: Promise<void>[] = [];
    // One after another: a server takes so many connections at once of those that have not said yet who they are.
    for (const [i, id] of sessions.entries())
        await new Promise<void>((connected, failed) => {
            const one = i % 2 === 0 || bare ? overSse(id, i, connected) : overSocket(id, connected);
            one.catch(failed);
            over.push(one);
        });
    await Promise.all(over);
    done();
    say(times);

    async function overSse(id: string, i: number, connected: () => void): Promise<void> {
        const client = new ServeClient({ url, token });
        const over = new AbortController();
        let sent = 0;
        for await (const { event, data } of client.events(id, { from: 1e9, signal: over.signal })) {
            connected();
            if (event === "caught-up" && !bare) {
                await client.lend(id, "echo", { description: "Gives back", readOnly: true });
                await client.submit(id, { input: { n: 1_000_000 } });
            }
            if (event !== "call") continue;
            if (!(await heard("sse", sent))) break;
            if (pause > 0) await wait();
            sent = performance.now();
            await client.result(id, (data as { id: string }).id, { ok: true, value: i });
        }
        over.abort();
    }

    function overSocket(id: string, connected: () => void): Promise<void> {
        const socket = new WebSocket(`${url.replace("http", "ws")}/v1/socket`);
        let n = 0;
        let sent = 0;
        const ask = (method: string, path: string, body: unknown): void =>
            socket.send(JSON.stringify({ id: ++n, method, path: `/v1/sessions/${id}/${path}`, body }));
        return new Promise((resolve, reject) => {
            socket.onerror = () => reject(new Error(`the socket of ${id} cannot be opened`));
            // One that the server ends has no times: without them the figures would be those of other clients.
            socket.onclose = ({ code, reason }) =>
                performance.now() < until ? reject(new Error(`the server ended the socket of ${id}: ${code} ${reason}`)) : resolve();
            socket.onopen = async () => {
                const { ticket } = await new ServeClient({ url, token }).request<{ ticket: string }>("POST", "/v1/tickets", {});
                socket.send(JSON.stringify({ ticket }));
                socket.send(JSON.stringify({ listen: id, from: 1e9 }));
            };
            socket.onmessage = async ({ data }) => {
                const { event, data: about } = JSON.parse(String(data)) as { event?: string; data: { id: string } };
                connected();
                if (event === "caught-up") {
                    ask("PUT", "tools/echo", { description: "Gives back", readOnly: true });
                    ask("POST", "turns", { input: { n: 1_000_000 } });
                }
                if (event !== "call") return;
                if (!(await heard("socket", sent))) return socket.close();
                if (pause > 0) await wait();
                sent = performance.now();
                ask("POST", `calls/${about.id}/result`, { ok: true, value: 1 });
            };
        });
    }
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
    const child = fork(MAIN, ["--clients"]);
    child.send(order);
    let used = process.cpuUsage();
    let main = process.threadCpuUsage();
    const times = await new Promise<Times>((resolve, reject) => {
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
        mib: process.memoryUsage.rss() / 2 ** 20,
    };
    const each = Object.entries(measured.transports).map(([transport, { p50, p99 }]) => `${transport} ${ms(p50)}, p99 ${ms(p99)}`);
    const [perSecond, cpu, thread, mib] = [measured.perSecond, measured.cpu, measured.main, measured.mib].map(Math.round);
    console.log(
        `${name}: ${perSecond} trips/s; ${each.join("; ")}; ${cpu} µs of processor a trip, ${thread} of them in the main thread; event loop p99 ${ms(measured.loop)}; ${mib} MiB`,
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
        ["remit, paced", pause, { all: 0, deaf: 0 }],
        ["remit, unpaced", 0, { all: 0, deaf: 0 }],
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
        const order = { url: server.url, token: server.ownerToken, sessions, pause: between, seconds, bare: false, readers };
        rounds.push(await round(name, order));
        await server.stop();
    }
    rmSync(folder, { recursive: true, force: true });
    return { sync, rounds };
}

if (process.argv[2] === "--clients")
    process.once("message", async (order) => {
        // A channel that is closed drops what is not written yet, and a busy server is slow to take a long message.
        let sent = Promise.resolve();
        await clients(order as Order, (said) => {
            sent = new Promise((resolve, reject) => process.send?.(said, (error: Error | null) => (error ? reject(error) : resolve())));
        });
        await sent;
        process.disconnect();
    });
else {
    const { values, positionals } = parseArgs({
        allowPositionals: true,
        options: { json: { type: "boolean" }, only: { type: "string" } },
    });
    const [disk = tmpdir(), count = "200", seconds = "10", rate = "500"] = positionals;
    const measured = await main(disk, Number(count), Number(seconds), Number(rate), values.only);
    if (values.json === true) console.log(JSON.stringify(measured));
    process.exit();
}
