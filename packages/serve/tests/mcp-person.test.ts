/** What a program of an MCP server asks its client's person, what it gives beside text, and the sessions in which clients of the earlier era are asked. */
import { join } from "node:path";
import { Server } from "@modelcontextprotocol/server";
import type { Contract, Json } from "@remit/language";
import { expect, test } from "vitest";
import { z } from "zod";
import { answerOf, formOf, type Wanted } from "../src/mcp/forms.ts";
import { Sessions } from "../src/mcp/sessions.ts";
import { type Answer, at, call, MODERN, modern, sent, WAYS } from "./mcp-room.ts";

const ASKS = `import tool Person from "host:person"
func hello() -> string {
    said = Person.ask({ question: "What is your name?" })
    if said.answered { return "Hello, " + said.answer + "!" }
    "nobody answers"
}
func both() -> list[string] {
    parallel for what in ["name", "colour"] max 2 { Person.ask({ question: "Your " + what + "?" })?.answer ?? "none" }
}
`;
const says = (answer: string): Answer => ({ action: "accept", content: { answer } });

test.each(WAYS)("%s: what a program asks by host:person is a form for the client's person", async (way) => {
    await using room = await at(way, { program: ASKS, answer: (message) => says(message.includes("colour") ? "blue" : "Ann") });
    expect((await room.client.callTool({ name: "hello", arguments: {} })).structuredContent).toEqual({ result: "Hello, Ann!" });
    expect(room.asked).toEqual(["What is your name?"]);
    expect((await room.client.callTool({ name: "both", arguments: {} })).structuredContent).toEqual({ result: ["Ann", "blue"] });
    expect(await (await room.ledger()).runs()).toHaveLength(2);
});

test.each([
    ["no", { action: "decline" }],
    ["a cancel", { action: "cancel" }],
    ["an answer in another field", { action: "accept", content: { decision: "once" } }],
    ["an answer that is no text", { action: "accept", content: { answer: 5 } }],
    ["no way to ask", undefined],
] as const)("MCF1: %s is no answer", async (_name, answer) => {
    await using room = await at("modern http", { program: ASKS });
    const url = room.serves.url as string;
    const capabilities = answer === undefined ? {} : { elicitation: { form: {} } };
    const more = { _meta: { ...META, "io.modelcontextprotocol/clientCapabilities": capabilities } };
    let { result } = await call(url, "hello", {}, more);
    if (answer !== undefined) {
        expect(result).toMatchObject({
            resultType: "input_required",
            inputRequests: { answer: { params: { message: "What is your name?" } } },
        });
        const { requestState = "" } = result ?? {};
        ({ result } = await call(url, "hello", {}, { ...more, inputResponses: { answer }, requestState }));
    }
    expect(result).toMatchObject({ structuredContent: { result: "nobody answers" } });
});

const META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
};

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const GIVES = `import tool Files from "file://workspace"
func picture() { Files.read({ path: "dot.png", as: "image" }) }
func mixed() {
    { ok: true, text: "", structured: { n: 1 }, isError: false, content: [
        { type: "text", text: "a dot", _meta: { ifc: { integrity: "trusted" } } },
        { type: "image", mimeType: "image/png", data: "${PIXEL}" },
        { type: "audio", mimeType: "audio/wav", data: "UklGRg==" },
        { type: "resource_link", uri: "file:///dot", name: "dot" },
        { type: "resource", resource: { uri: "test://dot", mimeType: "text/plain", text: "dot", _meta: { ifc: { integrity: "trusted" } } } },
    ] }
}
func refused() { { content: [{ type: "text", text: "no such dot" }], isError: true } }
func declared() -> { content: list[json] } { { content: [{ type: "text", text: "dot" }] } }
func other() { { content: [{ type: "dot" }] } }
func pdf() { { media_type: "application/pdf", data: "AA==" } }
func broken() { { media_type: "image/png", data: "no base64!" } }
`;

