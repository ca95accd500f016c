/** Sections 1.4 and 1.11: contracts and `generate`; rows 19 to 23 of the checklist. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { type Row, fails, is, refused, rules } from "./cases.ts";
import { inMain, play, userText } from "./harness.ts";

const gen = (fields: string, options = ""): string => `generate({ input: "q"${options} }) -> {\n${fields}\n}`;

rules("1.11 options", [
    [
        "all of them",
        'generate({ input: "q", max_output: 2k, attempts: 3, temperature: 0.2, think: "medium", strict: true, debug: false }) -> {\n ok: boolean\n answer\n tags: list[string]\n}',
        is({ ok: true, answer: "a", tags: ["t"] }),
        { replies: [{ ok: true, answer: "a", tags: ["t"] }] },
    ],
    ["input is required", "generate({ attempts: 1 })", refused("INVALID_GENERATE_INPUT")],
    ["an unknown key", 'generate({ input: "q", limit_: 3 })', refused("UNKNOWN_GENERATE_OPTION")],
    ["a key twice", 'generate({ input: "q", attempts: 1, attempts: 2 })', refused("DUPLICATE_GENERATE_OPTION")],
    ["attempts: an integer above 0", 'generate({ input: "q", attempts: 0 })', refused("INVALID_GENERATE_ATTEMPTS")],
    ["attempts: no fraction", 'generate({ input: "q", attempts: 1.5 })', refused("INVALID_GENERATE_ATTEMPTS")],
    ["attempts: a literal", 'n = 2 generate({ input: "q", attempts: n })', refused("INVALID_GENERATE_ATTEMPTS")],
    ["max_output: a number", 'generate({ input: "q", max_output: "x" })', { codes: "INVALID_GENERATE_MAX_OUTPUT" }],
    ["max_output: above 0", 'generate({ input: "q", max_output: 0 })', { codes: "INVALID_GENERATE_MAX_OUTPUT" }],
    ["max_output: the unit k", 'generate({ input: "q", max_output: 2m })', { codes: "INVALID_GENERATE_MAX_OUTPUT_UNIT" }],
    ["temperature: a literal number", 'generate({ input: "q", temperature: "hot" })', refused("INVALID_GENERATE_TEMPERATURE")],
    ["think: a word of the list", 'generate({ input: "q", think: "hard" })', refused("INVALID_GENERATE_THINK")],
    ["strict: a boolean", 'generate({ input: "q", strict: 1 })', refused("INVALID_GENERATE_STRICT")],
    ["debug: a boolean", 'generate({ input: "q", debug: "yes" })', refused("INVALID_GENERATE_DEBUG")],
    [
        "input may be an object or a list",
        'a = generate({ input: { task: "x", n: 1 } }) b = generate({ input: ["y"] }) c = generate({ input: 5 }) [a]'.replace(
            "[a]",
            "return a",
        ),
        { instructions: ['{\n  "task": "x",\n  "n": 1\n}', '[\n  "y"\n]', "5"] },
        { replies: ["a", "b", "c"] },
    ],
    ["23: without a contract the text comes back untouched", 'generate({ input: "q" })', is('  {"a": 1}\n'), { replies: ['  {"a": 1}\n'] }],
    [
        "generate as an argument, in an object, in a list",
        'x = { a: id(generate({ input: "1" })), b: [generate({ input: "2" })] } x',
        is({ a: "r1", b: ["r2"] }),
        { replies: ["r1", "r2"] },
    ],
    ["generate in a condition", 'if generate({ input: "1" }) -> {\n ok: boolean\n} { return 1 } 2', is(1), { replies: [{ ok: false }] }],
    ["a member of its result", 'generate({ input: "1" }) -> {\n n: number\n}.n', is(4), { replies: [{ n: 4 }] }],
]);

test("options reach the provider's request", async () => {
    const { turns } = await play(
        inMain(
            'a = generate({ input: "q", max_output: 1.5k, temperature: 0.2, think: "low", strict: true, debug: true }) b = generate({ input: "q", think: true }) c = generate({ input: "q" })',
        ),
        { replies: ["a", "b", "c"] },
    );
    expect(turns[0]).toMatchObject({ maxOutput: 1500, temperature: 0.2, think: "low", strict: true, debug: true });
    expect(turns[1]).toMatchObject({ think: true, strict: false, debug: false });
    expect([turns[2]?.maxOutput, turns[2]?.temperature]).toEqual([undefined, undefined]);
});

/** Field type; what the model wrote; the value, or undefined where it is refused. */
const COERCION: readonly (readonly [type: string, written: Json, value: Json | undefined])[] = [
    ["boolean", true, true],
    ["boolean", "true", true],
    ["boolean", " FALSE ", false],
    ["boolean", "True", true],
    ["boolean", "yes", undefined],
    ["boolean", 1, undefined],
    ["boolean", null, undefined],
    ["number", 42, 42],
    ["number", "42", 42],
    ["number", "2.5", 2.5],
    ["number", "-7", -7],
    ["number", "-0.5", -0.5],
    ["number", "0", 0],
    ["number", "1e3", undefined],
    ["number", "007", undefined],
    ["number", "+1", undefined],
    ["number", ".5", undefined],
    ["number", "five", undefined],
    ["number", true, undefined],
    ["string", "x", "x"],
    ["string", 42, undefined],
    ["string", true, undefined],
    ["string", null, undefined],
    ["string", ["x"], undefined],
    ["list", [1, "a", null], [1, "a", null]],
    ["list", "a", undefined],
    ["list", {}, undefined],
    ["list[number]", ["1", 2, "3.5"], [1, 2, 3.5]],
    ["list[number]", ["1", "x"], undefined],
    ["list[boolean]", ["true", false, " False"], [true, false, false]],
    ["list[string]", ["a", 1], undefined],
    ["list[list[number]]", [["1"], []], [[1], []]],
    ["list[json]", [1, { a: null }], [1, { a: null }]],
    ["json", { a: [1, null] }, { a: [1, null] }],
    ["json", "42", "42"],
    ["json", null, null],
];

