/** Contracts against values: what holds, and the words for what does not. */
import { describe, expect, test } from "vitest";
import { type CheckOptions, checkValue, LLM_RESULT, MAX_DEPTH, MAX_ERRORS } from "../../src/contract/check.ts";
import type { Json, Shapes } from "../../src/contract/contract.ts";
import { contract, shapes } from "./read.ts";

const SHAPES = shapes(`
    shape Verdict { severity: "low" | "high", reason: string, files?: list[string] }
    shape Tree { name: string, children: list[Tree] = [] }
    shape Cat { kind: "cat", lives: number }
    shape Dog { kind: "dog", name: string, tricks: list[string] }
    shape Pet { it: Cat | Dog }
`);

function check(text: string, value: unknown, options: CheckOptions = LLM_RESULT) {
    return checkValue(contract(text), value, SHAPES, options);
}
function passes(text: string, value: Json, becomes: Json = value, options: CheckOptions = {}): void {
    expect(check(text, value, options)).toEqual({ ok: true, value: becomes });
}
function refuses(text: string, value: unknown, ...messages: string[]): void {
    const found = check(text, value);
    expect(found.ok ? "it passes" : found.errors.map((e) => e.message)).toEqual(messages);
}

describe("what AgentScript says", () => {
    test.each([
        ["{ ok: boolean }", [], "LLM result must be an object matching the generate return contract"],
        ["{ ok: boolean }", "x", "LLM result must be an object matching the generate return contract"],
        ["{ ok: boolean }", null, "LLM result must be an object matching the generate return contract"],
        ["{ ok: boolean, title: string }", { ok: true }, "LLM result is missing required field 'title'"],
        ["{ ok: boolean }", { ok: "yes" }, "LLM result field must be a boolean: 'ok' is a string"],
        ["{ n: number }", { n: true }, "LLM result field must be a number: 'n' is a boolean"],
        ["{ s: string }", { s: 1 }, "LLM result field must be a string: 's' is a number"],
        ["{ s: list }", { s: {} }, "LLM result field must be a list: 's' is an object"],
        ["{ s: list[string] }", { s: ["a", 2] }, "LLM result field must be a string: 's[1]' is a number"],
    ])("%s and %j", (text, value, message) => {
        refuses(text, value, message);
    });

    test("extra fields are kept, and refused where strict", () => {
        passes("{ a: string }", { a: "x", b: 1 });
        const found = check("{ a: string }", { a: "x", b: 1 }, { ...LLM_RESULT, strict: true });
        expect(found.ok ? "" : found.message).toBe("LLM result contains unexpected field 'b'");
    });
});

