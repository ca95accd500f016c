/** `run(program, { address })` of the host: blocks of a program from TypeScript, carried out by a worker that has the same plugins. */
import { compile, run, type VerbPlugin, verbRegistry } from "@remit/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DevServer } from "../src/index.ts";
import { devServer, type Room, roomAt } from "./room.ts";

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
    server = await devServer();
    room = await roomAt(server);
    await room.worker({ host: { registry } });
});
afterAll(async () => {
    await room[Symbol.asyncDispose]();
    await server.stop();
});

test("one value a block, in order, of both backends, by verbs of a plugin that the worker has", async () => {
    const source = 'temporal static ( echo "a" >=> shout >=> shout ) as there\nmemory static ( echo there >=> shout )';
    const program = await compile(source, { registry });
    const how = { address: server.address, queue: room.queue, ledger: room.store, process: room.on };
    expect(await run(program, how)).toEqual(["A!!", "A!!!"]);
    const [around] = (await room.store.runs()).filter(({ id }) => !id.includes("."));
    expect(await room.store.run(`${around?.id}.blocks-block-0`)).toMatchObject({ status: "done", value: "A!!" });
});
