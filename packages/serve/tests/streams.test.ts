/** The events of a session: each once, in order, from any number on; readers that are slow, gone, or many. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LedgerError, type LedgerStore, memoryStore, type RunWriter } from "@remit/host";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { ServeClient } from "../src/index.ts";
import { type Listener, SessionLog } from "../src/session/log.ts";
import type { Frame } from "../src/wire/messages.ts";
import { calls, ended, type Room, room, watch } from "./room.ts";

let at: Room;
let folder: string;
beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "remit-streams-"));
    at = await room({ rules: [{ when: "say", reply: { text: "said" } }] });
});
afterAll(async () => {
    await at[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
});

const numbers = (frames: readonly { readonly seq?: number }[]): number[] => frames.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

/** What a stream holds until it has the text. */
async function until(response: Response, text: string): Promise<string> {
    const decoder = new TextDecoder();
    let got = "";
    for await (const part of response.body ?? []) {
        got += decoder.decode(part, { stream: true });
        if (got.includes(text)) break;
    }
    return got;
}

test("the headers of a stream come at once, though nothing happens", async () => {
    const { id } = await at.owner.open();
    const response = await at.raw("GET", `/v1/sessions/${id}/events?from=1`);
    expect([response.status, response.headers.get("content-type"), response.headers.get("cache-control")]).toEqual([
        200,
        "text/event-stream",
        "no-store",
    ]);
    expect(await until(response, "caught-up")).toContain("retry: 1000");
});

// A ledger that is read at each look stops the process for longer the larger it is: 91 ms for 20 MiB, four times a second.
test("readers to which nothing happens cost no look into the ledger, and what happens then comes without one", async () => {
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", { description: "Clicks" });
    const { seq } = await at.owner.session(id);
    const looked = vi.spyOn(at.server.ledger.store, "events");
    const looks = (): number => looked.mock.calls.filter(([run]) => run === id).length;
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval"] });
    try {
        let idle = 0;
        const readers = [1, 2, 3].map(() => watch(at.owner, id, ended("t1"), (event) => void (event === "caught-up" && idle++), seq));
        await vi.waitUntil(() => idle === readers.length, { timeout: 500_000 });
        await vi.advanceTimersByTimeAsync(60_000);
        await at.owner.submit(id, { text: "say it" });
        for (const frames of await Promise.all(readers)) expect(numbers(frames).length).toBe(3);
        expect(looks()).toBe(0);
    } finally {
        vi.useRealTimers();
        looked.mockRestore();
    }
});

test("a late reader, one that comes back and one that was there see the same events, each once", async () => {
    const { id } = await at.owner.open();
    const first = await at.owner.submit(id, { text: "say a" });
    const there = watch(at.owner, id, ended("t3"));
    await watch(at.owner, id, ended(first.id));
    const second = await at.owner.submit(id, { text: "say b" });
    const cut = await watch(at.owner, id, (event) => event === "turn.started");
    const back = watch(at.owner, id, ended("t3"), undefined, numbers(cut).at(-1));
    await watch(at.owner, id, ended(second.id));
    await at.owner.submit(id, { text: "say c" });
    const [a, b] = [await there, await back];
    const late = await watch(at.owner, id, ended("t3"));
    const last = numbers(a).at(-1) as number;
    expect(numbers(a)).toEqual(upTo(last));
    expect([...numbers(cut), ...numbers(b)]).toEqual(upTo(last));
    const kept = (frames: readonly { readonly seq?: number }[]): unknown => frames.filter(({ seq }) => seq !== undefined);
    expect(kept(late)).toEqual(kept(a));
});

function sessionLog(): Promise<SessionLog> {
    const about = { id: "session-1", program: { format: "remit/1" } as never, hash: "h", file: "main.remit", root: "/" };
    return SessionLog.make(memoryStore(), about, { scrub: (json) => json });
}
/** What frames say, those of text by the text. */
function said(frames: readonly Frame[]): string[] {
    return frames.map(({ event, data }) => (event === "turn.text" ? String((data as { readonly delta: string }).delta) : event));
}

