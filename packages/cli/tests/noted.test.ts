/** What an agent did before Ctrl-C or a kill ended the run is in `remit trace` and `remit trace --atif`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BIN, type Room, room } from "./remit.ts";
import { scriptAt } from "../../host/tests/script.ts";

const AGENT = scriptAt("packages/host/tests/agent/agents/agent.ts");
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
let at: Room;
beforeEach(() => {
    at = room();
    const tester = { command: [process.execPath, AGENT], env: { FAULT: "ignores cancel" }, sandbox: { read: [ROOT, dirname(AGENT)] } };
    at.write("remit.json", JSON.stringify({ agents: { tester } }));
    const calls = ["c1", "c2", "c3"].map((id) => ({
        do: "update",
        update: { sessionUpdate: "tool_call", toolCallId: id, title: `Look at ${id}`, kind: "read", status: "completed" },
    }));
    const acts = JSON.stringify(JSON.stringify([...calls, { do: "wait", ms: 600_000 }]));
    at.write("main.remit", `import agent Tester from "acp://tester"\n\nmain func() {\n    return agent(${acts}, { agent: Tester })\n}\n`);
});
afterEach(() => at.clear());

test.each(["SIGINT", "SIGKILL"] as const)("%s", async (signal) => {
    const child = spawn(process.execPath, [BIN, "run", "main.remit", "--yes", "--trust"], { cwd: at.folder, env: at.env, stdio: "ignore" });
    const over = once(child, "exit");
    try {
        await expect.poll(() => at.remit("trace", "last").out, { interval: 300 }).toContain("Look at c3");
    } finally {
        child.kill(signal);
    }
    await over;
    const trace = at.remit("trace", "last").out;
    const atif = at.remit("trace", "last", "--atif");
    expect(atif.code).toBe(0);
    for (const id of ["c1", "c2", "c3"]) {
        expect(trace).toContain(`Look at ${id}`);
        expect(atif.out).toContain(`"tool_call_id": "${id}"`);
    }
});
