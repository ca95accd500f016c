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
import { type Room, room } from "./room.ts";

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

/** Keeps one note in its process; `keep` answers with what was there before, once two processes of it run. */
const NOTES = `import { existsSync, writeFileSync } from "node:fs";
const [folder] = process.argv.slice(2);
let [note, text] = ["", ""];
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
process.stdin.on("data", (chunk) => {
    text += chunk;
    for (let at = text.indexOf("\\n"); at >= 0; at = text.indexOf("\\n")) {
        const { id, method, params } = JSON.parse(text.slice(0, at));
        text = text.slice(at + 1);
        if (method === "initialize")
            say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "notes", version: "1" } });
        else if (method === "tools/list") say(id, { tools: [{ name: "keep", inputSchema: { type: "object" } }] });
        else if (method === "tools/call") {
            const { mine, other } = params.arguments;
            const before = note;
            note = mine;
            writeFileSync(folder + "/" + mine, "");
            const look = setInterval(() => {
                if (!existsSync(folder + "/" + other)) return;
                clearInterval(look);
                say(id, { content: [{ type: "text", text: "before: " + before + ", now: " + note }] });
            }, 10);
        }
    }
});
process.stdin.on("end", () => process.exit(0));
`;

async function notes(): Promise<{ readonly folder: string; readonly at: Room }> {
    const folder = mkdtempSync(join(tmpdir(), "remit-identity-"));
    writeFileSync(join(folder, "notes.mjs"), NOTES);
    const command = { command: "node", args: [join(folder, "notes.mjs"), folder] };
    writeFileSync(join(folder, "remit.json"), JSON.stringify({ mcpServers: { Notes: command } }));
    writeFileSync(
        join(folder, "main.remit"),
        `import tool Notes from "mcp://Notes" { keep: may }
main func(input: { mine: string, other: string }) { Notes.keep({ mine: input.mine, other: input.other }).text }
`,
    );
    return { folder, at: await room([], { program: join(folder, "main.remit"), load: { cache: false, trust: true } }) };
}

test("a tool server has what it keeps for a session at the next turn too, though a person thinks in between", async () => {
    const { folder, at } = await notes();
    await using _ = at;
    const { id } = await at.owner.open();
    const turn = (mine: string): Promise<TurnInfo> =>
        at.owner.request("POST", `/v1/sessions/${id}/turns?wait=1`, { input: { mine, other: mine } });
    expect(await turn("first")).toMatchObject({ value: "before: , now: first" });
    // Longer than connections stay where no person is waited for.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(await turn("second")).toMatchObject({ value: "before: first, now: second" });
    rmSync(folder, { recursive: true, force: true });
});

test("two users at once have a session with a tool server each: what it keeps of one the other does not see (MS9)", async () => {
    const { folder, at } = await notes();
    await using _ = at;
    const turn = async (mine: string, other: string): Promise<TurnInfo> => {
        const { code } = await at.owner.request<{ code: string }>("POST", "/v1/pairings", { as: `user:${mine}` });
        const { token } = await at.owner.request<{ token: string }>("POST", "/v1/pair", { code, name: mine });
        const client = new ServeClient({ url: at.server.url, token });
        const { id } = await client.open();
        return client.request("POST", `/v1/sessions/${id}/turns?wait=1`, { input: { mine, other } });
    };
    const turns = await Promise.all([turn("alice", "bob"), turn("bob", "alice")]);
    expect(turns).toMatchObject([
        { status: "done", value: "before: , now: alice" },
        { status: "done", value: "before: , now: bob" },
    ]);
    rmSync(folder, { recursive: true, force: true });
});