describe("1.11 coercion (row 20)", () => {
    test.each(COERCION)("%s: %j", async (type, written, value) => {
        const lax = await play(inMain(gen(`f: ${type}\nother: string`)), { replies: [{ f: written, other: "o" }] });
        if (value === undefined) expect(lax.failure?.kind).toBe("contract");
        else expect(lax.value).toEqual({ f: value, other: "o" });
        const strict = await play(inMain(gen(`f: ${type}\nother: string`, ", strict: true")), { replies: [{ f: written, other: "o" }] });
        if (value === undefined || JSON.stringify(value) !== JSON.stringify(written)) expect(strict.failure?.kind).toBe("contract");
        else expect(strict.value).toEqual({ f: value, other: "o" });
    });
});

const wrong = (message: string): string => `contract: ${message}`;
const checks: readonly Row[] = [
    [
        "19: every field is required",
        gen("a: string\nb: number"),
        fails(wrong("LLM result is missing required field 'b'…")),
        { replies: [{ a: "x" }] },
    ],
    ["19: an extra field is kept when lax", gen("a: string"), is({ a: "x", more: [1] }), { replies: [{ a: "x", more: [1] }] }],
    [
        "19: an extra field is refused when strict",
        gen("a: string", ", strict: true"),
        fails(wrong("LLM result contains unexpected field 'more'…")),
        { replies: [{ a: "x", more: 1 }] },
    ],
    [
        "a boolean field",
        gen("a: boolean\nb: string"),
        fails(wrong("LLM result field must be a boolean…")),
        { replies: [{ a: [1], b: "" }] },
    ],
    ["a string field", gen("a\nb: number"), fails(wrong("LLM result field must be a string…")), { replies: [{ a: 1, b: 1 }] }],
    ["a number field", gen("a: number\nb"), fails(wrong("LLM result field must be a number…")), { replies: [{ a: "x", b: "" }] }],
    ["a list field", gen("a: list\nb"), fails(wrong("LLM result field must be a list…")), { replies: [{ a: "x", b: "" }] }],
    [
        "an item of a list",
        gen("a: list[number]\nb"),
        fails(wrong("LLM result field must be a number…")),
        { replies: [{ a: [1, "x"], b: "" }] },
    ],
    [
        "not an object",
        gen("a: string\nb: number"),
        fails(wrong("LLM result must be an object matching the generate return contract…")),
        { replies: ["[1, 2]"] },
    ],
    ["not JSON", gen("a: string\nb: number"), fails(wrong("LLM provider did not return JSON: Just words.")), { replies: ["Just words."] }],
    [
        "fields named like JavaScript's own",
        gen("toString: string\nconstructor: number"),
        fails(wrong("LLM result is missing required field 'toString'…")),
        { replies: [{ constructor: 1, x: 2 }] },
    ],
    [
        "… when they are there",
        gen("toString: string\nconstructor: number"),
        is({ toString: "t", constructor: 1 }),
        { replies: [{ toString: "t", constructor: 1 }] },
    ],
    ["a field twice", gen("a: string\na: number"), refused("DUPLICATE_CONTRACT_FIELD")],
];
rules("1.11 checks (row 19)", checks);

