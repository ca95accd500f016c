/** The plugin in a worker and a client that a team has: its own workflows, activities, interceptors and codec beside runs of Remit. */
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createRequire } from "node:module";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type HostTool, load, openWorld } from "@remit/host";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { Client } from "@temporalio/client";
import type { Payload, PayloadCodec } from "@temporalio/common";
import { OpenTelemetryPlugin } from "@temporalio/interceptors-opentelemetry";
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker, type WorkerOptions, type WorkflowBundle } from "@temporalio/worker";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
    connect,
    type DevServer,
    placeOf,
    RemitPlugin,
    type RemitPluginOptions,
    type Question,
    type RemitClient,
    remitClient,
    temporalBlocks,
} from "../src/index.ts";
import { BUNDLES } from "./bundles.ts";
import { devServer, questionsOf, type Room, roomAt } from "./room.ts";
import * as activities from "./team/activities.ts";

const WORKFLOWS = fileURLToPath(new URL("./team/workflows.ts", import.meta.url));
let server: DevServer;
/** The team's workflows as they are bundled with the plugin, once: the SDK's bundler costs more than what a test does with it. */
let workflowBundle: WorkflowBundle;
beforeAll(async () => {
    server = await devServer();
    // Its ledger is not opened by that.
    await using plugin = new RemitPlugin({ ledger: "none.db", cache: BUNDLES });
    workflowBundle = await bundleWorkflowCode({ workflowsPath: WORKFLOWS, plugins: [plugin], logger: new DefaultLogger("ERROR") });
});
afterAll(() => server.stop());

const SOURCE = `import tool Words from "host:words"
main func(input: { words: list[string] }) {
    total = 0
    for word in input.words max 10 { total += Words.size(word) }
    total
}`;

/** A team's codec: every payload is turned round. */
const turned: PayloadCodec = {
    encode: async (payloads) => payloads.map(turn),
    decode: async (payloads) => payloads.map(turn),
};
function turn({ metadata, data }: Payload): Payload {
    return { metadata: metadata ?? null, data: Uint8Array.from(data ?? []).reverse() };
}

interface Team extends AsyncDisposable {
    readonly client: Client;
    readonly remit: RemitClient;
}

/** A team's worker and client, each with the plugin. */
async function teamAt(
    room: Room,
    more: Partial<WorkerOptions>,
    words: HostTool,
    plugins: OpenTelemetryPlugin[] = [],
    serving: Partial<RemitPluginOptions> = {},
): Promise<Team> {
    const at = { ledger: room.store, cache: BUNDLES };
    const programs = { Sizes: { source: SOURCE } };
    // Each run's own tools come before those of all runs.
    const host = { process: room.on, tools: { Words: { size: { call: () => 1_000 } } } };
    const plugin = new RemitPlugin({ ...at, programs, host, ofRun: () => ({ tools: { Words: words } }), ...serving });
    const connection = await NativeConnection.connect({ address: server.address });
    const dataConverter = { payloadCodecs: [turned] };
    const worker = await Worker.create({
        ...{ connection, taskQueue: room.queue, activities, dataConverter },
        ...more,
        plugins: [...plugins, plugin],
    });
    const ran = worker.run();
    const own = await connect(placeOf({ address: server.address }));
    const client = new Client({ connection: own, dataConverter, plugins: [...plugins, new RemitPlugin(at)] });
    return {
        client,
        remit: remitClient({ client, store: room.store, queue: room.queue }),
        [Symbol.asyncDispose]: async () => {
            worker.shutdown();
            await ran;
            await connection.close();
            await own.close();
        },
    };
}

const size: HostTool = { size: { readOnly: true, call: (word: string) => word.length } };

async function summed({ remit }: Team, room: Room, words: readonly string[]): Promise<unknown> {
    const world = await openWorld({ source: SOURCE }, { cache: false, process: room.on });
    const run = await remit.submit(world, world.kept({ words: [...words] }));
    const value = await remit.result(run);
    expect(await room.store.verify(run)).toMatchObject({ ok: true });
    await world.close();
    return value;
}

