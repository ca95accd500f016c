/** `http:` and `https:` against a real server on loopback (P1–P4), and which addresses count as what. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { literalOf, type Reach, reachOf } from "../../src/tool/address.ts";
import { MAX_BODY } from "../../src/tool/http.ts";
import { call, failure, toolEffect, work } from "./setup.ts";

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function serve(handler: Handler) {
    const server = createServer(async (request, response) => {
        let body = "";
        for await (const chunk of request) body += String(chunk);
        handler(request, response, body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return {
        origin: `http://127.0.0.1:${port}`,
        port,
        [Symbol.asyncDispose]: async () => {
            server.closeAllConnections();
            await new Promise((resolve) => server.close(resolve));
        },
    };
}

const echo: Handler = (request, response, body) => {
    response.setHeader("content-type", "application/json");
    response.end(
        JSON.stringify({
            method: request.method,
            url: request.url,
            type: request.headers["content-type"] ?? null,
            x: request.headers["x-key"] ?? null,
            body,
        }),
    );
};

describe("requests", () => {
    test("a method is the verb; the result is AgentScript's", async () => {
        await using server = await serve(echo);
        await using here = work();
        const tools = here.tools();
        const got = await call(tools, `${server.origin}/api/`, "get", { url: "items?n=1#part", headers: { "X-Key": 7 } });
        expect(got).toEqual({
            ok: true,
            status: 200,
            body: JSON.stringify(got.json),
            json: { method: "GET", url: "/api/items?n=1", type: null, x: "7", body: "" },
        });
        const json = async (verb: string, arg: { [key: string]: string | object }) =>
            (await call(tools, server.origin, verb, arg as never)).json;
        expect(await json("POST", { url: "/", body: { a: 1 } })).toMatchObject({
            method: "POST",
            type: "application/json",
            body: '{"a":1}',
        });
        expect(await json("put", { url: "/", body: "plain" })).toMatchObject({
            method: "PUT",
            type: "text/plain;charset=UTF-8",
            body: "plain",
        });
        expect(await json("purge", { url: `${server.origin}/x` })).toMatchObject({ method: "PURGE", url: "/x" });
        expect(await json("patch", { url: "/", body: "<a/>", headers: { "Content-Type": "text/xml" } })).toMatchObject({
            type: "text/xml",
        });
    });
    test("a status outside 2xx is a result; what is not JSON has null there; charsets and compression are read", async () => {
        await using server = await serve((request, response) => {
            if (request.url === "/gone") response.writeHead(404, { "content-type": "text/html" }).end("<b>no</b>");
            else if (request.url === "/latin")
                response.writeHead(200, { "content-type": "text/plain; charset=iso-8859-1" }).end(Buffer.from([0x63, 0x61, 0x66, 0xe9]));
            else if (request.url === "/big") response.end('{"id": 12345678901234567890}');
            else if (request.url === "/gzip") response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync('{"z":1}'));
            else if (request.url === "/broken") response.setHeader("content-type", "application/problem+json").end('{"a": 1,,}');
            else if (request.url === "/bytes") response.end(Buffer.from("a\xffb", "latin1"));
            else if (request.url === "/charset") response.setHeader("content-type", "text/plain; charset=klingon").end("a");
            else response.writeHead(204).end();
        });
        await using here = work();
        const tools = here.tools();
        expect(await call(tools, server.origin, "get", { url: "/gone" })).toEqual({
            ok: false,
            status: 404,
            body: "<b>no</b>",
            json: null,
        });
        expect((await call(tools, server.origin, "get", { url: "/latin" })).body).toBe("café");
        expect((await call(tools, server.origin, "get", { url: "/gzip" })).json).toEqual({ z: 1 });
        expect(await call(tools, server.origin, "get", { url: "/big" })).toEqual({
            ok: true,
            status: 200,
            body: '{"id": 12345678901234567890}',
            json: null,
            note: "the body has the number 12345678901234567890 at line 1, column 8, which is beyond 2^53 and would lose digits; json is none, the text is in body",
        });
        expect(await call(tools, server.origin, "delete", { url: "/none" })).toEqual({ ok: true, status: 204, body: "", json: null });
        expect(await call(tools, server.origin, "get", { url: "/broken" })).toMatchObject({
            body: '{"a": 1,,}',
            json: null,
            note: expect.stringMatching(/^the body is not JSON: .*; json is none, the text is in body$/),
        });
        expect(await call(tools, server.origin, "get", { url: "/bytes" })).toMatchObject({
            body: "a\ufffdb",
            note: "the body holds bytes that are not UTF-8: each stands as U+FFFD",
        });
        expect(await call(tools, server.origin, "get", { url: "/charset" })).toMatchObject({
            body: "a",
            note: "the charset 'klingon' of the body is not known: it is read as UTF-8",
        });
    });
    test("what no request can be is refused before anything is sent", async () => {
        let hits = 0;
        await using server = await serve((_request, response) => {
            hits++;
            response.end();
        });
        await using here = work();
        const tools = here.tools();
        const refused: [string, { [key: string]: never }][] = [
            ["connect", { url: "/" }],
            ["TRACE", { url: "/" }],
            ["gte", { url: "/" }],
            ["get", {}],
            ["get", { url: "http://[" }],
            ["get", { url: "/", body: "x" }],
            ["get", { url: "/", headers: { Host: "evil" } }],
            ["get", { url: "/", headers: { "a b": "x" } }],
            ["get", { url: "/", headers: { a: "x\r\nb: y" } }],
            ["get", { url: "/", headers: { a: { b: 1 } } }],
            ["get\r\nx", { url: "/" }],
            ["po\u017ft", { url: "/" }],
            ["opt\u0131ons", { url: "/" }],
        ] as never;
        for (const [verb, arg] of refused) expect((await failure(tools, server.origin, verb, arg)).kind, verb).toMatch(/tool|denied/);
        expect(hits).toBe(0);
    });
});

describe("the origin", () => {
    test("is not left by a URL", async () => {
        await using server = await serve(echo);
        await using here = work();
        const tools = here.tools();
        for (const url of [
            "http://example.com/",
            "//example.com/x",
            `http://127.0.0.1:${server.port + 1}/`,
            `https://127.0.0.1:${server.port}/`,
            "file:///etc/passwd",
            "javascript:1",
            "\\\\example.com\\x",
            `http://a:b@127.0.0.1:${server.port}/`,
        ])
            expect((await failure(tools, server.origin, "get", { url })).kind, url).toBe("denied");
        expect((await failure(tools, `http://user:pass@127.0.0.1:${server.port}`, "get", { url: "/" })).message).not.toContain("pass@");
    });
    test("F29: is not left by a redirect; within it redirects are followed", async () => {
        const reached: string[] = [];
        await using other = await serve((_request, response) => {
            reached.push("other");
            response.end("other");
        });
        await using server = await serve((request, response, body) => {
            reached.push(`${request.method} ${request.url} ${body}`);
            const to: { [path: string]: [number, string] } = {
                "/away": [302, `${other.origin}/x`],
                "/meta": [302, "http://169.254.169.254/latest/meta-data/"],
                "/file": [302, "file:///etc/passwd"],
                "/here": [301, "/end?a"],
                "/kept": [307, "end"],
                "/seen": [303, "/end"],
                "/loop": [302, "/loop"],
            };
            const found = to[request.url ?? ""];
            if (found === undefined) response.end("done");
            else response.writeHead(found[0], { location: found[1] }).end("moved");
        });
        await using here = work();
        const tools = here.tools();
        // The server had the request by then: it counts as made.
        for (const url of ["/away", "/meta", "/file"])
            expect(await failure(tools, server.origin, "post", { url })).toMatchObject({ kind: "denied", detail: { made: true } });
        expect(reached).not.toContain("other");
        expect((await failure(tools, server.origin, "get", { url: "/loop" })).message).toContain("more than 5 redirects");
        reached.length = 0;
        expect((await call(tools, server.origin, "post", { url: "/here", body: "b" })).body).toBe("done");
        expect((await call(tools, server.origin, "post", { url: "/kept", body: "b" })).body).toBe("done");
        expect((await call(tools, server.origin, "put", { url: "/seen", body: "b" })).body).toBe("done");
        expect(reached).toEqual(["POST /here b", "GET /end?a ", "POST /kept b", "POST /end b", "PUT /seen b", "GET /end "]);
    });
});

describe("bounds", () => {
    test("time covers a server that never answers, and one that never ends", async () => {
        await using server = await serve((request, response) => {
            if (request.url === "/drip") response.write("x");
        });
        await using here = work();
        const tools = here.tools();
        for (const url of ["/silent", "/drip"])
            expect(await failure(tools, server.origin, "get", { url, timeout: 150 })).toMatchObject({
                kind: "timeout",
                message: expect.stringContaining("no answer after 150 ms"),
            });
        const controller = new AbortController();
        const waiting = failure(tools, server.origin, "get", { url: "/silent" }, { signal: controller.signal });
        setTimeout(() => controller.abort(), 50);
        expect((await waiting).kind).toBe("cancelled");
    });
    test("size is that of the decoded body", async () => {
        await using server = await serve((request, response) => {
            if (request.url === "/bomb")
                response.writeHead(200, { "content-encoding": "br" }).end(brotliCompressSync(Buffer.alloc(MAX_BODY + 1)));
            else response.end(Buffer.alloc(MAX_BODY + 1, 120));
        });
        await using here = work();
        for (const url of ["/large", "/bomb"])
            expect((await failure(here.tools(), server.origin, "get", { url })).message).toContain(`larger than ${MAX_BODY} bytes`);
    });
    test("a server that is not there is unreachable", async () => {
        await using here = work();
        expect((await failure(here.tools(), "http://127.0.0.1:9", "get", { url: "/" })).kind).toBe("unreachable");
        expect((await failure(here.tools(), "https://does-not-exist.invalid", "get", { url: "/" })).kind).toBe("unreachable");
    });
    test("only safe verbs are repeated after a crash", async () => {
        await using here = work();
        const tools = here.tools();
        const repeatable = (verb: string) => tools.repeatable(toolEffect("https://example.com", verb, [{}]));
        expect(await Promise.all(["get", "HEAD", "post", "put", "delete"].map(repeatable))).toEqual([true, true, false, false, false]);
    });
});

describe("addresses", () => {
    test("of metadata services and reserved networks are refused in an import", async () => {
        await using here = work();
        for (const host of [
            "169.254.169.254",
            "[fe80::1]",
            "0.0.0.0",
            "[::ffff:169.254.169.254]",
            "0xa9fea9fe",
            "2852039166",
            "[64:ff9b::a9fe:a9fe]",
        ])
            expect((await failure(here.tools(), `http://${host}/`, "get", { url: "/" })).kind, host).toBe("denied");
    });
    test("a name that leads to a private address is refused unless the configuration allows the origin", async () => {
        await using server = await serve(echo);
        await using here = work();
        const { lookup } = await import("node:dns/promises");
        const { hostname } = await import("node:os");
        const name = hostname();
        const found = await lookup(name).catch(() => null);
        // A machine's own name leads to loopback or to its private network wherever it leads anywhere.
        if (found !== null && reachOf(found.address) === "private") {
            const refused = await failure(here.tools(), `http://${name}:${server.port}`, "get", { url: "/" });
            expect([refused.kind, refused.message]).toEqual(["denied", expect.stringContaining("programs do not reach")]);
        }
        expect((await call(here.tools(), `http://localhost:${server.port}`, "get", { url: "/" })).status).toBe(200);
        const allowed = here.config({ http: { private: ["http://169.254.7.7:9"] } });
        expect((await failure(here.tools(allowed), "http://169.254.7.7:9", "get", { url: "/", timeout: 50 })).kind).toMatch(
            /unreachable|timeout/,
        );
    });
    test("are told apart in every way of writing them", () => {
        const cases: [string, Reach][] = [
            ["8.8.8.8", "public"],
            ["127.8.8.8", "private"],
            ["10.0.0.1", "private"],
            ["172.15.0.1", "public"],
            ["172.31.0.1", "private"],
            ["192.168.1.1", "private"],
            ["100.64.0.1", "private"],
            ["100.100.100.200", "never"],
            ["169.254.169.254", "never"],
            ["0.0.0.0", "never"],
            ["224.0.0.1", "never"],
            ["255.255.255.255", "never"],
            ["::1", "private"],
            ["::", "never"],
            ["fe80::1%eth0", "never"],
            ["fd00::1", "private"],
            ["fd00:ec2::254", "never"],
            ["2606:4700::1", "public"],
            ["::ffff:10.0.0.1", "private"],
            ["::ffff:a9fe:a9fe", "never"],
            ["::ffff:8.8.8.8", "public"],
            ["64:ff9b::7f00:1", "private"],
            ["2002:a00:1::", "private"],
            ["2001:0:1:1:1:1:5601:5601", "never"],
            ["::127.0.0.1", "private"],
            ["not an address", "never"],
        ];
        for (const [address, reach] of cases) expect(reachOf(address), address).toBe(reach);
        expect(["localhost", "LOCALHOST.", "a.localhost", "[::1]", "1.2.3.4", "example.com"].map(literalOf)).toEqual([
            "127.0.0.1",
            "127.0.0.1",
            "127.0.0.1",
            "::1",
            "1.2.3.4",
            null,
        ]);
    });
    test("an IPv6 address that carries an IPv4 one reaches no further than it", () => {
        fc.assert(
            fc.property(fc.ipV4(), (address) => {
                const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
                const [high, low] = [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)];
                for (const form of [`::ffff:${address}`, `64:ff9b::${high}:${low}`, `2002:${high}:${low}::1`])
                    expect(reachOf(form)).toBe(reachOf(address));
            }),
        );
    });
});

describe("secrets in headers", () => {
    test("go only where a trusted configuration lets them, and are told to the scrubber first", async () => {
        await using server = await serve((request, response) => void response.end(request.headers.authorization ?? "none"));
        await using other = await serve((request, response) => void response.end(request.headers.authorization ?? "none"));
        await using here = work();
        here.env.SERVICE_TOKEN = "abc-123-def-456";
        const config = { secrets: { "env:SERVICE_TOKEN": [server.origin] } };
        const header = { url: "/", headers: { Authorization: ["Bearer ", { $secret: "env:SERVICE_TOKEN" }] } };
        const tools = here.tools(here.config(config));
        expect((await call(tools, server.origin, "get", header)).body).toBe("Bearer abc-123-def-456");
        expect(here.secrets.get("env:SERVICE_TOKEN")).toBe("abc-123-def-456");
        expect(await failure(tools, other.origin, "get", header)).toMatchObject({
            kind: "denied",
            hint: expect.stringContaining(other.origin),
        });
        expect((await failure(here.tools(here.config(config, false)), server.origin, "get", header)).kind).toBe("denied");
        expect((await failure(tools, server.origin, "get", { url: "/", headers: { a: { $secret: "env:HOME" } } })).kind).toBe("denied");
    });
});

describe("env", () => {
    test("gives ordinary variables, refuses what looks like a secret unless it is named", async () => {
        await using here = work();
        Object.assign(here.env, { LANG: "de", API_KEY: "k", DATABASE_URL: "postgres://u:p@h/db", PUBLIC_KEY: "pk" });
        const tools = here.tools();
        expect(await call(tools, "env://process", "get", { name: "LANG" })).toEqual({ ok: true, value: "de" });
        expect(await call(tools, "env://process", "get", { name: "UNSET" })).toEqual({ ok: true, value: null });
        // what Node makes of a byte that is no UTF-8
        here.env.CITY = "K\uFFFDln";
        expect((await call(tools, "env://process", "get", { name: "CITY" })).note).toContain("bytes that are not UTF-8");
        expect(await call(tools, "env://process", "get", { name: "constructor" })).toEqual({ ok: true, value: null });
        for (const name of ["API_KEY", "DATABASE_URL"])
            expect((await failure(tools, "env://process", "get", { name })).kind, name).toBe("denied");
        const config = { env: { allow: ["PUBLIC_KEY"] } };
        expect(await call(here.tools(here.config(config)), "env://process", "get", { name: "PUBLIC_KEY" })).toEqual({
            ok: true,
            value: "pk",
        });
        expect((await failure(here.tools(here.config(config, false)), "env://process", "get", { name: "PUBLIC_KEY" })).kind).toBe("denied");
        expect((await failure(tools, "env://other", "get", { name: "LANG" })).message).toContain("there is no env://other");
    });
});
