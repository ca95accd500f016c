/** The hands of an agent in whole runs: each use is ruled on by its remit, asked where that says so, and told in the ledger as its own. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import type { AgentReply, LedgerEvent, Outcome } from "@remit/machine";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { PerformIO } from "../../src/run/host.ts";
import type { RunOptions } from "../../src/run/setup.ts";
import { load } from "../../src/run/program.ts";

let root: string;
beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "remit-hands-"));
    writeFileSync(join(root, "remit.json"), "{}\n");
    mkdirSync(join(root, "src"));
    writeFileSync(join(root, "src", "a.txt"), "before");
    writeFileSync(join(root, "secret.txt"), "never");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const SOURCE = `import tool Repo from "file://workspace"
import agent Fixer from "acp:anything" {
    remit { may Repo.read in "src/**"  ask Repo.write in "src/**" }
}

main func(log: string) { Fixer.send(log) }
`;

const said = (text: string): Outcome => {
    const reply: AgentReply = { text, stop: "end_turn", entries: [], confinement: "remote", spent: { steps: 1, calls: 0, ms: 0 } };
    return { ok: true, value: reply as unknown as Json, origins: ["agent:Fixer"] };
};

/** Runs it with an agent that is played by a function. */
async function ran(agent: (io: PerformIO) => Promise<Outcome>, on: RunOptions = {}) {
    writeFileSync(join(root, "main.remit"), SOURCE);
    const program = await load<Json, Json>(join(root, "main.remit"), {
        workspace: root,
        cache: false,
        env: { HOME: root },
        performers: { agent: (_effect, io) => agent(io) },
    });
    try {
        const handle = program.run("go", on);
        const result = await handle.result;
        const events: LedgerEvent[] = [];
        for await (const event of handle.events) events.push(event);
        return { result, events };
    } finally {
        await program.close();
    }
}

test("what the remit allows is done, what it does not name is refused, and both are told as the agent's", async () => {
    const { result, events } = await ran(async (io) => {
        const inside = await io.use?.({ tool: "Repo", method: "read", args: [{ path: "src/a.txt" }] });
        const outside = await io.use?.({ tool: "Repo", method: "read", args: [{ path: "secret.txt" }] });
        const other = await io.may?.({ tool: "Repo", method: "delete", args: [{ path: "src/a.txt" }] });
        return said(JSON.stringify([inside?.ok, outside?.ok === false && outside.failure.kind, other?.allowed]));
    });
    expect(result.ok && result.value).toBe('[true,"violation.remit",false]');
    const own = events.filter((event) => event.path.includes("/hand["));
    expect(own.map((event) => event.kind)).toEqual(["tool.started", "tool.ended", "policy.denied", "policy.denied"]);
    for (const event of own) {
        expect(event.principal).toContain("Fixer");
        expect(event.labels).toContain("agent:Fixer");
    }
    expect(JSON.stringify(events)).not.toContain("never");
});

test("what the remit asks about is asked with the whole call; a no leaves the file alone, a yes is for that call", async () => {
    const asked: Json[] = [];
    const answers = ["deny", "once"];
    const { result } = await ran(
        async (io) => {
            const write = { tool: "Repo", method: "write", args: [{ path: "src/a.txt", content: "after" }], note: "I mend it" };
            const no = await io.use?.(write);
            const before = readFileSync(join(root, "src", "a.txt"), "utf8");
            const yes = await io.use?.(write);
            return said(JSON.stringify([no?.ok === false && no.failure.kind, before, yes?.ok]));
        },
        {
            on: {
                ask: async (request) => {
                    asked.push(request as unknown as Json);
                    return answers.shift() ?? "deny";
                },
            },
        },
    );
    expect(result.ok && result.value).toBe('["denied","before",true]');
    expect(readFileSync(join(root, "src", "a.txt"), "utf8")).toBe("after");
    expect(asked).toHaveLength(2);
    expect(JSON.stringify(asked[0])).toContain("I mend it");
    expect(JSON.stringify(asked[0])).toContain('"after"');
});

test("a yes to an edit is for the text that it was shown with: another text, or pieces of one, are asked about again", async () => {
    const asked: Json[] = [];
    const write = (of: { readonly [key: string]: Json }) => ({ tool: "Repo", method: "write", args: [{ path: "src/a.txt", ...of }] });
    const { result } = await ran(
        async (io) => {
            const done: boolean[] = [];
            const calls: [{ [key: string]: Json }, string][] = [
                [{ content: "shown" }, "shown"],
                [{ content: "shown" }, "another"],
                [{ edits: [{ old: "b", new: "B" }] }, "Before"],
            ];
            for (const [shown, made] of calls) {
                await io.may?.(write(shown));
                done.push((await io.use?.(write({ content: made })))?.ok === true);
            }
            return said(JSON.stringify(done));
        },
        {
            on: {
                ask: async ({ detail }) => {
                    asked.push((detail as { args: Json[] }).args[0] as Json);
                    return asked.length === 3 || asked.length === 5 ? "deny" : "once";
                },
            },
        },
    );
    expect(result.ok && result.value).toBe("[true,false,false]");
    expect(readFileSync(join(root, "src", "a.txt"), "utf8")).toBe("shown");
    const path = "src/a.txt";
    expect(asked).toEqual([
        { path, content: "shown" },
        { path, content: "shown" },
        { path, content: "another" },
        { path, edits: [{ old: "b", new: "B" }] },
        { path, content: "Before" },
    ]);
});

test("nobody there is a no", async () => {
    const { result } = await ran(async (io) => {
        const use = await io.may?.({ tool: "Repo", method: "write", args: [{ path: "src/new.txt", content: "x" }] });
        return said(JSON.stringify(use?.allowed === false && use.by));
    });
    expect(result.ok && result.value).toBe('"nobody"');
    expect(existsSync(join(root, "src", "new.txt"))).toBe(false);
});

test("F19: an abort while a turn runs ends the turn, and the run stops", async () => {
    const stop = new AbortController();
    let told = false;
    const { result } = await ran(
        (io) =>
            new Promise((resolve) => {
                io.signal.addEventListener("abort", () => {
                    told = true;
                    resolve({ ok: false, failure: { kind: "cancelled", message: "stopped" } });
                });
                stop.abort();
            }),
        { signal: stop.signal },
    );
    expect(told).toBe(true);
    expect(result.ok).toBe(false);
});

test("a question about a file that is there tells what changes in it, by the agent as by the program", async () => {
    const long = Array.from({ length: 200 }, (_, i) => `line ${i}\n`).join("");
    writeFileSync(join(root, "src", "a.txt"), long);
    const asked: Json[] = [];
    const content = long.replace("line 150\n", "changed\n");
    await ran(async (io) => said(String((await io.use?.({ tool: "Repo", method: "write", args: [{ path: "src/a.txt", content }] }))?.ok)), {
        on: {
            ask: async ({ detail }) => {
                asked.push((detail as { changes: { content: Json } }).changes.content);
                return "once";
            },
        },
    });
    expect(asked).toEqual(["…\n  line 148\n  line 149\n- line 150\n+ changed\n  line 151\n  line 152\n…"]);
    expect(readFileSync(join(root, "src", "a.txt"), "utf8")).toBe(content);
});
