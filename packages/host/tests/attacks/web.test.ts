/** Attacks by what is read from the web: addresses that whoever chose the URL has no business with, redirects, bounds. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { call, failure, work } from "../tool/setup.ts";

async function serve(listener: RequestListener) {
    const hits: string[] = [];
    const server = createServer((request, response) => {
        hits.push(request.url ?? "");
        listener(request, response);
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    return {
        port,
        origin: `http://127.0.0.1:${port}`,
        hits,
        [Symbol.asyncDispose]: async () => {
            server.closeAllConnections();
            await new Promise((done) => server.close(done));
        },
    };
}

test("webfetch reaches no address of this machine or its network, however it is written", async () => {
    await using server = await serve((_, response) => response.end("inner"));
    await using here = work();
    const tools = here.tools();
    const { port } = server;
    const hosts = [
        "127.0.0.1",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
    ];
    for (const host of hosts)
        expect([host, (await failure(tools, "webfetch:", "call", { url: `http://${host}:${port}/` })).kind]).toEqual([host, "denied"]);
    for (const host of ["10.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1", "169.254.169.254", "[fd00:ec2::254]", "0.0.0.0"])
        expect([host, (await failure(tools, "webfetch:", "call", { url: `http://${host}:${port}/`, timeout: 60_000 })).kind]).toEqual([
            host,
            "denied",
        ]);
    expect(server.hits).toEqual([]);
});

test("webfetch reaches what a trusted configuration names, and follows no redirect to another origin", async () => {
    await using other = await serve((_, response) => response.end("other"));
    await using server = await serve((_, response) => response.writeHead(302, { location: `${other.origin}/x` }).end());
    await using here = work();
    const tools = here.tools(here.config({ http: { private: [other.origin, server.origin] } }));
    expect(await call(tools, "webfetch:", "call", { url: `${other.origin}/` })).toMatchObject({ status: 200, body: "other" });
    expect((await failure(tools, "webfetch:", "call", { url: `${server.origin}/` })).kind).toBe("denied");
    expect(other.hits).toEqual(["/"]);
});
