/** COM1: a letter keeps no more marks than can be brought into order in time. */
import { expect, test } from "vitest";
import { compatible } from "../../src/authority/compatible.ts";
import { matches, placeOf } from "../../src/authority/match.ts";

test.each([
    ["no marks", "ann", "ann"],
    ["another shape", "\uff41\ufb01\u2163", "afiIV"],
    ["few marks, in whichever order", "e\u0323\u0301", "e\u0301\u0323".normalize("NFKC")],
])("a text with %s has one spelling", (_what, text, one) => {
    expect(compatible(text)).toBe(one);
});

test.each([
    ["marks of two kinds", "\u0301\u0323"],
    ["what is a mark only in the other form", "\uff9e\u0301"],
    ["marks between signs of Thai", "\u0e33\u0301"],
])("no letter carries a run of %s", (_what, pair) => {
    const marks = [...compatible(`e${pair.repeat(20_000)}z`).normalize("NFKD")].filter((sign) => /\p{M}/u.test(sign));
    expect([marks.length > 10, marks.length <= 60]).toEqual([true, true]);
});

test("a long text is read as a short one is", () => {
    const many = "\u0301\u0323".repeat(200_000);
    expect([
        matches("word", "*@evil.example", `e${many}, a@EVIL.example`, null, true),
        matches("word", "*@evil.example", `e${many}, a@x.example`, null, true),
        placeOf(`https://x${".".repeat(500_000)}a/`, null)?.path,
    ]).toEqual([true, false, ""]);
});
