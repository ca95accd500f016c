/** Escapes of other languages: warned about, kept in meaning, and the one that is meant is named (D5). */
import { expect, test } from "vitest";
import { applyFixes, parse, source } from "../../src/index.ts";

const escapes = (body: string) => {
    const text = `main func() {\n    "${body}"\n}\n`;
    const found = parse(source(text, "a.remit")).diagnostics;
    return found.map((one) => {
        const [first, second] = one.fixes ?? [];
        return {
            code: `${one.severity} ${one.code}`,
            hint: one.hint,
            meant: first?.safe === false ? applyFixes(text, [first]).split('"')[1] : null,
            kept: applyFixes(text, [(second ?? first) as NonNullable<typeof first>]).split('"')[1],
        };
    });
};

test.each([
    ["\\u0000", "\\u{0}", "u0000"],
    ["a\\u00e9b", "a\\u{E9}b", "au00e9b"],
    ["\\ud83d\\uDE00!", "\\u{1F600}!", "ud83duDE00!"],
    ["\\ud83d.", "\\u{D83D}.", "ud83d."],
    ["\\x1b[0m", "\\u{1B}[0m", "x1b[0m"],
    ["\\0", "\\u{0}", "0"],
])("%s", (body, meant, kept) => {
    const [one, ...more] = escapes(body);
    expect(more).toEqual([]);
    expect(one).toEqual({
        code: "warning UNKNOWN_ESCAPE",
        hint: `Write \`${/\\u\{[^}]*\}/.exec(meant)?.[0]}\` for that character, \`\\\\\` for a backslash.`,
        meant,
        kept,
    });
});

test("others mean nothing anywhere", () => {
    expect(escapes("\\d \\u12 \\012")).toMatchObject([
        { meant: null, hint: "Write `\\\\` for a backslash." },
        { meant: null, hint: "Write `\\u{…}` for a code point, `\\\\` for a backslash." },
        { meant: null },
    ]);
    expect(escapes("\\u{0} \\u{D800} \\u{1F600}")).toEqual([]);
});
