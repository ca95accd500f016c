/** STW1: starts whose answer does not come, on a real server behind a proxy that cuts it. */
import { load, openLedger, openWorld } from "@remit/host";
import { beforeAll, expect, test } from "vitest";
import { connect, type DevServer, placeOf, type RemitClient, remitClient, temporalBlocks } from "../src/index.ts";
import { type ServerProxy, proxyOf } from "./proxy.ts";
import { type Room, roomAt, sharedServer } from "./room.ts";

let server: DevServer;
beforeAll(async () => {
    server = await sharedServer();
});

interface Behind extends AsyncDisposable {
    readonly room: Room;
    readonly proxy: ServerProxy;
    /** Through the proxy. */
    readonly client: RemitClient;
}

async function behind(): Promise<Behind> {
    const stack = new AsyncDisposableStack();
    const room = stack.use(await roomAt(server));
    const proxy = stack.use(await proxyOf(server));
    const connection = await connect(placeOf({ address: proxy.address }), { calls: { tries: 1, ms: 2_000 } });
    stack.defer(() => connection.close());
    const client = remitClient({ connection, store: room.store, queue: room.queue });
    return { room, proxy, client, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const START = "StartWorkflowExecution";
const LOOK = "DescribeWorkflowExecution";
const program = (room: Room): ReturnType<typeof openWorld> =>
    openWorld({ source: "main func(input) { input.n + 1 }" }, { cache: false, process: room.on });

for (const how of ["broken", "silent"] as const)
    test(`a submission that the server took, and whose answer is ${how}, goes on as submitted`, async () => {
        await using all = await behind();
        const { room, proxy, client } = all;
        const world = await program(room);
        proxy.cuts[START] = how;
        const run = await client.submit(world, world.kept({ n: 1 }));
        expect(proxy.cut).toEqual([START]);
        await room.worker();
        expect(await client.result(run)).toBe(2);
    });

test("a submission that did not reach the server is told as such, and is not left in the ledger", async () => {
    await using all = await behind();
    const { room, proxy, client } = all;
    const world = await program(room);
    const id = `${room.queue}-lost`;
    proxy.cuts[START] = "lost";
    await expect(client.submit(world, world.kept({ n: 1 }), { id })).rejects.toMatchObject({
        message: expect.stringContaining(`run ${id} was not begun there`),
    });
    await expect(room.store.run(id)).rejects.toMatchObject({ code: "unknown" });
});

test("a workflow of that name which another start began is not taken for this one", async () => {
    await using all = await behind();
    const { room, proxy, client } = all;
    const world = await program(room);
    await using elsewhere = await roomAt(server);
    const id = `${room.queue}-theirs`;
    await elsewhere.client.submit(world, world.kept({ n: 1 }), { id });
    proxy.cuts[START] = "lost";
    await expect(client.submit(world, world.kept({ n: 1 }), { id })).rejects.toMatchObject({
        failure: { message: `there is a workflow ${id} already` },
    });
    await expect(room.store.run(id)).rejects.toMatchObject({ code: "unknown" });
});

test("where the server does not tell, the run stays, the error names the command that tells, and a second submission begins nothing", async () => {
    await using all = await behind();
    const { room, proxy, client } = all;
    const world = await program(room);
    const id = `${room.queue}-begun`;
    Object.assign(proxy.cuts, { [START]: "broken", [LOOK]: "broken" });
    await expect(client.submit(world, world.kept({ n: 1 }), { id })).rejects.toMatchObject({
        name: "ConnectError",
        message: `the Temporal server went away while it was called; run ${id} may have begun there`,
        hint: expect.stringContaining(`remit status ${id}`),
    });
    expect(await room.store.run(id)).toMatchObject({ status: "running" });
    delete proxy.cuts[START];
    delete proxy.cuts[LOOK];
    await expect(client.submit(world, world.kept({ n: 5 }), { id })).rejects.toMatchObject({ code: "exists" });
    await room.worker();
    expect(await client.result(id)).toBe(2);
    await expect
        .poll(() => Array.fromAsync(client.list(`WorkflowId = '${id}'`)), { timeout: 30_000 })
        .toMatchObject([{ run: id, status: "COMPLETED" }]);
});

test("a run that may have begun, and has not, begins by what the error names", async () => {
    await using all = await behind();
    const { room, proxy, client } = all;
    const world = await program(room);
    Object.assign(proxy.cuts, { [START]: "lost", [LOOK]: "lost" });
    const id = `${room.queue}-none`;
    await expect(client.submit(world, world.kept({ n: 1 }), { id })).rejects.toMatchObject({
        hint: expect.stringContaining(`remit resume ${id} --on temporal`),
    });
    delete proxy.cuts[START];
    delete proxy.cuts[LOOK];
    await expect(client.reachable(id)).rejects.toMatchObject({ message: `run ${id} has no workflow on this Temporal server` });
    await client.goOn(id, { resume: { process: room.on } });
    await room.worker();
    expect(await client.result(id)).toBe(2);
});

test("a schedule that the server made, and whose answer was cut, is made; one that did not reach it is told as such", async () => {
    await using all = await behind();
    const { room, proxy, client } = all;
    const world = await program(room);
    const made = (id: string): Promise<void> => client.schedules.create(world, world.kept({ n: 1 }), { id, cron: "0 7 * * *" });
    const [first, second, third] = ["a", "b", "c"].map((end) => `${room.queue}-${end}`) as [string, string, string];
    proxy.cuts["CreateSchedule"] = "broken";
    await made(first);
    expect(await client.schedules.show(first)).toMatchObject({ id: first, cron: "0 7 * * *" });
    proxy.cuts["DescribeSchedule"] = "broken";
    await expect(made(second)).rejects.toMatchObject({
        message: `the Temporal server went away while it was called; schedule ${second} may have been made`,
        hint: expect.stringContaining(`remit schedule show ${second}`),
    });
    delete proxy.cuts["DescribeSchedule"];
    proxy.cuts["CreateSchedule"] = "lost";
    await expect(made(third)).rejects.toMatchObject({ message: expect.stringContaining(`schedule ${third} was not made`) });
    await expect(client.schedules.show(third)).rejects.toMatchObject({ failure: { message: `there is no schedule ${third}` } });
    // One that another call made is not taken for this one.
    await expect(made(first)).rejects.toMatchObject({ failure: { message: `there is a schedule ${first} already` } });
});

test("a run that is handed over goes on there where the answer was cut; where the server does not tell, the ledger has it for both", async () => {
    await using all = await behind();
    const { room, proxy, client } = all;
    const source = `import tool Log from "host:log" { write: ask }\nmain func(input) { Log.write("word") }`;
    const tools = { Log: { write: { call: (word: string) => word.length } } };
    const parked = async (): Promise<string> => {
        const made = await load({ source }, { cache: false, process: room.on, ledger: room.store, tools });
        const handle = made.run({}, { asks: { park: true } });
        await handle.result;
        return handle.id;
    };
    const resume = { process: room.on, tools };
    const [first, second] = [await parked(), await parked()];
    await room.worker({ host: { tools } });
    const given = async (run: string): Promise<void> => {
        const [ask] = await room.store.asks.list(run);
        await client.goOn(run, { resume: { ...resume, answers: { [ask?.path ?? ""]: "once" } } });
    };
    proxy.cuts[START] = "broken";
    await given(first);
    expect(await client.result(first)).toBe(4);
    proxy.cuts[LOOK] = "broken";
    await expect(given(second)).rejects.toMatchObject({ message: expect.stringContaining(`run ${second} may have begun there`) });
    expect(await client.result(second)).toBe(4);
    expect(await room.store.verify(second)).toMatchObject({ ok: true, bound: "yes" });
});

test("a block that may have begun there is not begun again where its run goes on", async () => {
    await using all = await behind();
    const { room, proxy } = all;
    const calls: string[] = [];
    const work = { call: { call: (x: string) => calls.push(x) } };
    await room.worker({ host: { tools: { Work: work } } });
    const source = `import tool Work from "host:work"\nfunc work(x) { Work.call(x) }\ntemporal static ( work "q" )`;
    await using there = temporalBlocks({ connect: { address: proxy.address }, queue: room.queue });
    const { blocks } = there;
    const made = await load({ source }, { cache: false, process: room.on, ledger: room.store, tools: { Work: work }, blocks });
    Object.assign(proxy.cuts, { [START]: "broken", [LOOK]: "broken" });
    const handle = made.run(null);
    expect(await handle.result).toMatchObject({
        failure: { kind: "unreachable", message: expect.stringContaining("may have begun there") },
    });
    for (const method of [START, LOOK]) delete proxy.cuts[method];
    const ledger = await openLedger(room.store, { process: room.on });
    const again = await ledger.resume(handle.id, { process: room.on, tools: { Work: work }, blocks, retry: true });
    expect(await again.value).toBe(1);
    expect(calls).toEqual(["q"]);
});
