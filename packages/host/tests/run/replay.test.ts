/** Replays that could come out different though nothing was changed (RT4, RP5), and recordings against live runs. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { type Outcome, canonicalLedger } from "@remit/machine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import { type LedgerStore, recordOf } from "../../src/ledger/store.ts";
import { machineOf } from "../../src/run/machine.ts";
import { createScrubber } from "../../src/secret/scrub.ts";
import { openLedger } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";
import type { LoadOptions } from "../../src/run/setup.ts";
import { replayRun } from "../../src/run/replay.ts";
import { startFakeProvider } from "../model/fake-provider.ts";

let folder = "";
let store: LedgerStore;
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-replay-"));
    store = openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") });
});
afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
});

test("RT4: an outcome that came with the one that ended the run", async () => {
    const source = `import llm Model from "openai://m"
main agent Four {
    model Model
    role "r"
    description "d"
    main func() {
        parallel for n in [1, 2, 3, 4] max 4 { generate({ input: "Say it." }) }
    }
}
`;
    // All four come at once; the first is more than the run may spend.
    const open: (() => void)[] = [];
    const turn = (): Promise<Outcome> =>
        new Promise((done) => {
            const value = { text: "yes", finish: "stop", model: "m" };
            open.push(() => done({ ok: true, value, origins: ["model:Model"], usage: { input: 30_000, output: 1 } }));
            if (open.length === 4) for (const one of open.splice(0)) one();
        });
    const program = await load({ source }, { performers: { model: turn }, ledger: store, cache: false });
    const handle = program.run(null, { limits: { tokens: 20_000 } });
    expect(await handle.result).toMatchObject({ status: "failed", failure: { kind: "limit.tokens" }, effects: 4 });
    const ledger = await openLedger(store);
    expect(await ledger.replay(handle.id)).toMatchObject({ equal: true, outcomes: 4 });
    expect((await ledger.verify(handle.id)).ok).toBe(true);
});

test("a ledger of an earlier build, which told no labels of calls that failed, replays; one with other labels does not", async () => {
    const source = 'import tool Work from "host:work"\nmain func() { try { Work.go({}) } catch e { e.message } }\n';
    const tools = { Work: { go: () => Promise.reject(new Error("the page says: eve")) } };
    const program = await load({ source }, { tools, ledger: store, cache: false });
    const handle = program.run(null);
    expect(await handle.result).toMatchObject({ status: "done" });
    const record = await recordOf(store, handle.id);
    const telling = (labels: readonly string[]) => ({
        ...record,
        events: record.events.map((event) => (event.kind === "tool.ended" ? { ...event, labels } : event)),
    });
    const replayed = (of: typeof record) => replayRun(of, () => machineOf(of, createScrubber()), "this");
    expect(record.events.find(({ kind }) => kind === "tool.ended")?.labels).toEqual(["tool:Work"]);
    expect(await replayed(record)).toMatchObject({ equal: true });
    expect(await replayed(telling([]))).toMatchObject({ equal: true });
    expect(await replayed(telling(["tool:Other"]))).toMatchObject({ equal: false, first: { message: expect.stringMatching(/labels/) } });
    await program.close();
});

test("RP5: a machine that counts otherwise differs at run.ended, and it is said that it is another one", async () => {
    const program = await load({ source: "main func() { 1 + 1 }\n" }, { ledger: store, cache: false });
    const handle = program.run(null);
    await handle.result;
    const again = async (engine: string) => {
        return replayRun(
            await recordOf(store, handle.id),
            (run) => {
                const machine = machineOf(run, createScrubber());
                // As if a statement cost one step more.
                const before = machine.advance.bind(machine);
                const advance = (): ReturnType<typeof machine.advance> => {
                    const made = before();
                    const events = made.events.map((event) =>
                        event.kind === "run.ended"
                            ? { ...event, data: { ...(event.data as object), steps: machine.usage.steps + 1 } as Json }
                            : event,
                    );
                    return { ...made, events };
                };
                return engine === "same" ? machine : Object.assign(machine, { advance });
            },
            engine,
        );
    };
    const engine = ((await store.options(handle.id)) as { engine: string }).engine;
    const differs = await again("0.2.0 other");
    expect(differs).toMatchObject({ equal: false, first: { path: "main" }, engine: { recorded: engine, present: "0.2.0 other" } });
    expect(differs.first?.message).toMatch(/run\.ended .* has another data/);
    expect(await (await openLedger(store)).replay(handle.id)).toMatchObject({ equal: true });
    expect((await (await openLedger(store)).replay(handle.id)).engine).toBeUndefined();
});

describe("a live run that is recorded, and the run of its recording", () => {
    const PROGRAM = `import llm Model from "openai://gpt-4o-mini"
import tool Work from "host:work"

shape Found { name: string, size: number }

main agent Finder {
    model Model
    role "a finder"
    description "Finds things."

    func find(text: string) {
        use text max 12 tokens as "text"
        generate({ input: "What is it?", attempts: 3 }) -> Found
    }

    func tell(found: list[Found]) {
        use found as "found"
        generate({ input: "Tell of them.", tools: [Work], turns: 3 })
    }

    main func(input: { texts: list[string] }) {
        found = parallel for text in input.texts max 9 { find(text) }
        failed = try { generate({ input: "Refuse.", attempts: 1 }) -> Found } catch failure { failure.kind }
        { found: found, told: tell(found), failed: failed }
    }
}
`;
    const texts = ["one ".repeat(30), "two ".repeat(30), "three ".repeat(30)];
    /** What the model says follows from what it is asked, so that the order in which parallel turns arrive does not matter. */
    const answer = (body: {
        messages: { role: string; content: unknown }[];
    }): { text?: string; calls?: { name: string; args: Json; id: string }[] } => {
        const said = JSON.stringify(body.messages);
        if (said.includes("Refuse.")) return { text: "no" };
        if (said.includes("Tell of them."))
            return body.messages.some((one) => one.role === "tool")
                ? { text: "They are three." }
                : { calls: [{ name: "Work_size", args: {}, id: "c1" }] };
        const name = /one|two|three/.exec(said)?.[0] ?? "none";
        // The first answer is not what the contract wants.
        return said.includes("required field") || body.messages.length > 2
            ? { text: JSON.stringify({ name, size: name.length }) }
            : { text: `{"name": "${name}"}` };
    };

    const ran = async (options: LoadOptions) => {
        const Work = { size: { call: () => 3, readOnly: true } };
        const program = await load<{ texts: string[] }>(
            { source: PROGRAM },
            { tools: { Work: Work as never }, ledger: store, cache: false, root: folder, ...options },
        );
        const handle = program.run({ texts });
        const result = await handle.result;
        await program.close();
        return { result, text: canonicalLedger(await Array.fromAsync(store.events(handle.id))), id: handle.id };
    };

    test("give the same value and the same canonical ledger", async () => {
        await using server = await startFakeProvider({ text: "" });
        server.answer(answer);
        const env = { HOME: folder, OPENAI_API_KEY: "sk-test-0123456789abcdef0123", OPENAI_BASE_URL: `${server.url}/v1` };
        const file = join(folder, "run.ndjson");
        const live = await ran({ env, record: file });
        expect(live.result.failure).toBeUndefined();
        expect(live.result).toMatchObject({
            status: "done",
            value: {
                found: [
                    { name: "one", size: 3 },
                    { name: "two", size: 3 },
                    { name: "three", size: 5 },
                ],
                told: "They are three.",
            },
        });
        const asked = server.requests.length;
        const played = await ran({ env: { HOME: folder }, model: `recorded:${file}` });
        expect(server.requests.length).toBe(asked);
        expect(played.result.value).toEqual(live.result.value);
        expect(played.text).toBe(live.text);
        expect(played.result).toMatchObject({ steps: live.result.steps, usage: live.result.usage, effects: live.result.effects });
        expect(readFileSync(file, "utf8").trim().split("\n").length).toBe(asked);
    });
});
