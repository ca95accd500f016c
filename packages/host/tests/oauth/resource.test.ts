/** MCP servers that say themselves who gives tokens for them (ORS1, ORS2, MAU3): a real OAuth server, and a real MCP server over HTTP. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { loadConfig } from "../../src/config/config.ts";
import { loginHere } from "../../src/oauth/login.ts";
import type { Provider } from "../../src/oauth/providers.ts";
import { goodToken } from "../../src/oauth/renew.ts";
import { resourceOf, resourceProvider } from "../../src/oauth/resource.ts";
import { serverOf } from "../../src/oauth/server.ts";
import { openLedger } from "../../src/run/open.ts";
import { createTools } from "../../src/tool/tools.ts";
import { openTokens, type Token } from "../../src/token/store.ts";
import { type Room, room, serve } from "../credential/room.ts";
import { type OAuthRoom, oauthRoom } from "./server.ts";
import { createScrubber } from "../../src/secret/scrub.ts";

const { signal } = new AbortController();

interface Served extends AsyncDisposable {
    readonly url: string;
    readonly origin: string;
    readonly seen: (string | null)[];
    /** What its metadata say, and where they are said to be. */
    readonly says: { resource: string; servers: string[]; metadata: string | null };
}

/** One tool that says for whom the token is; a token has to be one for this server. */
async function mcpServer(there: OAuthRoom): Promise<Served> {
    const seen: (string | null)[] = [];
    const handler = createMcpHandler(() => {
        const server = new McpServer({ name: "desk", version: "1.0.0" });
        const about = { description: "Says hello.", inputSchema: z.object({}), annotations: { readOnlyHint: true } };
        server.registerTool("hello", about, () => ({ content: [{ type: "text", text: "hello" }] }));
        return server;
    });
    const http = createServer(async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        if (request.url === new URL(says.metadata ?? `${origin}/.well-known/oauth-protected-resource/mcp`).pathname) {
            response.writeHead(200, { "content-type": "application/json" });
            response.end(
                JSON.stringify({ resource: says.resource, authorization_servers: says.servers, scopes_supported: ["openid", "api:read"] }),
            );
            return;
        }
        const { authorization = null } = request.headers;
        seen.push(authorization);
        const token = await there.provider.AccessToken.find(authorization?.replace("Bearer ", "") ?? "");
        if (request.url !== "/mcp" || token?.isValid !== true || token.aud !== url) {
            const where = says.metadata === null ? "" : `, resource_metadata="${says.metadata}"`;
            response.writeHead(request.url === "/mcp" ? 401 : 404, { "www-authenticate": `Bearer realm="desk"${where}` }).end();
            return;
        }
        const headers = new Headers(
            Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
                value === undefined ? [] : [[name, String(value)]],
            ),
        );
        const { method = "GET" } = request;
        const answer = await handler.fetch(
            new Request(url, { method, headers, ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }) }),
        );
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        for await (const chunk of answer.body ?? []) response.write(chunk);
        response.end();
    });
    await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
    const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    const url = `${origin}/mcp`;
    const says: Served["says"] = { resource: url, servers: [there.issuer], metadata: `${origin}/about/metadata` };
    return {
        ...{ url, origin, seen, says },
        [Symbol.asyncDispose]: async () => {
            http.closeAllConnections();
            await new Promise((done) => http.close(done));
        },
    };
}

/** As `remit login URL` does it; the user's browser says yes. */
async function loggedIn(here: Room, there: OAuthRoom, url: string, as = ""): Promise<Token> {
    const provider = await resourceProvider(url, signal);
    const server = await serverOf(provider, { env: here.env, signal });
    const failed = Promise.withResolvers<never>();
    const tell = (at: string): void => void there.browse(at).then(fetch).catch(failed.reject);
    const token = await Promise.race([loginHere(server, { signal, tell }), failed.promise]);
    await (await openTokens(here.env)).put({ provider: url, as }, token);
    return token;
}

const PROGRAM = 'import tool Desk from "mcp://desk"\nmain func() { Desk.hello({}).text }';
const configured = (here: Room, url: string): string => here.write("remit.json", JSON.stringify({ mcpServers: { desk: { url } } }));

