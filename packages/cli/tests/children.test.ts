/** PC2, PC3, PC4: whatever ends `remit`, nothing that it started goes on; the launcher of an older Node counts as `remit`. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BIN, type Room, room } from "./remit.ts";

let at: Room;
let begun: ChildProcess[] = [];
beforeEach(() => {
    at = room();
});
afterEach(async () => {
    for (const child of begun) child.kill("SIGKILL");
    begun = [];
    await expect.poll(marked).toEqual([]);
    at.clear();
});

/** Processes that carry this test's folder in their environment or command: what `remit` started, and it itself. */
function marked(): string[] {
    return readdirSync("/proc").filter((pid) => {
        if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
        return textOf(`/proc/${pid}/environ`).includes(at.folder) || textOf(`/proc/${pid}/cmdline`).includes(at.folder);
    });
}

function textOf(path: string): string {
    try {
        return readFileSync(path, "latin1");
    } catch {
        // It has ended, or it is a process of another user.
        return "";
    }
}

interface How {
    readonly node?: string;
    readonly env?: NodeJS.ProcessEnv;
    readonly args?: readonly string[];
    /** How it ends at a Ctrl-C. */
    readonly ends?: readonly [number | null, NodeJS.Signals | null];
}

/** Starts a program, and waits until each of the processes that it leads to has written its id. */
async function begin(names: readonly string[], how: How = {}): Promise<ChildProcess> {
    const args = how.args ?? ["run", "main.remit", "--yes", "--trust"];
    const child = spawn(how.node ?? process.execPath, [BIN, ...args], {
        cwd: at.folder,
        env: { ...at.env, HOME: at.folder, ...how.env },
        stdio: ["ignore", "pipe", "pipe"],
    });
    begun.push(child);
    let said = "";
    for (const pipe of [child.stdout, child.stderr])
        pipe?.on("data", (piece: Buffer) => {
            said += piece.toString("utf8");
        });
    const isWritten = (name: string): boolean =>
        existsSync(join(at.folder, name)) && readFileSync(join(at.folder, name), "utf8").endsWith("\n");
    while (!names.every(isWritten)) {
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(`it ended by itself: ${said}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return child;
}

function ended(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
    return new Promise((done) => {
        if (child.exitCode !== null || child.signalCode !== null) done([child.exitCode, child.signalCode]);
        else child.once("exit", (code, signal) => done([code, signal]));
    });
}

async function allGone(names: readonly string[]): Promise<void> {
    const pids = names.map((name) => readFileSync(join(at.folder, name), "utf8").trim());
    expect(pids.every((pid) => /^\d+$/.test(pid))).toBe(true);
    await expect.poll(() => pids.filter(runs)).toEqual([]);
    await expect.poll(marked).toEqual([]);
}

function runs(pid: string): boolean {
    const stat = textOf(`/proc/${pid}/stat`);
    return stat !== "" && stat.slice(stat.lastIndexOf(")") + 2)[0] !== "Z";
}

/** A shell's lines that leave two processes behind, one in the group, one in a session of its own; both ignore TERM. */
const LEAVES = `echo $$ > leader
(trap '' TERM HUP INT; sh -c 'echo $PPID' > member; while :; do sleep 600; done) &
setsid sh -c 'trap "" TERM HUP INT; echo $$ > apart; while :; do sleep 600; done' &
`;
const NAMES = ["leader", "member", "apart"];

const KINDS: {
    readonly [K in "an MCP server" | "an ACP agent" | "a shell command" | "what brings the local model"]: () => How | undefined;
} = {
    "an MCP server": () => {
        at.write("serve.sh", `cd "$1"\n${LEAVES}exec sleep 600\n`);
        at.write("remit.json", JSON.stringify({ mcpServers: { notes: { command: "/bin/sh", args: ["serve.sh", at.folder] } } }));
        at.write("main.remit", 'import tool Notes from "mcp://notes"\n\nmain func() {\n    Notes.search({ text: "x" })\n}\n');
        return undefined;
    },
    "an ACP agent": () => {
        at.write("serve.sh", `cd "$1"\n${LEAVES}exec sleep 600\n`);
        at.write("remit.json", JSON.stringify({ agents: { tester: { command: ["/bin/sh", join(at.folder, "serve.sh"), at.folder] } } }));
        at.write(
            "main.remit",
            'import agent Tester from "acp://tester" unconfined\n\nmain func() {\n    agent("hello", { agent: Tester })\n}\n',
        );
        return undefined;
    },
    "a shell command": () => {
        at.write(
            "main.remit",
            'import tool Shell from "shell: unconfined" { run: may }\n\nmain func() {\n    Shell.run({ command: "sh serve.sh" })\n}\n',
        );
        at.write("serve.sh", `${LEAVES}exec sleep 600\n`);
        return undefined;
    },
    "what brings the local model": () => {
        at.write("bin/python3", `#!/bin/sh\ncd '${at.folder}'\n${LEAVES}exec sleep 600\n`);
        chmodSync(join(at.folder, "bin/python3"), 0o755);
        return {
            args: ["models", "pull", "local"],
            ends: [null, "SIGINT"],
            env: { PATH: `${join(at.folder, "bin")}:${process.env.PATH}` },
        };
    },
};

describe.each(Object.entries(KINDS))("%s", (_, prepare) => {
    test("is gone after kill -9, with what it left in its group and apart from it", async () => {
        const child = await begin(NAMES, prepare());
        child.kill("SIGKILL");
        await allGone(NAMES);
    });
    test("is gone after Ctrl-C", async () => {
        const how = prepare();
        const child = await begin(NAMES, how);
        child.kill("SIGINT");
        expect(await ended(child)).toEqual(how?.ends ?? [130, null]);
        await allGone(NAMES);
    });
});

describe("the launcher of an older Node", () => {
    const OLD = "/usr/bin/node";
    const old = Number(spawnSync(OLD, ["-p", "process.versions.node.split('.')[0]"], { encoding: "utf8" }).stdout ?? "24") < 24;
    /** The launcher looks at its version alone: on a machine without an older Node the present one says that it is older, to itself only. */
    const launcher = (): { node?: string; env?: NodeJS.ProcessEnv } => {
        if (old) return { node: OLD };
        const lines = ['Object.defineProperty(process.versions, "node", { value: "20.0.0" });', "delete process.env.NODE_OPTIONS;"];
        at.write("older.mjs", lines.join("\n"));
        return { env: { NODE_OPTIONS: `--import=${join(at.folder, "older.mjs")}` } };
    };
    const childOf = (pid: number): number => {
        const pids = textOf(`/proc/${pid}/task/${pid}/children`).trim().split(" ").map(Number);
        const found = pids.find((one) => textOf(`/proc/${one}/cmdline`).includes(BIN));
        if (found === undefined) throw new Error("the launcher has no child");
        return found;
    };

    test("killed with -9 takes its child and what that started with it", async () => {
        KINDS["an MCP server"]();
        const launched = await begin(NAMES, launcher());
        const child = String(childOf(launched.pid as number));
        launched.kill("SIGKILL");
        await expect.poll(() => runs(child)).toBe(false);
        await allGone(NAMES);
    });
    test.each(["SIGKILL", "SIGSEGV"] as const)("ends by %s where its child does", async (signal) => {
        KINDS["a shell command"]();
        const launched = await begin(NAMES, launcher());
        process.kill(childOf(launched.pid as number), signal);
        expect(await ended(launched)).toEqual([null, signal]);
        await allGone(NAMES);
    });
    test.each(["SIGINT", "SIGTERM"] as const)("passes %s on: the run stops in good order", async (signal) => {
        KINDS["a shell command"]();
        const launched = await begin(NAMES, launcher());
        launched.kill(signal);
        expect(await ended(launched)).toEqual([130, null]);
        await allGone(NAMES);
    });
    test("reports a Ctrl-C as SIGINT where the child has no handler for it", async () => {
        // It waits for the end of its input, which this test holds open.
        const { node = process.execPath, env } = launcher();
        const launched = spawn(node, [BIN, "atif", "validate", "-"], {
            cwd: at.folder,
            env: { ...at.env, ...env },
            stdio: ["pipe", "ignore", "ignore"],
        });
        begun.push(launched);
        await expect.poll(() => childOf(launched.pid as number)).toBeGreaterThan(0);
        launched.kill("SIGINT");
        expect(await ended(launched)).toEqual([null, "SIGINT"]);
    });
    test("one Ctrl-C of a terminal, which reaches both, counts as one", async () => {
        KINDS["a shell command"]();
        const launched = await begin(NAMES, launcher());
        const child = childOf(launched.pid as number);
        let said = "";
        launched.stderr?.on("data", (piece: Buffer) => {
            said += piece.toString("utf8");
        });
        process.kill(child, "SIGINT");
        launched.kill("SIGINT");
        expect(await ended(launched)).toEqual([130, null]);
        expect(said.match(/Stopping;/g)).toHaveLength(1);
        // The run's own end is on record: it was not cut off.
        expect(at.remit("runs", "--json").out).not.toContain('"running"');
        await allGone(NAMES);
    });
});
