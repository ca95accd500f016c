/** Runs on a real server: cancelled, long, large, computing, answered, let go. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type HostTool, type LoadOptions, openLedger, openStore, openWorld, type ProgramWorld, type ToolCallContext } from "@remit/host";
import { beforeAll, expect, test } from "vitest";
import { type DevServer, refusalOf } from "../src/index.ts";
import { questionsOf, type Room, roomAt, sharedServer } from "./room.ts";

let server: DevServer;
beforeAll(async () => {
    server = await sharedServer();
});

const world = (room: Room, source: string, options: LoadOptions = {}): Promise<ProgramWorld> =>
    openWorld({ source }, { cache: false, process: room.on, ...options });

const SUM = `import tool Words from "host:words"
main func(input) {
    total = 0
    for word in input.words max 500 { total += Words.size(word) }
    total
}`;

test("cancelled in the middle: the performer is told, the run is stopped, and goes on where it is submitted again", async () => {
    await using room = await roomAt(server);
    const reached = Promise.withResolvers<void>();
    const told = Promise.withResolvers<void>();
    let calls = 0;
    const slow: HostTool = {
        size: {
            readOnly: true,
            call: async (word: string, { signal }: { readonly signal: AbortSignal }) => {
                if (++calls !== 2) return word.length;
                reached.resolve();
                await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
                told.resolve();
                return -1;
            },
        },
    };
    await room.worker({ host: { tools: { Words: slow } } });
    const program = await world(room, SUM);
    const run = await room.client.submit(program, program.kept({ words: ["a", "bb", "ccc"] }));
    await reached.promise;
    await room.client.cancel(run);
    await expect(room.client.result(run)).rejects.toMatchObject({ kind: "cancelled" });
    // With its next sign of life, which may be after the end of the run.
    await told.promise;
    expect(await room.store.run(run)).toMatchObject({ status: "stopped", live: false });
    await room.client.goOn(run);
    await room.client.result(run);
    expect(await room.store.run(run)).toMatchObject({ status: "done" });
    expect(await room.store.verify(run)).toMatchObject({ ok: true, bound: "yes" });
});

test("WAC3: a run whose ledger is locked while it opens waits for it, and goes on", async () => {
    await using room = await roomAt(server);
    const patience = 50;
    const store = await openStore(room.file, { env: { HOME: room.folder }, timeout: patience });
    const program = await world(room, "main func(input) { input.n + 1 }");
    const run = await room.client.submit(program, program.kept({ n: 1 }));
    using lock = new DatabaseSync(room.file);
    lock.exec("BEGIN IMMEDIATE");
    const worker = await room.worker({ ledger: store });
    const flow = room.client.client.workflow.getHandle(run);
    await expect.poll(async () => (await flow.describe()).raw.pendingWorkflowTask?.startedTime).toBeTruthy();
    // Longer than the store waits for a lock.
    await new Promise((resolve) => setTimeout(resolve, 10 * patience));
    lock.exec("ROLLBACK");
    expect(await room.client.result(run)).toBe(2);
    await worker.shutdown();
    await store.close();
});

test("WAC4: a run that its worker cannot open fails with the reason after its tries, and goes on when that is mended", async () => {
    await using room = await roomAt(server);
    let isMended = false;
    const ofRun = (): null => {
        if (!isMended) throw new Error("the folder of the tool is not there");
        return null;
    };
    await room.worker({ ofRun, tries: 2 });
    const program = await world(room, "main func(input) { input.n + 1 }");
    const run = await room.client.submit(program, program.kept({ n: 1 }));
    const message = "the worker could not open the run in 2 tries: the folder of the tool is not there";
    await expect(room.client.result(run)).rejects.toMatchObject({ failure: { kind: "unreachable", message, hint: expect.any(String) } });
    expect((await room.client.status(run)).state).toBe("failed");
    isMended = true;
    await room.client.goOn(run, { resume: {} });
    expect(await room.client.result(run)).toBe(2);
});

test("WAC4: a run whose world hangs while it opens fails after its tries and says what hangs, and goes on when that is mended", async () => {
    await using room = await roomAt(server);
    const late: (() => void)[] = [];
    let isMended = false;
    const ofRun = (): null | Promise<null> => (isMended ? null : new Promise((resolve) => late.push(() => resolve(null))));
    await room.worker({ ofRun, tries: 2, opening: 100 });
    const program = await world(room, "main func(input) { input.n + 1 }");
    const run = await room.client.submit(program, program.kept({ n: 1 }));
    const message = "the worker could not open the run in 2 tries: what the worker gives this run (`ofRun`) did not come within 0.1 s";
    await expect(room.client.result(run)).rejects.toMatchObject({ failure: { kind: "unreachable", message, hint: expect.any(String) } });
    expect(late).toHaveLength(2);
    // One that opens after all is closed, and is in the way of no later one.
    for (const open of late) open();
    isMended = true;
    await room.client.goOn(run, { resume: {} });
    expect(await room.client.result(run)).toBe(2);
});

test("WAC4: where a world hangs when it is looked up what became of a call, the execution fails and says what hangs, and the run goes on after that", async () => {
    await using room = await roomAt(server);
    const reached = Promise.withResolvers<void>();
    const hangs: HostTool = {
        size: {
            call: (_word: string, { signal }: { readonly signal: AbortSignal }) => {
                reached.resolve();
                return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
            },
        },
    };
    const first = await room.worker({ host: { tools: { Words: hangs } } });
    const program = await world(room, SUM);
    const run = await room.client.submit(program, program.kept({ words: ["abc"] }));
    await reached.promise;
    await first.shutdown();
    let isMended = false;
    let tries = 0;
    const ofRun = (): null | Promise<null> => {
        tries++;
        return isMended ? null : new Promise(() => undefined);
    };
    await room.worker({ ofRun, opening: 100, host: { tools: { Words: { size: { call: (word: string) => word.length } } } } });
    const message = "the worker could not open the run in 3 tries: what the worker gives this run (`ofRun`) did not come within 0.1 s";
    await expect(room.client.result(run)).rejects.toMatchObject({ failure: { kind: "unreachable", message, hint: expect.any(String) } });
    expect(tries).toBe(3);
    isMended = true;
    await room.client.goOn(run, { resume: {} });
    const [question] = await questionsOf(room, run);
    expect(question).toMatchObject({ kind: "unknown" });
    const { id } = question as { readonly id: string };
    await room.client.answer(run, { question: id, by: room.on.user, said: { answer: "again" } });
    expect(await room.client.result(run)).toBe(3);
});

test("WAC4: only tries that hang count as such: one that hangs behind others that failed is not the last", async () => {
    await using room = await roomAt(server);
    let n = 0;
    const ofRun = (): null | Promise<null> => {
        n++;
        if (n <= 3) throw new Error("the folder of the tool is not there");
        return n === 4 ? new Promise(() => undefined) : null;
    };
    await room.worker({ ofRun, opening: 100 });
    const program = await world(room, "main func(input) { input.n + 1 }");
    expect(await room.client.result(await room.client.submit(program, program.kept({ n: 1 })))).toBe(2);
    expect(n).toBeGreaterThan(4);
});

test("WAC4: where a world hangs when an answer comes, the answer is not taken and the question stays; where it hangs at the end, the execution says so", async () => {
    await using room = await roomAt(server);
    const first = await room.worker();
    const program = await world(room, 'temporal static ( echo "a" >=> approve "Go on?" )');
    const run = await room.client.submit(program, program.kept(null));
    const [question] = await questionsOf(room, run);
    const { id } = question as { readonly id: string };
    await first.shutdown();
    let isMended = false;
    await room.worker({ ofRun: () => (isMended ? null : new Promise(() => undefined)), opening: 500 });
    const message = "the worker could not open the run in 3 tries: what the worker gives this run (`ofRun`) did not come within 0.5 s";
    const answered = room.client.answer(run, { question: id, by: room.on.user, decision: "once" });
    expect(refusalOf(await answered.catch((error: unknown) => error))).toBe(message);
    expect(await room.client.status(run)).toMatchObject({ state: "waiting", questions: [{ id }] });
    await room.client.cancel(run);
    await expect(room.client.result(run)).rejects.toMatchObject({ failure: { kind: "unreachable", message } });
    isMended = true;
    await room.client.goOn(run, { resume: {} });
    const [again] = await questionsOf(room, run);
    await room.client.answer(run, { question: (again as { readonly id: string }).id, by: room.on.user, decision: "once" });
    expect(await room.client.result(run)).toBe("a");
    expect(await room.store.verify(run)).toMatchObject({ ok: true, bound: "yes" });
});

test("a run that a worker with another ledger takes fails as unreachable, and says that they share one", async () => {
    await using room = await roomAt(server);
    await room.worker({ ledger: join(room.folder, "another.db") });
    const program = await world(room, "main func(input) { input.n + 1 }");
    const run = await room.client.submit(program, program.kept({ n: 1 }));
    const failure = {
        kind: "unreachable",
        message: expect.stringMatching(/^the worker that took the run cannot use its ledger: the ledger .*another\.db has no run /),
        hint: expect.stringContaining("share one ledger"),
    };
    await expect(room.client.result(run)).rejects.toMatchObject({ failure });
});

test("a worker gives each run its own tools, and who watches the run there hears what its calls give meanwhile", async () => {
    await using room = await roomAt(server);
    const heard: string[] = [];
    const recorded: Promise<unknown>[] = [];
    const asked = new Map<string, number>();
    const size: HostTool["size"] = {
        call: (word: string, { emit }: ToolCallContext) => {
            emit({ type: "looked", word });
            return word.length;
        },
    };
    await room.worker({
        host: { tools: { Words: { size: { call: () => 100 } } } },
        ofRun: async (run) => {
            asked.set(run, (asked.get(run) ?? 0) + 1);
            // What could not be told the first time is asked for again.
            if (run === "lent" && asked.get(run) === 1) throw new Error("the session is not there yet");
            if (run !== "lent") return null;
            return {
                tools: { Words: { size } },
                part: (path, part) => heard.push(`${path !== ""} ${JSON.stringify(part)}`),
                recorded: (path) => recorded.push(room.store.outcome(run, path, 1)),
            };
        },
    });
    const program = await world(room, SUM);
    const words = ["a", "bb"];
    for (const id of ["lent", "plain"]) await room.client.submit(program, program.kept({ words }), { id });
    expect(await Promise.all(["lent", "plain"].map((id) => room.client.result(id)))).toEqual([3, 200]);
    expect(heard).toEqual(words.map((word) => `true ${JSON.stringify({ type: "looked", word })}`));
    expect(await Promise.all(recorded)).toMatchObject([{ value: 1 }, { value: 2 }]);
    expect(await room.store.verify("lent")).toMatchObject({ ok: true, bound: "yes" });
});

test("a worker that ends in the middle of a call leaves open what became of it: the next one is asked, and nothing is told as failed", async () => {
    await using room = await roomAt(server);
    const reached = Promise.withResolvers<void>();
    const calls: string[] = [];
    const hangs: HostTool = {
        size: {
            call: (word: string, { signal }: { readonly signal: AbortSignal }) => {
                calls.push(word);
                reached.resolve();
                return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
            },
        },
    };
    const first = await room.worker({ host: { tools: { Words: hangs } } });
    const program = await world(room, SUM);
    const run = await room.client.submit(program, program.kept({ words: ["abc"] }));
    await reached.promise;
    await first.shutdown();
    await room.worker({ host: { tools: { Words: { size: { call: (word: string) => calls.push(word) } } } } });
    const [question] = await questionsOf(room, run);
    expect(question).toMatchObject({ kind: "unknown", options: ["done", "again", "give up"] });
    const { id } = question as { readonly id: string };
    await room.client.answer(run, { question: id, by: room.on.user, said: { answer: "again" } });
    expect(await room.client.result(run)).toBe(2);
    expect(calls).toEqual(["abc", "abc"]);
});

test("WW2: a long run goes on in new executions, nothing is performed twice and the ledger is one", async () => {
    await using room = await roomAt(server, { settings: { events: 60 } });
    const said: string[] = [];
    const call = (word: string): number => said.push(word);
    await room.worker({ host: { tools: { Words: { size: { call } } } } });
    const program = await world(room, SUM);
    const words = Array.from({ length: 40 }, (_, i) => `w${i}`);
    const run = await room.client.submit(program, program.kept({ words }));
    expect(await room.client.result(run)).toBe((40 * 41) / 2);
    expect(said).toEqual(words);
    const executions = await Array.fromAsync(room.client.client.workflow.list({ query: `WorkflowId = '${run}'` }));
    expect(executions.length).toBeGreaterThan(3);
    expect((await room.store.run(run)).epoch).toBe(executions.length + 1);
    expect(await room.store.verify(run)).toMatchObject({ ok: true, anchored: "yes", bound: "yes" });
});

test("WW2: a run that ends as it drains has ended, whatever the length at which it began to", async () => {
    const left: string[] = [];
    for (let events = 24; events <= 28; events += 1) {
        await using room = await roomAt(server, { settings: { events } });
        await room.worker({ host: { tools: { Words: { size: { call: (word: string) => word.length } } } } });
        const program = await world(room, SUM);
        const run = await room.client.submit(program, program.kept({ words: ["a", "bb", "ccc"] }));
        expect(await room.client.result(run)).toBe(6);
        if ((await room.store.run(run)).status !== "done") left.push(`${events}`);
    }
    expect(left).toEqual([]);
});

test("ENC1: 3 MB values pass, encrypted and kept beside the run; the history holds no word of them", async () => {
    const old = randomBytes(32);
    const keys = { current: "2026", keys: { 2025: old, 2026: randomBytes(32) } };
    await using room = await roomAt(server, { keys });
    const big = "abcdefghij".repeat(300_000);
    const tools = { Words: { big: { readOnly: true, call: () => big }, same: { readOnly: true, call: (text: string) => text } } };
    await room.worker({ host: { tools } });
    const source = `import tool Words from "host:words"
main func(input) { text = Words.big("x")
    [Words.same(text), text.length] }`;
    const program = await world(room, source);
    const run = await room.client.submit(program, program.kept({}));
    expect(await room.client.result(run)).toEqual([big, big.length]);
    const events = (await room.client.client.workflow.getHandle(run).fetchHistory()).events ?? [];
    const text = JSON.stringify(events, (_, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value,
    );
    expect(text).not.toContain("abcdefghij");
    expect(text).not.toContain('Words.big"');
    expect(text.length).toBeLessThan(400_000);
    expect((await room.store.run(run)).value).toEqual([big, big.length]);
});

test("WW3: 60 million steps in one stretch", async () => {
    await using room = await roomAt(server);
    await room.worker();
    const source = `main func(input) { n = 0
    loop until n >= 30000000 max 40000000 { n += 1 }
    n }`;
    const program = await world(room, source, { limits: { steps: 200_000_000 } });
    const run = await room.client.submit(program, program.kept({}));
    expect(await room.client.result(run)).toBe(30_000_000);
    expect((await room.store.run(run)).steps).toBeGreaterThan(60_000_000);
    const events = (await room.client.client.workflow.getHandle(run).fetchHistory()).events ?? [];
    expect(events.length).toBeLessThan(300);
});

test("CS1: a secret that the program puts together is in no history, and the run computes with it", async () => {
    const token = "sk-live-0123456789";
    await using room = await roomAt(server, { env: { REMIT_TEST_TOKEN: token } });
    const seen: string[] = [];
    const tools = { Words: { size: { readOnly: true, call: (word: string) => seen.push(word) } } };
    await room.worker({ host: { tools } });
    const source = `import tool Words from "host:words"
main func(input) { whole = input.parts.join("")
    Words.size(whole)
    [whole.length, whole] }`;
    const program = await world(room, source);
    const run = await room.client.submit(program, program.kept({ parts: ["sk-live-", "01234", "56789"] }));
    expect(await room.client.result(run)).toEqual([token.length, "[secret env:REMIT_TEST_TOKEN]"]);
    expect(seen).toEqual(["[secret env:REMIT_TEST_TOKEN]"]);
    const events = (await room.client.client.workflow.getHandle(run).fetchHistory()).events ?? [];
    for (const payload of payloadsOf(events)) expect(payload).not.toContain(token);
    expect(payloadsOf(events).length).toBeGreaterThan(3);
});

test("TQ1: a question waits in the workflow; only its owner answers it, with one of its answers, once", async () => {
    await using room = await roomAt(server);
    const sent: string[] = [];
    const tools = { Mail: { send: { call: (text: string) => sent.push(text) } } };
    await room.worker({ host: { tools } });
    const source = `import tool Mail from "host:mail" { send: ask }
main func(input) { Mail.send("hello") }`;
    const program = await world(room, source);
    const run = await room.client.submit(program, program.kept({}));
    const [question] = await questionsOf(room, run);
    expect(question).toMatchObject({ kind: "ask", owner: room.on.user });
    // WST1: of the one promise that is made before anything else.
    expect(await room.client.client.workflow.getHandle(run).query("__stack_trace")).toMatch(/^ *at remitRun \([^\n]*$/);
    const { id } = question as { readonly id: string };
    const by = room.on.user;
    const refused = { cause: { type: "RemitRefused" } };
    await expect(room.client.answer(run, { question: id, by: "os:9999", decision: "once" })).rejects.toMatchObject(refused);
    await expect(room.client.answer(run, { question: id, by, decision: "perhaps" })).rejects.toMatchObject(refused);
    await expect(room.client.answer(run, { question: "nothing", by, decision: "once" })).rejects.toMatchObject(refused);
    const why = { text: "no" } as unknown as string;
    await expect(room.client.answer(run, { question: id, by, decision: "deny", why })).rejects.toMatchObject(refused);
    expect(sent).toEqual([]);
    await room.client.answer(run, { question: id, by, decision: "once" });
    await room.client.result(run);
    expect(sent).toEqual(["hello"]);
    expect(await room.store.asks.list(run)).toMatchObject([{ state: "used", decision: "once", by }]);
    const { events } = await room.client.ledger(run);
    expect(events.map(({ kind }) => kind)).toContain("ask.decided");
});

test("approvers of the project answer by an update, and nobody else; the message says the command for that", async () => {
    await using room = await roomAt(server, { env: { KEY: "a-key-of-some-length" } });
    const got: string[] = [];
    const hook = createServer((request, response) => {
        request.on("data", (piece) => got.push(String(piece)));
        request.on("end", () => response.end());
    });
    await new Promise<void>((done) => hook.listen(0, "127.0.0.1", done));
    const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}`;
    const channels = { ops: { kind: "webhook", url, secret: "env:KEY" } };
    const said = { channels, questions: [{ to: ["ops"], approvers: ["user:alice", "user:bob"] }] };
    writeFileSync(join(room.folder, "remit.json"), JSON.stringify(said));
    await room.worker({ host: { trust: true } });
    const program = await world(room, 'temporal static ( echo "a" >=> approve "Go on?" )');
    const run = await room.client.submit(program, program.kept({}));
    const [question] = await questionsOf(room, run);
    const { id } = question as { readonly id: string };
    for (const by of [room.on.user, "user:mallory", "user:alice\nuser:bob"])
        await expect(room.client.answer(run, { question: id, by, decision: "once" })).rejects.toMatchObject({
            cause: { type: "RemitRefused" },
        });
    await room.client.answer(run, { question: id, by: "user:bob", decision: "once" });
    expect(await room.client.result(run)).toBe("a");
    const [ask] = await room.store.asks.list(run);
    expect(ask).toMatchObject({ by: "user:bob", decision: "once" });
    expect(ask?.notes?.map(({ kind, who }) => [kind, who])).toEqual([
        ["sent", "ops"],
        ["refused", room.on.user],
        ["refused", "user:mallory"],
        ["refused", "user:alice\nuser:bob"],
    ]);
    expect(JSON.parse(got.join(""))).toMatchObject({ answer: { command: `remit approve ${run} ${id} once --by WHO` } });
    await new Promise<void>((done) => hook.close(() => done()));
});

test("drained, a run is let go and goes on on the local shell", async () => {
    await using room = await roomAt(server);
    const reached = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<void>();
    const said: string[] = [];
    const call = async (word: string): Promise<number> => {
        said.push(word);
        if (word === "bb") {
            reached.resolve();
            await opened.promise;
        }
        return word.length;
    };
    const tools = { Words: { size: { call } } };
    await room.worker({ host: { tools } });
    const program = await world(room, SUM);
    const run = await room.client.submit(program, program.kept({ words: ["a", "bb", "ccc"] }));
    await reached.promise;
    await room.client.drain(run);
    opened.resolve();
    await expect(room.client.result(run)).rejects.toMatchObject({ message: expect.stringContaining("let go") });
    const ledger = await openLedger(room.store, { process: room.on });
    const handle = await ledger.resume<number>(run, { process: room.on, tools });
    expect(await handle.value).toBe(6);
    expect(said).toEqual(["a", "bb", "ccc"]);
    expect(await room.store.verify(run)).toMatchObject({ ok: true, bound: "yes" });
});

/** Every payload of a history, as text. */
function payloadsOf(json: unknown): string[] {
    if (json instanceof Uint8Array) return [Buffer.from(json).toString("latin1")];
    if (Array.isArray(json)) return json.flatMap(payloadsOf);
    return json !== null && typeof json === "object" ? Object.values(json).flatMap(payloadsOf) : [];
}
