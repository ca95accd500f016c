/** Where spans go, and the trace context that a run hands to what performs its effects. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Json } from "@remit/language";
import { type LedgerEvent, otlp } from "@remit/machine";
import { expect, test } from "vitest";
import { collectorHeaders, collectorUrl, load, sendSpans } from "../../src/index.ts";

const none = {};

test.each([
    [{ env: none }, "http://localhost:4318/v1/traces"],
    [{ env: none, endpoint: "http://a:1" }, "http://a:1/v1/traces"],
    [{ env: none, endpoint: "https://a/x/" }, "https://a/x/v1/traces"],
    [{ env: none, endpoint: "https://a/v1/traces" }, "https://a/v1/traces"],
    [{ env: { OTEL_EXPORTER_OTLP_ENDPOINT: " http://b:2/base " } }, "http://b:2/base/v1/traces"],
    [{ env: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://b", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c/in" } }, "http://c/in"],
    [{ env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c/in" }, endpoint: "http://a" }, "http://a/v1/traces"],
])("%j is %s", (collector, url) => expect(collectorUrl(collector)).toEqual({ url }));

test.each(["main.remit", "ftp://a", "", "http://"])("%j is no address", async (endpoint) => {
    expect(collectorUrl({ endpoint, env: none })).toHaveProperty("problem");
    expect(await sendSpans([], { endpoint, env: none })).toMatchObject({ ok: false });
});

test.each([0, 290])("OT3: a collector that repeats the key that it was sent, behind %i letters, is told of without it", async (before) => {
    const server = createServer((request, response) => {
        response.writeHead(401).end(`${"y".repeat(before)}${String(request.headers["api-key"])} is unknown`);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const key = "0123456789-abcdefghij";
    const sent = await sendSpans([], { endpoint, env: { OTEL_EXPORTER_OTLP_HEADERS: `api-key=${key}` } });
    server.close();
    server.closeAllConnections();
    expect(sent).toMatchObject({ ok: false, message: expect.stringMatching(/answered 401: y*\[/) });
    for (let at = 0; at + 6 <= key.length; at++) expect(JSON.stringify(sent)).not.toContain(key.slice(at, at + 6));
});

test("headers are read as the specification has them; what is none is left out", () => {
    const env = {
        OTEL_EXPORTER_OTLP_HEADERS: "Api-Key=a%2Cb, x=1=2,bad key=1,y=%,z=a%0Ab,alone,=v",
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: "x=3",
    };
    expect(collectorHeaders(env)).toEqual({ "api-key": "a,b", x: "3" });
});

test("what performs an effect gets the ids of its span, only with telemetry", async () => {
    const seen: (string | undefined)[] = [];
    const program = { source: 'import tool T from "mcp://t"\nmain func() {\n    T.a({})\n}\n' };
    for (const telemetry of [true, false]) {
        const loaded = await load<Json, Json>(program, {
            telemetry,
            performers: {
                tool: async (_effect, io) => {
                    seen.push(io.traceparent);
                    return { ok: true, value: 1, origins: [] };
                },
            },
        });
        const handle = loaded.run({});
        expect(await handle.result).toMatchObject({ ok: true });
        if (telemetry) {
            const events: LedgerEvent[] = [];
            for await (const event of handle.events) events.push(event);
            const text = JSON.stringify(otlp(events));
            const [, trace, span] = seen[0]?.split("-") ?? [];
            expect(text).toContain(`"traceId":"${trace}","spanId":"${span}"`);
            expect(new RegExp(`"spanId":"${span}","parentSpanId":"\\w+","name":"execute_tool T.a"`).test(text)).toBe(true);
        }
        await loaded.close();
    }
    expect(seen).toEqual([expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/), undefined]);
});
