/**
 * A contender in a process of its own, with a bound on memory and on the time of one order. Orders come one at a time, so that contenders still take
 * turns; a contender that passes a bound is ended, which the table tells, and nothing else is.
 *
 * Boundary: the parent's side. `apart-child.ts` is what runs there.
 */
import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Contender, Lost, type Turn } from "./harness.ts";

export interface Bounds {
    /** Of resident memory: what a native library takes counts too. */
    readonly bytes: number;
    /** Of one order. */
    readonly ms: number;
}
const BOUNDS: Bounds = { bytes: 3 * 2 ** 30, ms: 120_000 };
const LOOK_MS = 50;
const CHILD = fileURLToPath(new URL("./apart-child.ts", import.meta.url));
const PAGE = 4096;

export interface Answer extends Turn {
    /** What the last run gave. */
    readonly value: unknown;
}

export interface Apart {
    readonly name: string;
    /** Runs the work for at least `slice` milliseconds, once at least. Throws `Lost` where a bound was passed. */
    ask(what: unknown, slice?: number): Promise<Answer>;
    /** The same work every time. */
    at(what: unknown, name?: string): Contender;
    close(): void;
}

/** `make` is a function that `module` exports: called with `args` in the new process, it gives the function that does the work. */
export function apart(
    name: string,
    from: { readonly module: string; readonly make: string; readonly args?: readonly unknown[] },
    bounds: Bounds = BOUNDS,
): Apart {
    let child: ChildProcess | null = null;
    const end = (): void => {
        child?.kill("SIGKILL");
        child = null;
    };
    const begin = (): ChildProcess =>
        fork(CHILD, [from.module, from.make, JSON.stringify(from.args ?? [])], {
            execArgv: ["--expose-gc"],
            serialization: "advanced",
            stdio: ["ignore", "ignore", "ignore", "ipc"],
        });
    const ask = (what: unknown, slice = 0): Promise<Answer> => {
        const running = child ?? begin();
        child = running;
        return new Promise((resolve, reject) => {
            const begun = performance.now();
            const settle = (then: () => void): void => {
                clearInterval(timer);
                running.removeAllListeners();
                then();
            };
            const lose = (reason: string): void =>
                settle(() => {
                    end();
                    reject(new Lost(name, reason));
                });
            const timer = setInterval(() => {
                const bytes = residentOf(running.pid);
                if (bytes > bounds.bytes) lose(`more than ${bounds.bytes / 2 ** 30} GiB of memory`);
                else if (performance.now() - begun > bounds.ms + slice) lose(`more than ${bounds.ms / 1000} s`);
            }, LOOK_MS);
            running.on("message", (said: { readonly error: string } | Answer) => {
                settle(() => ("error" in said ? reject(new Error(`${name}: ${said.error}`)) : resolve(said)));
            });
            running.on("exit", (code, signal) => lose(`its process ended with ${signal ?? code}`));
            running.send({ what, slice });
        });
    };
    return { name, ask, close: end, at: (what, called = name) => ({ name: called, turn: (slice) => ask(what, slice) }) };
}

/** Zero where the system does not say it: then time is the only bound. */
function residentOf(pid: number | undefined): number {
    try {
        return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE;
    } catch {
        // No such file: the process is over, which its exit tells, or the system is not Linux.
        return 0;
    }
}
