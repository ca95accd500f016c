/** Schedules on a real server: runs of the ledger at their times, paused, triggered, deleted; what is wrong is told before anything is made. */
import { openWorld } from "@remit/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DevServer, ScheduleListed } from "../src/index.ts";
import { cronProblem } from "../src/client/cron.ts";
import { devServer, type Room, roomAt } from "./room.ts";

let server: DevServer;
let room: Room;
beforeAll(async () => {
    server = await devServer();
    room = await roomAt(server);
    await room.worker({ host: { tools: { Words: { size: { readOnly: true, call: (word: string) => word.length } } } } });
});
afterAll(async () => {
    await room[Symbol.asyncDispose]();
    await server.stop();
});

const SOURCE = `import tool Words from "host:words"\nmain func(input) { Words.size(input.word) }`;
const program = (): ReturnType<typeof openWorld> => openWorld({ source: SOURCE }, { cache: false, process: room.on });

/** Runs that a schedule began, once there are so many. */
async function runsOf(id: string, least: number): Promise<ScheduleListed["runs"]> {
    for (;;) {
        const { runs } = await room.client.schedules.show(id);
        if (runs.length >= least) return runs;
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
}

test("each time is a run of its own in the ledger, with the id of the schedule and the time", async () => {
    const world = await program();
    await room.client.schedules.create(world, world.kept({ word: "four" }), { id: "often", cron: "@every 1s" });
    const [first] = await runsOf("often", 2);
    await room.client.schedules.pause("often", "enough");
    expect(first?.run).toMatch(/^often-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(await room.client.result(first?.run as string)).toBe(4);
    expect(await room.store.run(first?.run as string)).toMatchObject({ status: "done", value: 4 });
    expect(await room.store.verify(first?.run as string)).toMatchObject({ ok: true, bound: "yes" });
    const shown = await room.client.schedules.show("often");
    expect(shown).toMatchObject({ paused: true, note: "enough", cron: "@every 1s", zone: "UTC", overlap: "skip" });
    await room.client.schedules.remove("often");
    await expect(room.client.schedules.show("often")).rejects.toMatchObject({
        failure: { kind: "value", message: "there is no schedule often" },
    });
});

test("a paused one begins a run when it is triggered, and goes on", async () => {
    const world = await program();
    const zone = "Europe/Berlin";
    const options = { id: "nightly", cron: "0 7 * * 1-5", zone, overlap: "allow-all" } as const;
    await room.client.schedules.create(world, world.kept({ word: "word" }), options);
    const { next } = await room.client.schedules.show("nightly");
    const hour = new Intl.DateTimeFormat("en", { timeZone: zone, hour: "numeric", hourCycle: "h23" });
    expect(hour.format(next[0])).toBe("07");
    await room.client.schedules.pause("nightly");
    await room.client.schedules.trigger("nightly");
    const [one] = await runsOf("nightly", 1);
    expect(await room.client.result(one?.run as string)).toBe(4);
    await room.client.schedules.resume("nightly");
    expect(await room.client.schedules.show("nightly")).toMatchObject({ paused: false, overlap: "allow-all", taken: 1 });
    await expect(room.client.schedules.create(world, world.kept({}), options)).rejects.toMatchObject({
        failure: { message: "there is a schedule nightly already" },
    });
    await room.client.schedules.remove("nightly");
});

test("SCD1: a wrong expression, zone or policy is told, and nothing is made", async () => {
    const world = await program();
    const kept = world.kept({ word: "x" });
    const wrong = (more: object): Promise<void> => room.client.schedules.create(world, kept, { id: "wrong", cron: "0 7 * * *", ...more });
    await expect(wrong({ cron: "61 7 * * *" })).rejects.toMatchObject({
        kind: "value",
        message: expect.stringContaining("'61' is no minute: 0 to 59"),
    });
    await expect(wrong({ zone: "Mars/Olympus" })).rejects.toMatchObject({ failure: { message: "there is no time zone 'Mars/Olympus'" } });
    await expect(wrong({ overlap: "perhaps" })).rejects.toMatchObject({ hint: expect.stringContaining("buffer-one") });
    await expect(room.client.schedules.show("wrong")).rejects.toMatchObject({ failure: { message: "there is no schedule wrong" } });
});

const CRON: readonly (readonly [string, string | null])[] = [
    ["0 7 * * *", null],
    ["*/15 0-6,22 1 jan,jul mon-fri", null],
    ["0 7 * * * 2027", null],
    ["30 0 7 * * * *", null],
    ["@daily", null],
    ["@every 90m", null],
    ["0 7 * * 1-5 # on workdays", null],
    ["0 7 * *", "it has 4 fields"],
    ["", "it has 0 fields"],
    ["* 24 * * *", "'24' is no hour: 0 to 23"],
    ["0 7 0 * *", "'0' is no day of the month"],
    ["0 7 * foo *", "'foo' is no month: 1 to 12, or jan to dec"],
    ["0 7 * * 5-1", "'5-1' goes backwards"],
    ["*/0 * * * *", "the step of '*/0' is 0"],
    ["@every soon", "@every takes a duration"],
    ["a b c d e", "'a' is no minute"],
];
test.each(CRON)("cron expression '%s'", (text, problem) => {
    if (problem === null) expect(cronProblem(text)).toBeNull();
    else expect(cronProblem(text)).toContain(problem);
});

test("what the check takes the server takes, too", async () => {
    const world = await program();
    for (const [i, [cron, problem]] of CRON.entries()) {
        if (problem !== null) continue;
        await room.client.schedules.create(world, world.kept({ word: "x" }), { id: `taken-${i}`, cron });
        await room.client.schedules.remove(`taken-${i}`);
    }
});
