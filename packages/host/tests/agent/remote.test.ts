/** An agent that runs somewhere else, over the SDK's own server. */
import { createServer } from "node:http";
import { agent } from "@agentclientprotocol/sdk";
import { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { expect, test } from "vitest";
import { judge } from "./real/schema.ts";
import { rig } from "./rig.ts";
import { Upgrades } from "./sockets.ts";

function speaker() {
    return agent({ name: "far" })
        .onRequest("initialize", () => ({ protocolVersion: 1, agentInfo: { name: "far", version: "2" }, agentCapabilities: {} }))
        .onRequest("session/new", () => ({ sessionId: "s1" }))
        .onNotification("session/cancel", () => undefined)
        .onRequest("session/prompt", async ({ params, client }) => {
            const content = { type: "text", text: "From afar." } as const;
            await client.notify("session/update", {
                sessionId: params.sessionId,
                update: { sessionUpdate: "agent_message_chunk", content },
            });
            return { stopReason: "end_turn" };
        });
}

async function served(): Promise<{ readonly port: number } & AsyncDisposable> {
    const acp = new AcpServer({ createAgent: speaker });
    const http = createServer(createNodeHttpHandler(acp));
    http.on("upgrade", createNodeWebSocketUpgradeHandler(acp, new Upgrades()));
    await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
    return {
        port: (http.address() as { port: number }).port,
        [Symbol.asyncDispose]: async () => {
            await acp.close();
            http.closeAllConnections();
            await new Promise<void>((done) => http.close(() => done()));
        },
    };
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
