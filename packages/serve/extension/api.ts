/**
 * The server, as the console's views speak to it, over the panel's connection: this file stands in for `../console/api.ts` in the panel's bundle.
 *
 * Boundary: the same names as there. The connection comes back by itself; what listens goes on after the last event that it was given.
 */
import type { Heard } from "../console/api.ts";
import { refusalOf, serverAway, ServerRefusal } from "../src/wire/refusal.ts";
import { connect, type Connection, type Message, paired } from "./server.ts";

export type { Heard, Link, Me } from "../console/api.ts";
export { ServerRefusal };

export type State = "unpaired" | "looking" | "live" | "unknown";

interface Listening {
    readonly heard: Heard;
    last: number;
}

const AGAIN_MS = 1500;
const PING_MS = 20_000;

let connection: Connection | null = null;
let state: State = "looking";
let running = false;
const listening = new Map<string, Set<Listening>>();
const watching = new Set<(state: State, url: string) => void>();
/** Told of each event of a session, and of each new connection. */
const hearing = new Set<{ message(message: Message): void; connected(): void }>();
let place = "";

function become(now: State, url = place): void {
    state = now;
    place = url;
    for (const told of watching) told(now, url);
    for (const set of listening.values()) for (const { heard } of set) heard.link(now === "live" ? "live" : "lost");
}

export function watch(told: (state: State, url: string) => void): () => void {
    watching.add(told);
    told(state, place);
    return () => void watching.delete(told);
}

export function hear(one: { message(message: Message): void; connected(): void }): () => void {
    hearing.add(one);
    return () => void hearing.delete(one);
}

/** Looks for the server until it is there, and again when it went. */
export async function begin(): Promise<void> {
    if (running) return;
    running = true;
    try {
        for (;;) {
            const to = await paired();
            if (to === null) return become("unpaired");
            become("looking");
            const found = await connect(to);
            if (found === "unknown") return become("unknown");
            if (found !== null) await live(found.connection, found.url);
            await new Promise((go) => setTimeout(go, AGAIN_MS));
        }
    } finally {
        running = false;
    }
}

/** Until it ends. */
async function live(one: Connection, url: string): Promise<void> {
    connection = one;
    const over = new Promise<void>((resolve) => (one.onClose = resolve));
    one.onMessage = (message) => {
        for (const entry of listening.get(message.session) ?? []) {
            if (message.seq !== undefined) {
                if (message.seq <= entry.last) continue;
                entry.last = message.seq;
            }
            entry.heard.event(message.event, message.data);
        }
        for (const other of hearing) other.message(message);
    };
    for (const [session, set] of listening) one.listen(session, Math.min(...[...set].map(({ last }) => last)));
    become("live", url);
    for (const other of hearing) other.connected();
    const ping = setInterval(() => void one.ask("GET", "/v1/me"), PING_MS);
    await over;
    clearInterval(ping);
    connection = null;
}

export function leave(): void {
    connection?.close();
}

/** Rejects with `ServerRefusal`. */
export async function request<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { status, body: said } = (await connection?.ask(method, path, body)) ?? { status: 0, body: null };
    if (status >= 200 && status < 300) return said as T;
    throw status === 0 ? serverAway() : refusalOf(status, said);
}

/** An address of parts that others wrote. */
export function at(...parts: readonly string[]): string {
    return `/v1/${parts.map(encodeURIComponent).join("/")}`;
}

/** Pictures of turns are no messages: the panel names them. */
export function pictureAt(): string | null {
    return null;
}

export function listen(path: string, _names: readonly string[], heard: Heard): () => void {
    const session = decodeURIComponent(/^\/v1\/sessions\/([^/]+)\/events/.exec(path)?.[1] ?? "");
    const from = Number(/[?&]from=(\d+)/.exec(path)?.[1] ?? 0);
    const entry: Listening = { heard, last: from };
    const set = listening.get(session) ?? new Set();
    listening.set(session, set.add(entry));
    connection?.listen(session, from);
    heard.link(state === "live" ? "live" : "lost");
    return () => void set.delete(entry);
}
