/** PRS1–PRS3, STM1, STM2, SHC1, SHC2: two server processes on one PostgreSQL are one server. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LedgerStore, openProcess, openStore } from "@remit/host";
import type { Json } from "@remit/language";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { postgres, postgresOfItsOwn } from "../../host/tests/postgres-server.ts";
import { scriptAt } from "../../host/tests/script.ts";
import { SharedClients } from "../src/access/shared.ts";
import { Processes } from "../src/team/processes.ts";
import { type FoundServer, ServeClient, Server, servers } from "../src/index.ts";
import { calls, ended, watch } from "./room.ts";

const SERVER = scriptAt("packages/serve/tests/process/server.ts");
const CLICK = { description: "Clicks", input: { type: "object" } };

let folder: string;
let address: string;
let children: Started[] = [];
beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "remit-processes-"));
    address = (await postgres()).fresh();
});
afterEach(async () => {
    await Promise.all(children.map((one) => one.kill()));
    children = [];
    rmSync(folder, { recursive: true, force: true });
});

interface Started {
    readonly url: string;
    /** Of its owner. */
    readonly owner: ServeClient;
    /** The same client at this process. */
    as(token: string): ServeClient;
    raw(method: string, path: string, token: string, body?: Json, headers?: { readonly [name: string]: string }): Promise<Response>;
    kill(): Promise<void>;
}

async function start(name: string): Promise<Started> {
    const state = join(folder, name);
    const child: ChildProcess = spawn(process.execPath, [SERVER, folder, JSON.stringify({ ledger: address, state })], {
        stdio: ["ignore", "inherit", "inherit"],
    });
    let found: FoundServer | undefined;
    while (found === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        if (child.exitCode !== null) throw new Error("the server ended");
        found = servers(join(state, "serve"))[0];
    }
    const { url, token } = found;
    const made: Started = {
        url,
        owner: new ServeClient({ url, token }),
        as: (token) => new ServeClient({ url, token }),
        raw: (method, path, token, body, headers = {}) =>
            fetch(url + path, {
                method,
                headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
                ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            }),
        kill: async () => {
            if (child.exitCode !== null || child.signalCode !== null) return;
            child.kill("SIGKILL");
            await once(child, "exit");
        },
    };
    children.push(made);
    return made;
}

function says(replies: Json): void {
    writeFileSync(join(folder, "replies.json"), JSON.stringify(replies));
}
async function paired(at: Started, name = "panel"): Promise<{ id: string; token: string }> {
    return at.owner.request<{ id: string; token: string }>("POST", "/v1/clients", {
        name,
        scopes: ["observe", "submit", "lend", "approve"],
    });
}
async function ledger(name = "reader"): Promise<LedgerStore> {
    return openStore(address, { config: join(folder, ".config/remit"), state: join(folder, name) });
}
const nameOf = (client: string): string => client.replaceAll("-", "_");

test("a turn is submitted at one process and read, approved and carried out at the other", async () => {
    const [a, b] = await Promise.all([start("a"), start("b")]);
    const { id: client, token } = await paired(a);
    says({
        rules: [
            { when: '"clicked"', reply: { text: "bought" } },
            { when: "buy", reply: calls(client, "click") },
        ],
    });
    const [mineA, mineB] = [a.as(token), b.as(token)];
    const { id } = await mineA.open({ title: "shop" });
    const reading = watch(
        mineB,
        id,
        (event) => event === "turn.ended",
        async (event, data) => {
            if (event === "session.opened") {
                // The tool is lent, and its turn submitted, once its client reads at the other process.
                await mineB.lend(id, "click", CLICK);
                await mineA.submit(id, { text: "buy" });
            }
            if (event === "ask.requested") expect(await mineB.decide(id, data["ask"] as string, "once")).toEqual({ status: "accepted" });
            if (event === "call") await mineB.result(id, data["id"] as string, { ok: true, value: "clicked" });
        },
    );
    const seen = (await reading).flatMap(({ seq, event }) => (seq === undefined ? [] : [`${seq} ${event}`]));
    const there = await watch(mineA, id, (event) => event === "turn.ended");
    expect(seen).toEqual(there.flatMap(({ seq, event }) => (seq === undefined ? [] : [`${seq} ${event}`])));
    expect(await mineB.session(id)).toMatchObject({ title: "shop", turns: [{ status: "done", value: "bought" }] });
    expect((await b.owner.request<{ sessions: { id: string }[] }>("GET", "/v1/sessions")).sessions.map((one) => one.id)).toEqual([id]);
    expect((await mineB.session(id)).tools.map(({ name }) => name)).toEqual([`${nameOf(client)}__click`]);
    const store = await ledger();
    for (const run of [id, `${id}.t1`]) expect(await store.verify(run)).toMatchObject({ bound: "yes", ok: true });
    await store.close();
});

