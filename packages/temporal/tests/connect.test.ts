/** Where a server is said to be, as Temporal's own tools read it: flags before the environment, the environment before the profile file. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttp2 } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openWorld } from "@remit/host";
import { ConnectError, connect, connectWorker, placeOf, remitClient } from "../src/index.ts";
import { devServer, roomAt } from "./room.ts";

const folder = mkdtempSync(join(tmpdir(), "remit-profile-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, "temporal.toml");
writeFileSync(join(folder, "ca.pem"), "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
writeFileSync(
    file,
    `[profile.default]
address = "127.0.0.1:7001"
namespace = "near"
[profile.cloud]
address = "team.a1b2.tmprl.cloud:7233"
namespace = "team.a1b2"
api_key = "secret-of-the-profile"
[profile.own]
address = "10.0.0.1:7233"
[profile.own.tls]
server_name = "temporal.internal"
server_ca_cert_path = ${JSON.stringify(join(folder, "ca.pem"))}
`,
);

test("the profile file gives address and namespace; a profile with a key is reached by TLS", () => {
    expect(placeOf({ file })).toMatchObject({ address: "127.0.0.1:7001", namespace: "near" });
    expect(placeOf({ file }).options.tls).toBeFalsy();
    const cloud = placeOf({ file, profile: "cloud" });
    expect(cloud).toMatchObject({ address: "team.a1b2.tmprl.cloud:7233", namespace: "team.a1b2" });
    expect(cloud.options).toMatchObject({ apiKey: "secret-of-the-profile" });
    expect(cloud.options.tls).toBeTruthy();
});

test("certificates of a profile are read", () => {
    const { options } = placeOf({ file, profile: "own" });
    expect(options.tls).toMatchObject({ serverNameOverride: "temporal.internal", serverRootCACertificate: expect.anything() });
});

test("the environment names the file and the profile, and its values come before theirs; flags come before both", () => {
    const env = { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: "cloud", TEMPORAL_NAMESPACE: "other" };
    expect(placeOf({ env })).toMatchObject({ address: "team.a1b2.tmprl.cloud:7233", namespace: "other" });
    const flags = placeOf({ env, address: "127.0.0.1:1", namespace: "mine", apiKey: "given", tls: true });
    expect(flags).toMatchObject({ address: "127.0.0.1:1", namespace: "mine", options: { apiKey: "given", tls: true } });
    expect(placeOf({ env: { TEMPORAL_ADDRESS: "h:2", TEMPORAL_API_KEY: "k" } }).options).toMatchObject({ address: "h:2", apiKey: "k" });
});

test("a profile that is not there, or a file that cannot be read, is told", () => {
    expect(() => placeOf({ file, profile: "nowhere" })).toThrow(ConnectError);
    const broken = join(folder, "broken.toml");
    writeFileSync(broken, "[profile.default\n");
    expect(() => placeOf({ file: broken })).toThrow(ConnectError);
});

test("a server that speaks no TLS is told within seconds where TLS is wanted", async () => {
    // The client breaks the connection off where it has heard no TLS.
    const server = createServer((socket) => socket.on("error", () => undefined).end("nothing\n")).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { readonly port: number };
    try {
        await expect(connect(placeOf({ address: `127.0.0.1:${port}`, tls: true }))).rejects.toBeInstanceOf(ConnectError);
    } finally {
        server.close();
    }
});

/** Until the end of the test; with the number of connections that it took. */
async function listening(server: Server): Promise<AsyncDisposable & { readonly address: string; readonly taken: () => number }> {
    let taken = 0;
    const open = new Set<Socket>();
    server.on("connection", (socket) => {
        taken += 1;
        open.add(socket.on("error", () => undefined));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { readonly port: number };
    return {
        address: `127.0.0.1:${port}`,
        taken: () => taken,
        [Symbol.asyncDispose]: async () => {
            for (const socket of open) socket.destroy();
            server.close();
            await once(server, "close");
        },
    };
}

const SOON = { reachMs: 200 };
const silence = (address: string): object => ({
    name: "ConnectError",
    message: `no Temporal server answers at ${address}`,
    // A second server would not help.
    hint: expect.stringMatching(/^something listens there: a server that is suspended or very busy(?!.*temporal dev)/),
});

test("what takes a connection and says nothing, or ends it, is no server: client and worker are told by the first connection", async () => {
    await using mute = await listening(createServer());
    await expect(connect(placeOf({ address: mute.address }), SOON)).rejects.toMatchObject(silence(mute.address));
    await expect(connect(placeOf({ address: mute.address, tls: true }), SOON)).rejects.toMatchObject(silence(mute.address));
    await expect(connectWorker(placeOf({ address: mute.address }), SOON)).rejects.toMatchObject(silence(mute.address));
    expect(mute.taken()).toBe(3);
    await using short = await listening(createServer((socket) => socket.end()));
    await expect(connect(placeOf({ address: short.address }))).rejects.toMatchObject(silence(short.address));
    await expect(connectWorker(placeOf({ address: short.address }))).rejects.toMatchObject(silence(short.address));
    await expect(connect(placeOf({ address: short.address, tls: true }))).rejects.toMatchObject(silence(short.address));
    expect(short.taken()).toBe(3);
});

test("of a server that greets and says nothing more the caller hears before the time is up", async () => {
    await using busy = await listening(createHttp2(() => undefined));
    const told: string[] = [];
    const patience = { slow: (one: string) => told.push(one), slowMs: 50, connectMs: 500 };
    await expect(connect(placeOf({ address: busy.address }), patience)).rejects.toMatchObject(silence(busy.address));
    expect(told).toEqual([expect.stringContaining("took the connection, but has said nothing for 0.05 s")]);
});

test.each(["", "a b", ":9", "::1", "localhost:99999", "http://127.0.0.1:9", "unix:/tmp/x", "dns:///h:9", "u@h:9", "h:9/x"])(
    "%j is no address: the error says what is one",
    (address) => {
        const message = `'${address}' is no address of a Temporal server`;
        const told = { name: "ConnectError", message, hint: expect.stringContaining("HOST:PORT") };
        expect(() => placeOf({ address })).toThrow(expect.objectContaining(told));
        if (address !== "") expect(() => placeOf({ env: { TEMPORAL_ADDRESS: address } })).toThrow(expect.objectContaining(told));
    },
);

test("an address without a port has Temporal's", () => {
    expect(["host", "[::1]", "1.2.3.4:5"].map((address) => placeOf({ address }).address)).toEqual(["host:7233", "[::1]:7233", "1.2.3.4:5"]);
});

test("a server that ends is told by each call as such; a run that is submitted to it is not left in the ledger", async () => {
    await using server = await devServer();
    await using room = await roomAt(server);
    const program = await openWorld({ source: "main func(input) { input }" }, { cache: false, process: room.on });
    await room.client.submit(program, program.kept(1), { id: "early" });
    const connection = await connect(placeOf({ address: server.address }), { calls: { tries: 1, ms: 10_000 } });
    const runs = remitClient({ connection, store: room.store, queue: room.queue });
    const waited = runs.result("early");
    waited.catch(() => undefined);
    await server.stop("SIGKILL");
    const call: Readonly<Record<string, () => Promise<unknown>>> = {
        submit: () => runs.submit(program, program.kept(1), { id: "late" }),
        goOn: () => runs.goOn("early"),
        result: () => waited,
        status: () => runs.status("early"),
        reachable: () => runs.reachable("early"),
        answer: () => runs.answer("early", { question: "q", by: "user", decision: "once" }),
        cancel: () => runs.cancel("early"),
        drain: () => runs.drain("early"),
        attended: () => runs.attended(),
        list: () => Array.fromAsync(runs.list()),
        plan: () => runs.schedules.create(program, program.kept(1), { id: "s", cron: "@daily" }),
        planned: () => Array.fromAsync(runs.schedules.list()),
        show: () => runs.schedules.show("s"),
    };
    const told = await Promise.all(
        Object.entries(call).map(async ([name, make]) => [name, await make().catch((error: unknown) => error)] as const),
    );
    for (const [name, error] of told)
        expect([name, error]).toMatchObject([
            name,
            {
                name: "ConnectError",
                message: expect.stringMatching(/^the Temporal server went away while it was called; ./),
                hint: expect.stringContaining("run the command again"),
            },
        ]);
    expect(Object.fromEntries(told)["submit"]).toMatchObject({ message: expect.stringContaining("run late was not begun") });
    await expect(room.store.run("late")).rejects.toMatchObject({ code: "unknown" });
    await connection.close();
});
