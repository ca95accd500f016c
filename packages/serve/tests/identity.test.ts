/** On whose behalf the turns of clients make requests: that of the client that submitted the turn, and where it has none nothing begins. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CredentialSources } from "@remit/host";
import { expect, test } from "vitest";
import { ServeClient } from "../src/index.ts";
import type { TurnInfo } from "../src/wire/messages.ts";
import { room } from "./room.ts";

test("a turn has the credentials of the client that submitted it, whichever client opened the session; one without an identity begins nothing", async () => {
    const heard: (string | undefined)[] = [];
    const server = createServer((request, response) => {
        heard.push(request.headers.authorization);
        response.end('"done"');
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const folder = mkdtempSync(join(tmpdir(), "remit-identity-"));
    writeFileSync(
        join(folder, "main.remit"),
        `import tool Api from "${url}"\nmemory static ( echo "/me" >=> Api.get with { credential: oauth("crm") } )\n`,
    );
    // What a login would have kept, by identity.
    const credentials: CredentialSources = {
        oauth: ({ as }) =>
            as === "user:carol"
                ? { kind: "missing", message: "user:carol has not logged in", hint: "log in" }
                : { kind: "given", value: `token of ${as}` },
    };
    await using at = await room([], { program: join(folder, "main.remit"), load: { as: "user:alice", credentials, cache: false } });
    // Addresses of this machine are reached only where the person says so.
    mkdirSync(join(at.folder, ".config", "remit"), { recursive: true });
    writeFileSync(join(at.folder, ".config", "remit", "remit.json"), JSON.stringify({ http: { private: [url] } }));
    const paired = async (as?: string): Promise<ServeClient> => {
        const { code } = await at.owner.request<{ code: string }>("POST", "/v1/pairings", as === undefined ? {} : { as });
        const made = await at.owner.request<{ token: string }>("POST", "/v1/pair", { code, name: "panel" });
        return new ServeClient({ url: at.server.url, token: made.token });
    };
    const [bob, carol, without] = [await paired("user:bob"), await paired("user:carol"), await paired()];
    const { id } = await at.owner.open();
    const go = (client: ServeClient): Promise<TurnInfo> => client.request("POST", `/v1/sessions/${id}/turns?wait=1`, { input: {} });

    const first = await go(at.owner);
    expect(first, JSON.stringify(first)).toMatchObject({ status: "done" });
    expect(await go(bob)).toMatchObject({ status: "done" });
    expect(heard).toEqual(["token of user:alice", "token of user:bob"]);
    expect(await go(without)).toMatchObject({
        status: "failed",
        failure: { kind: "denied", message: expect.stringContaining("nothing says which user") },
    });
    expect(await go(carol)).toMatchObject({
        status: "failed",
        failure: { message: expect.stringContaining("user:carol has not logged in") },
    });
    expect(heard.length).toBe(2);
    // It is kept with the client.
    await at.again();
    const again = new ServeClient({ url: at.server.url, token: (await at.client("later")).token });
    expect(await go(again)).toMatchObject({ status: "failed", failure: { kind: "denied" } });
    expect((await at.raw("POST", "/v1/pairings", { body: { as: "no identity" } })).status).toBe(400);
    expect((await at.raw("POST", `/v1/sessions/${id}/turns`, { body: { input: {}, as: "user:alice" } })).status).toBe(400);
    server.close();
    rmSync(folder, { recursive: true, force: true });
});