test("tokens, codes, keys and revocation hold at every process", async () => {
    says([{ text: "one" }, { text: "two" }]);
    const [a, b] = await Promise.all([start("a"), start("b")]);
    const { code } = await a.owner.request<{ code: string }>("POST", "/v1/pairings", {});
    const pair = (at: Started): Promise<Response> => at.raw("POST", "/v1/pair", "", { code, name: "page" });
    const both = await Promise.all([pair(a), pair(b)]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 403]);
    const won = both.find(({ status }) => status === 201) as Response;
    const { id: client, token } = (await won.json()) as { id: string; token: string };
    const { id } = await a.as(token).open();
    const key = { "idempotency-key": "k1" };
    const first = await a.raw("POST", `/v1/sessions/${id}/turns`, token, { text: "hello" }, key);
    const again = await b.raw("POST", `/v1/sessions/${id}/turns`, token, { text: "hello" }, key);
    const other = await b.raw("POST", `/v1/sessions/${id}/turns`, token, { text: "else" }, key);
    expect([first.status, again.status, other.status]).toEqual([202, 202, 409]);
    expect(((await again.json()) as { id: string }).id).toBe(((await first.json()) as { id: string }).id);
    expect((await b.raw("GET", `/v1/sessions/${id}`, token)).status).toBe(200);
    expect((await b.raw("GET", "/v1/sessions/session-none", token)).status).toBe(404);
    expect((await b.raw("GET", `/v1/sessions/${id}`, "remit_wrong")).status).toBe(401);
    // A stream at one process ends with what is revoked at the other.
    const stream = await b.raw("GET", `/v1/sessions/${id}/events`, token);
    await stream.body?.getReader().read();
    expect(await a.owner.request("DELETE", `/v1/clients/${client}`)).toEqual({ status: "accepted" });
    while ((await b.raw("GET", `/v1/sessions/${id}`, token)).status !== 401) await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await b.owner.request<{ clients: { id: string; revoked?: string }[] }>("GET", "/v1/clients")).clients).toMatchObject([
        { id: client, revoked: expect.any(String) },
    ]);
    await expect(b.as(token).session(id)).rejects.toMatchObject({ status: 401 });
});

test("killed in the middle of a turn: the other process takes the session, and nothing that has an outcome is performed again", async () => {
    const [a, b] = await Promise.all([start("a"), start("b")]);
    const { id: client, token } = await paired(a);
    says({
        rules: [
            { when: '"second"', reply: { text: "bought" } },
            { when: '"first"', reply: calls(client, "pay") },
            { when: "buy", reply: calls(client, "click") },
        ],
    });
    const [mineA, mineB] = [a.as(token), b.as(token)];
    const { id } = await mineA.open();
    const made: string[] = [];
    let isKilled = false;
    const lend = async (): Promise<void> => {
        for (const tool of ["click", "pay"]) await mineB.lend(id, tool, CLICK);
    };
    let turn = "";
    const seen = await watch(
        mineB,
        id,
        (event, data) => event === "turn.ended" && data["turn"] === turn,
        async (event, data) => {
            if (event === "session.opened") {
                await lend();
                turn = (await mineA.submit(id, { text: "buy" })).id;
            }
            if (event === "lent.withdrawn" && isKilled && data["tool"] === "pay") await lend();
            if (event === "call") {
                made.push(data["tool"] as string);
                await mineB.result(id, data["id"] as string, { ok: true, value: data["tool"] === "click" ? "first" : "second" });
            }
            if (event !== "ask.requested") return;
            // The first call has its outcome; the question about the second one waits when the process is killed.
            if (made.length === 1 && !isKilled) {
                isKilled = true;
                await a.kill();
            } else await mineB.decide(id, data["ask"] as string, "once");
        },
    );
    expect(isKilled).toBe(true);
    expect(made).toEqual(["click", "pay"]);
    expect(await mineB.turn(id, turn)).toMatchObject({ status: "done", value: "bought" });
    const numbers = seen.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => i + 1));
    await b.kill();
    const store = await ledger();
    for (const run of [id, `${id}.${turn}`]) expect(await store.verify(run)).toMatchObject({ ok: true, bound: "yes" });
    await store.close();
});

