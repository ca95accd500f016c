/** Texts in backticks: what they hold, where they end, what is said of mistakes, and that they are printed as they were. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { check, format, loadProgram, lower, parse, printForm, type Program, source } from "../../src/index.ts";
import { templateText } from "../../src/syntax/templates.ts";

const around = (expression: string): string => `main func(a, b) {\n    ${expression}\n}\n`;
function formOf(text: string): Program {
    const checked = check(loadProgram("main.remit", { read: () => text, resolve: () => null }));
    const errors = checked.diagnostics.filter((one) => one.severity === "error");
    if (errors.length > 0) throw new Error(errors.map((one) => one.message).join("\n"));
    return lower(checked);
}
const plain = (value: unknown): string => JSON.stringify(value, (key, one: unknown) => (key === "at" ? undefined : one));
const said = (expression: string): string[] =>
    parse(source(around(expression))).diagnostics.map(({ code, message, range }) => `${code} ${range.start - 21}: ${message}`);

describe("what it is", () => {
    const SAME: readonly (readonly [string, string])[] = [
        ["``", '""'],
        ["`plain`", '"plain"'],
        ["`two\nlines`", '"two\\nlines"'],
        ["`\\{ \\} \\` \\n } \\\\`", '"{ } ` \\n } \\\\"'],
    ];
    test.each(SAME)("%j is %j", (template, quoted) => {
        expect(plain(formOf(around(template)).files[0]?.funcs)).toBe(plain(formOf(around(quoted)).files[0]?.funcs));
    });

    test("an expression may hold strings, braces, backticks and lambdas", () => {
        const all = '`{"}"}{\'`\'}{ { k: `in {a + 1}` } }{[1, 2].map(x => `{x}`)}{"""}`"""}`';
        expect(said(all)).toEqual([]);
        expect(said(`[${all}.length, 1]`)).toEqual([]);
    });
});

describe("mistakes", () => {
    const DOLLAR = (at: number): string => `DOLLAR_BRACE ${at}: This \`$\` is part of the text: a value in backticks is written \`{x}\`.`;
    const WRONG: readonly (readonly [string, string[]])[] = [
        ["`never", ["UNTERMINATED_STRING 1: This text in backticks, or an expression in it, is never closed."]],
        ["`{a`", ["UNTERMINATED_STRING 1: This text in backticks, or an expression in it, is never closed."]],
        ["`{}`", ["SYNTAX 2: An expression stands between the braces."]],
        ["`x{a b}`", ["SYNTAX 6: Expected `}`, found `b`."]],
        ["`x{1 + } y`", ["SYNTAX 7: Expected an expression, found `}`."]],
        ["`x{1 + `", ["UNTERMINATED_STRING 1: This text in backticks, or an expression in it, is never closed."]],
        ["`x{a // no\n}`", ["SYNTAX 6: No comment stands inside a text in backticks."]],
        ["`a ${b}, ${b}`", [DOLLAR(4), DOLLAR(10)]],
        ['`{"$"}{b} $`', []],
        ["`\\q`", ["UNKNOWN_ESCAPE 2: `\\q` is no escape; it stands for `q`."]],
    ];
    test.each(WRONG)("%j", (template, messages) => {
        expect(said(template)).toEqual(messages);
    });

    test("it stands nowhere where a literal is required", () => {
        for (const text of [
            "import tool A from `file://{x}`\nmain func() { 1 }",
            "main func(a) { use a as `label {a}` }",
            "main func(a = `x{1}`) { a }",
            "shape S { a: `x{1}` }\nmain func() { 1 }",
            "memory static ( echo `x{1}` )",
        ]) {
            const errors = check(loadProgram("main.remit", { read: () => text, resolve: () => null })).diagnostics.filter(
                (one) => one.severity === "error",
            );
            expect([text, errors.length]).toEqual([text, 1]);
        }
    });

    test("it holds no call inside a use, and no tool", () => {
        const errors = (text: string): string[] =>
            check(
                loadProgram("main.remit", { read: () => text, resolve: () => null, allowTool: () => ({ allowed: true }) }),
            ).diagnostics.flatMap((one) => (one.severity === "error" ? [one.message] : []));
        expect(errors('func f(a) { a }\nmain func(a) {\n use `x{f(a)}` as "a"\n 1 }')).toHaveLength(1);
        expect(errors('import tool T from "sh:"\nmain func() { `{T}` }').join()).toMatch(/a text cannot hold/);
    });

    test("it is no deeper than others, and takes time linear in the text", () => {
        const nested = (n: number): string => (n === 0 ? "a" : `\`{${nested(n - 1)}}\``);
        expect(said(nested(8))).toEqual([]);
        expect(said(nested(40))).not.toEqual([]);
        expect(said(`\`${"{a}".repeat(900)}\``)).toEqual([]);
        expect(said(`\`${"{a}".repeat(3000)}\``)).toHaveLength(1);
        expect(said("`{".repeat(20_000)).length).toBeGreaterThan(0);
    });
});

describe("printed", () => {
    test("its layout is its own: line breaks stay, expressions stand on one line", () => {
        const text = around("x = `Dear {a},\n  order { b . id } \\{no\\}`  + `{ a }`.trim()");
        expect(format(parse(source(text)))).toBe(around("x = `Dear {a},\n  order {b.id} \\{no}`\n        + `{a}`.trim()"));
    });

    test("what is formatted means the same, and is formatted no further", () => {
        const piece = fc.oneof(
            fc.constantFrom("{a}", "{b.c}", "{ [a, `{b}`] }", '{"}"}', "\\{", "x", " ", "\n", "\\\\", "é", "\t"),
            fc.string().map(templateText),
        );
        fc.assert(
            fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
                const text = around(`x = \`${pieces.join("")}\`\n    x`);
                const once = format(parse(source(text))) as string;
                expect(plain(formOf(once).files[0]?.funcs)).toBe(plain(formOf(text).files[0]?.funcs));
                expect(format(parse(source(once)))).toBe(once);
            }),
        );
    });

    test("any text stands in one", () => {
        fc.assert(
            fc.property(fc.string({ unit: "binary" }), (value) => {
                const form = formOf(around(`\`${templateText(value)}\``));
                expect(JSON.stringify(form)).toContain(JSON.stringify(value));
            }),
        );
    });

    test.each(["`{a}`", "`x{a}y{b}`", "`x{a}` + b", '`x{a}` + "y"', '"x" + `{a}`', "`{a}{b}`", "(`{a}`).length", "`{`{a}`}`"])(
        "the form of %s is printed as a text that gives the same form",
        (expression) => {
            const form = formOf(around(expression));
            const [text = ""] = printForm(form);
            expect(text).toContain("`");
            expect(plain(formOf(text).files)).toBe(plain(form.files));
        },
    );
});
