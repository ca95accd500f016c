/** A Temporal server behind a proxy of the test, which hands on every call, and cuts the answers that the test names. */
import { once } from "node:events";
import {
    type ClientHttp2Session,
    connect,
    constants,
    createServer,
    type Http2Session,
    type IncomingHttpHeaders,
    type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";

/** No library tries a call again that is cut. `lost`: the call does not reach the server. `broken`: the server has answered when the call is cut. `silent`: so, and the caller hears nothing at all. */
export type Cut = "lost" | "broken" | "silent";

export interface ServerProxy extends AsyncDisposable {
    readonly address: string;
    /** By the name of the method. */
    readonly cuts: { [method: string]: Cut };
    /** Names of the methods that were cut, in their order. */
    readonly cut: readonly string[];
}

export async function proxyOf(server: { readonly address: string }): Promise<ServerProxy> {
    const cuts: { [method: string]: Cut } = {};
    const cut: string[] = [];
    const upstream = connect(`http://${server.address}`);
    const sessions = new Set<Http2Session>();
    const proxy = createServer();
    proxy.on("session", (one) => sessions.add(one));
    proxy.on("stream", (stream, headers) => {
        const method = String(headers[":path"]).replace(/^.*\//, "");
        const how = cuts[method];
        // A caller may end its call at any time.
        stream.on("error", () => undefined);
        if (how !== undefined) cut.push(method);
        if (how === "lost") stream.close(constants.NGHTTP2_CANCEL);
        else handedOn(upstream, stream, headers, how);
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    return {
        ...{ cuts, cut, address: `127.0.0.1:${(proxy.address() as AddressInfo).port}` },
        [Symbol.asyncDispose]: async () => {
            for (const one of sessions) one.destroy();
            upstream.destroy();
            proxy.close();
            await once(proxy, "close");
        },
    };
}

function handedOn(upstream: ClientHttp2Session, stream: ServerHttp2Stream, headers: IncomingHttpHeaders, how: Cut | undefined): void {
    const there = upstream.request({ ...headers });
    there.on("error", () => stream.close(constants.NGHTTP2_CANCEL));
    stream.on("close", () => there.close());
    stream.pipe(there);
    if (how !== undefined) {
        there.resume();
        if (how === "broken") there.on("end", () => stream.close(constants.NGHTTP2_CANCEL));
        return;
    }
    let trailers: IncomingHttpHeaders = {};
    there.on("trailers", (said) => {
        trailers = said;
    });
    there.on("response", (said, flags) => {
        if (stream.closed) return;
        const isAll = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
        stream.respond(said, isAll ? { endStream: true } : { waitForTrailers: true });
        if (isAll) return;
        stream.on("wantTrailers", () => stream.sendTrailers(trailers));
        there.pipe(stream);
    });
}