test("STM2: a WebSocket at one process ends when a session that it hears moves from another one, and not when one is closed", async () => {
    const [a, b] = await Promise.all([start("a"), start("b")]);
    const { token } = await paired(a);
    const [gone, closed] = await Promise.all([a.as(token).open(), a.as(token).open()]);
    const socket = new WebSocket(`${b.url.replace("http", "ws")}/v1/socket`, { headers: { authorization: `Bearer ${token}` } });
    const heard: string[] = [];
    socket.on("open", () => {
        for (const { id } of [closed, gone]) socket.send(JSON.stringify({ listen: id, from: 0 }));
    });
    socket.on("message", (data) => {
        const { session, event } = JSON.parse(String(data)) as { readonly session: string; readonly event: string };
        heard.push(`${session === gone.id ? "gone" : "closed"} ${event}`);
        if (heard.filter((one) => one.endsWith("caught-up")).length === 2 && event === "caught-up") void a.as(token).close(closed.id);
        if (event === "session.closed") void a.as(token).submit(gone.id, { text: "still heard" });
        if (event === "turn.submitted") void a.kill();
    });
    const [code] = (await once(socket, "close")) as [number];
    expect(code).toBe(4410);
    expect(heard).toEqual(expect.arrayContaining(["closed session.closed", "gone turn.submitted"]));
});

test("a server knows the sessions of the others as soon as it can be found", async () => {
    const a = await start("a");
    const { id } = await a.owner.open();
    const b = await start("b");
    expect((await b.owner.session(id)).id).toBe(id);
    const more = await Promise.all([a.owner.open(), a.owner.open(), b.owner.open()]);
    const ids = [id, ...more.map((one) => one.id)].sort();
    for (const { owner } of [a, b]) expect((await owner.sessions()).sessions.map((one) => one.id).sort()).toEqual(ids);
});

test("a server whose database is away says that it is not ready, in a time that a balancer waits; it is again when that is back", async () => {
    const own = await postgresOfItsOwn();
    address = own.fresh();
    const a = await start("a");
    const ready = async (): Promise<unknown> => (await fetch(`${a.url}/readyz`)).json();
    expect(await ready()).toEqual({ ok: true });
    await own.kill();
    expect(await ready()).toEqual({ ok: false, why: "its ledger does not answer" });
    await own.start();
    while (((await ready()) as { ok: boolean }).ok !== true) await new Promise((resolve) => setTimeout(resolve, 100));
    await a.kill();
    await own.stop();
});

test("RDY3: a server whose database takes no changes says so, also where no client asks for one; it is ready again when the database takes them", async () => {
    const own = await postgresOfItsOwn();
    address = own.fresh();
    const a = await start("a");
    const { id } = await a.owner.open();
    const ready = async (): Promise<unknown> => (await fetch(`${a.url}/readyz`)).json();
    const readOnly = async (is: "on" | "off"): Promise<void> => {
        await own.query(`ALTER SYSTEM SET default_transaction_read_only = ${is}`);
        await own.query("SELECT pg_reload_conf()");
    };
    await readOnly("on");
    await expect.poll(ready, { timeout: 60_000 }).toEqual({ ok: false, why: "its ledger takes nothing now: it is read-only" });
    await expect(a.owner.submit(id, { text: "Hello" })).rejects.toMatchObject({ status: 503, kind: "ledger" });
    await readOnly("off");
    await expect.poll(ready, { timeout: 60_000 }).toEqual({ ok: true });
    expect((await a.owner.submit(id, { text: "Hello" })).id).toBe("t1");
    await a.kill();
    await own.stop();
});

test("a server with another key is refused, with what to do", async () => {
    says([]);
    const a = await start("a");
    expect(a.url).toMatch(/^http/);
    const other = Server.start({
        model: "mock:",
        ledger: address,
        state: join(folder, "b"),
        process: openProcess({ env: { HOME: join(folder, "elsewhere"), PATH: process.env["PATH"] }, cwd: folder }),
    });
    await expect(other).rejects.toMatchObject({ name: "ServeError", message: expect.stringContaining("another key") });
});

