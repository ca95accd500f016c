/**
 * The server that the panel was paired with: found again wherever it listens now, and spoken to over one WebSocket.
 *
 * Boundary: pairing, proof, messages. What is asked of it is the views', what is lent `lending.ts`'s.
 *
 * EXS1: the token goes only over a connection whose other end proved that it has the key of the server that was paired, for the very port that it
 *     listens on; to a server elsewhere only over TLS.
 * EXS2: the token stands in the extension's storage, never in an address.
 */
import { KNOWN_PORTS } from "../src/wire/bounds.ts";
import { browser } from "./browser.ts";

export interface Paired {
    readonly url: string;
    readonly client: string;
    readonly token: string;
    /** Its public key, Ed25519 as SPKI, base64. */
    readonly identity: string;
}

export interface Answer {
    readonly status: number;
    readonly body: unknown;
}

export interface Message {
    readonly session: string;
    readonly event: string;
    readonly seq?: number;
    readonly data: unknown;
}

const KEY = "paired";
const PROOF_MS = 2000;
const SCOPES = "observe,submit,lend,approve";

export async function paired(): Promise<Paired | null> {
    return ((await browser.storage.local.get(KEY))[KEY] as Paired | undefined) ?? null;
}

export const unpair = (): Promise<void> => browser.storage.local.remove(KEY);

/** Rejects with an `Error` whose message is for the person. */
export async function pair(address: string, code: string): Promise<void> {
    if (!URL.canParse(address)) throw new Error(`'${address}' is no address; remit clients pair prints it`);
    const { origin, protocol } = new URL(address);
    if (protocol !== "https:" && !isLoopback(address)) throw new Error("a server on another machine is reached over https");
    let response: Response;
    try {
        response = await fetch(`${origin}/v1/pair`, {
            method: "POST",
            credentials: "omit",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ code, name: "Browser panel" }),
        });
    } catch (error) {
        throw new Error(`${origin} cannot be reached: ${(error as Error).message}`);
    }
    const said = (await response.json().catch(() => null)) as Record<string, unknown> | null;
    const { id, token, identity, error } = said ?? {};
    if (!response.ok || typeof id !== "string" || typeof token !== "string" || typeof identity !== "string") {
        const { message } = (error ?? {}) as { readonly message?: unknown };
        throw new Error(typeof message === "string" ? message : `${origin} is no server that pairs; its code has the scopes ${SCOPES}`);
    }
    await browser.storage.local.set({ [KEY]: { url: origin, client: id, token, identity } satisfies Paired });
}

function isLoopback(address: string): boolean {
    const { protocol, hostname } = new URL(address);
    return protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
}

/** Where the server may be: where it was, and on this machine where servers listen. */
function places({ url }: Paired): string[] {
    return isLoopback(url) ? [...new Set([url, ...KNOWN_PORTS.map((port) => `http://127.0.0.1:${port}`)])] : [url];
}

/** One connection, welcomed. */
export class Connection {
    readonly #socket: WebSocket;
    readonly #waiting = new Map<number, (answer: Answer) => void>();
    #last = 0;
    onMessage: (message: Message) => void = () => undefined;
    onClose: () => void = () => undefined;

    constructor(socket: WebSocket) {
        this.#socket = socket;
        socket.onmessage = ({ data }: MessageEvent<string>) => this.#take(JSON.parse(data) as Message & Answer & { readonly id?: number });
        socket.onclose = () => {
            for (const answer of this.#waiting.values()) answer({ status: 0, body: null });
            this.#waiting.clear();
            this.onClose();
        };
    }

    ask(method: string, path: string, body?: unknown): Promise<Answer> {
        if (this.#socket.readyState !== WebSocket.OPEN) return Promise.resolve({ status: 0, body: null });
        return new Promise((resolve) => {
            const id = ++this.#last;
            this.#waiting.set(id, resolve);
            this.#socket.send(JSON.stringify({ id, method, path, ...(body === undefined ? {} : { body }) }));
        });
    }

    listen(session: string, from: number): void {
        if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ listen: session, from }));
    }

    close(): void {
        this.#socket.close();
    }

    #take(message: Message & Answer & { readonly id?: number }): void {
        if (message.id === undefined) this.onMessage(message);
        else {
            this.#waiting.get(message.id)?.(message);
            this.#waiting.delete(message.id);
        }
    }
}

/** Null where it is nowhere; `unknown` where it is there and does not know this panel any more. */
export async function connect(to: Paired): Promise<{ readonly connection: Connection; readonly url: string } | "unknown" | null> {
    for (const url of places(to)) {
        const socket = await proved(url, to);
        if (socket === null) continue;
        const welcomed = await reply(socket, { token: to.token });
        if (welcomed === null) return "unknown";
        if (url !== to.url) await browser.storage.local.set({ [KEY]: { ...to, url } });
        return { connection: new Connection(socket), url };
    }
    return null;
}

/** EXS1: an open connection to the server that was paired; null where something else, or nothing, listens. */
async function proved(url: string, { identity }: Paired): Promise<WebSocket | null> {
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/v1/socket`);
    if (!(await opened(socket))) return null;
    if (!isLoopback(url)) return socket;
    const challenge = toBase64(crypto.getRandomValues(new Uint8Array(32)));
    const { proof } = ((await reply(socket, { challenge })) ?? {}) as { readonly proof?: unknown };
    if (typeof proof === "string" && (await isProof(proof, { identity, challenge, port: new URL(url).port || "80" }))) return socket;
    socket.close();
    return null;
}

async function isProof(
    proof: string,
    of: { readonly identity: string; readonly challenge: string; readonly port: string },
): Promise<boolean> {
    try {
        const key = await crypto.subtle.importKey("spki", fromBase64(of.identity), "Ed25519", false, ["verify"]);
        const signed = new TextEncoder().encode(`remit server\n${of.port}\n${of.challenge}`);
        return await crypto.subtle.verify("Ed25519", key, fromBase64(proof), signed);
    } catch (error) {
        // What a stranger sends need not be base64, nor of the right length.
        if (error instanceof DOMException) return false;
        throw error;
    }
}

function opened(socket: WebSocket): Promise<boolean> {
    return new Promise((resolve) => {
        const timer = setTimeout(() => socket.close(), PROOF_MS);
        const settle = (open: boolean): void => {
            clearTimeout(timer);
            resolve(open);
        };
        socket.onopen = () => settle(true);
        socket.onclose = () => settle(false);
    });
}

/** What it says next; null where it closes, says nothing in time, or no JSON. */
function reply(socket: WebSocket, message: object): Promise<object | null> {
    return new Promise((resolve) => {
        const timer = setTimeout(() => resolve(null), PROOF_MS);
        const settle = (said: object | null): void => {
            clearTimeout(timer);
            resolve(said);
        };
        socket.onclose = () => settle(null);
        socket.onmessage = ({ data }: MessageEvent<unknown>) => settle(jsonOf(data));
        socket.send(JSON.stringify(message));
    });
}

function jsonOf(data: unknown): object | null {
    try {
        const json: unknown = JSON.parse(String(data));
        return typeof json === "object" ? json : null;
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        return null;
    }
}

function toBase64(bytes: Uint8Array): string {
    return btoa(String.fromCharCode(...bytes));
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
}
