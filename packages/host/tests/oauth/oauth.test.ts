/** Logging in, renewing and taking back, against a real OAuth server (OAS1, OAL1, OAI1, OAR1–OAR3, OAP1, CST1, CST2). */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import { type LoginOptions, loginElsewhere, loginHere } from "../../src/oauth/login.ts";
import { mayGo, providerOf } from "../../src/oauth/providers.ts";
import { goodToken, revoked } from "../../src/oauth/renew.ts";
import { serverOf } from "../../src/oauth/server.ts";
import { openLedger } from "../../src/run/open.ts";
import { openTokens, type Token, type TokenStore } from "../../src/token/store.ts";
import { echoing, type Room, room, serve } from "../credential/room.ts";
import { type OAuthRoom, oauthRoom } from "./server.ts";

const { signal } = new AbortController();
const PLACE = { provider: "acme", as: "user:alice" };

/** Everything that a login needs; the provider is described in a trusted file. */
async function client(here: Room, there: OAuthRoom) {
    here.write("remit.json", JSON.stringify({ oauth: { acme: there.described } }));
    const config = loadConfig({ from: join(here.folder, "project"), env: here.env, trust: true });
    const provider = providerOf("acme", config);
    const store: TokenStore = await openTokens(here.env);
    const server = await serverOf(provider, { env: here.env, signal });
    const good = (refused?: string): Promise<Token | null> => goodToken({ provider, place: PLACE, store, env: here.env, signal, refused });
    /** In a browser that follows everything, or does what a test wants with the redirect. */
    const login = (
        visit: (redirect: string) => Promise<unknown> = (redirect) => fetch(redirect),
        more: Partial<LoginOptions> = {},
    ): Promise<Token> => {
        // A login whose browser failed would wait for ever.
        const failed = Promise.withResolvers<never>();
        const tell = (url: string): void => void there.browse(url).then(visit).catch(failed.reject);
        return Promise.race([loginHere(server, { signal, tell, ...more }), failed.promise]);
    };
    return { provider, store, server, good, login };
}

const program = (there: OAuthRoom): string =>
    `memory static (\n    fetch "${there.api}/me" with { credential: oauth("acme"), as: "user:alice" }\n)`;

describe("authorization code with PKCE", () => {
    test("a user logs in; the token is sealed in the store, sent to the API, and in no record", async () => {
        await using here = room();
        await using there = await oauthRoom();
        const { store, login } = await client(here, there);
        const token = await login();
        expect(token).toMatchObject({ scopes: ["openid", "api:read"], client: "remit-test", origins: [there.api] });
        await store.put(PLACE, token);
        const { result, record } = await here.run(program(there), { trust: true });
        expect(result.value).toBe("for alice");
        expect(there.seen).toEqual([`Bearer ${token.access}`]);
        for (const value of [token.access, token.refresh as string]) expect(record).not.toContain(value);
    });

    test("attack, OAL1: a redirect with another state, or with two, ends nothing and is exchanged for nothing", async () => {
        await using here = room();
        await using there = await oauthRoom();
        const { login } = await client(here, there);
        const statuses: number[] = [];
        const token = await login(async (redirect) => {
            const forged = new URL(redirect);
            forged.searchParams.set("state", "of-another-login");
            statuses.push((await fetch(forged)).status);
            forged.searchParams.append("state", new URL(redirect).searchParams.get("state") as string);
            statuses.push((await fetch(forged)).status);
            statuses.push((await fetch(new URL("/elsewhere", redirect))).status);
            expect(there.grants.requests).toBe(0);
            statuses.push((await fetch(redirect)).status);
        });
        expect(statuses).toEqual([400, 400, 404, 200]);
        expect(token.access).not.toBe("");
    });

    test.each([
        ["another issuer", "https://attacker.example"],
        ["none, though the server says that it names itself", null],
    ])("attack, RFC 9207: an answer with %s is refused before the code goes anywhere", async (_, issuer) => {
        await using here = room();
        await using there = await oauthRoom();
        const { login } = await client(here, there);
        const mixed = login(async (redirect) => {
            const url = new URL(redirect);
            if (issuer === null) url.searchParams.delete("iss");
            else url.searchParams.set("iss", issuer);
            await fetch(url);
        });
        await expect(mixed).rejects.toMatchObject({ code: "refused", message: expect.stringContaining("cannot be trusted") });
        expect(there.grants.requests).toBe(0);
    });

    test("a code of another login is exchanged for nothing: its verifier is another one", async () => {
        await using here = room();
        await using there = await oauthRoom();
        const { login } = await client(here, there);
        let stolen = "";
        await expect(
            login(async (redirect) => {
                stolen = new URL(redirect).searchParams.get("code") as string;
                await fetch(`${redirect}&error=access_denied`.replace(/([?&])code=[^&]*&/, "$1"));
            }),
        ).rejects.toMatchObject({ code: "denied" });
        await expect(
            login(async (redirect) => {
                const url = new URL(redirect);
                url.searchParams.set("code", stolen);
                await fetch(url);
            }),
        ).rejects.toMatchObject({ code: "refused", said: "invalid_grant" });
    });

    test("a user who says no", async () => {
        await using here = room();
        await using there = await oauthRoom();
        there.grants.answer = "no";
        const { login } = await client(here, there);
        await expect(login()).rejects.toMatchObject({ code: "denied", hint: expect.stringContaining("log in again") });
    });

    test("a client that the server does not know, and a server that is not there", async () => {
        await using here = room();
        await using there = await oauthRoom();
        const { provider } = await client(here, there);
        const { store } = await client(here, there);
        await store.put(PLACE, { access: "a", refresh: "r", expires: 1, client: "nobody", server: `${there.issuer}/token` });
        const wanted = { provider, place: PLACE, store, env: here.env, signal };
        await expect(goodToken(wanted)).rejects.toMatchObject({ code: "refused", hint: expect.stringContaining("client's id") });
        const gone = { ...provider, issuer: "http://127.0.0.1:9" };
        await expect(serverOf(gone, { env: here.env, signal })).rejects.toMatchObject({ code: "unreachable" });
        await expect(serverOf({ ...provider, client: undefined } as never, { env: here.env, signal })).rejects.toMatchObject({
            code: "setup",
            hint: expect.stringContaining("--client-id"),
        });
        await expect(serverOf({ ...provider, issuer: "http://accounts.example" }, { env: here.env, signal })).rejects.toMatchObject({
            code: "setup",
        });
    });
});

