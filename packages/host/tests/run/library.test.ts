/**
 * The library as its users see it: typed functions, handles, events, cancel, ledgers, resume and replay.
 *
 * Why it is long: one face, and all of it is tested with the same ledger and folder.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type SealedEvent, canonicalLedger, verifyChain } from "@remit/machine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sha256 } from "../../src/ledger/blob.ts";
import type { LedgerError } from "../../src/ledger/error.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { LoadError } from "../../src/load/error.ts";
import { RemitError } from "../../src/failure/error.ts";
import { openLedger } from "../../src/run/open.ts";
import { run } from "../../src/run/blocks.ts";
import { load } from "../../src/run/program.ts";
import { isHosts } from "../../src/run/replay.ts";

let folder = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-run-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const store = (options: { maxPages?: number } = {}): LedgerStore =>
    openSqlite(join(folder, "ledger.db"), { config: join(folder, "config"), ...options });

const DOUBLE = `import tool Work from "host:work"
main func(input: { items: list[number] }) {
    total = 0
    for n in input.items max 1000 { total += Work.double(n) }
    total
}
`;
const double = { Work: { double: (n: number) => n * 2 } };

const PARALLEL = `import tool Work from "host:work"
main func(input: { items: list[number] }) {
    parts = parallel for n in input.items max 1000 {
        a = Work.step(n)
        b = Work.step(a)
        a + b
    }
    Work.sum(parts)
}
`;
const parallel = (delay: () => number) => ({
    Work: {
        step: async (n: number) => {
            await wait(delay());
            return n + 1;
        },
        sum: (parts: number[]) => parts.reduce((a, b) => a + b, 0),
    },
});

describe("programs as functions", () => {
    test("from text, from a file and from a program form", async () => {
        const fromText = await load<{ items: number[] }, number>({ source: DOUBLE }, { tools: double });
        expect(await fromText({ items: [1, 2, 3] })).toBe(12);
        writeFileSync(join(folder, "double.remit"), DOUBLE);
        expect(await run<number>(join(folder, "double.remit"), { items: [5] }, { tools: double, cache: false })).toBe(10);
        const fromForm = await load<{ items: number[] }, number>({ form: JSON.parse(JSON.stringify(fromText.form)) }, { tools: double });
        expect(await fromForm({ items: [4] })).toBe(8);
        expect(fromForm.hash).toBe(fromText.hash);
    });

    test("a file that is no program form: the message names the file and the place in it", async () => {
        const path = join(folder, "form.json");
        const { form } = await load({ source: DOUBLE }, { tools: double });
        const wrong = { ...form, files: [{ file: "a.remit", imports: 1 }] };
        writeFileSync(path, JSON.stringify(wrong));
        await expect(load({ path })).rejects.toThrow(/form\.json is no program form: at \/files\/0\/imports: .*list/);
        writeFileSync(path, "{}");
        await expect(load({ path })).rejects.toMatchObject({
            failure: {
                message: 'form.json is no program form: at /format: the format must be "remit-program/1"',
                hint: expect.stringContaining("remit compile"),
            },
        });
        await expect(load({ form: {} })).rejects.toThrow("this is no program form");
    });

    test("a handle: events as they come, result, usage", async () => {
        const program = await load<{ items: number[] }, number>({ source: DOUBLE }, { tools: double });
        const handle = program.run({ items: [1, 2] });
        const kinds: string[] = [];
        for await (const event of handle.events) kinds.push(event.kind);
        expect(kinds).toEqual(["run.started", "for", "tool.started", "tool.ended", "for", "tool.started", "tool.ended", "run.ended"]);
        expect(await handle.result).toMatchObject({ ok: true, status: "done", value: 6, effects: 2, run: handle.id });
        expect(await handle.value).toBe(6);
        const again: number[] = [];
        for await (const event of handle.events) again.push(event.seq);
        expect(again).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    });

    test("handlers hear each event once, after it is kept", async () => {
        const seen: number[] = [];
        const program = await load({ source: DOUBLE }, { tools: double, on: { event: (event) => void seen.push(event.seq) } });
        await program({ items: [1, 2] });
        expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    });

    test("HL3: what this process commits is told as the ledger keeps it, each event a copy of its own, and the ledger is not read for it", async () => {
        const ledger = store();
        let reads = 0;
        const counted: LedgerStore = {
            ...ledger,
            events: (...at) => {
                reads++;
                return ledger.events(...at);
            },
        };
        const seen: unknown[] = [];
        const event = (one: { readonly seq: number; readonly data: unknown }): void => {
            seen.push(structuredClone(one));
            // A listener that changes what it was given changes nothing for the run and the ledger.
            for (const key of Object.keys(one.data as object)) delete (one.data as { [key: string]: unknown })[key];
        };
        const program = await load<{ items: number[] }, number>({ source: DOUBLE }, { tools: double, ledger: counted });
        const handle = program.run({ items: [1, 2] }, { on: { event } });
        expect(await handle.value).toBe(6);
        expect(reads).toBe(0);
        expect(seen).toStrictEqual(await Array.fromAsync(ledger.events(handle.id)));
        expect(await ledger.verify(handle.id)).toMatchObject({ ok: true });
        await ledger.close();
    });

    test("HL3: where another process wrote, the ledger is read, and each event is heard once", async () => {
        const ledger = store();
        const seen: number[] = [];
        const holed: LedgerStore = {
            ...ledger,
            // The writer knows of no event before its third commit, and of none of the last one.
            create: async (made) => {
                const writer = await ledger.create(made);
                let commits = 0;
                return {
                    ...writer,
                    get batches() {
                        return writer.batches;
                    },
                    commit: async (batch, n) => {
                        const events = await writer.commit(batch, n);
                        return ++commits < 3 || batch.end !== undefined ? [] : events;
                    },
                };
            },
        };
        const on = { event: ({ seq }: { readonly seq: number }) => void seen.push(seq) };
        const program = await load<{ items: number[] }, number>({ source: DOUBLE }, { tools: double, ledger: holed, on });
        expect(await program({ items: [1, 2] })).toBe(6);
        expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
        await ledger.close();
    });

    test("every error of a program is told at once, with its place", async () => {
        const wrong = await load(
            { source: "main func() { return missing\n }\nfunc other() { return absent }\n", file: "wrong.remit" },
            { root: folder },
        ).catch((error: unknown) => error);
        expect(wrong).toBeInstanceOf(LoadError);
        const error = wrong as LoadError;
        expect(error.diagnostics.filter((one) => one.severity === "error").length).toBeGreaterThanOrEqual(2);
        expect(error.site).toMatchObject({ file: "wrong.remit", line: 1 });
        expect(error.message).toMatch(/^wrong\.remit:1:/);
    });

    test("a failure of the program is a RemitError with its kind and place", async () => {
        const program = await load(
            { source: DOUBLE, file: "d.remit" },
            {
                root: folder,
                tools: {
                    Work: {
                        double: () => {
                            throw new Error("out of order");
                        },
                    },
                },
            },
        );
        const error = await program({ items: [1] }).catch((one: unknown) => one);
        expect(error).toBeInstanceOf(RemitError);
        expect(error).toMatchObject({
            kind: "tool",
            failure: { message: expect.stringContaining("out of order") },
            site: { file: "d.remit", line: 4 },
        });
        expect(await program({ items: "no list" }).catch((one: RemitError) => one.kind)).toBe("contract");
        expect(await program({}).catch((one: RemitError) => one.message)).toContain("items");
    });

    test("file imports are read when the program is loaded, and every run sees the same", async () => {
        writeFileSync(join(folder, "data.json"), '{"names": ["a", "b"]}');
        writeFileSync(join(folder, "notes.txt"), "some notes");
        writeFileSync(
            join(folder, "p.remit"),
            `import file Data from "./data.json"\nimport file Notes from "./notes.txt"\nmain func() { { names: Data.names, notes: Notes } }\n`,
        );
        const program = await load(join(folder, "p.remit"), {
            root: folder,
            folders: { cache: join(folder, "cache"), config: join(folder, "config") },
        });
        writeFileSync(join(folder, "notes.txt"), "changed");
        const handle = program.run({});
        expect(await handle.value).toEqual({ names: ["a", "b"], notes: "some notes" });
        let labels: readonly string[] = [];
        for await (const event of handle.events) if (event.kind === "run.ended") labels = event.labels;
        expect(labels).toEqual(["file:data.json", "file:notes.txt"]);
        writeFileSync(join(folder, "data.json"), "{");
        await expect(load(join(folder, "p.remit"), { root: folder, cache: false })).rejects.toMatchObject({
            failure: { message: expect.stringContaining("data.json is not JSON") },
        });
        for (const [text, why] of [
            ['{"names": [], "names": [1]}', 'data.json has the key "names" twice in one object, again at line 1, column 15'],
            ['{"names": [1e999]}', "data.json has the number 1e999 at line 1, column 12, which is too large"],
        ] as const) {
            writeFileSync(join(folder, "data.json"), text);
            await expect(load(join(folder, "p.remit"), { root: folder, cache: false })).rejects.toMatchObject({
                failure: { message: why },
            });
        }
    });

    test("the cache gives the same program, and a changed file another", async () => {
        const path = join(folder, "p.remit");
        const options = { root: folder, folders: { cache: join(folder, "cache"), config: join(folder, "config") } };
        writeFileSync(path, "main func() { 1 + 1 }\n");
        const first = await load(path, options);
        const second = await load(path, options);
        expect(second.form).toEqual(first.form);
        expect(second.hash).toBe(first.hash);
        expect(await second(null)).toBe(2);
        writeFileSync(path, "main func() { 1 + 2 }\n");
        expect(await (await load(path, options))(null)).toBe(3);
    });

    test("limits: time, steps and tool calls", async () => {
        const slow = {
            Work: {
                double: async (n: number, io: { signal: AbortSignal }) => {
                    await wait(10_000, null, { signal: io.signal });
                    return n;
                },
            },
        };
        const program = await load({ source: DOUBLE }, { tools: slow });
        await expect(program({ items: [1] }, { limits: { time: 30 } })).rejects.toMatchObject({ kind: "limit.time" });
        const fast = await load({ source: DOUBLE }, { tools: double });
        await expect(fast({ items: [1, 2, 3, 4, 5] }, { limits: { calls: 3 } })).rejects.toMatchObject({ kind: "limit.calls" });
        await expect(fast({ items: [1, 2, 3, 4, 5] }, { limits: { steps: 5 } })).rejects.toMatchObject({ kind: "limit.steps" });
    });
});

describe("cancel", () => {
    test("an AbortSignal reaches the tool and ends the run", async () => {
        const cancel = new AbortController();
        let told = false;
        const tools = {
            Work: {
                double: async (_n: number, io: { signal: AbortSignal }) => {
                    cancel.abort();
                    await wait(5_000, null, { signal: io.signal }).catch(() => {
                        told = true;
                        throw new Error("stopped");
                    });
                    return 1;
                },
            },
        };
        const program = await load({ source: DOUBLE }, { tools });
        await expect(program({ items: [1] }, { signal: cancel.signal })).rejects.toMatchObject({ kind: "cancelled" });
        expect(told).toBe(true);
    });

    test("an abort is seen, while tools answer without waiting for anything", async () => {
        const cancel = new AbortController();
        const tools = {
            Work: {
                double: (n: number) => {
                    if (n === 1) setTimeout(() => cancel.abort(), 1);
                    for (const until = performance.now() + 1; performance.now() < until; );
                    return n;
                },
            },
        };
        const program = await load({ source: DOUBLE }, { tools });
        const items = Array.from({ length: 500 }, (_, n) => n + 1);
        await expect(program({ items }, { signal: cancel.signal })).rejects.toMatchObject({ kind: "cancelled" });
    });

    test("a cancelled run of a durable ledger is resumed; what finished is not done again", async () => {
        const ledger = await openLedger(store());
        const done: number[] = [];
        const cancel = new AbortController();
        const tools = (stop: boolean) => ({
            Work: {
                double: (n: number) => {
                    done.push(n);
                    if (stop && n === 3) cancel.abort();
                    return n * 2;
                },
            },
        });
        const program = await load<{ items: number[] }, number>({ source: DOUBLE }, { tools: tools(true), ledger: ledger.store });
        const first = program.run({ items: [1, 2, 3, 4, 5] }, { signal: cancel.signal });
        expect(await first.result).toMatchObject({ ok: false, status: "stopped", failure: { kind: "cancelled" } });
        const second = await ledger.resume<number>(first.id, { tools: tools(false) });
        expect(await second.value).toBe(30);
        expect(done).toEqual([1, 2, 3, 4, 5]);
        expect(await ledger.verify(first.id)).toMatchObject({ ok: true, anchored: "yes" });
        expect(await ledger.replay(first.id)).toMatchObject({ equal: true, outcomes: 5 });
        await expect(ledger.resume(first.id)).rejects.toMatchObject({ code: "finished" });
        await ledger.close();
    });
});

test("a model turn that was cut short is made again, and the ledger says so", async () => {
    writeFileSync(join(folder, "replies.json"), JSON.stringify(['{"severity": "high"}']));
    writeFileSync(join(folder, "note.txt"), "the disk is on fire");
    const source = `import llm Model from "scripted:replies.json"
import tool Files from "file://workspace"
main agent Triage {
    model Model
    role "a triage nurse for builds"
    description "Says how bad a note is"
    main func() {
        note = Files.read({ path: "note.txt" }).content
        use note as "note"
        generate({ input: "How bad is it?" }) -> { severity: "low" | "high" }
    }
}
`;
    writeFileSync(join(folder, "triage.remit"), source);
    const ledger = await openLedger(store());
    const cancel = new AbortController();
    const program = await load<null, { severity: string }>(join(folder, "triage.remit"), {
        root: folder,
        workspace: folder,
        cache: false,
        ledger: ledger.store,
        performers: {
            model: async (_effect, io) => {
                cancel.abort();
                await wait(5_000, null, { signal: io.signal });
                return { ok: false, failure: { kind: "model", message: "never" } };
            },
        },
    });
    const first = program.run(null, { signal: cancel.signal });
    expect((await first.result).status).toBe("stopped");
    const second = await ledger.resume<{ severity: string }>(first.id);
    expect(await second.value).toEqual({ severity: "high" });
    const events = await Array.fromAsync(ledger.events(first.id));
    expect(events.filter(isHosts)).toMatchObject([{ kind: "effect.started", data: { effect: "model", again: true } }]);
    expect(events.filter((event) => event.kind === "tool.ended").length).toBe(1);
    expect(events.find((event) => event.kind === "run.ended")?.labels).toEqual(["model:Model", "tool:Files"]);
    expect(await ledger.replay(first.id)).toMatchObject({ equal: true, outcomes: 2 });
    expect((await ledger.verify(first.id)).ok).toBe(true);
    await ledger.close();
});

describe("an outcome that nobody knows", () => {
    async function interrupted(ledger: LedgerStore): Promise<string> {
        const cancel = new AbortController();
        const tools = {
            Work: {
                double: (_n: number, io: { signal: AbortSignal }) => {
                    cancel.abort();
                    return wait(5_000, 1, { signal: io.signal });
                },
            },
        };
        const program = await load({ source: DOUBLE }, { tools, ledger });
        const handle = program.run({ items: [7] }, { signal: cancel.signal });
        await handle.result;
        return handle.id;
    }

    test("nobody there: the run waits and says how to answer", async () => {
        const ledger = await openLedger(store());
        const id = await interrupted(ledger.store);
        const handle = await ledger.resume(id, { tools: double });
        const result = await handle.result;
        expect(result).toMatchObject({ ok: false, status: "waiting", waiting: [{ kind: "tool" }] });
        expect(result.failure?.hint).toContain(`remit resume ${id}`);
        expect(await ledger.run(id)).toMatchObject({ status: "waiting", live: false });
        await ledger.close();
    });

    test.each([
        ["done", { answer: "done", value: 100 } as const, 100, 0],
        ["again", { answer: "again" } as const, 14, 1],
    ])("%s", async (_name, said, value, times) => {
        const ledger = await openLedger(store());
        const id = await interrupted(ledger.store);
        let calls = 0;
        const handle = await ledger.resume<number>(id, {
            tools: {
                Work: {
                    double: (n: number) => {
                        calls++;
                        return n * 2;
                    },
                },
            },
            on: { unknown: () => said },
        });
        expect(await handle.value).toBe(value);
        expect(calls).toBe(times);
        const events = await Array.fromAsync(ledger.events(id));
        expect(events.filter(isHosts).map((event) => event.kind)).toEqual(["ask.requested", "ask.decided"]);
        // BY4: what a person says of a tool's outcome is not the person's own word.
        const { labels } = events.find((event) => event.kind === "tool.ended" && !isHosts(event)) as (typeof events)[number];
        expect(labels).toEqual(said.answer === "done" ? ["answered", "tool:Work"] : ["tool:Work"]);
        expect((await ledger.replay(id)).equal).toBe(true);
        expect((await ledger.verify(id)).ok).toBe(true);
        await ledger.close();
    });

    test("give up: the program is told", async () => {
        const ledger = await openLedger(store());
        const id = await interrupted(ledger.store);
        const handle = await ledger.resume(id, { tools: double, on: { unknown: () => ({ answer: "give up" }) } });
        await expect(handle.value).rejects.toMatchObject({ kind: "tool" });
        await ledger.close();
    });
});

test("same program and outcomes: same steps and same canonical ledger, whatever the timing", async () => {
    let seed = 1;
    const delay = (): number => {
        seed = (seed * 1103515245 + 12345) % 2 ** 31;
        return seed % 4;
    };
    const ledger = await openLedger(store());
    const program = await load<{ items: number[] }, number>({ source: PARALLEL }, { tools: parallel(delay), ledger: ledger.store });
    let first: { text: string; steps: number } | null = null;
    for (let i = 0; i < 25; i++) {
        const handle = program.run({ items: [1, 2, 3, 4, 5, 6] });
        const result = await handle.result;
        const text = canonicalLedger(await Array.fromAsync(ledger.events(handle.id)));
        first ??= { text, steps: result.steps };
        expect(text).toBe(first.text);
        expect(result.steps).toBe(first.steps);
        expect(await ledger.replay(handle.id)).toMatchObject({ equal: true, steps: { recorded: first.steps, replayed: first.steps } });
    }
    await ledger.close();
});

test("a run whose time was up in the middle of computing is replayed to the same place", async () => {
    const ledger = await openLedger(store());
    const source = `import tool Work from "host:work"\nmain func() {\n    n = Work.double(1)\n    repeat * 100000000 { n += 1 }\n    n\n}\n`;
    const program = await load({ source }, { tools: double, ledger: ledger.store });
    const handle = program.run(null, { limits: { time: 150 } });
    expect(await handle.result).toMatchObject({ status: "failed", failure: { kind: "limit.time" }, effects: 1 });
    expect(await ledger.replay(handle.id)).toMatchObject({ equal: true });
    expect((await ledger.verify(handle.id)).ok).toBe(true);
    await ledger.close();
});

test("a run whose time was up among iterations that go on at the same moment is replayed to the same place", async () => {
    const ledger = await openLedger(store());
    const source = `import tool Work from "host:work"
main func(input: { items: list[number] }) {
    sums = parallel for n in input.items max 9 {
        a = Work.step(n)
        repeat * 90000 { a += 1 }
        b = Work.step(a)
        repeat * 70000 { b = b.max(a) + 1 }
        Work.step(b)
    }
    total = 0
    repeat * 100000000 { total = total + sums.map(x => x + 1).length }
    total
}
`;
    const program = await load({ source }, { tools: parallel(() => 3), ledger: ledger.store, concurrency: 4 });
    for (const time of [40, 90, 140, 220, 350]) {
        const handle = program.run({ items: [1, 2, 3, 4, 5] }, { limits: { time } });
        expect(await handle.result).toMatchObject({ status: "failed", failure: { kind: "limit.time" } });
        expect(await ledger.replay(handle.id)).toMatchObject({ equal: true });
        expect((await ledger.verify(handle.id)).ok).toBe(true);
    }
    await ledger.close();
});

test("the time of a run goes on counting where it is resumed", async () => {
    const ledger = await openLedger(store());
    const cancel = new AbortController();
    const tools = {
        Work: {
            double: {
                repeatable: true,
                call: async (n: number, io: { signal: AbortSignal }) => {
                    if (n === 1) return 1;
                    cancel.abort();
                    return wait(1e7, 1, { signal: io.signal });
                },
            },
        },
    };
    const program = await load({ source: DOUBLE }, { tools, ledger: ledger.store });
    const handle = program.run({ items: [1, 2] }, { limits: { time: 1e6 }, signal: cancel.signal });
    expect(await handle.result).toMatchObject({ status: "stopped" });
    const { spent } = await ledger.run(handle.id);
    expect(spent).toBeLessThan(1e6);
    // As if the first part had taken nearly all of it.
    await (await ledger.store.own(handle.id)).commit({ spent: 1e6 - 5, end: { status: "stopped" } });
    const resumed = await ledger.resume(handle.id, { tools });
    expect(await resumed.result).toMatchObject({ status: "failed", failure: { kind: "limit.time" }, effects: 1 });
    expect((await ledger.run(handle.id)).spent).toBeGreaterThanOrEqual(1e6 - 5);
    expect(await ledger.replay(handle.id)).toMatchObject({ equal: true });
    await ledger.close();
});

test("secrets of the environment stay out of the ledger, however they come in", async () => {
    const ledger = await openLedger(store());
    const secret = "s3cr3t-value-0123456789";
    const program = await load(
        { source: DOUBLE.replace("total = 0", "echo = Work.echo(input.key)\n    total = 0").replace("items:", "key: string, items:") },
        {
            tools: { Work: { double: (n: number) => n * 2, echo: () => `it is ${secret}` } },
            env: { HOME: folder, SOME_API_KEY: secret },
            ledger: ledger.store,
        },
    );
    const handle = program.run({ key: secret, items: [1] });
    expect(await handle.value).toBe(2);
    expect((await Array.fromAsync(ledger.export(handle.id))).join("")).not.toContain(secret);
    expect(JSON.stringify(await ledger.store.options(handle.id))).not.toContain(secret);
    expect((await Array.fromAsync(ledger.export(handle.id))).join("")).toContain("[secret env:SOME_API_KEY]");
    await ledger.close();
});

test("a replay names the first divergence", async () => {
    const ledger = await openLedger(store());
    const program = await load<{ items: number[] }, number>({ source: DOUBLE }, { tools: double, ledger: ledger.store });
    const handle = program.run({ items: [1, 2, 3] });
    await handle.value;
    const { DatabaseSync } = await import("node:sqlite");
    const db = new DatabaseSync(join(folder, "ledger.db"));
    db.exec(`UPDATE events SET data = replace(data, '"value":4', '"value":5') WHERE n = 2`);
    expect(await ledger.replay(handle.id)).toMatchObject({
        equal: false,
        first: { path: "main/for[1]/Work.double#0", message: expect.stringContaining("tool.ended") },
    });
    db.exec("DELETE FROM events WHERE n = 2");
    expect(await ledger.replay(handle.id)).toMatchObject({ equal: false });
    db.close();
    await ledger.close();
});

test("a full ledger makes the run wait until it is cancelled; with room again it goes on", async () => {
    const small = store({ maxPages: 45 });
    const tools = { Work: { double: (n: number) => n * 2 } };
    const program = await load<{ items: number[] }, number>({ source: DOUBLE }, { tools, ledger: small });
    const items = Array.from({ length: 200 }, (_, i) => i);
    const said: unknown[] = [];
    const stalled = (why: LedgerError | null): void => {
        said.push(why?.code);
        handle.cancel();
    };
    const handle = program.run({ items }, { on: { stalled } });
    expect(await handle.result).toMatchObject({ ok: false, status: "stopped" });
    expect(said).toEqual(["full"]);
    await small.close();
    const ledger = await openLedger(store());
    const before = (await ledger.run(handle.id)).effects;
    expect(before).toBeGreaterThan(3);
    expect((await ledger.verify(handle.id)).ok).toBe(true);
    const resumed = await ledger.resume<number>(handle.id, { tools, on: { unknown: () => ({ answer: "again" }) } });
    expect(await resumed.value).toBe(items.reduce((a, b) => a + 2 * b, 0));
    await ledger.close();
});

test("OD3: an outcome that was kept before its turn is the effect's when the run goes on", async () => {
    const ledger = await openLedger(store());
    const called = Promise.withResolvers<void>();
    const tools = { Work: { double: (_n: number): Promise<number> => new Promise(() => called.resolve()) } };
    const program = await load<{ items: number[] }, number>({ source: DOUBLE }, { tools, ledger: ledger.store });
    const handle = program.run({ items: [4] });
    await called.promise;
    handle.cancel();
    expect(await handle.result).toMatchObject({ status: "stopped" });
    const [open] = await ledger.store.pending(handle.id);
    const elsewhere = await ledger.store.own(handle.id);
    await elsewhere.record({ path: open?.path as string, outcome: { ok: true, value: 9, origins: ["tool:Work"] } });
    await elsewhere.release();
    const resumed = await ledger.resume<number>(handle.id, { tools });
    expect(await resumed.value).toBe(9);
    expect(await ledger.verify(handle.id)).toMatchObject({ ok: true, bound: "yes" });
    await ledger.close();
});

test("an export with parts taken out still verifies", async () => {
    const ledger = await openLedger(store());
    const program = await load<{ items: number[] }, number>({ source: DOUBLE }, { tools: double, ledger: ledger.store });
    const handle = program.run({ items: [1, 2] });
    await handle.value;
    const lines = await Array.fromAsync(ledger.export(handle.id, ["content", "labels"]));
    expect(lines.join("")).not.toContain('"args"');
    expect(
        verifyChain(
            lines.map((line) => JSON.parse(line) as SealedEvent),
            sha256,
        ),
    ).toMatchObject({ ok: true, count: 8 });
    await ledger.close();
});

test("large values are kept once", async () => {
    const ledger = await openLedger(store());
    const big = "x".repeat(100_000);
    const source = `import tool Work from "host:work"\nmain func() {\n    a = Work.get()\n    b = Work.get()\n    a == b\n}\n`;
    const program = await load<null, boolean>({ source }, { tools: { Work: { get: () => big } }, ledger: ledger.store });
    expect(await program(null)).toBe(true);
    const { DatabaseSync } = await import("node:sqlite");
    const db = new DatabaseSync(join(folder, "ledger.db"));
    expect(db.prepare("SELECT count(*) AS n FROM blobs").get()).toEqual({ n: 1 });
    db.close();
    expect((await ledger.replay("last")).equal).toBe(true);
    expect((await ledger.verify("last")).ok).toBe(true);
    await ledger.close();
});
