/** What of Markdown the console shows: pieces and marks, hostile text in time in proportion to its length, text that grows. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Mark, marksOf, type Piece, piecesOf } from "../console/markdown.ts";

/** As HTML would say it, for one line a case. */
function shown(text: string, depth = 0): string {
    return piecesOf(text, depth)
        .map(({ piece }) => one(piece, depth + 1))
        .join("");
}

const SIDES = { none: "", left: " 1", center: " 2", right: " 3" };

function one(piece: Piece, depth: number): string {
    switch (piece.kind) {
        case "paragraph":
            return `<p>${marks(marksOf(piece.text))}</p>`;
        case "heading":
            return `<h${piece.level}>${marks(marksOf(piece.text))}</h${piece.level}>`;
        case "code":
            return `<pre>${piece.text}</pre>`;
        case "quote":
            return `<quote>${shown(piece.text, depth)}</quote>`;
        case "list":
            return `<list ${piece.start ?? "-"}>${piece.items.map(({ text, isDone }) => `<li>${isDone === null ? "" : `[${isDone ? "x" : " "}]`}${shown(text, depth)}</li>`).join("")}</list>`;
        case "table":
            return `<table>${[piece.head, ...piece.rows].map((row) => `<tr>${row.map((cell, i) => `<td${SIDES[piece.sides[i] ?? "none"]}>${marks(marksOf(cell))}</td>`).join("")}</tr>`).join("")}</table>`;
        case "rule":
            return "<hr>";
    }
}

function marks(all: readonly Mark[]): string {
    return all
        .map((mark) => {
            if (typeof mark === "string") return mark;
            if (mark.kind === "code") return `<code>${mark.text}</code>`;
            if (mark.kind === "link") return `<link ${mark.address}>${mark.text}</link>`;
            return `<${mark.kind}>${marks(mark.marks)}</${mark.kind}>`;
        })
        .join("");
}

test.each([
    ["two\nlines\n\nand more", "<p>two\nlines</p><p>and more</p>"],
    ["# One\n## Two ##\n#three", "<h1>One</h1><h2>Two</h2><p>#three</p>"],
    [
        "*a* _b_ **c** __d__ ***e*** ~~f~~",
        "<p><em>a</em> <em>b</em> <strong>c</strong> <strong>d</strong> <strong><em>e</em></strong> <del>f</del></p>",
    ],
    ["**a *b* c** **open *and", "<p><strong>a <em>b</em> c</strong> **open *and</p>"],
    ["snake_case_name 2*3*4 2 ** 3 ** 4 a * b *", "<p>snake_case_name 2*3*4 2 ** 3 ** 4 a * b *</p>"],
    ["这是**强调**的文字", "<p>这是<strong>强调</strong>的文字</p>"],
    ["`a*b*c` ``x ` y`` `open", "<p><code>a*b*c</code> <code>x ` y</code> `open</p>"],
    ["\\*no\\* \\q", "<p>*no* \\q</p>"],
    [
        "[here](https://a.example/x) ![pic](http://b.example/p.png) [x] (y)",
        "<p><link https://a.example/x>here</link> <link http://b.example/p.png>pic</link> [x] (y)</p>",
    ],
    ["[a](javascript:alert%281%29)", "<p><link javascript:alert%281%29>a</link></p>"],
    ["<b>no</b> <img src=x onerror=y> &lt;", "<p><b>no</b> <img src=x onerror=y> &lt;</p>"],
    [
        "- a\n- b\n  - c\n\n    d\n- e",
        "<list -><li><p>a</p></li><li><p>b</p><list -><li><p>c</p><p>d</p></li></list></li><li><p>e</p></li></list>",
    ],
    ["3. a\n4. b\n  - c\nlazy", "<list 3><li><p>a</p></li><li><p>b</p><list -><li><p>c\nlazy</p></li></list></li></list>"],
    // Items that stand indented are beside each other.
    ["  - a\n  - b", "<list -><li><p>a</p></li><li><p>b</p></li></list>"],
    [
        "- x\n    - a\n    - b\n        - c\n\n    - d",
        "<list -><li><p>x</p><list -><li><p>a</p></li><li><p>b</p><list -><li><p>c</p></li></list></li><li><p>d</p></li></list></li></list>",
    ],
    ["text\n- a\n\nafter", "<p>text</p><list -><li><p>a</p></li></list><p>after</p>"],
    ["```js\nif (a) {\n  `b`\n}\n```\nafter", "<pre>if (a) {\n  `b`\n}</pre><p>after</p>"],
    ["~~~\nopen\n# still", "<pre>open\n# still</pre>"],
    ["> a\n> - b\nc", "<quote><p>a</p><list -><li><p>b</p></li></list></quote><p>c</p>"],
    [
        "| a | b |\n|---|:-:|\n| 1 | x \\| y |\n| 2 |\nend",
        "<table><tr><td>a</td><td 2>b</td></tr><tr><td>1</td><td 2>x | y</td></tr><tr><td>2</td></tr></table><p>end</p>",
    ],
    ["|a|b|\n|:-|---:|\n|1|2", "<table><tr><td 1>a</td><td 3>b</td></tr><tr><td 1>1</td><td 3>2</td></tr></table>"],
    [
        "- [ ] a\n- [x] b\n  - [X] c\n- [y] d\n- [x]",
        "<list -><li>[ ]<p>a</p></li><li>[x]<p>b</p><list -><li>[x]<p>c</p></li></list></li><li><p>[y] d</p></li><li><p>[x]</p></li></list>",
    ],
    // Tabs lead to every fourth column.
    [
        "-\ta\n\t- b\n\t\t- c\n\n\t\td\n- e",
        "<list -><li><p>a</p><list -><li><p>b</p><list -><li><p>c</p></li></list><p>d</p></li></list></li><li><p>e</p></li></list>",
    ],
    ["1. a\n\t```\n\tx\n\t\ty\n\t```", "<list 1><li><p>a</p><pre>x\n\ty</pre></li></list>"],
    ["a | b\nc | d", "<p>a | b\nc | d</p>"],
    ["a\n\n---\n\n* * *", "<p>a</p><hr><hr>"],
])("%j", (text, expected) => expect(shown(text)).toBe(expected));

