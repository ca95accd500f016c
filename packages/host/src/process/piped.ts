/**
 * A process that is spoken to over its standard input and output: its pipes, the last it wrote to its standard error, and its end.
 *
 * Boundary: what is said over the pipes is the caller's (`../agent/acp.ts`, `../tool/mcp-stdio.ts`).
 *
 * PP1: nothing of the process's group outlives `stop`.
 */
import type { Readable, Writable } from "node:stream";
import { Tail } from "../secret/cut.ts";
import type { Scrubber } from "../secret/scrub.ts";
import type { Begin, Children } from "./child.ts";

export interface Running {
    readonly input: Writable;
    readonly output: Readable;
    readonly pid: number;
    /** The last that it wrote to its standard error, without secrets; more than `MAX_STDERR`. */
    stderr(secrets: Scrubber): string;
    /** How it ended, in words; null while it runs. */
    ended(): string | null;
    /** It ended, and its pipes are read to their end. */
    readonly over: Promise<unknown>;
    /** Closes its input, then asks, then kills. `eofMs`: how long the end of its input is given to end it. */
    stop(graceMs: number, eofMs?: number): Promise<void>;
}

/** Characters of standard error that a failure carries. */
export const MAX_STDERR = 8_000;
/** Characters of it in a message. */
const MAX_WROTE = 500;
const EOF_MS = 500;

/** Rejects with the system's error where it cannot be started. */
export async function start(children: Children, begin: Begin): Promise<Running> {
    const child = children.start(begin, "pipe");
    const input = child.stdin as Writable;
    const stderr = new Tail(MAX_STDERR);
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => stderr.take(chunk));
    // A pipe that breaks says what the end of the process says better.
    for (const pipe of [input, child.stdout, child.stderr]) pipe.on("error", () => undefined);
    await child.started;
    const runs = (): boolean => child.ending() === null;
    return {
        input,
        output: child.stdout,
        pid: child.pid as number,
        stderr: (secrets) => stderr.kept(secrets),
        ended: () => {
            const end = child.ending();
            if (end === null) return null;
            return end.signal === null ? `it ended with code ${end.code}` : `it was ended by ${end.signal}`;
        },
        over: child.over,
        stop: async (graceMs, eofMs = Math.min(EOF_MS, graceMs)) => {
            if (runs()) input.destroy();
            if (runs()) await within(child.over, eofMs);
            child.signal("SIGTERM");
            if (runs()) await within(child.over, graceMs);
            child.signal("SIGKILL");
            await within(child.over, graceMs);
        },
    };
}

async function within(work: Promise<unknown>, ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([work, new Promise((done) => (timer = setTimeout(done, ms)))]);
    clearTimeout(timer);
}

/** The last that a process wrote, on one line. Of a text without its secrets: a secret of several lines is none on one. Indented lines are left out: in a trace of Node or Python they are the frames. */
export function lastLines(stderr: string): string {
    const lines = stderr.split("\n").filter((line) => /^\S/.test(line));
    const text = (lines.length === 0 ? [stderr.trim()] : lines).map((line) => line.trim()).join(" / ");
    return text.length > MAX_WROTE ? `…${text.slice(-MAX_WROTE)}` : text;
}
