/**
 * The coroutine of `generate`: every way through it, with answers scripted here.
 *
 * Why it is long: the ways are one list, and each is a few lines over the same script of answers.
 */
import type { Contract, Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { fromJson } from "../../src/value/json.ts";
import type { GenerateOptions, Message, ModelTurn } from "../../src/index.ts";
import { labelled, list, object, runtime, TOOL } from "../builtin/support.ts";
import { bad, calls, drive, inOrder, notJson, OK, ok, type Ran, reply, says, setup, text } from "./support.ts";

const options = (more: Partial<GenerateOptions>): GenerateOptions => ({ attempts: 1, strict: false, debug: false, stream: false, ...more });
const userText = (turn: ModelTurn | undefined): string => {
    const user = turn?.messages.find((message) => message.role === "user");
    return user?.role === "user" ? user.content.map((part) => (part.type === "text" ? part.text : "")).join("") : "";
};
const kinds = (ran: Ran): string[] => ran.events.map((event) => `${event.kind} ${event.suffix}`.trim());
const data = (ran: Ran, kind: string, nth = 0): Record<string, Json> =>
    ran.events.filter((event) => event.kind === kind)[nth]?.data as Record<string, Json>;

describe("free text", () => {
    test("comes back untouched, with the origins of the prompt and the model", () => {
        const rt = runtime();
        const ran = drive(
            setup({ items: [{ source: "log", label: "log", value: labelled(rt, "boom", "file:log") }] }),
            rt,
            inOrder(text(" said\n")),
        );
        expect(ran.value).toBe(" said\n");
        expect(ran.origins).toEqual(["file:log", "model:Claude"]);
        expect(ran.effects.map((effect) => effect.suffix)).toEqual(["attempt[0]"]);
        expect(ran.effects[0]?.labels).toEqual(["file:log"]);
        expect(ran.turns[0]?.contract).toBe(undefined);
        expect(userText(ran.turns[0])).not.toContain("schema");
        expect(kinds(ran)).toEqual(["generate.started", "generate.attempt attempt[0]", "generate.ended"]);
    });

    test("is what the model gave where it gave a value", () =>
        expect(drive(setup(), runtime(), inOrder(reply({ value: null }))).value).toBe(null));

    test("that was cut off comes back and says so in the ledger", () => {
        const ran = drive(setup({ options: options({ max_output: 5 }) }), runtime(), inOrder(reply({ text: "half a", finish: "length" })));
        expect(ran.value).toBe("half a");
        expect(data(ran, "generate.ended")).toMatchObject({ ok: true, truncated: true, validation: null });
    });

    test("empty is empty", () => expect(drive(setup(), runtime(), inOrder(text(""))).value).toBe(""));
});

describe("a request", () => {
    test("holds what the options say, and nothing that they do not", () => {
        const full = options({ max_output: 100, temperature: 0.2, think: "low", stream: true, debug: true, strict: true, timeout: 5000 });
        const ran = drive(setup({ options: full, contract: OK, shapes: { S: OK } }), runtime(), inOrder(says({ ok: true })));
        expect(ran.turns[0]).toMatchObject({
            maxOutput: 100,
            temperature: 0.2,
            think: "low",
            stream: true,
            debug: true,
            strict: true,
            label: "Main.main[0]",
            contract: OK,
            shapes: { S: OK },
        });
        expect(ran.effects[0]?.deadline).toBe(5000);
        const bare = drive(setup(), runtime(), inOrder(text("")));
        expect(Object.keys(bare.turns[0] as object).sort()).toEqual(["debug", "label", "messages", "model", "op", "stream", "strict"]);
        expect(bare.effects[0]?.deadline).toBe(undefined);
    });
    test("never has the model's URI in a message", () => {
        const ran = drive(setup({ contract: OK }), runtime(), inOrder(says({ ok: true })));
        expect(JSON.stringify(ran.turns[0]?.messages)).not.toContain("anthropic://");
    });
});

describe("contracts", () => {
    test("a right answer is the value", () => {
        const ran = drive(setup({ contract: OK }), runtime(), inOrder(says({ ok: true })));
        expect(ran.value).toEqual({ ok: true });
        expect(data(ran, "generate.ended")).toEqual({
            attempts: 1,
            validation: { ok: true, strict: false },
            result: { ok: true },
            ok: true,
            error: null,
            errors: [],
            usage: { input: 10, output: 2 },
        });
    });
    test("is coerced unless strict, extra fields kept unless strict", () => {
        expect(drive(setup({ contract: OK }), runtime(), inOrder(says({ ok: " TRUE ", more: 1 }))).value).toEqual({ ok: true, more: 1 });
        const strict = setup({ contract: OK, options: options({ strict: true }) });
        expect(drive(strict, runtime(), inOrder(says({ ok: "true" }))).failure?.message).toContain("LLM result field must be a boolean");
        expect(drive(strict, runtime(), inOrder(says({ ok: true, more: 1 }))).failure?.message).toContain(
            "LLM result contains unexpected field 'more'",
        );
    });
    test("named shapes are followed", () => {
        const contract: Contract = { type: "list", item: { type: "ref", name: "S" } };
        expect(drive(setup({ contract, shapes: { S: OK } }), runtime(), inOrder(says([{ ok: "false" }]))).value).toEqual([{ ok: false }]);
    });
    test.each<readonly [string, Json, string]>([
        ["no object", [1], "LLM result must be an object matching the generate return contract"],
        ["a missing field", {}, "LLM result is missing required field 'ok'"],
        ["a wrong field", { ok: 1 }, "LLM result field must be a boolean"],
    ])("%s fails in the words of the reference", (_, value, message) => {
        const ran = drive(setup({ contract: OK }), runtime(), inOrder(says(value)));
        expect(ran.failure).toMatchObject({ kind: "contract", detail: { rejected: value } });
        expect(ran.failure?.message).toContain(message);
    });
});

describe("attempts", () => {
    const three = options({ attempts: 3 });

    test("a wrong answer is sent back with what was wrong, the first attempt counted", () => {
        const ran = drive(
            setup({ contract: OK, options: three }),
            runtime(),
            inOrder(says({ ok: 3 }), notJson("Sure!"), says({ ok: true })),
        );
        expect(ran.value).toEqual({ ok: true });
        expect(ran.effects.map((effect) => effect.suffix)).toEqual(["attempt[0]", "attempt[1]", "attempt[2]"]);
        expect(userText(ran.turns[1])).toContain(
            'Why did the build fail?\n\nPrevious generation failed.\n\nPrevious output:\n{\n  "ok": 3\n}\n\nError:\nLLM result field must be a boolean',
        );
        expect(userText(ran.turns[1])).toContain("Return corrected JSON matching the requested schema only.");
        expect(userText(ran.turns[2])).toContain("Previous generation failed.\n\nError:\nLLM provider did not return JSON: Sure!");
        expect(userText(ran.turns[2])).not.toContain("Previous output");
        expect(data(ran, "generate.ended").errors).toHaveLength(2);
        expect(data(ran, "generate.ended").usage).toEqual({ input: 30, output: 6 });
        expect(data(ran, "generate.attempt", 1).error).toBe("LLM provider did not return JSON: Sure!");
        expect(data(ran, "generate.attempt", 1).messages).toEqual(JSON.parse(JSON.stringify(ran.turns[1]?.messages)));
    });

    test("end with the last error", () => {
        const ran = drive(setup({ contract: OK, options: options({ attempts: 2 }) }), runtime(), inOrder(notJson("a"), notJson("b")));
        expect(ran.turns).toHaveLength(2);
        expect(ran.failure).toEqual({
            kind: "contract",
            message: "LLM provider did not return JSON: b",
            detail: { errors: ["LLM provider did not return JSON: a", "LLM provider did not return JSON: b"] },
        });
        expect(data(ran, "generate.ended")).toMatchObject({
            ok: false,
            attempts: 2,
            validation: { ok: false },
            result: null,
            kind: "contract",
        });
    });

    test.each(["not_json", "ambiguous", "empty"])("an answer that is %s is tried again", (kind) => {
        const ran = drive(
            setup({ contract: OK, options: three }),
            runtime(),
            inOrder(reply({ text: "x", error: { kind, message: "why" } }), says({ ok: true })),
        );
        expect(userText(ran.turns[1])).toContain("LLM provider did not return JSON: why");
    });

    test("an answer of the wrong shape is tried again with the value that was read", () => {
        const ran = drive(
            setup({ contract: OK, options: three }),
            runtime(),
            inOrder(reply({ text: "x", error: { kind: "shape", message: "no", rejected: { a: 1 } } }), says({ ok: true })),
        );
        expect(userText(ran.turns[1])).toContain('Previous output:\n{\n  "a": 1\n}\n\nError:\nno\n');
    });

    test("neither value nor error is no JSON", () => {
        const ran = drive(setup({ contract: OK }), runtime(), inOrder(text("well …")));
        expect(ran.failure?.message).toBe("LLM provider did not return JSON: well …");
    });

    test("an object as input gets a key, anything else is wrapped", () => {
        const rt = runtime();
        const again = (instruction: Parameters<typeof list>[1]): string => {
            const ran = drive(setup({ contract: OK, options: three, instruction }), rt, inOrder(notJson("x"), says({ ok: true })));
            return userText(ran.turns[1]).split("Instruction:\n")[1]?.split("\n\nReturn JSON matching")[0] as string;
        };
        expect(JSON.parse(again(object(rt, { task: "t", list: list(rt, 1) })))).toEqual({
            task: "t",
            list: [1],
            repair: expect.stringContaining("Previous generation failed."),
        });
        expect(JSON.parse(again(object(rt, {})))).toEqual({ repair: expect.stringContaining("Error:") });
        expect(JSON.parse(again(object(rt, { repair: "mine" })))).toEqual({
            input: { repair: "mine" },
            repair: expect.stringContaining("Error:"),
        });
        expect(JSON.parse(again(list(rt, "a", object(rt, { b: 1 }))))).toEqual({
            input: ["a", { b: 1 }],
            repair: expect.stringContaining("Error:"),
        });
        expect(JSON.parse(again(7))).toEqual({ input: 7, repair: expect.stringContaining("Error:") });
    });

    test.each(["unreachable", "timeout", "rate_limited", "model", "cancelled", "limit.cost"] as const)("%s ends at once", (kind) => {
        const ran = drive(setup({ contract: OK, options: three }), runtime(), inOrder(bad(kind, "down")));
        expect(ran.failure).toEqual({ kind, message: "down" });
        expect(kinds(ran)).toEqual(["generate.started", "generate.attempt attempt[0]", "generate.ended"]);
        expect(data(ran, "generate.attempt")).toMatchObject({ reply: null, error: "down", failure: { kind } });
    });

    test("what was cut off is tried again, and is not malformed after the last attempt", () => {
        const cuts: { [key: string]: Json }[] = [
            { finish: "length" },
            { error: { kind: "truncated", message: "x" } },
            { finish: "length", error: { kind: "not_json", message: "x" } },
        ];
        for (const cut of cuts) {
            const cutOff = reply({ text: '{"ok": tr', ...cut });
            const ran = drive(
                setup({ contract: OK, options: options({ attempts: 2, max_output: 50 }) }),
                runtime(),
                inOrder(cutOff, cutOff),
            );
            expect(ran.turns).toHaveLength(2);
            expect(userText(ran.turns[1])).toContain("The output limit was reached before the answer was complete.");
            expect(ran.failure).toMatchObject({
                kind: "model",
                message: "m-1 stopped at its output limit of 50 tokens before the answer was complete",
                hint: "raise max_output, or ask for a shorter answer",
            });
        }
    });

    test("a whole answer before the cut counts", () =>
        expect(
            drive(setup({ contract: OK }), runtime(), inOrder(reply({ text: '{"ok":true} and', value: { ok: true }, finish: "length" })))
                .value,
        ).toEqual({ ok: true }));

    test("what the provider calls a refusal ends it at once", () => {
        const ran = drive(setup({ contract: OK, options: three }), runtime(), inOrder(reply({ finish: "refusal", text: "No." })));
        expect(ran.failure).toEqual({ kind: "refusal", message: "m-1 refused to answer: No." });
        expect(ran.turns).toHaveLength(1);
    });

    test("words that sound like a refusal are tried again, and are a refusal after the last attempt", () => {
        const no = reply({ text: "I cannot.", error: { kind: "refused", message: "No." } });
        const ran = drive(setup({ contract: OK, options: three }), runtime(), inOrder(no, no, no));
        expect(ran.failure).toMatchObject({ kind: "refusal", message: "m-1 refused to answer: No." });
        expect(ran.turns).toHaveLength(3);
        const yes = drive(setup({ contract: OK, options: three }), runtime(), inOrder(no, reply({ text: "{}", value: { ok: true } })));
        expect(yes.value).toEqual({ ok: true });
    });

    test("an outcome that is no reply ends it", () => {
        for (const given of [null, "text", { text: 1 }, { text: "", finish: "maybe" }, { text: "", finish: "stop", calls: [1] }])
            expect(drive(setup(), runtime(), inOrder(ok(given as Json))).failure).toEqual({
                kind: "model",
                message: "anthropic://claude gave no reply that can be read",
            });
    });
});

describe("what must not be rendered", () => {
    test.each([
        ["an item", setup({ items: [{ source: "t", label: null, value: TOOL }] })],
        ["the instruction", setup({ instruction: TOOL })],
        ["the role", setup({ identity: { role: TOOL, description: "" } })],
    ])("a capability in %s is a violation and nothing is sent", (_, given) => {
        const ran = drive(given, runtime(), inOrder());
        expect(ran.failure?.kind).toBe("violation.capability");
        expect(ran.effects).toEqual([]);
    });
    test("a file that is none", () =>
        expect(
            drive(setup({ items: [{ source: "p", label: null, value: "hello", image: true }] }), runtime(), inOrder()).failure,
        ).toMatchObject({ kind: "value", message: "use image needs a picture or file" }));

    test("a list of pictures is an item for each, in their order; an empty one shows nothing", () => {
        const rt = runtime();
        const picture = (data: string): Json => ({ media_type: "image/png", data, optional: true });
        const item = (json: Json) => [{ source: "p", label: "photo", value: fromJson(json, rt.heap), image: true }];
        const two = drive(setup({ items: item([picture("AAAA"), picture("BBBB")]) }), rt, inOrder(text("x")));
        const [, user] = two.turns[0]?.messages ?? [];
        expect((user as Message & { readonly role: "user" }).content).toMatchObject([
            { type: "text", text: expect.stringContaining("photo 1") },
            { type: "file", mediaType: "image/png", data: "AAAA", optional: true },
            { type: "text", text: expect.stringContaining("photo 2") },
            { type: "file", data: "BBBB" },
            { type: "text" },
        ]);
        const none = drive(setup({ items: item([]) }), rt, inOrder(text("x")));
        expect(none.turns[0]?.messages).toEqual(drive(setup({ items: [] }), rt, inOrder(text("x"))).turns[0]?.messages);
    });
});

describe("counting tokens", () => {
    const items = [
        { source: "log", label: null, value: "one two three four", budget: { amount: 2, unit: "tokens" as const, text: "2 tokens" } },
    ];

    test("is one effect before the first attempt, and its outcome is in the ledger", () => {
        const ran = drive(
            setup({ items }),
            runtime(),
            inOrder(ok({ tokenizer: "words", items: [{ fits: 7, tokens: 2, total: 4 }] }), text("x")),
        );
        expect(ran.effects.map((effect) => `${effect.kind} ${effect.suffix}`)).toEqual(["model count", "model attempt[0]"]);
        expect(ran.effects[0]?.request).toMatchObject({
            op: "count",
            items: [{ pieces: ["one two three four"], whole: false, max: 2, keep: "start" }],
        });
        expect(userText(ran.turns[0])).toContain("\none two\n");
        expect(kinds(ran)[0]).toBe("model.ended count");
        expect(data(ran, "generate.started")).toMatchObject({
            tokenizer: "words",
            items: [{ text: "one two", clipped: true, original_size: 4, clipped_size: 2, strategy: "start", budget: { unit: "tokens" } }],
        });
    });
    test("that fails ends it", () => {
        expect(drive(setup({ items }), runtime(), inOrder(bad("unreachable", "no tokenizer"))).failure).toEqual({
            kind: "unreachable",
            message: "no tokenizer",
        });
        const ran = drive(setup({ items }), runtime(), inOrder(ok({ items: [] })));
        expect(ran.failure?.message).toBe("The tokens of the prompt could not be counted for anthropic://claude");
        expect(kinds(ran)).toEqual(["model.ended count", "generate.started", "generate.ended"]);
        expect(data(ran, "generate.ended").attempts).toBe(0);
    });
    test("happens again for a total budget", () => {
        const answer = (effect: { request: Json }): ReturnType<typeof ok> => {
            const request = effect.request as { op: string; items: { pieces: string[]; max: number }[] };
            if (request.op !== "count") return text("x");
            return ok({ tokenizer: "w", items: request.items.map((one) => ({ fits: 1, tokens: 1, total: one.pieces.join("").length })) });
        };
        const ran = drive(setup({ items, contextMax: { amount: 300, unit: "tokens", text: "300 tokens" } }), runtime(), answer);
        expect(ran.effects.map((effect) => effect.suffix)).toEqual(["count", "count[1]", "attempt[0]"]);
    });
});

describe("use one of", () => {
    const variant = (picked: string, empty: boolean) => ({
        site_id: "a.remit#Main.main[evidence]",
        picked,
        available: ["none", "full"],
        reason: "selected" as const,
        empty,
    });
    test("shows the chosen source under the shared label, and nothing of its name", () => {
        const ran = drive(
            setup({ items: [{ source: "scratch", label: "evidence", value: "E", variant: variant("full", false) }] }),
            runtime(),
            inOrder(text("x")),
        );
        expect(userText(ran.turns[0])).toContain("[evidence]\nsource: scratch\n");
        expect(userText(ran.turns[0])).not.toContain("full");
    });
    test("leaves an empty one out, without a gap in the numbering", () => {
        const items = [
            { source: "", label: "evidence", value: null, variant: variant("none", true) },
            { source: "log", label: null, value: "L" },
        ];
        const ran = drive(setup({ items }), runtime(), inOrder(text("x")));
        expect(userText(ran.turns[0])).toContain("[0]\nsource: log\n");
        expect(userText(ran.turns[0])).not.toContain("evidence");
        expect(data(ran, "generate.started").items).toMatchObject([
            { shown: false, variant: { picked: "none", empty: true } },
            { shown: true },
        ]);
    });
});

describe("tools", () => {
    const tools = [{ name: "Repo", uri: "file://workspace", file: "a.remit" }];
    const described = ok(
        {
            methods: [
                {
                    name: "read",
                    description: "Reads a file",
                    input: { type: "object", properties: { path: { type: "string" } }, required: ["path"], additionalProperties: false },
                    readOnly: true,
                },
                { name: "write", input: { type: "object" }, readOnly: false },
            ],
        },
        { origins: ["tool:Repo"] },
    );
    const read = (id: string, path: Json) => ({ id, name: "Repo_read", args: { path } });
    const write = (id: string) => ({ id, name: "Repo_write", args: { path: "a" } });
    const byKind =
        (turns: ReturnType<typeof ok>[], others: Record<string, ReturnType<typeof ok>> = {}) =>
        (effect: { suffix: string; kind: string; request: Json }): ReturnType<typeof ok> => {
            if (effect.suffix.startsWith("describe")) return others.describe ?? described;
            if (effect.kind === "model") return turns.shift() as ReturnType<typeof ok>;
            return others[effect.suffix.split("/").slice(2).join("/")] ?? others[effect.kind] ?? ok("content", { origins: ["tool:Repo"] });
        };

    test("the pictures of results follow them in one message, and stay in the conversation", () => {
        const shot = ok({ content: [{ type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" }] }, { origins: ["tool:Repo"] });
        const ran = drive(
            setup({ tools, contract: OK }),
            runtime(),
            byKind([calls(read("1", "a"), read("2", "b")), says({ ok: true })], { tool: shot }),
        );
        expect(ran.turns[1]?.messages.slice(-3)).toMatchObject([
            { role: "tool", call: "1", result: { content: [{ type: "text", text: expect.stringContaining("it follows") }] } },
            { role: "tool", call: "2" },
            {
                role: "user",
                content: [
                    { type: "text", text: "What Repo_read gave, as data: a picture." },
                    { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=", optional: true },
                    { type: "text" },
                    { type: "file" },
                ],
            },
        ]);
    });
    test("a result too long for a conversation is shown cut, with a line that says so; the ledger has the whole", () => {
        const long = "x".repeat(100_000);
        const outcome = ok(long, { origins: ["tool:Repo"] });
        const ran = drive(
            setup({ tools, contract: OK }),
            runtime(),
            byKind([calls(read("1", "a")), says({ ok: true })], { tool: outcome }),
        );
        const shown = ran.turns[1]?.messages.find((message) => message.role === "tool")?.result;
        expect(shown).toBe(`${"x".repeat(65_536)}\n[cut here: 65536 of 100000 characters are shown]`);
        expect(data(ran, "tool.ended")).toMatchObject({
            result: long,
            shown: { limit: 65_536, original_size: 100_000, clipped_size: 65_536 },
        });
    });

    test("are described once, offered, called in parallel, and their results shown", () => {
        const ran = drive(setup({ tools, contract: OK }), runtime(), byKind([calls(read("1", "a"), read("2", "b")), says({ ok: true })]));
        expect(ran.value).toEqual({ ok: true });
        expect(ran.effects.map((effect) => `${effect.kind} ${effect.suffix}`)).toEqual([
            "tool describe[Repo]",
            "model attempt[0]",
            "tool attempt[0]/turn[0]/call[0]",
            "tool attempt[0]/turn[0]/call[1]",
            "model attempt[0]/turn[1]",
        ]);
        expect(ran.together).toEqual([1, 1, 2, 1]);
        expect(ran.turns[0]?.tools?.map((offer) => offer.name)).toEqual(["Repo_read", "Repo_write"]);
        expect(ran.effects[2]?.request).toEqual({
            op: "call",
            tool: "Repo",
            uri: "file://workspace",
            file: "a.remit",
            method: "read",
            args: [{ path: "a" }],
            chosenBy: "model",
        });
        expect(ran.effects[2]?.labels).toEqual(["model:Claude"]);
        expect(ran.turns[1]?.messages.slice(2)).toEqual([
            { role: "assistant", content: "", calls: [read("1", "a"), read("2", "b")] },
            { role: "tool", call: "1", name: "Repo_read", result: "content" },
            { role: "tool", call: "2", name: "Repo_read", result: "content" },
        ]);
        expect(ran.origins).toEqual(["model:Claude", "tool:Repo"]);
        expect(kinds(ran)).toEqual([
            "effect.ended describe[Repo]",
            "generate.started",
            "generate.attempt attempt[0]",
            "tool.started attempt[0]/turn[0]/call[0]",
            "tool.started attempt[0]/turn[0]/call[1]",
            "tool.ended attempt[0]/turn[0]/call[0]",
            "tool.ended attempt[0]/turn[0]/call[1]",
            "generate.attempt attempt[0]/turn[1]",
            "generate.ended",
        ]);
        expect(data(ran, "generate.attempt", 1)).toMatchObject({ turn: 1, carried: 3 });
        expect(data(ran, "generate.attempt", 1).messages).toHaveLength(2);
    });

    test("a single method may be named, under one description", () => {
        const named = [
            { ...(tools[0] as (typeof tools)[0]), method: "read" },
            { ...(tools[0] as (typeof tools)[0]), method: "write" },
            { ...(tools[0] as (typeof tools)[0]), method: "read" },
        ];
        const ran = drive(setup({ tools: named }), runtime(), byKind([text("x")]));
        expect(ran.turns[0]?.tools?.map((offer) => offer.name)).toEqual(["Repo_read", "Repo_write"]);
        expect(ran.effects.filter((effect) => effect.kind === "tool")).toHaveLength(1);
        const unknown = drive(setup({ tools: [{ ...(tools[0] as (typeof tools)[0]), method: "erase" }] }), runtime(), byKind([]));
        expect(unknown.failure).toMatchObject({ kind: "tool", message: "Tool Repo has no method 'erase'", hint: "it has read, write" });
    });

    test("a tool that cannot be described ends it before anything is sent", () => {
        const ran = drive(setup({ tools }), runtime(), byKind([], { describe: bad("unreachable", "gone") }));
        expect(ran.failure).toEqual({ kind: "unreachable", message: "gone" });
        expect(ran.turns).toEqual([]);
        expect(drive(setup({ tools }), runtime(), byKind([], { describe: ok("?") })).failure?.message).toBe(
            "Tool Repo gave no description of its methods",
        );
    });

    test("names that providers do not take are mended and stay apart", () => {
        const odd = ok({
            methods: [{ name: "a.b", input: {}, readOnly: true }, { name: "a b", input: {}, readOnly: true }, { name: 7 }, null],
        });
        const ran = drive(setup({ tools }), runtime(), byKind([text("x")], { describe: odd }));
        expect(ran.turns[0]?.tools?.map((offer) => offer.name)).toEqual(["Repo_a_b", "Repo_a_b_2"]);
    });

    test("what the gate asks about is asked before the call, other calls of the turn are not held up by it", () => {
        const ran = drive(setup({ tools }), runtime(), byKind([calls(write("1"), read("2", "b")), text("done")], { ask: ok("once") }));
        expect(ran.effects.map((effect) => `${effect.kind} ${effect.suffix}`).slice(2, 5)).toEqual([
            "ask attempt[0]/turn[0]/call[0]/ask",
            "tool attempt[0]/turn[0]/call[1]",
            "tool attempt[0]/turn[0]/call[0]",
        ]);
        expect(ran.effects[2]?.request).toEqual({
            question: "May Claude call Repo.write?",
            detail: { args: { path: "a" } },
            options: ["once", "session", "deny", "deny session", "abort"],
        });
        expect(data(ran, "ask.decided")).toEqual({ decision: "once", ok: true, result: "once" });
        expect(ran.value).toBe("done");
    });

    test.each([
        ["denied", ok("deny"), "The call of Repo_write was not allowed. It was not made."],
        ["anything else", ok("yes!"), "The call of Repo_write was not allowed. It was not made."],
        [
            "nobody there",
            bad("denied", "nobody is there to answer"),
            "The call of Repo_write was not allowed: nobody is there to answer. It was not made.",
        ],
    ])("%s: the call is not made and the model sees it", (_, answer, error) => {
        const ran = drive(setup({ tools }), runtime(), byKind([calls(write("1")), text("ok")], { ask: answer }));
        expect(ran.effects.filter((effect) => effect.suffix.endsWith("call[0]"))).toEqual([]);
        expect(ran.turns[1]?.messages.at(-1)).toEqual({ role: "tool", call: "1", name: "Repo_write", result: { isError: true, error } });
        expect(ran.value).toBe("ok");
    });

    test("bad arguments and unknown tools never get to a tool, nor to a person", () => {
        const ran = drive(
            setup({ tools }),
            runtime(),
            byKind([
                calls(
                    read("1", 7),
                    { id: "2", name: "Shell_run", args: {} },
                    { id: "3", name: "Repo_read", args: { path: "a", more: 1, __proto__x: 1 } },
                ),
                text("ok"),
            ]),
        );
        expect(ran.effects.map((effect) => effect.kind)).toEqual(["tool", "model", "model"]);
        const errors = ran.turns[1]?.messages
            .slice(3)
            .map((message) => (message.role === "tool" ? (message.result as { error: string }).error : ""));
        expect(errors?.[0]).toBe("The arguments of Repo_read are not valid, so it was not called.\n/path: must be a string");
        expect(errors?.[1]).toBe("There is no tool 'Shell_run'. The tools are: Repo_read, Repo_write.");
        expect(errors?.[2]).toContain("'more' is not a known name; known: path");
    });

    test("a tool that fails is a result", () => {
        const ran = drive(setup({ tools }), runtime(), byKind([calls(read("1", "a")), text("ok")], { tool: bad("tool", "no such file") }));
        expect(ran.turns[1]?.messages.at(-1)).toEqual({
            role: "tool",
            call: "1",
            name: "Repo_read",
            result: { isError: true, error: "no such file" },
        });
        expect(data(ran, "tool.ended")).toMatchObject({ ok: false, kind: "tool", error: "no such file" });
        expect(ran.value).toBe("ok");
    });

    test.each(["cancelled", "limit.calls", "violation.remit"] as const)("%s ends it, from a tool or a question", (kind) => {
        expect(drive(setup({ tools }), runtime(), byKind([calls(read("1", "a"))], { tool: bad(kind, "x") })).failure?.kind).toBe(kind);
        expect(drive(setup({ tools }), runtime(), byKind([calls(write("1"))], { ask: bad(kind, "x") })).failure?.kind).toBe(kind);
    });

    test("turns are bounded", () => {
        const again = (): ReturnType<typeof ok>[] => Array.from({ length: 20 }, () => calls(read("1", "a")));
        const ran = drive(setup({ tools }), runtime(), byKind(again()));
        expect(ran.turns).toHaveLength(8);
        // The model that answered, not the one that is imported.
        expect(ran.failure).toMatchObject({ kind: "limit.turns", message: "m-1 still called tools after 8 turns" });
        expect(drive(setup({ tools, options: options({ turns: 1 }) }), runtime(), byKind(again())).failure?.message).toBe(
            "m-1 still called tools after 1 turn",
        );
    });

    test("a further attempt after calls goes on from them, and makes none again", () => {
        const ran = drive(
            setup({ tools, contract: OK, options: options({ attempts: 2 }) }),
            runtime(),
            byKind([calls(read("1", "a")), notJson("hm"), says({ ok: true })]),
        );
        expect(ran.effects.filter((effect) => effect.suffix.includes("call["))).toHaveLength(1);
        expect(ran.effects.at(-1)?.suffix).toBe("attempt[1]");
        expect(ran.turns[2]?.messages.slice(-2)).toEqual([
            { role: "assistant", content: "hm" },
            {
                role: "user",
                content: [
                    {
                        type: "text",
                        text: "Previous generation failed.\n\nError:\nLLM provider did not return JSON: hm\n\nReturn corrected JSON matching the requested schema only.",
                    },
                ],
            },
        ]);
        expect(ran.turns[2]?.messages[3]).toMatchObject({ role: "tool", result: "content" });
        expect(data(ran, "generate.attempt", 2).carried).toBe(5);
    });

    test("a call although nothing was offered is a wrong answer", () => {
        const ran = drive(
            setup({ contract: OK, options: options({ attempts: 2 }) }),
            runtime(),
            inOrder(calls(read("1", "a")), says({ ok: true })),
        );
        expect(userText(ran.turns[1])).toContain("LLM called a tool although none was offered");
    });
});

describe("labels", () => {
    test("of the instruction are said in the event", () => {
        const rt = runtime();
        const ran = drive(setup({ instruction: labelled(rt, "do x", "tool:Web") }), rt, inOrder(text("x")));
        expect(data(ran, "generate.started").instruction).toEqual({ text: "do x", kind: "string", labels: ["tool:Web"] });
        expect(ran.origins).toEqual(["model:Claude", "tool:Web"]);
    });
    test("of what was clipped away reach the value: how long it is decides what is shown", () => {
        const rt = runtime();
        const value = list(rt, labelled(rt, "alpha", "tool:A"), labelled(rt, "beta", "tool:B"));
        const ran = drive(
            setup({ items: [{ source: "xs", label: null, value, budget: { amount: 15, unit: "chars", text: "15" } }] }),
            rt,
            inOrder(text("x")),
        );
        expect(ran.origins).toEqual(["model:Claude", "tool:A", "tool:B"]);
    });
    test("of a failure are those of what it may show", () => {
        const rt = runtime();
        const ran = drive(
            setup({ contract: OK, items: [{ source: "x", label: null, value: labelled(rt, "x", "user") }] }),
            rt,
            inOrder(notJson("y")),
        );
        expect(ran.origins).toEqual(["model:Claude", "user"]);
    });
});
