/**
 * The processes beside the server in `serve.ts`: one has the clients whose trips are measured, the other the readers that only listen.
 *
 * Boundary: connections; which server it is they do not know. They use Node's `http` and `ws`: `fetch` and Node's own `WebSocket` take about as much
 * processor time a trip as the server, and on two cores the figures were theirs in part.
 */
import { Agent, get, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { WebSocket } from "ws";

/** From the first call of every session to what is measured, milliseconds. */
const WARM_MS = 2000;

export interface Order {
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

/** Times of one transport, milliseconds. */
export type Times = { readonly [transport: string]: readonly number[] };

/** What the clients say last. `loop`: the delay of their event loop, milliseconds, p99; `share`: of a processor, that their process took. */
export interface Trips {
    readonly times: Times;
    readonly loop: number;
    readonly share: number;
}

/** What a process says: the readers all listen; the time that is measured begins, it is over, what was measured. */
export type Said = "listening" | "begun" | "over" | Trips;

/** Readers as bytes: one that is deaf never reads, and is cut off at some time. Resolves when the others have their first byte. */
async function reading({ url, token, sessions, readers }: Order): Promise<void> {
    const { port, hostname } = new URL(url);
    const made = Array.from({ length: readers?.all ?? 0 }, (_, i) => {
        const id = sessions[i % sessions.length];
        const socket = connect(Number(port), hostname, () =>
            socket.write(`GET /v1/sessions/${id}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`),
        );
        socket.on("error", () => undefined);
        const isDeaf = i < (readers?.deaf ?? 0);
        if (isDeaf) socket.pause();
        return isDeaf ? Promise.resolve() : new Promise<unknown>((resolve) => socket.once("data", resolve).resume());
    });
    await Promise.all(made);
}

async function trips(order: Order, say: (said: Said) => void): Promise<void> {
    const { url, token, sessions, pause, seconds, bare } = order;
    const headers = { authorization: `Bearer ${token}` };
    const agent = new Agent({ keepAlive: true });
    const times: { [transport: string]: number[] } = { sse: [], socket: [] };
    const delay = monitorEventLoopDelay({ resolution: 1 });
    let used = process.cpuUsage();
    let [from, until] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    const begin = (): void => {
        from = performance.now();
        until = from + seconds * 1000;
        delay.enable();
        used = process.cpuUsage();
        say("begun");
        setTimeout(() => {
            delay.disable();
            used = process.cpuUsage(used);
            say("over");
        }, seconds * 1000);
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
            const one = i % 2 === 0 || bare ? overSse(id, connected) : overSocket(id, connected);
            one.catch(failed);
            over.push(one);
        });
    await Promise.all(over);
    agent.destroy();
    say({ times, loop: delay.percentile(99) / 1e6, share: (used.user + used.system) / (seconds * 1e6) });

    /** Resolves with the text of a good answer. */
    function ask(method: string, path: string, body: unknown): Promise<string> {
        const text = JSON.stringify(body);
        const about = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
        return new Promise((resolve, reject) => {
            const sent = request(`${url}/v1/${path}`, { method, agent, headers: { ...headers, ...about } }, (answer) => {
                let said = "";
                answer.setEncoding("utf8");
                answer.on("data", (part: string) => (said += part));
                answer.on("end", () =>
                    (answer.statusCode ?? 0) < 300 ? resolve(said) : reject(new Error(`${method} ${path}: ${answer.statusCode} ${said}`)),
                );
            });
            sent.on("error", (error: NodeJS.ErrnoException) => {
                // The server ended the connection because nothing came for long, while a busy client was about to use it again.
                if (sent.reusedSocket && error.code === "ECONNRESET") ask(method, path, body).then(resolve, reject);
                else reject(error);
            });
            sent.end(text);
        });
    }

    async function overSse(id: string, connected: () => void): Promise<void> {
        const stream = await new Promise<IncomingMessage>((resolve, reject) => {
            get(`${url}/v1/sessions/${id}/events?from=1000000000`, { headers }, resolve).on("error", reject);
        });
        stream.setEncoding("utf8");
        let sent = 0;
        let rest = "";
        for await (const part of stream as AsyncIterable<string>) {
            connected();
            const frames = (rest + part).split("\n\n");
            rest = frames.pop() ?? "";
            for (const frame of frames) {
                if (frame.includes("event: caught-up\n") && !bare) {
                    await ask("PUT", `sessions/${id}/tools/echo`, { description: "Gives back", readOnly: true });
                    await ask("POST", `sessions/${id}/turns`, { input: { n: 1_000_000 } });
                }
                if (!frame.includes("event: call\n")) continue;
                const { id: call } = JSON.parse(frame.slice(frame.indexOf("\ndata: ") + 7)) as { readonly id: string };
                if (!(await heard("sse", sent))) return;
                if (pause > 0) await wait();
                sent = performance.now();
                await ask("POST", `sessions/${id}/calls/${call}/result`, { ok: true, value: 1 });
            }
        }
        throw new Error(`the server ended the stream of ${id}`);
    }

    function overSocket(id: string, connected: () => void): Promise<void> {
        let n = 0;
        let sent = 0;
        return new Promise((resolve, reject) => {
            const socket = new WebSocket(`${url.replace("http", "ws")}/v1/socket`, { perMessageDeflate: false });
            const tell = (method: string, path: string, body: unknown): void =>
                socket.send(JSON.stringify({ id: ++n, method, path: `/v1/sessions/${id}/${path}`, body }));
            socket.on("error", reject);
            // One that the server ends has no times: without them the figures would be those of other clients.
            socket.on("close", (code, reason) =>
                performance.now() < until
                    ? reject(new Error(`the server ended the socket of ${id}: ${code} ${String(reason)}`))
                    : resolve(),
            );
            socket.on("open", async () => {
                const { ticket } = JSON.parse(await ask("POST", "tickets", {})) as { readonly ticket: string };
                socket.send(JSON.stringify({ ticket }));
                socket.send(JSON.stringify({ listen: id, from: 1e9 }));
            });
            socket.on("message", async (data) => {
                const { event, data: about } = JSON.parse(String(data)) as { event?: string; data: { id: string } };
                connected();
                if (event === "caught-up") {
                    tell("PUT", "tools/echo", { description: "Gives back", readOnly: true });
                    tell("POST", "turns", { input: { n: 1_000_000 } });
                }
                if (event !== "call") return;
                if (!(await heard("socket", sent))) return socket.close();
                if (pause > 0) await wait();
                sent = performance.now();
                tell("POST", `calls/${about.id}/result`, { ok: true, value: 1 });
            });
        });
    }
}

process.once("message", async (order: Order) => {
    // A channel that is closed drops what is not written yet, and a busy server is slow to take a long message.
    let sent = Promise.resolve();
    const say = (said: Said): void => {
        sent = new Promise((resolve, reject) => process.send?.(said, (error: Error | null) => (error ? reject(error) : resolve())));
    };
    if (process.argv[2] === "readers") {
        await reading(order);
        say("listening");
        // The server's process ends it.
        return;
    }
    await trips(order, say);
    await sent;
    process.exit();
});
