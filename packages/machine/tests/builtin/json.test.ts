/** `json.parse` and `json.text` against the host's own JSON. */
import type { Json } from "@remit/language";
import fc from "fast-check";
import { expect, test } from "vitest";
import { callGlobal, failure, plain, runtime, value } from "./support.ts";

const parse = (text: string): Json => {
    const rt = runtime();
    return plain(rt, callGlobal(rt, "json", "parse", text));
};

test("reads what JSON.stringify writes, in either form", () => {
    fc.assert(
        fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(4), (given, indent) => {
            const json = JSON.parse(JSON.stringify(given)) as Json;
            fc.pre(!/\d{16}/.test(JSON.stringify(json)));
            expect(parse(JSON.stringify(json, null, indent))).toEqual(json);
        }),
    );
});

test("writes what JSON.stringify writes", () => {
    fc.assert(
        fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(4), (given, indent) => {
            const json = JSON.parse(JSON.stringify(given)) as Json;
            const rt = runtime();
            expect(callGlobal(rt, "json", "text", value(rt, json), indent)).toBe(JSON.stringify(json, null, indent));
        }),
    );
});

/** There is one zero: JSON cannot keep a second, and a run must be the same after it was saved. */
function withoutNegativeZero(json: Json): Json {
    return JSON.parse(JSON.stringify(json)) as Json;
}

test("accepts and refuses the same texts, numbers beyond the exact ones apart", () => {
    const piece = fc.constantFrom(
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        '"',
        '"a"',
        "1",
        "-",
        "0",
        ".",
        "e",
        "+",
        "true",
        "null",
        "\\",
        "\\u00e9",
        " ",
        "\n",
        "x",
        "\u0001",
    );
    fc.assert(
        fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
            const text = pieces.join("");
            let theirs: { json: Json } | null;
            try {
                theirs = { json: JSON.parse(text) as Json };
            } catch {
                theirs = null;
            }
            if (theirs === null) expect(failure(() => parse(text))).toMatch(/^value: json\.parse: .* at line \d+, column \d+$/);
            else if (!/\d{4}|e/.test(text)) expect(parse(text)).toEqual(withoutNegativeZero(theirs.json));
        }),
        { numRuns: 3000 },
    );
});

test("any text ends in a value or a failure", () => {
    fc.assert(
        fc.property(fc.string({ unit: "binary" }), (text) => {
            const said = failure(() => parse(text));
            expect(said === "no failure" || said.startsWith("value: json.parse: ")).toBe(true);
        }),
    );
});
