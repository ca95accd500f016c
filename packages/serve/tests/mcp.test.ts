/** A program as an MCP server: both eras, over streams and over HTTP; calls of several rounds, what is refused, and who may send a request. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { openProcess } from "@remit/host";
import { expect, test } from "vitest";
import { scriptAt } from "../../host/tests/script.ts";
import { ServeError, serveMcp } from "../src/index.ts";
import { writes } from "./editor.ts";
import { accept, type Answer, at, call, MODERN, PROGRAM, sent, WAYS } from "./mcp-room.ts";

const BIN = scriptAt("packages/cli/bin/remit.mjs");
const errorOf = ({ isError, content }: { isError?: boolean | undefined; content: unknown }) =>
    isError === true ? (content as [{ text: string }])[0].text : null;

test.each(WAYS)("%s: what a program declares are tools, with what they take and give", async (way) => {
    await using room = await at(way);
    const { client } = room;
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["Clerk", "add", "greet", "either", "anything", "fails"]);
    expect(tools.find(({ name }) => name === "Clerk")).toMatchObject({ description: "Writes notes.", inputSchema: { required: ["task"] } });
    expect(tools.every(({ inputSchema }) => inputSchema.type === "object")).toBe(true);
    expect(await client.callTool({ name: "add", arguments: { a: 2 } })).toMatchObject({
        structuredContent: { result: 3 },
        content: [{ type: "text", text: "3" }],
    });
    expect((await client.callTool({ name: "greet", arguments: { name: "Ann" } })).structuredContent).toEqual({
        words: "hello Ann",
        title: null,
    });
    expect((await client.callTool({ name: "either", arguments: { x: { b: "y" } } })).structuredContent).toEqual({ b: "y" });
    expect((await client.callTool({ name: "anything", arguments: { q: [1] } })).structuredContent).toEqual({ q: [1] });
    expect(errorOf(await client.callTool({ name: "greet", arguments: { nam: "Ann" } }))).toContain("name");
    expect(errorOf(await client.callTool({ name: "add", arguments: { a: "two" } }))).toContain("number");
    // What it gives back is what it was given and its own text.
    expect((await client.callTool({ name: "add", arguments: { a: 2 } }))._meta?.["ifc"]).toEqual({
        integrity: "trusted",
        confidentiality: "public",
    });
    const failed = await client.callTool({ name: "fails", arguments: {} });
    expect(errorOf(failed)).toContain("not today");
    await expect(client.callTool({ name: "none", arguments: {} }).then(errorOf)).rejects.toThrow(/none/);
    // MCS1.
    const ledger = await room.ledger();
    const [first] = await Array.fromAsync(ledger.events(String(failed._meta?.["remit/run"])));
    expect(first).toMatchObject({ kind: "run.started", labels: ["mcp:tester"] });
    // what did not fit began no run
    expect(await ledger.runs()).toHaveLength(6);
});

test.each(WAYS)("%s: a question goes to the client's person, as often as it is asked, in one run (MCC1)", async (way) => {
    await using room = await at(way, {
        replies: [writes("a"), writes("b", "other.txt"), { text: "done" }],
        answer: () => accept("once"),
    });
    const result = await room.client.callTool({ name: "Clerk", arguments: { task: "write" } });
    expect(result.structuredContent).toEqual({ result: "done" });
    // Its model read what its tool said.
    expect(result._meta?.["ifc"]).toEqual({ integrity: "untrusted", confidentiality: "public" });
    expect(room.asked).toEqual([expect.stringContaining("note.txt"), expect.stringContaining("other.txt")]);
    expect(room.asked[0]).toContain("May Model call Files.write?");
    expect(readFileSync(join(room.folder, "other.txt"), "utf8")).toBe("b");
    expect(await (await room.ledger()).runs()).toHaveLength(1);
});

test.each([
    ["no of the person", { action: "decline" }, /^done$/],
    ["no of the list", accept("deny session"), /^done$/],
    ["an answer that is none", accept("please"), /^done$/],
    ["a cancel", { action: "cancel" }, /ended at a question/],
    ["no way to ask", undefined, /^done$/],
] as const)("%s: the call is not made", async (_name, answer, says) => {
    await using room = await at("modern stream", {
        replies: [writes("a"), { text: "done" }],
        ...(answer === undefined ? {} : { answer: () => answer as Answer }),
    });
    const { content } = await room.client.callTool({ name: "Clerk", arguments: { task: "write" } });
    expect(content).toEqual([{ type: "text", text: expect.stringMatching(says) }]);
    expect(existsSync(join(room.folder, "note.txt"))).toBe(false);
});

test("legacy http: a client without a session says in no request what it can do, so it is asked nothing", async () => {
    await using room = await at("legacy http", { replies: [writes("a"), { text: "done" }], answer: () => accept("once") });
    const params = { name: "Clerk", arguments: { task: "write" } };
    const { body } = await sent(room.serves.url as string, {}, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
    expect(body).toContain('"result":"done"');
    expect({ asked: room.asked, written: existsSync(join(room.folder, "note.txt")) }).toEqual({ asked: [], written: false });
});

test.each(WAYS)("%s: progress is told, and a cancel stops the run where it stands", async (way) => {
    const stop = new AbortController();
    await using room = await at(way, { replies: [{ text: "late", delay: 600_000 }] });
    const said: unknown[] = [];
    const call = room.client.callTool(
        { name: "Clerk", arguments: { task: "wait" } },
        {
            signal: stop.signal,
            onprogress: ({ message }) => {
                said.push(message);
                stop.abort();
            },
        },
    );
    await expect(call).rejects.toThrow();
    expect(said).toEqual([expect.stringContaining("generate")]);
    const ledger = await room.ledger();
    const { id } = await ledger.run("last");
    for await (const _event of ledger.follow(id));
    expect((await ledger.run(id)).status).toBe("stopped");
});

test("the blocks of a program are one tool; a program that declares nothing is refused", async () => {
    await using room = await at("modern stream", { program: `memory static ((echo "a" <*> echo "b") >=> merge) as both\n` });
    expect((await room.client.listTools()).tools.map(({ name }) => name)).toEqual(["main"]);
    expect((await room.client.callTool({ name: "main", arguments: {} })).structuredContent).toMatchObject({
        result: expect.stringContaining("a"),
    });
    await expect(at("modern stream", { program: "shape A { a: string }" })).rejects.toBeInstanceOf(ServeError);
});

const YES = { decision: accept("once") };

test("MCC2, MCS3: a round counts for the call that it began as, once; what is sealed otherwise is refused", async () => {
    await using room = await at("modern http", { replies: [writes("a"), { text: "done" }, writes("b"), { text: "done" }] });
    const url = room.serves.url as string;
    const { result } = await call(url, "Clerk", { task: "write" });
    const { requestState = "", resultType } = result ?? {};
    expect(resultType).toBe("input_required");
    const forged = `${requestState.slice(0, -4)}AAAA`;
    expect(await call(url, "Clerk", { task: "write" }, { inputResponses: YES, requestState: forged })).toMatchObject({
        error: { code: -32602 },
    });
    const refused = { result: { isError: true, content: [{ text: expect.stringContaining("no call that waits") }] } };
    expect(await call(url, "Clerk", { task: "other" }, { inputResponses: YES, requestState })).toMatchObject(refused);
    expect(await call(url, "add", { a: 1 }, { inputResponses: YES, requestState })).toMatchObject(refused);
    expect(existsSync(join(room.folder, "note.txt"))).toBe(false);
    expect(await call(url, "Clerk", { task: "write" }, { inputResponses: YES, requestState })).toMatchObject({
        result: { structuredContent: { result: "done" } },
    });
    expect(readFileSync(join(room.folder, "note.txt"), "utf8")).toBe("a");
    expect(await call(url, "Clerk", { task: "write" }, { inputResponses: YES, requestState })).toMatchObject(refused);
});

test("MCC3: a client that does not come back leaves a run that waits in the ledger, and goes on from there", async () => {
    await using room = await at("modern http", { replies: [writes("a"), { text: "done" }], options: { bounds: { ask: 1 } } });
    const { result } = await call(room.serves.url as string, "Clerk", { task: "write" });
    expect(result).toMatchObject({ resultType: "input_required" });
    const ledger = await room.ledger();
    const { id } = await ledger.run("last");
    for await (const _event of ledger.follow(id));
    expect((await ledger.run(id)).status).toBe("waiting");
    expect(existsSync(join(room.folder, "note.txt"))).toBe(false);
    const handle = await ledger.resume(id, { on: { ask: () => "once" } });
    expect(await handle.result).toMatchObject({ status: "done" });
    expect(readFileSync(join(room.folder, "note.txt"), "utf8")).toBe("a");
});

test("MCH1: another host, a page of another site, another address, too much: refused", async () => {
    await using room = await at("modern http", { options: { http: { port: 0, hostNames: ["agents.example"] } } });
    const url = room.serves.url as string;
    const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: MODERN } });
    const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
    const status = async (headers: { [name: string]: string }, body = list, to = url): Promise<number> =>
        (await sent(to, { ...modern, ...headers }, body)).status;
    expect(await status({})).toBe(200);
    expect(await status({ host: "evil.example" })).toBe(403);
    expect(await status({ host: "agents.example" })).toBe(200);
    expect(await status({ origin: "https://evil.example" })).toBe(403);
    expect(await status({ origin: "null" })).toBe(403);
    expect(await status({ origin: "http://localhost:3000" })).toBe(200);
    expect(await status({}, list, url.replace("/mcp", "/"))).toBe(404);
    expect(await status({}, `"${"x".repeat(5 << 20)}"`)).toBe(413);
    expect(await status({}, "nonsense")).toBe(400);
    expect(await status({ "mcp-method": "tools/call" })).toBe(400);
});

test("MCH2: with a token every request needs it; elsewhere than on loopback there has to be one", async () => {
    await using room = await at("modern http", { options: { http: { port: 0 } } });
    await expect(at("modern http", { options: { http: { port: 0, host: "0.0.0.0" } } })).rejects.toBeInstanceOf(ServeError);
    const program = join(room.folder, "main.remit");
    const serves = await serveMcp({
        program,
        ledger: join(room.folder, "other.db"),
        process: openProcess({ env: { HOME: room.folder }, cwd: room.folder }),
        http: { port: 0, token: "t0ken" },
    });
    const status = async (headers: { [name: string]: string }): Promise<number> => (await sent(serves.url as string, headers, "{}")).status;
    expect([await status({}), await status({ authorization: "Bearer other" }), await status({ authorization: "t0ken" })]).toEqual([
        401, 401, 401,
    ]);
    expect(await status({ authorization: "Bearer t0ken" })).not.toBe(401);
    await serves.close();
});

test("the command over standard input and output: a client of either era starts it, and it ends with the client", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-mcp-"));
    try {
        writeFileSync(join(folder, "main.remit"), PROGRAM);
        const client = new Client({ name: "tester", version: "1" });
        const transport = new StdioClientTransport({
            ...{ command: process.execPath, args: [BIN, "mcp", "main.remit", "--model", "mock:"], cwd: folder, stderr: "ignore" },
            env: { HOME: folder, PATH: process.env["PATH"] ?? "" },
        });
        await client.connect(transport);
        expect((await client.callTool({ name: "add", arguments: { a: 1, b: 4 } })).structuredContent).toEqual({ result: 5 });
        await client.close();
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
});

test.each([
    ["whose message is larger than any may be", (input: PassThrough) => void input.write("a".repeat(11 << 20))],
    ["that takes no answer any more", (_input: PassThrough, output: PassThrough) => void output.destroy(new Error("EPIPE"))],
])("a client %s is gone: the server ends, and closes its ledger", async (_, breaks) => {
    const folder = mkdtempSync(join(tmpdir(), "remit-mcp-"));
    try {
        writeFileSync(join(folder, "main.remit"), PROGRAM);
        const [input, output] = [new PassThrough(), new PassThrough()];
        const process = openProcess({ env: { HOME: folder }, cwd: folder });
        const about = { program: join(folder, "main.remit"), model: "mock:", ledger: join(folder, "ledger.db") };
        const serves = await serveMcp({ ...about, process, input, output });
        breaks(input, output);
        await serves.closed;
        expect(input.destroyed).toBe(true);
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
});