// The worker bundles the workflows itself, and so does that of the trace below.
test("PLG1: a run of Remit and the team's workflow go on in one worker, both through the team's codec", async () => {
    await using room = await roomAt(server);
    await using team = await teamAt(room, { workflowsPath: WORKFLOWS }, size);
    const { workflow } = team.client;
    const start = { taskQueue: room.queue, args: ["Ada"] };
    expect(await workflow.execute("greet", { ...start, workflowId: `${room.queue}-greet` })).toBe("HELLO ADA");
    expect(await workflow.execute("anything", { ...start, workflowId: `${room.queue}-any` })).toBe("other");
    expect(await summed(team, room, ["a", "bb", "ccc"])).toBe(6);
});

test("CBS1: a client without the plugin reads the team's payloads; large ones of runs stand in the ledger, and pass", async () => {
    await using room = await roomAt(server);
    const big = "abcdefghij".repeat(300_000);
    await using team = await teamAt(room, { workflowBundle }, { size: { call: (text: string) => (text === "x" ? big : 1) } });
    expect(await summed(team, room, ["x"])).toBe(`0${big}`);
    const connection = await connect(placeOf({ address: server.address }));
    const plain = new Client({ connection, dataConverter: { payloadCodecs: [turned] } });
    const name = "y".repeat(5_000);
    const given = { taskQueue: room.queue, args: [name], workflowId: `${room.queue}-plain` };
    expect(await plain.workflow.execute("greet", given)).toBe(`HELLO ${name.toUpperCase()}`);
    await connection.close();
});

test("a team's bundle that was made with the plugin has the workflow; a worker without workflows has it alone", async () => {
    await using room = await roomAt(server);
    {
        await using team = await teamAt(room, { workflowBundle }, size);
        expect(await summed(team, room, ["a"])).toBe(1);
    }
    await using alone = await teamAt(room, {}, size);
    expect(await summed(alone, room, ["a", "b"])).toBe(2);
});

test("RCH1: a workflow of the team calls a program as a child, with types, and is told how it failed", async () => {
    await using room = await roomAt(server);
    const fails: HostTool = {
        size: {
            call: (word: string) => {
                if (word === "bad") throw new Error("no such word");
                return word.length;
            },
        },
    };
    await using team = await teamAt(room, { workflowBundle }, fails);
    const measured = (words: readonly string[]): Promise<string> => {
        const workflowId = `${room.queue}-${words.join("-")}`;
        return team.client.workflow.execute<(words: string[]) => Promise<string>>("measured", {
            ...{ taskQueue: room.queue, workflowId, args: [[...words]] as [string[]] },
        });
    };
    expect(await measured(["a", "bb"])).toBe("3 letters");
    expect(await measured(["a", "bad"])).toMatch(/^tool: .*no such word/);
    // The input does not fit: told before a run is begun.
    expect(await measured([1 as unknown as string])).toMatch(/^contract: /);
    const { length } = await Array.fromAsync(team.remit.list());
    expect(length).toBeGreaterThanOrEqual(2);
});