test("what is said by who has not the key is not heard", async () => {
    says([{ text: "one" }]);
    const [a] = await Promise.all([start("a")]);
    const { token } = await paired(a);
    const { id } = await a.as(token).open();
    const server = await postgres();
    const schema = new URL(address).searchParams.get("schema") as string;
    const forged = {
        kind: "request",
        id: "f",
        session: id,
        client: { id: "owner", name: "owner", scopes: ["submit"], created: "" },
        method: "POST",
    };
    const text = JSON.stringify({ ...forged, path: `/v1/sessions/${id}/turns`, headers: {}, body: '{"text":"forged"}' });
    const envelope = { id: "f".repeat(24), from: "ff", at: Date.now(), code: "0".repeat(64), text };
    await server.query("SELECT pg_notify($1, $2)", [`remit_${schema}_team`, JSON.stringify(envelope)]);
    for (const no of ["no message", "null", "7", "[]", '{"id":1,"at":"now"}'])
        await server.query("SELECT pg_notify($1, $2)", [`remit_${schema}_team`, no]);
    // A token that was put into the table by another hand is none.
    for (const [name, no] of ['["{}","00"]', "null", "no JSON", "[]"].entries())
        await server.query(`INSERT INTO ${schema}.shared VALUES ('client', $1, 1, NULL, $2)`, [`evil${name}`, no]);
    await watch(a.as(token), id, ended((await a.as(token).submit(id, { text: "mine" })).id));
    expect((await a.as(token).session(id)).turns.map((turn) => turn.text)).toEqual(["mine"]);
    expect((await a.owner.request<{ clients: unknown[] }>("GET", "/v1/clients")).clients.length).toBe(1);
});

