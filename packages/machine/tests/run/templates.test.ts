/** Texts in backticks as they run: each value as `text(x)` gives it, with its labels. */
import { describe, expect, test } from "vitest";
import { evaluated, runText } from "./text.ts";

describe("values", () => {
    const SAME = ['"a"', "1.5", "true", "none", "[1, [2]]", '{ a: [1, "x"], b: none }', "[]"];
    test.each(SAME)("%s as text(x) gives it", (value) => {
        expect(evaluated(`x = ${value}\n[\`<{x}>\` == "<" + text(x) + ">", \`{x}\` == text(x)]`)).toEqual([true, true]);
    });

    test("expressions run once, from the left to the right, effects of calls among them", () => {
        expect(evaluated("l = []\nx = `{l.add(1).length}-{l.add(2).length}-{f(l)}`\nx", { before: "func f(l) { l.length }" })).toBe(
            "1-2-2",
        );
    });

    test("a name text of the program is not meant", () => {
        expect(evaluated('text = "mine"\n`{text}: {1 + 1}`')).toBe("mine: 2");
    });
});

describe("what it may hold", () => {
    test("a capability in one is a violation, by whatever route", () => {
        const { result } = runText('import tool T from "sh:"\nfunc f(x) { `{[x]}` }\nmain func(input) { f(T) }', { unchecked: true });
        expect(result).toMatchObject({ ok: false, failure: { kind: "violation.capability" } });
    });

    test("it carries what is put in, and what that is holds", () => {
        expect(runText("main func() { `x{1}` }").result).toMatchObject({ ok: true, origins: [] });
        const { result } = runText("main func(input) { `x{ { a: [input.secret] } }` }", { options: { input: { secret: 1 } } });
        expect(result).toMatchObject({ ok: true, value: 'x{"a":[1]}', origins: ["user"] });
    });
});