test("SLG1: one that begins to listen right after something was told hears it once, and those who were there hear the same", async () => {
    const log = await sessionLog();
    const there = log.listen("a", 0);
    await log.append("turn.started", { turn: "t1" });
    log.tell("turn.text", { delta: "x" });
    const late = log.listen("b", 0);
    log.tell("turn.text", { delta: "y" });
    await log.append("turn.ended", { turn: "t1" });
    await log.close(false);
    const heard = async (one: Listener): Promise<string[]> => {
        const all = (await Array.fromAsync(one.before)).flat();
        for (let frames = await one.take(1e6); frames !== null; frames = await one.take(1e6)) all.push(...frames);
        return said(all);
    };
    expect(await heard(there)).toEqual(["turn.started", "x", "y", "turn.ended", "server.stopping"]);
    expect(await heard(late)).toEqual(["turn.started", "y", "turn.ended", "server.stopping"]);
});

test("SLG5: a log that is let go does not wait for its ledger any more", async () => {
    const store = memoryStore();
    const create: LedgerStore["create"] = async (run) => {
        const writer = await store.create(run);
        const commit = (): Promise<never> => Promise.reject(new LedgerError("full", "the disk is full"));
        return Object.assign(Object.create(writer) as RunWriter, { commit, release: () => writer.release() });
    };
    const waits: (string | undefined)[] = [];
    const about = { id: "session-1", program: { format: "remit/1" } as never, hash: "h", file: "main.remit", root: "/" };
    const stalled = (_session: string, why: LedgerError | null) => waits.push(why?.code);
    const log = await SessionLog.make({ ...store, create }, about, { scrub: (json) => json, stalled });
    await expect(log.append("turn.submitted", { turn: "t1" }, true)).rejects.toMatchObject({ code: "full" });
    expect(waits).toEqual(["full"]);
    log.leave();
    await expect.poll(() => waits).toEqual(["full", undefined]);
    await log.close(false);
    expect(waits).toEqual(["full", undefined]);
});

test("SLG4: how far a turn is waits a moment for what comes next, which does not wait", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
        const log = await sessionLog();
        const one = log.listen("a", 0);
        const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
        const taken = async (): Promise<string[]> => said((await one.take(1e6)) ?? []);
        log.tell("turn.step", {});
        await turn();
        log.tell("call.ended", {});
        await turn();
        log.tell("call", {});
        log.tell("turn.step", {});
        expect(await taken()).toEqual(["turn.step", "call.ended", "call", "turn.step"]);
        log.tell("turn.step", {});
        const next = taken();
        await vi.advanceTimersByTimeAsync(1000);
        expect(await next).toEqual(["turn.step"]);
        log.tell("turn.text", { delta: "x" });
        expect(await taken()).toEqual(["x"]);
    } finally {
        vi.useRealTimers();
    }
});

test("the number to go on from may be said as browsers say it; one beyond the end waits for what comes", async () => {
    const { id } = await at.owner.open();
    const again = await at.raw("GET", `/v1/sessions/${id}/events`, { headers: { "last-event-id": "1" } });
    expect(await until(again, "caught-up")).not.toContain("session.opened");
    const far = await at.raw("GET", `/v1/sessions/${id}/events?from=1000`);
    expect(await until(far, "caught-up")).not.toContain("session.opened");
});

test("a reader that never reads is cut off, and stops no other one", async () => {
    writeFileSync(join(folder, "echo.remit"), "main func(input: { task: string }) {\n    input.task\n}\n");
    await using own = await room([], { program: join(folder, "echo.remit"), bounds: { queue: 100 } });
    const { id } = await own.owner.open();
    const { host, port, hostname } = new URL(own.server.url);
    const deaf = connect(Number(port), hostname, () => {
        deaf.write(`GET /v1/sessions/${id}/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${own.server.ownerToken}\r\n\r\n`);
        deaf.pause();
    });
    const gone = new Promise<void>((resolve) => deaf.on("close", () => resolve()));
    deaf.on("error", () => undefined);
    for (let i = 1; i <= 15; i++) await own.owner.submit(id, { input: { task: "x".repeat(300_000) } });
    const seen = await watch(own.owner, id, ended("t15"));
    expect(numbers(seen)).toEqual(upTo(numbers(seen).at(-1) as number));
    deaf.resume();
    await gone;
});

