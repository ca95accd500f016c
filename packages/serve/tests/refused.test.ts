/** What is refused: credentials, origins, hosts, scopes, bodies, and what a client says about another. */
import { connect } from "node:net";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { servers } from "../src/index.ts";
import { type Room, room } from "./room.ts";

let at: Room;
let session: string;
beforeAll(async () => {
    at = await room([{ text: "x" }], { origins: ["https://shop.example"], hostNames: ["remit.example", "lan.example:8443"] });
    session = (await at.owner.open()).id;
});
afterAll(() => at[Symbol.asyncDispose]());

const status = async (...given: Parameters<Room["raw"]>): Promise<number> => {
    const response = await at.raw(...given);
    await response.body?.cancel();
    return response.status;
};

/** A request as bytes, so that its headers are what they are. */
function bytes(text: string, to = at): Promise<string> {
    const { port, hostname } = new URL(to.server.url);
    return new Promise((resolve, reject) => {
        const socket = connect(Number(port), hostname, () => socket.write(text));
        let got = "";
        socket.on("data", (part) => {
            got += part.toString("latin1");
        });
        socket.on("close", () => resolve(got));
        socket.on("error", reject);
    });
}
const request = (line: string, headers: string, body = ""): Promise<string> =>
    bytes(`${line} HTTP/1.1\r\n${headers}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);

describe("who sends a request", () => {
    test("no credential and a wrong one are 401, and say how", async () => {
        const none = await at.raw("GET", "/v1/sessions", { headers: { authorization: "" } });
        expect([none.status, none.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="remit"']);
        expect(await none.json()).toMatchObject({ error: { kind: "unauthorised", hint: expect.stringContaining("Bearer") } });
        expect(await status("GET", "/v1/sessions", { headers: { authorization: "Bearer remit_wrong" } })).toBe(401);
        // A token counts in the header alone.
        expect(
            await status("GET", `/v1/sessions?token=${at.server.ownerToken}&access_token=${at.server.ownerToken}`, {
                headers: { authorization: "" },
            }),
        ).toBe(401);
    });

    test("an origin that is not listed is 403 and reads nothing; a listed one, the server's own and none at all pass", async () => {
        const other = await at.raw("GET", "/v1/sessions", { headers: { origin: "https://evil.example" } });
        expect([other.status, other.headers.get("access-control-allow-origin")]).toEqual([403, null]);
        for (const origin of ["null", "https://shop.example.evil.example", "http://shop.example", "https://shop.example:8443", "file://"])
            expect([origin, await status("GET", "/v1/sessions", { headers: { origin } })]).toEqual([origin, 403]);
        const listed = await at.raw("GET", "/v1/sessions", { headers: { origin: "https://shop.example" } });
        expect([listed.status, listed.headers.get("access-control-allow-origin"), listed.headers.get("vary")]).toEqual([
            200,
            "https://shop.example",
            expect.stringContaining("Origin"),
        ]);
        expect(await status("GET", "/v1/sessions", { headers: { origin: at.server.url } })).toBe(200);
        expect(await status("GET", "/v1/sessions")).toBe(200);
    });

    test("an extension reaches what it pairs with and its socket alone; a login of the browser is nothing to it", async () => {
        const origin = "chrome-extension://abcdefghijklmnopabcdefghijklmnop";
        const to = (method: string, path: string, from = origin) => status(method, path, { headers: { origin: from, authorization: "" } });
        expect(await to("POST", "/v1/pair")).toBe(400);
        expect([await to("GET", "/v1/me"), await to("POST", "/v1/login"), await to("GET", "/v1/sessions"), await to("GET", "/")]).toEqual([
            403, 403, 403, 403,
        ]);
        expect(await to("POST", "/v1/pair", "chrome-extension://evil.example/x")).toBe(403);
    });

    test("a preflight is answered to a listed origin without a credential, and says nothing to another", async () => {
        const ask = (origin: string): Promise<Response> =>
            at.raw("OPTIONS", "/v1/sessions", { headers: { origin, authorization: "", "access-control-request-method": "POST" } });
        const yes = await ask("https://shop.example");
        expect([yes.status, yes.headers.get("access-control-allow-origin")]).toEqual([204, "https://shop.example"]);
        const no = await ask("https://evil.example");
        expect([no.status, no.headers.get("access-control-allow-origin")]).toEqual([403, null]);
    });

    test("a name that the server is not reached by is refused, whatever address it resolves to", async () => {
        const token = `Authorization: Bearer ${at.server.ownerToken}\r\n`;
        expect(await request("GET /v1/sessions", `Host: evil.example\r\n${token}`)).toMatch(/^HTTP\/1\.1 421/);
        expect(await request("GET /v1/sessions", `Host: localhost.evil.example\r\n${token}`)).toMatch(/^HTTP\/1\.1 421/);
        expect(await request("GET /healthz", "Host: evil.example\r\n")).toMatch(/^HTTP\/1\.1 421/);
        expect(await request("GET /v1/sessions", `Host: remit.example\r\n${token}`)).toMatch(/^HTTP\/1\.1 200/);
    });

    test("a name of this machine counts at any port, a proxy's at its own; what a request line names counts, whatever Host says beside it", async () => {
        const { host, port } = new URL(at.server.url);
        const as = async (said: string, target = "/healthz"): Promise<[string, string, string]> => [
            said,
            target,
            (await request(`GET ${target}`, `Host: ${said}\r\n`)).slice(9, 12),
        ];
        for (const said of [
            host,
            `localhost:${port}`,
            "localhost:1",
            "localhost",
            "remit.example",
            "remit.example:443",
            `remit.example:${port}`,
            "lan.example:8443",
        ])
            expect(await as(said)).toEqual([said, "/healthz", "200"]);
        for (const said of ["remit.example:8443", "lan.example", "evil.example", `evil.example:${port}`, `localhost.evil.example:${port}`])
            expect(await as(said)).toEqual([said, "/healthz", "421"]);
        expect(await as(host, `http://${host}/healthz`)).toEqual([host, expect.anything(), "200"]);
        for (const target of ["http://evil.example/healthz", `http://evil.example:${port}/healthz`, "http://127.0.0.1:1/healthz"])
            expect(await as(host, target)).toEqual([host, target, "421"]);
    });

    test("the server's own origin has the scheme that it is reached by", async () => {
        const { host } = new URL(at.server.url);
        const from = (origin: string): Promise<number> => status("GET", "/v1/sessions", { headers: { origin } });
        expect([await from(`http://${host}`), await from(`https://${host}`), await from(`ws://${host}`)]).toEqual([200, 403, 403]);
        // A page of another port of this machine is another origin; one that came by a tunnel has the port that it asks for.
        expect(await from("http://127.0.0.1:1")).toBe(403);
        const tunnel = (origin: string): Promise<string> => request("GET /healthz", `Host: localhost:9000\r\nOrigin: ${origin}\r\n`);
        expect(await tunnel("http://localhost:9000")).toMatch(/^HTTP\/1\.1 200/);
        expect(await tunnel("http://localhost:3000")).toMatch(/^HTTP\/1\.1 403/);
        await using tls = await room([], { hostNames: ["remit.example"], secure: true });
        const token = `Authorization: Bearer ${tls.server.ownerToken}\r\n`;
        const over = async (name: string, origin: string): Promise<string> =>
            (await bytes(`GET /v1/me HTTP/1.1\r\nHost: ${name}\r\n${token}Origin: ${origin}\r\nConnection: close\r\n\r\n`, tls)).slice(
                9,
                12,
            );
        const own = new URL(tls.server.url).host;
        expect([
            await over("remit.example", "https://remit.example"),
            await over("remit.example", "http://remit.example"),
            await over(own, `http://${own}`),
        ]).toEqual(["200", "403", "200"]);
    });

    test("a scope that is missing is 403", async () => {
        const { client } = await at.client("reader", ["observe"]);
        await expect(client.open()).rejects.toMatchObject({ status: 403, message: expect.stringContaining("'submit'") });
        await expect(client.request("GET", "/v1/clients")).rejects.toMatchObject({ status: 403 });
        await expect(client.lend(session, "x", { description: "x" })).rejects.toMatchObject({ status: 403 });
        await expect(client.decide(session, "x", "once")).rejects.toMatchObject({ status: 403 });
        expect((await client.session(session)).id).toBe(session);
    });

    test("a revoked client is out at once; its file holds no token", async () => {
        const { client, id, token } = await at.client("gone");
        expect((await client.me()).id).toBe(id);
        expect(await at.owner.request("DELETE", `/v1/clients/${id}`)).toEqual({ status: "accepted" });
        await expect(client.me()).rejects.toMatchObject({ status: 401 });
        const folder = join(at.folder, ".local/state/remit/serve");
        expect(readFileSync(join(folder, "clients.json"), "utf8")).not.toContain(token);
        expect(statSync(join(folder, "clients.json")).mode & 0o777).toBe(0o600);
        expect(statSync(folder).mode & 0o777).toBe(0o700);
    });

    test("a client that was paired from a page belongs to that page's origin", async () => {
        const { code } = await at.owner.request<{ code: string }>("POST", "/v1/pairings", {});
        const paired = await at.raw("POST", "/v1/pair", {
            body: { code, name: "panel" },
            headers: { authorization: "", origin: "https://shop.example" },
        });
        expect(paired.status).toBe(201);
        const { token } = (await paired.json()) as { token: string };
        const as = (origin: string): Promise<number> => status("GET", "/v1/me", { headers: { authorization: `Bearer ${token}`, origin } });
        expect([await as("https://shop.example"), await as(at.server.url)]).toEqual([200, 403]);
        // Once.
        expect(await status("POST", "/v1/pair", { body: { code, name: "again" }, headers: { authorization: "" } })).toBe(403);
    });

    test("guessing codes is stopped, and does not stop those who have a token", async () => {
        await using own = await room([]);
        const { code } = await own.owner.request<{ code: string }>("POST", "/v1/pairings", {});
        const guess = async (said: string): Promise<number> =>
            (await own.raw("POST", "/v1/pair", { body: { code: said, name: "x" }, headers: { authorization: "" } })).status;
        const all: number[] = [];
        for (let i = 0; i < 11; i++) all.push(await guess(`aaaa-${String(i).padStart(4, "0")}`));
        expect(all).toEqual([...Array(10).fill(403), 429]);
        expect(await guess(code)).toBe(429);
        for (let i = 0; i < 21; i++) await own.raw("GET", "/v1/me", { headers: { authorization: "Bearer wrong" } });
        expect((await own.raw("GET", "/v1/me", { headers: { authorization: "Bearer wrong" } })).status).toBe(429);
        expect((await own.raw("GET", "/v1/me")).status).toBe(200);
    });
});