describe("on another device", () => {
    test("the user types the code there, while we wait", async () => {
        await using here = room();
        await using there = await oauthRoom();
        const { server, store } = await client(here, there);
        const told: (string | null)[] = [];
        const tell = (_: string, code: string | null): void => {
            told.push(code);
            void there.confirm(code as string);
        };
        const token = await loginElsewhere(server, { signal, tell });
        expect(told.length).toBe(1);
        await store.put(PLACE, token);
        expect((await here.run(program(there), { trust: true })).result.value).toBe("for alice");
    });

    test("a code that was not used in time, and one that the user refused", async () => {
        await using here = room();
        await using there = await oauthRoom({ device: 1 });
        const { server } = await client(here, there);
        await expect(loginElsewhere(server, { signal, tell: () => undefined })).rejects.toMatchObject({ code: "expired" });
        await using other = await oauthRoom();
        other.grants.answer = "no";
        const { server: second } = await client(here, other);
        const tell = (_: string, code: string | null): void => void other.confirm(code as string);
        await expect(loginElsewhere(second, { signal, tell })).rejects.toMatchObject({ code: "denied" });
    });
});

describe("renewing", () => {
    test("a token that ends soon is renewed before it is sent, and each time the refresh token is another one", async () => {
        await using here = room();
        await using there = await oauthRoom({ access: 20 });
        const { store, login, good } = await client(here, there);
        const first = await login();
        await store.put(PLACE, first);
        const second = await good();
        const third = await good();
        expect(new Set([first, second, third].map((one) => one?.access)).size).toBe(3);
        expect(new Set([first, second, third].map((one) => one?.refresh)).size).toBe(3);
        expect(await store.get(PLACE)).toEqual(third);
        expect(there.grants.refreshes).toBe(2);
    });

    test("a token that ends soon is sent as it is while the provider cannot be reached; one that has ended is not", async () => {
        await using here = room();
        await using there = await oauthRoom();
        const { provider, store } = await client(here, there);
        const gone = { ...provider, endpoints: { authorization: "http://127.0.0.1:9/auth", token: "http://127.0.0.1:9/token" } };
        const soon = { access: "a", refresh: "r", expires: Date.now() + 20_000, client: "c", server: "http://127.0.0.1:9/token" };
        await store.put(PLACE, soon);
        const wanted = { provider: gone, place: PLACE, store, env: here.env, signal };
        expect(await goodToken(wanted)).toEqual(soon);
        await expect(goodToken({ ...wanted, refused: "a" })).rejects.toMatchObject({ code: "unreachable" });
        await store.put(PLACE, { ...soon, expires: 1 });
        await expect(goodToken(wanted)).rejects.toMatchObject({ code: "unreachable" });
    });

    test("a 401 renews the token once, and the request is sent again", async () => {
        await using here = room();
        await using there = await oauthRoom();
        const { store, login } = await client(here, there);
        const token = await login();
        await store.put(PLACE, token);
        await (await there.provider.AccessToken.find(token.access))?.destroy();
        const { result } = await here.run(program(there), { trust: true });
        expect(result.value).toBe("for alice");
        expect(there.seen.length).toBe(2);
        expect(there.seen[1]).not.toBe(there.seen[0]);
        expect(there.grants.refreshes).toBe(1);
    });

    test("a token that nothing renews any more leaves the run waiting; after another login it goes on", async () => {
        await using here = room();
        await using there = await oauthRoom();
        const { store, login } = await client(here, there);
        const token = await login();
        await store.put(PLACE, token);
        await (await there.provider.AccessToken.find(token.access))?.destroy();
        await (await there.provider.RefreshToken.find(token.refresh as string))?.destroy();
        const ledger = openSqlite(join(here.folder, "ledger.db"), { config: join(here.folder, "keys") });
        const { result } = await here.run(program(there), { trust: true, ledger });
        expect(result).toMatchObject({
            status: "waiting",
            failure: {
                message: 'the run waits: the credential oauth("acme") of user:alice is missing: the login of user:alice has ended',
                hint: `remit login acme --as user:alice; then remit resume ${result.run} goes on`,
                site: { file: "main.remit", line: 2 },
            },
        });
        await store.put(PLACE, await login());
        const handle = await (await openLedger(ledger)).resume<Json>(result.run, { env: here.env, trust: true });
        expect(await handle.value).toBe("for alice");
        await ledger.close();
    });

    test("a provider that gives no new refresh token means the old one to go on", async () => {
        await using here = room();
        await using there = await oauthRoom();
        await using plain = await serve((_, response) => {
            response.setHeader("content-type", "application/json");
            response.end(JSON.stringify({ access_token: `a${plain.seen.length}`, token_type: "bearer", expires_in: 3600 }));
        });
        const { provider, store } = await client(here, there);
        const own = { ...provider, endpoints: { authorization: `${plain.origin}/auth`, token: `${plain.origin}/token` } };
        await store.put(PLACE, {
            access: "a",
            refresh: "r",
            expires: 1,
            client: "c",
            scopes: ["s"],
            server: `${plain.origin}/token`,
            origins: [there.api],
        });
        const renewed = await goodToken({ provider: own, place: PLACE, store, env: here.env, signal });
        expect(renewed).toMatchObject({ access: "a1", refresh: "r", scopes: ["s"], origins: [there.api] });
        expect(await store.get(PLACE)).toEqual(renewed);
    });

    test("a refresh token that is used a second time is a theft to the server: it takes everything back, and we say so", async () => {
        await using here = room();
        await using there = await oauthRoom();
        const { store, login, good } = await client(here, there);
        const stolen = await login();
        await store.put(PLACE, stolen);
        const renewed = (await good(stolen.access)) as Token;
        await store.put(PLACE, stolen);
        expect(await good(stolen.access)).toBeNull();
        expect(await store.get(PLACE)).toBeNull();
        expect(await there.provider.RefreshToken.find(renewed.refresh as string)).toBeUndefined();
    });

    test("OAR1: many who want it at once, in this process and in others, renew it once", async () => {
        await using here = room();
        await using there = await oauthRoom();
        const { store, login, good } = await client(here, there);
        const token = await login();
        await store.put(PLACE, token);
        const children = Array.from({ length: 3 }, () =>
            fork(join(import.meta.dirname, "renewer.ts"), [join(here.folder, "project"), token.access], {
                env: here.env,
                stdio: ["ignore", "ignore", "inherit", "ipc"],
            }),
        );
        const [values, gave] = await Promise.all([
            Promise.all(Array.from({ length: 8 }, () => good(token.access))),
            Promise.all(children.map(async (child) => (await once(child, "message"))[0] as string)),
        ]);
        expect(new Set([...values.map((one) => one?.access), ...gave]).size).toBe(1);
        expect(there.grants.refreshes).toBe(1);
    });

    test("attack, OAS2: a token endpoint that redirects gets the refresh token alone; plain http elsewhere gets nothing", async () => {
        await using here = room();
        await using there = await oauthRoom();
        await using thief = await echoing();
        await using leads = await serve((_, response) => void response.writeHead(307, { location: `${thief.origin}/token` }).end());
        const { provider, store } = await client(here, there);
        const moved = {
            ...provider,
            endpoints: { ...provider.endpoints, authorization: `${there.issuer}/auth`, token: `${leads.origin}/token` },
        };
        const kept = { access: "a", refresh: "the-refresh-token", expires: 1, client: "remit-test", server: `${leads.origin}/token` };
        await store.put(PLACE, kept);
        const wanted = { place: PLACE, store, env: here.env, signal };
        await expect(goodToken({ ...wanted, provider: moved })).rejects.toMatchObject({ code: "refused" });
        expect([leads.seen.length, thief.seen.length]).toEqual([1, 0]);
        expect(await store.get(PLACE)).toEqual(kept);
        const plain = { ...moved, endpoints: { ...moved.endpoints, token: "http://login.example/token" } };
        await store.put(PLACE, { ...kept, server: "http://login.example/token" });
        await expect(goodToken({ ...wanted, provider: plain })).rejects.toMatchObject({
            code: "setup",
            message: expect.stringContaining("plain http"),
        });
    });

    test("OAR3, CST1: another description of the provider, in a project that was trusted, gets neither the token nor its renewal", async () => {
        await using here = room();
        await using there = await oauthRoom();
        await using thief = await oauthRoom();
        const { store, login } = await client(here, there);
        await store.put(PLACE, await login());
        here.write("remit.json", JSON.stringify({ oauth: { acme: { ...thief.described, origins: [there.api, thief.api] } } }));
        const source = `memory static ( fetch "${thief.api}/" with { credential: oauth("acme"), as: "user:alice" } )`;
        expect((await here.run(source, { trust: true })).result.failure?.message).toContain("401");
        expect(thief.seen).toEqual([null]);
        const token = (await store.get(PLACE)) as Token;
        await store.put(PLACE, { ...token, expires: 1 });
        expect((await here.run(program(there), { trust: true })).result.status).toBe("waiting");
        expect(thief.grants.requests).toBe(0);
    });
});

