/** WebSockets whose other end is hostile: no message ends more than its own connection, and none costs more than its bounds. */
import { connect, type Socket } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { ended, type Room, room, watch } from "./room.ts";

let at: Room;
let session: string;
let folder: string;
const broken: unknown[] = [];
const noted = (error: unknown): void => void broken.push(error);
beforeAll(async () => {
    // What no code takes would end the process of a server.
    process.on("unhandledRejection", noted);
    folder = mkdtempSync(join(tmpdir(), "remit-sockets-"));
    at = await room({ rules: [{ when: "say", reply: { text: "said" } }] }, { bounds: { unknown: 2 } });
    session = (await at.owner.open()).id;
});
afterAll(async () => {
    process.off("unhandledRejection", noted);
    await at[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
    expect(broken).toEqual([]);
});

const address = (of: Room = at): string => `${of.server.url.replace("http", "ws")}/v1/socket`;

interface Line {
    readonly socket: WebSocket;
    readonly closed: Promise<number>;
    hear(which: (one: { readonly [key: string]: unknown }) => boolean): Promise<{ readonly [key: string]: unknown }>;
    say(what: object | string): void;
}

/** An open connection; `token`: null where it has none. */
async function line(token: string | null = at.server.ownerToken, of: Room = at): Promise<Line> {
    const socket = new WebSocket(address(of), token === null ? {} : { headers: { authorization: `Bearer ${token}` } });
    const heard: { readonly [key: string]: unknown }[] = [];
    let wake: () => void = () => undefined;
    socket.on("message", (data) => {
        heard.push(JSON.parse(String(data)) as never);
        wake();
    });
    socket.on("error", () => undefined);
    const closed = new Promise<number>((resolve) => socket.on("close", resolve));
    await new Promise<void>((resolve) => socket.on("open", resolve));
    return {
        socket,
        closed,
        hear: async (which) => {
            for (;;) {
                const found = heard.find(which);
                if (found !== undefined) return found;
                await new Promise<void>((resolve) => (wake = resolve));
            }
        },
        say: (what) => socket.send(typeof what === "string" ? what : JSON.stringify(what)),
    };
}

test("a message that cannot be a request is refused, and the next one is answered", async () => {
    const { socket, say, hear } = await line();
    const wrong: object[] = [
        { method: "GET", path: "/v1/sessions", body: {} },
        { method: "POST", path: "/v1/sessions", body: {}, headers: { "idempotency-key": "€\n" } },
        { method: "GET", path: "/v1/../metrics" },
        { method: "GET", path: "/v1/socket" },
        { method: "GET", path: "/v1/\\\\evil.example/x" },
        { method: "GET", path: "/v1/http://[" },
        { method: "GET", path: "/v1/%2e%2e/%2e%2e/etc/passwd" },
    ];
    const got: unknown[] = [];
    for (const [id, one] of wrong.entries()) {
        say({ id, ...one });
        got.push((await hear((said) => said["id"] === id))["status"]);
    }
    expect(got).toEqual([400, 400, 401, 404, 404, 404, 404]);
    say({ id: 99, method: "GET", path: "/v1/me" });
    expect((await hear(({ id }) => id === 99))["body"]).toMatchObject({ id: "owner" });
    socket.close();
});

test("text that is no message, binary, and JSON nested without end close the connection alone, before a ticket too", async () => {
    const deep = `${"[".repeat(500)}${"]".repeat(500)}`;
    for (const token of [at.server.ownerToken, null])
        for (const said of ["x", "null", "[]", `{"id":1,"method":"POST","path":"/v1/sessions","body":${deep}}`, Buffer.from([1, 2, 3])]) {
            const one = await line(token);
            one.socket.send(said);
            expect(await one.closed).toBe(4400);
        }
    const known = await line();
    known.say(`{"id":1,"method":"POST","path":"/v1/sessions","body":${"[".repeat(200_000)}${"]".repeat(200_000)}}`);
    expect(await known.closed).toBe(4400);
    expect((await at.owner.me()).id).toBe("owner");
});

test("WSK1: what is sent right behind a ticket, before its welcome, is taken after it", async () => {
    const { ticket } = await at.owner.request<{ ticket: string }>("POST", "/v1/tickets", {});
    const { say, hear, closed, socket } = await line(null);
    say({ ticket });
    say({ listen: session });
    say({ id: 1, method: "GET", path: "/v1/me" });
    expect(await Promise.race([hear(({ event }) => event === "caught-up"), closed])).toMatchObject({ session });
    expect(await hear(({ id }) => id === 1)).toMatchObject({ body: { id: "owner" } });
    socket.close();
    await closed;
});

test("before a ticket little is read, and few may be so: others are told to come back", async () => {
    const loud = await line(null);
    loud.say(`{"ticket":"${"x".repeat(100_000)}"}`);
    expect(await loud.closed).toBe(1006);
    const waiting = [await line(null), await line(null)];
    const third = new WebSocket(address());
    third.on("error", () => undefined);
    const status = await new Promise<number | undefined>((resolve) =>
        third.on("unexpected-response", (_, { statusCode }) => resolve(statusCode)),
    );
    expect(status).toBe(503);
    const { ticket } = await at.owner.request<{ ticket: string }>("POST", "/v1/tickets", {});
    waiting[0]?.say({ ticket });
    await waiting[0]?.hear(({ welcome }) => welcome === "owner");
    // It is known now, and sends what it likes.
    waiting[0]?.say({
        id: 1,
        method: "POST",
        path: "/v1/sessions",
        body: { title: "x".repeat(150), approvers: Array(50).fill("y".repeat(80)) },
    });
    waiting[0]?.say({ id: 2, method: "POST", path: `/v1/sessions/${session}/turns`, body: { text: `say ${"x".repeat(50_000)}` } });
    expect((await waiting[0]?.hear(({ id }) => id === 2))?.["status"]).toBe(202);
    (await line(null)).socket.terminate();
    for (const one of waiting) one.socket.terminate();
    third.terminate();
});

test("wrong tickets shut out none who has a right one", async () => {
    for (let i = 0; i < 12; i++) {
        const one = await line(null);
        one.say({ ticket: `guess ${i}` });
        expect(await one.closed).toBe(4401);
    }
    const { ticket } = await at.owner.request<{ ticket: string }>("POST", "/v1/tickets", {});
    const right = await line(null);
    right.say({ ticket });
    expect(await right.hear(({ welcome }) => welcome !== undefined)).toEqual({ welcome: "owner" });
    right.socket.terminate();
});

test("a message that is too long, or in too many pieces, ends its connection", async () => {
    const long = await line();
    long.socket.send(Buffer.alloc((32 << 20) + 1, 120).toString());
    expect(await long.closed).toBe(1009);
    const pieces = await line();
    for (let i = 0; i < 20_000 && pieces.socket.readyState === WebSocket.OPEN; i++) pieces.socket.send("x", { fin: false });
    expect(await pieces.closed).toBe(1008);
});

test("requests of one connection that wait for their answers have a bound; those beyond it are told to come again", async () => {
    await using own = await room([{ text: "slow", delay: 60_000 }]);
    const { id } = await own.owner.open();
    const { socket, say, hear } = await line(own.server.ownerToken, own);
    const headers = { "idempotency-key": "one" };
    for (let i = 0; i < 300; i++) say({ id: i, method: "POST", path: `/v1/sessions/${id}/turns?wait=1`, headers, body: { text: "x" } });
    const first = await hear(({ status }) => status !== 202);
    expect(first).toMatchObject({ id: 256, status: 429, body: { error: { kind: "too-many", hint: expect.any(String) } } });
    socket.terminate();
});

/** A WebSocket that answers nothing and reads nothing, as bytes. */
function deaf(of: Room = at): Promise<Socket> {
    const { host, port, hostname } = new URL(of.server.url);
    return new Promise((resolve, reject) => {
        const socket = connect(Number(port), hostname, () =>
            socket.write(
                `GET /v1/socket HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n` +
                    `Sec-WebSocket-Key: ${Buffer.alloc(16).toString("base64")}\r\nAuthorization: Bearer ${of.server.ownerToken}\r\n\r\n`,
            ),
        );
        socket.once("data", () => resolve(socket));
        socket.on("error", reject);
    });
}

test("one whose other end is gone without a word is found out", async () => {
    await using own = await room([], { bounds: { heartbeat: 50 } });
    const socket = await deaf(own);
    const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
    // It reads, and answers no ping.
    socket.resume();
    await closed;
});

test("what waits for a listener that does not read has a bound, and others hear everything", async () => {
    writeFileSync(join(folder, "echo.remit"), "main func(input: { task: string }) {\n    input.task\n}\n");
    await using own = await room([], { program: join(folder, "echo.remit"), bounds: { queue: 100 } });
    const { id } = await own.owner.open();
    const { socket, say, hear, closed } = await line(own.server.ownerToken, own);
    say({ listen: id });
    await hear(({ event }) => event === "caught-up");
    socket.pause();
    for (let i = 1; i <= 15; i++) await own.owner.submit(id, { input: { task: "x".repeat(300_000) } });
    const seen = await watch(own.owner, id, ended("t15"));
    const numbers = seen.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
    expect(numbers).toEqual(numbers.map((_, i) => i + 1));
    socket.resume();
    expect(await closed).toBe(4408);
});

test("pings without end from one that does not read end its connection", async () => {
    await using own = await room([]);
    const socket = await deaf(own);
    socket.pause();
    const ping = Buffer.concat([Buffer.from([0x89, 0xfd, 0, 0, 0, 0]), Buffer.alloc(125)]);
    const many = Buffer.concat(Array(8000).fill(ping) as Buffer[]);
    const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
    socket.on("error", () => undefined);
    const flood = (): void => {
        while (!socket.destroyed && socket.write(many));
        if (!socket.destroyed) socket.once("drain", flood);
    };
    flood();
    await closed;
    expect((await own.owner.me()).id).toBe("owner");
});
