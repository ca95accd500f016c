/**
 * The process of an agent: its pipes, the last it wrote to its standard error, and its end.
 *
 * Boundary: starts and ends; what is said over the pipes is in `acp.ts`, what confines it in `sandbox.ts`.
 *
 * R1: a process is started without a shell, in a group of its own, and nothing of that group outlives `stop`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { tidy } from "../tool/mcp-servers.ts";
import { AgentFail } from "./fail.ts";

export interface Running {
    readonly input: WritableStream<Uint8Array>;
    readonly output: ReadableStream<Uint8Array>;
    readonly pid: number;
    /** The last that it wrote to its standard error, without what a terminal would obey. */
    stderr(): string;
    /** How it ended, in words; null while it runs. */
    ended(): string | null;
    readonly exited: Promise<void>;
    /** Closes its input, then asks, then kills, a grace time between each. */
    stop(graceMs: number): Promise<void>;
}

export interface Start {
    readonly command: string;
    readonly args: readonly string[];
    readonly env: { readonly [name: string]: string };
    readonly cwd: string;
}

/** Characters of standard error that are kept. */
const MAX_STDERR = 8_000;
/** How long the end of its input is given to end it. */
const EOF_MS = 500;

/** Throws `AgentFail` where it cannot be started. */
export async function start({ command, args, env, cwd }: Start): Promise<Running> {
    const child = spawn(command, [...args], { cwd, env: { ...env }, stdio: ["pipe", "pipe", "pipe"], detached: true });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
        stderr = (stderr + chunk).slice(-MAX_STDERR);
    });
    // What went wrong at the start is told below; later there is nothing left to tell.
    child.on("error", () => undefined);
    // A pipe that breaks says what the end of the process says better.
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.on("error", () => undefined);
    let how: string | null = null;
    const exited = new Promise<void>((done) => {
        child.once("exit", (code, signal) => {
            how = signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;
            done();
        });
        child.once("error", () => done());
    });
    await new Promise<void>((done, fail) => {
        child.once("spawn", done);
        child.once("error", (error: NodeJS.ErrnoException) => {
            how = "it never ran";
            fail(new AgentFail("unreachable", `it cannot be started: ${command} (${error.code ?? error.message})`));
        });
    });
    return {
        input: Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
        output: Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
        pid: child.pid as number,
        stderr: () => tidy(stderr, MAX_STDERR),
        ended: () => how,
        exited,
        stop: async (graceMs) => {
            if (how === null) child.stdin.destroy();
            if (how === null) await within(exited, Math.min(EOF_MS, graceMs));
            if (how === null) toGroup(child, "SIGTERM");
            if (how === null) await within(exited, graceMs);
            // Also what the process itself left behind.
            toGroup(child, "SIGKILL");
            await within(exited, graceMs);
        },
    };
}

function toGroup(child: ChildProcess, signal: NodeJS.Signals): void {
    try {
        if (process.platform === "win32") child.kill(signal);
        else process.kill(-(child.pid as number), signal);
    } catch (error) {
        // Nothing of the group is left.
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
}

async function within(work: Promise<unknown>, ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([work, new Promise((done) => (timer = setTimeout(done, ms)))]);
    clearTimeout(timer);
}