test("WAC4: a program that hangs while it opens fails the workflow that calls it after three tries, and begins when that is mended", async () => {
    await using room = await roomAt(server);
    // Workflows alone: what the child is, the other worker knows.
    const connection = await NativeConnection.connect({ address: server.address });
    const worker = await Worker.create({ connection, taskQueue: room.queue, workflowBundle });
    const ran = worker.run();
    const client = new Client({ connection: room.client.client.connection });
    // Takes the connection, and says nothing.
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket.on("error", () => undefined))).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const link = `https://127.0.0.1:${port}/SKILL.md#sha256=${"0".repeat(64)}`;
    const programs = { Sizes: { source: `import skill Slow from "${link}"\n${SOURCE}` } };
    await using elsewhere = await roomAt(server);
    await elsewhere.worker({ programs, opening: 2_000, host: { tools: { Words: size } } });
    const measured = (id: string): Promise<string> =>
        client.workflow.execute<(words: string[], queue: string) => Promise<string>>("measured", {
            ...{ taskQueue: room.queue, workflowId: `${room.queue}-${id}`, args: [["a", "bb"], elsewhere.queue] as [string[], string] },
        });
    expect(await measured("hangs")).toBe(
        "unreachable: the worker could not open the program in 3 tries: the program 'Sizes', with its configuration and what it imports, did not come within 2 s",
    );
    programs.Sizes = { source: SOURCE };
    expect(await measured("mended")).toBe("3 letters");
    silent.close();
    for (const socket of sockets) socket.destroy();
    worker.shutdown();
    await ran;
    await connection.close();
});

test("WAC4, TQ4: a team's worker says how long and how often a run is opened, and whose signature an answer needs", async () => {
    await using room = await roomAt(server);
    let hangs = true;
    const ofRun = (): null | Promise<null> => (hangs ? new Promise(() => undefined) : null);
    const signer = generateKeyPairSync("ed25519").privateKey;
    const signers = [createPublicKey(signer)];
    await using team = await teamAt(room, { workflowBundle }, size, [], { ofRun, tries: 2, opening: 100, signers });
    const world = await openWorld({ source: "main func(name: string) { name }" }, { cache: false, process: room.on });
    const run = await team.remit.submit(world, world.kept({}, { interactive: true }));
    const message = "the worker could not open the run in 2 tries: what the worker gives this run (`ofRun`) did not come within 0.1 s";
    await expect(team.remit.result(run)).rejects.toMatchObject({ failure: { kind: "unreachable", message } });
    hangs = false;
    await team.remit.goOn(run, { resume: {} });
    const [{ id }] = (await questionsOf({ ...room, client: team.remit }, run)) as [Question];
    const answer = { question: id, by: room.on.user, value: "ada" };
    await expect(team.remit.answer(run, answer)).rejects.toMatchObject({ cause: { type: "RemitRefused" } });
    await remitClient({ client: team.client, store: room.store, queue: room.queue, signer }).answer(run, answer);
    expect(await team.remit.result(run)).toBe("ada");
    await world.close();
});

test("WAC2: a workflow of another name makes no call in a run, takes it from none and writes nothing of it, whatever epoch it says", async () => {
    await using room = await roomAt(server);
    const sent: unknown[] = [];
    const tools = { Mail: { send: { readOnly: true, call: (text: string) => sent.push(text) } } };
    await room.worker({ host: { tools } });
    const source = 'import tool Mail from "host:mail"\nmain func(name: string) { Mail.send(name) }';
    const world = await openWorld({ source }, { cache: false, process: room.on });
    const run = await room.client.submit(world, world.kept({}, { interactive: true }));
    const [name] = await questionsOf(room, run);
    const connection = await NativeConnection.connect({ address: server.address });
    const taskQueue = `${room.queue}-foreign`;
    const foreign = await Worker.create({ connection, taskQueue, workflowBundle });
    const { epoch, events } = await room.store.run(run);
    const site = null;
    const effect = { path: "main/forged", kind: "tool", site, labels: [], principal: "user", repeatable: true };
    const request = { op: "call", tool: "Mail", uri: "host:mail", file: "main.remit", method: "send", args: ["forged"] };
    const event = { path: "main", parent: null, kind: "failure", principal: "user", site, labels: [], data: { message: "forged" } };
    const forged = { run, epoch, batches: [{ n: 100, batch: { events: [event] } }] };
    const { workflow } = room.client.client;
    await foreign.runUntil(async () => {
        for (const [activity, wanted] of [
            ["remit.perform", { run, epoch, batches: [], effect: { ...effect, request } }],
            ["remit.open", { run, goesOn: { epoch } }],
            ["remit.flush", forged],
            ["remit.decide", { ...forged, by: room.on.user }],
        ] as const)
            expect(
                await workflow.execute("forged", {
                    taskQueue,
                    workflowId: `${taskQueue}-${activity}`,
                    args: [room.queue, activity, wanted],
                }),
                activity,
            ).toBe("RemitRefused");
    });
    expect(sent).toEqual([]);
    expect(await room.store.run(run)).toMatchObject({ epoch, events });
    await room.client.answer(run, { question: name?.id ?? "", by: room.on.user, value: "Ada" });
    await room.client.result(run);
    expect(sent).toEqual(["Ada"]);
    await connection.close();
});

