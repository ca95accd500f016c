/** A folder with a program, an environment of its own, and servers on loopback that keep what they were sent. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Json } from "@remit/language";
import type { RunResult } from "../../src/run/handle.ts";
import { load } from "../../src/run/program.ts";
import type { LoadOptions } from "../../src/run/setup.ts";

export interface Room extends AsyncDisposable {
    readonly folder: string;
    readonly env: Record<string, string>;
    write(path: string, text: string, mode?: number): string;
    /** Runs a program in memory, or in the ledger that is named; its result, and all that was kept of it as text. */
    run(source: string, options?: LoadOptions): Promise<Ran>;
}

export interface Ran {
    readonly result: RunResult<Json>;
    readonly record: string;
}

export function room(): Room {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "remit-credential-")));
    const env: Record<string, string> = { HOME: folder, PATH: process.env.PATH ?? "" };
    const write = (path: string, text: string, mode = 0o644): string => {
        const full = join(folder, "project", path);
        mkdirSync(dirname(full), { recursive: true });
        writeFileSync(full, text, { mode });
        chmodSync(full, mode);
        return full;
    };
    return {
        folder,
        env,
        write,
        run: async (source, options = {}) => {
            const path = write("main.remit", source);
            const root = dirname(path);
            const program = await load<Json, Json>({ path }, { root, workspace: root, cache: false, env, ...options });
            try {
                const handle = program.run(null);
                const result = await handle.result;
                const events: Json[] = [];
                for await (const event of handle.events) events.push(event as unknown as Json);
                return { result, record: JSON.stringify([events, result]) };
            } finally {
                await program.close();
            }
        },
        [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
    };
}

export interface Seen {
    readonly method: string;
    readonly url: string;
    readonly authorization: string | null;
}

export interface Served extends AsyncDisposable {
    readonly origin: string;
    readonly seen: Seen[];
}

export async function serve(
    answer: (request: IncomingMessage, response: ServerResponse, body: string) => void | Promise<void>,
): Promise<Served> {
    const seen: Seen[] = [];
    const server = createServer(async (request, response) => {
        let body = "";
        for await (const chunk of request) body += String(chunk);
        const { method = "", url = "" } = request;
        seen.push({ method, url, authorization: request.headers.authorization ?? null });
        await answer(request, response, body);
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return {
        origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        seen,
        [Symbol.asyncDispose]: async () => {
            server.closeAllConnections();
            await new Promise((done) => server.close(done));
        },
    };
}

/** Says what authorization came, so that it would be seen wherever the answer goes. */
export const echoing = (): Promise<Served> =>
    serve((request, response) => void response.end(`you sent ${request.headers.authorization ?? "nothing"}`));
