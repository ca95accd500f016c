/**
 * The server under load: `node bench/serve.ts [FOLDER] [SESSIONS] [SECONDS] [RATE]`. Sessions run a program that calls a lent tool again and again;
 * their clients live in another process, half of them over WebSocket and half over server-sent events and requests.
 *
 * Prints, paced at RATE trips a second together and then unpaced: trips a second, and the time from a result sent to the next call heard (two durable
 * commits lie between), by transport, at the median and the 99th percentile; the delay of the server's event loop; what the disk's own sync takes; and
 * the same of a bare server on hono that makes the same two commits. FOLDER says which disk. The figures are for a quiet machine.
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
import { openProcess } from "../packages/host/src/process/process.ts";
import { ServeClient, Server } from "../packages/serve/src/index.ts";

const MAIN = fileURLToPath(import.meta.url);
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
}

/** Times of one transport, milliseconds. */
type Times = { readonly [transport: string]: readonly number[] };

// ---- the clients' process

async function clients({ url, token, sessions, pause, seconds, bare }: Order): Promise<Times> {
    const times: { [transport: string]: number[] } = { sse: [], socket: [] };
    const until = performance.now() + seconds * 1000;
    const wait = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
    await Promise.all(sessions.map((id, i) => (i % 2 === 0 || bare ? overSse(id, i) : overSocket(id))));
    return times;

    async function overSse(id: string, i: number): Promise<void> {
        const client = new ServeClient({ url, token });
        const over = new AbortController();
        let sent = 0;
        for await (const { event, data } of client.events(id, { from: 1e9, signal: over.signal })) {
            if (event === "caught-up" && !bare) {
                await client.lend(id, "echo", { description: "Gives back", readOnly: true });
                await client.submit(id, { input: { n: 1_000_000 } });
            }
            if (event !== "call") continue;
            if (sent > 0) times[i % 2 === 0 ? "sse" : "socket"]?.push(performance.now() - sent);
            if (performance.now() > until) break;
            if (pause > 0) await wait();
            sent = performance.now();
            await client.result(id, (data as { id: string }).id, { ok: true, value: i });
        }
        over.abort();
    }

    function overSocket(id: string): Promise<void> {
        const socket = new WebSocket(`${url.replace("http", "ws")}/v1/socket`);
        let n = 0;
        let sent = 0;
        const ask = (method: string, path: string, body: unknown): void =>
            socket.send(JSON.stringify({ id: ++n, method, path: `/v1/sessions/${id}/${path}`, body }));
        return new Promise((resolve, reject) => {
            socket.onerror = reject;
            socket.onclose = () => resolve();
            socket.onopen = async () => {
                const { ticket } = await new ServeClient({ url, token }).request<{ ticket: string }>("POST", "/v1/tickets", {});
                socket.send(JSON.stringify({ ticket }));
                socket.send(JSON.stringify({ listen: id, from: 1e9 }));
            };
            socket.onmessage = async ({ data }) => {
                const { event, data: about } = JSON.parse(String(data)) as { event?: string; data: { id: string } };
                if (event === "caught-up") {
                    ask("PUT", "tools/echo", { description: "Gives back", readOnly: true });
                    ask("POST", "turns", { input: { n: 1_000_000 } });
                }
                if (event !== "call") return;
                if (sent > 0) times["socket"]?.push(performance.now() - sent);
                if (performance.now() > until) return socket.close();
                if (pause > 0) await wait();
                sent = performance.now();
                ask("POST", `calls/${about.id}/result`, { ok: true, value: 1 });
            };
        });
    }
}

// ---- what is compared

/** A server with the same streams and the same two commits a trip, and nothing else. */
async function bareServer(folder: string): Promise<{ readonly url: string; close(): void }> {
    const db = new DatabaseSync(join(folder, "bare.db"));
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

function at(times: readonly number[], share: number): string {
    const sorted = [...times].sort((a, b) => a - b);
    return `${(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2)} ms`;
}

async function round(name: string, order: Order): Promise<void> {
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const child = fork(MAIN, ["--clients"]);
    child.send(order);
    const times = await new Promise<Times>((resolve, reject) => {
        child.on("message", (said) => resolve(said as Times));
        child.on("exit", (code) => reject(new Error(`the clients ended with ${code}`)));
    });
    child.removeAllListeners("exit");
    delay.disable();
    const all = Object.values(times).flat();
    const each = Object.entries(times).flatMap(([transport, of]) =>
        of.length === 0 ? [] : [`${transport} ${at(of, 0.5)}, p99 ${at(of, 0.99)}`],
    );
    const loop = `event loop p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms`;
    const memory = `${Math.round(process.memoryUsage.rss() / 2 ** 20)} MiB`;
    console.log(`${name}: ${Math.round(all.length / order.seconds)} trips/s; ${each.join("; ")}; ${loop}; ${memory}`);
}

async function main(disk: string, count: number, seconds: number, rate: number): Promise<void> {
    const folder = mkdtempSync(join(disk, "remit-serve-"));
    writeFileSync(join(folder, "main.remit"), SOURCE);
    const disks = syncs(folder);
    console.log(`fdatasync of 2.5 kB: ${at(disks, 0.5)}, p99 ${at(disks, 0.99)}`);
    const pause = (count / rate) * 1000;
    const ids = Array.from({ length: count }, (_, i) => `s${i}`);
    const bare = await bareServer(folder);
    await round("bare, paced", { url: bare.url, token: "t", sessions: ids, pause, seconds, bare: true });
    await round("bare, unpaced", { url: bare.url, token: "t", sessions: ids, pause: 0, seconds, bare: true });
    bare.close();
    for (const [name, ms] of [
        ["paced", pause],
        ["unpaced", 0],
    ] as const) {
        const server = await Server.start({
            program: join(folder, "main.remit"),
            ledger: join(folder, `${name}.db`),
            process: openProcess({ env: { HOME: folder }, cwd: folder }),
        });
        const client = new ServeClient({ url: server.url, token: server.ownerToken });
        const sessions = [];
        for (let i = 0; i < count; i++) sessions.push((await client.open()).id);
        await round(`remit, ${name}`, { url: server.url, token: server.ownerToken, sessions, pause: ms, seconds, bare: false });
        await server.stop();
    }
    rmSync(folder, { recursive: true, force: true });
}

if (process.argv[2] === "--clients")
    process.on("message", async (order) => {
        process.send?.(await clients(order as Order), () => process.exit());
    });
else {
    const [disk = tmpdir(), count = "200", seconds = "10", rate = "500"] = process.argv.slice(2);
    await main(disk, Number(count), Number(seconds), Number(rate));
    process.exit();
}
