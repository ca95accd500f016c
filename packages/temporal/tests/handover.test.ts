/** Runs that change between this process and Temporal: given, taken back, taken from what is gone; one owner at a time. */
import {
    type HostTool,
    LedgerError,
    load,
    type LoadOptions,
    openLedger,
    openWorld,
    type RemitError,
    type ResumeRunOptions,
} from "@remit/host";
import type { Json } from "@remit/language";
import { beforeAll, expect, test } from "vitest";
import type { DevServer, Question } from "../src/index.ts";
import { type Room, roomAt, sharedServer } from "./room.ts";

let server: DevServer;
beforeAll(async () => {
    server = await sharedServer();
});

const MAIL = `import tool Mail from "host:mail" { send: ask }
import tool Log from "host:log"
main func(input) { before = Log.write("before")
    sent = Mail.send("hello")
    [before, sent, Log.write("after")] }`;

/** Tools that write down what was really done, and fail where they are told to. */
function toolsOf(done: string[], fails: () => boolean = () => false): { readonly [name: string]: HostTool } {
    const does = (word: string): number => {
        if (fails() && word === "after") throw new Error("not now");
        return done.push(word);
    };
    return { Mail: { send: { call: does } }, Log: { write: { call: does } } };
}

async function inMemory(room: Room, source: string, options: LoadOptions, input: Json = {}): Promise<string> {
    const program = await load({ source }, { cache: false, process: room.on, ledger: room.store, ...options });
    const handle = program.run(input);
    await handle.result;
    return handle.id;
}

async function resumed(room: Room, run: string, how: ResumeRunOptions): Promise<unknown> {
    const ledger = await openLedger(room.store, { process: room.on });
    return (await ledger.resume<Json>(run, { process: room.on, ...how })).value;
}