test("a 401 parks the run with the line that tells how to log in; after the login it goes on", async () => {
    await using here = room();
    await using there = await oauthRoom({ resources: true });
    await using desk = await mcpServer(there);
    configured(here, desk.url);
    const ledger = `${here.folder}/ledger.db`;
    const { result } = await here.run(PROGRAM, { trust: true, ledger });
    expect(result).toMatchObject({ status: "waiting", missing: { hint: `remit login ${desk.url}` } });
    const token = await loggedIn(here, there, desk.url);
    expect(token).toMatchObject({ resource: desk.url, issuer: there.issuer, origins: [desk.origin] });
    const opened = await openLedger(ledger, { env: here.env });
    const again = await opened.resume(result.run, { trust: true, env: here.env });
    expect(await again.value).toBe("hello");
    const config = loadConfig({ from: join(here.folder, "project"), env: here.env, trust: true });
    const tools = createTools(config, { workspace: here.folder, env: here.env, secrets: createScrubber() });
    expect((await tools.list()).find(({ uri }) => uri === "mcp://desk")).toMatchObject({ reachable: true, methods: [{ name: "hello" }] });
    await tools.close();
    await opened.close();
    expect(new Set(desk.seen)).toEqual(new Set([null, `Bearer ${token.access}`]));
});

test("metadata at the well-known place are found without a word in the 401, and a client is registered where none is known", async () => {
    await using here = room();
    await using there = await oauthRoom({ resources: true });
    await using desk = await mcpServer(there);
    desk.says.metadata = null;
    const token = await loggedIn(here, there, desk.url, "user:alice");
    expect(token.client).not.toBe("remit-test");
    expect(token.scopes).toEqual(["api:read"]);
});

test("ORS2: a token that is refused is renewed once, for the same resource, by the server that gave it", async () => {
    await using here = room();
    await using there = await oauthRoom({ resources: true });
    await using desk = await mcpServer(there);
    configured(here, desk.url);
    const token = await loggedIn(here, there, desk.url);
    await there.provider.AccessToken.find(token.access).then((found) => found?.destroy());
    desk.says.servers = ["http://127.0.0.1:1"];
    const { result } = await here.run(PROGRAM, { trust: true });
    expect(result).toMatchObject({ status: "done", value: "hello" });
    const store = await openTokens(here.env);
    const kept = (await store.get({ provider: desk.url, as: "" })) as Token;
    expect(kept.access).not.toBe(token.access);
    expect(kept).toMatchObject({ resource: desk.url, issuer: there.issuer });
    const provider = resourceOf(desk.url, kept);
    expect(await goodToken({ provider: provider as never, place: { provider: desk.url, as: "" }, store, env: here.env, signal })).toEqual(
        kept,
    );
});

test("attack, ORS1: metadata that speak of another server are refused, and its token goes to no other origin", async () => {
    await using here = room();
    await using there = await oauthRoom({ resources: true });
    await using desk = await mcpServer(there);
    await using thief = await mcpServer(there);
    thief.says.resource = desk.url;
    await expect(resourceProvider(thief.url, signal)).rejects.toMatchObject({ code: "refused" });
    thief.says.resource = thief.url;
    thief.says.metadata = desk.says.metadata;
    await expect(resourceProvider(thief.url, signal)).rejects.toMatchObject({ code: "refused" });
    await loggedIn(here, there, desk.url);
    configured(here, thief.url);
    const { result } = await here.run(PROGRAM, { trust: true });
    expect(result).toMatchObject({ status: "waiting", missing: { hint: `remit login ${thief.url}` } });
    // Under its own address it is not sent where another origin is said to have it, either.
    const store = await openTokens(here.env);
    const token = (await store.get({ provider: desk.url, as: "" })) as Token;
    await store.put({ provider: thief.url, as: "" }, token);
    expect((await here.run(PROGRAM, { trust: true })).result.status).toBe("waiting");
    expect(new Set(thief.seen)).toEqual(new Set([null]));
});

