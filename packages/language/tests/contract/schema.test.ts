/** Contracts as JSON Schema and as TypeScript, byte for byte. */
import { describe, expect, test } from "vitest";
import type { Contract, Json, Shapes } from "../../src/contract/contract.ts";
import { inferContract } from "../../src/contract/infer.ts";
import { toJsonSchema } from "../../src/contract/schema.ts";
import { showContract } from "../../src/contract/show.ts";
import { typescriptDeclarations, typescriptType } from "../../src/contract/typescript.ts";
import { zeroValue } from "../../src/contract/zero.ts";
import { contract, shapes } from "./read.ts";

const SHAPES = shapes(`
    shape Verdict { severity: "low" | "high" "how bad", reason: string, files?: list[string], tries: number = 3 }
    shape Tree { name: string, children: list[Tree] }
    shape Row { cells: list[Cell] }
    shape Cell { value: string | Row }
`);

function schemaOf(text: string): string {
    return JSON.stringify(toJsonSchema(contract(text), SHAPES));
}

describe("JSON Schema, byte for byte", () => {
    test.each([
        [
            "{ ok: boolean\n answer\n tags: list[string]\n n: number\n any: json\n all: list\n deep: list[list[string]] }",
            '{"type":"object","properties":{"ok":{"type":"boolean"},"answer":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"n":{"type":"number"},"any":{},"all":{"type":"array"},"deep":{"type":"array","items":{"type":"array","items":{"type":"string"}}}},"required":["ok","answer","tags","n","any","all","deep"],"additionalProperties":false}',
        ],
        ["{}", '{"type":"object","properties":{},"required":[],"additionalProperties":false}'],
        ["none", '{"type":"null"}'],
        ['"low" | "high"', '{"type":"string","enum":["low","high"]}'],
        ['"one"', '{"type":"string","enum":["one"]}'],
        ['1 | "a" | true', '{"type":["number","string","boolean"],"enum":[1,"a",true]}'],
        ["string?", '{"anyOf":[{"type":"string"},{"type":"null"}]}'],
        ['("a" | "b")?', '{"anyOf":[{"type":"string","enum":["a","b"]},{"type":"null"}]}'],
        ["json | string", "{}"],
        ["string | (number | none)?", '{"anyOf":[{"type":"string"},{"type":"number"},{"type":"null"}]}'],
        [
            "Verdict",
            '{"type":"object","properties":{"severity":{"type":"string","enum":["low","high"],"description":"how bad"},"reason":{"type":"string"},"files":{"type":"array","items":{"type":"string"}},"tries":{"type":"number","default":3}},"required":["severity","reason"],"additionalProperties":false}',
        ],
        [
            "Tree",
            '{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/Tree"}}},"required":["name","children"],"additionalProperties":false,"$defs":{"Tree":{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/Tree"}}},"required":["name","children"],"additionalProperties":false}}}',
        ],
        [
            "list[Row]",
            '{"type":"array","items":{"$ref":"#/$defs/Row"},"$defs":{"Row":{"type":"object","properties":{"cells":{"type":"array","items":{"type":"object","properties":{"value":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/Row"}]}},"required":["value"],"additionalProperties":false}}},"required":["cells"],"additionalProperties":false}}}',
        ],
        ["Nowhere", '{"not":{}}'],
    ])("%s", (text, schema) => {
        expect(schemaOf(text)).toBe(schema);
    });

    test("SE3: shapes that would multiply are defined once", () => {
        const many: { [name: string]: Contract } = { S0: { type: "object", fields: [{ name: "x", contract: { type: "string" } }] } };
        for (let i = 1; i < 40; i++) {
            const below: Contract = { type: "ref", name: `S${i - 1}` };
            many[`S${i}`] = {
                type: "object",
                fields: [
                    { name: "a", contract: below },
                    { name: "b", contract: below },
                ],
            };
        }
        const text = JSON.stringify(toJsonSchema({ type: "ref", name: "S39" }, many as Shapes));
        expect(text.length).toBeLessThan(10_000);
        expect(text).toContain('"$ref":"#/$defs/S38"');
    });
});

describe("TypeScript", () => {
    test("shapes as declarations", () => {
        expect(
            typescriptDeclarations(
                shapes(
                    'shape V { s: "low" | "high" "how */ bad", files?: list[string?], n: number = 3, "odd key": json, t: T, e: {} }\nshape T { next: T? }',
                ),
            ),
        ).toBe(
            `export type V = {
    /** how *\\/ bad */
    s: "low" | "high";
    files?: (string | null)[];
    /** Default: 3. */
    n?: number;
    "odd key": Json;
    t: T;
    e: { [key: string]: Json };
};

export type T = {
    next: T | null;
};
`,
        );
    });
    test.each([
        ["list", "Json[]"],
        ["none", "null"],
        ["list[list[number]]", "number[][]"],
        ["string | number | string", "string | number"],
        ["{ a: { b: number } }", "{\n    a: {\n        b: number;\n    };\n}"],
    ])("%s", (text, type) => {
        expect(typescriptType(contract(text), {})).toBe(type);
    });
});

describe("zero values", () => {
    test.each<[string, Json | undefined]>([
        ["string", ""],
        ["number", 0],
        ["boolean", true],
        ["list[string]", []],
        ["json", {}],
        ["none", null],
        ["{ a: string\n b: boolean\n c: list\n d: json\n n: number }", { a: "", b: true, c: [], d: {}, n: 0 }],
        ["{ a?: string, b: number = 7, c: string? }", { b: 7, c: null }],
        ['"low" | "high"', "low"],
        ["Verdict", { severity: "low", reason: "", tries: 3 }],
        ["Tree", { name: "", children: [] }],
        ["Endless | string", ""],
        ["Endless", undefined],
        ["Nowhere", undefined],
    ])("%s", (text, zero) => {
        expect(zeroValue(contract(text), { ...SHAPES, ...shapes("shape Endless { it: Endless }") })).toEqual(zero);
    });
});

describe("contracts of examples", () => {
    test.each<[Json, string]>([
        ["retry", "string"],
        [1, "number"],
        [true, "boolean"],
        [null, "json"],
        [[], "list"],
        [["url1", "url2"], "list[string]"],
        [{ action: "continue", n: 1, ok: false }, "{ action: string, n: number, ok: boolean }"],
        [{ claims: [{ fact: "", evidence: "" }] }, "{ claims: list[{ fact: string, evidence: string }] }"],
        [[1, "a", null], "list[(number | string)?]"],
        [[{ a: 1 }, { a: 2, b: null }, { b: "x" }], "list[{ a?: number, b?: string? }]"],
        [[[1], [], ["a"]], "list[list[number | string]]"],
        [[null, null], "list[json]"],
        [{ a: null }, "{ a: json }"],
        [{}, "{}"],
    ])("%j", (example, shown) => {
        expect(showContract(inferContract(example))).toBe(shown);
    });
});
