/** A project with questions, and the other ends of its channels: a web server and a mail server of this machine. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SMTPServer } from "smtp-server";
import { load, type LoadOptions, openLedger, openProcess, type RunResult } from "../../src/index.ts";

export const PROGRAM = `import tool Mail from "host:mail" { send: ask }
main func(input: { to: string, body: string }) {
    Mail.send({ to: input.to, body: input.body })
}
`;

export interface Received {
    readonly url: string;
    readonly headers: IncomingHttpHeaders;
    readonly body: string;
}

export interface Web extends AsyncDisposable {
    readonly url: string;
    readonly got: Received[];
    /** What it answers from now on, in order; the last is given again. */
    answers(...list: { readonly status?: number; readonly body?: string; readonly headers?: Record<string, string> }[]): void;
}

export async function web(): Promise<Web> {
    const got: Received[] = [];
    let answers: Parameters<Web["answers"]> = [{}];
    const server = createServer((request, response) => {
        let body = "";
        request.on("data", (piece) => {
            body += piece;
        });
        request.on("end", () => {
            got.push({ url: request.url ?? "", headers: request.headers, body });
            const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? {};
            response.writeHead(answer.status ?? 200, answer.headers).end(answer.body ?? "ok");
        });
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        got,
        answers: (...list) => {
            answers = list;
        },
        [Symbol.asyncDispose]: async () => {
            server.closeAllConnections();
            await new Promise<void>((done) => server.close(() => done()));
        },
    };
}

export interface Post extends AsyncDisposable {
    readonly port: number;
    readonly got: { readonly from: string; readonly to: readonly string[]; readonly text: string; readonly user: string }[];
}

/** `refuse`: code with which it refuses every mail. */
export async function post(refuse?: number): Promise<Post> {
    const got: { from: string; to: string[]; text: string; user: string }[] = [];
    const server = new SMTPServer({
        authOptional: true,
        allowInsecureAuth: true,
        disabledCommands: ["STARTTLS"],
        onAuth: ({ username, password }, _session, done) =>
            password === "right-password" ? done(null, { user: username ?? "" }) : done(new Error("no")),
        onData: (stream, session, done) => {
            let text = "";
            stream.on("data", (piece) => {
                text += piece;
            });
            stream.on("end", () => {
                if (refuse !== undefined) {
                    done(Object.assign(new Error("not now"), { responseCode: refuse }));
                    return;
                }
                const { mailFrom, rcptTo } = session.envelope;
                got.push({
                    from: mailFrom === false ? "" : mailFrom.address,
                    to: rcptTo.map((one) => one.address),
                    text,
                    user: String(session.user ?? ""),
                });
                done();
            });
        },
    });
    await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
    return {
        port: (server.server.address() as AddressInfo).port,
        got,
        [Symbol.asyncDispose]: () => new Promise<void>((done) => server.close(() => done())),
    };
}

export interface Project {
    readonly folder: string;
    readonly ledger: string;
    readonly sent: unknown[];
    /** Runs the program, with what its `remit.json` says trusted or not. */
    run(
        input: { to: string; body: string },
        options?: LoadOptions,
    ): Promise<{ readonly result: RunResult<unknown>; readonly notices: string[] }>;
    open(): ReturnType<typeof openLedger>;
    resume(run: string, options?: LoadOptions): Promise<{ readonly result: RunResult<unknown>; readonly notices: string[] }>;
    clear(): void;
}

export function project(config: object, env: Record<string, string> = {}): Project {
    const folder = mkdtempSync(join(tmpdir(), "remit-channels-"));
    mkdirSync(join(folder, "project"));
    writeFileSync(join(folder, "project", "remit.json"), JSON.stringify(config));
    writeFileSync(join(folder, "project", "main.remit"), PROGRAM);
    const own = { ...env, HOME: folder, XDG_CONFIG_HOME: join(folder, "config"), XDG_STATE_HOME: folder, XDG_CACHE_HOME: folder };
    const on = openProcess({ env: own, cwd: folder, user: "os:1000" });
    const sent: unknown[] = [];
    const tools = { Mail: { send: (args: unknown) => sent.push(args) } };
    const ledger = join(folder, "ledger.db");
    const watched = (notices: string[]): LoadOptions["on"] => ({
        part: (_path, part) => void notices.push(String((part as { readonly text?: unknown }).text)),
    });
    return {
        folder,
        ledger,
        sent,
        run: async (input, options = {}) => {
            const notices: string[] = [];
            const how = { process: on, tools, ledger, cache: false, ...options, on: { ...watched(notices), ...options.on } };
            const program = await load<typeof input>(join(folder, "project", "main.remit"), how);
            try {
                return { result: await program.run(input).result, notices };
            } finally {
                await program.close();
            }
        },
        open: () => openLedger(ledger, { process: on }),
        resume: async (run, options = {}) => {
            const notices: string[] = [];
            const opened = await openLedger(ledger, { process: on });
            try {
                const { ledger: _, ...how } = options;
                const handle = await opened.resume(run, { process: on, tools, ...how, on: { ...watched(notices), ...options.on } });
                return { result: await handle.result, notices };
            } finally {
                await opened.close();
            }
        },
        clear: () => rmSync(folder, { recursive: true, force: true }),
    };
}