const O = { ok: true };
rules("1.11 where the JSON is found", [
    ["the whole text", gen("ok: boolean\nn: number"), is({ ok: true, n: 1 }), { replies: ['\n {"ok": true, "n": 1} '] }],
    ["a fenced block", gen("ok: boolean"), is(O), { replies: ['Here you are:\n```json\n{"ok": true}\n```\nAnything else?'] }],
    ["a fenced block without a language", gen("ok: boolean"), is(O), { replies: ['```\n{"ok": true}\n```'] }],
    [
        "a balanced object in prose, braces in strings counted as text",
        gen("ok: boolean\ns: string"),
        is({ ok: true, s: "}{" }),
        { replies: ['The answer {"ok": true, "s": "}{"} it is.'] },
    ],
]);

describe("1.11 attempts (rows 21, 22)", () => {
    test("21: the second request has the first output and the error", async () => {
        const { turns, value } = await play(inMain(gen("ok: boolean\nn: number", ", attempts: 3")), {
            replies: [{ ok: "maybe", n: 1 }, "nothing", { ok: true, n: 2 }],
        });
        expect(value).toEqual({ ok: true, n: 2 });
        const [first, second, third] = turns.map(userText) as [string, string, string];
        expect(first).not.toContain("Previous generation failed.");
        const order = [
            "Instruction:\nq\n\nPrevious generation failed.",
            'Previous output:\n{\n  "ok": "maybe",\n  "n": 1\n}',
            "Error:\nLLM result field must be a boolean",
            "Return corrected JSON matching the requested schema only.",
            "Return JSON matching this schema:",
        ].map((part) => second.indexOf(part));
        expect(order.every((place, index) => place >= 0 && (index === 0 || place > (order[index - 1] as number)))).toBe(true);
        expect(third).toContain("Error:\nLLM provider did not return JSON: nothing");
        expect(third).not.toContain("Previous output:");
        expect(third).not.toContain("maybe");
    });

    test("21: an object as input gets the feedback in a key, another value is wrapped", async () => {
        const repaired = async (input: string): Promise<Json> => {
            const { turns } = await play(inMain(`generate({ input: ${input}, attempts: 2 }) -> {\n ok: boolean\n n: number\n}`), {
                replies: [
                    { ok: true, n: "x" },
                    { ok: true, n: 1 },
                ],
            });
            const text = userText(turns[1] as never);
            return JSON.parse(
                text.slice(text.indexOf("Instruction:\n") + 13, text.indexOf("\n\nReturn JSON matching this schema")),
            ) as Json;
        };
        expect(await repaired('{ task: "t" }')).toEqual({ task: "t", repair: expect.stringContaining("Previous generation failed.") });
        expect(await repaired('["a"]')).toEqual({ input: ["a"], repair: expect.stringContaining("Previous generation failed.") });
    });

    test("21: an error of the provider is not tried again here", async () => {
        const { turns, failure } = await play(inMain(gen("ok: boolean", ", attempts: 5")), {
            replies: [{ fail: { kind: "unreachable", message: "no network" } }],
        });
        expect([turns.length, failure?.kind, failure?.message]).toEqual([1, "unreachable", "no network"]);
    });

    test("22: attempts counts the first", async () => {
        const { turns, events, failure } = await play(inMain(gen("ok: boolean\nn: number", ", attempts: 2")), {
            replies: ["no JSON", "none either", { ok: true, n: 1 }],
        });
        expect([turns.length, failure?.kind]).toEqual([2, "contract"]);
        const ended = events.find((event) => event.kind === "generate.ended")?.data as { errors: string[]; attempts: number };
        expect([ended.attempts, ended.errors.length]).toEqual([2, 2]);
    });

    test("one attempt where none is said", async () => {
        const { turns } = await play(inMain(gen("ok: boolean\nn: number")), { replies: ["no JSON", { ok: true, n: 1 }] });
        expect(turns.length).toBe(1);
    });

    test("a reply that was cut, and words of refusal, are tried again like any text that is not JSON", async () => {
        const { turns, value } = await play(inMain(gen("a: string\nb: string", ", attempts: 3")), {
            replies: [{ cut: '{"a": "x", "b": "yy' }, "I cannot help with that.", { a: "x", b: "y" }],
        });
        expect([turns.length, value]).toEqual([3, { a: "x", b: "y" }]);
    });

    test("a reply that was cut is told apart from one that is wrong", async () => {
        const { failure } = await play(inMain(gen("a: string\nb: string")), { replies: [{ cut: '{"a": "x", "b": "yy' }] });
        expect(failure).toMatchObject({ kind: "model", message: expect.stringContaining("stopped at its output limit") });
    });
});

