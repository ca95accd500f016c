/** Where a server is said to be, as Temporal's own tools read it: flags before the environment, the environment before the profile file. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openWorld } from "@remit/host";
import { ConnectError, connect, placeOf } from "../src/index.ts";
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
    const { createServer } = await import("node:net");
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

test("of a server that takes the connection and says nothing the caller hears before the time is up", async () => {
    const { createServer } = await import("node:net");
    const server = createServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { readonly port: number };
    const told: string[] = [];
    try {
        const patience = { slow: (one: string) => told.push(one), slowMs: 50, connectMs: 500 };
        const reached = connect(placeOf({ address: `127.0.0.1:${port}` }), patience);
        await expect(reached).rejects.toMatchObject({
            message: `no Temporal server answers at 127.0.0.1:${port}`,
            // A second server would not help.
            hint: expect.stringMatching(/^something listens there: a server that is suspended or very busy(?!.*temporal dev)/),
        });
        expect(told).toEqual([expect.stringContaining("took the connection, but has said nothing for 0.05 s")]);
    } finally {
        server.close();
    }
});

test("a run that is submitted to a server that ends is refused as such, and is not left in the ledger", async () => {
    await using server = await devServer();
    await using room = await roomAt(server);
    const program = await openWorld({ source: "main func(input) { input }" }, { cache: false, process: room.on });
    await server.stop("SIGKILL");
    const submitted = room.client.submit(program, program.kept(1), { id: "late" });
    await expect(submitted).rejects.toThrow(ConnectError);
    await expect(submitted).rejects.toMatchObject({
        message: expect.stringMatching(/^the Temporal server went away .*run late was not begun/),
        hint: expect.stringContaining("run the command again"),
    });
    await expect(room.store.run("late")).rejects.toMatchObject({ code: "unknown" });
});
