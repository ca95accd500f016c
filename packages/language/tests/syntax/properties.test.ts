/** Properties of reading and writing over random trees: T1, P1, P2, S1, and fixes. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { format, parse, printExpr, source, type tree } from "../../src/index.ts";
import { blockRawLines, decodeBlock, decodeQuoted, quoteString } from "../../src/syntax/strings.ts";
import { expression, file } from "./arbitrary.ts";
import { bare, readBody, showExpr } from "./show.ts";

const errors = (read: tree.File) => read.diagnostics.filter((diagnostic) => diagnostic.severity === "error").map((d) => d.message);

test("T1: what is written is read as the same tree", () => {
    fc.assert(
        fc.property(file, (one) => {
            const text = format(one);
            const again = parse(source(text));
            expect([errors(again), bare(again)]).toEqual([[], bare(one)]);
        }),
        { numRuns: 1500 },
    );
});

test("P1: formatting what was formatted changes nothing", () => {
    fc.assert(
        fc.property(file, (one) => {
            const text = format(one);
            expect(format(parse(source(text)))).toBe(text);
        }),
        { numRuns: 800 },
    );
});

/** Puts comments between random tokens: after a token a block comment, at the end of a line a line comment. */
function commented(text: string, seed: readonly number[]): { text: string; count: number } {
    const lines = text.split("\n");
    let inBlock = false;
    let count = 0;
    const out: string[] = [];
    lines.forEach((line, index) => {
        const choice = seed[index % seed.length] as number;
        const quotes = line.split('"""').length - 1;
        const inside = inBlock || quotes > 0 || line.includes("\\");
        if (quotes % 2 === 1) inBlock = !inBlock;
        const strings = /["']/.test(line);
        if (!inside && choice % 5 === 0) out.push(`${choice % 2 === 0 ? "" : "   "}// own ${count++}`);
        if (!inside && choice % 7 === 0) out.push("", `/* block\n  ${count++} */`, "");
        if (!inside && !strings && choice % 3 === 0) out.push(`${line} // end ${count++}`);
        else if (!inside && !strings && choice % 11 === 0 && line.includes(" ")) {
            const at = line.lastIndexOf(" ");
            out.push(`${line.slice(0, at)} /* in ${count++} */${line.slice(at)}`);
        } else out.push(line);
    });
    return { text: out.join("\n"), count };
}

test("P2: comments are neither lost nor reordered by formatting, which stays idempotent and keeps the tree", () => {
    fc.assert(
        fc.property(file, fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 }), (one, seed) => {
            const with_ = commented(format(one), seed);
            const read = parse(source(with_.text));
            // A comment may stand where the grammar asks for the same line; such a text is not of interest here.
            fc.pre(errors(read).length === 0);
            const text = format(read);
            const again = parse(source(text));
            expect(again.comments.map((comment) => comment.text.trim())).toEqual(read.comments.map((comment) => comment.text.trim()));
            expect([errors(again), bare(again)]).toEqual([[], bare(read)]);
            expect(format(again)).toBe(text);
        }),
        { numRuns: 1500 },
    );
});

test("S1: a literal of each style decodes to the value it was made of", () => {
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
        { numRuns: 3000 },
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
        { numRuns: 1500 },
    );
});

test("the tree shown in tests tells expressions apart", () => {
    expect(showExpr({ kind: "none", range: { start: 0, end: 0 } })).toBe("none");
});
