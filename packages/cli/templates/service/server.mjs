// An API in front of main.remit: POST a message to /order, get its order; with `Accept: text/event-stream`, what the model writes as it comes.
// Run: node server.mjs, then the two lines of the README.
import { createServer } from "node:http";
import { load, RemitError } from "remit-lang";

const program = await load("main.remit", { ledger: ".remit/service.db", limits: { tokens: 20_000, time: 60_000 } });
const BODY_BYTES = 100_000;

async function bodyOf(request) {
    const parts = [];
    let bytes = 0;
    for await (const part of request.iterator({ destroyOnReturn: false })) {
        bytes += part.length;
        if (bytes > BODY_BYTES) return null;
        parts.push(part);
    }
    return Buffer.concat(parts).toString("utf8");
}

async function answer(request, response) {
    const say = (status, value) => response.writeHead(status, { "content-type": "application/json" }).end(`${JSON.stringify(value)}\n`);
    if (request.method !== "POST" || request.url !== "/order") return say(404, { error: "POST /order" });
    const body = await bodyOf(request);
    if (body === null) {
        response.setHeader("connection", "close");
        return say(413, { error: `a message has at most ${BODY_BYTES} bytes` });
    }
    let input;
    try {
        input = JSON.parse(body);
    } catch {
        return say(400, { error: "the body is not JSON" });
    }
    // a client that goes away stops its run
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const streams = request.headers.accept === "text/event-stream";
    const send = (event, data) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    let handle;
    try {
        handle = program.run(input, { signal: gone.signal, on: streams ? { part: (path, part) => send("part", part) } : {} });
    } catch (error) {
        // an input that does not fit begins no run
        if (!(error instanceof RemitError)) throw error;
        return say(400, { error: error.failure.message });
    }
    if (streams) response.writeHead(200, { "content-type": "text/event-stream" });
    const { ok, run, value, failure } = await handle.result;
    if (!streams) return ok ? say(200, { run, ...value }) : say(500, { run, error: failure.message });
    send(ok ? "value" : "error", ok ? { run, ...value } : { run, message: failure.message });
    response.end();
}

const server = createServer((request, response) =>
    answer(request, response).catch((error) => {
        // a client that goes away ends its own request alone
        if (!request.socket.destroyed) console.error(error);
        response.destroy();
    }),
);
server.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/order`));
for (const signal of ["SIGINT", "SIGTERM"])
    process.once(signal, async () => {
        server.close();
        await program.close();
        process.exit(0);
    });
