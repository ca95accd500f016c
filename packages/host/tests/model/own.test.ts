/** Models without a provider: scripted, mock, recorded; URIs, prices, which model answers. */
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Contract, Json } from "@remit/language";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createModels } from "../../src/model/models.ts";
import { PRICES, priceOf, priced } from "../../src/model/prices.ts";
import { retryAfter } from "../../src/model/trouble.ts";
import { parseModelUri } from "../../src/model/uri.ts";
import { startFakeProvider } from "./fake-provider.ts";
import { ask, FAST, KEY, quiet, replyOf, turnOf, YES } from "./setup.ts";

let folder = "";
beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "remit-model-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** No network, no key, no cache: nothing of the machine the tests run on. */
const nowhere = (more: { [name: string]: string } = {}) => ({
    XDG_CACHE_HOME: join(folder, "cache"),
    OLLAMA_BASE_URL: "http://127.0.0.1:9",
    ...more,
});

async function scripted(content: Json, name = "replies.json"): Promise<string> {
    await writeFile(join(folder, name), JSON.stringify(content));
    return `scripted:${name}`;
}

describe("scripted", () => {
    it("costs nothing where a reply says no usage, and reports no tokens that none counted", async () => {
        const uri = await scripted(["first", { text: "second", usage: { input: 4 } }]);
        const models = createModels({ env: nowhere(), folder });
        expect(await ask(models, turnOf(uri))).toMatchObject({ ok: true, usage: { usd: 0 } });
        expect(await ask(models, turnOf(uri))).toMatchObject({ ok: true, usage: { input: 4 } });
    });

    it("gives replies in order, and fails clearly where there is none", async () => {
        const uri = await scripted(["first", { json: { ok: true } }, { ok: false }]);
        const models = createModels({ env: nowhere(), folder });
        expect(replyOf(await ask(models, turnOf(uri))).text).toBe("first");
        expect(replyOf(await ask(models, turnOf(uri, { contract: YES }))).value).toEqual({ ok: true });
        expect(replyOf(await ask(models, turnOf(uri, { contract: YES }))).value).toEqual({ ok: false });
        const missing = await ask(models, turnOf(uri, { label: "Agent.func[2]" }));
        expect(missing).toMatchObject({
            ok: false,
            failure: { kind: "model", message: expect.stringContaining("Agent.func[2]"), hint: expect.stringContaining("labels") },
        });
    });

    it("goes on with its replies after it was closed for want of a run", async () => {
        const uri = await scripted(["first", "second"]);
        const models = createModels({ env: nowhere(), folder });
        expect(replyOf(await ask(models, turnOf(uri))).text).toBe("first");
        await models.close();
        expect(replyOf(await ask(models, turnOf(uri))).text).toBe("second");
    });

    it("answers by label before rules before order", async () => {
        const uri = await scripted({
            labels: { "A.f[0]": "by label", "A.g[0]": ["one", "two"] },
            rules: [{ when: ["Say", "yes"], reply: "by rule" }],
            replies: ["in order"],
        });
        const models = createModels({ env: nowhere(), folder });
        const say = async (label: string, text = "Say yes.") => {
            const messages = [{ role: "user", content: [{ type: "text", text }] } as const];
            return replyOf(await ask(models, turnOf(uri, { label, messages }))).text;
        };
        expect(await say("A.f[0]")).toBe("by label");
        expect(await say("A.f[0]")).toBe("by label");
        expect(await say("A.g[0]")).toBe("one");
        expect(await say("A.g[0]")).toBe("two");
        expect(await say("B.h[0]")).toBe("by rule");
        expect(await say("B.h[0]", "else")).toBe("in order");
        expect((await ask(models, turnOf(uri, { label: "A.g[0]" }))).ok).toBe(false);
    });

    it("calls tools, fails, is cut off, thinks, streams in pieces", async () => {
        const uri = await scripted([
            { calls: [{ name: "Repo_read", args: { path: "x" } }] },
            { fail: { kind: "rate_limited", message: "too many" } },
            { text: '{"ok": tr', finish: "length" },
            { text: "abcd", chunks: 2, thinking: "hm", usage: { input: 3, output: 2 } },
        ]);
        const models = createModels({ env: nowhere(), folder });
        expect(replyOf(await ask(models, turnOf(uri)))).toMatchObject({
            finish: "tool",
            calls: [{ id: "Main.main[0]-0", name: "Repo_read", args: { path: "x" } }],
        });
        expect(await ask(models, turnOf(uri))).toMatchObject({ ok: false, failure: { kind: "rate_limited", message: "too many" } });
        expect(replyOf(await ask(models, turnOf(uri, { contract: YES })))).toMatchObject({ error: { kind: "truncated" } });
        const io = quiet();
        const outcome = await ask(models, turnOf(uri, { stream: true }), io);
        expect(replyOf(outcome)).toMatchObject({ text: "abcd", thinking: "hm" });
        expect(io.emitted).toEqual([
            { type: "text", delta: "ab" },
            { type: "text", delta: "cd" },
        ]);
        expect(outcome.usage).toEqual({ input: 3, output: 2 });
    });

    it("a delay ends at cancel", async () => {
        const uri = await scripted([{ text: "late", delay: 60_000 }]);
        const controller = new AbortController();
        const asked = ask(createModels({ env: nowhere(), folder }), turnOf(uri), quiet(controller.signal));
        controller.abort();
        expect(await asked).toMatchObject({ ok: false, failure: { kind: "cancelled" } });
    });

    it.each([
        ["no file", "scripted:none.json", /is not there/, /^write that file: .* JSON file of replies/],
        ["no script", "scripted:bad.json", /neither a list/, /JSON file of replies/],
        ["not JSON", "scripted:broken.json", /not JSON/, /JSON file of replies/],
        ["no recording", "recorded:none.ndjson", /is not there/, /--record FILE/],
    ])("%s is said, and what to do", async (_name, uri, message, hint) => {
        await writeFile(join(folder, "bad.json"), '{"replies": 3}');
        await writeFile(join(folder, "broken.json"), "[");
        expect(await ask(createModels({ env: nowhere(), folder }), turnOf(uri))).toMatchObject({
            ok: false,
            failure: { message: expect.stringMatching(message), hint: expect.stringMatching(hint) },
        });
    });
});

