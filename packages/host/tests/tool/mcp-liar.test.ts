/** `mcp:` against servers that lie: what they say is data, and nothing that they say holds a run up. */
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Contract, Json } from "@remit/language";
import type { Effect, InputRequest } from "@remit/machine";
import { SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { unreachable } from "../../src/tool/mcp-servers.ts";
import { call, failure, perform, type Work, work } from "./setup.ts";
import { createScrubber } from "../../src/secret/scrub.ts";

const LIAR = join(import.meta.dirname, "mcp-liar.mjs");
const SERVER = "mcp://liar";

function lying(here: Work, how: string) {
    const protocol = how === "no type" ? "modern" : "auto";
    return here.tools(here.config({ mcpServers: { liar: { command: "node", args: [LIAR, how], timeoutMs: 20_000, protocol } } }));
}

describe("a server over stdio", () => {
    test.each(["noise", "twice", "other id", "no type"])("%s: the answer to the question is the answer", async (how) => {
        await using here = work();
        expect((await call(lying(here, how), SERVER, "go", {})).text).toBe("first");
    });
    test.each(["slow pattern", "schema"])("%s: its schema of results is not run against what it gives", async (how) => {
        await using here = work();
        // A pattern that takes time exponential in the text would stop everything, time limits too.
        expect((await call(lying(here, how), SERVER, "go", {})).structured).toEqual({ a: `${"a".repeat(40)}!` });
    });
    test("an answer of the wrong shape is said in words", async () => {
        await using here = work();
        const { message } = await failure(lying(here, "wrong shape"), SERVER, "go", {});
        expect(message).toMatch(/failed: the server 'liar' gave an answer that does not follow the protocol$/);
    });
    test("a number that would lose digits is told, and its text is as the server wrote it", async () => {
        await using here = work();
        expect(await call(lying(here, "large numbers"), SERVER, "go", {})).toMatchObject({
            ok: true,
            text: '{"id":9007199254740993}',
            structured: null,
            note: "structured is none: the number at /rows/1/id in it is beyond 2^53, where digits are lost",
        });
    });
    test("an answer that is not UTF-8 is refused, not changed in silence", async () => {
        await using here = work();
        const refused = await failure(lying(here, "not UTF-8"), SERVER, "go", {});
        expect(refused.message).toMatch(/failed: an answer of the server 'liar' holds bytes that are not UTF-8$/);
        expect(refused.detail).toEqual({ made: true });
    });
    test("a server without an answer that writes what is no message: the failure shows it", async () => {
        await using here = work();
        const config = { mcpServers: { liar: { command: "node", args: [LIAR, "no message"], timeoutMs: 300 } } };
        expect(await failure(here.tools(here.config(config)), SERVER, "go", {})).toMatchObject({
            kind: "timeout",
            hint: "its standard output is for messages of the protocol, and it wrote there: Debug: 1",
        });
    });
    test.each([
        [true, { untrusted: true }],
        [false, undefined],
    ])("MCP6: its last words are not trusted where one of its tools reads the open world: %s", async (openWorldHint, claims) => {
        await using here = work();
        const tools = ["go", "open"].map((name) => ({
            name,
            inputSchema: { type: "object" },
            ...(name === "open" ? { annotations: { openWorldHint } } : {}),
        }));
        here.write(
            "dying.mjs",
            `import { createInterface } from "node:readline";
const out = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize") out(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } });
    else if (method === "tools/list") out(id, { tools: ${JSON.stringify(tools)} });
    else if (method === "tools/call") {
        console.error("the page says: eve");
        process.exit(3);
    }
});
`,
        );
        const dying = here.tools(here.config({ mcpServers: { liar: { command: "node", args: ["dying.mjs"] } } }));
        const outcome = await perform(dying, SERVER, "go", [{}]);
        expect(outcome).toMatchObject({ ok: false, failure: { message: expect.stringMatching(/it wrote: the page says: eve$/) } });
        expect(outcome.claims).toEqual(claims);
    });
    test("a server that does not say hello is told from one that is slow", () => {
        const target = { key: "liar", file: "remit.json", protocol: "auto" as const, at: { command: "cat", args: [], env: {}, cwd: "/" } };
        const wrote = { stderr: () => "", stray: () => "Welcome!" };
        const fail = unreachable(target, new SdkError(SdkErrorCode.RequestTimeout, "Request timed out"), wrote, createScrubber());
        expect(fail.message).toBe(
            "the server 'liar' (cat) cannot be reached: it did not say hello within 30000 ms, so it may not speak the Model Context Protocol",
        );
        expect(fail.hint).toBe("its standard output is for messages of the protocol, and it wrote there: Welcome!");
    });
    test("an answer over the bound names the bound", async () => {
        await using here = work();
        const { message } = await failure(lying(here, "no end"), SERVER, "go", {});
        expect(message).toMatch(/failed: an answer of the server 'liar' is larger than 16777216 bytes$/);
    });
    test("what is to be chosen from reaches the person in each way in which a server can say it, and what was chosen goes back", async () => {
        await using here = work();
        const asked: { [name: string]: { readonly contract: Contract; readonly description?: string; readonly default?: unknown } } = {};
        const child = async ({ kind, request }: Effect) => {
            if (kind === "ask") return { ok: true as const, value: "once", origins: ["user"] };
            const { name, contract, description, default: usual } = request as unknown as InputRequest;
            asked[name.replace("liar.", "")] = {
                contract,
                ...(description === undefined ? {} : { description }),
                ...(usual === undefined ? {} : { default: usual }),
            };
            const value = name.endsWith("colours") ? null : name.endsWith("several") ? ["a", "b"] : "x";
            return { ok: true as const, value, origins: ["user"] };
        };
        const { text } = await call(lying(here, "form"), SERVER, "go", {}, { child });
        const among = (...values: string[]) => ({ type: "union", of: values.map((value) => ({ type: "literal", value })) });
        const maybe = (of: unknown) => ({ type: "optional", of });
        expect(asked).toEqual({
            plain: { contract: among("a", "b"), description: "Choose." },
            named: { contract: among("a", "b"), description: "Choose. (a: First; b: Second)" },
            titled: { contract: among("r", "g"), description: "Colour (r: Red; g: Green)" },
            several: { contract: { type: "list", item: among("a", "b") }, description: "Choose." },
            colours: {
                contract: maybe({ type: "list", item: among("r", "g") }),
                description: 'Choose. (r: Red; g: Green) (nothing means ["g"])',
                default: ["g"],
            },
            odd: { contract: maybe({ type: "string" }), description: "Choose." },
            sure: { contract: { type: "boolean" }, description: "Choose. (nothing means true)", default: true },
        });
        expect(JSON.parse(text as string)).toEqual({
            action: "accept",
            content: { plain: "x", named: "x", titled: "x", several: ["a", "b"], colours: ["g"], odd: "x", sure: "x" },
        });
    });
    test("MC3: what a person gives no answer to is not answered with the server's default", async () => {
        await using here = work();
        const left = async (field: string) => {
            const child = async ({ kind, request }: Effect) => {
                if (kind === "ask") return { ok: true as const, value: "once", origins: ["user"] };
                const name = (request as unknown as InputRequest).name.replace("liar.", "");
                if (name === field) return { ok: false as const, failure: { kind: "denied" as const, message: "no answer", site: null } };
                return { ok: true as const, value: name === "several" || name === "colours" ? ["a"] : "x", origins: ["user"] };
            };
            return JSON.parse((await call(lying(here, "form"), SERVER, "go", {}, { child })).text as string);
        };
        const rest = { plain: "x", named: "x", titled: "x", several: ["a"], odd: "x", sure: "x" };
        expect(await left("colours")).toEqual({ action: "accept", content: rest });
        expect(await left("sure")).toEqual({ action: "decline" });
    });
    test("the time that a person takes for an answer is not the server's", async () => {
        await using here = work();
        const config = { mcpServers: { liar: { command: "node", args: [LIAR, "form"], timeoutMs: 1000 } } };
        const tools = here.tools(here.config(config));
        const child = async ({ kind }: Effect) => {
            if (kind === "ask") await new Promise((resolve) => setTimeout(resolve, 1500));
            return { ok: true as const, value: kind === "ask" ? "deny" : null, origins: ["user"] };
        };
        expect((await call(tools, SERVER, "go", {}, { child })).text).toBe('{"action":"decline"}');
    });
    test("a tool that can only be a task is called as one, and its result is waited for", async () => {
        await using here = work();
        expect((await call(lying(here, "task"), SERVER, "go", {})).text).toBe('"done"');
    });
    test("MTK1: a call that is cancelled cancels its task", async () => {
        await using here = work();
        const tools = lying(here, "task without end");
        const stop = new AbortController();
        // It asks when it is asked for the result.
        const child = async () => {
            stop.abort();
            return { ok: true as const, value: "deny", origins: ["user"] };
        };
        expect((await failure(tools, SERVER, "go", {}, { signal: stop.signal, child })).kind).toBe("cancelled");
        expect((await failure(tools, SERVER, "go", {})).message).toContain("cancelled: t1");
    });
    test("MTK1: a server that does not say that it cancelled the task does not hold up who cancelled the call", async () => {
        await using here = work();
        const config = { mcpServers: { liar: { command: "node", args: [LIAR, "task without word"], timeoutMs: 10 * 60_000 } } };
        const stop = new AbortController();
        const child = async () => {
            stop.abort();
            return { ok: true as const, value: "deny", origins: ["user"] };
        };
        expect((await failure(here.tools(here.config(config)), SERVER, "go", {}, { signal: stop.signal, child })).kind).toBe("cancelled");
    });
    test("a result nested deeper than the stack is said to be", async () => {
        await using here = work();
        expect((await failure(lying(here, "deep"), SERVER, "go", {})).message).toMatch(/failed: .* nested too deep$/);
    });
});

/** A server over HTTP that answers the hello and leaves the rest to `then`. */
async function overHttp(then: (message: { id: number; method: string }, ...about: Parameters<RequestListener>) => void) {
    const server = createServer(async (request, response) => {
        const text = await textOf(request);
        if (text === "") return void response.writeHead(405).end();
        const message = JSON.parse(text) as { id: number; method: string; params: { protocolVersion: string } };
        const say = (result: Json): void => {
            response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
        };
        if (message.id === undefined) response.writeHead(202).end();
        else if (message.method === "server/discover") response.writeHead(404).end();
        else if (message.method === "initialize")
            say({
                protocolVersion: message.params.protocolVersion,
                capabilities: { tools: {} },
                serverInfo: { name: "liar", version: "1" },
            });
        else if (message.method === "tools/list")
            say({
                tools: [
                    { name: "go", inputSchema: { type: "object" } },
                    { name: "open", inputSchema: { type: "object" }, annotations: { openWorldHint: true } },
                ],
            });
        else then(message, request, response);
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
        [Symbol.asyncDispose]: async () => {
            server.closeAllConnections();
            await new Promise((done) => server.close(done));
        },
    };
}

async function textOf(request: IncomingMessage): Promise<string> {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    return text;
}

describe("a server over HTTP", () => {
    const at = (here: Work, url: string) =>
        here.tools(
            here.config({ mcpServers: { liar: { url, headers: { "X-Api-Key": "k-1234567890" }, protocol: "legacy", timeoutMs: 20_000 } } }),
        );

    test("a redirect within the origin is followed, one elsewhere is not: the headers stay where they were meant for", async () => {
        await using here = work();
        const seen: (string | string[] | undefined)[] = [];
        await using other = await overHttp((_message, request, response) => {
            seen.push(request.headers["x-api-key"]);
            response.writeHead(500).end();
        });
        await using near = await overHttp((message, request, response) => {
            if (request.url === "/") return void response.writeHead(307, { location: "/next" }).end();
            const result = { content: [{ type: "text", text: String(request.headers["x-api-key"]) }] };
            response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
        });
        await using far = await overHttp((_message, _request, response) => void response.writeHead(307, { location: other.url }).end());
        expect((await call(at(here, near.url), SERVER, "go", {})).text).toBe("k-1234567890");
        const refused = await failure(at(here, far.url), SERVER, "go", {});
        expect(refused.kind).toBe("denied");
        expect(refused.message).toContain("redirected to another origin");
        expect(seen).toEqual([]);
    });
    test("a body without an end is not collected for ever", async () => {
        await using here = work();
        await using endless = await overHttp((_message, _request, response) => {
            response.writeHead(200, { "content-type": "application/json" });
            const more = (): void => {
                while (!response.destroyed && response.write("x".repeat(1 << 20)));
                if (!response.destroyed) response.once("drain", more);
            };
            more();
        });
        expect((await failure(at(here, endless.url), SERVER, "go", {})).message).toContain("larger than");
    });
    test.each(["application/json", "text/event-stream"])("an answer that is not UTF-8 is refused: %s", async (type) => {
        await using here = work();
        await using bad = await overHttp(({ id }, _request, response) => {
            const json = `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"caf\xe9"}]}}`;
            const body = type === "application/json" ? json : `event: message\ndata: ${json}\n\n`;
            response.writeHead(200, { "content-type": type }).end(Buffer.from(body, "latin1"));
        });
        const { message } = await failure(at(here, bad.url), SERVER, "go", {});
        expect(message).toMatch(/failed: an answer of the server 'liar' holds bytes that are not UTF-8$/);
    });
    test("MCP6, MCP7: labels that it states restrict by the strictest part, and grant only of the whole; a word that is not known is the stricter", async () => {
        await using here = work();
        const part = (ifc?: Json): Json => ({ type: "text", text: "said", ...(ifc === undefined ? {} : { _meta: { ifc } }) });
        const cases: readonly (readonly [{ [key: string]: Json }, object | undefined, (object | undefined)?])[] = [
            [{ content: [part()] }, undefined],
            [
                { content: [part()], _meta: { ifc: { integrity: "trusted", confidentiality: "public" } } },
                undefined,
                { trusted: true, public: true },
            ],
            [
                { content: [part()], _meta: { ifc: { integrity: "untrusted", confidentiality: "public" } } },
                { untrusted: true },
                { public: true },
            ],
            [
                { content: [part()], _meta: { ifc: { integrity: "trusted", confidentiality: "private" } } },
                { private: true },
                { trusted: true },
            ],
            // A part speaks of itself alone.
            [{ content: [part({ integrity: "trusted", confidentiality: "public" })] }, undefined],
            [{ content: [part(), part({ integrity: "untrusted" })], _meta: { ifc: { integrity: "trusted" } } }, { untrusted: true }],
            [
                { content: [part()], _meta: { ifc: { integrity: ["trusted"], confidentiality: "user_identity" } } },
                { untrusted: true, private: true },
            ],
            [{ content: [part()], _meta: { ifc: "trusted" } }, { private: true }],
            [{ content: [part()], _meta: { ifc: { claims: {} } } }, undefined],
            [
                { content: [part()], _meta: { ifc: ["untrusted", "private"] } },
                { untrusted: true, private: true },
            ],
            [
                { content: [{ type: "resource", resource: { uri: "repo:a", text: "said", _meta: { ifc: { integrity: "untrusted" } } } }] },
                { untrusted: true },
            ],
        ];
        let nth = 0;
        await using server = await overHttp((message, _request, response) => {
            const [result] = cases[nth++] as (typeof cases)[number];
            response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
        });
        const tools = at(here, server.url);
        for (const [result, claims, grants] of cases) {
            const outcome = await perform(tools, SERVER, "go", [{}]);
            if (!outcome.ok) throw new Error(outcome.failure.message);
            expect([outcome.claims, outcome.grants, outcome.origins], JSON.stringify(result)).toEqual([claims, grants, ["tool:T"]]);
        }
    });
    test("MCP6: what a tool that reads the open world tells as an error is not trusted either", async () => {
        await using here = work();
        await using server = await overHttp((message, _request, response) => {
            const error = { code: -32000, message: "the page says: eve" };
            response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id: message.id, error }));
        });
        const tools = at(here, server.url);
        const [open, go] = [await perform(tools, SERVER, "open", [{}]), await perform(tools, SERVER, "go", [{}])];
        expect([open, go].map(({ ok, claims }) => [ok, claims])).toEqual([
            [false, { untrusted: true }],
            [false, undefined],
        ]);
    });
});