describe("values", () => {
    test.each<[string, Json]>([
        ["string", ""],
        ["number", -1.5],
        ["boolean", false],
        ["none", null],
        ["json", { a: [null, { b: 1 }] }],
        ["list", [1, "a", null]],
        ["list[list[number]]", [[1], []]],
        ['"low" | "high"', "low"],
        ["1 | true | none", 1],
        ["1 | true | none", null],
        ["string?", null],
        ["{}", { anything: 1 }],
        ["{ a?: string }", {}],
        ["Verdict", { severity: "low", reason: "r" }],
        ["Tree", { name: "a", children: [{ name: "b", children: [] }] }],
        ["Pet", { it: { kind: "dog", name: "Rex", tricks: [] } }],
        ["(string | list[string])?", ["a"]],
    ])("%s takes %j", (text, value) => {
        passes(text, value);
    });

    test.each<[string, unknown, string]>([
        ["number", Number.NaN, "LLM result must be a number, not NaN"],
        ["number", "1", "LLM result must be a number, not a string"],
        ["string", null, "LLM result must be a string, not none"],
        ["none", 0, "LLM result must be none, not a number"],
        ['"low" | "high"', "medium", 'LLM result must be one of "low", "high", not "medium"'],
        ['{ s: "low" }', { s: 3 }, "LLM result field must be \"low\": 's' is 3"],
        ["{ s: string? }", {}, "LLM result is missing required field 's'"],
        ["{ s: string? }", { s: 1 }, "LLM result field must be a string or none: 's' is 1"],
        ["{ a: { b: list[{ c: number }] } }", { a: { b: [{ c: 1 }, {}] } }, "LLM result is missing required field 'a.b[1].c'"],
        ['{ "odd key": number }', { "odd key": "x" }, "LLM result field must be a number: '[\"odd key\"]' is a string"],
        ["string | number", true, "LLM result must be a string or a number, not true"],
        ['1 | 2 | "a"', 3, 'LLM result must be one of 1, 2, "a", not 3'],
        ["Nowhere", 1, "LLM result cannot be checked: the shape 'Nowhere' is not known"],
        ["json", { a: undefined }, "LLM result contains what is no JSON: 'a' is nothing"],
        ["json", new Map(), "LLM result contains what is no JSON: it is no plain object"],
        ["{ a: json }", { a: [() => 1] }, "LLM result contains what is no JSON: 'a[0]' is a function"],
        ["list", [1n], "LLM result contains what is no JSON: '[0]' is a bigint"],
    ])("%s refuses %s", (text, value, message) => {
        refuses(text, value, message);
    });

    test("all that is wrong is told, in the order of the contract", () => {
        const found = check("Verdict", { severity: "medium", files: ["a", 1, null] });
        if (found.ok) throw new Error("it passes");
        expect(found.errors.map((e) => [e.path, e.expected, e.got])).toEqual([
            ["severity", 'one of "low", "high"', '"medium"'],
            ["reason", "a string", "nothing"],
            ["files[1]", "a string", "a number"],
            ["files[2]", "a string", "none"],
        ]);
        expect(found.message).toBe(found.errors.map((e) => e.message).join("; "));
    });

    test("many errors are cut short and counted", () => {
        const found = check(
            "list[number]",
            Array.from({ length: 500 }, () => "x"),
        );
        if (found.ok) throw new Error("it passes");
        expect(found.errors).toHaveLength(MAX_ERRORS);
        expect(found.message).toMatch(/; and 42 more$/);
    });

    test("a shown text is short and keeps its characters whole", () => {
        const found = check('"a"', `${"x".repeat(58)}😀😀😀`);
        if (found.ok) throw new Error("it passes");
        expect(found.errors[0]?.got).toBe(`"${"x".repeat(58)}…`);
    });
});

describe("absent fields", () => {
    test("K4: none in an optional field counts as absent, where the contract takes no none", () => {
        passes("{ a?: string }", { a: null }, {});
        passes("{ a?: string? }", { a: null });
        passes("{ a?: json }", { a: null });
        passes("{ a: number = 3 }", { a: null }, { a: 3 });
        passes("{ a?: string }", { a: null, b: 1 }, { b: 1 });
    });

    test("defaults are filled in, fresh each time, with the defaults inside them", () => {
        passes("{ a: number = 3, b: list = [1] }", { b: [] }, { b: [], a: 3 });
        passes("{ a: { x: number, y: number = 7 } = { x: 1 } }", {}, { a: { x: 1, y: 7 } });
        const it = contract("{ a: list = [] }");
        const [one, two] = [checkValue(it, {}, {}), checkValue(it, {}, {})];
        if (!one.ok || !two.ok) throw new Error("it does not pass");
        expect((one.value as { a: Json }).a).not.toBe((two.value as { a: Json }).a);
    });

    test("a default that would hold itself is left as written", () => {
        const looped: Shapes = { A: { type: "object", fields: [{ name: "a", contract: { type: "ref", name: "A" }, default: {} }] } };
        expect(checkValue({ type: "ref", name: "A" }, {}, looped)).toEqual({ ok: true, value: { a: { a: {} } } });
    });

    test("K1: where nothing is filled in the very value comes back", () => {
        const value = { name: "a", children: [{ name: "b", children: [] }] };
        const found = check("Tree", value);
        expect(found.ok && found.value).toBe(value);
    });
});

