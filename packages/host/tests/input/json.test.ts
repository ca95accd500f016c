/** JS1: JSON from outside is read as it stands or refused. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readJson } from "../../src/input/json.ts";

const refused = (text: string): string => {
    const read = readJson(text);
    return read.ok ? "read" : `${read.isJson ? "loss" : "syntax"}: ${read.message}`;
};

describe("what would be changed is refused with its place", () => {
    test.each([
        ["12345678901234567890", "has the number 12345678901234567890 at line 1, column 1, which is beyond 2^53 and would lose digits"],
        [
            '{\n "a": [1, -9007199254740993]}',
            "has the number -9007199254740993 at line 2, column 11, which is beyond 2^53 and would lose digits",
        ],
        ['{"x": 1e999}', "has the number 1e999 at line 1, column 7, which is too large"],
        ["[1e-999]", "has the number 1e-999 at line 1, column 2, which is too small"],
        ['{"a": 1, "a": 2}', 'has the key "a" twice in one object, again at line 1, column 10'],
        ['{"a": 1, "\\u0061": 2}', 'has the key "a" twice in one object, again at line 1, column 10'],
        ['[{"b": {"k": 1}, "k": [], "k": 2}]', 'has the key "k" twice in one object, again at line 1, column 27'],
        ['{"__proto__": 1, "__proto__": 2}', 'has the key "__proto__" twice in one object, again at line 1, column 18'],
    ])("%s", (text, message) => {
        expect(refused(text)).toBe(`loss: ${message}`);
    });

    test("what is no JSON is told apart", () => {
        expect(refused("{a: 1}")).toMatch(/^syntax: is not JSON: /);
        expect(refused("")).toMatch(/^syntax: /);
    });
});

test("what can be read is read as it stands", () => {
    for (const text of [
        "9007199254740991",
        "-0",
        "0.1",
        "0e9",
        "1e21",
        "[]",
        "{}",
        '"1e999"',
        '["a", "a"]',
        '[{"a": 1}, {"a": 2}]',
        '{"a": {"a": "{\\"a\\": 1, \\"a\\": 2}"}}',
    ])
        expect(readJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
    const read = readJson('{"__proto__": 1}');
    expect(read.ok && Object.keys(read.value as object)).toEqual(["__proto__"]);
});

test("every value that has a JSON text is read back from it", () => {
    fc.assert(
        fc.property(fc.json(), fc.integer({ min: 0, max: 3 }), (text, indent) => {
            const json = JSON.stringify(JSON.parse(text), null, indent);
            fc.pre(!/[0-9]{16}/.test(json));
            expect(readJson(json)).toEqual({ ok: true, value: JSON.parse(json) });
        }),
    );
});

test("sixteen mebibytes and a deep nesting are no trouble", () => {
    const text = `{"a": "${'x\\"'.repeat(4_000_000)}", "b": ${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect(readJson(text).ok).toBe(true);
});
