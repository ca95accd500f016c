/** One process, several programs: real tool servers, a real provider and a real ledger, shared where everything they depend on is equal (PR1, PR2, MS9). */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openProcess, type Process } from "../../src/process/process.ts";
import { load } from "../../src/run/program.ts";
import type { LoadOptions } from "../../src/run/setup.ts";
import { openLedger } from "../../src/run/open.ts";
import { startFakeProvider } from "../model/fake-provider.ts";

let folder = "";
let on: Process;
beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "remit-process-")));
    on = openProcess({ env: { HOME: folder, PATH: process.env.PATH ?? "" }, cwd: folder, user: "os:7" });
});
afterEach(async () => {
    await on.close();
    rmSync(folder, { recursive: true, force: true });
});

/** A server that writes a line when it starts and one when it ends, and counts its calls; `die` ends it within a call. */
const SERVER = `import { appendFileSync } from "node:fs";
const log = process.argv[2];
appendFileSync(log, "start " + process.pid + "\\n");
process.on("exit", () => appendFileSync(log, "end\\n"));
let count = 0;
let text = "";
let asking = null;
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
const tool = (name) => ({ name, inputSchema: { type: "object" } });
process.stdin.on("data", (chunk) => {
    text += chunk;
    for (let at = text.indexOf("\\n"); at >= 0; at = text.indexOf("\\n")) {
        const { id, method, params, result } = JSON.parse(text.slice(0, at));
        text = text.slice(at + 1);
        if (method === "initialize")
            say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "counter", version: "1" } });
        else if (method === "tools/list") say(id, { tools: ["count", "die", "wait", "ask"].map(tool) });
        else if (method === "tools/call" && params.name === "count") say(id, { content: [{ type: "text", text: String(++count) }] });
        else if (method === "tools/call" && params.name === "die") process.exit(3);
        else if (method === "tools/call" && params.name === "wait") appendFileSync(log, "wait\\n");
        else if (method === "tools/call") {
            asking = id;
            const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
            const ask = { jsonrpc: "2.0", id: "q", method: "elicitation/create", params: { message: "Who?", requestedSchema } };
            process.stdout.write(JSON.stringify(ask) + "\\n");
        } else if (id === "q") say(asking, { content: [{ type: "text", text: result.action }] });
    }
});
process.stdin.on("end", () => process.exit(0));
`;

/** A project with a program that calls \`method\` of the server once. */
function project(name: string, server: Json = {}): string {
    const root = join(folder, name);
    mkdirSync(root);
    writeFileSync(join(folder, "server.mjs"), SERVER);
    const command = { command: "node", args: [join(folder, "server.mjs"), join(folder, "log")], ...(server as object) };
    writeFileSync(join(root, "remit.json"), JSON.stringify({ mcpServers: { Counter: command } }));
    const main = join(root, "main.remit");
    writeFileSync(
        main,
        `import tool Counter from "mcp://Counter"
main func(input: { method: string }) {
    if input.method == "die" { return Counter.die({}).text }
    if input.method == "ask" { return Counter.ask({}).text }
    if input.method == "wait" { return Counter.wait({}).text }
    Counter.count({}).text
}
`,
    );
    return main;
}
const log = (): string[] => (existsSync(join(folder, "log")) ? readFileSync(join(folder, "log"), "utf8").trim().split("\n") : []);
const starts = (): number => log().filter((line) => line.startsWith("start")).length;
async function until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise((done) => setTimeout(done, 10));
}
function loaded(main: string, options: LoadOptions = {}) {
    return load<Json, string>(main, {
        process: on,
        workspace: folder,
        trust: true,
        cache: false,
        on: { ask: () => "once" },
        ...options,
    });
}

/** Keeps the servers of a program in use until the function given back is called: one that no run needs for half a second ends. */
async function held(program: Awaited<ReturnType<typeof loaded>>): Promise<() => Promise<unknown>> {
    const before = log().filter((line) => line === "wait").length;
    const waiting = program.run({ method: "wait" });
    await until(() => log().filter((line) => line === "wait").length > before);
    return () => {
        waiting.cancel();
        return waiting.result;
    };
}

test("two programs of one process share a server; it ends with the last of them", async () => {
    const main = project("one");
    const [one, two] = [await loaded(main), await loaded(main)];
    const [free, last] = [await held(one), await held(two)];
    expect([await one(COUNT), await two(COUNT), await one(COUNT)].sort()).toEqual(["1", "2", "3"]);
    expect(starts()).toBe(1);
    await free();
    await one.close();
    expect(await two(COUNT)).toBe("4");
    await last();
    await two.close();
    expect(log().flatMap((line) => (line === "wait" ? [] : [line.split(" ")[0]]))).toEqual(["start", "end"]);
});