test("one WebSocket does what requests and a stream do, with the same checks", async () => {
    await using own = await room([calls("owner", "read"), { text: "read it" }]);
    const url = `${own.server.url.replace("http", "ws")}/v1/socket`;
    const none = new WebSocket(url);
    const refused = new Promise<number>((resolve) => none.on("close", (code) => resolve(code)));
    none.on("open", () => none.send(JSON.stringify({ id: 1, method: "GET", path: "/v1/sessions" })));
    expect(await refused).toBe(4401);

    const { ticket } = await own.owner.request<{ ticket: string }>("POST", "/v1/tickets", {});
    const socket = new WebSocket(url);
    const heard: {
        id?: number;
        status?: number;
        body?: Record<string, unknown>;
        event?: string;
        data?: Record<string, unknown>;
        welcome?: string;
    }[] = [];
    let wake: () => void = () => undefined;
    socket.on("message", (data) => {
        heard.push(JSON.parse(String(data)) as never);
        wake();
    });
    const hear = async (which: (one: (typeof heard)[number]) => boolean): Promise<(typeof heard)[number]> => {
        for (;;) {
            const found = heard.find(which);
            if (found !== undefined) return found;
            await new Promise<void>((resolve) => (wake = resolve));
        }
    };
    let n = 0;
    const ask = async (method: string, path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }> => {
        const id = ++n;
        socket.send(JSON.stringify({ id, method, path, ...(body === undefined ? {} : { body }) }));
        return (await hear((one) => one.id === id)) as never;
    };
    await new Promise((resolve) => socket.on("open", resolve));
    socket.send(JSON.stringify({ ticket }));
    expect((await hear(({ welcome }) => welcome !== undefined)).welcome).toBe("owner");
    expect((await ask("POST", "/v1/sessions", { bad: 1 })).status).toBe(400);
    const { status, body } = await ask("POST", "/v1/sessions", {});
    expect(status).toBe(201);
    const session = String(body["id"]);
    socket.send(JSON.stringify({ listen: session }));
    await hear(({ event }) => event === "caught-up");
    await ask("PUT", `/v1/sessions/${session}/tools/read`, { description: "reads", readOnly: true });
    expect((await ask("POST", `/v1/sessions/${session}/turns`, { text: "go" })).status).toBe(202);
    const call = await hear(({ event }) => event === "call");
    expect(
        (await ask("POST", `/v1/sessions/${session}/calls/${String(call.data?.["id"])}/result`, { ok: true, value: "page" })).body,
    ).toEqual({ status: "accepted" });
    expect((await hear(({ event }) => event === "turn.ended")).data).toMatchObject({ status: "done", value: "read it" });
    // A ticket is used once.
    const twice = new WebSocket(url);
    const closed = new Promise<number>((resolve) => twice.on("close", (code) => resolve(code)));
    twice.on("open", () => twice.send(JSON.stringify({ ticket })));
    expect(await closed).toBe(4401);
    socket.close();
});

test("a page of another origin opens no WebSocket", async () => {
    const socket = new WebSocket(`${at.server.url.replace("http", "ws")}/v1/socket`, { origin: "https://evil.example" });
    const status = await new Promise<number | undefined>((resolve) => {
        socket.on("unexpected-response", (_, response) => resolve(response.statusCode));
        socket.on("open", () => resolve(101));
        socket.on("error", () => undefined);
    });
    expect(status).toBe(403);
    socket.terminate();
});

test("a revoked client hears no more, over a stream or a WebSocket", async () => {
    const { id } = await at.owner.open();
    const { client, id: name, token } = await at.client("panel");
    const stream = await fetch(`${at.server.url}/v1/sessions/${id}/events`, { headers: { authorization: `Bearer ${token}` } });
    const socket = new WebSocket(`${at.server.url.replace("http", "ws")}/v1/socket`, { headers: { authorization: `Bearer ${token}` } });
    await new Promise((resolve) => socket.on("open", resolve));
    const closed = new Promise<number>((resolve) => socket.on("close", (code) => resolve(code)));
    expect(await at.owner.request("DELETE", `/v1/clients/${name}`)).toEqual({ status: "accepted" });
    await expect(until(stream, "no such text")).rejects.toThrow();
    socket.send(JSON.stringify({ id: 1, method: "GET", path: "/v1/sessions" }));
    expect(await closed).toBe(4401);
    await expect(client.session(id)).rejects.toMatchObject({ status: 401 });
});

test("a connection that is closed on the way: what reads is asked once more, what acts is not sent twice", async () => {
    const heard: string[] = [];
    const server = createServer(({ method, socket }, response) => {
        heard.push(method ?? "");
        if (heard.length % 2 === 0) return void socket.destroy();
        response.setHeader("content-type", "application/json").end("{}");
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const client = new ServeClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: "t" });
    for (const _ of [1, 2]) expect(await client.request("GET", "/x")).toEqual({});
    await expect(client.request("POST", "/x", {})).rejects.toMatchObject({ kind: "unreachable" });
    expect(heard).toEqual(["GET", "GET", "GET", "POST"]);
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
});
