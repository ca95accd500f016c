/**
 * The command as a person runs it, in a folder of its own: nothing of the machine's configuration, ledger or cache is seen or changed.
 *
 * `remit` and `remitWith` run it in a thread of the test's process (`command.mjs`), which is begun once a file: a command costs what it does, not
 * the start of a process. `remitProcess` starts one, for what only a process has: signals, pipes, its end.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import { scriptAt } from "../../host/tests/script.ts";

export const BIN = scriptAt("packages/cli/bin/remit.mjs");

export interface Ran {
    readonly code: number | null;
    readonly out: string;
    readonly err: string;
}

export interface Room {
    readonly folder: string;
    readonly env: NodeJS.ProcessEnv;
    write(path: string, text: string): void;
    remit(...args: string[]): Ran;
    /** With more of an environment, in a folder below, or with something on standard input. */
    remitWith(how: { env?: Record<string, string>; cwd?: string; input?: string }, ...args: string[]): Ran;
    /** The same in a process of its own. */
    remitProcess(how: { env?: Record<string, string>; cwd?: string; input?: string }, ...args: string[]): Ran;
    /** In a process of its own, beside which this one goes on, for a command that speaks to a server of the test. Nothing is on its standard input. */
    started(how: { env?: Record<string, string> }, ...args: string[]): { readonly child: ChildProcess; readonly ran: Promise<Ran> };
    /** A script of the folder, run by this Node. */
    node(script: string, ...args: string[]): Ran;
    /** On a terminal of `script` (util-linux); both streams come back as one, as the terminal got them. */
    onTerminal(
        how: { env?: Record<string, string>; columns?: number; rows?: number; input?: string },
        ...args: string[]
    ): { code: number | null; seen: string };
    clear(): void;
}

interface Thread {
    run(order: { readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv; readonly input: string }): Ran;
}

let thread: Thread | null = null;
/** Milliseconds after which a command is taken to hang. */
const HANGS = 500_000;
/**
 * The thread that commands run in; this one stands still meanwhile, as it would for a process.
 *
 * Orders are numbered, and the flag holds the number of the last that is done: a wake that was meant for an earlier order, and an answer that comes
 * after its order was given up, are never taken for those of a later one.
 */
function commands(): Thread {
    const { port1, port2 } = new MessageChannel();
    const flag = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(new URL("./command.mjs", import.meta.url), {
        workerData: { port: port2, flag },
        transferList: [port2],
        execArgv: [],
        stdout: false,
        stderr: false,
    });
    worker.unref();
    let number = 0;
    return {
        run(order) {
            number++;
            port1.postMessage({ ...order, number });
            for (let done = Atomics.load(flag, 0); done !== number; done = Atomics.load(flag, 0)) {
                if (Atomics.wait(flag, 0, done, HANGS) !== "timed-out") continue;
                // what hangs in it would hold up every command after it
                thread = null;
                void worker.terminate();
                throw new Error(`remit ${order.args.join(" ")} does not end`);
            }
            const said = receiveMessageOnPort(port1)?.message as Ran & { readonly broken?: string };
            if (said.broken !== undefined) throw new Error(said.broken);
            return said;
        },
    };
}

/** `folder`: one that is there; a new one where absent. */
export function room(folder: string = mkdtempSync(join(tmpdir(), "remit-cli-"))): Room {
    const own: NodeJS.ProcessEnv = {
        XDG_STATE_HOME: folder,
        XDG_CACHE_HOME: folder,
        XDG_CONFIG_HOME: join(folder, ".config"),
        NO_COLOR: "1",
    };
    const env: NodeJS.ProcessEnv = { ...process.env, ...own };
    for (const name of Object.keys(env)) if (/^(REMIT_|OPENAI_|ANTHROPIC_|GOOGLE_|OLLAMA_)/.test(name)) delete env[name];
    const remitWith: Room["remitWith"] = (how, ...args) => {
        thread ??= commands();
        const before = process.cwd();
        process.chdir(join(folder, how.cwd ?? ""));
        try {
            return thread.run({ args, env: { ...env, ...how.env }, input: how.input ?? "" });
        } finally {
            process.chdir(before);
        }
    };
    const remitProcess: Room["remitProcess"] = (how, ...args) => {
        const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
            cwd: join(folder, how.cwd ?? ""),
            env: { ...env, ...how.env },
            encoding: "utf8",
            input: how.input ?? "",
        });
        return { code: status, out: stdout, err: stderr };
    };
    return {
        folder,
        env,
        write(path, text) {
            mkdirSync(dirname(join(folder, path)), { recursive: true });
            writeFileSync(join(folder, path), text);
        },
        remit: (...args) => remitWith({}, ...args),
        remitWith,
        remitProcess,
        started(how, ...args) {
            const child = spawn(process.execPath, [BIN, ...args], {
                cwd: folder,
                env: { ...env, ...how.env },
                stdio: ["ignore", "pipe", "pipe"],
            });
            let [out, err] = ["", ""];
            child.stdout.on("data", (part) => (out += String(part)));
            child.stderr.on("data", (part) => (err += String(part)));
            return { child, ran: once(child, "close").then(([code]) => ({ code: code as number | null, out, err })) };
        },
        node(script, ...args) {
            const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, script), ...args], {
                cwd: folder,
                env,
                encoding: "utf8",
            });
            return { code: status, out: stdout, err: stderr };
        },
        onTerminal(how, ...args) {
            const line = [process.execPath, BIN, ...args].map((one) => `'${one.replaceAll("'", "'\\''")}'`).join(" ");
            const { status, stdout } = spawnSync(
                "script",
                ["-qec", `stty cols ${how.columns ?? 100} rows ${how.rows ?? 24}; ${line}`, "/dev/null"],
                {
                    cwd: folder,
                    env: { ...env, TERM: "xterm", ...how.env },
                    encoding: "utf8",
                    input: how.input ?? "",
                },
            );
            return { code: status, seen: stdout };
        },
        clear: () => rmSync(folder, { recursive: true, force: true }),
    };
}
