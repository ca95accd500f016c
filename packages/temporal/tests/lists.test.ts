/** LST1: a namespace that is shared with runs and schedules whose payloads this client cannot read. */
import { randomBytes } from "node:crypto";
import { openWorld } from "@remit/host";
import { Client } from "@temporalio/client";
import { expect, test } from "vitest";
import { connect, placeOf, type RemitClient, remitClient } from "../src/index.ts";
import { devServer, roomAt } from "./room.ts";

const NAMESPACE = "shared-by-teams";
/** As another team's codec leaves a payload. */
const FOREIGN = {
    encode: async () => [{ metadata: { encoding: Buffer.from("binary/theirs") }, data: Buffer.from("?") }],
    decode: async () => [],
};

test("LST1: runs and schedules that cannot be read hide no others, and their number is told once", async () => {
    await using server = await devServer({ namespace: NAMESPACE });
    await using room = await roomAt(server);
    const connection = await connect(placeOf({ address: server.address }));
    const at = { connection, store: room.store, namespace: NAMESPACE, queue: "nobody" };
    const [open, closed] = [remitClient(at), remitClient({ ...at, keys: { current: "theirs", keys: { theirs: randomBytes(32) } } })];
    const program = await openWorld({ source: "main func(input) { input }" }, { cache: false, process: room.on });
    const cron = "0 7 * * *";
    for (const [client, id] of [
        [closed, "one"],
        [open, "two"],
        [closed, "three"],
        [open, "four"],
    ] as const) {
        await client.submit(program, program.kept(1), { id });
        await client.schedules.create(program, program.kept(1), { id: `at-${id}`, cron });
    }
    const theirs = new Client({ connection, namespace: NAMESPACE, dataConverter: { payloadCodecs: [FOREIGN] } });
    await theirs.workflow.start("remitRun", { taskQueue: "nobody", workflowId: "five", memo: { program: "p" } });
    await theirs.workflow.start("theirs", { taskQueue: "nobody", workflowId: "six", memo: { other: "p" } });

    const told: string[] = [];
    const runs = async (client: RemitClient): Promise<object> => {
        const rows = await Array.fromAsync(client.list(undefined, (text) => told.push(text)));
        return Object.fromEntries(rows.map(({ run, program }) => [run, program]));
    };
    const { file } = program;
    const mine = { one: null, two: file, three: null, four: file, five: null };
    // A server lists what has begun a little later.
    await expect.poll(() => runs(open), { timeout: 30_000 }).toEqual(mine);
    told.length = 0;
    await runs(open);
    expect(told).toEqual([expect.stringMatching(/^3 of these runs /)]);
    told.length = 0;
    // Who has the key reads both.
    expect(await runs(closed)).toEqual({ ...mine, one: file, three: file });
    expect(told).toEqual([expect.stringMatching(/^1 of these runs /)]);
    const rows = await Array.fromAsync(open.list("WorkflowId = 'two' OR WorkflowId = 'six'"));
    expect(rows.map(({ run, status, program: from }) => [run, status, from]).sort()).toEqual([
        ["six", "RUNNING", ""],
        ["two", "RUNNING", file],
    ]);
    expect(rows.every(({ started }) => Math.abs(started.getTime() - Date.now()) < 3_600_000)).toBe(true);

    told.length = 0;
    const planned = (): Promise<object> =>
        Array.fromAsync(open.schedules.list((text) => told.push(text))).then((all) =>
            Object.fromEntries(all.map(({ id, program: from, cron: when, paused, next }) => [id, [from, when, paused, next.length > 0]])),
        );
    const [seen, unseen] = [
        [file, cron, false, true],
        [null, null, false, true],
    ];
    await expect.poll(planned, { timeout: 30_000 }).toEqual({ "at-one": unseen, "at-two": seen, "at-three": unseen, "at-four": seen });
    told.length = 0;
    await planned();
    expect(told).toEqual([expect.stringMatching(/^2 of these schedules /)]);
    told.length = 0;
    const tell = (text: string): number => told.push(text);
    const one = { cron: null, program: null, zone: null, overlap: "buffer-one", paused: false, taken: 0, next: expect.any(Array) };
    await closed.schedules.create(program, program.kept(1), { id: "at-five", cron, overlap: "buffer-one" });
    expect(await open.schedules.show("at-five", tell)).toMatchObject(one);
    expect(told).toEqual([expect.stringMatching(/^1 of these schedules cannot be read here/)]);
    expect(await closed.schedules.show("at-five", tell)).toMatchObject({ ...one, cron, program: file, zone: "UTC" });
    expect(told).toHaveLength(1);
    const nowhere = remitClient({ ...at, namespace: "no-such-place" });
    await expect(nowhere.schedules.show("at-five")).rejects.toMatchObject({
        message: expect.stringContaining("has no namespace 'no-such-place'"),
    });
    await connection.close();
});
