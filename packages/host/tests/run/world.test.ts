/** What a project's configuration means for a run: models with their addresses, keys, headers and prices. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import type { LedgerEvent } from "@remit/machine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { load } from "../../src/run/program.ts";
import { startFakeProvider } from "../model/fake-provider.ts";

let folder = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-world-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const PROGRAM = `import llm Fast from "openai://gpt-5-mini"
main agent {
    model Fast
    role "a tester"
    description "Answers."
    main func() { generate({ input: "Say it." }) -> { word: string } }
}
`;

test("a model of a trusted configuration answers with its address, key, headers and price; the key is in no event", async () => {
    await using provider = await startFakeProvider({ text: '{"word": "sesame-open-9"}', usage: { input: 1000, output: 100 } });
    const config = {
        models: {
            Fast: { uri: "openai://small-1", baseUrl: `${provider.url}/v1`, key: "env:TEAM_PASS", headers: { "X-Team": "$TEAM" } },
        },
        prices: { "small-1": { input: 10, output: 20 } },
    };
    writeFileSync(join(folder, "remit.json"), JSON.stringify(config));
    writeFileSync(join(folder, "main.remit"), PROGRAM);
    const env = { HOME: folder, TEAM_PASS: "sesame-open-9", TEAM: "blue" };
    const program = await load(join(folder, "main.remit"), { workspace: folder, env, trust: true, cache: false });
    const handle = program.run({});
    expect(await handle.result).toMatchObject({
        ok: true,
        value: { word: "[secret env:TEAM_PASS]" },
        usage: { input: 1000, output: 100, usd: 0.012 },
    });
    expect(provider.requests).toHaveLength(1);
    expect(provider.requests[0]).toMatchObject({
        path: "/v1/chat/completions",
        headers: { authorization: "Bearer sesame-open-9", "x-team": "blue" },
        body: { model: "small-1" },
    });
    const events: unknown[] = [];
    for await (const event of handle.events) events.push(event);
    expect(JSON.stringify(events)).not.toContain("sesame-open-9");
    expect(program.answering()).toMatchObject([{ name: "Fast", uri: "openai://small-1" }]);
    await program.close();
});

test("a cost bound that cannot be kept says that the prices are there and need trust", async () => {
    await using provider = await startFakeProvider({ text: '{"word": "yes"}', usage: { input: 1000, output: 100 } });
    writeFileSync(join(folder, "remit.json"), JSON.stringify({ prices: { "house-model": { input: 10, output: 20 } } }));
    writeFileSync(join(folder, "main.remit"), PROGRAM.replace("gpt-5-mini", "house-model"));
    const env = { HOME: folder, OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${provider.url}/v1` };
    const hint = async (trust: boolean): Promise<unknown> => {
        const program = await load(join(folder, "main.remit"), { workspace: folder, env, trust, cache: false });
        const result = await program.run({}, { limits: { usd: 1 } }).result;
        await program.close();
        return result.ok ? null : result.failure?.hint;
    };
    expect(await hint(false)).toMatch(/remit\.json gives prices, but it is not trusted, so they do not count: .*`remit trust`/);
    expect(await hint(true)).toBeNull();
});

test("without trust a configured model counts for nothing", async () => {
    await using provider = await startFakeProvider({ text: '{"word": "x"}' });
    writeFileSync(
        join(folder, "remit.json"),
        JSON.stringify({ models: { Fast: { uri: "openai://small-1", baseUrl: `${provider.url}/v1` } } }),
    );
    writeFileSync(join(folder, "main.remit"), PROGRAM.replace("openai://gpt-5-mini", "mock:"));
    const program = await load(join(folder, "main.remit"), { workspace: folder, env: { HOME: folder }, cache: false });
    expect(await program({})).toEqual({ word: "" });
    expect(provider.requests).toEqual([]);
    await program.close();
});

/** One red pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";

test("a picture of the workspace reaches the model as a picture, with where it is from", async () => {
    await using provider = await startFakeProvider({ text: '{"colour": "red"}' });
    const program = `import llm Eye from "${provider.url}/v1#seer"
import tool Files from "file://workspace"
main agent {
    model Eye
    role "an inspector"
    description "Looks."
    main func(input: { path: string }) {
        picture = Files.read({ path: input.path, as: "image" })
        use image picture as "photo"
        generate({ input: "Which colour?" }) -> { colour: string }
    }
}
`;
    // its bytes say what it is, not its name
    writeFileSync(join(folder, "pixel.bin"), Buffer.from(PIXEL, "base64"));
    writeFileSync(join(folder, "notes.txt"), "no picture");
    writeFileSync(join(folder, "main.remit"), program);
    const loaded = await load<Json, Json>(join(folder, "main.remit"), {
        workspace: folder,
        env: { HOME: folder, OPENAI_API_KEY: "sk-none-at-all" },
        cache: false,
    });
    const handle = loaded.run({ path: "pixel.bin" });
    expect(await handle.result).toMatchObject({ ok: true, value: { colour: "red" } });
    expect(provider.requests).toHaveLength(1);
    expect(provider.requests[0]?.body.messages[1]?.content).toMatchObject([
        { type: "text", text: expect.stringMatching(/\[photo\]\nsource: picture\nfile: image\/png$/) },
        { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
        { type: "text", text: expect.stringContaining("Which colour?") },
    ]);
    const started: LedgerEvent[] = [];
    for await (const event of handle.events) if (event.kind === "generate.started") started.push(event);
    expect(started[0]?.labels).toEqual(["tool:Files"]);
    const wrong = await loaded.run({ path: "notes.txt" }).result;
    expect(wrong).toMatchObject({ ok: false, failure: { kind: "tool", message: expect.stringContaining("'notes.txt' is no picture") } });
    await loaded.close();
});
