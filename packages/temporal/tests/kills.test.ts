/** Killed anywhere (a worker, the server), a run on Temporal ends with its value: nothing that has an outcome is performed again, what is not known is asked. */
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type LoadOptions, openWorld } from "@remit/host";
import type { Json } from "@remit/language";
import { beforeAll, expect, test } from "vitest";
import { postgres } from "../../host/tests/postgres-server.ts";
import type { DevServer } from "../src/index.ts";
import { type Call, callsIn } from "./process/calls.ts";
import { type Child, startChild } from "./process/child.ts";
import type { ChildOptions } from "./process/worker.ts";
import { devServer, questionsOf, type Room, roomAt, sharedServer } from "./room.ts";

let server: DevServer;
beforeAll(async () => {
    server = await sharedServer();
});

/** The example of a long import. */
const EXAMPLE = fileURLToPath(new URL("../../../examples/long-import", import.meta.url));
const SETTINGS = { heartbeat: 1_500 };
/** So that a workflow task of a worker that is gone is given to another one soon. */
const START = { start: { workflowTaskTimeout: "2s" } } as const;

const child = (room: Room, kill?: ChildOptions["kill"]): Promise<Child> => startChild(room, server, kill === undefined ? {} : { kill });
const calls = (room: Room): Call[] => callsIn(room.folder);

const chain = (method: string): string => `import tool Log from "host:log"
main func(input) { total = 0
    for name in input.names max 500 { total += Log.${method}(name) }
    total }`;
const NAMES = Array.from({ length: 12 }, (_, i) => `n${i}`);
const TOTAL = NAMES.join("").length;

/** The same as a block: a node a name. */
const pipeline = (method: string): string => `import tool Log from "host:log"
func step(name, total) { (total ?? 0) + Log.${method}(name) }
temporal static ( ${NAMES.map((name) => `step "${name}"`).join(" >=> ")} )`;

async function submitted(room: Room, source: string, input: Json, options: LoadOptions = {}): Promise<string> {
    const program = await openWorld({ source }, { cache: false, process: room.on, ...options });
    return room.client.submit(program, program.kept(input, { asks: { park: true } }), START);
}

async function sound(room: Room, run: string): Promise<void> {
    expect(await room.store.run(run)).toMatchObject({ status: "done" });
    expect(await room.store.verify(run)).toMatchObject({ ok: true, anchored: "yes", bound: "yes" });
}

test.each([
    ["program", chain],
    ["block", pipeline],
])(
    "a worker killed in the middle of a call of a %s: what happened is not known, a person says so, and nothing else is done again",
    async (_, source) => {
        await using room = await roomAt(server, { settings: SETTINGS });
        await using first = await child(room, { at: "n5", when: "after" });
        const run = await submitted(room, source("write"), source === chain ? { names: NAMES } : null);
        await first.over;
        await using _second = await child(room);
        const [question] = await questionsOf(room, run);
        expect(question).toMatchObject({ kind: "unknown", options: ["done", "again", "give up"] });
        expect(calls(room).map(({ name }) => name)).toEqual(NAMES.slice(0, 6));
        await room.client.answer(run, { question: question?.id as string, by: room.on.user, said: { answer: "done", value: 2 } });
        expect(await room.client.result(run)).toBe(TOTAL);
        expect(calls(room).map(({ name }) => name)).toEqual(NAMES);
        await sound(room, run);
    },
);

test("a worker killed in a call that may be repeated: it is made again, and the ledger says so", async () => {
    await using room = await roomAt(server, { settings: SETTINGS });
    await using first = await child(room, { at: "n5", when: "after" });
    const run = await submitted(room, chain("read"), { names: NAMES });
    await first.over;
    await using _second = await child(room);
    expect(await room.client.result(run)).toBe(TOTAL);
    expect(calls(room).map(({ name }) => name)).toEqual([...NAMES.slice(0, 6), ...NAMES.slice(5)]);
    const events = await Array.fromAsync(room.store.events(run));
    expect(events.filter(({ data }) => (data as { again?: Json } | null)?.again === true)).toHaveLength(1);
    await sound(room, run);
});