describe("the console's login", () => {
    async function login(): Promise<{ cookie: string; csrf: string }> {
        const response = await at.raw("POST", "/v1/login", { body: { code: await at.server.loginCode() }, headers: { authorization: "" } });
        expect(response.status).toBe(200);
        const set = response.headers.get("set-cookie") ?? "";
        expect(set).toMatch(/; HttpOnly; SameSite=Strict/);
        return { cookie: set.split(";")[0] as string, csrf: ((await response.json()) as { csrf: string }).csrf };
    }

    test("a cookie reads; it changes nothing without the token against forgery", async () => {
        const { cookie, csrf } = await login();
        const headers = { authorization: "", cookie };
        expect(await status("GET", "/v1/sessions", { headers })).toBe(200);
        expect(await status("POST", "/v1/sessions", { body: {}, headers })).toBe(403);
        expect(await status("POST", "/v1/sessions", { body: {}, headers: { ...headers, "x-remit-csrf": "guess" } })).toBe(403);
        expect(await status("POST", "/v1/sessions", { body: {}, headers: { ...headers, "x-remit-csrf": csrf } })).toBe(201);
        // A form of another site: the browser says where it comes from.
        expect(
            await status("POST", "/v1/sessions", {
                body: {},
                headers: { ...headers, "x-remit-csrf": csrf, origin: "https://evil.example" },
            }),
        ).toBe(403);
        expect(await status("POST", "/v1/logout", { headers: { ...headers, "x-remit-csrf": csrf } })).toBe(200);
        expect(await status("GET", "/v1/sessions", { headers })).toBe(401);
    });

    test("a code is used once", async () => {
        const body = { code: await at.server.loginCode() };
        const use = (): Promise<number> => status("POST", "/v1/login", { body, headers: { authorization: "" } });
        expect([await use(), await use()]).toEqual([200, 403]);
    });

    test("a page is framed by none and runs no script but the server's own", async () => {
        const page = await at.raw("GET", "/");
        expect(page.headers.get("content-security-policy")).toMatch(/script-src 'self';.*frame-ancestors 'none'/);
        expect(page.headers.get("x-frame-options")).toBe("DENY");
        for (const path of [
            "/../package.json",
            "/%2e%2e/package.json",
            "/..%2fpackage.json",
            "/console/../../package.json",
            "/constructor",
            "/__proto__",
        ])
            expect([path, await request(`GET ${path}`, `Host: ${new URL(at.server.url).host}\r\n`)]).toEqual([
                path,
                expect.stringMatching(/^HTTP\/1\.1 404/),
            ]);
    });
});

