/**
 * Recorded histories replay on this build, and one that differs is refused; the workflow's code stays small.
 *
 * `histories/*` (protocol buffers in base64) were recorded by an earlier build and stay as they are. `REMIT_RECORD_HISTORY=NAME` records the run below under a new name.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openWorld } from "@remit/host";
import proto from "@temporalio/proto";
import { Worker } from "@temporalio/worker";
import { expect, test } from "vitest";
import { converter } from "../src/codec/converter.ts";
import { workflowBundle } from "../src/worker/bundle.ts";
import { BUNDLES } from "./bundles.ts";
import { roomAt, sharedServer } from "./room.ts";

const folder = join(dirname(fileURLToPath(import.meta.url)), "histories");
const SOURCE = `import tool Words from "host:words"
main func(input) {
    total = 0
    for word in input.words max 20 { total += Words.size(word) }
    both = parallel for word in input.words max 20 { Words.size(word) }
    said = try { Words.fail("x") } catch failure { failure.kind }
    { total: total, both: both.sum(), said: said }
}`;

async function recorded(): Promise<Recorded> {
    const server = await sharedServer();
    await using room = await roomAt(server);
    const fail = (): never => {
        throw new Error("it is down");
    };
    const words = { size: { readOnly: true, call: (word: string) => word.length }, fail: { readOnly: true, call: fail } };
    await room.worker({ host: { tools: { Words: words } } });
    const program = await openWorld({ source: SOURCE }, { cache: false, process: room.on });
    const run = await room.client.submit(program, program.kept({ words: ["to", "be", "or"] }));
    expect(await room.client.result(run)).toEqual({ total: 6, both: 6, said: "tool" });
    return room.client.client.workflow.getHandle(run).fetchHistory();
}

const { History } = proto.temporal.api.history.v1;
type Recorded = Parameters<typeof History.encode>[0];
const textOf = (history: Recorded): string => Buffer.from(History.encode(history).finish()).toString("base64");
const historyIn = (name: string): Recorded => History.decode(Buffer.from(readFileSync(join(folder, name), "utf8"), "base64"));

const replayed = async (history: Recorded): Promise<void> => {
    const options = { workflowBundle: { codePath: await workflowBundle(BUNDLES) }, replayName: "recorded" };
    await Worker.runReplayHistory({ ...options, dataConverter: converter({ scrubbers: () => [], shows: false }) }, history);
};

test("records a history, where one is wanted, and replays one of this build", async () => {
    const history = await recorded();
    const name = process.env.REMIT_RECORD_HISTORY;
    if (name !== undefined) writeFileSync(join(folder, `${name}.history`), `${textOf(history)}\n`);
    await replayed(history);
});

test.each(readdirSync(folder))("%s replays", async (name) => {
    await replayed(historyIn(name));
});

test("a history in which an activity is missing is refused", async () => {
    const [name = ""] = readdirSync(folder);
    const events = historyIn(name).events ?? [];
    const at = events.findLastIndex((event) => event.activityTaskScheduledEventAttributes != null);
    await expect(replayed({ events: events.filter((_, i) => i !== at) })).rejects.toThrow();
});

test("the workflow's code is at most 2 MB", async () => {
    const code = readFileSync(await workflowBundle(BUNDLES), "utf8").replace(/\/\/# sourceMappingURL=data:.*/s, "");
    expect(code.length).toBeLessThan(2_000_000);
});
