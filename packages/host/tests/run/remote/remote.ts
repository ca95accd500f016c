/** The remote shell: the conductor here, each effect performed in a child process. Only effects, outcomes and messages cross, as JSON lines; a large text once. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Down, Effect, Outcome, Up } from "@remit/machine";
import type { Performing, PerformingOptions } from "../../../src/run/performing.ts";
import { scriptAt } from "../../script.ts";
import { Lines } from "./lines.ts";

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
    /** Bytes, both ways. */
    crossed(): number;
    [Symbol.asyncDispose](): Promise<void>;
}

/** `world`: a module whose `worldOf(...args)` is the host of the child. */
export function remote(world: URL, ...args: string[]): Remote {
    const child = spawn(process.execPath, [scriptAt("packages/host/tests/run/remote/child.ts"), world.href, ...args], {
        stdio: ["pipe", "pipe", "inherit"],
        env: { ...process.env, NODE_OPTIONS: "" },
    });
    const open = new Map<number, PerformingOptions>();
    const lines = new Lines("shell");
    let read = 0;
    const send = (line: ToChild): void => void child.stdin.write(lines.write(line));
    let ids = 0;
    createInterface({ input: child.stdout }).on("line", (text) => {
        read += Buffer.byteLength(text);
        const line = lines.read(text) as unknown as ToShell;
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
            open.set(id, options);
            send({ id, kind: "begin", effect, ...(options.parent === undefined ? {} : { parent: options.parent }) });
            return {
                down: (down) => send({ id, kind: "down", down }),
                stop: (reason, waits) => {
                    if (!waits) open.delete(id);
                    send({ id, kind: "stop", reason, waits });
                },
            };
        },
        end: async (session) => send({ id: 0, kind: "end", session }),
        crossed: () => lines.sent + read,
        [Symbol.asyncDispose]: () =>
            new Promise((resolve) => {
                child.on("close", () => resolve());
                child.stdin.end();
            }),
    };
}