describe("what is sent", () => {
    test("the wrong method, media type, form and size are told apart", async () => {
        const method = await at.raw("PATCH", "/v1/sessions");
        expect([method.status, method.headers.get("allow")]).toEqual([405, "POST, GET"]);
        expect(
            await status("POST", "/v1/sessions", { text: "a=b", headers: { "content-type": "application/x-www-form-urlencoded" } }),
        ).toBe(415);
        expect(await status("POST", "/v1/sessions", { text: "{" })).toBe(400);
        expect(await status("POST", "/v1/sessions", { text: "[]" })).toBe(400);
        expect(await status("POST", "/v1/sessions", { body: { clientId: "somebody" } })).toBe(400);
        expect(await status("POST", "/v1/sessions", { body: { title: "x".repeat(2 << 20) } })).toBe(413);
        expect(await status("GET", "/v1/sessions/none")).toBe(404);
        expect(await status("GET", "/v1/nothing")).toBe(404);
        expect(await status("GET", `/v1/sessions/${session}/events?from=-1`)).toBe(400);
        expect(await status("POST", `/v1/sessions/${session}/turns`, { body: {} })).toBe(400);
        expect(await status("POST", `/v1/sessions/${session}/turns`, { body: { text: "a", input: {} } })).toBe(400);
    });

    test("a body that says less than it is, or never comes, keeps nobody waiting", async () => {
        const token = `Host: ${new URL(at.server.url).host}\r\nAuthorization: Bearer ${at.server.ownerToken}\r\nContent-Type: application/json\r\n`;
        const chunked = await bytes(
            `POST /v1/sessions HTTP/1.1\r\n${token}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${"100000\r\n".concat("x".repeat(0x100000), "\r\n").repeat(2)}0\r\n\r\n`,
        );
        expect(chunked).toMatch(/^HTTP\/1\.1 413/);
        const { port, hostname } = new URL(at.server.url);
        const slow = connect(Number(port), hostname, () => slow.write(`POST /v1/sessions HTTP/1.1\r\n${token}Content-Length: 5\r\n\r\n{`));
        slow.on("error", () => undefined);
        expect(await status("GET", "/v1/sessions")).toBe(200);
        slow.destroy();
    });

    test("a tool has a plain name and a description of at most 4,096 bytes", async () => {
        const put = (name: string, description: string): Promise<number> =>
            status("PUT", `/v1/sessions/${session}/tools/${name}`, { body: { description } });
        expect(await put("ok", "é".repeat(2000))).toBe(200);
        expect(await put("ok", "é".repeat(2100))).toBe(413);
        for (const name of ["a-b", "1a", "__proto__", "a".repeat(41)]) expect([name, await put(name, "x")]).toEqual([name, 400]);
        expect(await at.owner.withdraw(session, "ok")).toEqual({ status: "accepted" });
        expect(await at.owner.withdraw(session, "ok")).toMatchObject({ status: "rejected" });
    });

    test("a call, a question and a turn that are not there change nothing", async () => {
        expect(await at.owner.result(session, "none", { ok: true, value: 1 })).toMatchObject({ status: "rejected" });
        expect(await at.owner.decide(session, "none", "once")).toMatchObject({ status: "rejected" });
        expect(await at.owner.answer(session, "none", "x")).toMatchObject({ status: "rejected" });
        expect(await at.owner.cancel(session, "t99")).toMatchObject({ status: "rejected" });
        const other = await at.client("other", ["observe", "submit"]);
        expect(await other.client.close(session)).toMatchObject({ status: "rejected" });
    });

    test("a decision that is none is 400", async () => {
        for (const decision of ["yes", "approve", "", 1, null, ["once"]])
            expect([decision, await status("POST", `/v1/sessions/${session}/asks/x/decision`, { body: { decision } })]).toEqual([
                decision,
                400,
            ]);
    });

    test("what goes wrong says no path and no stack", async () => {
        const all = await Promise.all([
            at.raw("GET", "/v1/sessions/x"),
            at.raw("POST", "/v1/sessions", { text: "{" }),
            at.raw("GET", "/nothing"),
        ]);
        for (const one of all) expect(await one.text()).not.toMatch(/node:|\/src\/|\.ts/);
    });
});