describe("unions", () => {
    test("the member that was most likely meant tells what is wrong", () => {
        refuses(
            "Cat | Dog",
            { kind: "dog", name: 1 },
            "LLM result field must be a string: 'name' is a number",
            "LLM result is missing required field 'tricks'",
        );
        refuses("Cat | Dog", { name: "x" }, "LLM result is missing required field 'kind'", "LLM result is missing required field 'tricks'");
        refuses("list[Cat | Dog]", [{ kind: "cat" }], "LLM result is missing required field '[0].lives'");
        refuses(
            "Cat | list[number]",
            [1, "a"],
            "LLM result must be a number, not a string".replace("must", "field must").replace(", not a string", ": '[1]' is a string"),
        );
    });
    test("the first member that holds decides what is filled in", () => {
        passes('{ a: number, k: string = "one" } | { a: number, k: string = "two" }', { a: 1 }, { a: 1, k: "one" });
    });
});

describe("hostile values and shapes", () => {
    test("names that would mean something on a host's object", () => {
        const value = JSON.parse('{"a": 1, "__proto__": {"x": 1}}') as Json;
        refuses("{ a: number }", value, "LLM result contains the field '__proto__', a name that is refused");
        refuses("json", { a: { constructor: 1 } }, "LLM result contains the field 'a.constructor', a name that is refused");
        refuses("list", [{ prototype: 1 }], "LLM result contains the field '[0].prototype', a name that is refused");
        passes("json", { a: { constructor: 1 } }, { a: { constructor: 1 } }, { internal: true });
    });
    test("own keys only", () => {
        refuses("{ toString: json }", {}, "LLM result is missing required field 'toString'");
        refuses(
            "{ a: string }",
            Object.create({ a: "x" }),
            "LLM result is missing required field 'a'",
            "LLM result contains what is no JSON: it is no plain object",
        );
    });
    test("K3: depth is bounded", () => {
        let deep: Json = 1;
        for (let i = 0; i < 20_000; i++) deep = [deep];
        refuses("json", deep, `LLM result is nested more than ${MAX_DEPTH} deep`);
        let tree: Json = { name: "leaf" };
        for (let i = 0; i < 20_000; i++) tree = { name: "x", children: [tree] };
        refuses("Tree", tree, `LLM result is nested more than ${MAX_DEPTH} deep`);
    });
    test("K3: a value that is shared over and over is refused, not walked for ever", () => {
        let shared: Json = [1];
        for (let i = 0; i < 60; i++) shared = [shared, shared];
        refuses("json", shared, "LLM result is too large to be checked");
    });
    test("K3: unions of shapes that hold themselves take no exponential time", () => {
        const twice: Shapes = {
            A: {
                type: "object",
                fields: [
                    { name: "n", contract: { type: "ref", name: "U" } },
                    { name: "a", contract: { type: "number" } },
                ],
            },
            B: {
                type: "object",
                fields: [
                    { name: "n", contract: { type: "ref", name: "U" } },
                    { name: "b", contract: { type: "number" } },
                ],
            },
            U: { type: "union", of: [{ type: "ref", name: "A" }, { type: "ref", name: "B" }, { type: "none" }] },
        };
        let value: Json = "wrong";
        for (let i = 0; i < 200; i++) value = { n: value };
        expect(checkValue({ type: "ref", name: "U" }, value, twice).ok).toBe(false);
    });
    test("shapes that are nothing but themselves, or that no value can hold", () => {
        const odd: Shapes = {
            Self: { type: "ref", name: "Self" },
            Ping: { type: "union", of: [{ type: "ref", name: "Pong" }] },
            Pong: { type: "optional", of: { type: "ref", name: "Ping" } },
            Endless: { type: "object", fields: [{ name: "it", contract: { type: "ref", name: "Endless" } }] },
        };
        for (const name of Object.keys(odd)) expect(checkValue({ type: "ref", name }, 1, odd).ok).toBe(false);
        expect(checkValue({ type: "ref", name: "Pong" }, null, odd).ok).toBe(true);
    });
});
