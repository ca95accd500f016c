/** A new run with another answer at one place (FO1–FO5). */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { forkRun } from "../../src/debug/fork.ts";
import { memoryStore } from "../../src/ledger/memory.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { openStore } from "../../src/index.ts";
import { openLedger } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";
import type { HostOptions } from "../../src/run/setup.ts";

const SOURCE = `import tool Work from "host:work"
main func(input: { n: number }) {
    first = Work.step(input.n)
    parts = parallel for i in [1, 2, 3] max 3 { Work.step(first + i) }
    last = Work.step(100)
    [first, parts, last]
}
`;

async function recorded(): Promise<{ store: LedgerStore; id: string; calls: number[]; tools: HostOptions["tools"] & object }> {
    const store = memoryStore();
    const calls: number[] = [];
    const tools = {
        Work: {
            step: (n: number) => {
                calls.push(n);
                if (n === 100) throw new Error("broken");
                return n * 10;
            },
        },
    };
    const program = await load<{ n: number }>({ source: SOURCE, file: "main.remit" }, { ledger: store, tools, cache: false });
    const result = await program.run({ n: 1 }).result;
    expect(result.ok).toBe(false);
    return { store, id: result.run, calls, tools };
}
const dump = async (store: LedgerStore, id: string): Promise<string> =>
    JSON.stringify([
        await store.run(id),
        await Array.fromAsync(store.events(id)),
        await Array.fromAsync(store.outcomes(id)),
        await store.verify(id),
    ]);

test("up to the place nothing is performed; the value carries who proposed it; the first run stays as it was", async () => {
    const { store, id, calls, tools } = await recorded();
    const before = await dump(store, id);
    calls.length = 0;
    const forked = { path: await lastPath(store, id), value: 7, origin: "agent:Fixer", proposal: "p", by: "os:1" };
    const handle = await forkRun<Json>(store, id, forked, { tools });
    expect(await handle.value).toEqual([10, [110, 120, 130], 7]);
    expect(calls).toEqual([]);
    expect(await dump(store, id)).toBe(before);
    expect((await store.verify(handle.id)).ok).toBe(true);
    const ended = (await Array.fromAsync(store.events(handle.id))).find((one) => one.kind === "tool.ended" && one.path === forked.path);
    expect(JSON.stringify(ended)).toContain("agent:Fixer");
    const asks = (await Array.fromAsync(store.events(handle.id))).filter((one) => one.kind.startsWith("ask."));
    expect(asks.map((one) => one.data)).toMatchObject([
        { of: id, value: 7, origin: "agent:Fixer", proposal: "p", host: true },
        { decision: "accept", by: "os:1", host: true },
    ]);
    const ledger = await openLedger(store);
    expect(await ledger.replay(handle.id)).toMatchObject({ equal: true });
});

test("from an earlier place on it is a run like any other", async () => {
    const { store, id, calls, tools } = await recorded();
    calls.length = 0;
    const handle = await forkRun<Json>(store, id, { path: "main/Work.step#0", value: 50, origin: "agent:Fixer", proposal: "p" }, { tools });
    const result = await handle.result;
    expect(result.ok).toBe(false);
    expect([...calls].sort((a, b) => a - b)).toEqual([51, 52, 53, 100]);
});

test("only where the run asked for something, and not for what nobody gives", async () => {
    const { store, id, tools } = await recorded();
    const at = (path: string) => forkRun<Json>(store, id, { path, value: 1, origin: "agent:Fixer", proposal: "p" }, { tools });
    await expect(at("main/Work.step#9")).rejects.toThrow("has no effect at");
    await expect(at("main")).rejects.toThrow("has no effect at");
    expect(await store.runs()).toHaveLength(1);
});

const HANDED = `import agent Worker from "stub:faulty?kind=unreachable"
main func(input: { n: number }) {
    answered = Worker.yield(n: input.n) -> { twice: number }
    said = Worker.send("And now?")
    worked = agent("Do it.", { agent: Worker })
    [answered.twice, said, worked.data.text]
}
`;

test("a value stands for what an agent gives: a yield's function, a text, a task; each is checked, and carries who proposed it", async () => {
    const store = memoryStore();
    const program = await load<{ n: number }>({ source: HANDED, file: "main.remit" }, { ledger: store, cache: false });
    const forked = async (id: string, value: Json) => {
        const [path] = (await Array.fromAsync(store.outcomes(id))).filter(({ outcome }) => !outcome.ok).map((one) => one.path);
        return (await forkRun<Json>(store, id, { path: path ?? "", value, origin: "agent:Fixer", proposal: "p" })).result;
    };
    const first = await program.run({ n: 4 }).result;
    expect(first.failure).toMatchObject({ kind: "unreachable" });
    // not what the contract wants: the turn that would mend it is the agent's own, who is not there
    expect((await forked(first.run, { twice: "eight" })).ok).toBe(false);
    const second = await forked(first.run, { twice: 8 });
    const third = await forked(second.run, "Nothing.");
    expect(third.failure?.message).toContain("data");
    expect((await store.verify(third.run)).ok).toBe(true);
    const path = (await Array.fromAsync(store.outcomes(third.run))).at(-1)?.path ?? "";
    const last = await forkRun<Json>(store, third.run, { path, value: "Done.", origin: "agent:Fixer", proposal: "p" });
    expect(await last.value).toEqual([8, "Nothing.", "Done."]);
    const payload = (await Array.fromAsync(store.events(last.id))).find(({ kind }) => kind === "yield.payload");
    expect(JSON.stringify(payload)).toContain("twice");
    expect(JSON.stringify((await Array.fromAsync(store.outcomes(last.id))).map((one) => one.outcome))).toContain(
        '"origins":["agent:Fixer"]',
    );
});

