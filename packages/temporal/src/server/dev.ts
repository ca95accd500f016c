/**
 * A development server: Temporal's own command with the settings without which its figures are those of a rate limiter.
 *
 * Boundary: starts and ends one process. Where the command is found is the caller's.
 *
 * DVS1: the caller alone ends the server: a Ctrl-C in a terminal reaches its worker and not the server, on which the worker's connection waits. The
 *      server ends with the process that started it, however that ends (PC3 of the host).
 */
import { defined } from "@remit/language";
import { knownSecrets, openProcess, Tail } from "@remit/host";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connect, placeOf } from "./connect.ts";
import { ATTRIBUTES } from "../wire/messages.ts";

export interface DevServerOptions {
    /** Temporal's command. Default: `temporal`, from the PATH. */
    readonly program?: string;
    /** Default: a free one. */
    readonly port?: number;
    /** Of its web interface; absent: it has none. */
    readonly uiPort?: number;
    /** Where it keeps its state; absent: in memory. */
    readonly file?: string;
    readonly namespace?: string;
}

export interface DevServer extends AsyncDisposable {
    readonly address: string;
    /** Resolves when it has ended. */
    stop(signal?: NodeJS.Signals): Promise<void>;
}

/**
 * As it comes, a development server lets a chain of activities make about 20 a second, a database file syncs twice for each, and the server reads the
 * whole batch of events in which an activity was scheduled from its store again for each activity of a fan-out whose events are larger than its cache of
 * 512 kB (a fan-out of 1,000: three times the server's processor time a node). Where more than 100 outcomes arrive while a worker is in a task of the
 * workflow, the server fails that task, and the worker replays the whole history (a fan-out of 1,900 as a plan: 22 failed tasks, 5.4 ms of the worker's
 * processor time a node in place of 2.1). All were measured.
 */
const SETTINGS = [
    "--dynamic-config-value=history.transferProcessorMaxPollRPS=2000",
    "--dynamic-config-value=history.timerProcessorMaxPollRPS=2000",
    "--dynamic-config-value=history.outboundProcessorMaxPollRPS=2000",
    "--dynamic-config-value=history.eventsCacheMaxSizeBytes=33554432",
    "--dynamic-config-value=history.maximumBufferedEventsBatch=10000",
    "--sqlite-pragma=journal_mode=wal",
    "--sqlite-pragma=synchronous=normal",
];

/** What is told of its standard error, the end, UTF-16 units. */
const MAX_SAID = 2_000;
/** How long it may take to answer, milliseconds. */
const START_MS = 60_000;

/**
 * A port that was free may be another process's before the server listens there, and the server takes further ones of its own: where the caller names none,
 * a server that ends at its start is started so often.
 */
const TRIES = 3;

class EndedAtStart extends Error {}

export async function startDevServer(options: DevServerOptions = {}): Promise<DevServer> {
    for (let left = options.port === undefined ? TRIES : 1; ; left--) {
        try {
            return await startOn(options.port ?? (await freePort()), options);
        } catch (error) {
            if (!(error instanceof EndedAtStart) || left <= 1) throw error;
        }
    }
}

function startOn(at: number, { program = "temporal", uiPort, file, namespace }: DevServerOptions): Promise<DevServer> {
    const address = `127.0.0.1:${at}`;
    const args = [
        ...["server", "start-dev", "--ip", "127.0.0.1", "--port", String(at), "--log-level", "error"],
        ...(uiPort === undefined ? ["--headless"] : ["--ui-port", String(uiPort)]),
        ...(file === undefined ? [] : ["--db-filename", file]),
        ...(namespace === undefined ? [] : ["--namespace", namespace]),
        ...ATTRIBUTES.flatMap((name) => ["--search-attribute", `${name}=Keyword`]),
        ...SETTINGS,
    ];
    return begin([program, ...args], address);
}

async function begin([command = "", ...args]: readonly string[], address: string): Promise<DevServer> {
    const owner = openProcess();
    const { env, cwd } = owner;
    const child = owner.children.start({ command, args, env: defined(env) as { [name: string]: string }, cwd }, "ignore");
    const said = new Tail(MAX_SAID);
    child.stdout.resume();
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
        said.take(piece);
    });
    const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
        child.signal(signal);
        await child.over;
        await owner.close();
    };
    try {
        await answers(address, () => child.ending() !== null);
    } catch (error) {
        const ending = child.ending();
        await stop("SIGKILL");
        const kind = ending === null || ending.error !== undefined ? Error : EndedAtStart;
        throw new kind(`the Temporal server did not start: ${said.text(knownSecrets(env)).trim() || String(ending?.error ?? error)}`, {
            cause: error,
        });
    }
    return { address, stop, [Symbol.asyncDispose]: () => stop() };
}

async function answers(address: string, ended: () => boolean): Promise<void> {
    const until = performance.now() + START_MS;
    for (;;) {
        try {
            const connection = await connect(placeOf({ address }));
            await connection.close();
            return;
        } catch (error) {
            if (ended() || performance.now() > until) throw error;
            await after(50);
        }
    }
}

async function freePort(): Promise<number> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { readonly port: number };
    server.close();
    await once(server, "close");
    return port;
}

/** Temporal's command: on the PATH, or where the set-up of a checkout at or above `folder` brought it; null: it is not there. */
export function findServer(env: Readonly<Record<string, string | undefined>>, folder: string): string | null {
    const name = process.platform === "win32" ? "temporal.exe" : "temporal";
    const onPath = (env["PATH"] ?? "").split(delimiter).map((one) => join(one, name));
    const around: string[] = [];
    for (let at = folder; !around.includes(at); at = dirname(at)) around.push(at);
    const brought = [...around, checkout].map((one) => join(one, ".tools", "temporal", "bin", name));
    return [...onPath, ...brought].find((one) => existsSync(one)) ?? null;
}

/** Folder of the checkout that this file is in, if it is in one. */
const checkout = dirname(dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url))))));
