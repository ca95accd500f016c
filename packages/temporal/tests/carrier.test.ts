/** Runs that a caller here holds and Temporal conducts, on a real server: left and taken up again, with what only a person can say. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CredentialSource, type Handlers, type HostTool, load, type RunElsewhere } from "@remit/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DevServer, runCarriers } from "../src/index.ts";
import { BUNDLES } from "./bundles.ts";
import { proxyOf } from "./proxy.ts";
import { devServer, type Room, roomAt } from "./room.ts";

let server: DevServer;
beforeAll(async () => {
    server = await devServer();
});
afterAll(() => server.stop());

const never = new AbortController().signal;

function carriers(
    room: Room,
    credentials: { readonly [name: string]: CredentialSource } = {},
    { address }: { readonly address: string } = server,
) {
    return runCarriers({ connect: { address }, cache: BUNDLES, host: { process: room.on, credentials } })(room.store);
}

test("CRR2: a run that its process leaves goes on there; the next process takes it up, with its block and its open call", async () => {
    await using room = await roomAt(server);
    const calls: string[] = [];
    const reached = Promise.withResolvers<void>();
    const size: HostTool["size"] = {
        call: (word: string, { signal }: { readonly signal: AbortSignal }) => {
            if (calls.push(word) !== 2) return word.length;
            reached.resolve();
            return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
        },
    };
    // A block of the other backend is a run of its own, with a guard: neither may go on alone.
    const source = `import tool Words from "host:words"
func size(word) { Words.size(word) }
temporal static ( size "a" >=> ( memory static ( size "bb" ) ) )`;
    const tools = { Words: { size } };
    const program = await load({ source }, { cache: false, process: room.on, tools });
    const of = { tools };
    const run = "left";
    const kept = program.kept(null, { asks: { park: true } });
    const leave = new AbortController();
    const first = await carriers(room);
    const carried = first.carryOut({ run, begins: { program, kept }, on: {}, of, signal: never, leave: leave.signal });
    await reached.promise;
    leave.abort(new Error("the process ends"));
    await expect(carried).rejects.toThrow("the process ends");
    await first[Symbol.asyncDispose]();
    const { workflow } = room.client.client;
    expect((await workflow.getHandle(run).describe()).status.name).toBe("RUNNING");

    const asked: string[] = [];
    const heard: string[] = [];
    const on: Handlers = {
        unknown: (effect) => {
            asked.push(effect.kind);
            return { answer: "again" };
        },
        event: ({ kind }) => heard.push(kind),
    };
    await using second = await carriers(room);
    const result = await second.carryOut({ run, begins: null, on, of, signal: never, leave: never });
    expect(result).toMatchObject({ status: "done", ok: true, value: 2 });
    expect(calls).toEqual(["a", "bb", "bb"]);
    expect(asked).toEqual(["tool"]);
    expect(heard).not.toContain("run.started");
    expect(heard.at(-1)).toBe("run.ended");
    expect(await room.store.verify(run)).toMatchObject({ ok: true, bound: "yes" });
    // The server lists a little later than it knows.
    const alone = (): Promise<unknown[]> =>
        Array.fromAsync(workflow.list({ query: "ExecutionStatus = 'Running'" }), (one) => one.workflowId);
    await expect.poll(alone).toEqual([]);
    // What is over is not begun again.
    expect(await second.carryOut({ run, begins: null, on, of, signal: never, leave: never })).toMatchObject({ status: "done", value: 2 });
    await program.close();
});

test("a run that lacks a credential is let go as waiting, in the words of a run in this process", async () => {
    await using room = await roomAt(server);
    const secret: CredentialSource = () => ({ kind: "missing", message: "nothing there", hint: "give it" });
    const source = 'temporal static ( fetch "http://127.0.0.1:9/" with { credential: secret("crm") } )';
    const program = await load({ source }, { cache: false, process: room.on, as: "user:alice", credentials: { secret } });
    await using there = await carriers(room, { secret });
    const kept = program.kept(null, { asks: { park: true } });
    const about: Omit<RunElsewhere, "begins" | "run"> = { on: {}, of: {}, signal: never, leave: never };
    const result = await there.carryOut({ run: "lacks", begins: { program, kept }, ...about });
    expect(result).toMatchObject({
        status: "waiting",
        ok: false,
        failure: {
            kind: "waiting",
            message: expect.stringContaining('the credential secret("crm") of user:alice is missing: nothing there'),
        },
    });
    expect(await room.store.run("lacks")).toMatchObject({ live: false });
    await program.close();
});

test("a no with its reason: the model reads it without secrets, as it reads that of a run in this process", async () => {
    const token = "tok-1f2E3d4C5b6A";
    await using room = await roomAt(server, { env: { REMIT_TEST_TOKEN: token } });
    const why = `no client lends click any more: ${token}`;
    const rules = [
        { when: "no client lends click any more: [secret env:REMIT_TEST_TOKEN]", reply: { text: "it is gone" } },
        { when: "was not allowed", reply: { text: "no reason was given" } },
        { when: "Buy", reply: { calls: [{ name: "Desk_click", args: {} }] } },
    ];
    writeFileSync(join(room.folder, "replies.json"), JSON.stringify({ rules }));
    const path = join(room.folder, "main.remit");
    const source = `import llm Model from "scripted:replies.json"
import tool Desk from "host:desk" { click: ask }
main agent Buyer { model Model  role "buyer"  description "buys"  main func() { generate({ input: "Buy it", tools: [Desk.click] }) } }`;
    const tools = { Desk: { click: { description: "Clicks", input: { type: "object" } as const, call: () => "clicked" } } };
    writeFileSync(path, source);
    const program = await load({ path }, { cache: false, process: room.on, root: room.folder, tools, ledger: room.store });
    const on: Handlers = { ask: () => ({ deny: why }) };
    await using there = await carriers(room);
    const begins = { program, kept: program.kept(null, { asks: { park: true } }) };
    const far = await there.carryOut({ run: "gone", begins, on, of: { tools }, signal: never, leave: never });
    const near = await program.run(null, { on }).result;
    expect([far.status, far.value, near.value]).toEqual(["done", "it is gone", "it is gone"]);
    const decided = async (run: string): Promise<unknown> => {
        const events = await Array.fromAsync(room.store.events(run));
        return events.flatMap(({ kind, data }) => (kind === "ask.decided" ? [data] : []));
    };
    expect(await decided("gone")).toEqual(await decided(near.run));
    expect(JSON.stringify(await Array.fromAsync(room.store.events("gone")))).not.toContain(token);
    const asked = (await Array.fromAsync(room.store.events("gone"))).filter(({ kind }) => kind === "ask.decided");
    const kept = await Promise.all(asked.map(({ path }) => room.store.outcome("gone", path, 1)));
    expect(kept).toMatchObject([{ ok: false, failure: { message: expect.stringContaining("REMIT_TEST_TOKEN]") } }]);
    await program.close();
});

test.for(["broken", "lost"] as const)(
    "CRR4: a run whose start is %s, and of which the server does not tell, is begun once and carried out",
    async (how) => {
        await using room = await roomAt(server);
        await using proxy = await proxyOf(server);
        const words: string[] = [];
        const tools = { Log: { write: { call: (word: string) => words.push(word) } } };
        const source = `import tool Log from "host:log"\nmain func(input) { Log.write("once") }`;
        const program = await load({ source }, { cache: false, process: room.on, tools });
        await using there = await carriers(room, {}, proxy);
        const [start, look, run] = ["StartWorkflowExecution", "DescribeWorkflowExecution", `${how}-start`];
        Object.assign(proxy.cuts, { [start]: how, [look]: "lost" });
        const about: Omit<RunElsewhere, "begins" | "run"> = { on: {}, of: { tools }, signal: never, leave: never };
        const carried = there.carryOut({ run, begins: { program, kept: program.kept({}) }, ...about });
        await expect.poll(() => proxy.cut, { timeout: 30_000 }).toEqual(expect.arrayContaining([start, look]));
        for (const method of [start, look]) delete proxy.cuts[method];
        expect(await carried).toMatchObject({ status: "done", value: 1 });
        expect(words).toEqual(["once"]);
        await program.close();
    },
);
