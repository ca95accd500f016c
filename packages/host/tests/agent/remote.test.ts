/** An agent that runs somewhere else, over the SDK's own server. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent } from "@agentclientprotocol/sdk";
import { describe, expect, test } from "vitest";
import type { Json } from "@remit/language";
import { load } from "../../src/run/program.ts";
import { far } from "./far.ts";
import { judge } from "./real/schema.ts";
import { rig } from "./rig.ts";

/** Headers of every request, and what it says at a prompt: what stands there, from the last one. */
interface Heard {
    readonly headers: IncomingHttpHeaders[];
    say: string;
}

function speaker(heard: Heard) {
    return agent({ name: "far" })
        .onRequest("initialize", () => ({ protocolVersion: 1, agentInfo: { name: "far", version: "2" }, agentCapabilities: {} }))
        .onRequest("session/new", () => ({ sessionId: "s1" }))
        .onNotification("session/cancel", () => undefined)
        .onRequest("session/prompt", async ({ params, client }) => {
            const key = heard.headers.at(-1)?.authorization ?? "no key";
            const content = { type: "text", text: heard.say.replace("KEY", key) } as const;
            await client.notify("session/update", {
                sessionId: params.sessionId,
                update: { sessionUpdate: "agent_message_chunk", content },
            });
            return { stopReason: "end_turn" };
        });
}

async function served(say = "From afar."): Promise<{ readonly port: number; readonly heard: Heard } & AsyncDisposable> {
    const heard: Heard = { headers: [], say };
    const { port, [Symbol.asyncDispose]: end } = await far(
        () => speaker(heard),
        ({ headers }) => void heard.headers.push(headers),
    );
    return { port, heard, [Symbol.asyncDispose]: end };
}

test.each(["acp+http", "acp+ws"])("an agent over %s answers turn after turn, and is confined by nobody here", async (scheme) => {
    await using server = await served();
    await using here = rig({ uri: `${scheme}://127.0.0.1:${server.port}/acp` });
    expect(await here.reply([])).toMatchObject({
        text: "From afar.",
        confinement: "remote",
        stop: "end_turn",
        agent: { name: "far", version: "2" },
    });
    expect((await here.reply([])).text).toBe("From afar.");
    expect(judge(here.seen, "client").invalid).toEqual([]);
});

test.each(["acp+http", "acp+ws"])("%s: nobody there is a failure that says so", async (scheme) => {
    const { port } = await (async () => {
        await using server = await served();
        return { port: server.port };
    })();
    await using here = rig({ uri: `${scheme}://127.0.0.1:${port}/acp` });
    expect(await here.failure([])).toMatchObject({ kind: "unreachable" });
});

test.each(["acp+http", "acp+ws"])("%s: a message of more than 32 MiB ends the session, and the words say so", async (scheme) => {
    await using server = await served("x".repeat(33 * 1024 * 1024));
    await using here = rig({ uri: `${scheme}://127.0.0.1:${server.port}/acp` });
    expect(await here.failure([])).toMatchObject({ kind: "unreachable", message: expect.stringContaining("more than 33554432 bytes") });
});

describe.each(["http", "ws"])("headers over %s", (scheme) => {
    const configured = (port: number, more: { readonly [key: string]: Json } = {}) => ({
        far: { url: `${scheme}://127.0.0.1:${port}/acp`, headers: { Authorization: "Bearer $API_KEY", "X-Team": "blue" }, ...more },
    });
    test.each(["by its name", "by its URL"])("go with every request of an agent that is imported %s", async (how) => {
        await using server = await served();
        const uri = how === "by its name" ? "acp://far" : `acp+${scheme}://127.0.0.1:${server.port}/acp`;
        await using here = rig({ uri, config: { agents: configured(server.port) } });
        expect((await here.reply([])).text).toBe("From afar.");
        expect(server.heard.headers.length).toBeGreaterThan(0);
        for (const one of server.heard.headers) expect(one).toMatchObject({ authorization: "Bearer k-0123456789abcdef", "x-team": "blue" });
        expect([...here.secrets]).toContainEqual(["env:API_KEY", "k-0123456789abcdef"]);
        expect(JSON.stringify(here.seen)).not.toContain("k-0123456789abcdef");
    });
    test("do not go to another URL of the same server", async () => {
        await using server = await served();
        await using here = rig({ uri: `acp+${scheme}://127.0.0.1:${server.port}/other`, config: { agents: configured(server.port) } });
        await here.turn([]);
        expect(server.heard.headers.length).toBeGreaterThan(0);
        for (const one of server.heard.headers) expect(one.authorization).toBeUndefined();
    });
    test("leave this machine only encrypted, are none of the connection's own, and their values are not shown", async () => {
        for (const [more, message] of [
            [{ url: `${scheme}://agents.example/acp` }, /'far' would go over the network in plain text/],
            [{ headers: { "Sec-WebSocket-Key": "x" } }, /belongs to the connection/],
            [{ headers: { Authorization: "k-broken\nvalue" } }, /no request can carry/],
        ] as const) {
            await using here = rig({ uri: "acp://far", config: { agents: configured(9, more) } });
            const failure = await here.failure([]);
            expect(failure).toMatchObject({ kind: "denied", message: expect.stringMatching(message) });
            expect(JSON.stringify(failure)).not.toContain("k-broken");
        }
    });
    test("that an agent says again are in no ledger and in no value", async () => {
        const secret = "k-9876543210fedcba";
        const root = mkdtempSync(join(tmpdir(), "remit-far-"));
        await using server = await served("My key is KEY, is it not?");
        writeFileSync(join(root, "remit.json"), JSON.stringify({ agents: configured(server.port) }));
        writeFileSync(join(root, "main.remit"), 'import agent Far from "acp://far"\n\nmain func() { Far.send("Who are you?") }\n');
        const options = { workspace: root, cache: false, trust: true, env: { HOME: root, API_KEY: secret } };
        const program = await load<Json, Json>(join(root, "main.remit"), options);
        const { result, events } = program.run({});
        expect(await result).toMatchObject({ ok: true, value: expect.stringContaining("My key is") });
        const told: unknown[] = [await result];
        for await (const event of events) told.push(event);
        await program.close();
        expect(JSON.stringify(told)).not.toContain(secret);
        expect(JSON.stringify(told)).toContain("My key is");
        const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter(
            (one) => one.isFile() && one.name !== "main.remit",
        );
        for (const { parentPath, name } of files) expect(readFileSync(join(parentPath, name)).includes(secret)).toBe(false);
        expect(server.heard.headers[0]?.authorization).toBe(`Bearer ${secret}`);
        rmSync(root, { recursive: true });
    });
});
