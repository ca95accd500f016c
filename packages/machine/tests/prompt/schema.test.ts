/** A model's arguments against a tool's schema. */
import type { Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkAgainstSchema } from "../../src/prompt/schema.ts";

const READ: Json = {
    type: "object",
    properties: {
        path: { type: "string", minLength: 1, maxLength: 5 },
        max: { type: "integer", minimum: 1, maximum: 10 },
        mode: { enum: ["r", "w"] },
    },
    required: ["path"],
    additionalProperties: false,
};

describe("says what is wrong, with its place", () => {
    test.each<readonly [string, Json, Json, string[]]>([
        ["right", { path: "a", max: 3, mode: "r" }, READ, []],
        ["missing", {}, READ, ["arguments: 'path' is missing"]],
        ["type", { path: 1 }, READ, ["/path: must be a string"]],
        ["no object", [], READ, ["arguments: must be an object"]],
        ["integer", { path: "a", max: 1.5 }, READ, ["/max: must be an integer"]],
        ["range", { path: "a", max: 11 }, READ, ["/max: must be at most 10"]],
        ["length in characters", { path: "🦊🦊🦊🦊🦊" }, READ, []],
        ["length", { path: "" }, READ, ["/path: must have at least 1 character"]],
        ["enum", { path: "a", mode: "x" }, READ, ['/mode: must be one of "r", "w"']],
        ["extra", { path: "a", constructor: 1 }, READ, ["arguments: 'constructor' is not allowed as a name"]],
        ["unknown", { path: "a", pth: 1 }, READ, ["arguments: 'pth' is not a known name; known: path, max, mode"]],
        ["types", 1, { type: ["string", "null"] }, ["arguments: must be a string or null"]],
        ["const", 2, { const: { a: 1 } }, ['arguments: must be {"a":1}']],
        ["items", ["a", 1], { type: "array", items: { type: "string" } }, ["/1: must be a string"]],
        ["prefix", [1, 2], { prefixItems: [{ type: "string" }], items: false }, ["/0: must be a string", "/1: nothing is allowed here"]],
        ["old prefix", [1, 2], { items: [{ type: "number" }], additionalItems: false }, ["/1: nothing is allowed here"]],
        ["counts", [1], { minItems: 2 }, ["arguments: must have at least 2 items"]],
        ["exclusive", 3, { exclusiveMaximum: 3 }, ["arguments: must be less than 3"]],
        ["anyOf", 1, { anyOf: [{ type: "string" }, { type: "null" }] }, ["arguments: matches none of the shapes allowed here"]],
        [
            "oneOf",
            1,
            { oneOf: [{ type: "number" }, { type: "integer" }] },
            ["arguments: must match exactly one of the shapes allowed here"],
        ],
        ["allOf", 1, { allOf: [{ type: "number" }, { minimum: 2 }] }, ["arguments: must be at least 2"]],
        ["not", 1, { not: { type: "number" } }, ["arguments: has a shape that is not allowed here"]],
        [
            "reference",
            { a: { a: 1 } },
            { $ref: "#/$defs/T", $defs: { T: { type: "object", properties: { a: { $ref: "#/$defs/T" } } } } },
            ["/a/a: must be an object"],
        ],
        ["values by schema", { x: 1 }, { additionalProperties: { type: "string" } }, ["/x: must be a string"]],
        ["what is not known here is passed on", "x", { type: "odd", pattern: "^y", format: "uri", $ref: "https://example.org/s" }, []],
        ["true", 1, true, []],
        ["no schema", 1, "text", ["arguments: the tool's schema cannot be read here"]],
    ])("%s", (_, value, schema, errors) => expect(checkAgainstSchema(value, schema)).toEqual(errors));
});

test("hostile schemas and values end, and are refused", () => {
    expect(checkAgainstSchema(1, { $ref: "#" })).toContain("arguments: too large or too deep to be checked");
    const bomb: Json = { $defs: { T: { anyOf: [{ $ref: "#/$defs/T" }, { $ref: "#/$defs/T" }] } }, not: { $ref: "#/$defs/T" } };
    expect(checkAgainstSchema(1, bomb).length).toBeGreaterThan(0);
    let deep: Json = 1;
    for (let n = 0; n < 5000; n++) deep = [deep];
    expect(checkAgainstSchema(deep, { $defs: { L: { items: { $ref: "#/$defs/L" } } }, $ref: "#/$defs/L" }).length).toBeGreaterThan(0);
});

test("any JSON against any JSON is a list of lines", () => {
    fc.assert(
        fc.property(fc.jsonValue(), fc.jsonValue(), (value, schema) => {
            expect(checkAgainstSchema(value as Json, schema as Json).every((line) => typeof line === "string")).toBe(true);
        }),
    );
});
