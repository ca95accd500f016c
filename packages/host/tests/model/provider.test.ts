/** Models of providers over real HTTP, against a loopback server that speaks their formats. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { ToolOffer } from "@remit/machine";
import { describe, expect, it } from "vitest";
import { createModels, type ModelsConfig } from "../../src/model/models.ts";
import { MAX_BYTES } from "../../src/model/sdk.ts";
import { replyBound } from "../../src/model/reply-bound.ts";
import { type FakeReply, startFakeProvider } from "./fake-provider.ts";
import { ask, FAST, KEY, quiet, replyOf, turnOf, YES } from "./setup.ts";

const environments = {
    openai: (url: string) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1` }),
    anthropic: (url: string) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: `${url}/v1` }),
    google: (url: string) => ({ GOOGLE_GENERATIVE_AI_API_KEY: KEY, GOOGLE_GENERATIVE_AI_BASE_URL: `${url}/v1beta` }),
    ollama: (url: string) => ({ OLLAMA_BASE_URL: url }),
};
const PROVIDERS = Object.keys(environments) as (keyof typeof environments)[];

async function against(provider: keyof typeof environments, replies: FakeReply[], more: ModelsConfig = {}) {
    const server = await startFakeProvider(...replies);
    const { patience, ...rest } = more;
    const models = createModels({ env: environments[provider](server.url), patience: { ...FAST, ...patience }, ...rest });
    return {
        server,
        models,
        uri: `${provider}://${provider === "ollama" ? "qwen3:4b" : "some-model"}`,
        [Symbol.asyncDispose]: () => server.close(),
    };
}

describe.each(PROVIDERS)("%s", (provider) => {
    it("asks once and reads the reply against the contract", async () => {
        await using it = await against(provider, [{ text: '{"ok": true}', usage: { input: 20, output: 6, cached: 8 } }]);
        const outcome = await ask(it.models, turnOf(it.uri, { contract: YES, temperature: 0.2, maxOutput: 50 }));
        expect(replyOf(outcome)).toMatchObject({
            value: { ok: true },
            finish: "stop",
            model: it.uri,
            reading: { from: "whole reply", repairs: [] },
        });
        expect(outcome.usage).toMatchObject({ input: 20, output: 6, cached: 8 });
        expect(outcome).toMatchObject({ origins: ["model:Llm"] });
        expect(it.server.requests.filter((request) => request.method === "POST")).toHaveLength(1);
        expect(JSON.stringify(it.server.requests.at(-1)?.body)).toContain("Say yes.");
    });

    it("streams pieces and gives the whole", async () => {
        await using it = await against(provider, [{ text: "one two three", usage: { input: 7, output: 3 } }]);
        const io = quiet();
        const outcome = await ask(it.models, turnOf(it.uri, { stream: true }), io);
        expect(replyOf(outcome).text).toBe("one two three");
        expect(io.emitted).toEqual(["one ", "two ", "three"].map((delta) => ({ type: "text", delta })));
        expect(outcome.usage).toMatchObject({ input: 7, output: 3 });
    });

    const pictures = (count: number, optional: boolean) =>
        Array.from({ length: count }, () => ({
            role: "user" as const,
            content: [
                { type: "file" as const, mediaType: "image/png", data: "iVBORw0KGgo=", ...(optional ? { optional: true as const } : {}) },
            ],
        }));

    it("is shown the last pictures, and a text in the places of those before", async () => {
        await using it = await against(provider, [{ text: "seen" }]);
        const request = turnOf(it.uri);
        const reply = replyOf(await ask(it.models, { ...request, messages: [...request.messages, ...pictures(8, true)] }));
        const sent = JSON.stringify(it.server.requests.at(-1)?.body);
        expect(sent.split("iVBORw0KGgo=")).toHaveLength(7);
        expect(sent.split("a picture was left out: only the last 6 pictures are shown")).toHaveLength(3);
        expect(reply.notes).toContain("2 pictures were left out: only the last 6 pictures are shown");
    });

    it("that takes no pictures is asked without those that may be left out, and told so; others are not left out", async () => {
        await using it = await against(provider, [{ status: 400, message: "text only" }, { text: "blind" }]);
        const request = turnOf(it.uri);
        const reply = replyOf(await ask(it.models, { ...request, messages: [...request.messages, ...pictures(1, true)] }));
        const sent = JSON.stringify(it.server.requests.at(-1)?.body);
        expect(sent).not.toContain("iVBORw0KGgo=");
        expect(sent).toContain(`[a picture was left out: ${it.uri} takes no pictures]`);
        expect(reply.text).toBe("blind");
        expect(reply.notes).toContain(`a picture was left out: ${it.uri} takes no pictures`);
        it.server.script({ status: 400, message: "text only" });
        const asked = it.server.requests.length;
        expect(await ask(it.models, { ...request, messages: [...request.messages, ...pictures(1, false)] })).toMatchObject({ ok: false });
        expect(it.server.requests.length).toBe(asked + 1);
    });

    it.each([false, true])("hands tool calls on and takes their results (stream: %s)", async (stream) => {
        await using it = await against(provider, [
            {
                calls: [
                    { name: "Repo_read", args: { path: "a" } },
                    { name: "Repo_list", args: {} },
                ],
            },
            { text: "done" },
        ]);
        const tools: ToolOffer[] = [
            {
                name: "Repo_read",
                description: "Reads",
                input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
            },
            { name: "Repo_list", input: { type: "object", properties: {} } },
        ];
        const first = replyOf(await ask(it.models, turnOf(it.uri, { tools, stream })));
        expect(first.finish).toBe("tool");
        expect(first.calls).toMatchObject([
            { name: "Repo_read", args: { path: "a" } },
            { name: "Repo_list", args: {} },
        ]);
        const calls = first.calls ?? [];
        const request = turnOf(it.uri, { tools, stream });
        const messages = [
            ...request.messages,
            { role: "assistant", content: "", calls } as const,
            ...calls.map((call) => ({ role: "tool", call: call.id, name: call.name, result: { text: `result of ${call.name}` } }) as const),
        ];
        expect(replyOf(await ask(it.models, { ...request, messages })).text).toBe("done");
        const sent = JSON.stringify(it.server.requests.at(-1)?.body);
        expect(sent).toContain("result of Repo_read");
        expect(sent).toContain("result of Repo_list");
    });

    it("tells a cut-off reply and a refusal apart", async () => {
        await using it = await against(provider, [
            { text: '{"ok": tr', finish: "length" },
            { text: "no", finish: "refusal" },
        ]);
        expect(replyOf(await ask(it.models, turnOf(it.uri, { contract: YES })))).toMatchObject({
            finish: "length",
            error: { kind: "truncated" },
        });
        expect(replyOf(await ask(it.models, turnOf(it.uri, { contract: YES })))).toMatchObject({
            finish: "refusal",
            error: { kind: "refused" },
        });
    });

    it("tries again after passing errors, with the pause the provider asked for, and counts it", async () => {
        await using it = await against(provider, [
            { status: 429, headers: { "retry-after-ms": "30" } },
            { status: 503 },
            { text: "at last" },
        ]);
        const reply = replyOf(await ask(it.models, turnOf(it.uri)));
        expect(reply).toMatchObject({ text: "at last", retries: 2 });
        expect(it.server.requests.filter((request) => request.method === "POST")).toHaveLength(3);
    });

    it.each([
        [429, "rate_limited"],
        [500, "unreachable"],
        [529, "unreachable"],
        [401, "model"],
        [404, "model"],
        [400, "model"],
    ] as const)("status %i is %s", async (status, kind) => {
        await using it = await against(provider, [{ status, message: `bad key ${KEY}` }], { patience: { retries: 1 } });
        const outcome = await ask(it.models, turnOf(it.uri));
        expect(outcome).toMatchObject({
            ok: false,
            failure: { kind, detail: { status, retries: status === 429 || status >= 500 ? 1 : 0 } },
        });
        expect(JSON.stringify(outcome)).not.toContain(KEY);
    });

    it.each([false, true])("a connection that is cut is tried again, then unreachable (stream: %s)", async (stream) => {
        await using it = await against(provider, [{ text: "half of it", dropAfter: stream ? 2 : 0 }], { patience: { retries: 2 } });
        const io = quiet();
        const outcome = await ask(it.models, turnOf(it.uri, { stream }), io);
        expect(outcome).toMatchObject({ ok: false, failure: { kind: "unreachable", detail: { retries: 2 } } });
        expect(it.server.requests.filter((request) => request.method === "POST")).toHaveLength(3);
    });

    it("silence is a timeout, also in the middle of a stream", async () => {
        await using it = await against(provider, [{ text: "a b c d", pace: 5000 }], { patience: { silenceMs: 60 } });
        expect(await ask(it.models, turnOf(it.uri, { stream: true }))).toMatchObject({ ok: false, failure: { kind: "timeout" } });
    });

    it("a cancelled turn ends at once", async () => {
        await using it = await against(provider, [{ text: "late", delay: 30_000 }]);
        const controller = new AbortController();
        const asked = ask(it.models, turnOf(it.uri), quiet(controller.signal));
        setTimeout(() => controller.abort(), 30);
        expect(await asked).toMatchObject({ ok: false, failure: { kind: "cancelled" } });
    });

    it("an answer that is no answer of the provider is a model failure", async () => {
        await using it = await against(provider, [{ body: "<html>busy</html>" }], { patience: { retries: 0 } });
        expect(await ask(it.models, turnOf(it.uri))).toMatchObject({ ok: false, failure: { kind: "model" } });
    });
});

describe("what is sent", () => {
    it("the key goes into the provider's header and nowhere else", async () => {
        for (const [provider, header] of [
            ["openai", "authorization"],
            ["anthropic", "x-api-key"],
            ["google", "x-goog-api-key"],
        ] as const) {
            await using it = await against(provider, [{ text: "hello" }]);
            const outcome = await ask(it.models, turnOf(it.uri));
            expect(it.server.requests[0]?.headers[header]).toContain(KEY);
            expect(JSON.stringify(outcome)).not.toContain(KEY);
        }
    });

    it("an endpoint takes the contract as response_format, and is asked without where it refuses that", async () => {
        await using it = await against("openai", [
            { status: 400, message: "response_format is not supported" },
            { text: 'Sure: {"ok": true}' },
        ]);
        const reply = replyOf(await ask(it.models, turnOf(it.uri, { contract: YES })));
        expect(reply).toMatchObject({ value: { ok: true }, reading: { constrained: false, from: "prose around" } });
        expect(it.server.requests[0]?.body.response_format?.json_schema.schema).toMatchObject({
            required: ["ok"],
            additionalProperties: false,
        });
        expect(it.server.requests[1]?.body.response_format).toBeUndefined();
        // It is remembered.
        await ask(it.models, turnOf(it.uri, { contract: YES }));
        expect(it.server.requests[2]?.body.response_format).toBeUndefined();
    });

    it("how hard to think, per provider", async () => {
        const sent = async (provider: keyof typeof environments, think: boolean | "auto" | "low" | "medium" | "high") => {
            await using it = await against(provider, [{ text: "x" }]);
            await ask(it.models, turnOf(it.uri, { think }));
            const last = it.server.requests.at(-1);
            if (last === undefined) throw new Error("nothing was sent");
            return last.body;
        };
        expect((await sent("openai", true)).reasoning_effort).toBe("medium");
        expect((await sent("openai", "high")).reasoning_effort).toBe("high");
        expect((await sent("openai", "auto")).reasoning_effort).toBeUndefined();
        expect((await sent("openai", false)).reasoning_effort).toBeUndefined();
        for (const think of [true, false, "low"] as const) expect(await sent("ollama", think)).toMatchObject({ think, stream: false });
        expect(await sent("ollama", "auto")).not.toHaveProperty("think");
        expect((await sent("anthropic", true)).thinking).toMatchObject({ type: "enabled", budget_tokens: 1024 });
        expect((await sent("anthropic", "medium")).thinking).toMatchObject({ budget_tokens: 4096 });
        expect((await sent("anthropic", "high")).thinking).toMatchObject({ budget_tokens: 10_000 });
        expect((await sent("anthropic", false)).thinking).toBeUndefined();
    });

    it("an Ollama that is told how to think is asked by its own API: schema, bounds, calls, results and pictures", async () => {
        const call = { name: "Find_run", args: { path: "src" } };
        await using it = await against("ollama", [
            { thinking: "hm", calls: [call] },
            { text: '{"ok": true}', thinking: "so", finish: "length" },
        ]);
        const { messages } = turnOf(it.uri);
        const input: ToolOffer["input"] = { type: "object", properties: { path: { type: "string" } } };
        const more = { think: true, temperature: 0.2, maxOutput: 50 } as const;
        const first = replyOf(await ask(it.models, turnOf(it.uri, { ...more, tools: [{ name: "Find_run", input }] })));
        expect(first).toMatchObject({ calls: [call], finish: "tool", thinking: "hm" });
        const [made] = first.calls ?? [];
        const after = [
            ...messages,
            { role: "assistant" as const, content: "", calls: first.calls ?? [] },
            { role: "tool" as const, call: made?.id as string, name: "Find_run", result: { files: [] } },
            { role: "user" as const, content: [{ type: "file" as const, mediaType: "image/png", data: "iVBORw0KGgo=" }] },
        ];
        const io = quiet();
        const second = await ask(it.models, turnOf(it.uri, { ...more, messages: after, contract: YES, stream: true }), io);
        expect(replyOf(second)).toMatchObject({ value: { ok: true }, finish: "length", thinking: "so" });
        expect(second.usage).toMatchObject({ input: 10, output: 5 });
        expect(io.emitted).toContainEqual({ type: "text", delta: "true}" });
        const [one, two] = it.server.requests.filter(({ method }) => method === "POST");
        expect([one?.path, two?.path]).toEqual(["/api/chat", "/api/chat"]);
        expect(one?.body).toMatchObject({
            think: true,
            options: { temperature: 0.2, num_predict: 50 },
            tools: [{ function: { name: "Find_run" } }],
        });
        expect(two?.body).toMatchObject({ stream: true, format: { required: ["ok"] } });
        expect(two?.body.messages.slice(2)).toMatchObject([
            { role: "assistant", tool_calls: [{ function: { name: "Find_run", arguments: { path: "src" } } }] },
            { role: "tool", tool_name: "Find_run", content: '{"files":[]}' },
            { role: "user", images: ["iVBORw0KGgo="] },
        ]);
    });

    it("the bound of a reply goes under the name that the model takes, which is remembered", async () => {
        await using it = await against("openai", [
            { status: 400, param: "max_tokens", message: "use 'max_completion_tokens' instead" },
            { text: "one" },
            { text: "two" },
        ]);
        for (const text of ["one", "two"]) expect(replyOf(await ask(it.models, turnOf(it.uri, { maxOutput: 50 }))).text).toBe(text);
        const bounds = it.server.requests.map(({ body }) => [body["max_tokens"], body["max_completion_tokens"]]);
        expect(bounds).toEqual([
            [50, undefined],
            [undefined, 50],
            [undefined, 50],
        ]);
    });

    it("OpenAI itself is told it under the newer name at once", async () => {
        const sent: unknown[] = [];
        const answer = { choices: [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }] };
        const inner = async (_: unknown, init?: RequestInit): Promise<Response> => {
            sent.push(JSON.parse(String(init?.body)));
            return Response.json(answer);
        };
        await replyBound(inner as typeof fetch, true)("https://api.openai.com/v1/chat/completions", {
            method: "POST",
            body: '{"max_tokens":5}',
        });
        expect(sent).toEqual([{ max_completion_tokens: 5 }]);
    });

    it.each([
        ["SDK3", Buffer.alloc(MAX_BYTES + 1, 32), "it is longer than 67108864 bytes"],
        ["SDK4", Buffer.from('{"choices":[{"message":{"content":"caf\xe9"}}]}', "latin1"), "it holds bytes that are not UTF-8"],
    ])("%s: an answer that cannot be taken is told, and is not asked for again", async (_rule, body, why) => {
        await using it = await against("openai", [{ body }]);
        const failure = { kind: "model", message: `${it.uri} gave an answer that cannot be read: ${why}` };
        expect(await ask(it.models, turnOf(it.uri))).toMatchObject({ ok: false, failure });
        expect(it.server.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
    });

    it("an Ollama whose own API answers with what is no JSON fails the turn", async () => {
        await using it = await against("ollama", [{ body: "not json" }]);
        for (const stream of [false, true]) {
            const outcome = await ask(it.models, turnOf(it.uri, { think: true, stream }));
            expect(outcome).toMatchObject({
                ok: false,
                failure: { message: expect.stringContaining("gave an answer that cannot be read") },
            });
        }
    });

    it("Anthropic takes no temperature while it thinks: said before anything is sent", async () => {
        await using it = await against("anthropic", [{ text: "x" }]);
        expect(await ask(it.models, turnOf(it.uri, { think: true, temperature: 0.5 }))).toMatchObject({
            ok: false,
            failure: { kind: "model" },
        });
        expect(it.server.requests).toHaveLength(0);
    });

    it("pictures go as data", async () => {
        await using it = await against("openai", [{ text: "a cat" }]);
        const request = turnOf(it.uri);
        const messages = [
            {
                role: "user",
                content: [
                    { type: "text", text: "What is it?" },
                    { type: "file", mediaType: "image/png", data: "aGVsbG8=" },
                ],
            } as const,
        ];
        await ask(it.models, { ...request, messages });
        expect(JSON.stringify(it.server.requests[0]?.body)).toContain("data:image/png;base64,aGVsbG8=");
    });

    it("a URI with a host of its own is a compatible endpoint; on this machine over plain http", async () => {
        await using server = await startFakeProvider({ text: "here" });
        const models = createModels({ env: {} });
        for (const uri of [`openai://${server.host}/v1/org-model`, `${server.url}/v1#org-model`])
            expect(replyOf(await ask(models, turnOf(uri))).text).toBe("here");
        const posts = server.requests.filter((request) => request.method === "POST");
        expect(posts.map((request) => [request.path, request.body.model])).toEqual(Array(2).fill(["/v1/chat/completions", "org-model"]));
        const anthropic = createModels({ env: { ANTHROPIC_API_KEY: KEY } });
        expect(replyOf(await ask(anthropic, turnOf(`anthropic://${server.host}/v1/claude-x`))).text).toBe("here");
        expect(server.requests.at(-1)).toMatchObject({ path: "/v1/messages", body: { model: "claude-x" } });
    });

    it("a redirect is not followed: a key would go with it", async () => {
        await using other = await startFakeProvider({ text: "stolen" });
        await using it = await against("anthropic", [{ status: 302, headers: { location: `${other.url}/v1/messages` } }], {
            patience: { retries: 0 },
        });
        expect((await ask(it.models, turnOf(it.uri))).ok).toBe(false);
        expect(other.requests).toHaveLength(0);
    });
});

describe("limits", () => {
    it("no more turns at once than allowed, all of them answered", async () => {
        await using it = await against("openai", [{ text: "x", delay: 20 }], { concurrency: 3 });
        const outcomes = await Promise.all(Array.from({ length: 9 }, () => ask(it.models, turnOf(it.uri))));
        expect(outcomes.every((outcome) => outcome.ok)).toBe(true);
        expect(it.server.peak()).toBe(3);
    });

    it("a pause longer than patience is not waited for; it is told", async () => {
        await using it = await against("openai", [{ status: 429, headers: { "retry-after": "3600" } }]);
        expect(await ask(it.models, turnOf(it.uri))).toMatchObject({
            ok: false,
            failure: { kind: "rate_limited", detail: { retry_after_ms: 3_600_000, retries: 0 } },
        });
    });

    it("an account without quota is not tried again", async () => {
        await using it = await against("openai", [{ status: 429, code: "insufficient_quota" }]);
        expect(await ask(it.models, turnOf(it.uri))).toMatchObject({ ok: false, failure: { kind: "rate_limited" } });
        expect(it.server.requests).toHaveLength(1);
    });

    it("text that was shown before a try failed is taken back", async () => {
        await using it = await against("openai", [{ text: "half of", dropAfter: 3, pace: 20 }, { text: "all of it" }]);
        const io = quiet();
        expect(replyOf(await ask(it.models, turnOf(it.uri, { stream: true }), io)).text).toBe("all of it");
        expect(io.emitted).toContainEqual({ type: "restart" });
        expect(io.emitted.slice(io.emitted.findIndex((part) => JSON.stringify(part).includes("restart")) + 1)).toEqual([
            { type: "pause", text: expect.stringContaining("cannot be reached"), ms: expect.any(Number) },
            ...["all ", "of ", "it"].map((delta) => ({ type: "text", delta })),
        ]);
    });

    it("nobody listening is unreachable, with the code", async () => {
        const server = await startFakeProvider();
        await server.close();
        const models = createModels({
            env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${server.url}/v1` },
            patience: { ...FAST, retries: 1 },
        });
        expect(await ask(models, turnOf("openai://m"))).toMatchObject({
            ok: false,
            failure: { kind: "unreachable", detail: { code: "ECONNREFUSED", retries: 1 }, hint: expect.stringContaining(server.url) },
        });
    });
});

describe("a wrong address or no key is told at once, and not tried again", () => {
    it.each([
        [
            "a redirect",
            { status: 301, headers: { location: "https://login.example/start" } },
            /redirect to https:\/\/login\.example \(HTTP 301\)/,
        ],
        ["a page for people", { body: "<!doctype html><p>Welcome", headers: { "content-type": "text/html; charset=utf-8" } }, /text\/html/],
        ["a page that calls itself JSON", { body: "<html>busy</html>" }, /markup/],
    ] as const)("%s", async (_name, reply, said) => {
        for (const stream of [false, true]) {
            await using it = await against("openai", [reply]);
            const outcome = await ask(it.models, turnOf(it.uri, { stream }));
            expect(outcome).toMatchObject({
                ok: false,
                failure: {
                    kind: "model",
                    message: expect.stringMatching(said),
                    hint: expect.stringContaining(it.server.url),
                    detail: { retries: 0 },
                },
            });
            expect(it.server.requests).toHaveLength(1);
        }
    });

    it("a port that speaks no HTTP", async () => {
        const connections: Socket[] = [];
        const server = createServer((socket) => {
            connections.push(socket);
            socket.on("error", () => undefined);
            socket.end("SSH-2.0-OpenSSH_9.6\r\n");
        });
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
        const models = createModels({ env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: base }, patience: FAST });
        expect(await ask(models, turnOf("openai://m"))).toMatchObject({
            ok: false,
            failure: {
                kind: "unreachable",
                message: expect.stringContaining("does not speak HTTP"),
                hint: expect.stringContaining(base),
                detail: { retries: 0 },
            },
        });
        expect(connections).toHaveLength(1);
        for (const socket of connections) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
    });

    it.each([
        ["openai://gpt-5", "OPENAI_API_KEY"],
        ["anthropic://claude-sonnet-4-5", "ANTHROPIC_API_KEY"],
        ["google://gemini-2.5-flash", "GOOGLE_GENERATIVE_AI_API_KEY"],
    ])("%s without its key names the variable and the line to write, and sends nothing", async (uri, variable) => {
        let sent = 0;
        const spy: typeof fetch = async () => {
            sent++;
            throw new TypeError("no network");
        };
        const models = createModels({ env: {}, model: uri, fetch: spy });
        expect(await ask(models, turnOf("mock:"))).toMatchObject({
            ok: false,
            failure: {
                kind: "model",
                message: `${uri} needs a key, and ${variable} is not set`,
                hint: expect.stringContaining(`export ${variable}=`),
            },
        });
        expect(sent).toBe(0);
    });
});