test("1.4 the JSON Schema of a contract", async () => {
    const { prompts } = await play(inMain(gen("s: string\nlone\nn: number\nb: boolean\nj: json\nl: list\nls: list[list[string]]")), {
        replies: ["{}"],
    });
    expect(prompts[0]?.schema).toEqual({
        type: "object",
        properties: {
            s: { type: "string" },
            lone: { type: "string" },
            n: { type: "number" },
            b: { type: "boolean" },
            j: {},
            l: { type: "array" },
            ls: { type: "array", items: { type: "array", items: { type: "string" } } },
        },
        required: ["s", "lone", "n", "b", "j", "l", "ls"],
        additionalProperties: false,
    });
});

const ENTRY = "agent A { main func(input {\n q: string\n n: number\n}) { input } }";
rules("1.4 the entry's contract (row 32)", [
    ["right as it is; extra fields are kept", ENTRY, is({ q: "x", n: 1, more: true }), { input: { q: "x", n: 1, more: true } }],
    ["not coerced", ENTRY, fails("contract: …"), { input: { q: "x", n: "1" } }],
    ["a missing field and nobody to ask", ENTRY, fails("contract: Missing input 'input.n'…"), { input: { q: "x" } }],
    ["a field that is null counts as missing", ENTRY, fails("contract: Missing input 'input.q'…"), { input: { q: null, n: 1 } }],
    [
        "asked from whoever is there",
        ENTRY,
        is({ q: "asked input.q", n: 5 }),
        { input: {}, interactive: true, on: { input: (request) => (request.name === "input.n" ? 5 : `asked ${request.name}`) } },
    ],
    ["input is an object", ENTRY, fails("contract: …"), { input: [1] }],
    [
        "all types",
        "agent A { main func(input {\n s: string\n b: boolean\n j: json\n l: list\n m: list[number]\n}) { input.m } }",
        is([1]),
        { input: { s: "", b: false, j: { a: 1 }, l: [1, "x"], m: [1] } },
    ],
    [
        "an item of the wrong type",
        "agent A { main func(input {\n m: list[number]\n}) { input.m } }",
        fails("contract: …"),
        { input: { m: [1, "x"] } },
    ],
    ["an empty contract", "agent A { main func(input {}) { input } }", is({ a: 1 }), { input: { a: 1 } }],
    ["a lone label is an error there", "agent A { main func(input {\n q\n}) { 1 } }", refused("INVALID_PARAM_CONTRACT")],
    ["no contract: any input", "agent A { main func(input) { input } }", is({ a: [1] }), { input: { a: [1] } }],
]);
