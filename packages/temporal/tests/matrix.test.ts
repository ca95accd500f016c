/** Random plans, and kills at random moments: a few of those that `npm run temporal-matrix` runs. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { cases } from "../../machine/tests/cases.ts";
import type { DevServer } from "../src/index.ts";
import { kills } from "./matrix/kills.ts";
import { plans, tools } from "./matrix/plans.ts";
import { type Room, roomAt, sharedServer } from "./room.ts";

let server: DevServer;
let room: Room;
beforeAll(async () => {
    server = await sharedServer();
    room = await roomAt(server);
    await room.worker({ host: { tools } });
});
afterAll(async () => {
    await room[Symbol.asyncDispose]();
});

test("random plans give the values, failures and ledgers of this process", async () => {
    expect(await plans(room, 0, cases(20))).toEqual([]);
});

// A kill takes three seconds of processor time: of the worker, the server, both, and the worker again.
test("kills at random moments: values, single writes and chains are those of runs that nothing kills", async () => {
    const count = cases(4);
    const { wrong, runs } = await kills(0, count);
    expect(wrong).toEqual([]);
    expect(runs).toBe(2 * count);
});
