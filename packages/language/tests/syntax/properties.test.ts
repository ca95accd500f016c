/** Properties of reading and writing over random trees: PRI1, PRI2, PRI3, SG1, and fixes. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { format, parse, printExpr, source, type tree } from "../../src/index.ts";
import { lex } from "../../src/syntax/lexer.ts";
import { blockRawLines, decodeBlock, decodeQuoted, quoteString } from "../../src/syntax/strings.ts";
import { expression, file } from "./arbitrary.ts";
import { bare, readBody } from "./show.ts";

const errors = (read: tree.File) => read.diagnostics.filter((diagnostic) => diagnostic.severity === "error").map((d) => d.message);

test("PRI1, PRI2: what is written is read as the same tree, and written the same again", () => {
    fc.assert(
        fc.property(file, (one) => {
            const text = format(one);
            const again = parse(source(text));
            expect([errors(again), bare(again)]).toEqual([[], bare(one)]);
            expect(format(again)).toBe(text);
        }),
        { numRuns: 1000 },
    );
});

test("PRI1: the name of an item is not taken for the contract of an answer", () => {
    const read = parse(source("func f() {\n    use generate({}) as a\n}\n"));
    expect(errors(read)).toEqual([]);
    expect(format(read)).toContain("use generate({}) as a");
});

/** Puts comments between tokens, as the seed says: on lines of their own, at the ends of lines, in the middle of expressions. */
function commented(text: string, seed: readonly number[]): string {
    const { tokens } = lex(source(text));
    let out = "";
    let at = 0;
    let count = 0;
    for (let i = 0; i < tokens.count; i++) {
        const from = tokens.start[i] as number;
        const choice = seed[i % seed.length] as number;
        const begins = i === 0 || tokens.newline[i] === 1;
        const ends = i + 1 === tokens.count || tokens.newline[i + 1] === 1;
        out += text.slice(at, from);
        if (choice % 13 === 0) out += `/* before ${count++} */ `;
        if (choice % 17 === 0 && begins) out += `// own ${count++}\n`;
        if (choice % 29 === 0 && begins) out += `\n// own ${count++}\n\n/* of two\n lines ${count++} */\n`;
        at = tokens.end[i] as number;
        out += text.slice(from, at);
        if (choice % 7 === 0 && ends) out += ` // end ${count++}`;
        else if (choice % 37 === 0) out += ` // broken ${count++}\n`;
        else if (choice % 11 === 0) out += ` /* after ${count++} */`;
    }
    return out + text.slice(at);
}

test("PRI3: comments are neither lost nor reordered by formatting, which stays idempotent and keeps the tree", () => {
    fc.assert(
        fc.property(file, fc.array(fc.nat(1000), { minLength: 1, maxLength: 30 }), (one, seed) => {
            const read = parse(source(commented(format(one), seed)));
            // A comment may stand where the grammar asks for the same line; such a text is not of interest here.
            fc.pre(errors(read).length === 0);
            const text = format(read);
            const again = parse(source(text));
            expect(again.comments.map((comment) => comment.text.trim())).toEqual(read.comments.map((comment) => comment.text.trim()));
            // `generate(…) -> list` before an index on the next line needs parentheses once it stands on one.
            expect([errors(again), plainTree(again.items)]).toEqual([[], plainTree(read.items)]);
            expect(format(again)).toBe(text);
        }),
        { numRuns: 500 },
    );
});

test("SG1: a literal of each style decodes to the value it was made of", () => {
    const value = fc.oneof(
        fc.string({ unit: "binary" }),
        fc
            .array(
                fc.constantFrom(
                    '"',
                    '""',
                    '"""',
                    "'",
                    "\\",
                    "\n",
                    "\r",
                    "\t",
                    " ",
                    "a",
                    "\ud800",
                    "\udc00",
                    "\u{1F600}",
                    "\u2028",
                    "\ufeff",
                ),
            )
            .map((parts) => parts.join("")),
    );
    fc.assert(
        fc.property(value, (text) => {
            for (const quote of ['"', "'"] as const) {
                const literal = quoteString(text, quote);
                expect(decodeQuoted(literal, 0, literal.length)).toBe(text);
                expect(/[\n\r]/.test(literal)).toBe(false);
            }
            for (const indent of ["", "    ", "\t"]) {
                const lines = ['"""', ...blockRawLines(text).map((line) => (line === "" ? "" : indent + line)), `${indent}"""`];
                expect(decodeBlock(lines.join("\n"))).toBe(text);
            }
        }),
        { numRuns: 1500 },
    );
});

/** Without parentheses that the tree does not need, and with strings in one style. */
function plainTree(node: unknown): unknown {
    return JSON.parse(
        JSON.stringify(node, (key, value) =>
            key === "range" || key === "style" || key === "quoted" ? undefined : value?.kind === "paren" ? unwrapped(value) : value,
        ),
    );
}
function unwrapped(node: tree.Expr): tree.Expr {
    return node.kind === "paren" ? unwrapped(node.value) : node;
}

test("an expression printed on one line means the same", () => {
    const simple = expression.filter((one) => !/"kind":"(if.expr|try.expr|parallel)"/.test(JSON.stringify(one)));
    fc.assert(
        fc.property(simple, (one) => {
            const line = printExpr(one);
            // JSON's escapes for control characters and lone halves are for people; the reader has others.
            fc.pre(!/\\[ufb]/.test(line));
            expect(/[\n\r]/.test(line)).toBe(false);
            const read = readBody(`x = ${line}`);
            const value = ((read.items[0] as tree.Func).body.statements[0] as tree.Assign).value;
            expect([errors(read), plainTree(value)]).toEqual([[], plainTree(one)]);
        }),
        { numRuns: 800 },
    );
});
