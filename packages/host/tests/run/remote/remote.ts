/** The remote shell: the conductor here, each effect performed in a child process. Only effects, outcomes and messages cross, as JSON lines. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Down, Effect, Outcome, Up } from "@remit/machine";
import type { Performing, PerformingOptions } from "../../../src/run/performing.ts";
import { scriptAt } from "../../script.ts";

/** `end`: a session with an agent is over. */
export type ToChild = { readonly id: number } & (
    | { readonly kind: "end"; readonly session: string }
    | { readonly kind: "begin"; readonly effect: Effect; readonly parent?: string }
    | { readonly kind: "down"; readonly down: Down }
    | { readonly kind: "stop"; readonly reason: string; readonly waits: boolean }
);
export type ToShell = { readonly id: number } & (
    | { readonly kind: "up"; readonly up: Up }
    | { readonly kind: "answered"; readonly outcome: Outcome | null }
);

export interface Remote {
    perform(effect: Effect, options: PerformingOptions): Performing;
    end(session: string): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

/** `world`: a module whose `worldOf(...args)` is the host of the child. */
export function remote(world: URL, ...args: string[]): Remote {
    const child = spawn(process.execPath, [scriptAt("packages/host/tests/run/remote/child.ts"), world.href, ...args], {
        stdio: ["pipe", "pipe", "inherit"],
        env: { ...process.env, NODE_OPTIONS: "" },
    });
    const open = new Map<number, PerformingOptions>();
    let ids = 0;
    createInterface({ input: child.stdout }).on("line", (text) => {
        const line = JSON.parse(text) as ToShell;
        const options = open.get(line.id);
        if (line.kind === "up") options?.up(line.up);
        else {
            open.delete(line.id);
            options?.answered(line.outcome);
        }
    });
    return {
        perform: (effect, options) => {
            const id = ++ids;
            const say = (line: ToChild): void => void child.stdin.write(`${JSON.stringify(line)}\n`);
            open.set(id, options);
            say({ id, kind: "begin", effect, ...(options.parent === undefined ? {} : { parent: options.parent }) });
            return {
                down: (down) => say({ id, kind: "down", down }),
                stop: (reason, waits) => {
                    if (!waits) open.delete(id);
                    say({ id, kind: "stop", reason, waits });
                },
            };
        },
        end: async (session) => void child.stdin.write(`${JSON.stringify({ id: 0, kind: "end", session } satisfies ToChild)}\n`),
        [Symbol.asyncDispose]: () =>
            new Promise((resolve) => {
                child.on("close", () => resolve());
                child.stdin.end();
            }),
    };
}