test("what a person allowed for the session in the first run holds in the new one, also once that was stopped and resumed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-fork-"));
    const store = await openStore(join(folder, "ledger.db"), { config: join(folder, "config") });
    const source = `import tool Work from "host:work" { send: ask, look: may }
main func() {
    Work.send(1)
    a = Work.look(1)
    Work.send(2)
    b = Work.look(2)
    Work.send(3)
    [a, b]
}
`;
    const stop = new AbortController();
    let asked = 0;
    const sent: number[] = [];
    const look = {
        call: (n: number) => {
            if (n === 2) stop.abort();
            return n;
        },
        readOnly: true,
    };
    const tools = {
        Work: {
            send: (n: number) => {
                sent.push(n);
                return n;
            },
            look,
        },
    };
    const on = (answer: "session" | "deny") => ({
        ask: () => {
            asked++;
            return answer;
        },
    });
    const program = await load<null>({ source, file: "main.remit" }, { ledger: store, tools, cache: false, on: on("session") });
    const first = await program.run(null, { signal: stop.signal }).result;
    expect(asked).toBe(1);
    await program.close();
    const forked = { path: "main/Work.look#0", value: 5, origin: "agent:Fixer", proposal: "p" };
    const again = new AbortController();
    const stopping = { Work: { ...tools.Work, look: { call: () => again.abort(), readOnly: true } } };
    const handle = await forkRun<Json>(store, first.run, forked, { tools: stopping as never, on: on("deny"), signal: again.signal });
    expect((await handle.result).status).toBe("stopped");
    await store.close();
    const ledger = await openLedger(join(folder, "ledger.db"), { config: join(folder, "config") });
    expect(await (await ledger.resume(handle.id, { tools, on: on("deny") })).value).toEqual([5, null]);
    expect(sent).toEqual([1, 2, 2, 3]);
    expect(asked).toBe(1);
    await ledger.close();
    rmSync(folder, { recursive: true });
});

test("a question for a person is not answered by a proposal", async () => {
    const store = memoryStore();
    const tools = { Work: { step: (n: number) => n } };
    const source = SOURCE.replace('"host:work"', '"host:work" {\n    step: ask\n}');
    const program = await load<{ n: number }>({ source, file: "main.remit" }, { ledger: store, tools, cache: false, asks: { park: true } });
    const result = await program.run({ n: 1 }).result;
    expect(result.status).toBe("waiting");
    const path = (await store.pending(result.run))[0]?.path ?? "";
    expect(path).toContain("ask");
    await expect(forkRun(store, result.run, { path, value: "once", origin: "agent:Fixer", proposal: "p" }, { tools })).rejects.toThrow(
        "not for what ask gives",
    );
    expect(await store.runs()).toHaveLength(1);
});

/** Path of the outcome that failed. */
async function lastPath(store: LedgerStore, id: string): Promise<string> {
    return (await Array.fromAsync(store.outcomes(id))).at(-1)?.path ?? "";
}

test("F56: a probe reads and changes nothing, says what it is, and leaves the run that it comes from as it was", async () => {
    const store = memoryStore();
    const root = mkdtempSync(join(tmpdir(), "remit-probe-"));
    writeFileSync(join(root, "a.txt"), "there");
    const source = `import tool Repo from "file://workspace"
main func(input) {
    first = Repo.read({ path: "a.txt" })
    Repo.write({ path: "b.txt", content: text(first) })
    { read: Repo.read({ path: "a.txt" }).content, first: first }
}
`;
    const on = { workspace: root, cache: false };
    const program = await load<Json, Json>({ source, file: "main.remit" }, { ledger: store, ...on });
    const result = await program.run(null).result;
    expect(result.ok).toBe(true);
    const before = await dump(store, result.run);
    rmSync(join(root, "b.txt"));
    const forked = { path: "main/Repo.read#0", value: "other", origin: "agent:Fixer", proposal: "p", probe: true };
    const handle = await forkRun<Json>(store, result.run, forked, on);
    expect(await handle.value).toMatchObject({ first: "other", read: "there" });
    expect(existsSync(join(root, "b.txt"))).toBe(false);
    expect(await dump(store, result.run)).toBe(before);
    const asked = (await Array.fromAsync(store.events(handle.id))).find((one) => one.kind === "ask.requested");
    expect(asked?.data).toMatchObject({ probe: true, of: result.run });
    expect(await store.options(handle.id)).toMatchObject({ mode: "dry-run" });
    rmSync(root, { recursive: true, force: true });
});