test("a picture comes whole from another process, and a logout counts at every one", async () => {
    says([{ text: "seen" }]);
    const [a, b] = await Promise.all([start("a"), start("b")]);
    const { token } = await paired(a);
    const { id } = await a.as(token).open();
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const turn = await a.as(token).request<{ id: string }>("POST", `/v1/sessions/${id}/turns`, {
        text: "look",
        images: [{ media_type: "image/png", data: png }],
    });
    const picture = await b.raw("GET", `/v1/sessions/${id}/turns/${turn.id}/images/0`, token);
    expect(picture.headers.get("content-type")).toBe("image/png");
    expect(picture.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    expect(Buffer.from(await picture.arrayBuffer()).toString("base64")).toBe(png);
    const chats = await Promise.all([a, b].map((at) => at.raw("GET", `/v1/chat/${id}`, token)));
    expect(chats.map(({ status }) => status)).toEqual([200, 421]);

    const c = await Server.start({
        model: "mock:",
        ledger: address,
        state: join(folder, "c"),
        process: openProcess({ env: { HOME: folder, PATH: process.env["PATH"] }, cwd: folder }),
    });
    const login = await b.raw("POST", "/v1/login", "", { code: await c.loginCode() }, { authorization: "" });
    const said = /^remit_session\d+=([^;]+)/.exec(login.headers.get("set-cookie") ?? "")?.[1];
    const { csrf } = (await login.json()) as { csrf: string };
    const sends = async (method: string, url: string, path: string): Promise<number> => {
        const headers = { cookie: `remit_session${new URL(url).port}=${said}`, "x-remit-csrf": csrf };
        return (await fetch(url + path, { method, headers })).status;
    };
    const who = (): Promise<number[]> => Promise.all([a, b, c].map(({ url }) => sends("GET", url, "/v1/me")));
    expect(await who()).toEqual([200, 200, 200]);
    expect(await sends("POST", a.url, "/v1/logout")).toBe(200);
    expect(await who()).toEqual([401, 401, 401]);
    await c.stop();
});

test("PRS4: a turn is cancelled whose client waited for it at another process, and went away", async () => {
    const [a, b] = await Promise.all([start("a"), start("b")]);
    const { id: client, token } = await paired(a);
    says([calls(client, "click")]);
    const mine = a.as(token);
    const { id } = await mine.open();
    const waits = new AbortController();
    const seen = await watch(
        mine,
        id,
        (event) => event === "turn.ended",
        async (event) => {
            if (event === "session.opened") {
                await mine.lend(id, "click", CLICK);
                const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
                const init = { method: "POST", headers, body: JSON.stringify({ text: "buy" }), signal: waits.signal };
                fetch(`${b.url}/v1/sessions/${id}/turns?wait=1`, init).catch((error: unknown) => {
                    if (!waits.signal.aborted) throw error;
                });
            }
            if (event === "ask.requested") waits.abort();
        },
    );
    expect(seen.at(-1)?.data).toMatchObject({ status: "cancelled" });
});

/** Two on one database, of which the first has the session `session-x`; `open` says what the ledger says of it. */
async function two(
    open: () => { epoch: number; live: boolean },
    perform: () => Promise<{ status: number; headers: Record<string, never>; body: string }>,
    lose: number,
    { lost = "answered", method = "GET" }: { readonly lost?: string; readonly method?: string } = {},
) {
    const stores = await Promise.all([ledger("one"), ledger("two")]);
    let left = lose;
    const taken = new Map<string, never>();
    const made = await Promise.all(
        stores.map((store, i) => {
            const team = store.team as NonNullable<LedgerStore["team"]>;
            return Processes.among({
                team: {
                    ...team,
                    open: async () => [{ id: "session-x", ...open() }],
                    say: async (message) => {
                        if ((message as { kind: string }).kind !== lost || left-- <= 0) await team.say(message);
                    },
                },
                sessions: i === 0 ? new Map([["session-x", {} as never]]) : taken,
                epochOf: () => 1,
                perform,
                take: async (id) => void taken.set(id, {} as never),
                lost: () => undefined,
                clients: () => undefined,
                failed: (error) => {
                    throw error;
                },
            });
        }),
    );
    const client = { id: "c", name: "c", scopes: [], created: "" };
    const request = { session: "session-x", client, method, path: "/v1/sessions/session-x", headers: {}, body: "" };
    return {
        ask: () => (made[1] as Processes).forward(request, new AbortController().signal),
        /** The second one has the session from now on. */
        arrives: () => void taken.set("session-x", {} as never),
        [Symbol.asyncDispose]: async () => {
            await Promise.all(made.map((one) => one.close()));
            await Promise.all(stores.map((one) => one.close()));
        },
    };
}

test("PRS1: an answer that is lost on its way is said again, and the request is performed once", async () => {
    let performed = 0;
    const perform = async () => ({ status: 200, headers: {}, body: `${++performed}` });
    await using both = await two(() => ({ epoch: 1, live: true }), perform, 2);
    expect(await both.ask()).toMatchObject({ status: 200, body: "1" });
});

test("PRS3: a request is given up whose process lost the session to a third one before it answered", async () => {
    let epoch = 1;
    const perform = () => {
        // What the ledger says soon after.
        setTimeout(() => epoch++, 1000);
        return new Promise<never>(() => undefined);
    };
    await using both = await two(() => ({ epoch, live: true }), perform, 0);
    expect(await both.ask()).toBeNull();
});

test.each([
    ["POST", null],
    ["GET", { body: "2" }],
])("PRS3: a %s that a process did and was killed before it could say so is done again only where it reads", async (method, answer) => {
    let performed = 0;
    let live = true;
    const perform = async () => {
        if (++performed > 1) return { status: 200, headers: {}, body: `${performed}` };
        live = false;
        return new Promise<never>(() => undefined);
    };
    await using both = await two(() => ({ epoch: live ? 1 : 2, live }), perform, Number.POSITIVE_INFINITY, { lost: "taken", method });
    const said = await both.ask();
    if (answer === null) expect(said).toBeNull();
    else expect(said).toMatchObject(answer);
    expect(performed).toBe(method === "GET" ? 2 : 1);
});

test("PRS3: what reads is done here where the session came here while its old process was asked", async () => {
    const perform = async () => ({ status: 200, headers: {}, body: "here" });
    await using both = await two(() => ({ epoch: 1, live: true }), perform, Number.POSITIVE_INFINITY, { lost: "request" });
    const said = both.ask();
    both.arrives();
    expect(await said).toMatchObject({ status: 200, body: "here" });
});

test("SHC1: a client that is revoked while the list is read stays revoked", async () => {
    const store = await ledger();
    const { shared } = store.team as NonNullable<LedgerStore["team"]>;
    let wait: Promise<void> | null = null;
    const clients = new SharedClients(
        {
            ...shared,
            list: async (kind) => {
                const rows = await shared.list(kind);
                await wait;
                return rows;
            },
        },
        () => undefined,
    );
    const { client, token } = await clients.mint("page", ["observe"]);
    let go = (): void => undefined;
    wait = new Promise((resolve) => (go = resolve));
    const reading = clients.refresh(true);
    await shared.list("client");
    await clients.revoke(client.id);
    go();
    await reading;
    expect(clients.of(token)).toBeNull();
    await store.close();
});
