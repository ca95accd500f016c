/** A server of agents on the loopback: the SDK's own, over HTTP and WebSockets. */
import { createServer, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } from "@agentclientprotocol/sdk/experimental/node";
import { type AgentFactory, AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { Upgrades } from "./sockets.ts";

export interface Far extends AsyncDisposable {
    readonly port: number;
    /** Ends every connection at once, as the end of the server's process would. */
    drop(): void;
}

/** `heard`: of each request. */
export async function far(createAgent: AgentFactory, heard: (request: IncomingMessage) => void = () => undefined): Promise<Far> {
    const acp = new AcpServer({ createAgent });
    const http = createServer(createNodeHttpHandler(acp));
    const sockets = new Set<Socket>();
    http.on("upgrade", createNodeWebSocketUpgradeHandler(acp, new Upgrades()));
    http.on("connection", (socket) => {
        sockets.add(socket);
        socket.once("close", () => sockets.delete(socket));
    });
    for (const event of ["request", "upgrade"]) http.prependListener(event, heard);
    await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
    return {
        port: (http.address() as { port: number }).port,
        drop: () => {
            for (const socket of sockets) socket.destroy();
        },
        [Symbol.asyncDispose]: async () => {
            await acp.close();
            http.closeAllConnections();
            await new Promise<void>((done) => http.close(() => done()));
        },
    };
}