test.each([
    ["done", "input.names.length", null],
    ["failed", 'raise "too many"', { kind: "raised", message: expect.stringContaining("too many") }],
])("a worker killed when the ledger has the end of a run that is %s: the workflow ends as the run did", async (status, body, failure) => {
    await using room = await roomAt(server, { settings: SETTINGS });
    await using first = await startChild(room, server, { ended: true });
    const run = await submitted(room, `main func(input) { ${body} }`, { names: NAMES });
    await first.over;
    expect(await room.store.run(run)).toMatchObject({ status });
    const { epoch, events } = await room.store.run(run);
    await using _second = await child(room);
    const result = room.client.result(run);
    if (failure === null) expect(await result).toBe(NAMES.length);
    else await expect(result).rejects.toMatchObject(failure);
    expect(await room.client.status(run)).toMatchObject({ state: status });
    expect(await room.store.run(run)).toMatchObject({ status, epoch, events, live: false });
    expect(await room.store.verify(run)).toMatchObject({ ok: true, anchored: "yes", bound: "yes" });
});

test("the server killed and started again: worker and client go on, nothing is done twice", async () => {
    await using room = await roomAt(server);
    const file = join(room.folder, "temporal.db");
    await using one = await devServer({ file });
    await using there = await roomAt(one, { settings: SETTINGS });
    const reached = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<void>();
    const said: string[] = [];
    const write = async (name: string): Promise<number> => {
        said.push(name);
        if (name === "n5") {
            reached.resolve();
            await opened.promise;
        }
        return name.length;
    };
    await there.worker({ host: { tools: { Log: { write } } } });
    const run = await submitted(there, pipeline("write"), null);
    const result = there.client.result(run);
    await reached.promise;
    await one.stop("SIGKILL");
    await using _two = await devServer({ file, port: Number(one.address.split(":")[1]) });
    opened.resolve();
    expect(await result).toBe(TOTAL);
    expect(said).toEqual(NAMES);
    await sound(there, run);
});

test("a worker killed between the steps of a tool_agent: no finished tool is called again, no model is asked again", async () => {
    await using room = await roomAt(server, { settings: SETTINGS });
    const next = (name: string): Json => ({ json: { action: "tool", tool: "Log.write", args: { name } } });
    const rules = [
        { when: "t2", reply: { json: { action: "final", answer: "done" } } },
        { when: "t1", reply: next("t2") },
        { when: "t0", reply: next("t1") },
        { when: "Work", reply: next("t0") },
    ];
    writeFileSync(join(room.folder, "replies.json"), JSON.stringify({ rules }));
    const source = `import tool Log from "host:log" { write: may }
temporal static ( tool_agent(task: "Work", tools: [Log.write], max_steps: 5) )`;
    await using first = await child(room, { at: "t1", when: "after" });
    const run = await submitted(room, source, null, { model: `scripted:${join(room.folder, "replies.json")}` });
    await first.over;
    await using _second = await child(room);
    const [question] = await questionsOf(room, run);
    expect(question).toMatchObject({ kind: "unknown" });
    await room.client.answer(run, { question: question?.id as string, by: room.on.user, said: { answer: "done", value: 2 } });
    expect(await room.client.result(run)).toMatchObject({ answer: "done", converged: true });
    expect(calls(room).map(({ name }) => name)).toEqual(["t0", "t1", "t2"]);
    const events = await Array.fromAsync(room.store.events(run));
    expect(events.filter(({ kind }) => kind === "generate.attempt")).toHaveLength(4);
    await sound(room, run);
});

test("a worker killed in a supervisor: parts that were answered are not asked again, the one that was is", async () => {
    await using room = await roomAt(server, { settings: SETTINGS });
    const source = `import tool Log from "host:log"
func researcher(question, round) { Log.read(question + round) }
func critic(answer, round) { { approved: round == 2, confidence: round / 2 } }
func parts(question) { ["a", "b"] }
temporal static ( supervisor(question: "Q", researcher: researcher, critic: critic, planner: parts) )`;
    await using first = await child(room, { at: "b2", when: "before" });
    const run = await submitted(room, source, null);
    await first.over;
    await using _second = await child(room);
    expect(await room.client.result(run)).toMatchObject({ success_count: 2, synthesis: "## a\n\n2\n\n## b\n\n2" });
    const made = calls(room).map(({ name }) => name);
    expect(made.filter((name) => name !== "a2").sort()).toEqual(["a1", "b1", "b2"]);
    await sound(room, run);
});

