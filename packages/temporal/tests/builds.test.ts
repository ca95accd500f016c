/** Builds of workers: executions are pinned to the one they began with, and are moved to another. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openWorld } from "@remit/host";
import { beforeAll, expect, test } from "vitest";
import type { Asked, DevServer } from "../src/index.ts";
import { startChild } from "./process/child.ts";
import { type Room, roomAt, sharedServer } from "./room.ts";

let server: DevServer;
beforeAll(async () => {
    server = await sharedServer();
});

interface Build extends AsyncDisposable {
    kill(): Promise<void>;
}

/** A worker of this build, in a process of its own, which the deployment sends new executions to from now on. */
async function build(room: Room, name: string): Promise<Build> {
    const { process: made, over } = await startChild(room, server, { version: { deployment: room.queue, build: name } });
    await current(room, name);
    const kill = async (): Promise<void> => {
        made.kill("SIGKILL");
        await over;
    };
    return { kill, [Symbol.asyncDispose]: kill };
}

/** The server knows a build once its worker has asked for work. */
async function current({ client: { client }, queue: deploymentName }: Room, buildId: string): Promise<void> {
    await known(() =>
        client.workflowService.setWorkerDeploymentCurrentVersion({ namespace: "default", deploymentName, buildId, identity: "test" }),
    );
}

/** What is asked of the server about a build, once it knows it: it learns of each of a worker's queues apart. */
async function known(ask: () => Promise<unknown>): Promise<void> {
    for (;;) {
        try {
            await ask();
            return;
        } catch (error) {
            const { code } = error as { readonly code?: number };
            if (code !== NOT_FOUND && code !== FAILED_PRECONDITION) throw error;
            await new Promise((resolve) => setTimeout(resolve, 100));
        }
    }
}
const NOT_FOUND = 5;
const FAILED_PRECONDITION = 9;

const SOURCE = `import tool Log from "host:log" { write: ask, read: may }
main agent A {
    main func(input) {
        total = 0
        for name in input.names max 10 {
            total += Log.read("before-" + name)
            total += Log.write(name)
        }
        total
    }
}`;

async function asked(room: Room, run: string, other?: string): Promise<Asked> {
    for (;;) {
        const [one] = await room.client.questions(run).catch(() => []);
        if (one !== undefined && one.question.id !== other) return one;
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

const calls = (room: Room): string[] =>
    readFileSync(join(room.folder, "calls"), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => line.split(" ")[0] as string);

test("killed inside a for of an agent's function that awaits an approval, moved to a newer build: it finishes, and nothing is done again", async () => {
    await using room = await roomAt(server);
    const by = room.on.user;
    const names = ["one", "two", "three"];
    await using first = await build(room, "1");
    const world = await openWorld({ source: SOURCE }, { cache: false, process: room.on });
    const run = await room.client.submit(world, world.kept({ names }, { asks: { park: true } }));
    const { question } = await asked(room, run);
    await room.client.answer(run, { question: question.id, by, decision: "once" });
    const { question: second } = await asked(room, run, question.id);
    expect(calls(room)).toEqual(["before-one", "one", "before-two"]);
    await first.kill();
    await using _second = await build(room, "2");
    // Pinned: the newer build does not take it by itself.
    const { raw } = await room.client.client.workflow.getHandle(run).describe();
    expect(raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId).toBe("1");
    expect(await room.client.move(run, { grace: 500 })).toMatchObject({ how: "ended" });
    const again = await asked(room, run);
    expect(again.question.path).toBe(second.path);
    const moved = await room.client.client.workflow.getHandle(run).describe();
    expect(moved.raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId).toBe("2");
    await room.client.answer(run, { question: again.question.id, by, decision: "once" });
    const { question: third } = await asked(room, run, again.question.id);
    await room.client.answer(run, { question: third.id, by, decision: "once" });
    expect(await room.client.result(run)).toBe(names.join("").length * 2 + "before-".length * 3);
    expect(calls(room)).toEqual(names.flatMap((name) => [`before-${name}`, name]));
    const events = await Array.fromAsync(room.store.events(run));
    expect(events.filter(({ data }) => (data as { again?: unknown } | null)?.again === true)).toEqual([]);
    expect(await room.store.run(run)).toMatchObject({ status: "done" });
    expect(await room.store.verify(run)).toMatchObject({ ok: true, anchored: "yes", bound: "yes" });
});

test("a reset to the first task, as Temporal's own tools make it, goes on from the ledger on the newer build", async () => {
    await using room = await roomAt(server);
    const by = room.on.user;
    await using first = await build(room, "1");
    const world = await openWorld({ source: SOURCE }, { cache: false, process: room.on });
    const run = await room.client.submit(world, world.kept({ names: ["one"] }, { asks: { park: true } }));
    const { question } = await asked(room, run);
    await first.kill();
    await using _second = await build(room, "2");
    const { workflowService } = room.client.client;
    const { events } = await room.client.client.workflow.getHandle(run).fetchHistory();
    const firstTask = events?.find((event) => event.workflowTaskCompletedEventAttributes != null)?.eventId;
    const version = { deploymentName: room.queue, buildId: "2" };
    const reset = {
        ...{ namespace: "default", workflowExecution: { workflowId: run }, requestId: `reset-${run}`, reason: "a newer build" },
        ...(firstTask == null ? {} : { workflowTaskFinishEventId: firstTask }),
        postResetOperations: [
            {
                updateWorkflowOptions: {
                    workflowExecutionOptions: { versioningOverride: { pinned: { version, behavior: PINNED } } },
                    updateMask: { paths: ["versioning_override"] },
                },
            },
        ],
    };
    await known(() => workflowService.resetWorkflowExecution(reset));
    const again = await asked(room, run);
    expect(again.question.path).toBe(question.path);
    await room.client.answer(run, { question: again.question.id, by, decision: "once" });
    expect(await room.client.result(run)).toBe("before-oneone".length);
    expect(calls(room)).toEqual(["before-one", "one"]);
    expect(await room.store.verify(run)).toMatchObject({ ok: true, anchored: "yes", bound: "yes" });
});
/** VersioningOverride.PinnedOverrideBehavior.PINNED_OVERRIDE_BEHAVIOR_PINNED. */
const PINNED = 1;
