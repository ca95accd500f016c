/** `run(program, { address })` of the host: blocks of a program from TypeScript, carried out by a worker that has the same plugins. */
import { compile, run, type VerbPlugin, verbRegistry } from "@remit/host";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DevServer } from "../src/index.ts";
import { questionsOf, type Room, roomAt, sharedServer } from "./room.ts";

const SHOUT: VerbPlugin = {
    entry: {
        name: "shout",
        description: "Says it louder.",
        params: [{ name: "input", contract: { type: "json" }, description: "what is said", optional: true, flows: true }],
        result: { type: "string" },
    },
    call: ({ input }: { input: string }) => `${input.toUpperCase()}!`,
    readOnly: true,
};
const registry = verbRegistry([SHOUT]);

let server: DevServer;
let room: Room;
beforeAll(async () => {
    server = await sharedServer();
    room = await roomAt(server);
    writeFileSync(join(room.folder, "remit.json"), JSON.stringify({ questions: [{ kind: "approve", approvers: ["user:alice"] }] }));
    await room.worker({ host: { registry, trust: true } });
});
afterAll(async () => {
    await room[Symbol.asyncDispose]();
});

test("one value a block, in order, of both backends, by verbs of a plugin that the worker has", async () => {
    const source = 'temporal static ( echo "a" >=> shout >=> shout ) as there\nmemory static ( echo there >=> shout )';
    const program = await compile(source, { registry });
    const how = { address: server.address, queue: room.queue, ledger: room.store, process: room.on };
    expect(await run(program, how)).toEqual(["A!!", "A!!!"]);
    const [around] = (await room.store.runs()).filter(({ id }) => !id.includes("."));
    expect(await room.store.run(`${around?.id}.blocks-block-0`)).toMatchObject({ status: "done", value: "A!!" });
});

test("the person who watches is not asked what an approver answers, and answers for nobody else", async () => {
    const program = await compile('temporal static ( echo "a" >=> approve "Go on?" )', { registry });
    let asked = 0;
    const on = { ask: () => (asked++, "once") };
    const value = run(program, { address: server.address, queue: room.queue, ledger: room.store, process: room.on, on });
    await expect.poll(async () => (await room.store.asks.list()).length).toBe(1);
    const part = (await room.store.asks.list())[0]?.run as string;
    const [question] = await questionsOf(room, part);
    // Time for the watcher to look at the questions twice.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await room.client.answer(part, { question: question?.id as string, by: "user:alice", decision: "once" });
    expect(await value).toEqual(["a"]);
    expect(asked).toBe(0);
    expect(await room.store.asks.list(part)).toMatchObject([{ by: "user:alice", decision: "once" }]);
});