describe("mock", () => {
    it("answers with zero values, and none for free text", async () => {
        const contract: Contract = {
            type: "object",
            fields: [
                { name: "s", contract: { type: "string" } },
                { name: "n", contract: { type: "number" } },
                { name: "b", contract: { type: "boolean" } },
                { name: "l", contract: { type: "list", item: { type: "string" } } },
                { name: "j", contract: { type: "json" } },
                { name: "o", contract: { type: "number" }, optional: true },
            ],
        };
        const models = createModels({ env: nowhere(), model: "mock:" });
        expect(replyOf(await ask(models, turnOf("openai://gpt-4o", { contract }))).value).toEqual({ s: "", n: 0, b: true, l: [], j: {} });
        expect(replyOf(await ask(models, turnOf("openai://gpt-4o"))).value).toBeNull();
    });
});

describe("recordings", () => {
    it("a run against a provider is replayed without it, secrets removed, file private", async () => {
        await using server = await startFakeProvider({ text: `{"ok": true} ${KEY}` }, { status: 400, message: "no" });
        const env = nowhere({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${server.url}/v1` });
        const live = createModels({ env, folder, record: "run.ndjson", patience: FAST });
        const first = await ask(live, turnOf("openai://m", { contract: YES }));
        const refused = await ask(live, turnOf("openai://m", { label: "other", maxOutput: 9 }));
        expect(refused.ok).toBe(false);
        const written = await readFile(join(folder, "run.ndjson"), "utf8");
        expect(written).not.toContain(KEY);
        expect(written).not.toContain("Say yes.");
        expect((await stat(join(folder, "run.ndjson"))).mode & 0o777).toBe(0o600);

        const replayed = createModels({ env: nowhere(), folder, model: "recorded:run.ndjson" });
        expect(replyOf(await ask(replayed, turnOf("openai://m", { contract: YES })))).toMatchObject({
            value: { ok: true },
            model: "openai://m",
        });
        expect(replyOf(first).value).toEqual({ ok: true });
        expect(await ask(replayed, turnOf("openai://m", { maxOutput: 9 }))).toEqual(refused);
        const changed = await ask(replayed, turnOf("openai://m", { contract: YES, temperature: 1 }));
        expect(changed).toMatchObject({ ok: false, failure: { kind: "model", message: expect.stringContaining("Main.main[0]") } });
    });

    it("a damaged line is named", async () => {
        await writeFile(join(folder, "bad.ndjson"), '{"v":1,"request":"x","label":"l","reply":{"text":"a","finish":"stop"}}\n{"v":2}\n');
        expect(await ask(createModels({ env: nowhere(), folder }), turnOf("recorded:bad.ndjson"))).toMatchObject({
            ok: false,
            failure: { message: expect.stringContaining("line 2") },
        });
    });
});

describe("URIs", () => {
    it.each([
        ["openai://gpt-4o", { provider: "openai", model: "gpt-4o", baseURL: null }],
        ["anthropic://claude-sonnet-4-5", { provider: "anthropic", model: "claude-sonnet-4-5", baseURL: null }],
        ["google://gemini-2.5-flash", { provider: "google", model: "gemini-2.5-flash" }],
        ["ollama://qwen3:4b", { provider: "ollama", model: "qwen3:4b", baseURL: null }],
        ["ollama://box.lan:11434/user/model:7b", { provider: "ollama", model: "user/model:7b", baseURL: "https://box.lan:11434/v1" }],
        ["ollama://localhost:1/m", { baseURL: "http://localhost:1/v1", model: "m" }],
        ["openai://proxy.example/v1/gpt-x", { provider: "openai", model: "gpt-x", baseURL: "https://proxy.example/v1" }],
        ["openai://127.0.0.1:8080/v1/m", { baseURL: "http://127.0.0.1:8080/v1" }],
        ["openai://[::1]:8080/v1/m", { baseURL: "http://[::1]:8080/v1" }],
        ["openai://org/model", { model: "org/model", baseURL: null }],
        ["https://llm.example/v1#org/model", { provider: "compatible", model: "org/model", baseURL: "https://llm.example/v1" }],
        ["http://10.0.0.2:8000/v1#m", { provider: "compatible", baseURL: "http://10.0.0.2:8000/v1" }],
        ["scripted:a/b.json", { kind: "scripted", path: "a/b.json" }],
        ["local:", { kind: "local", path: "" }],
        ["local:/x/y.gguf", { kind: "local", path: "/x/y.gguf" }],
        ["mock:", { kind: "mock" }],
    ])("%s", (text, parts) => {
        const parsed = parseModelUri(text);
        expect(parsed).toMatchObject({ ok: true, uri: parts });
    });
    it.each([
        "",
        "gpt-4o",
        "anthropic:claude-sonnet-4-5",
        "openai://",
        "openai://host.example/v1/",
        "ftp://x/y",
        "scripted:",
        "https://x/v1",
        "openai://user:pass@host.example/v1/m",
    ])("%j is refused with what to write", (text) => {
        const parsed = parseModelUri(text);
        expect(parsed).toMatchObject({ ok: false, hint: expect.stringMatching(/\w/) });
        expect(JSON.stringify(parsed)).not.toContain("pass@");
    });
    it("a provider's name with one colon is told the slashes", () => {
        expect(parseModelUri("anthropic:claude-sonnet-4-5")).toMatchObject({ hint: "write anthropic://claude-sonnet-4-5" });
    });
});

describe("which model answers", () => {
    const choose = async (imported: string | null, env: { [name: string]: string }, model?: string) =>
        createModels({ env: nowhere(env), folder, ...(model === undefined ? {} : { model }), probeMs: 200 }).choose(imported);

    it("--model, then REMIT_MODEL, then the import, then Ollama, then the last resort", async () => {
        await using server = await startFakeProvider();
        const ollama = { OLLAMA_BASE_URL: server.url };
        expect((await choose("openai://m", { OPENAI_API_KEY: KEY, REMIT_MODEL: "mock:" }, "anthropic://x")).uri).toBe("anthropic://x");
        expect((await choose("openai://m", { OPENAI_API_KEY: KEY, REMIT_MODEL: "google://y" })).uri).toBe("google://y");
        expect((await choose("openai://m", { OPENAI_API_KEY: KEY, ...ollama })).uri).toBe("openai://m");
        expect((await choose("openai://m", ollama)).uri).toBe("ollama://qwen3:4b");
        expect((await choose("ollama://missing", ollama)).uri).toBe("ollama://qwen3:4b");
        expect((await choose(null, ollama)).uri).toBe("ollama://qwen3:4b");
        expect((await choose("openai://m", { REMIT_FALLBACK: "scripted:replies.json" })).uri).toBe("scripted:replies.json");
        expect((await choose("openai://m", {})).uri).toBe("");
        expect((await choose("scripted:replies.json", ollama)).uri).toBe("scripted:replies.json");
    });

    it("an endpoint that is named and answers late is waited for; an Ollama that nobody named is not", async () => {
        const late = createServer((_, answer) => void setTimeout(() => answer.end('{"models":[{"name":"m"}]}'), 300));
        await using _end = { [Symbol.asyncDispose]: () => new Promise<void>((done) => void late.close(() => done())) };
        const { port } = await new Promise<AddressInfo>((done) => late.listen(0, "127.0.0.1", () => done(late.address() as AddressInfo)));
        const named = `openai://127.0.0.1:${port}/v1/m`;
        const fetched: typeof fetch = (url, how) => fetch(String(url).replace("127.0.0.1:11434", `127.0.0.1:${port}`), how);
        const models = (ollama: string) =>
            createModels({ env: nowhere({ OLLAMA_BASE_URL: ollama }), folder, fetch: fetched, probeMs: 1, namedMs: 60_000 });
        expect((await models("").choose(named)).uri).toBe(named);
        expect(await models(`http://127.0.0.1:${port}`).list()).toContainEqual(expect.objectContaining({ uri: "ollama://m", ok: true }));
        expect(await models("").list()).toContainEqual(expect.objectContaining({ uri: "ollama://MODEL", ok: false }));
    });

    it("says in plain words which one, why, and the one line that changes it", async () => {
        const chosen = await choose("openai://m", { REMIT_FALLBACK: "mock:" });
        expect(chosen.text).toContain("the mock model");
        expect(chosen.text).toContain("OPENAI_API_KEY is not set");
        expect(chosen.text).toContain("export REMIT_MODEL=");
        expect((await choose("openai://m", { OPENAI_API_KEY: KEY })).text).toBe("Answered by openai://m: the program imports it.");
        // `remit models` asks about no program
        expect((await choose(null, {})).text).toMatch(
            /^No model can be used: no Ollama has a model here; the local model cannot be used: .*`remit models pull local`.*REMIT_MODEL=/,
        );
    });

    it("where no model can be used, a turn fails and says what to do", async () => {
        const outcome = await ask(createModels({ env: nowhere(), folder }), turnOf("openai://m"));
        expect(outcome).toMatchObject({
            ok: false,
            failure: {
                kind: "unreachable",
                message: expect.stringContaining("OPENAI_API_KEY is not set"),
                hint: expect.stringContaining("REMIT_MODEL"),
            },
        });
    });

    it.each([
        ["http://127.0.0.1:9/v1#m", { OPENAI_API_KEY: KEY }],
        ["openai://m", { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: "http://127.0.0.1:9" }],
        ["ollama://m", { OLLAMA_BASE_URL: "http://127.0.0.1:9" }],
    ] as const)("%s with %j has a port that fetch refuses", async (uri, env) => {
        const io = quiet();
        expect(await ask(createModels({ env: nowhere(env), patience: { ...FAST, retries: 3 } }), turnOf(uri), io)).toMatchObject({
            ok: false,
            failure: { kind: "unreachable", message: expect.stringContaining("no request is sent to port 9") },
        });
        expect(io.emitted).toEqual([]);
    });

    it("lists what is there and why the rest is not, without keys", async () => {
        await using server = await startFakeProvider();
        const models = createModels({ env: nowhere({ OPENAI_API_KEY: KEY, OLLAMA_BASE_URL: server.url }), folder });
        const listed = await models.list(["anthropic://claude-x"]);
        expect(listed).toContainEqual({ uri: "anthropic://claude-x", ok: false, note: "ANTHROPIC_API_KEY is not set" });
        expect(listed).toContainEqual({ uri: "openai://MODEL", ok: true, note: "OPENAI_API_KEY is set" });
        expect(listed.map((one) => one.uri)).toContain("ollama://qwen3:4b");
        expect(listed.map((one) => one.uri)).not.toContain("ollama://nomic-embed-text");
        expect(listed.find((one) => one.uri === "local:")?.ok).toBe(false);
        expect(JSON.stringify(listed)).not.toContain(KEY);
    });

    it("tells which models answered", async () => {
        const models = createModels({ env: nowhere(), folder, model: "mock:" });
        await ask(models, turnOf("openai://m"));
        expect(models.describe()).toMatchObject([{ name: "Llm", imported: "openai://m", uri: "mock:" }]);
    });

    it("a model that the configuration names takes the import's place, with its own key", async () => {
        await using server = await startFakeProvider({ text: "configured" });
        const named = {
            Llm: {
                uri: "openai://own-model",
                baseUrl: `${server.url}/v1`,
                key: async () => "config-key-123456",
                headers: { "x-team": "a" },
            },
        };
        const models = createModels({ env: nowhere({ OPENAI_API_KEY: KEY }), folder, named });
        const outcome = await ask(models, turnOf("anthropic://claude"));
        expect(replyOf(outcome)).toMatchObject({ text: "configured" });
        expect(server.requests[0]).toMatchObject({
            body: { model: "own-model" },
            headers: { authorization: "Bearer config-key-123456", "x-team": "a" },
        });
    });

    it("a key does not go to a host that the program names, unless that host is listed", async () => {
        const sent: { url: string; key: string | null }[] = [];
        const spy: typeof fetch = async (input, init) => {
            sent.push({ url: String(input), key: new Headers(init?.headers).get("authorization") });
            return new Response('{"error": {"message": "who are you"}}', { status: 401, headers: { "content-type": "application/json" } });
        };
        const request = turnOf("openai://llm.example/v1/m");
        const kept = await ask(createModels({ env: nowhere({ OPENAI_API_KEY: KEY }), folder, fetch: spy }), request);
        expect(kept).toMatchObject({ ok: false, failure: { hint: expect.stringContaining("REMIT_KEY_HOSTS") } });
        await ask(createModels({ env: nowhere({ OPENAI_API_KEY: KEY, REMIT_KEY_HOSTS: "llm.example" }), folder, fetch: spy }), request);
        const posts = sent.filter((one) => one.url.endsWith("/chat/completions"));
        expect(posts.map((one) => one.key)).toEqual([null, `Bearer ${KEY}`]);
    });
});

describe("prices", () => {
    it("the longest beginning of a name counts; unknown models have none", () => {
        expect(priceOf("gpt-4o-mini-2024-07-18", PRICES)).toBe(PRICES["gpt-4o-mini"]);
        expect(priceOf("gpt-4o", PRICES)).toBe(PRICES["gpt-4o"]);
        expect(priceOf("gpt-4oracle", PRICES)).toBeNull();
        expect(priceOf("o3-mini", { o3: { input: 1, output: 1 } })).toEqual({ input: 1, output: 1 });
        expect(priced({ input: 1_000_000, cached: 500_000, output: 100_000 }, "claude-sonnet-4-5", PRICES).usd).toBeCloseTo(
            1.5 + 0.15 + 1.5,
            9,
        );
        expect(priced({ input: 5, output: 5 }, "unknown", PRICES)).toEqual({ input: 5, output: 5 });
    });
    it("a configured price replaces a built-in one", async () => {
        await using server = await startFakeProvider({ text: "x", usage: { input: 1_000_000, output: 0 } });
        const env = nowhere({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${server.url}/v1` });
        const models = createModels({ env, folder, prices: { "house-model": { input: 7, output: 9 } } });
        expect((await ask(models, turnOf("openai://house-model-2"))).usage).toMatchObject({ usd: 7 });
        expect((await ask(models, turnOf("openai://other"))).usage).not.toHaveProperty("usd");
    });
});

describe("Retry-After", () => {
    it.each([
        [{ "retry-after": "3" }, 3000],
        [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
        [{ "retry-after": "Thu, 01 Jan 1970 00:00:10 GMT" }, 9000],
        [{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, 0],
        [{ "retry-after": "soon" }, null],
        [{}, null],
    ])("%j", (headers, ms) => {
        expect(retryAfter(headers as { [name: string]: string }, 1000)).toBe(ms);
    });
});