async function question(room: Room, run: string): Promise<Question> {
    for (;;) {
        const [one] = (await room.client.status(run)).questions;
        if (one !== undefined) return one;
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

test("a run that waits in this process goes on on Temporal, and what was done is not done again", async () => {
    await using room = await roomAt(server);
    const done: string[] = [];
    const tools = toolsOf(done);
    await room.worker({ host: { tools } });
    const run = await inMemory(room, MAIL, { tools, asks: { park: true } });
    expect(await room.store.run(run)).toMatchObject({ status: "waiting" });
    await room.client.goOn(run, { resume: { process: room.on } });
    const { id } = await question(room, run);
    await room.client.answer(run, { question: id, by: room.on.user, decision: "once" });
    expect(await room.client.result(run)).toEqual([1, 2, 3]);
    expect(done).toEqual(["before", "hello", "after"]);
    expect(await room.store.verify(run)).toMatchObject({ ok: true, bound: "yes" });
});

test("an answer that is brought along is taken before the run goes on there", async () => {
    await using room = await roomAt(server);
    const done: string[] = [];
    const tools = toolsOf(done);
    await room.worker({ host: { tools } });
    const run = await inMemory(room, MAIL, { tools, asks: { park: true } });
    const [ask] = await room.store.asks.list(run);
    const path = ask?.path ?? "";
    const wrong = room.client.goOn(run, { resume: { process: room.on, answers: { [path]: "perhaps" } } });
    await expect(wrong).rejects.toMatchObject({ kind: "value", message: expect.stringContaining("perhaps") });
    expect(await room.store.run(run)).toMatchObject({ status: "waiting", live: false });
    await room.client.goOn(run, { resume: { process: room.on, answers: { [path]: "once" } } });
    expect(await room.client.result(run)).toEqual([1, 2, 3]);
});

test("a run that failed here goes on there by a retry, by an answer, and by more of what it used up", async () => {
    await using room = await roomAt(server);
    const done: string[] = [];
    let fails = true;
    const tools = toolsOf(done, () => fails);
    await room.worker({ host: { tools } });
    const source = `import tool Log from "host:log"\nmain func(input) { [Log.write("before"), Log.write("after")] }`;
    const on = { process: room.on };
    const first = await inMemory(room, source, { tools });
    const second = await inMemory(room, source, { tools });
    fails = false;
    await expect(room.client.goOn(first, { resume: on })).rejects.toMatchObject({ hint: expect.stringContaining("--retry") });
    await room.client.goOn(first, { resume: { ...on, retry: true } });
    expect(await room.client.result(first)).toEqual([1, 3]);
    const [path = ""] = (await Array.fromAsync(room.store.events(second)))
        .filter(({ kind }) => kind === "tool.ended")
        .map((one) => one.path)
        .slice(-1);
    await room.client.goOn(second, { resume: { ...on, answers: { [path]: 7 } } });
    expect(await room.client.result(second)).toEqual([2, 7]);
    const third = await inMemory(room, source, { tools, limits: { calls: 1 } });
    expect(await room.store.run(third)).toMatchObject({ failure: { kind: "limit.calls" } });
    const little = room.client.goOn(third, { resume: { ...on, raise: [{ account: "run", meter: "calls", amount: 0.5 }] } });
    await expect(little).rejects.toMatchObject({ kind: "value" });
    await room.client.goOn(third, { resume: { ...on, raise: [{ account: "run", meter: "calls", amount: 5 }] } });
    expect(await room.client.result(third)).toEqual([4, 5]);
    for (const run of [first, second, third]) expect(await room.store.verify(run)).toMatchObject({ ok: true, bound: "yes" });
    const resumes = (await Array.fromAsync(room.store.events(first))).filter(({ kind }) => kind === "run.resumed");
    expect(resumes).toHaveLength(1);
});

test("TOW1: a run that waits there is drained and goes on here; an execution that was terminated, or that no worker drains, is taken over", async () => {
    await using room = await roomAt(server);
    const done: string[] = [];
    const tools = toolsOf(done);
    const worker = await room.worker({ host: { tools } });
    const program = await openWorld({ source: MAIL }, { cache: false, process: room.on });
    const runs: string[] = [];
    for (let i = 0; i < 3; i++) {
        const run = await room.client.submit(program, program.kept({}));
        await question(room, run);
        runs.push(run);
    }
    const [drained = "", terminated = "", stuck = ""] = runs;
    const how = { tools, on: { ask: () => "once" } };
    await expect(resumed(room, drained, how)).rejects.toMatchObject({ code: "owned" });
    expect(await room.client.release(drained)).toMatchObject({ how: "drained" });
    expect(await resumed(room, drained, how)).toHaveLength(3);
    await room.client.client.workflow.getHandle(terminated).terminate("by a person");
    // What a query tells of it is how far it came.
    expect(await room.client.status(terminated)).toMatchObject({ state: "stopped", questions: [] });
    const { epoch, ...gone } = await room.client.release(terminated);
    expect(gone).toEqual({ how: "gone", status: "TERMINATED" });
    await expect(resumed(room, terminated, how)).rejects.toMatchObject({ code: "owned" });
    expect(await resumed(room, terminated, { ...how, from: epoch })).toHaveLength(3);
    await worker.shutdown();
    const ended = await room.client.release(stuck, { grace: 300 });
    expect(ended.how).toBe("ended");
    expect(await resumed(room, stuck, { ...how, from: ended.epoch })).toHaveLength(3);
    expect(done.filter((word) => word === "hello")).toHaveLength(3);
    for (const run of runs) expect(await room.store.verify(run)).toMatchObject({ ok: true, bound: "yes" });
});

test("what the server does not know any more is taken over, too", async () => {
    await using room = await roomAt(server);
    const done: string[] = [];
    const tools = toolsOf(done);
    const { form, hash, file, root, kept } = await openWorld({ source: "main func(input) { 1 }" }, { cache: false, process: room.on });
    const options = kept({}) as unknown as Json;
    const writer = await room.store.create({
        id: "lost",
        program: form,
        hash,
        file,
        root,
        options,
        by: "temporal default/lost/of-a-server-that-lost-it",
    });
    await writer.release();
    const run = writer.id;
    const { epoch, ...released } = await room.client.release(run);
    expect(released).toEqual({ how: "gone", status: "NOT_FOUND" });
    expect(await resumed(room, run, { tools, from: epoch })).toBe(1);
});

test("HND1: of two that go on with a run at once one does, and the other is told", async () => {
    await using room = await roomAt(server);
    const done: string[] = [];
    const tools = toolsOf(done);
    await room.worker({ host: { tools } });
    const run = await inMemory(room, MAIL, { tools, asks: { park: true } });
    const both = await Promise.allSettled([1, 2].map(() => room.client.goOn(run, { resume: { process: room.on } })));
    const refused = both.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    expect(refused).toHaveLength(1);
    const [error] = refused;
    expect(error instanceof LedgerError ? error.code : (error as RemitError).kind).toMatch(/^(owned|value)$/);
    const { id } = await question(room, run);
    await expect(room.client.goOn(run, { resume: { process: room.on } })).rejects.toMatchObject({ code: "owned" });
    await expect(resumed(room, run, { tools })).rejects.toMatchObject({ code: "owned" });
    await room.client.answer(run, { question: id, by: room.on.user, decision: "once" });
    expect(await room.client.result(run)).toEqual([1, 2, 3]);
});
