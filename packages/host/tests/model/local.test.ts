/** The real local model, where the set-up has put it; else that it says so. */
import { tmpdir } from "node:os";
import { afterAll, describe, expect, it } from "vitest";
import { type Contract, toJsonSchema } from "@remit/language";
import { CONTRACT_HEAD, type ModelTurn } from "@remit/machine";
import { localReason } from "../../src/model/local.ts";
import { createModels } from "../../src/model/models.ts";
import { ask, quiet, replyOf, turnOf } from "./setup.ts";

const folder = process.cwd();
const reason = await localReason({ path: "", folder, env: process.env });
const { REMIT_MODEL: _unset, ...env } = process.env;
const models = createModels({ env, folder });
afterAll(() => models.close());

const contract: Contract = {
    type: "object",
    fields: [
        { name: "sentiment", contract: { type: "union", of: ["positive", "negative"].map((value) => ({ type: "literal", value })) } },
        { name: "name", contract: { type: "string" }, optional: true },
    ],
};

type UserPart = Extract<ModelTurn["messages"][number], { role: "user" }>["content"][number];

/** A part of a message with a text after it. */
function ended(part: UserPart | undefined, layer: string): UserPart {
    if (part?.type !== "text") throw new Error("the request ends with a text");
    return { ...part, text: part.text + layer };
}

describe("local", () => {
    it("answers within the contract, the same each time, or says what is missing", async () => {
        const request = turnOf("local:", {
            contract,
            stream: true,
            maxOutput: 60,
            messages: [
                { role: "system", content: "You are a reader.\nJudges comments" },
                {
                    role: "user",
                    content: [{ type: "text", text: "comment: Terrible docs, nothing works.\n\nIs this comment positive or negative?" }],
                },
            ],
        });
        const io = quiet();
        const outcome = await ask(models, request, io);
        if (reason !== null) {
            expect(outcome).toMatchObject({
                ok: false,
                failure: {
                    kind: "unreachable",
                    message: expect.stringContaining(reason),
                    hint: expect.stringContaining("remit models pull local"),
                },
            });
            return;
        }
        const reply = replyOf(outcome);
        expect(reply).toMatchObject({ model: "local:", reading: { constrained: true } });
        expect(["positive", "negative"]).toContain((reply.value as { sentiment: string }).sentiment);
        expect(outcome.usage).toMatchObject({ usd: 0, input: expect.any(Number), output: expect.any(Number) });
        expect(io.emitted.length).toBeGreaterThan(0);
        expect(replyOf(await ask(models, request)).text).toBe(reply.text);
        // the prompt of this turn ends with no schema; one that does is shown to the model without it, and the reply says so
        expect(reply.without).toBeUndefined();
        const layer = `\n\n${CONTRACT_HEAD}\n${JSON.stringify(toJsonSchema(contract, {}), null, 2)}`;
        const messages = request.messages.map((message) =>
            message.role === "user"
                ? { ...message, content: [...message.content.slice(0, -1), ended(message.content.at(-1), layer)] }
                : message,
        );
        const bound = replyOf(await ask(models, { ...request, messages }));
        expect(bound).toMatchObject({ without: "contract", text: reply.text });
    });

    it("a prompt that is too long is refused with the reason", async () => {
        if (reason !== null) return expect(reason).toMatch(/weights|node-llama-cpp/);
        const long = await ask(
            models,
            turnOf("local:", { messages: [{ role: "user", content: [{ type: "text", text: "many words ".repeat(5000) }] }] }),
        );
        expect(long).toMatchObject({
            ok: false,
            failure: { kind: "model", message: expect.stringMatching(/holds \d+ tokens, and the prompt has about \d+/) },
        });
    });

    it("is told of tools in words", async () => {
        if (reason !== null) return expect(reason).toMatch(/weights|node-llama-cpp/);
        const turn = turnOf("local:", { maxOutput: 4, contract, tools: [{ name: "x", input: {} }] });
        expect(replyOf(await ask(models, turn)).notes).toEqual([expect.stringContaining("described in words")]);
    });

    it("a file that is no model is a failure", async () => {
        const other = createModels({ env: { ...env, XDG_CACHE_HOME: tmpdir() }, folder });
        const outcome = await ask(other, turnOf("local:none.gguf"));
        expect(outcome).toMatchObject({ ok: false, failure: { kind: "unreachable", message: expect.stringContaining("no weights") } });
        await other.close();
    });
});