test("WAC2, its limit: while the run's workflow runs no other takes its id; once that was terminated, one of other code does, and has calls made", async () => {
    await using room = await roomAt(server);
    const sent: unknown[] = [];
    const tools = { Mail: { send: { call: (text: string) => sent.push(text) } } };
    await room.worker({ host: { tools } });
    const source = 'import tool Mail from "host:mail" { send: ask }\nmain func(name: string) { Mail.send(name) }';
    const world = await openWorld({ source }, { cache: false, process: room.on });
    const run = await room.client.submit(world, world.kept({}, { interactive: true }));
    await questionsOf(room, run);
    const connection = await NativeConnection.connect({ address: server.address });
    const taskQueue = `${room.queue}-foreign`;
    const foreign = await Worker.create({ connection, taskQueue, workflowBundle });
    const before = await room.store.run(run);
    const site = null;
    const request = { op: "call", tool: "Mail", uri: "host:mail", file: "main.remit", method: "send", args: ["forged"] };
    const effect = { path: "main/forged", kind: "tool", site, labels: [], principal: "user", repeatable: false, request };
    const { workflow } = room.client.client;
    const begun = (activity: string, wanted: unknown): ReturnType<typeof workflow.start> =>
        workflow.start("forged", { taskQueue, workflowId: run, args: [room.queue, activity, wanted] });
    await foreign.runUntil(async () => {
        await expect(begun("remit.open", { run, goesOn: { epoch: before.epoch } })).rejects.toThrow("already started");
        expect(await room.store.run(run)).toMatchObject({ epoch: before.epoch, by: before.by });
        await workflow.getHandle(run).terminate("taken");
        // It has to take the run first, which the record shows.
        const stale = await begun("remit.perform", { run, epoch: before.epoch + 1, batches: [], effect });
        expect([await stale.result(), sent]).toEqual(["RemitFenced", []]);
        const opens = await begun("remit.open", { run });
        await expect.poll(async () => (await room.store.run(run)).epoch).toBe(before.epoch + 1);
        await opens.terminate("opened");
        const { epoch, by } = await room.store.run(run);
        expect(by).not.toBe(before.by);
        const makes = await begun("remit.perform", { run, epoch, batches: [], effect });
        expect(JSON.parse((await makes.result()) as string)).toMatchObject({ outcome: { ok: true }, recorded: true });
    });
    // Not even the gate `ask` is between: a workflow conducts the run, its worker performs. No event tells of the call.
    expect(sent).toEqual(["forged"]);
    expect((await room.store.run(run)).events).toBe(before.events);
    await connection.close();
});

const BILLING = {
    methods: {
        refund: {
            activity: "refundOrder",
            description: "Refunds an order.",
            input: { type: "object", properties: { order: { type: "integer" }, cents: { type: "integer" } }, required: ["order", "cents"] },
        },
        greet: { workflow: "greeted", readOnly: true },
    },
};
const REFUND = `import tool Billing from "temporal://QUEUE/billing.json" {
    arg refund.cents: trusted
}
main func(input) {
    said = try { Billing.refund({ order: input.order, cents: input.cents }) } catch failure { failure.kind + ": " + failure.message }
    [said, Billing.greet({ name: "Ada" })]
}`;

