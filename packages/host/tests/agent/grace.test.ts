/** A turn that ended leaves nothing behind that cancels, or kills, a later one: here the wait for the end of its time. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { PerformIO } from "../../src/run/host.ts";
import { load } from "../../src/run/program.ts";
import { acpSession } from "../../src/agent/session.ts";
import { AGENT, rig } from "./rig.ts";
import { createScrubber } from "../../src/secret/scrub.ts";

const ROOT = join(dirname(AGENT), "..", "..", "..", "..", "..");
/** The agent has ended by then, where its grace began with the turn before. */
const GRACE_MS = 200;
const WORK_MS = 2_000;

test("TU6: an agent whose time is bounded works longer in its second turn than it is given to end", async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "remit-grace-")));
    try {
        const tester = { command: [process.execPath, AGENT], sandbox: { read: [ROOT] }, graceMs: GRACE_MS };
        writeFileSync(join(root, "remit.json"), JSON.stringify({ agents: { tester } }));
        const answer = "```remit\nfunc answer(agent, acts) {\n    7\n}\n```";
        const acts = [
            [{ do: "say", text: "I would rather talk about it." }],
            [
                { do: "wait", ms: WORK_MS },
                { do: "say", text: answer },
            ],
        ];
        writeFileSync(
            join(root, "main.remit"),
            'import agent Tester from "acp://tester" { remit { spend 10 min } }\n\nmain func(acts: string) {\n    Tester.yield(acts: acts) -> number\n}\n',
        );
        const env = { HOME: root, PATH: process.env.PATH ?? "" };
        const program = await load(join(root, "main.remit"), { workspace: root, cache: false, trust: true, env });
        const result = await program.run({ acts: JSON.stringify(acts) }).result;
        await program.close();
        expect(result).toMatchObject({ ok: true, value: 7 });
    } finally {
        rmSync(root, { recursive: true, force: true });
    }
});

test("TU6: time that is up after the turn cancels nothing", async () => {
    await using here = rig();
    const up = Promise.withResolvers<void>();
    await here.reply([{ do: "say", text: "first" }], { limits: { ms: 1 }, io: { wait: () => up.promise } });
    up.resolve();
    await up.promise;
    expect((await here.reply([{ do: "say", text: "second" }])).text).toBe("second");
    expect(here.seen.map(({ message }) => (message as { method?: string }).method)).not.toContain("session/cancel");
});

test("a process that comes to be after its start was called off is ended", async () => {
    const made = Promise.withResolvers<never>();
    const stopped = Promise.withResolvers<string>();
    const called = new AbortController();
    const session = acpSession({
        sdk: await import("@agentclientprotocol/sdk"),
        carry: () => made.promise,
        secrets: createScrubber(),
        name: "Fixer",
        workspace: "/",
        mode: undefined,
        options: {},
        graceMs: GRACE_MS,
        servers: () => [],
        close: async () => undefined,
    });
    const turn = {
        op: "turn",
        agent: { name: "Fixer", uri: "acp://tester", file: "main.remit" },
        session: "s",
        turn: 0,
        prompt: [],
    } as const;
    const effect = { path: "s/turn[0]", kind: "agent", principal: "Fixer", site: null, request: null, labels: [] } as const;
    const no = { ok: false, failure: { kind: "denied", message: "nobody is there", site: null } } as const;
    const io: PerformIO = { signal: called.signal, emit: () => undefined, wait: async () => undefined, child: async () => no };
    const outcome = session.turn({ ...turn, hands: [], limits: {} }, effect, io);
    called.abort();
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: "cancelled" } });
    made.resolve({ stop: async () => stopped.resolve("stopped") } as never);
    expect(await stopped.promise).toBe("stopped");
});
