/** What a server takes on at most: each bound is told where it is reached, with what to do, and stands in the documentation. */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { LIMITS } from "../src/access/limits.ts";
import { type Room, room } from "./room.ts";

test("sessions, clients, tools and streams have a bound; the error says which, and what to do", async () => {
    await using at = await room([{ text: "one" }, { text: "two" }], { bounds: { sessions: 2, clients: 2, tools: 1, streams: 1 } });
    const { client, token } = await at.client("panel");
    const told = async (response: Response): Promise<unknown> => [response.status, ((await response.json()) as { error: unknown }).error];
    const limited = (hint: string): unknown => [
        429,
        { kind: "too-many", message: expect.any(String), hint: expect.stringContaining(hint) },
    ];
    const { id } = await at.owner.open();
    await at.owner.open();
    expect(await told(await at.raw("POST", "/v1/sessions", { body: {} }))).toEqual(limited("--limit sessions="));
    await at.client("second");
    const more = { name: "third", scopes: ["observe"] };
    expect(await told(await at.raw("POST", "/v1/clients", { body: more }))).toEqual(limited("--limit clients="));
    // A client that was revoked takes no place.
    const [first] = await at.owner.request<{ clients: { id: string }[] }>("GET", "/v1/clients").then(({ clients }) => clients.slice(1));
    await at.owner.request("DELETE", `/v1/clients/${first?.id}`);
    expect((await at.raw("POST", "/v1/clients", { body: more })).status).toBe(201);

    expect(await client.lend(id, "read", { description: "x", readOnly: false })).toEqual({ status: "accepted" });
    expect(await client.lend(id, "read", { description: "y" })).toEqual({ status: "accepted" });
    expect(await client.lend(id, "write", { description: "x" })).toMatchObject({
        status: "rejected",
        reason: expect.stringContaining("1 tools"),
    });

    const headers = { authorization: `Bearer ${token}` };
    const open = await at.raw("GET", `/v1/sessions/${id}/events`, { headers });
    const refused = await at.raw("GET", `/v1/sessions/${id}/events`, { headers });
    expect([refused.status, ((await refused.json()) as { error: { message: string } }).error.message]).toEqual([
        429,
        expect.stringContaining("--limit streams="),
    ]);
    const chat = (message: string): Promise<Response> =>
        at.raw("POST", "/v1/chat", {
            headers,
            body: { id, trigger: "submit-message", messages: [{ id: message, role: "user", parts: [{ type: "text", text: "hello" }] }] },
        });
    expect((await chat("m0")).status).toBe(429);
    expect((await at.owner.session(id)).turns).toEqual([]);
    await open.body?.cancel();
    // It is gone when the server has heard of it.
    for (;;) {
        const again = await at.raw("GET", `/v1/sessions/${id}/events`, { headers });
        await again.body?.cancel();
        if (again.status === 200) break;
    }
    for (const message of ["m1", "m2"]) {
        let answer = await chat(message);
        while (answer.status === 429) answer = await chat(message);
        expect([answer.status, (await answer.text()).endsWith("data: [DONE]\n\n")]).toEqual([200, true]);
    }
});

