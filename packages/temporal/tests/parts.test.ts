/** Blocks of the other backend inside a run on Temporal: child workflows, with the same value, ledger and questions; cancelled, let go and followed. */
import { fenced, openLedger, openWorld, type ResumeRunOptions } from "@remit/host";
import type { Json } from "@remit/language";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isAway } from "../src/client/asked.ts";
import type { Asked, DevServer } from "../src/index.ts";
import { devServer, type Room, roomAt } from "./room.ts";

let server: DevServer;
beforeAll(async () => {
    server = await devServer();
});
afterAll(() => server.stop());

const WORK = `import tool Work from "host:work" { call: ask }
import tool Log from "host:log"
func work(x) { Work.call(x) }
func log(x) { Log.write(x) }
`;

function toolsOf(done: Json[]): NonNullable<ResumeRunOptions["tools"]> {
    const call = (x: Json): string => {
        done.push(x);
        return `${x}!`;
    };
    return { Work: { call: { call } }, Log: { write: { call } } };
}

async function submitted(room: Room, body: string, input: Json): Promise<string> {
    const world = await openWorld({ source: `${WORK}${body}` }, { cache: false, process: room.on });
    return room.client.submit(world, world.kept(input));
}

async function waits(room: Room, run: string): Promise<Asked> {
    for (;;) {
        // A worker that has no time leaves a query without an answer, as it does for `asked`.
        const [one] = await room.client.questions(run).catch((error: unknown) => {
            if (isAway(error)) return [];
            throw error;
        });
        if (one !== undefined) return one;
        await new Promise((resolve) => setTimeout(resolve, 30));
    }
}

test("WPA1: a nested block is a child workflow, nested both ways; its question is answered, and the ledger links the runs", async () => {
    await using room = await roomAt(server);
    const done: Json[] = [];
    await room.worker({ host: { tools: toolsOf(done) } });
    const run = await submitted(room, "temporal static ( log >=> memory static ( work >=> temporal static ( log ) ) >=> log )", "a");
    const { question, run: child } = await waits(room, run);
    expect(child).not.toBe(run);
    await room.client.answer(child, { question: question.id, by: room.on.user, decision: "once" });
    expect(await room.client.result(run)).toBe("a!!!!");
    expect(done).toEqual(["a", "a!", "a!!", "a!!!"]);
    const { raw } = await room.client.client.workflow.getHandle(child).describe();
    expect(raw.workflowExecutionInfo?.parentExecution?.workflowId).toBe(run);
    const all = await Array.fromAsync(room.client.list());
    const runs = all.map((one) => one.run).filter((id) => id.startsWith(run));
    expect(runs).toHaveLength(3);
    for (const one of runs) {
        expect(await room.store.run(one)).toMatchObject({ status: "done" });
        expect(await room.store.verify(one)).toMatchObject({ ok: true, bound: "yes" });
    }
});

test("counts of a run hold in its parts, and what they used comes back", async () => {
    await using room = await roomAt(server);
    const done: Json[] = [];
    await room.worker({ host: { tools: toolsOf(done) } });
    const all = "func twice(x) { Log.write(x)  Log.write(x) }\n";
    const source = `import tool Log from "host:log" { write: at most 2 }\nfunc log(x) { Log.write(x) }\n${all}`;
    const submit = async (body: string): Promise<string> => {
        const world = await openWorld({ source: `${source}${body}` }, { cache: false, process: room.on });
        return room.client.submit(world, world.kept("a"));
    };
    const denied = { kind: "denied", message: expect.stringContaining("was used 2 times in this run") };
    await expect(room.client.result(await submit("temporal static ( log >=> memory static ( log ) >=> log )"))).rejects.toMatchObject(
        denied,
    );
    await expect(room.client.result(await submit("temporal static ( log >=> memory static ( twice ) )"))).rejects.toMatchObject(denied);
    expect(done).toHaveLength(4);
    // COU5: a use beside a part waits for it.
    done.length = 0;
    expect(await room.client.result(await submit("temporal static ( memory static ( log ) <*> log )"))).toEqual(["a!", "a!"]);
    await expect(room.client.result(await submit("temporal static ( memory static ( twice ) <*> log )"))).rejects.toMatchObject(denied);
    expect(done).toHaveLength(4);
});

