/** Blocks on Temporal: the same value, failures and ledger as in this process; a program here whose block runs there. */
import { type Handlers, load, type LoadOptions, memoryStore, openWorld, type RunHandle } from "@remit/host";
import type { Json } from "@remit/language";
import { canonicalLedger, type LedgerEvent } from "@remit/machine";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DevServer, temporalBlocks } from "../src/index.ts";
import { questionsOf, type Room, roomAt, sharedServer } from "./room.ts";

let server: DevServer;
let room: Room;
const tools = {
    Work: {
        call: {
            repeatable: true,
            call: async (x: Json) => {
                if (x === "bad") throw new Error("no");
                return `${x}!`;
            },
        },
    },
};
beforeAll(async () => {
    server = await sharedServer();
    room = await roomAt(server);
    await room.worker({ host: { tools } });
});
afterAll(async () => {
    await room[Symbol.asyncDispose]();
});

const WORK = 'import tool Work from "host:work"\nfunc work(x) { Work.call(x) }\nfunc both(a, b) { a + " " + b }\n';
const canonical = (events: readonly LedgerEvent[]): string[] => canonicalLedger(events).split("\n");

const BODIES: [string, Json][] = [
    ['( work "a" >=> work )', null],
    ['( ( work "a" <*> work "b" ) >=> both )', null],
    ["( work <*> ( work >=> work ) )", "in"],
    ["( temporal dynamic ( work >=> ( work <*> work ) >=> both ) >=> work )", "x"],
];

test.each(BODIES)("%s: value and ledger are those of this process", async (body, input) => {
    const here = memoryStore();
    const options: LoadOptions = { tools, cache: false };
    const memory = await load({ source: `${WORK}memory static ${body.replaceAll("temporal", "memory")}` }, { ...options, ledger: here });
    const expected = await memory.run(input).result;
    expect(expected.status).toBe("done");

    const world = await openWorld({ source: `${WORK}temporal static ${body}` }, options);
    const run = await room.client.submit(world, world.kept(input));
    expect(await room.client.result(run)).toEqual(expected.value);
    await world.close();
    expect(await room.store.verify(run)).toMatchObject({ ok: true });
    const there = canonical(await Array.fromAsync(room.store.events(run)));
    // What says which program it is, and where its blocks run.
    const same = canonical(await Array.fromAsync(here.events(expected.run))).map((line) =>
        line.replaceAll('"backend":"memory"', '"backend":"temporal"'),
    );
    const plain = (lines: readonly string[]): string[] =>
        lines.map((line) => line.replace(/[0-9a-f]{64}/g, "…").replace(/"(?:column|endColumn)":\d+/g, "…"));
    expect(plain(there)).toEqual(plain(same));
});

test("a program here whose block runs there: value, question and ledger", async () => {
    const seen: LedgerEvent[] = [];
    const on: Handlers = { ask: () => "once", event: (event) => seen.push(event) };
    await using there = temporalBlocks({ connect: { address: server.address }, queue: room.queue });
    const source = `import tool Work from "host:work" { call: ask }\nfunc work(x) { Work.call(x) }\ntemporal static ( work "q" >=> work ) as out\nmemory static ( work )`;
    const program = await load({ source }, { tools, ledger: room.store, blocks: there.blocks, on });
    const handle = program.run("in");
    expect(await handle.value).toEqual(["q!!", "in!"]);
    const part = await room.store.run(`${handle.id}.blocks-block-0`);
    expect(part).toMatchObject({ status: "done", value: "q!!" });
    const ofBlock = seen.filter(({ run }) => run === part.id);
    expect(ofBlock).toEqual(await Array.fromAsync(room.store.events(part.id)));
});

test("ASD3: where no person is here for a question of a block its watcher is told the command, and a run that may wait waits", async () => {
    const source = `import tool Work from "host:work" { call: ask }\nfunc work(x) { Work.call(x) }\ntemporal static ( work "q" )`;
    await using there = temporalBlocks({ connect: { address: server.address }, queue: room.queue });
    const begun = async (asks: LoadOptions["asks"], on: Handlers): Promise<RunHandle<Json>> =>
        (await load<Json>({ source }, { tools, ledger: room.store, blocks: there.blocks, asks, on })).run(null);
    const told = Promise.withResolvers<Json>();
    const watched = await begun({}, { part: (_, part) => told.resolve(part) });
    const command = (part: string): RegExp => RegExp(`asks on Temporal: .*remit approve ${part} \\S+ ANSWER`, "s");
    const part = `${watched.id}.blocks-block-0`;
    expect(await told.promise).toMatchObject({ type: "notice", text: expect.stringMatching(command(part)) });
    const [question] = await questionsOf(room, part);
    await room.client.answer(part, { question: question?.id as string, by: room.on.user, decision: "once" });
    expect(await watched.value).toBe("q!");

    const parked = await begun({ park: true }, {});
    const { status, missing } = await parked.result;
    expect(status).toBe("waiting");
    expect(`${missing?.message} ${missing?.hint}`).toMatch(command(`${parked.id}.blocks-block-0`));
    await room.client.cancel(`${parked.id}.blocks-block-0`);
});

test("ASD1: questions of a block are put side by side; one that is answered elsewhere is withdrawn here", async () => {
    const put: string[] = [];
    const both = Promise.withResolvers<void>();
    const withdrawn = Promise.withResolvers<void>();
    let first = "";
    const on: Handlers = {
        ask: async (request, { ask, signal }) => {
            if (put.push(ask.id) === 2) both.resolve();
            await both.promise;
            if (!JSON.stringify(request).includes('"q"')) return "once";
            first = `${ask.run} ${ask.id}`;
            signal.addEventListener("abort", () => withdrawn.resolve(), { once: true });
            await withdrawn.promise;
            return null;
        },
    };
    await using there = temporalBlocks({ connect: { address: server.address }, queue: room.queue });
    const source = `import tool Work from "host:work" { call: ask }\nfunc work(x) { Work.call(x) }\nfunc both(a, b) { a + " " + b }\ntemporal static ( ( work "q" <*> work "r" ) >=> both )`;
    const program = await load({ source }, { tools, ledger: room.store, blocks: there.blocks, on });
    const handle = program.run(null);
    await expect.poll(() => first).not.toBe("");
    const [run = "", question = ""] = first.split(" ");
    await room.client.answer(run, { question, by: room.on.user, decision: "once" });
    await withdrawn.promise;
    expect(await handle.value).toBe("q! r!");
    expect(new Set(put).size).toBe(2);
});

test("a failure there is one here, with its node and line", async () => {
    await using there = temporalBlocks({ connect: { address: server.address }, queue: room.queue });
    const program = await load({ source: `${WORK}temporal static ( work "bad" )` }, { tools, ledger: room.store, blocks: there.blocks });
    await expect(program(null)).rejects.toMatchObject({ kind: "tool", message: expect.stringContaining("work#0 failed") });
});
