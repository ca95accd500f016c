/** `match`: syntax, bounds, and agreement with the engine of ECMAScript on patterns that both have. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { call, failure, plain, runtime } from "./support.ts";

function match(text: string, pattern: string, flags = ""): unknown {
    const rt = runtime();
    return plain(rt, call(rt, text, "match", pattern, flags));
}

describe("examples", () => {
    const CASES: readonly (readonly [
        text: string,
        pattern: string,
        flags: string,
        result: readonly [string, number, ...(string | null)[]] | null,
    ])[] = [
        ["abc", "b", "", ["b", 1]],
        ["abc", "", "", ["", 0]],
        ["aaa", "a{2}", "", ["aa", 0]],
        ["aaaa", "a{2,3}", "", ["aaa", 0]],
        ["aaaa", "a{2,}?", "", ["aa", 0]],
        ["ab", "(a)|(b)", "", ["a", 0, "a", null]],
        ["<a><b>", "<(.+)>", "", ["<a><b>", 0, "a><b"]],
        ["<a><b>", "<(.+?)>", "", ["<a>", 0, "a"]],
        ["xay", "(?:x|xa)y?", "", ["x", 0]],
        ["foo.bar", "\\.", "", [".", 3]],
        ["a\nb", "a.b", "", null],
        ["a\nb", "a.b", "s", ["a\nb", 0]],
        ["a\nb", "^b$", "", null],
        ["a\nb", "^b$", "m", ["b", 2]],
        ["STRASSE", "straße|strasse", "i", ["STRASSE", 0]],
        ["cat concat", "\\bcat\\b", "", ["cat", 0]],
        ["concat", "\\Bcat", "", ["cat", 3]],
        ["x-1", "[-0-9]+", "", ["-1", 1]],
        ["a]b", "[\\]]", "", ["]", 1]],
        ["a_1 ", "[^\\w]", "", [" ", 3]],
        ["tab\there", "[\\t]", "", ["\t", 3]],
        ["🦊🦊", ".", "", ["🦊", 0]],
        ["a🦊b", "[🦊]b", "", ["🦊b", 1]],
        ["a🦊b", "\\u{1f98a}", "", ["🦊", 1]],
        ["é", "\\u00e9", "", ["é", 0]],
        ["aXbX", "(a|b)X(?:(c)|b)", "", ["aXb", 0, "a", null]],
        ["ab12", "(\\d)(\\d)?", "", ["12", 2, "1", "2"]],
        ["2026-11-21", "^(\\d{4})-(\\d\\d)-(\\d\\d)$", "", ["2026-11-21", 0, "2026", "11", "21"]],
    ];
    test.each(CASES)("%j %s %s", (text, pattern, flags, result) => {
        expect(match(text, pattern, flags)).toEqual(
            result === null ? null : { text: result[0], index: result[1], groups: result.slice(2) },
        );
    });
});

describe("refused", () => {
    test.each([
        ["(", "value: match: a ) is missing, at character 2 of the pattern"],
        ["a)", "value: match: there is no group for this ), at character 2 of the pattern"],
        ["[a", "value: match: a ] is missing, at character 4 of the pattern"],
        ["*a", "value: match: there is nothing for this * to repeat, at character 1 of the pattern"],
        ["a**", "value: match: one repetition follows another, at character 3 of the pattern"],
        ["^*", "value: match: a place such as ^ or \\b cannot be repeated, at character 3 of the pattern"],
        ["{a}", "value: match: there is nothing for this { to repeat, at character 1 of the pattern"],
        ["a{x}", "value: match: a { begins a repetition such as {2} or {2,5}, at character 3 of the pattern"],
        ["a{3,2}", "value: match: the repetition's bounds are the wrong way round, at character 7 of the pattern"],
        ["a{2000}", "value: match: a repetition goes up to 1000, at character 8 of the pattern"],
        ["(a{1000}){1000}", "value: match: the pattern is too large"],
        ["(a)\\1", "value: match: back references are not supported, at character 6 of the pattern"],
        ["(?=a)", "value: match: look-around and named groups are not supported, at character 3 of the pattern"],
        ["(?<n>a)", "value: match: look-around and named groups are not supported, at character 3 of the pattern"],
        ["\\q", "value: match: there is no escape \\q, at character 3 of the pattern"],
        ["a\\", "value: match: the pattern ends in a \\, at character 4 of the pattern"],
        ["[]", "value: match: this class is empty, at character 3 of the pattern"],
        ["[z-a]", "value: match: this range is the wrong way round, at character 5 of the pattern"],
        ["a".repeat(1001), "value: match: a pattern may have 1000 characters"],
        ["()".repeat(51), "value: match: a pattern may have 50 groups, at character 102 of the pattern"],
    ])("%s", (pattern, message) => expect(failure(() => match("a", pattern))).toBe(message));

    test("an unknown flag", () => expect(failure(() => match("a", "a", "g"))).toBe("value: match: there is no flag 'g'"));
    test("deep groups", () => expect(failure(() => match("a", "(?:".repeat(333)))).toContain("a ) is missing"));
});

test("what backtracks for ever elsewhere is linear here", () => {
    const text = "a".repeat(5_000);
    expect(match(`${text}b`, "(a+)+$")).toBe(null);
    expect(match(`${text}!`, "(?:a|a)*b")).toBe(null);
    expect(match("x".repeat(20_000), "(.*)(.*)(.*)(.*)(.*)[^x]")).toBe(null);
});

test("work is bounded", () => {
    expect(failure(() => match("a".repeat(1_000_000), "(?:a?){500}[^a]"))).toBe(
        "value: match: this pattern is too much work on a text of this size",
    );
});

describe("agreement with ECMAScript", () => {
    const canBeEmpty = (source: string): boolean => new RegExp(`^(?:${source})$`, "u").test("") || /[$^]|\\b/.test(source);
    const atom = fc.oneof(fc.constantFrom("a", "b", "c", ".", "[ab]", "[^a]", "\\d", "\\w", "\\b", "^", "$"), fc.constantFrom("a", "b"));
    const quantifier = fc.constantFrom("", "", "*", "+", "?", "{1,2}", "*?", "+?", "??", "{0,2}?");
    const pattern: fc.Arbitrary<string> = fc.letrec<{ alt: string; seq: string; part: string }>((tie) => ({
        alt: fc.array(tie("seq"), { minLength: 1, maxLength: 2 }).map((parts) => parts.join("|")),
        seq: fc.array(tie("part"), { maxLength: 3 }).map((parts) => parts.join("")),
        part: fc.oneof(
            { depthSize: "small", withCrossShrink: true },
            fc.tuple(atom, quantifier).map(([one, many]) => (["\\b", "^", "$"].includes(one) ? one : one + many)),
            // ECMAScript gives up a turn of a repetition that takes nothing; here it counts as any other.
            fc
                .tuple(tie("alt"), fc.constantFrom("(", "(?:"), quantifier)
                .map(([inner, open, many]) => `${open}${inner})${canBeEmpty(inner) ? "" : many}`),
        ),
    })).alt;

    test("finds the same text at the same place", () => {
        fc.assert(
            fc.property(pattern, fc.stringMatching(/^[abc1 \n]{0,12}$/), fc.constantFrom("", "m", "s", "ms"), (source, text, flags) => {
                const theirs = new RegExp(source, `u${flags}`).exec(text);
                const ours = match(text, source, flags) as { text: string; index: number } | null;
                expect(ours === null ? null : [ours.text, ours.index]).toEqual(theirs === null ? null : [theirs[0], theirs.index]);
            }),
            { numRuns: 3000 },
        );
    });

    test("and the same groups, where no repeated group can be empty", () => {
        const part = fc
            .tuple(fc.constantFrom("a", "b", "[ab]", "(a|b)", "(ab?)", "(b+)", "(?:a(b)?)"), quantifier)
            .map((parts) => parts.join(""));
        fc.assert(
            fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), fc.stringMatching(/^[ab]{0,10}$/), (parts, text) => {
                const source = parts.join("");
                const theirs = new RegExp(source, "u").exec(text);
                const ours = match(text, source) as { text: string; groups: unknown[] } | null;
                expect(ours?.text).toEqual(theirs?.[0]);
                // A group inside a repetition keeps what it last took in here; there it is cleared at each turn.
                if (theirs !== null && !source.includes("(?:a(b)?)"))
                    expect(ours?.groups).toEqual(theirs.slice(1).map((group) => group ?? null));
            }),
            { numRuns: 1000 },
        );
    });
});