test("where the server is stands in a private file, which goes with it; one of a dead process is no server", async () => {
    const own = await room([]);
    const folder = join(own.folder, ".local/state/remit/serve");
    const [found] = servers(folder);
    expect(found).toMatchObject({ url: own.server.url, token: own.server.ownerToken, pid: process.pid });
    const [name] = readdirSync(folder).filter((one) => one.startsWith("server-"));
    expect(statSync(join(folder, name as string)).mode & 0o777).toBe(0o600);
    const { writeFileSync } = await import("node:fs");
    writeFileSync(join(folder, "server-1-1.json"), JSON.stringify({ ...found, pid: 2 ** 22 + 1, started: "9999" }));
    writeFileSync(join(folder, "server-2-2.json"), "{");
    writeFileSync(join(folder, "server-3-3.json"), JSON.stringify({ ...found, start: "another process" }));
    expect(servers(folder)).toEqual([found]);
    await own.server.stop();
    expect(servers(folder)).toEqual([]);
    expect(readdirSync(folder).filter((one) => one.startsWith("server-"))).toEqual(["server-2-2.json"]);
});

test("the description names every address", async () => {
    const { paths, openapi } = await at.owner.request<{ openapi: string; paths: Record<string, object> }>("GET", "/v1/openapi.json");
    expect(openapi).toBe("3.1.0");
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(["/v1/sessions/{session}/turns", "/v1/pair"]));
    for (const [path, rows] of Object.entries(paths))
        for (const [method, row] of Object.entries(rows))
            if ((row as { security?: unknown[] }).security?.length !== 0)
                expect([
                    path,
                    method,
                    await status(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, "x"), { headers: { authorization: "" } }),
                ]).toEqual([path, method, 401]);
});
