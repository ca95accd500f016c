/** Long calls as tasks of the Model Context Protocol: the extension of 2026-07-28 by hand, the tasks of 2025-11-25 by the SDK's client. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { z } from "zod";
import { writes } from "./editor.ts";
import { accept, at, call, MODERN, modern, type Said } from "./mcp-room.ts";

const TASKS = { "io.modelcontextprotocol/tasks": {} };
const withTasks = (elicitation: object = { elicitation: { form: {} } }): object => ({
    _meta: { ...MODERN, "io.modelcontextprotocol/clientCapabilities": { ...elicitation, extensions: TASKS } },
});

/** Asks until the task has that status. */
async function until(url: string, taskId: Json | undefined, status: string): Promise<NonNullable<Said["result"]>> {
    for (;;) {
        const { result, error } = await modern(url, "tasks/get", { taskId: String(taskId) }, withTasks());
        if (result?.["status"] === status) return result;
        if (result === undefined || !["working", "input_required"].includes(String(result["status"])))
            throw new Error(`wanted ${status}: ${JSON.stringify(result ?? error)}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

test("MCT1, MCT2: an agent becomes a task, whose question is answered by its key and once", async () => {
    await using room = await at("modern http", { replies: [writes("a"), { text: "done" }] });
    const url = room.serves.url as string;
    const { result: made } = await call(url, "Clerk", { task: "write" }, withTasks());
    expect(made).toMatchObject({
        ...{ resultType: "task", taskId: expect.stringMatching(/^[\da-f-]{36}$/), createdAt: expect.stringMatching(/^\d{4}-.*Z$/) },
        ...{ ttlMs: expect.any(Number), pollIntervalMs: expect.any(Number) },
    });
    const taskId = made?.["taskId"] as string;
    // its run is in the ledger, which does not hold the right to it
    const ledger = await room.ledger();
    const { id } = await ledger.run("last");
    expect(taskId).not.toContain(id);
    const { inputRequests } = await until(url, taskId, "input_required");
    const [key = "", asked] = Object.entries(inputRequests as { readonly [key: string]: Json })[0] ?? [];
    expect(asked).toMatchObject({ method: "elicitation/create", params: { message: expect.stringContaining("note.txt") } });
    const update = (inputResponses: Json, to = taskId): Promise<Said> =>
        modern(url, "tasks/update", { taskId: to, inputResponses }, withTasks());
    expect(await update({ [key]: accept("once") }, "00000000-0000-4000-8000-000000000000")).toMatchObject({ error: { code: -32602 } });
    expect(await update({ other: accept("once") })).toMatchObject({ result: { resultType: "complete" } });
    expect(existsSync(join(room.folder, "note.txt"))).toBe(false);
    expect(await update({ [key]: accept("once") })).toMatchObject({ result: { resultType: "complete" } });
    expect(await until(url, taskId, "completed")).toMatchObject({
        ...{
            resultType: "complete",
            result: { structuredContent: { result: "done" }, _meta: { "remit/run": id, ifc: expect.anything() } },
        },
    });
    expect(readFileSync(join(room.folder, "note.txt"), "utf8")).toBe("a");
    // an answer that comes late does nothing
    expect(await update({ [key]: accept("deny") })).toMatchObject({ result: { resultType: "complete" } });
    expect(await ledger.runs()).toHaveLength(1);
});

test.each([
    ["no", { action: "decline" }, "completed"],
    ["an answer that was not offered", accept("please"), "completed"],
    ["an answer of another form", { action: "accept", content: { confirm: true } }, "completed"],
] as const)("%s of the person: the call is not made, and the task ends", async (_name, answer, status) => {
    await using room = await at("modern http", { replies: [writes("a"), { text: "done" }] });
    const url = room.serves.url as string;
    const { result: made } = await call(url, "Clerk", { task: "write" }, withTasks());
    const { inputRequests } = await until(url, made?.["taskId"], "input_required");
    const [key = ""] = Object.keys(inputRequests as object);
    await modern(url, "tasks/update", { taskId: made?.["taskId"] as string, inputResponses: { [key]: answer } }, withTasks());
    await until(url, made?.["taskId"], status);
    expect(existsSync(join(room.folder, "note.txt"))).toBe(false);
});

test("MCT3: a cancelled task stays cancelled and its run is stopped; a second cancel does nothing", async () => {
    await using room = await at("modern http", { replies: [{ text: "late", delay: 600_000 }] });
    const url = room.serves.url as string;
    const { result: made } = await call(url, "Clerk", { task: "wait" }, withTasks());
    const taskId = made?.["taskId"] as string;
    const cancel = (): Promise<Said> => modern(url, "tasks/cancel", { taskId }, withTasks());
    expect((await cancel()).result).not.toHaveProperty("taskId");
    expect(await cancel()).toMatchObject({ result: { resultType: "complete" } });
    const ledger = await room.ledger();
    const { id } = await ledger.run("last");
    for await (const _event of ledger.follow(id));
    expect((await ledger.run(id)).status).toBe("stopped");
    expect(await until(url, taskId, "cancelled")).not.toHaveProperty("result");
});

test("MCW1: a client without the extension waits for the result, and is told nothing of tasks", async () => {
    await using room = await at("modern http", { replies: [{ text: "done" }, { text: "late", delay: 600_000 }] });
    const url = room.serves.url as string;
    expect(await call(url, "Clerk", { task: "x" })).toMatchObject({ result: { structuredContent: { result: "done" } } });
    const { result: made } = await call(url, "Clerk", { task: "x" }, withTasks());
    for (const method of ["tasks/get", "tasks/cancel", "tasks/update"])
        expect(await modern(url, method, { taskId: made?.["taskId"] as string, inputResponses: {} })).toMatchObject({
            error: { code: -32021, data: { requiredCapabilities: { extensions: TASKS } } },
        });
    expect(await until(url, made?.["taskId"], "working")).toMatchObject({ statusMessage: expect.stringContaining("generate") });
});

test("a call that does not fit, and a function that reaches nothing, are no tasks", async () => {
    await using room = await at("modern http", {});
    const url = room.serves.url as string;
    expect(await call(url, "Clerk", { tusk: "x" }, withTasks())).toMatchObject({ result: { resultType: "complete", isError: true } });
    expect(await call(url, "add", { a: 1 }, withTasks())).toMatchObject({ result: { structuredContent: { result: 2 } } });
    expect(await (await room.ledger()).runs()).toHaveLength(1);
});

test("a client that cannot ask its person is asked nothing, and the answer is no", async () => {
    await using room = await at("modern http", { replies: [writes("a"), { text: "done" }] });
    const url = room.serves.url as string;
    const { result: made } = await call(url, "Clerk", { task: "write" }, withTasks({}));
    expect(await until(url, made?.["taskId"], "completed")).toMatchObject({ result: { structuredContent: { result: "done" } } });
    expect(existsSync(join(room.folder, "note.txt"))).toBe(false);
});

test("what the program of a task asks its person is in the task, and an answer goes on with it", async () => {
    const program = `import tool Person from "host:person"
func hello() -> string { "Hello, " + (Person.ask({ question: "What is your name?" })?.answer ?? "nobody") }
`;
    await using room = await at("modern http", { program });
    const url = room.serves.url as string;
    for (const [answer, says] of [
        [{ action: "accept", content: { answer: "Ann" } }, "Hello, Ann"],
        [{ action: "decline" }, "Hello, nobody"],
    ] as const) {
        const { result: made } = await call(url, "hello", {}, withTasks());
        const taskId = made?.["taskId"] as string;
        const { inputRequests } = await until(url, taskId, "input_required");
        const [[key, asked] = ["", null]] = Object.entries(inputRequests as { readonly [key: string]: Json });
        expect(asked).toMatchObject({ params: { message: "What is your name?", requestedSchema: { required: ["answer"] } } });
        await modern(url, "tasks/update", { taskId, inputResponses: { [key]: answer } }, withTasks());
        expect(await until(url, taskId, "completed")).toMatchObject({ result: { structuredContent: { result: says } } });
    }
});

test("blocks may do anything: they are not marked as reading only, and are tasks", async () => {
    await using room = await at("modern http", { program: `memory static ((echo "a" <*> echo "b") >=> merge) as both\n` });
    const { tools } = await room.client.listTools();
    expect(tools.map(({ annotations }) => annotations?.readOnlyHint)).toEqual([undefined]);
    expect((await call(room.serves.url as string, "main", {}, withTasks())).result).toMatchObject({ resultType: "task" });
});

test("a function that only reads files is marked so, one that writes them and one of another server are not", async () => {
    const program = `import tool Files from "file://workspace"
import tool Find from "sh://find"
import tool Other from "mcp://other"
func look(path: string) { Find.run({ path: path, name: "*" }) Files.read({ path: path }).content + time.now() }
func keep(path: string) { Files.read({ path: path }) Files.write({ path: path, content: "x" }) }
func other() { Other.read({}) }
`;
    await using room = await at("modern http", { program });
    const { tools } = await room.client.listTools();
    const marked = tools.filter(({ annotations }) => annotations?.readOnlyHint === true);
    expect(marked.map(({ name }) => name)).toEqual(["look"]);
});

const ANY = z.looseObject({});

test("2025-11-25: a client that wants a task gets one, and its questions while it waits for the result", async () => {
    await using room = await at("legacy stream", { replies: [writes("a"), { text: "done" }], answer: () => accept("once") });
    const { client } = room;
    const ask = (method: string, params: object): Promise<{ readonly [name: string]: unknown }> =>
        client.request({ method, params: { ...params } }, ANY);
    expect(client.getServerCapabilities()).toMatchObject({ tasks: { requests: { tools: { call: {} } } } });
    const { tools } = await client.listTools();
    const supports = Object.fromEntries(tools.map(({ name, execution }) => [name, execution?.taskSupport]));
    expect(supports).toMatchObject({ Clerk: "optional", add: undefined });
    const { task } = await ask("tools/call", { name: "Clerk", arguments: { task: "write" }, task: { ttl: 60_000 } });
    const { taskId } = task as { taskId: string };
    expect(task).toMatchObject({ status: expect.stringMatching(/working|input_required/), ttl: expect.any(Number) });
    expect(await ask("tasks/result", { taskId })).toMatchObject({
        ...{ structuredContent: { result: "done" }, _meta: { "io.modelcontextprotocol/related-task": { taskId } } },
    });
    expect(room.asked).toEqual([expect.stringContaining("note.txt")]);
    expect(await ask("tasks/get", { taskId })).toMatchObject({ taskId, status: "completed" });
    await expect(ask("tasks/cancel", { taskId })).rejects.toMatchObject({ code: -32602 });
    await expect(ask("tasks/get", { taskId: "none" })).rejects.toMatchObject({ code: -32602 });
    await expect(ask("tasks/update", { taskId, inputResponses: {} })).rejects.toMatchObject({ code: -32601 });
    await expect(ask("tools/call", { name: "add", arguments: { a: 1 }, task: {} })).rejects.toMatchObject({ code: -32601 });
});

test("2025-11-25: a cancelled task, and one that failed", async () => {
    await using room = await at("legacy stream", {
        replies: {
            rules: [
                { when: "wait", reply: { text: "late", delay: 600_000 } },
                { when: "break", reply: { fail: { kind: "model", message: "no" } } },
            ],
        },
    });
    const ask = (method: string, params: object): Promise<{ readonly [name: string]: unknown }> =>
        room.client.request({ method, params: { ...params } }, ANY);
    const begin = async (what: string): Promise<string> => {
        const { task } = await ask("tools/call", { name: "Clerk", arguments: { task: what }, task: {} });
        return (task as { taskId: string }).taskId;
    };
    const first = await begin("wait");
    expect(await ask("tasks/cancel", { taskId: first })).toMatchObject({ status: "cancelled" });
    expect(await ask("tasks/result", { taskId: first })).toMatchObject({ isError: true });
    const second = await begin("break");
    expect(await ask("tasks/result", { taskId: second })).toMatchObject({ isError: true });
    expect(await ask("tasks/get", { taskId: second })).toMatchObject({ status: "failed" });
});
