/** What a value may become to meet its contract, and where nothing is changed. */
import { describe, expect, test } from "vitest";
import { acceptValue, coerceValue } from "../../src/contract/coerce.ts";
import type { Json, Shapes } from "../../src/contract/contract.ts";
import { contract, shapes } from "./read.ts";

const SHAPES = shapes(`
    shape Item { name: string, count: number, done: boolean }
    shape Tree { n: number, next?: Tree }
`);

function becomes(text: string, value: Json, made: Json): void {
    expect(coerceValue(contract(text), value, SHAPES)).toEqual(made);
}

describe("the coercion table", () => {
    test.each<[string, Json, Json]>([
        ["boolean", "true", true],
        ["boolean", " FALSE ", false],
        ["boolean", "\tTrue\n", true],
        ["number", "42", 42],
        ["number", "-0.5", -0.5],
        ["number", "2.5", 2.5],
        ["number", "0", 0],
        ["list[number]", ["1", 2, "x"], [1, 2, "x"]],
        ["list[list[boolean]]", [["true"], []], [[true], []]],
        ["{ n: number }", { n: "1", other: "1" }, { n: 1, other: "1" }],
        ["Item", { name: "5", count: "5", done: "True" }, { name: "5", count: 5, done: true }],
        ["Tree", { n: "1", next: { n: "2" } }, { n: 1, next: { n: 2 } }],
        ["number?", "3", 3],
        ['"low" | "high"', " HIGH ", "high"],
        ['"in progress" | "done"', "In  Progress", "in progress"],
        ['"low" | none', "LOW", "low"],
        ["number | none", "3", 3],
        ["boolean | list[number]", ["1"], [1]],
        ['"auto" | boolean', "TRUE", true],
        ['"auto" | boolean', "Auto", "auto"],
        ["number | Item", { name: "a", count: "1", done: "false" }, { name: "a", count: 1, done: false }],
    ])("%s: %j becomes %j", (text, value, made) => {
        becomes(text, value, made);
    });

    test.each<[string, Json]>([
        ["boolean", "yes"],
        ["boolean", 1],
        ["boolean", ""],
        ["number", "1e3"],
        ["number", " 42 "],
        ["number", "+1"],
        ["number", "007"],
        ["number", ".5"],
        ["number", "1."],
        ["number", "1,000"],
        ["number", ""],
        ["number", true],
        ["number", "9007199254740993"],
        ["number", "9".repeat(399)],
        ["string", 42],
        ["string", true],
        ["none", "none"],
        ["list", "a"],
        ["list[string]", "a"],
        ["list[string]", [1]],
        ["json", "42"],
        ["{ n: number }", "{}"],
        ["1 | 2", "1"],
        ["true", "true"],
        ['"low" | "LOW"', "Low"],
        ['"low" | "high"', "hi"],
        ["string | number", "42"],
        ["string?", "none"],
        ["number | boolean", "maybe"],
        ["Item", [1]],
    ])("%s: %j stays as it is", (text, value) => {
        expect(coerceValue(contract(text), value, SHAPES)).toBe(value);
    });
});

describe("where it applies", () => {
    test("never in strict", () => {
        expect(acceptValue(contract("{ n: number }"), { n: "1" }, SHAPES).ok).toBe(true);
        expect(acceptValue(contract("{ n: number }"), { n: "1" }, SHAPES, { strict: true }).ok).toBe(false);
    });
    test("then the contract is checked, and defaults are filled in", () => {
        expect(acceptValue(contract("{ n: number, m: number = 2 }"), { n: "1" }, SHAPES)).toEqual({ ok: true, value: { n: 1, m: 2 } });
        const found = acceptValue(contract("{ n: number }"), { n: "1e3" }, SHAPES, { what: "LLM result" });
        expect(found.ok ? "" : found.message).toBe("LLM result field must be a number: 'n' is a string");
    });
    test("E1: what is given is not changed, and is kept where nothing changes", () => {
        const value = { n: "1", rest: { deep: [1] } };
        const made = coerceValue(contract("{ n: number, rest: json }"), value, SHAPES) as { rest: Json };
        expect(value).toEqual({ n: "1", rest: { deep: [1] } });
        expect(made.rest).toBe(value.rest);
    });
    test("hostile values end", () => {
        let deep: Json = "1";
        for (let i = 0; i < 20_000; i++) deep = { n: "1", next: deep };
        expect(acceptValue(contract("Tree"), deep, SHAPES).ok).toBe(false);
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
            U: { type: "union", of: [{ type: "ref", name: "A" }, { type: "ref", name: "B" }, { type: "number" }] },
        };
        let nested: Json = "1";
        for (let i = 0; i < 60; i++) nested = { n: nested };
        expect(coerceValue({ type: "ref", name: "U" }, nested, twice)).toEqual(nested);
        expect(coerceValue(contract("{ a: number }"), JSON.parse('{"__proto__": {"a": "1"}}') as Json, {})).toEqual(
            JSON.parse('{"__proto__": {"a": "1"}}'),
        );
    });
});
