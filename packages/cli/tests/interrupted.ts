/**
 * Runs that a first Ctrl-C interrupts: one case for each thing that a run can be in. The tests ask that each ends, and how; the benchmark how soon.
 */
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BIN } from "./remit.ts";

/** `loading`: nothing has begun, so the signal itself ends the process. `stopped`: the run can be resumed. `waiting`: it waits for its answer. */
export type Stopped = "loading" | "stopped" | "waiting";

export interface Interrupt {
    readonly name: string;
    readonly files: () => { readonly [name: string]: string };
    readonly args?: readonly string[];
    readonly ends: Stopped;
    /** It is in the middle of it once its trace has such an event; null: a while after it started. */
    readonly ready: string | null;
    /** On a terminal that shows this, where a key is what interrupts. */
    readonly terminal?: string;
}

/** The start of a read is kept before what comes after it; the rest is kept with the next state. */
const reading = (rest: string): string =>
    `import tool Files from "file:."\n\nmain func() {\n    Files.read({ path: "main.remit" })\n${rest}}\n`;

export const INTERRUPTS: readonly Interrupt[] = [
    {
        name: "60,000 effects that settle in microtasks",
        files: () => ({
            "main.remit": `import tool Files from "file:."\n\nmain func(input) {\n    n = 0\n    for i in input.xs max 100000 { n += Files.read({ path: "a.txt" }).content.length }\n    n\n}\n`,
            "a.txt": "hi\n",
            "input.json": JSON.stringify({ xs: Array.from({ length: 60_000 }, (_, i) => i) }),
        }),
        args: ["--input", "@input.json"],
        ends: "stopped",
        ready: "tool.ended",
    },
    {
        name: "hundreds of millions of steps",
        files: () => ({ "main.remit": reading("    n = 0\n    loop until n > 900000000 max 900000000 { n += 1 }\n    n\n") }),
        args: ["--max-steps", "4000000000"],
        ends: "stopped",
        ready: "tool.started",
    },
    {
        name: "JSON texts of 40 MB, one after the other",
        files: () => ({
            "main.remit": reading(
                '    t = "abcdefghij"\n    repeat * 22 { t = t + t }\n    n = 0\n    loop until n < 0 max 1000000 { n += json.text([t]).length }\n    n\n',
            ),
        }),
        args: ["--max-steps", "4000000000"],
        ends: "stopped",
        ready: "tool.started",
    },
    {
        name: "a source of 16 MB, which is read and checked",
        files: () => ({ "main.remit": `main func() {\n    n = 0\n${"    n += 1\n".repeat(1_400_000)}    n\n}\n` }),
        ends: "loading",
        ready: null,
    },
    {
        name: "a question",
        files: () => ({ "main.remit": `main func(input: { name: string }) {\n    "hello " + input.name\n}\n` }),
        ends: "waiting",
        ready: "run.started",
        // The sign of a prompt: such a terminal is one column wide, and breaks every word.
        terminal: "◆",
    },
    {
        name: "a provider that never answers",
        files: () => ({
            "main.remit": `import llm M from "openai://m"\n\nmain func() {\n    role "You answer."\n    description "One answer."\n    generate({ input: "hello", model: M })\n}\n`,
        }),
        ends: "stopped",
        ready: "generate.started",
    },
];

export interface Interrupted {
    readonly code: number | null;
    readonly signal: NodeJS.Signals | null;
    readonly seen: string;
    /** From the interrupt to the end of the process, milliseconds. */
    readonly ms: number;
}

/** Runs a case in a process of its own, interrupts it once in the middle of it, and waits for its end. */
export async function interrupted({ files, args = [], ready, terminal }: Interrupt): Promise<Interrupted> {
    const folder = mkdtempSync(join(tmpdir(), "remit-interrupted-"));
    for (const [name, text] of Object.entries(files())) writeFileSync(join(folder, name), text);
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    try {
        const { port } = silent.address() as AddressInfo;
        const trace = join(folder, "trace.jsonl");
        const line = [process.execPath, BIN, "run", "main.remit", "--quiet", "--trace-file", trace, ...args];
        const [command = "", ...rest] =
            terminal !== undefined ? ["script", "-qec", line.map((one) => `'${one}'`).join(" "), "/dev/null"] : line;
        const child = spawn(command, rest, {
            cwd: folder,
            stdio: ["pipe", "pipe", "pipe"],
            env: {
                ...process.env,
                XDG_STATE_HOME: folder,
                XDG_CACHE_HOME: folder,
                XDG_CONFIG_HOME: folder,
                OPENAI_API_KEY: "none",
                OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
                TERM: "xterm",
            },
        });
        let seen = "";
        for (const stream of [child.stdout, child.stderr])
            stream.on("data", (data: Buffer) => {
                seen += data;
            });
        const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
            child.on("close", (code, signal) => resolve({ code, signal })),
        );
        const wait = (ms: number): Promise<unknown> => Promise.race([ended, new Promise((resolve) => setTimeout(resolve, ms))]);
        while (child.exitCode === null && ready !== null && !textOf(trace).includes(`"kind":"${ready}"`)) await wait(5);
        while (child.exitCode === null && terminal !== undefined && !seen.includes(terminal)) await wait(5);
        await wait(ready === null ? 2_000 : 700);
        const begun = performance.now();
        if (terminal !== undefined) child.stdin.write("\u0003");
        else child.kill("SIGINT");
        const { code, signal } = await ended;
        return { code, signal, seen, ms: performance.now() - begun };
    } finally {
        silent.closeAllConnections();
        silent.close();
        rmSync(folder, { recursive: true, force: true });
    }
}

function textOf(file: string): string {
    try {
        return readFileSync(file, "utf8");
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
        throw error;
    }
}
