/** Canonical JSON (RFC 8785): the text that is hashed (CAN1, N2). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/contract/contract.ts";
import { canonicalJson } from "../../src/form/canonical.ts";

describe("canonical JSON", () => {
    test("the example of RFC 8785", () => {
        const value = JSON.parse(
            String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
        ) as Json;
        expect(canonicalJson(value)).toBe(
            String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
        );
    });
    test("keys are sorted by UTF-16 code units", () => {
        const keys = ["\u20ac", "\r", "\ufb33", "1", "\u{1f600}", "\u00f6"];
        const value = Object.fromEntries(keys.map((key, i) => [key, i]));
        expect(Object.keys(JSON.parse(canonicalJson(value)) as { [key: string]: Json })).toEqual([
            "1",
            "\r",
            "\u00f6",
            "\u20ac",
            "\u{1f600}",
            "\ufb33",
        ]);
        expect(canonicalJson({ b: 1, a: 2 })).toBe('{"a":2,"b":1}');
    });
    test("N2: absent keys and keys that hold nothing are the same; a hole in a list is null, as JSON has it", () => {
        const holes = { b: undefined, a: [1, undefined] } as unknown as Json;
        expect(canonicalJson(holes)).toBe('{"a":[1,null]}');
        expect(canonicalJson(holes)).toBe(canonicalJson(JSON.parse(JSON.stringify(holes)) as Json));
    });
    test("CAN1: the order of keys makes no difference, and reading it back gives the value", () => {
        fc.assert(
            fc.property(fc.jsonValue(), (value) => {
                const text = canonicalJson(value as Json);
                expect(canonicalJson(JSON.parse(text) as Json)).toBe(text);
                expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
            }),
        );
    });
});

test("CAN1: the text is what its rule says, key by key, whatever the keys are: numbers, `__proto__`, in order or not, many or few", () => {
    const byRule = (value: unknown): string => {
        if (value === null || typeof value !== "object") return JSON.stringify(value);
        if (Array.isArray(value)) return `[${value.map(byRule).join(",")}]`;
        const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
        return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${byRule(member)}`).join(",")}}`;
    };
    const key = fc.oneof(
        fc.constantFrom("a", "b", "B", "10", "2", "01", "1a", "__proto__", "toJSON", "\u00e9", ""),
        fc.string({ maxLength: 3 }),
    );
    const { json } = fc.letrec<{ json: Json }>((tie) => ({
        json: fc.oneof(
            { maxDepth: 4 },
            fc.constantFrom<Json>(null, true, 0, -0, 1e21, "x", "\ud800"),
            fc.array(tie("json"), { maxLength: 4 }),
            fc
                .array(fc.tuple(key, tie("json")), { maxLength: 40 })
                .map(
                    (all) =>
                        JSON.parse(`{${all.map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`).join(",")}}`) as Json,
                ),
        ),
    }));
    fc.assert(
        fc.property(json, (value) => {
            const before = JSON.stringify(value);
            expect(canonicalJson(value)).toBe(byRule(value));
            expect(JSON.stringify(value)).toBe(before);
        }),
    );
});