test("WPA2: a cancel goes to the parts; a failure inside is that of the block", async () => {
    await using room = await roomAt(server);
    await room.worker({ host: { tools: toolsOf([]) } });
    const run = await submitted(room, "temporal static ( memory static ( work ) )", "a");
    const { run: child } = await waits(room, run);
    await room.client.cancel(run);
    await expect(room.client.result(run)).rejects.toMatchObject({ kind: "cancelled" });
    await expect(room.client.result(child)).rejects.toMatchObject({ kind: "cancelled" });
    expect(await room.store.run(child)).toMatchObject({ status: "waiting", live: false });
    // At a question it waits for its answer, as on every shell.
    const failing = await submitted(room, 'func fails(x) { raise "broken" }\ntemporal static ( memory static ( fails ) )', "a");
    await expect(room.client.result(failing)).rejects.toMatchObject({ kind: "raised", message: expect.stringContaining("broken") });
});

test("WPA1: an execution that goes on in a new one leaves its parts as they are, and follows them", async () => {
    await using room = await roomAt(server, { settings: { events: 60 } });
    const done: Json[] = [];
    await room.worker({ host: { tools: toolsOf(done) } });
    const words = Array.from({ length: 25 }, (_, i) => `w${i}`);
    const run = await submitted(
        room,
        "func all(list) { for x in list max 50 { log(x) }\n list.length }\ntemporal static ( all <*> memory static ( work ) )",
        words,
    );
    const { question, run: child } = await waits(room, run);
    for (;;) {
        const executions = await Array.fromAsync(room.client.client.workflow.list({ query: `WorkflowId = '${run}'` }));
        if (executions.length > 2 && done.length === words.length) break;
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect((await room.client.client.workflow.getHandle(child).describe()).status.name).toBe("RUNNING");
    await room.client.answer(child, { question: question.id, by: room.on.user, decision: "once" });
    expect(await room.client.result(run)).toEqual([25, `${words.join(",")}!`]);
    expect(done).toHaveLength(words.length + 1);
});

test("WPA2: where the run is let go its parts are let go before it, and both go on here", async () => {
    await using room = await roomAt(server);
    const done: Json[] = [];
    const tools = toolsOf(done);
    await room.worker({ host: { tools } });
    const run = await submitted(room, "temporal static ( log >=> memory static ( log >=> work ) >=> log )", "a");
    await waits(room, run);
    expect(await room.client.release(run)).toMatchObject({ how: "drained" });
    const ledger = await openLedger(room.store, { process: room.on });
    const handle = await ledger.resume<Json>(run, { process: room.on, tools, on: { ask: () => "once" } });
    expect(await handle.value).toBe("a!!!!");
    expect(done).toEqual(["a", "a!", "a!!", "a!!!"]);
    expect(await room.store.verify(run)).toMatchObject({ ok: true });
});

const NESTED = "temporal static ( log >=> memory static ( log >=> work ) >=> log )";

test("WPA3: where the execution around it is terminated a part is cancelled, and its run can go on", async () => {
    await using room = await roomAt(server);
    await room.worker({ host: { tools: toolsOf([]) } });
    const run = await submitted(room, NESTED, "a");
    const { run: child } = await waits(room, run);
    await room.client.client.workflow.getHandle(run).terminate("by a person");
    await expect(room.client.result(child)).rejects.toMatchObject({ kind: "cancelled" });
    expect(await room.store.run(child)).toMatchObject({ status: "waiting", live: false });
});

test("WPA3: where a person terminates a run while its part works, the work is told to stop", async () => {
    await using room = await roomAt(server);
    const told: string[] = [];
    const call = (_: Json, { signal }: { readonly signal: AbortSignal }): Promise<string> =>
        new Promise((_resolve, reject) => {
            told.push("begun");
            signal.addEventListener("abort", () => {
                told.push("stopped");
                reject(signal.reason);
            });
        });
    await room.worker({ host: { tools: { ...toolsOf([]), Log: { write: { call } } } } });
    const run = await submitted(room, "temporal static ( memory static ( log ) )", "a");
    while (told.length < 1) await new Promise((resolve) => setTimeout(resolve, 20));
    await room.client.client.workflow.getHandle(run).terminate("by a person");
    while (told.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(told).toEqual(["begun", "stopped"]);
});

test("WPA3: a part that is followed ends where the execution that follows it was terminated, and not before", async () => {
    await using room = await roomAt(server, { settings: { events: 60 } });
    const done: Json[] = [];
    await room.worker({ host: { tools: toolsOf(done) } });
    const words = Array.from({ length: 25 }, (_, i) => `w${i}`);
    const body = 'func all(list) { for x in list max 50 { log(x) }\n Work.call("b") }\ntemporal static ( all <*> memory static ( work ) )';
    const run = await submitted(room, body, words);
    const { workflow } = room.client.client;
    const both = async (): Promise<string | undefined> => {
        const all = await room.client.questions(run);
        return all.length === 2 ? all.find((one) => one.run !== run)?.run : undefined;
    };
    let child = await both();
    while (child === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        child = await both();
    }
    const guards = async (status: string): Promise<number> => {
        const query = `WorkflowType = 'remitGuard' AND ExecutionStatus = '${status}' AND WorkflowId STARTS_WITH '${child}/'`;
        return (await Array.fromAsync(workflow.list({ query }))).length;
    };
    // Those of the executions that went on in a new one have seen that.
    while ((await guards("Running")) !== 1 || (await guards("Completed")) < 2) await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await workflow.getHandle(child).describe()).status.name).toBe("RUNNING");
    await workflow.getHandle(run).terminate("by a person");
    await expect(room.client.result(child)).rejects.toMatchObject({ kind: "cancelled" });
});