const COUNT = { method: "count" };
const PATH = process.env.PATH ?? "";
test.each<[string, LoadOptions]>([
    ["user", { user: "os:8" }],
    ["identity", { as: "user:bob" }],
    ["workspace", { workspace: tmpdir() }],
    ["secret of the server", { env: { HOME: "/nonexistent", PATH, TEAM_TOKEN: "b" } }],
])("another %s has a server of its own", async (_name, options) => {
    const main = project("one", { env: { AUTH: "$TEAM_TOKEN" } });
    const [one, other, same] = [await loaded(main), await loaded(main, options), await loaded(main)];
    const free = await held(one);
    expect([await one(COUNT), await other(COUNT), await same(COUNT)]).toEqual(["1", "1", "2"]);
    expect(starts()).toBe(2);
    await free();
    await Promise.all([one, other, same].map((each) => each.close()));
});

test("another project has a server of its own, also where it says the same of it", async () => {
    const [one, other] = [await loaded(project("one", { cwd: folder })), await loaded(project("two", { cwd: folder }))];
    expect([await one(COUNT), await other(COUNT)]).toEqual(["1", "1"]);
    await Promise.all([one.close(), other.close()]);
});

test("runs of one program on behalf of two owners do not share a session", async () => {
    const program = await loaded(project("one"));
    const value = (owner: string) => program(COUNT, { asks: { owner } });
    expect([await value("web:ada"), await value("web:bob"), await value("web:ada")]).toEqual(["1", "1", "2"]);
    await program.close();
});

test("the end of a shared server fails the calls under way alone, and the next one starts it again", async () => {
    const main = project("one");
    const [one, two] = [await loaded(main), await loaded(main)];
    expect(await one(COUNT)).toBe("1");
    const waiting = two.run({ method: "wait" });
    await until(() => log().includes("wait"));
    expect(await one.run({ method: "die" }).result).toMatchObject({ ok: false, failure: { kind: "unreachable" } });
    expect(await waiting.result).toMatchObject({ ok: false, failure: { kind: "unreachable" } });
    const free = await held(two);
    expect([await two(COUNT), await one(COUNT)]).toEqual(["1", "2"]);
    expect(starts()).toBe(2);
    await free();
    await Promise.all([one.close(), two.close()]);
});

test("a server that asks while several runs wait for it is told no, because nothing says whose people it asks", async () => {
    const main = project("one");
    const on = { ask: () => "once", input: () => "Ada" };
    const [one, two] = [await loaded(main, { on }), await loaded(main, { on })];
    expect(await one({ method: "ask" })).toBe("accept");
    const waiting = two.run({ method: "wait" });
    await until(() => log().includes("wait"));
    expect(await one({ method: "ask" })).toBe("decline");
    waiting.cancel();
    await waiting.result;
    await Promise.all([one.close(), two.close()]);
});

test("a closed process ends what programs still hold, servers before ledgers", async () => {
    const program = await loaded(project("one"), { ledger: "ledger.db" });
    expect(await program(COUNT)).toBe("1");
    await on.close();
    expect(log().at(-1)).toBe("end");
    await expect(program(COUNT)).rejects.toThrow();
});

test("a ledger is opened once a process, and closed when its last program is", async () => {
    const main = project("one");
    const [one, two] = [await loaded(main, { ledger: "ledger.db" }), await loaded(main, { ledger: join(folder, "ledger.db") })];
    expect(await one.ledger()).toBe(await two.ledger());
    await one.close();
    expect(await two(COUNT)).toBe("1");
    const ledger = await openLedger("ledger.db", { process: on });
    expect(ledger.store).toBe(await two.ledger());
    await two.close();
    expect(await ledger.runs()).toHaveLength(1);
    await ledger.close();
    await expect(ledger.store.run("last")).rejects.toThrow();
});

test("two programs with one key keep one limit of requests a minute, the lower of what they say; another key has its own", async () => {
    await using provider = await startFakeProvider({ text: "hello" });
    const agent = `import llm Fast from "openai://gpt-5-mini"
main agent {
    model Fast
    role "a tester"
    description "Answers."
    main func() { generate({ input: "Say it." }) }
}
`;
    const of = async (name: string, requestsPerMinute: number, key: string) => {
        mkdirSync(join(folder, name));
        const host = new URL(provider.url).host;
        writeFileSync(join(folder, name, "remit.json"), JSON.stringify({ rates: { [host]: { requestsPerMinute } } }));
        writeFileSync(join(folder, name, "main.remit"), agent);
        const env = { HOME: folder, OPENAI_API_KEY: key, OPENAI_BASE_URL: `${provider.url}/v1` };
        return loaded(join(folder, name, "main.remit"), { env, workspace: join(folder, name) });
    };
    const [one, two, other] = [await of("a", 5, "first-key-1"), await of("b", 2, "first-key-1"), await of("c", 5, "other-key-2")];
    const stop = new AbortController();
    expect([await one({}), await two({})]).toEqual(["hello", "hello"]);
    const third = one.run({}, { signal: stop.signal });
    expect(await other({})).toBe("hello");
    expect(provider.requests).toHaveLength(3);
    stop.abort();
    expect((await third.result).status).toBe("stopped");
    expect(provider.requests).toHaveLength(3);
    await Promise.all([one, two, other].map((each) => each.close()));
});
