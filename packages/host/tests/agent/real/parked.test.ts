/** A second turn of a real agent's session that waits for a person: the run ends, and another process tells the turn again in the session that it loads. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { openLedger } from "../../../src/run/open.ts";
import { load } from "../../../src/run/program.ts";
import { type AgentName, startOf } from "./agents.ts";
import { modelServer, type Rule } from "./models/server.ts";
import type { Body } from "./models/wire.ts";

vi.setConfig({ testTimeout: 240_000 });

const SOURCE = `import tool Repo from "file://workspace"
import agent Fixer from "acp://AGENT" { remit { may Repo.read  ask Repo.write } }

main func() { Fixer.yield(x: 1) with { turns: 3 } }
`;
const PAYLOAD = '```remit\nfunc answer(agent, x) { return agent.send("write the file") }\n```';
const WRITES: { readonly [name in "opencode" | "qwen-code"]: { readonly tool: string; readonly path: string } } = {
    opencode: { tool: "write", path: "filePath" },
    "qwen-code": { tool: "write_file", path: "file_path" },
};

for (const [name, { tool, path }] of Object.entries(WRITES))
    test(`${name} loads its session: its second turn is told again once the person has answered, and knows what was said before`, async () => {
        const root = realpathSync(mkdtempSync(join(tmpdir(), "remit-parked-")));
        const home = realpathSync(mkdtempSync(join(tmpdir(), "remit-parked-home-")));
        const target = join(root, "made.txt");
        const rules: Rule[] = [
            {
                when: "write the file",
                say: [{ call: { name: tool, input: { [path]: target, content: "made" } as Body } }, { text: "Written." }],
            },
            { when: "", say: [{ text: PAYLOAD }] },
        ];
        await using model = await modelServer(rules);
        try {
            const { command, args, env } = startOf(name as AgentName, { model: model.url });
            const agents = { [name]: { command: [command, ...args], env, endpoints: [model.url], graceMs: 3_000 } };
            writeFileSync(join(root, "remit.json"), JSON.stringify({ agents }));
            writeFileSync(join(root, "main.remit"), SOURCE.replace("AGENT", name));
            const about = { workspace: root, trust: true, env: { HOME: home, PATH: process.env["PATH"] } };
            const ledger = await openLedger(join(home, "ledger.db"), { config: join(home, "config") });
            await using _closed = { [Symbol.asyncDispose]: () => ledger.close() };
            const first = await (
                await load(join(root, "main.remit"), { ...about, ledger: ledger.store, cache: false, asks: { park: true } })
            ).run({}).result;
            expect(first.status).toBe("waiting");
            expect(existsSync(target)).toBe(false);
            const [ask] = await ledger.asks(first.run);
            await ledger.answer(first.run, ask?.id ?? "", "once", ask?.owner ?? "");
            const heard = model.heard.length;
            const after = await (await ledger.resume(first.run, { ...about, park: true })).result;
            expect(after.failure).toBeUndefined();
            expect(readFileSync(target, "utf8")).toBe("made");
            // Its model is shown the conversation that was loaded.
            expect(JSON.stringify(model.heard.slice(heard).filter(({ tools }) => tools.length > 0)[0]?.body)).toContain("agent.send");
            expect((await ledger.verify(first.run)).ok).toBe(true);
        } finally {
            for (const folder of [root, home]) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
        }
    });