test("QC1: a program calls activities and workflows of a team's queue as a tool, here and on Temporal; clauses hold", async () => {
    await using room = await roomAt(server);
    await using team = await teamAt(room, { workflowBundle }, size);
    writeFileSync(join(room.folder, "billing.json"), JSON.stringify(BILLING));
    const file = join(room.folder, "refund.remit");
    writeFileSync(file, REFUND.replace("QUEUE", room.queue));
    // of no other room, and of no program of another file that refunds in this process
    const order = 1_000_000 + Number(room.queue.split("-")[2]);
    const right = [{ refunded: 500 }, "HELLO ADA"];
    await using there = temporalBlocks({ connect: { address: server.address }, dataConverter: { payloadCodecs: [turned] } });
    const options = { process: room.on, cache: false, ledger: room.store };
    const here = await load(file, { ...options, queues: there.queues });
    expect(await here({ order, cents: 500 })).toEqual(right);
    const [said] = (await here({ order, cents: 15_000 })) as [string];
    expect(said).toMatch(/^tool: Tool Billing\.refund \(temporal:.*\) failed: order \d+ is too much$/);
    const world = await openWorld(file, options);
    const run = await team.remit.submit(world, world.kept({ order, cents: 500 }));
    expect(await team.remit.result(run)).toEqual(right);
    expect(activities.refunded.filter((one) => one === order)).toHaveLength(2);
    const [text, path] = [readFileSync(file, "utf8"), join(room.folder, "greeted.remit")];
    writeFileSync(path, text.replace("cents: input.cents", 'cents: Billing.greet({ name: "x" })'));
    await expect(load(path, options)).rejects.toThrow("this comes from Billing, and 'cents' of Billing takes only what is trusted");
    const [unreachable] = (await (await load(file, options))({ order, cents: 500 }).catch((error: unknown) => [String(error)])) as [string];
    expect(unreachable).toContain("no Temporal server is named");
});

/** OpenTelemetry as the interceptors have it. */
const otel = createRequire(createRequire(import.meta.url).resolve("@temporalio/interceptors-opentelemetry"));
const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = otel("@opentelemetry/sdk-trace-base");
const { Resource } = otel("@opentelemetry/resources");
const { context, propagation } = otel("@opentelemetry/api");
context.setGlobalContextManager(new AsyncLocalStorageContextManager());
propagation.setGlobalPropagator(new (otel("@opentelemetry/core").W3CTraceContextPropagator)());

test("the trace of the client goes through the workflow of a run to its activities, as the team's interceptors carry it", async () => {
    const exporter = new InMemorySpanExporter();
    const spanProcessor = new SimpleSpanProcessor(exporter);
    const tracer = new BasicTracerProvider({ spanProcessors: [spanProcessor] }).getTracer("team");
    const traces = new OpenTelemetryPlugin({ resource: new Resource({}), spanProcessor, tracer });
    await using room = await roomAt(server);
    {
        await using team = await teamAt(room, { workflowsPath: WORKFLOWS }, size, [traces]);
        expect(await summed(team, room, ["a", "bb"])).toBe(3);
    }
    interface Span {
        readonly name: string;
        readonly parentSpanId?: string;
        spanContext(): { readonly traceId: string; readonly spanId: string };
    }
    const spans = exporter.getFinishedSpans() as readonly Span[];
    const performing = spans.filter(({ name }) => name === "RunActivity:remit.perform");
    expect(performing.length).toBeGreaterThan(1);
    const byId = new Map(spans.map((one) => [one.spanContext().spanId, one]));
    const above = (one: Span | undefined): string[] => (one === undefined ? [] : [one.name, ...above(byId.get(one.parentSpanId ?? ""))]);
    for (const one of performing)
        expect(above(one)).toEqual([
            "RunActivity:remit.perform",
            "StartActivity:remit.perform",
            "RunWorkflow:remitRun",
            "StartWorkflow:remitRun",
        ]);
});