test("a worker killed while an agent's loop waits for a person: another one of the same build goes on after the answer", async () => {
    await using room = await roomAt(server, { settings: SETTINGS });
    const source = `import tool Log from "host:log" { read: ask }
agent Clerk {
    main func(names) {
        total = 0
        for name in names max 10 { total += both(name) }
        total
    }
    func both(name) { Log.write(name) + Log.read("asked-" + name) }
}
temporal static ( echo ["p0", "p1"] >=> Clerk )`;
    await using first = await child(room);
    const run = await submitted(room, source, null);
    const [question] = await questionsOf(room, run);
    first.process.kill("SIGKILL");
    await first.over;
    const answered = room.client.answer(run, { question: question?.id as string, by: room.on.user, decision: "session" });
    await using _second = await child(room);
    await answered;
    expect(await room.client.result(run)).toBe(20);
    expect(calls(room).map(({ name }) => name)).toEqual(["p0", "asked-p0", "p1", "asked-p1"]);
    await sound(room, run);
});

test("the example of a long import goes on on another worker, and no row is written twice", async () => {
    await using room = await roomAt(server, { settings: SETTINGS });
    const workspace = join(room.folder, "data");
    cpSync(join(EXAMPLE, "data"), workspace, { recursive: true });
    const source = readFileSync(join(EXAMPLE, "main.remit"), "utf8").replace(/^memory /m, "temporal ");
    await using first = await startChild(room, server, { outcomes: 12 });
    const run = await submitted(room, source, null, { workspace, concurrency: 2 });
    // A file that was being written when its worker was killed may stand beside them under a name of its own.
    const written = (): number =>
        existsSync(join(workspace, "customers"))
            ? readdirSync(join(workspace, "customers")).filter((name) => /^c\d+\.json$/.test(name)).length
            : 0;
    await first.over;
    expect(written()).toBeGreaterThan(9);
    expect(written()).toBeLessThan(37);
    await using _second = await child(room);
    const result = room.client.result(run);
    let ended = false;
    void result.finally(() => {
        ended = true;
    });
    while (!ended) {
        // The file holds the same, whether it was written or not.
        for (const { id } of (await room.client.status(run)).questions)
            await room.client.answer(run, { question: id, by: room.on.user, said: { answer: "again" } });
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(await result).toEqual(JSON.parse(readFileSync(join(EXAMPLE, "expected.json"), "utf8")));
    expect(written()).toBe(37);
    const events = await Array.fromAsync(room.store.events(run));
    const writes = events.filter(({ kind, data }) => kind === "tool.ended" && (data as { method?: string }).method === "write");
    expect(writes).toHaveLength(38);
    await sound(room, run);
});

test.each([
    ["SQLite", async () => null],
    ["PostgreSQL", async () => (await postgres()).fresh()],
])("two workers on one %s ledger share a fan-out", async (_, address) => {
    const ledger = await address();
    await using room = await roomAt(server, ledger === null ? {} : { ledger });
    // However slowly one of them is begun: the other does not do all of it meanwhile.
    const how = { ledger: room.file, together: 2 };
    await using _one = await startChild(room, server, how);
    await using _two = await startChild(room, server, how);
    const names = Array.from({ length: 60 }, (_, i) => `p${i}`);
    const source = `import tool Log from "host:log"
main func(input) { sizes = parallel for name in input.names max 500 { Log.read(name) }
    sizes.sum() }`;
    const run = await submitted(room, source, { names });
    expect(await room.client.result(run)).toBe(names.join("").length);
    const made = calls(room);
    expect(made.map(({ name }) => name).sort()).toEqual([...names].sort());
    expect(new Set(made.map(({ pid }) => pid)).size).toBe(2);
    await sound(room, run);
});