test("a client that sends too much is told to wait, and others are answered", async () => {
    await using at = await room([], { bounds: { requests: 5 } });
    const { token } = await at.client("loud");
    const { client: quiet } = await at.client("quiet");
    const all = await Promise.all(
        Array.from({ length: 40 }, () => at.raw("GET", "/v1/me", { headers: { authorization: `Bearer ${token}` } })),
    );
    const late = all.find(({ status }) => status === 429);
    expect(late?.headers.get("retry-after")).toBe("1");
    expect(await late?.json()).toMatchObject({ error: { hint: expect.stringContaining("--limit requests=") } });
    expect(all.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(10);
    expect((await quiet.me()).name).toBe("quiet");
    expect((await at.owner.me()).id).toBe("owner");
});

/** `begun`: what else is done once `text` is written, and no earlier: else it would come before it on a busy machine. */
function dial(
    at: Room,
    text: string,
    begun: (socket: Socket) => void = () => undefined,
): { readonly socket: Socket; readonly closed: Promise<string> } {
    const { port, hostname } = new URL(at.server.url);
    const socket = connect(Number(port), hostname, () => {
        socket.write(text);
        begun(socket);
    });
    let got = "";
    socket.on("data", (part) => {
        got += part.toString("latin1");
    });
    socket.on("error", () => undefined);
    return { socket, closed: new Promise((resolve) => socket.on("close", () => resolve(got))) };
}

test("a head and a body that never end, and a connection that says nothing, are ended; a request beside them is answered", async () => {
    await using at = await room([], { bounds: { head: 100, body: 200 } });
    const token = `Host: ${new URL(at.server.url).host}\r\nAuthorization: Bearer ${at.server.ownerToken}\r\n`;
    const head = dial(at, "GET /v1/me HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
    const body = dial(at, `POST /v1/sessions HTTP/1.1\r\n${token}Content-Type: application/json\r\nContent-Length: 5\r\n\r\n{`);
    const chunk = dial(
        at,
        `POST /v1/sessions HTTP/1.1\r\n${token}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
    );
    // Each byte comes long before the bound: the whole body counts.
    const drops = dial(
        at,
        `POST /v1/sessions HTTP/1.1\r\n${token}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
        (socket) => {
            const dripping = setInterval(() => socket.write("1\r\n \r\n"), 20);
            socket.on("close", () => clearInterval(dripping));
        },
    );
    const none = dial(at, "");
    expect((await at.owner.me()).id).toBe("owner");
    expect(await head.closed).toMatch(/^HTTP\/1\.1 408/);
    expect(await body.closed).toMatch(/408/);
    expect(await chunk.closed).toMatch(/408/);
    // A byte that comes after the end of its connection is answered with a reset, which may be faster than the answer.
    expect(await drops.closed).toMatch(/^(?:HTTP\/1\.1 408.*)?$/s);
    expect(await none.closed).toMatch(/^(?:HTTP\/1\.1 408.*)?$/s);
});

test("a flood of headers, a request line without end, and what asks for another protocol get an answer and no more", async () => {
    await using at = await room([]);
    const many = Array.from({ length: 5000 }, (_, i) => `X-${i}: y`).join("\r\n");
    expect(await dial(at, `GET /v1/me HTTP/1.1\r\nHost: localhost\r\n${many}\r\n\r\n`).closed).toMatch(/^HTTP\/1\.1 431/);
    expect(await dial(at, `GET /${"x".repeat(100_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`).closed).toMatch(/^HTTP\/1\.1 431/);
    const other = dial(
        at,
        `GET /healthz HTTP/1.1\r\nHost: ${new URL(at.server.url).host}\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n`,
    );
    expect(await other.closed).toMatch(/^HTTP\/1\.1 200/);
    // Two requests in one, told apart by two lengths.
    const token = `Host: ${new URL(at.server.url).host}\r\nAuthorization: Bearer ${at.server.ownerToken}\r\nContent-Type: application/json\r\n`;
    const two = `POST /v1/sessions HTTP/1.1\r\n${token}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/me HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    expect(await dial(at, two).closed).toMatch(/^HTTP\/1\.1 400/);
});

test("more connections than may be are not taken; when one ends another is", async () => {
    await using at = await room([], { bounds: { connections: 3 } });
    const idle = [dial(at, ""), dial(at, ""), dial(at, "")];
    await Promise.all(
        idle.map(({ socket }) => new Promise<void>((resolve) => (socket.connecting ? socket.on("connect", () => resolve()) : resolve()))),
    );
    const fourth = dial(at, `GET /healthz HTTP/1.1\r\nHost: ${new URL(at.server.url).host}\r\n\r\n`);
    expect(await fourth.closed).toBe("");
    for (const { socket } of idle) socket.destroy();
    for (;;) {
        const again = await dial(at, `GET /healthz HTTP/1.1\r\nHost: ${new URL(at.server.url).host}\r\nConnection: close\r\n\r\n`).closed;
        if (again.startsWith("HTTP/1.1 200")) break;
    }
});

test("every bound stands in the documentation with its default", () => {
    const page = readFileSync(new URL("../../../docs/serve-running.md", import.meta.url), "utf8");
    const rows = [...page.matchAll(/^\| `(\w+)` \| ([\d,]+ ?\w*) \| (.*) \|$/gm)].map(([, name, value, says]) => [name, value, says]);
    const shown = (value: number, unit: string): string => {
        if (unit === "") return value.toLocaleString("en");
        return value % 60_000 === 0 ? `${value / 60_000} min` : `${value / 1000} s`;
    };
    expect(rows).toEqual(Object.entries(LIMITS).map(([name, { value, unit, says }]) => [name, shown(value, unit), says]));
});
