/** Spans to a collector on loopback: sent once when a run has ended, never a reason for it to fail. */
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Ran, type Room, room } from "./remit.ts";

let at: Room;
let collector: Server;
let address: string;
let status = 200;
/** Resolves when a span has come: what waits for it is answered only then. */
let held: Promise<void>;
let spanCame: () => void;
let got: { path: string; headers: IncomingHttpHeaders; body: string }[] = [];

beforeAll(async () => {
    at = room();
    at.write(
        "a.remit",
        `import llm M from "mock:"
main agent A {
    model M
    role "r"
    description "the secret of the trade"
    main func() {
        generate({ input: "Say it shortly" }) -> string
    }
}
`,
    );
    collector = createServer((request, response) => {
        let body = "";
        request.on("data", (piece) => {
            body += piece;
        });
        request.on("end", () => {
            if (request.url === "/held") return void held.then(() => response.writeHead(200).end("at last"));
            spanCame();
            got.push({ path: request.url ?? "", headers: request.headers, body });
            response.writeHead(status, { "content-type": "application/json" }).end(status === 200 ? "{}" : "full up");
        });
    });
    await new Promise<void>((done) => collector.listen(0, "127.0.0.1", done));
    address = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
});
afterAll(() => {
    collector.close();
    at.clear();
});
beforeEach(() => {
    got = [];
    status = 200;
    held = new Promise((done) => {
        spanCame = done;
    });
});

/** Without blocking this process, in which the collector is. */
const remit = (env: Record<string, string>, ...args: string[]): Promise<Ran> => at.started({ env }, ...args).ran;
const spans = (): { name: string; spanId: string }[] =>
    got.flatMap(({ body }) => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans as { name: string; spanId: string }[]);
const names = (): string[] => spans().map(({ name }) => name);

test("a run's spans go to the endpoint, without content", async () => {
    expect(await remit({}, "run", "a.remit", "--quiet", "--otel", address)).toMatchObject({ code: 0, err: "" });
    expect(new Set(got.map((one) => one.path))).toEqual(new Set(["/v1/traces"]));
    expect(got[0]?.headers["content-type"]).toBe("application/json");
    expect(names().sort()).toEqual([expect.stringContaining("chat "), "generate A.main[0]", "invoke_workflow A"]);
    expect(got[0]?.body).not.toMatch(/secret of the trade|Say it shortly/);
});

test("the environment says where, with what headers, as whom; content only when asked for", async () => {
    const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: `${address}/base/`,
        OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b,wrong,=c",
        OTEL_SERVICE_NAME: "shop",
        OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,service.version=2%2E1,service.name=other,=x",
    };
    expect(await remit(env, "run", "a.remit", "--quiet", "--otel", "--otel-content")).toMatchObject({ code: 0, err: "" });
    expect(got[0]).toMatchObject({ path: "/base/v1/traces", headers: { "x-key": "a b" } });
    expect(got[0]?.body).toMatch(/secret of the trade/);
    const [about] = JSON.parse(got[0]?.body ?? "{}").resourceSpans;
    const attributes = Object.fromEntries(
        about.resource.attributes.map(({ key, value }: { key: string; value: { stringValue: string } }) => [key, value.stringValue]),
    );
    expect(attributes).toMatchObject({ "service.name": "shop", "service.version": "2.1", "deployment.environment.name": "test" });
    expect(attributes).toHaveProperty(["telemetry.sdk.version"]);
    expect(about.scopeSpans[0].scope).toEqual({ name: "remit", version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
});

test("a finished run is sent by `trace`, with the same ids", async () => {
    await remit({}, "run", "a.remit", "--quiet", "--otel", address);
    const ids = /"traceId":"\w+"/.exec(got[0]?.body ?? "")?.[0];
    expect(await remit({}, "trace", "last", "--otel", address)).toMatchObject({ code: 0, err: `Sent 3 spans to ${address}/v1/traces.\n` });
    expect(got.at(-1)?.body).toContain(ids);
});

test("a span is sent when it ends, while its run goes on, and once", async () => {
    at.write(
        "slow.remit",
        `import tool Repo from "file://workspace"
import tool Web from "${address}"
main func() {
    Repo.read({ path: "a.remit" })
    Web.get({ url: "/held" }).status
}
`,
    );
    const ran = await remit({}, "run", "slow.remit", "--quiet", "--yes", "--otel", address);
    expect(ran).toMatchObject({ code: 0, out: "200\n" });
    expect(names()[0]).toBe("execute_tool Repo.read");
    expect(names().sort()).toEqual(["execute_tool Repo.read", "execute_tool Web.get", "invoke_workflow slow.remit"]);
});

test("a collector that is down, or full, is a warning; no address is a mistake", async () => {
    status = 503;
    const full = await remit({}, "run", "a.remit", "--quiet", "--otel", address);
    expect(full).toMatchObject({ code: 0, err: expect.stringMatching(/^warning: no spans were sent: .* answered 503: full up\n$/) });
    const down = await remit({}, "run", "a.remit", "--quiet", "--otel", "http://127.0.0.1:9");
    expect(down).toMatchObject({ code: 0, err: expect.stringContaining("warning: no spans were sent: nothing answers at") });
    expect(await remit({}, "run", "--quiet", "--otel", "a.remit", "a.remit")).toMatchObject({
        code: 2,
        err: expect.stringContaining("is not the http address"),
    });
    expect((await remit({}, "run", "a.remit", "--otel-content")).code).toBe(2);
});