const HOSTILE = [
    "[",
    "![",
    "[a](",
    "*",
    "*a ",
    "_a",
    "**a *b ",
    "`",
    "`a",
    ">",
    "> ",
    "- ",
    "1. ",
    "|",
    "|a",
    "|-",
    "<a ",
    "\n",
    "\n\n- ",
    " ",
    "\\",
    "~~a",
    "```\n",
    "- a\n\n\n",
    "a|b\n-|-\n",
    "#",
    "# \n",
];
const hostile = fc.array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ maxLength: 3 })), { maxLength: 60 }).map((all) => all.join(""));

test("MDN1: what others repeat a hundred thousand times is read, and nests no deeper than is allowed", () => {
    for (const text of HOSTILE) {
        const html = shown(text.repeat(100_000 / text.length));
        expect(Math.max(...[...html.matchAll(/(?:<quote>|<list [^>]*><li>)+/g)].map(([all]) => all.split("<").length), 0)).toBeLessThan(20);
    }
});

test("MDN1: a wide table has no more cells than its text has bars", () => {
    const row = (cell: string): string => `|${cell}`.repeat(40);
    const [{ piece } = { piece: null }] = piecesOf(`${row("a")}\n${row("-")}\n${"|\n".repeat(1000)}`);
    expect(piece?.kind === "table" && piece.rows.flat().length).toBeLessThanOrEqual(1000);
});

test("MDN1: no letter is lost or made up", () => {
    const letters = (text: string): string => text.replace(/[^A-Za-z]/g, "");
    const words = fc
        .array(fc.oneof(fc.constantFrom(...HOSTILE), fc.stringMatching(/^[a-z]{1,4}$/)), { maxLength: 60 })
        .map((all) => all.join(""));
    fc.assert(
        fc.property(words, (text) => {
            // The language of a fence is not shown.
            fc.pre(!/[`~]{3}/.test(text));
            const plain = shown(text)
                .replace(/<link ([^>]*)>(.*?)<\/link>/gs, "$2$1")
                .replace(/<\/?(?:p|h\d|pre|quote|list|li|table|tr|td|hr|code|em|strong|del)(?: [\d-]*)?>/g, "");
            const sorted = (of: string): string => [...letters(of)].sort().join("");
            expect(sorted(plain)).toBe(sorted(text));
        }),
        { examples: [["a|b\n-|-\n[|-|a"]] },
    );
});

test("MDN2: of text that grows every piece but the last two stays as it was", () => {
    fc.assert(
        fc.property(hostile, hostile, (before, more) => {
            const [was, is] = [piecesOf(before), piecesOf(before + more)];
            expect(is.slice(0, Math.max(0, was.length - 2))).toEqual(was.slice(0, -2));
        }),
        // What a line that is half there was taken for: another paragraph, an item.
        {
            examples: [
                ["1. a\n\n2", ". b"],
                ["a|b\n-|-\nc", "|d"],
                ["x\na|b\n-", "|-"],
            ],
        },
    );
});