test("taking back: the provider knows the token no more, and the API neither", async () => {
    await using here = room();
    await using there = await oauthRoom();
    const { provider, login } = await client(here, there);
    const token = await login();
    expect(await revoked(provider, token, { env: here.env, signal })).toBe(true);
    expect(await there.provider.AccessToken.find(token.access)).toBeUndefined();
    expect(await there.provider.RefreshToken.find(token.refresh as string)).toBeUndefined();
});

test("a client with a secret shows it, and the secret is read where it stands", async () => {
    await using here = room();
    await using there = await oauthRoom({
        client: { client_secret: "s3cret-of-the-client", token_endpoint_auth_method: "client_secret_post" },
    });
    here.env.ACME_SECRET = "s3cret-of-the-client";
    const described = { ...there, described: { ...there.described, secret: "env:ACME_SECRET" } };
    const { login } = await client(here, described);
    expect((await login()).access).not.toBe("");
    here.env.ACME_SECRET = "another one";
    await expect((await client(here, described)).login()).rejects.toMatchObject({ code: "refused", said: "invalid_client" });
    delete here.env.ACME_SECRET;
    await expect(client(here, described)).rejects.toMatchObject({ code: "setup", hint: "give it as env:ACME_SECRET" });
});

describe("descriptions", () => {
    const config = (json?: Json, trust = true) => {
        const here = room();
        if (json !== undefined) here.write("remit.json", JSON.stringify(json));
        return loadConfig({ from: join(here.folder, "project"), env: here.env, trust });
    };

    test("the known providers say where their tokens may go; okta wants its domain", () => {
        for (const name of ["github", "google", "slack"]) expect(providerOf(name, config({})).origins.length).toBeGreaterThan(0);
        expect(() => providerOf("okta", config({}))).toThrow("has no issuer");
        const okta = { issuer: "https://acme.okta.com/oauth2/default", origins: ["https://api.acme.com/"], client: "id" };
        expect(providerOf("okta", config({ oauth: { okta } }))).toMatchObject({
            ...okta,
            origins: ["https://api.acme.com"],
            flow: "code",
            port: 8787,
        });
        expect(() => providerOf("nobody", config({}))).toThrow("no provider 'nobody' is known");
        expect(() => providerOf("acme", config({ oauth: { acme: okta } }, false))).toThrow("which is not trusted");
        expect(() => config({ oauth: { acme: { origins: ["https://*"] } } })).toThrow("origin");
    });

    test.each([
        ["https://*.googleapis.com", "https://gmail.googleapis.com", true],
        ["https://*.googleapis.com", "https://googleapis.com", false],
        ["https://*.googleapis.com", "https://evil-googleapis.com", false],
        ["https://*.googleapis.com", "http://gmail.googleapis.com", false],
        ["https://*.googleapis.com", "https://gmail.googleapis.com:8443", false],
        ["https://api.github.com", "https://api.github.com", true],
        ["https://api.github.com", "https://api.github.com.evil.example", false],
    ])("OAP1: %s and %s: %s", (allowed, origin, expected) => {
        expect(mayGo([allowed], origin)).toBe(expected);
    });
});
