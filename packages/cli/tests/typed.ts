/** A command at a terminal, with the keys that a person types. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { BIN, type Room } from "./remit.ts";

/** A terminal that a test types at. */
export class Terminal {
    seen = "";
    #at = 0;
    readonly #child;
    readonly #ended: Promise<number | null>;
    constructor(at: Room, ...args: string[]) {
        const line = [process.execPath, BIN, ...args].map((one) => `'${one}'`).join(" ");
        // exec: a shell that stayed would get the same Ctrl-C, and end with 130 itself
        this.#child = spawn("script", ["-qec", `stty cols 100 rows 24; exec ${line}`, "/dev/null"], {
            cwd: at.folder,
            env: { ...at.env, TERM: "xterm" },
            stdio: ["pipe", "pipe", "inherit"],
        });
        this.#child.stdout.on("data", (part: Buffer) => (this.seen += String(part)));
        this.#ended = new Promise((resolve) => this.#child.on("close", resolve));
    }
    type(keys: string): void {
        this.#child.stdin.write(keys);
    }
    /** A signal to the command alone. */
    interrupt(): void {
        const below = (pid: number): number[] => {
            const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
            return children.flatMap((child) => [...below(child), child]);
        };
        const [command] = below(this.#child.pid ?? 0);
        if (command === undefined) throw new Error("the command has no process");
        process.kill(command, "SIGINT");
    }
    /** Until it shows this, after what was waited for before. */
    async shows(what: string): Promise<void> {
        for (let waited = 0; ; waited++) {
            // 5 minutes, and more on a busy machine: shorter than a test, so that what is waited for is named
            if (waited > 15_000) throw new Error(`it does not show ${what}: ${this.seen.slice(this.#at)}`);
            const found = this.seen.indexOf(what, this.#at);
            if (found >= 0) {
                this.#at = found + what.length;
                return;
            }
            if (this.#child.exitCode !== null) throw new Error(`it ended without showing ${what}: ${this.seen}`);
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
    }
    /** Its exit code. One that goes on is told with what it showed. */
    async ends(): Promise<number | null> {
        const bound = setTimeout(() => this.#child.kill(), 300_000);
        const code = await this.#ended;
        clearTimeout(bound);
        if (this.#child.signalCode !== null) throw new Error(`it does not end: ${this.seen.slice(this.#at)}`);
        return code;
    }
    async [Symbol.asyncDispose](): Promise<void> {
        this.#child.kill();
        await this.#ended;
    }
}
