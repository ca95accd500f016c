/** What a client may call a model, and that everything else is refused with the list. */
import { expect, test } from "vitest";
import type { ListedModel } from "../../src/model/default.ts";
import { modelMeant } from "../../src/model/named.ts";

const listed: ListedModel[] = [
    { uri: "Fast", ok: true, note: "openai://small" },
    { uri: "Keyless", ok: false, note: "openai://large: KEY is not set" },
    { uri: "openai://MODEL", ok: true, note: "OPENAI_API_KEY is set" },
    { uri: "anthropic://MODEL", ok: false, note: "ANTHROPIC_API_KEY is not set" },
    { uri: "ollama://qwen3:4b", ok: true, note: "" },
    { uri: "ollama://qwen3:8b", ok: true, note: "" },
    { uri: "ollama://llama3.2", ok: true, note: "" },
    { uri: "local:", ok: false, note: "no weights" },
];

test.each([
    ["Fast", "Fast"],
    ["fast", "Fast"],
    ["fa", "Fast"],
    ["openai://gpt-5-mini", "openai://gpt-5-mini"],
    ["ollama://qwen3:4b", "ollama://qwen3:4b"],
    ["QWEN3:4B", "ollama://qwen3:4b"],
    ["llama", "ollama://llama3.2"],
])("%s is %s", (said, model) => expect(modelMeant(said, listed)).toEqual({ ok: true, model }));

test.each([
    ["qwen", "'qwen' could be ollama://qwen3:4b or ollama://qwen3:8b"],
    ["gpt", "there is no model 'gpt'"],
    ["", "there is no model ''"],
    ["model", "there is no model 'model'"],
    ["Keyless", "cannot be used: openai://large: KEY is not set"],
    ["keyl", "there is no model 'keyl'"],
    ["anthropic://claude", "cannot be used: ANTHROPIC_API_KEY is not set"],
    ["local:", "cannot be used: no weights"],
    ["ollama://phi4", "is not one of those that can be named here"],
    ["openai://evil.example/v1/m", "is not one of those that can be named here"],
    ["https://evil.example/v1#m", "is not one of those that can be named here"],
    ["scripted:/etc/passwd", "is not one of those that can be named here"],
    ["local:/home/user/weights.gguf", "is not one of those that can be named here"],
    ["mock:", "is not one of those that can be named here"],
    ["__proto__", "there is no model '__proto__'"],
])("NMD1: %j is refused", (said, message) => {
    const found = modelMeant(said, listed);
    expect(found).toEqual({
        ok: false,
        message: expect.stringContaining(message),
        hint: expect.stringContaining("there are: Fast, openai://MODEL"),
    });
});
