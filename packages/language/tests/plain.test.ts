/** Text of others as it is shown (PN1, PN2). */
import fc from "fast-check";
import { expect, test } from "vitest";
import { plain, plainColumns, plainLine, safeJson, withArticle } from "../src/index.ts";

const obeyed = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const anyText = fc.string({
    unit: fc.oneof(
        fc.constantFrom("\u001b", "\u009b", "\u202e", "\u2066", "\u200b", "\ufeff", "\u{e0041}", "\r", "\n", "\t", "\ud800", "a"),
        fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    ),
});

test("what would be obeyed is seen", () => {
    expect(plain("a\u001b[2J\u009b31m\u202eb\u2066\r\nc\td\u{e0041}")).toBe("a\\x1b[2J\\x9b31m\\u{202e}b\\u{2066}\nc\td\\u{e0041}");
    expect(plainLine("a\n\n b\tc\u0007")).toBe("a b c\\x07");
    expect(plainColumns("\ta\u001b\u{e0041}", "·")).toBe(" a···");
    expect(safeJson({ "\u202e": "\u001b\u009b\u{e0041}" })).toBe('{"\\u202e":"\\u001b\\u009b\\udb40\\udc41"}');
});

test("scripts and emoji are left as they are", () => {
    const text = "naïve 日本 العربية नमस्ते می‌خواهم 👨‍👩‍👧 — “x”";
    expect([plain(text), plainLine(text), plainColumns(text, "·"), JSON.parse(safeJson(text))]).toEqual([text, text, text, text]);
});

test("PN1: nothing of it passes, PN2: JSON keeps its value", () => {
    fc.assert(
        fc.property(anyText, (text) => {
            expect(plain(text).replace(/[\n\t]/g, "")).not.toMatch(obeyed);
            expect(plainLine(text)).not.toMatch(obeyed);
            expect(plainColumns(text, "·")).not.toMatch(obeyed);
            expect(plainColumns(text, "·")).toHaveLength(text.length);
            expect(plain(plain(text))).toBe(plain(text));
            expect(safeJson([text], 2).replaceAll("\n", "")).not.toMatch(obeyed);
            expect(JSON.parse(safeJson({ [text]: text }, 2))).toEqual(JSON.parse(JSON.stringify({ [text]: text })));
        }),
    );
});

test("articles", () => {
    expect(["tool", "agent", "llm", "llm Model", "object", "func"].map(withArticle)).toEqual([
        "a tool",
        "an agent",
        "an llm",
        "an llm Model",
        "an object",
        "a func",
    ]);
});
