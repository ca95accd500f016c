/**
 * A server of its own for a test, and clients of it.
 *
 * Boundary: a real server on loopback with a ledger on disk; what the model says stands in a script.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { openProcess } from "@remit/host";
import { ServeClient, type ServeOptions, Server } from "../src/index.ts";
import type { Frame, Scope } from "../src/wire/messages.ts";

export interface Room extends AsyncDisposable {
    readonly folder: string;
    server: Server;
    /** The owner's client. */
    readonly owner: ServeClient;
    /** A client of its own. */
    client(name: string, scopes?: readonly Scope[]): Promise<{ readonly client: ServeClient; readonly id: string; readonly token: string }>;
    /** A request as it is, with the owner's token unless headers say otherwise. */
    raw(
        method: string,
        path: string,
        init?: { body?: unknown; text?: string; headers?: { readonly [name: string]: string } },
    ): Promise<Response>;
    /** What the model says from now on; before its first turn. */
    says(replies: Json): void;
    /** Ends the server and starts another one on the same ledger. */
    again(options?: ServeOptions): Promise<void>;
}

export async function room(replies: Json, options: ServeOptions = {}): Promise<Room> {
    const folder = mkdtempSync(join(tmpdir(), "remit-serve-"));
    writeFileSync(join(folder, "replies.json"), JSON.stringify(replies));
    const env = { HOME: folder, PATH: process.env["PATH"] };
    const start = (more: ServeOptions): Promise<Server> =>
        Server.start({
            model: `scripted:${join(folder, "replies.json")}`,
            ledger: join(folder, "ledger.db"),
            process: openProcess({ env, cwd: folder }),
            log: (level, message) => level === "error" && console.error(message),
            ...options,
            ...more,
        });
    let server = await start({});
    const raw: Room["raw"] = (method, path, { body, text, headers = {} } = {}) =>
        fetch(server.url + path, {
            method,
            headers: {
                authorization: `Bearer ${server.ownerToken}`,
                ...(body === undefined && text === undefined ? {} : { "content-type": "application/json" }),
                ...headers,
            },
            ...(body === undefined ? (text === undefined ? {} : { body: text }) : { body: JSON.stringify(body) }),
        });
    return {
        folder,
        get server() {
            return server;
        },
        get owner() {
            return new ServeClient({ url: server.url, token: server.ownerToken });
        },
        client: async (name, scopes = ["observe", "submit", "lend", "approve"]) => {
            const made = (await (await raw("POST", "/v1/clients", { body: { name, scopes } })).json()) as { id: string; token: string };
            return { client: new ServeClient({ url: server.url, token: made.token }), id: made.id, token: made.token };
        },
        raw,
        says: (more) => writeFileSync(join(folder, "replies.json"), JSON.stringify(more)),
        again: async (more = {}) => {
            await server.stop();
            server = await start(more);
        },
        [Symbol.asyncDispose]: async () => {
            await server.stop();
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

type Data = { readonly [key: string]: Json };

/** Follows a session until it sees an event that `until` wants, and does what `react` does at each. */
export async function watch(
    client: ServeClient,
    session: string,
    until: (event: string, data: Data) => boolean,
    react: (event: string, data: Data) => unknown = () => undefined,
    from = 0,
): Promise<Frame[]> {
    const seen: Frame[] = [];
    const over = new AbortController();
    for await (const frame of client.events(session, { from, signal: over.signal })) {
        seen.push(frame);
        const data = frame.data as Data;
        await react(frame.event, data);
        if (until(frame.event, data)) break;
    }
    over.abort();
    return seen;
}

/** Until the turn has ended. */
export const ended = (turn: string) => (event: string, data: Data) => event === "turn.ended" && data["turn"] === turn;

/** A reply of the model that calls a lent tool. */
export const calls = (client: string, tool: string, args: Json = {}): Json => ({
    calls: [{ name: `Lent_${client.replaceAll("-", "_")}__${tool}`, args }],
});