test("TKO2: a run that is taken without a word to the server is taken with its parts", async () => {
    await using room = await roomAt(server);
    const done: Json[] = [];
    const tools = toolsOf(done);
    await room.worker({ host: { tools } });
    const run = await submitted(room, NESTED, "a");
    const { run: child, question } = await waits(room, run);
    const from = await fenced(room.store, run);
    const ledger = await openLedger(room.store, { process: room.on });
    const handle = await ledger.resume<Json>(run, { process: room.on, tools, from, on: { ask: () => "once" } });
    expect(await handle.value).toBe("a!!!!");
    expect(done).toEqual(["a", "a!", "a!!", "a!!!"]);
    // What the executions still do is refused.
    await expect(room.client.answer(child, { question: question.id, by: room.on.user, decision: "once" })).rejects.toThrow();
    expect(done).toHaveLength(4);
    for (const one of [child, run]) await room.client.client.workflow.getHandle(one).terminate("the test is over");
});

test("TOW1: a run whose execution was terminated is taken over with its parts", async () => {
    await using room = await roomAt(server);
    const done: Json[] = [];
    const tools = toolsOf(done);
    await room.worker({ host: { tools } });
    const run = await submitted(room, NESTED, "a");
    const { run: child } = await waits(room, run);
    await room.client.client.workflow.getHandle(run).terminate("by a person");
    const { epoch, ...gone } = await room.client.release(run);
    expect(gone).toEqual({ how: "gone", status: "TERMINATED" });
    expect(await room.store.run(child)).toMatchObject({ live: false });
    const ledger = await openLedger(room.store, { process: room.on });
    const handle = await ledger.resume<Json>(run, { process: room.on, tools, from: epoch, on: { ask: () => "once" } });
    expect(await handle.value).toBe("a!!!!");
    expect(done).toEqual(["a", "a!", "a!!", "a!!!"]);
});

test("WPA3: one that goes on there again begins its parts again, whether they have heard of its end yet or not", async () => {
    await using room = await roomAt(server);
    const done: Json[] = [];
    await room.worker({ host: { tools: toolsOf(done) } });
    const run = await submitted(room, NESTED, "a");
    const { run: child, question } = await waits(room, run);
    await room.client.client.workflow.getHandle(run).terminate("by a person");
    await room.client.goOn(run, { resume: { process: room.on } });
    const answered = async (): Promise<boolean> => {
        try {
            await room.client.answer(child, { question: question.id, by: room.on.user, decision: "once" });
            return true;
        } catch {
            // The execution that is being cancelled, or one that has not asked yet.
            return false;
        }
    };
    while (!(await answered())) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await room.client.result(run)).toBe("a!!!!");
    expect(done).toEqual(["a", "a!", "a!!", "a!!!"]);
});

test("PRT2, NST3: a block that failed goes on where the run around it is retried, there and here", async () => {
    await using room = await roomAt(server);
    const done: Json[] = [];
    let fails = true;
    const write = (x: Json): number => {
        if (fails && x === "a!") throw new Error("not now");
        return done.push(x);
    };
    const tools = { Log: { write: { call: write } }, Work: { call: { call: () => "a!" } } };
    await room.worker({ host: { tools } });
    const body = 'func shout(x) { x + "!" }\ntemporal static ( memory static ( shout >=> log ) )';
    const runs = [await submitted(room, body, "a"), await submitted(room, body, "a")] as const;
    for (const run of runs) await expect(room.client.result(run)).rejects.toMatchObject({ kind: "tool" });
    fails = false;
    await room.client.goOn(runs[0], { resume: { process: room.on, retry: true } });
    expect(await room.client.result(runs[0])).toBe(1);
    const ledger = await openLedger(room.store, { process: room.on });
    expect(await (await ledger.resume<Json>(runs[1], { process: room.on, tools, retry: true })).value).toBe(2);
    for (const run of runs) expect(await room.store.verify(run)).toMatchObject({ ok: true, bound: "yes" });
});
