/** What watches a server: is it alive, is it ready, what does it count, what does it write; and how it stops. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { LEVELS } from "../src/index.ts";
import { calls, ended, room, watch } from "./room.ts";

test("alive and ready are two things: a server whose ledger is gone is alone the first", async () => {
    await using at = await room([]);
    const ask = async (path: string): Promise<unknown> => {
        const response = await at.raw("GET", path, { headers: { authorization: "" } });
        return [response.status, await response.json()];
    };
    expect([await ask("/healthz"), await ask("/readyz")]).toEqual([
        [200, { ok: true }],
        [200, { ok: true }],
    ]);
    await at.server.ledger.close();
    expect(await ask("/healthz")).toEqual([200, { ok: true }]);
    expect(await ask("/readyz")).toEqual([503, { ok: false, why: "its ledger cannot be read" }]);
});

test("metrics need a credential, name routes and no ids, and count what happened", async () => {
    await using at = await room([calls("owner", "read"), { text: "done" }]);
    expect((await at.raw("GET", "/metrics", { headers: { authorization: "" } })).status).toBe(401);
    const { token } = await at.client("a page", ["lend"]);
    expect((await at.raw("GET", "/metrics", { headers: { authorization: `Bearer ${token}` } })).status).toBe(403);
    const { id } = await at.owner.open({ title: "a title of a person" });
    await at.owner.lend(id, "read", { description: "Reads", readOnly: true });
    const turn = await at.owner.submit(id, { text: "go" });
    await watch(at.owner, id, ended(turn.id), async (event, data) => {
        if (event === "call") await at.owner.result(id, data["id"] as string, { ok: true, value: 1 });
    });
    await at.raw("GET", "/v1/sessions", { headers: { authorization: "Bearer wrong" } });
    await at.raw("GET", "/no/such/page");
    const response = await at.raw("GET", "/metrics");
    expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    const value = (name: string): number => Number(new RegExp(`^${name.replace(/[{}"./]/g, "\\$&")} (.*)$`, "m").exec(text)?.[1]);
    expect(value("remit_sessions")).toBe(1);
    expect(value("remit_lent_tools")).toBe(1);
    expect(value('remit_turns_total{status="done"}')).toBe(1);
    expect(value('remit_calls_total{ok="true"}')).toBe(1);
    expect(value('remit_refused_total{status="401"}')).toBe(2);
    expect(value('remit_request_seconds_count{method="POST",route="/v1/sessions/{session}/turns",status="202"}')).toBe(1);
    expect(value('remit_request_seconds_count{method="GET",route="other",status="404"}')).toBe(1);
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
    for (const said of [id, turn.id, "title", "no/such", at.server.ownerToken]) expect([said, text.includes(said)]).toEqual([said, false]);
});

test("what is written has ids, and no word that is said, no argument, no result, no token and no code", async () => {
    const lines: string[] = [];
    const log = (level: string, message: string, about: object): void => void lines.push(JSON.stringify({ level, message, ...about }));
    await using at = await room([calls("owner", "click", { at: "ARGUMENT" }), { text: "MODELWORDS" }], { log, logLevel: "debug" });
    const { id } = await at.owner.open({ title: "TITLE" });
    await at.owner.lend(id, "click", { description: "DESCRIPTION" });
    const { client: reader, token, id: name } = await at.client("PERSON");
    const turn = await at.owner.submit(id, { text: "PROMPT" }, "IDEMPOTENT");
    await watch(reader, id, ended(turn.id), async (event, data) => {
        if (event === "ask.requested") await at.owner.decide(id, data["ask"] as string, "once");
        if (event === "call")
            await at.owner.result(id, data["id"] as string, { ok: true, value: "RESULT", site: "https://site.example/PAGE" });
    });
    const code = await at.server.loginCode();
    await at.raw("POST", "/v1/login", { body: { code }, headers: { authorization: "" } });
    await at.raw("GET", `/v1/sessions/${id}?token=${token}`, { headers: { authorization: "Bearer WRONGTOKEN" } });
    await at.raw("GET", `/v1/${token}`);
    await at.raw("POST", "/v1/sessions", { text: '{"title": BROKEN' });
    await at.owner.request("DELETE", `/v1/clients/${name}`);
    const all = lines.join("\n");
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual(
        expect.arrayContaining([
            { level: "info", message: "turn.ended", session: id, turn: turn.id, status: "done" },
            { level: "info", message: "client.revoked", client: name },
            expect.objectContaining({
                level: "debug",
                message: "request",
                route: "/v1/sessions/{session}/turns",
                status: 202,
                client: "owner",
            }),
            expect.objectContaining({ level: "warn", message: "refused", status: 401 }),
        ]),
    );
    for (const said of [
        "TITLE",
        "DESCRIPTION",
        "PROMPT",
        "IDEMPOTENT",
        "ARGUMENT",
        "RESULT",
        "PAGE",
        "MODELWORDS",
        "WRONGTOKEN",
        "BROKEN",
        "PERSON",
        token,
        at.server.ownerToken,
        code,
    ])
        expect([said, all.includes(said)]).toEqual([said, false]);
    expect(LEVELS).toEqual(["error", "warn", "info", "debug"]);
});

test("one that stops tells its streams and sockets, ends, and the next one goes on with the turns", async () => {
    await using at = await room([{ text: "slow", delay: 60_000 }]);
    const { id } = await at.owner.open();
    const one = await at.owner.submit(id, { text: "1" });
    const two = await at.owner.submit(id, { text: "2" });
    const response = await at.raw("GET", `/v1/sessions/${id}/events`);
    const socket = new WebSocket(`${at.server.url.replace("http", "ws")}/v1/socket`, {
        headers: { authorization: `Bearer ${at.server.ownerToken}` },
    });
    await new Promise((resolve) => socket.on("open", resolve));
    const goodbye = new Promise<unknown>((resolve) => socket.on("close", (code, reason) => resolve([code, String(reason)])));
    const heard = (what: string): Promise<void> =>
        new Promise((resolve) => socket.on("message", (data) => String(data).includes(what) && resolve()));
    const listens = heard('"caught-up"');
    const told = heard('"server.stopping"');
    socket.send(JSON.stringify({ listen: id }));
    await listens;
    const text = response.text();
    await at.again();
    await told;
    expect(await goodbye).toEqual([1012, "the server stops"]);
    expect(await text).toMatch(/event: server\.stopping\ndata: \{\}\n\n$/);
    expect((await at.owner.session(id)).turns.map(({ id: name, status }) => [name, status])).toEqual([
        [one.id, "running"],
        [two.id, "queued"],
    ]);
});

test("who waits for a turn has the headers before it is over", async () => {
    await using at = await room([calls("owner", "read"), { text: "read" }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "read", { description: "Reads", readOnly: true });
    // Nothing answers the call before this one has its headers.
    const response = await at.raw("POST", `/v1/sessions/${id}/turns?wait=1`, { body: { text: "go" } });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    const [turn] = (await at.owner.session(id)).turns;
    expect(["queued", "running"]).toContain(turn?.status);
    await watch(at.owner, id, ended("t1"), async (event, data) => {
        if (event === "call") await at.owner.result(id, data["id"] as string, { ok: true, value: 1 });
    });
    expect(await response.json()).toMatchObject({ id: "t1", status: "done", value: "read" });
});

test("a question waits for no clock: five are heard, decided and acted on while no timer fires", async () => {
    const five = [1, 2, 3, 4, 5];
    await using at = await room([...five.map((n) => calls("owner", "click", { n })), { text: "clicked" }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", { description: "Clicks" });
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval"] });
    try {
        const turn = await at.owner.submit(id, { text: "go" });
        const order: string[] = [];
        await watch(at.owner, id, ended(turn.id), async (event, data) => {
            if (event === "ask.requested") await at.owner.decide(id, data["ask"] as string, "once");
            if (event === "call") await at.owner.result(id, data["id"] as string, { ok: true, value: (data["args"] as { n: number }).n });
            if (event === "ask.requested" || event === "call") order.push(event);
        });
        expect(order).toEqual(five.flatMap(() => ["ask.requested", "call"]));
        expect(await at.owner.turn(id, turn.id)).toMatchObject({ status: "done", value: "clicked" });
    } finally {
        vi.useRealTimers();
    }
});

test("a round trip waits for no clock: twenty of them are done while no timer fires", async () => {
    await using at = await room([]);
    writeFileSync(
        join(at.folder, "trips.remit"),
        'import tool Lent from "host:lent"\nmain func(input: { n: number }) {\n    i = 0\n    loop until i >= input.n max 1000 {\n        Lent.owner__echo({ i: i })\n        i += 1\n    }\n    i\n}\n',
    );
    await at.again({ program: join(at.folder, "trips.remit") });
    const { id } = await at.owner.open();
    await at.owner.lend(id, "echo", { description: "Gives back", readOnly: true });
    // Where a trip waits for a timer, the turn stands still.
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval"] });
    try {
        const turn = await at.owner.submit(id, { input: { n: 20 } });
        const order: unknown[] = [];
        await watch(at.owner, id, ended(turn.id), async (event, data) => {
            if (event !== "call") return;
            order.push((data["args"] as { i: number }).i);
            await at.owner.result(id, data["id"] as string, { ok: true, value: 1 });
        });
        expect(order).toEqual(Array.from({ length: 20 }, (_, i) => i));
        expect(await at.owner.turn(id, turn.id)).toMatchObject({ status: "done", value: 20 });
    } finally {
        vi.useRealTimers();
    }
});
