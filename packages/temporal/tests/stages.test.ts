/** What a stage says of where, in which order and how often its effects are performed, on a real server. */
import { type HostTool, openWorld } from "@remit/host";
import { beforeAll, expect, test } from "vitest";
import type { DevServer } from "../src/index.ts";
import { roomAt, sharedServer } from "./room.ts";

let server: DevServer;
beforeAll(async () => {
    server = await sharedServer();
});

const SOURCE = (options: string): string => `import tool Work from "host:work"
func work(x) { Work.call(x) }
temporal static ( work >=> work with { ${options} } >=> work )`;

test("queue: the effects of a stage are performed by the workers of that queue, and by no others", async () => {
    await using room = await roomAt(server);
    const calls: string[] = [];
    const at = (place: string): { readonly Work: HostTool } => ({ Work: { call: { call: (x: string) => (calls.push(place), `${x}!`) } } });
    await room.worker({ host: { tools: at("main") } });
    await room.worker({ queue: `${room.queue}-far`, host: { tools: at("far") } });
    const world = await openWorld({ source: SOURCE(`queue: "${room.queue}-far"`) }, { cache: false, process: room.on });
    const run = await room.client.submit(world, world.kept("a"));
    expect(await room.client.result(run)).toBe("a!!!");
    expect(calls).toEqual(["main", "far", "main"]);
    expect(await room.store.verify(run)).toMatchObject({ ok: true });
});

test("priority: the server is told", async () => {
    await using room = await roomAt(server);
    await room.worker({ host: { tools: { Work: { call: { call: (x: string) => x } } } } });
    const world = await openWorld({ source: SOURCE("priority: 2") }, { cache: false, process: room.on });
    const run = await room.client.submit(world, world.kept("a"));
    await room.client.result(run);
    const events = (await room.client.client.workflow.getHandle(run).fetchHistory()).events ?? [];
    const priorities = events.flatMap(({ activityTaskScheduledEventAttributes: of }) =>
        of?.activityType?.name === "remit.perform" ? [of.priority?.priorityKey ?? 0] : [],
    );
    expect(priorities).toEqual([0, 2, 0]);
});

test("rate: what has to wait waits for a timer of the workflow", async () => {
    await using room = await roomAt(server);
    await room.worker({ host: { tools: { Work: { call: { call: (x: string) => x } } } } });
    const source = `import tool Work from "host:work"
func work(x) { Work.call(x) }
temporal static ( map work with { rate: 4 } )`;
    const world = await openWorld({ source }, { cache: false, process: room.on });
    const run = await room.client.submit(world, world.kept(["a", "b", "c"]));
    expect(await room.client.result(run)).toEqual(["a", "b", "c"]);
    const events = (await room.client.client.workflow.getHandle(run).fetchHistory()).events ?? [];
    expect(events.filter((event) => event.timerStartedEventAttributes != null).length).toBeGreaterThanOrEqual(2);
});
