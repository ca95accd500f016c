/**
 * The one way out of the sandbox: to the endpoints of the agent's model, by a socket.
 *
 * Boundary: the outer side is a proxy (RFC 9110: CONNECT and absolute URLs) that knows which origins are meant; the inner side is a script that
 * only carries bytes to that socket, so that nothing inside decides anything.
 *
 * RY1: a connection leads to the host and port of one of the named origins, or nowhere.
 */
import { connect } from "node:net";
import { chmodSync } from "node:fs";

export interface Relay {
    /** Of the loopback; null for a socket. */
    readonly port: number | null;
    close(): Promise<void>;
    /** Targets that were asked for and refused. */
    readonly refused: readonly string[];
}

const HOP = ["connection", "proxy-connection", "proxy-authorization", "keep-alive", "te", "trailer", "upgrade", "transfer-encoding"];
const MAX_REFUSED = 100;

/** Serves at a Unix socket, or at a port of the loopback (null). `endpoints`: origins, http or https. */
export async function relay(socket: string | null, endpoints: readonly URL[]): Promise<Relay> {
    // Loaded here: it brings much of Node with it, which most runs do not need.
    const { createServer, request: ask } = await import("node:http");
    const targets = new Set(endpoints.map(targetOf));
    const plain = new Set(endpoints.filter(({ protocol }) => protocol === "http:").map(targetOf));
    const refused: string[] = [];
    const refuse = (target: string): void => {
        if (refused.length < MAX_REFUSED) refused.push(target.slice(0, 200));
    };
    const open = new Set<{ destroy(): unknown }>();
    const keep = <
        T extends { destroy(): unknown; once(event: "close", done: () => void): unknown; on(event: "error", done: () => void): unknown },
    >(
        one: T,
    ): T => {
        open.add(one);
        one.once("close", () => open.delete(one));
        // Either side may go at any time; the other is ended with it.
        one.on("error", () => one.destroy());
        return one;
    };
    const server = createServer((request, response) => {
        const url = URL.canParse(request.url ?? "") ? new URL(request.url as string) : null;
        if (url === null || url.protocol !== "http:" || !plain.has(targetOf(url))) {
            refuse(request.url ?? "");
            response.writeHead(403, { "content-type": "text/plain", connection: "close" }).end("not an endpoint of this agent's model\n");
            return;
        }
        const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !HOP.includes(name)));
        const onward = keep(
            ask(url, { method: request.method ?? "GET", headers: { ...headers, host: url.host }, agent: false }, (answer) => {
                const back = Object.entries(answer.headers).filter(([name]) => !HOP.includes(name));
                response.writeHead(answer.statusCode ?? 502, Object.fromEntries(back) as NodeJS.Dict<string | string[]>);
                answer.pipe(response);
            }),
        );
        onward.on("error", () =>
            response.headersSent ? response.destroy() : response.writeHead(502).end("the endpoint does not answer\n"),
        );
        response.on("close", () => onward.destroy());
        request.pipe(onward);
    });
    server.on("connect", (request, client, head) => {
        keep(client);
        const target = (request.url ?? "").toLowerCase();
        if (!targets.has(target)) {
            refuse(target);
            client.end("HTTP/1.1 403 Forbidden\r\n\r\n");
            return;
        }
        const at = target.lastIndexOf(":");
        const onward = keep(connect(Number(target.slice(at + 1)), target.slice(0, at).replace(/^\[|\]$/g, "")));
        onward.once("connect", () => {
            client.write("HTTP/1.1 200 Connection established\r\n\r\n");
            if (head.length > 0) onward.write(head);
            client.pipe(onward).pipe(client);
        });
        onward.once("close", () => client.destroy());
        client.once("close", () => onward.destroy());
    });
    server.on("connection", (client) => void keep(client));
    server.on("clientError", (_error, client) => client.destroy());
    await new Promise<void>((done, fail) => {
        server.once("error", fail);
        if (socket === null) server.listen(0, "127.0.0.1", done);
        else server.listen(socket, done);
    });
    if (socket !== null) chmodSync(socket, 0o600);
    const address = server.address();
    return {
        port: address !== null && typeof address === "object" ? address.port : null,
        refused,
        close: async () => {
            for (const one of open) one.destroy();
            await new Promise<void>((done) => server.close(() => done()));
        },
    };
}

/** `host:port`, as CONNECT says it. */
export function targetOf(url: URL): string {
    return `${url.hostname.toLowerCase()}:${url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port}`;
}

/** Endpoints on the outside's own loopback: inside, the same port leads to them, so that no URL must be rewritten. */
export function loopbackPorts(endpoints: readonly URL[]): { readonly port: number; readonly target: string }[] {
    return endpoints
        .filter(({ hostname }) => hostname === "localhost" || hostname === "127.0.0.1" || hostname === "[::1]")
        .map((url) => ({ port: Number(url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port), target: targetOf(url) }));
}

/** Where the proxy is inside, for programs that ask the environment. */
export const PROXY_PORT = 3128;

export function proxyEnv(port: number = PROXY_PORT): { [name: string]: string } {
    const proxy = `http://127.0.0.1:${port}`;
    const own = "localhost,127.0.0.1,::1";
    return {
        HTTP_PROXY: proxy,
        HTTPS_PROXY: proxy,
        http_proxy: proxy,
        https_proxy: proxy,
        NO_PROXY: own,
        no_proxy: own,
        NODE_USE_ENV_PROXY: "1",
    };
}

/**
 * The inner side, as a script for `node -e`: ports of the loopback inside, each carried to the socket; then the agent, whose end is its own.
 * Its argument: `{socket, proxy, ports: [{port, target}], command: [...]}`. Kept free of anything a folder would have to be bound for.
 */
export const INSIDE = `
const net = require("node:net");
const { spawn } = require("node:child_process");
const { socket, proxy, ports, command } = JSON.parse(process.argv[1]);
const join = (a, b) => {
    a.on("error", () => b.destroy()).on("close", () => b.destroy());
    b.on("error", () => a.destroy()).on("close", () => a.destroy());
    a.pipe(b).pipe(a);
};
const carry = (client) => join(client, net.connect(socket));
const tunnel = (target) => (client) => {
    client.pause();
    client.on("error", () => client.destroy());
    const out = net.connect(socket, () => out.write("CONNECT " + target + " HTTP/1.1\\r\\nHost: " + target + "\\r\\n\\r\\n"));
    out.on("error", () => client.destroy());
    let head = Buffer.alloc(0);
    const answer = (chunk) => {
        head = Buffer.concat([head, chunk]);
        const end = head.indexOf("\\r\\n\\r\\n");
        if (end < 0) return;
        out.off("data", answer);
        out.pause();
        if (!head.toString("latin1").startsWith("HTTP/1.1 200")) return client.destroy(), out.destroy();
        if (head.length > end + 4) client.write(head.subarray(end + 4));
        join(client, out);
    };
    out.on("data", answer);
};
const listen = (port, host, serve) =>
    new Promise((done) => net.createServer(serve).on("error", () => done()).listen(port, host, () => done()));
Promise.all([
    listen(proxy, "127.0.0.1", carry),
    ...ports.flatMap(({ port, target }) => ["127.0.0.1", "::1"].map((host) => listen(port, host, tunnel(target)))),
]).then(() => {
    const child = spawn(command[0], command.slice(1), { stdio: "inherit" });
    child.on("error", (error) => {
        process.stderr.write("cannot be started: " + error.message + "\\n");
        process.exit(127);
    });
    child.on("exit", (code, signal) => process.exit(signal === null ? code : 128));
});
`;
