/** Runs that are killed while an agent works, and after it answered: what it was asked and what its hands did happens once. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Effect, LedgerEvent, UnknownAnswer } from "@remit/machine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openLedger } from "../../src/run/open.ts";
import { AGENT } from "./rig.ts";
import { scriptAt } from "../script.ts";

const ROOT = join(dirname(AGENT), "..", "..", "..", "..", "..");
const CHILD = scriptAt("packages/host/tests/agent/killed.ts");
let root: string;
beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "remit-killed-")));
    const tester = { command: [process.execPath, AGENT], sandbox: { read: [ROOT] }, graceMs: 300 };
    writeFileSync(join(root, "remit.json"), JSON.stringify({ agents: { tester } }));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** One `agent()` whose hand runs these commands, one after another, then a yield whose function runs one. */
function written(...commands: string[]): void {
    const acts = commands.flatMap((command, i) => [
        { do: "request", method: "terminal/create", params: { command } },
        { do: "request", method: "terminal/wait_for_exit", params: { terminalId: `terminal-${i + 1}` } },
    ]);
    writeFileSync(
        join(root, "main.remit"),
        `import tool Shell from "shell: unconfined" { run: may }
import agent Tester from "acp://tester" { remit { may Shell.run } }
import agent Fixer from "stub:source:answer.remit"

main func() {
    worked = agent(${JSON.stringify(JSON.stringify(acts))}, { agent: Tester })
    answered = Fixer.yield(shell: Shell.only(run)) -> number
    { worked: worked?.error?.message ?? "well", answered: answered }
}
`,
    );
    const line = "echo answer >> log";
    writeFileSync(join(root, "answer.remit"), `func answer(agent, shell) {\n    shell.run({ command: "${line}" }).exit_code\n}\n`);
}
function killed(nth: number): void {
    const env = { ...process.env, NODE_OPTIONS: "", HOME: root, XDG_CONFIG_HOME: join(root, "config") };
    const { signal, stderr } = spawnSync(process.execPath, [CHILD, root, String(nth)], { encoding: "utf8", env });
    expect([signal, stderr]).toEqual(["SIGKILL", ""]);
}
async function resumed(unknown: (effect: Effect) => UnknownAnswer | null) {
    const ledger = await openLedger(join(root, "ledger.db"), { config: join(root, "config") });
    const [run] = await ledger.runs();
    const id = run?.id ?? "";
    const env = { HOME: root, PATH: process.env.PATH };
    try {
        const result = await (await ledger.resume(id, { workspace: root, trust: true, env, on: { unknown } })).result;
        const events: LedgerEvent[] = await Array.fromAsync(ledger.store.events(id));
        return { result, events, verified: (await ledger.verify(id)).ok };
    } finally {
        await ledger.close();
    }
}
const log = (): string => (existsSync(join(root, "log")) ? readFileSync(join(root, "log"), "utf8") : "");

test("killed with an answer on record, twice: the agent is not asked again, and its function runs once", async () => {
    written("echo hand >> log");
    killed(1);
    expect(log()).toBe("hand\n");
    // the yield's answer is the first that this process gets
    killed(1);
    expect(log()).toBe("hand\n");
    const asked: string[] = [];
    const { result, events, verified } = await resumed(({ path }) => {
        asked.push(path);
        return { answer: "again" };
    });
    // of no agent: only of what its function had begun, which whoever looks finds not done
    expect(asked).toEqual(["main/Fixer.yield#0/turn[0]/answer/shell.run#0"]);
    expect(result.failure).toBeUndefined();
    expect(result).toMatchObject({ ok: true, value: { worked: "well", answered: 0 } });
    expect(log()).toBe("hand\nanswer\n");
    expect(events.filter(({ kind }) => kind === "agent.answered")).toHaveLength(2);
    expect(verified).toBe(true);
});

test("killed by what a hand did, before it is on record: nobody knows, nothing is done again, and a person says", async () => {
    written("echo hand >> log; kill -9 $PPID");
    killed(0);
    expect(log()).toBe("hand\n");
    const asked: Effect[] = [];
    const open = await resumed((effect) => {
        asked.push(effect);
        return null;
    });
    expect(open.result).toMatchObject({ status: "waiting" });
    expect(asked).toMatchObject([{ kind: "agent" }]);
    expect(log()).toBe("hand\n");
    // what began below the turn is on record, and that nothing says how it ended
    expect(open.events.filter(({ kind, data }) => kind.startsWith("tool.") && (data as { host?: boolean }).host === true)).toMatchObject([
        { kind: "tool.started" },
    ]);
    const { result } = await resumed(() => ({ answer: "give up" }));
    expect(result.failure).toBeUndefined();
    expect(result).toMatchObject({ ok: true, value: { worked: expect.stringContaining("not known whether this happened"), answered: 0 } });
    expect(log()).toBe("hand\nanswer\n");
});

test("killed after what a hand did is on record, and told again: the agent does it again, and it happens once", async () => {
    written("echo hand >> log", "test -e before || { touch before; kill -9 $PPID; }");
    killed(0);
    const { result, events, verified } = await resumed(() => ({ answer: "again" }));
    expect(result.failure).toBeUndefined();
    expect(result).toMatchObject({ ok: true, value: { worked: "well", answered: 0 } });
    expect(log()).toBe("hand\nanswer\n");
    const begun = events.filter(({ kind, path }) => kind === "tool.started" && path.includes("/hand["));
    expect(new Set(begun.map(({ path }) => path)).size).toBe(begun.length);
    expect(verified).toBe(true);
    const ledger = await openLedger(join(root, "ledger.db"), { config: join(root, "config") });
    expect(await ledger.replay(result.run)).toMatchObject({ equal: true });
    await ledger.close();
});