test.each(WAYS)("%s: TLD1: pictures, sounds and content of other servers go out as they are", async (way) => {
    await using room = await at(way, { program: GIVES, prepare: { "dot.png": Buffer.from(PIXEL, "base64") } });
    const gives = async (name: string) => {
        const { content, structuredContent, isError, _meta } = await room.client.callTool({ name, arguments: {} });
        expect(_meta?.["ifc"]).toBeDefined();
        return { content, structuredContent, isError };
    };
    const picture = { type: "image", mimeType: "image/png", data: PIXEL };
    expect(await gives("picture")).toEqual({ content: [picture] });
    expect(await gives("mixed")).toEqual({
        content: [
            { type: "text", text: "a dot" },
            picture,
            { type: "audio", mimeType: "audio/wav", data: "UklGRg==" },
            { type: "resource_link", uri: "file:///dot", name: "dot" },
            { type: "resource", resource: { uri: "test://dot", mimeType: "text/plain", text: "dot" } },
        ],
        structuredContent: { n: 1 },
    });
    expect(await gives("refused")).toEqual({ content: [{ type: "text", text: "no such dot" }], isError: true });
    const dot = { content: [{ type: "text", text: "dot" }] };
    expect(await gives("declared")).toEqual({ ...dot, structuredContent: dot });
    for (const name of ["other", "pdf", "broken"])
        expect((await gives(name)).content).toEqual([{ type: "text", text: expect.stringMatching(/^\{/) }]);
});

const INITIALIZE = JSON.stringify({
    ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
});
const PING = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" });

test("MCX1: a session that its client ended is gone; one that never was, too", async () => {
    await using room = await at("legacy http");
    const url = room.serves.url as string;
    const begun = await fetch(url, { method: "POST", headers: HEADERS, body: INITIALIZE });
    const id = begun.headers.get("mcp-session-id") as string;
    expect(id).toMatch(/^[\da-f-]{36}$/);
    await begun.text();
    const status = async (session: string, method = "POST"): Promise<number> =>
        (await sent(url, { "mcp-session-id": session }, method === "POST" ? PING : "", method)).status;
    expect(await status(id)).toBe(200);
    expect(await status(id, "DELETE")).toBe(200);
    expect([await status(id), await status("00000000-0000-4000-8000-000000000000")]).toEqual([404, 404]);
    // The client that has a session of its own still has it.
    expect(await room.client.ping()).toEqual({});
});

const HEADERS = { accept: "application/json, text/event-stream", "content-type": "application/json" };

test.each([
    ["in a session: the run goes on, as its protocol says", true, "done"],
    ["without one: the run stops where it stands", false, "stopped"],
] as const)("legacy http, a connection that is dropped %s", async (_, isInSession, status) => {
    await using room = await at("legacy http", { replies: [{ text: "kept", delay: 3000 }] });
    const url = room.serves.url as string;
    const begun = await fetch(url, { method: "POST", headers: HEADERS, body: INITIALIZE });
    await begun.text();
    const session: { [name: string]: string } = isInSession ? { "mcp-session-id": begun.headers.get("mcp-session-id") as string } : {};
    const params = { name: "Clerk", arguments: { task: "wait" }, _meta: { progressToken: 1 } };
    const gone = new AbortController();
    const call = await fetch(url, {
        ...{ method: "POST", headers: { ...HEADERS, ...session }, signal: gone.signal },
        body: JSON.stringify({ jsonrpc: "2.0", id: 3, method: "tools/call", params }),
    });
    // Progress is told when the run has begun.
    await call.body?.getReader().read();
    gone.abort();
    const ledger = await room.ledger();
    const { id } = await ledger.run("last");
    for await (const _event of ledger.follow(id));
    expect((await ledger.run(id)).status).toBe(status);
});

test("MCX3: for a session too many the one ends that has waited the longest, and none that has a request under way", async () => {
    const { promise: free, resolve: go } = Promise.withResolvers<void>();
    const sessions = new Sessions(() => {
        const server = new Server({ name: "test", version: "1" }, { capabilities: { tools: {} } });
        server.setRequestHandler("tools/list", async () => {
            await free;
            return { tools: [] };
        });
        return server;
    }, 2);
    const post = async (body: string, id?: string): Promise<Response> => {
        const headers = { ...HEADERS, ...(id === undefined ? {} : { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" }) };
        return (await sessions.answered(new Request("http://127.0.0.1/mcp", { method: "POST", headers, body }))) as Response;
    };
    const begin = async (): Promise<string> => (await post(INITIALIZE)).headers.get("mcp-session-id") as string;
    const [first, second] = [await begin(), await begin()];
    // It has waited less long than the second.
    await (await post(PING, first)).text();
    const third = await begin();
    expect((await post(PING, second)).status).toBe(404);
    const list = JSON.stringify({ jsonrpc: "2.0", id: 3, method: "tools/list" });
    const busy = [await post(list, first), await post(list, third)];
    expect((await post(INITIALIZE)).status).toBe(503);
    go();
    for (const one of busy) expect(await one.text()).toContain('"tools":[]');
    expect(await begin()).toMatch(/^[\da-f-]{36}$/);
    await sessions.close();
    expect((await post(PING, third)).status).toBe(404);
});

test("MCX3: of a burst of clients as many begin a session as may, also while none of them has one yet; one that is refused leaves nothing behind", async () => {
    let free = Promise.withResolvers<void>();
    let [made, closed] = [0, 0];
    const sessions = new Sessions(async () => {
        const server = new Server({ name: "test", version: "1" }, { capabilities: {} });
        made += 1;
        server.onclose = () => {
            closed += 1;
        };
        await free.promise;
        return server;
    }, 2);
    const begin = async (accept = HEADERS.accept): Promise<number> => {
        const headers = { ...HEADERS, accept };
        return (await sessions.answered(new Request("http://127.0.0.1/mcp", { method: "POST", headers, body: INITIALIZE })))?.status ?? 0;
    };
    for (const live of [0, 2]) {
        const burst = [1, 2, 3, 4, 5].map(() => begin());
        setTimeout(free.resolve, 50);
        expect((await Promise.all(burst)).sort()).toEqual([200, 200, 503, 503, 503]);
        expect([made, made - closed]).toEqual([live + 2, 2]);
        free = Promise.withResolvers();
    }
    free.resolve();
    // The protocol's own handler refuses it.
    for (let nth = 0; nth < 3; nth++) expect(await begin("text/html")).toBe(406);
    expect(made - closed).toBeLessThanOrEqual(2);
    expect(await begin()).toBe(200);
    await sessions.close();
    expect(made - closed).toBe(0);
});

test("MCX1: a request that its client cancels is not under way any more, though it gets no answer", async () => {
    const sessions = new Sessions(() => {
        const server = new Server({ name: "test", version: "1" }, { capabilities: { tools: {} } });
        server.setRequestHandler("tools/list", () => new Promise(() => undefined));
        return server;
    }, 1);
    const post = async (body: object | string, id?: string): Promise<Response> => {
        const headers = { ...HEADERS, ...(id === undefined ? {} : { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" }) };
        const text = typeof body === "string" ? body : JSON.stringify({ jsonrpc: "2.0", ...body });
        return (await sessions.answered(new Request("http://127.0.0.1/mcp", { method: "POST", headers, body: text }))) as Response;
    };
    const id = (await post(INITIALIZE)).headers.get("mcp-session-id") as string;
    const list = await post({ id: 3, method: "tools/list" }, id);
    expect((await post(INITIALIZE)).status).toBe(503);
    expect((await post({ method: "notifications/cancelled", params: { requestId: 3 } }, id)).status).toBe(202);
    expect((await post(INITIALIZE)).status).toBe(200);
    await list.body?.cancel();
    await sessions.close();
});

/** A server that asks a person, and gives its result without waiting for the answer. */
const IMPATIENT = {
    program: `import tool T from "mcp://liar" { go: may }
import tool Person from "host:person"
import llm Model from "openai://gpt-5-mini"
func hello() -> string { T.go({}).text }
func twice() -> string { T.go({}).text + (Person.ask({ question: "And then?" })?.answer ?? "nothing") }
agent Slow {
    model Model
    role "slow"
    description "Is slow."
    main func() -> string {
        said = T.go({}).text
        generate({ input: said }) -> string
    }
}
`,
    prepare: {
        "remit.json": Buffer.from(
            JSON.stringify({
                mcpServers: {
                    liar: { command: "node", args: [join(import.meta.dirname, "../../host/tests/tool/mcp-liar.mjs"), "impatient"] },
                },
            }),
        ),
    },
};
const TRUSTED = { load: { trust: true } };

test("MCC5: where the run went on without an answer, the round that comes with one is told where the call stands", async () => {
    await using room = await at("modern http", { ...IMPATIENT, options: TRUSTED });
    const url = room.serves.url as string;
    const ledger = await room.ledger();
    const round = async (name: string) => {
        const { result } = await call(url, name, {});
        expect(result).toMatchObject({ resultType: "input_required", inputRequests: { decision: { params: { message: SAYS } } } });
        return result?.requestState ?? "";
    };
    const decision = { action: "accept", content: { decision: "once" } };
    const state = await round("hello");
    const { id } = await ledger.run("last");
    for await (const _event of ledger.follow(id));
    const answer = () => call(url, "hello", {}, { inputResponses: { decision }, requestState: state });
    expect(await answer()).toMatchObject({ result: { structuredContent: { result: '"gone on"' } } });
    // It is told once.
    expect(await answer()).toMatchObject({ result: { isError: true } });
    const late = await round("twice");
    const other = await ledger.run("last");
    for await (const { kind, data } of ledger.follow(other.id))
        if (kind === "tool.started" && JSON.stringify(data).includes("Person")) break;
    const { result } = await call(url, "twice", {}, { inputResponses: { decision }, requestState: late });
    expect(result).toMatchObject({ resultType: "input_required", inputRequests: { answer: { params: { message: "And then?" } } } });
    const last = { inputResponses: { answer: says(", home") }, requestState: result?.requestState };
    expect(await call(url, "twice", {}, last)).toMatchObject({ result: { structuredContent: { result: '"gone on", home' } } });
});
const SAYS = "The tool server 'liar' asks: Choose.";

test("MCC4: the time for an answer ends with the question: a task that went on without one is not stopped", async () => {
    await using room = await at("modern http", {
        ...IMPATIENT,
        replies: [{ text: "done", delay: 2000 }],
        options: { ...TRUSTED, bounds: { ask: 1500 } },
    });
    const url = room.serves.url as string;
    const { result } = await call(url, "Slow", {}, WITH_TASKS);
    for (const seen: Json[] = []; ; ) {
        const { result: now } = await modern(url, "tasks/get", { taskId: String(result?.["taskId"]) }, WITH_TASKS);
        if (now?.["status"] !== seen.at(-1)) seen.push(now?.["status"] ?? null);
        if (now?.["result"] === undefined && now?.["status"] !== "cancelled") {
            await new Promise((resolve) => setTimeout(resolve, 20));
            continue;
        }
        expect(now).toMatchObject({ result: { structuredContent: { result: "done" } } });
        expect(seen.slice(-3)).toEqual(["input_required", "working", "completed"]);
        break;
    }
});

test("MCW3: 2025-11-25: a question that ended is taken back from the person, and the result comes", async () => {
    const never = (): never => new Promise(() => undefined) as never;
    await using room = await at("legacy stream", { ...IMPATIENT, options: TRUSTED, answer: never });
    const ask = (method: string, params: object): Promise<{ readonly [name: string]: unknown }> =>
        room.client.request({ method, params: { ...params } }, z.looseObject({}));
    const { task } = await ask("tools/call", { name: "hello", arguments: {}, task: {} });
    const { taskId } = task as { taskId: string };
    expect(await ask("tasks/result", { taskId })).toMatchObject({ structuredContent: { result: '"gone on"' } });
    expect(room.asked).toEqual([SAYS]);
});
const WITH_TASKS = {
    _meta: {
        ...MODERN,
        "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } },
    },
};

const among = (...values: string[]): Contract => ({ type: "union", of: values.map((value) => ({ type: "literal", value })) });
test.each<[Contract, object, Json, Json]>([
    [{ type: "string" }, { type: "string" }, "x", 5],
    [{ type: "optional", of: { type: "number" } }, { type: "number" }, 5, "5"],
    [{ type: "boolean" }, { type: "boolean" }, false, "no"],
    [among("a", "b"), { type: "string", enum: ["a", "b"] }, "b", "c"],
    [{ type: "list", item: among("a", "b") }, { type: "array", items: { type: "string", enum: ["a", "b"] } }, ["a"], ["c"]],
])("MCF1: a value that a server of the run asks for, %j", (contract, schema, good, bad) => {
    const wanted: Wanted = { kind: "value", request: { name: "liar.colour", contract, description: "Which?" } };
    expect(formOf(wanted)).toEqual({
        message: "liar.colour: Which?",
        requestedSchema: { type: "object", properties: { answer: { title: "liar.colour", ...schema } }, required: ["answer"] },
    });
    const answered = (answer: Json, action = "accept"): Json => answerOf(wanted, { action, content: { answer } });
    expect([answered(good), answered(bad), answered(good, "decline")]).toEqual([good, null, null]);
});

test.each<[Contract, Json, Json | undefined]>([
    [{ type: "string" }, "x", "x"],
    [{ type: "number" }, 0, 0],
    [{ type: "boolean" }, false, false],
    [among("a", "b"), "b", "b"],
    [{ type: "list", item: among("a", "b") }, ["a"], ["a"]],
    [among("a", "b"), "c", undefined],
    [{ type: "number" }, "5", undefined],
])("MCF3: a form for %j with the default %j is filled in with %j", (contract, usual, shown) => {
    const wanted: Wanted = { kind: "value", request: { name: "liar.colour", contract, default: usual } };
    expect((formOf(wanted).requestedSchema.properties["answer"] as { readonly default?: Json }).default).toEqual(shown);
    expect(answerOf(wanted, { action: "accept", content: {} })).toBeNull();
});