test("a header of the configuration is sent as it is, and its 401 waits for nothing", async () => {
    await using here = room();
    await using there = await oauthRoom({ resources: true });
    await using desk = await mcpServer(there);
    here.write("remit.json", JSON.stringify({ mcpServers: { desk: { url: desk.url, headers: { Authorization: "Bearer other" } } } }));
    await loggedIn(here, there, desk.url);
    expect((await here.run(PROGRAM, { trust: true })).result).toMatchObject({ status: "failed", failure: { kind: "unreachable" } });
    expect(new Set(desk.seen)).toEqual(new Set([null, "Bearer other"]));
});

test("an address at which no server listens is told as that, and not as a server without metadata", async () => {
    const http = createServer().listen(0, "127.0.0.1");
    await new Promise((done) => http.once("listening", done));
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
    await new Promise((done) => http.close(done));
    await expect(resourceProvider(url, signal)).rejects.toMatchObject({
        code: "unreachable",
        message: `${url} cannot be reached: nothing listens there`,
        hint: "look at the address, and whether its server runs",
    });
});

test("a client that may not be without a secret registers one, and renews with it", async () => {
    await using here = room();
    await using there = await oauthRoom({ resources: true, methods: ["client_secret_basic"] });
    await using desk = await mcpServer(there);
    configured(here, desk.url);
    const token = await loggedIn(here, there, desk.url);
    expect(token.secret?.length).toBeGreaterThan(20);
    await there.provider.AccessToken.find(token.access).then((found) => found?.destroy());
    const { result } = await here.run(PROGRAM, { trust: true });
    expect(result).toMatchObject({ status: "done", value: "hello" });
    expect(there.grants.refreshes).toBe(1);
});

test("a registration that leaves out when its secret ends is taken; a secret is shown where the server says nothing as RFC 8414 has it", async () => {
    await using here = room();
    await using there = await serve((request, response, body) => {
        const issuer = there.origin;
        const says = { issuer, token_endpoint: `${issuer}/token`, registration_endpoint: `${issuer}/register` };
        const registered = { client_id: "mine", client_secret: "s-1234567890", redirect_uris: ["http://127.0.0.1/callback"] };
        const given = { access_token: "renewed", token_type: "Bearer" };
        const isToken = request.url === "/token" && body.includes("refresh_token=old");
        const answer = request.url === "/register" ? registered : isToken ? given : says;
        response.writeHead(request.url === "/register" ? 201 : 200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
    const token = { access: "a", refresh: "old", expires: 1, issuer: there.origin, resource: "http://127.0.0.1:1/mcp" };
    const provider = resourceOf("http://127.0.0.1:1/mcp", token) as Provider;
    const server = await serverOf(provider, { env: here.env, signal });
    expect(server).toMatchObject({ client: { client_id: "mine" }, secret: "s-1234567890" });
    const store = await openTokens(here.env);
    const place = { provider: "http://127.0.0.1:1/mcp", as: "" };
    await store.put(place, { ...token, client: "mine", secret: "s-1234567890", server: `${there.origin}/token` });
    expect(await goodToken({ provider, place, store, env: here.env, signal })).toMatchObject({ access: "renewed", secret: "s-1234567890" });
    expect(there.seen.at(-1)?.authorization).toBe(`Basic ${Buffer.from("mine:s-1234567890").toString("base64")}`);
});

test("a 403 for want of scopes parks the run with the line that asks for them; scopes that a shell would read are never in it", async () => {
    await using here = room();
    await using there = await oauthRoom({ resources: true });
    await using desk = await mcpServer(there);
    await loggedIn(here, there, desk.url);
    let scope = "files:read files:write";
    await using strict = await serve((_, response) => {
        const wants = `Bearer error="insufficient_scope", scope="${scope}"`;
        response.writeHead(403, { "www-authenticate": wants }).end();
    });
    const url = `${strict.origin}/mcp`;
    configured(here, url);
    expect((await here.run(PROGRAM, { trust: true })).result).toMatchObject({
        status: "waiting",
        missing: {
            message: `${strict.origin} wants the scopes files:read, files:write`,
            hint: `remit login ${url} --scope files:read files:write`,
        },
    });
    scope = "x $(touch${IFS}pwned)";
    const { result } = await here.run(PROGRAM, { trust: true });
    expect(result).toMatchObject({ status: "failed", failure: { kind: "unreachable" } });
    expect(result.failure?.hint).toBeUndefined();
});
