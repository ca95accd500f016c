/** Syntax errors: code and place of each, every one of a file in one pass, and what is read around them. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyFixes, parse, SYNTAX_CODES, source } from "../../src/index.ts";
import { MAX_ERRORS } from "../../src/syntax/lexer.ts";
import { codes, marks, read, readBody, showBody } from "./show.ts";

/** A body and its errors: the text each stands at. */
const BODIES: readonly (readonly [string, readonly string[]])[] = [
    ["x =", ['SYNTAX after "="']],
    ["x = \n y = 2\n z = ]\n w = 1", ['SYNTAX after "="', 'SYNTAX "]"']],
    ["x = \n return 1", ['SYNTAX after "="']],
    ["return", ['SYNTAX after "return"']],
    ["x = (1 + 2\n y = 3", ['SYNTAX after "2"']],
    ["x = [1, 2\n y = 3", ['SYNTAX after "2"']],
    ["x = { a: 1\n y = 3\n}\n z = [", ['SYNTAX after "1"', 'SYNTAX after "["']],
    ["x = [1 2, 3 4] y = f(1 2) z = { a: 1 b: 2 }", ['SYNTAX "2"', 'SYNTAX "4"', 'SYNTAX "2"', 'SYNTAX "b"']],
    ["x = [, 1] y = f(,)", ['SYNTAX ","', 'SYNTAX ","']],
    ["x = { a, b }", ['SYNTAX ","', 'SYNTAX "}"']],
    ["x = { a = 1, b: }", ['SYNTAX "="', 'SYNTAX "}"']],
    ["x = { 1: 2, [a]: 3, ok: 4 }", ['SYNTAX "1"', 'SYNTAX "["']],
    ["a b ) c", ['SYNTAX ")"']],
    ["a, b", ['SYNTAX ","']],
    ["x.0\n y.[1]\n z.", ['SYNTAX "0"', 'SYNTAX "["', 'SYNTAX after "z."']],
    ["f(x)[ ]", ['SYNTAX "]"']],
    ["x = a ? b : c", ['SYNTAX "?"']],
    ["x = !a y = 1", ['SYNTAX "!"']],
    ["x = a && b", ['UNEXPECTED_CHARACTER "&&"']],
    ["x = a || b", ['UNEXPECTED_CHARACTER "||"']],
    ["x = a === b or a !== c", ['UNEXPECTED_CHARACTER "==="', 'UNEXPECTED_CHARACTER "!=="']],
    ["x = a & b", ['UNEXPECTED_CHARACTER "&"']],
    ["x = `a {b c`\n y = ]", ['UNTERMINATED_STRING "`"', 'SYNTAX "]"']],
    ["let x = 1\n x", ['SYNTAX "let"']],
    ["let = 1\n let x = let", []],
    ["let\n x = 1", []],
    ["while a > b { c = ] }", ['SYNTAX "while"', 'SYNTAX "]"']],
    ["while (a) { b }", ['SYNTAX "while"']],
    ["while = a\n while (b) { c: d }", []],
    ["if a { b } elseif c { d } else { e = ] }", ['SYNTAX "elseif"', 'SYNTAX "]"']],
    ["function f(a) { return b; }\n c = ]", ['SYNTAX "function"', 'UNEXPECTED_CHARACTER ";"', 'SYNTAX "]"']],
    ["throw a\n b", ['SYNTAX "throw"']],
    ["switch (a) { case b: c }\n d", ['SYNTAX "switch"']],
    ["x *= 2\n y", ['SYNTAX "="']],
    ["x++\n y = 1", ['SYNTAX "+"']],
    ["x = .5\n y = 1.\n z", ['SYNTAX "."', 'SYNTAX after "1."']],
    ["x = parallel y max 3 { z = ] }\n a", ['SYNTAX "y"', 'SYNTAX "]"']],
    ["context 3k\n a", ['SYNTAX "3k"']],
    ["context max\n a", ['SYNTAX after "max"']],
    ["context = 1\n max = 2\n context max\n a", []],
    ["use x maximum 4k as y\n z = ]", ['SYNTAX "maximum"', 'SYNTAX "]"']],
    ['use x as "y" generate({ input: "z" })\n z = ]', ['SYNTAX "generate"', 'SYNTAX "]"']],
    ["use x limit 4k tokens keep end as y\n z", ['SYNTAX "limit"']],
    ["use x\n limit 4k", ['INVALID_NUMBER "4k"']],
    ["use x max 3k keep middle as y\n z", ['SYNTAX "middle"']],
    ["use x as\n y = ]", ['SYNTAX after "as"', 'SYNTAX "]"']],
    ["use x as\n y\n z", []],
    ["x = 1; y = 2;", ['UNEXPECTED_CHARACTER ";"', 'UNEXPECTED_CHARACTER ";"']],
    ["x = 1 # y", ['UNEXPECTED_CHARACTER "#"']],
    ["x = “a”", ['UNEXPECTED_CHARACTER "“"', 'UNEXPECTED_CHARACTER "”"']],
    ["x\u00a0= 1", ['UNEXPECTED_CHARACTER "\u00a0"']],
    ["naïve = été", ['UNEXPECTED_CHARACTER "naïve"', 'UNEXPECTED_CHARACTER "été"']],
    ["x = a => b + c => d", ['SYNTAX "=>"']],
    ["x = not y => y", ['SYNTAX "=>"']],
    ["x = (1) => 2", ['SYNTAX "1"']],
    ["for x in y { z }", ['SYNTAX "{"']],
    ["for x in y max n { z }", ['SYNTAX "n"']],
    ["for x of y max 3 { z }", ['SYNTAX "of"']],
    ["for x in y max 4k { z }", ['INVALID_NUMBER "4k"']],
    ["loop x max 3 { z }", ['SYNTAX "x"']],
    ["loop until x { z }", ['SYNTAX "{"']],
    ["repeat 3 { z }", ['SYNTAX "3"']],
    ["repeat * n { z }", ['SYNTAX "n"']],
    ["x = parallel y in z max 3 { y }", ['SYNTAX "y"']],
    ["x = parallel for y in z max 3 stop 2 failures { y }", ['SYNTAX "2"']],
    ["x = parallel for y in z max 3 stop after 2 { y }", ['SYNTAX "{"']],
    ["if a b", ['SYNTAX "b"']],
    ["if a { } else b", ['SYNTAX "b"']],
    ["else { x = } y = (", ['SYNTAX "else"', 'SYNTAX "}"', 'SYNTAX after "("']],
    ["catch e { }", ['SYNTAX "catch"']],
    ["try { a } b", ['SYNTAX "b"']],
    ['generate("x")', ['SYNTAX "\\"x\\""']],
    ["generate x", ['SYNTAX "x"']],
    ["generate({ input: q }) ->", ['SYNTAX after "->"']],
    ["generate({ input: q }) -> {\n a:\n b: number\n}", ['SYNTAX after "a:"']],
    ["generate({ input: q, timeout: 3 parsecs })", ['INVALID_NUMBER "3 parsecs"']],
    ["generate({ ...x })", ['SYNTAX "..."']],
    ["use x max as y", ['SYNTAX "as"']],
    ["use x as", ['SYNTAX after "as"']],
    ["use x as a b\n + c", ['OLD_SPELLING "a b"', 'SYNTAX "+"']],
    ["use x as y, z\n a = ]", ['SYNTAX ","', 'SYNTAX "]"']],
    ["use x keep end", ['SYNTAX "keep"']],
    ["use one of { a: x, b: y\n} as z", ['SYNTAX ","']],
    ["use one of { a: x b: y\n} as z", ['SYNTAX "b"']],
    ["use one of {\n a x\n b: y\n} as z", ['SYNTAX "x"']],
    ["use one of {\n a: x\n b: y\n}\n z", ['SYNTAX after "}"']],
    ["x = 9007199254740993", ['NUMBER_TOO_LARGE "9007199254740993"']],
    ["x = 0009007199254740992", []],
    ["x = 9007199254740993.5", []],
    ["x = 2k", ['INVALID_NUMBER "2k"']],
    ["x = 1.5e3", ['INVALID_NUMBER "1.5e3"']],
    ['x = "abc\n y = (', ['UNTERMINATED_STRING "\\""', 'SYNTAX after "("']],
    ["x = 'it's'", ['UNTERMINATED_STRING "\'"']],
    ['x = """abc\n y = (', ['UNTERMINATED_STRING "\\"\\"\\""', 'SYNTAX after "("']],
    ["x = 1 /* abc\n y = (", ['UNTERMINATED_COMMENT "/*"', 'SYNTAX after "("']],
    [
        'x = "\\d\\u12" y = "\\u{}" z = "\\u{110000}"',
        ['UNKNOWN_ESCAPE "\\\\d"', 'UNKNOWN_ESCAPE "\\\\u"', 'INVALID_ESCAPE "\\\\u{"', 'INVALID_ESCAPE "\\\\u{"'],
    ],
    ["role", ['SYNTAX after "role"']],
    ["delegate all to Fixer {\n a = ]\n} x = ]", ['SYNTAX "]"', 'SYNTAX "]"']],
    ['delegate Repo.write in "src" to Fixer onward { a }\n b', []],
    ["delegate Repo.write Fixer { a }\n b = ]", ['SYNTAX "Fixer"', 'SYNTAX "]"']],
    ["delegate Repo. to Fixer { a }\n b = ]", ['SYNTAX "Fixer"', 'SYNTAX "]"']],
    ["delegate all to Fixer\n b = ]", ['SYNTAX after "Fixer"', 'SYNTAX "]"']],
    ["spend 10k tokens, 2 apples { a }\n b = ]", ['INVALID_NUMBER "2 apples"', 'SYNTAX "]"']],
    ["spend 10k { a }\n b = ]", ['SYNTAX "{"', 'SYNTAX "]"']],
    ["x = spend 0.5 usd { parallel for y in z max 3 { y } }\n b = ]", ['SYNTAX "spend"', 'SYNTAX "]"']],
    ["x = spend\n y = spend + 1", []],
    ["spend 1.5 tokens { a }", ['INVALID_NUMBER "1.5 tokens"']],
    ["x = endorse y as trusted\n z = ]", ['SYNTAX after "trusted"', 'SYNTAX "]"']],
    ['x = endorse y because "z"\n z = ]', ['SYNTAX "because"', 'SYNTAX "]"']],
    ["x = Repo.only(read in, write)\n z = ]", ['SYNTAX ","', 'SYNTAX "]"']],
    ["define f = func (x) { x } y = ]", ['SYNTAX "]"']],
    ["x = Fixer.yield(a: 1) with { turns: 3, time: 5 min, tokens: 10k } -> { d: string }\n y = ]", ['SYNTAX "]"']],
    ["x = Fixer.yield(a: 1) -> { d: string }\n y = ]", ['SYNTAX "]"']],
    ["x = Fixer.yield(a: 1) ->\n y = ]", ['SYNTAX "="']],
    ["x = Fixer.yield(a: 1) with { turns }\n y = ]", ['SYNTAX "}"', 'SYNTAX "]"']],
    ["with = 1\n x = f(with)\n y = ]", ['SYNTAX "]"']],
    ["agent = 1 reason = 2 act = 3 send = 4\n x = { yield: agent, send: send, with: act }.yield\n y = ]", ['SYNTAX "]"']],
];

describe("errors in a body", () => {
    test.each(BODIES)("%s", (text, expected) => {
        expect(marks(readBody(text))).toEqual(expected);
    });
});

const FILES: readonly (readonly [string, readonly string[]])[] = [
    ["x = 1\ny = 2\nfunc f() { a }", ['SYNTAX "x"']],
    ["func f { a }", ['SYNTAX "{"']],
    ["func { a }", ['SYNTAX "{"']],
    ["agent { }", ['SYNTAX "{"']],
    ["agent A func f() { ] }", ['SYNTAX "func"', 'SYNTAX "]"']],
    ["func f(a b, , c) { }", ['SYNTAX ","']],
    ["func f(a = b) { }", ['SYNTAX "b"']],
    ["func f(a = -1, b = { c: [1, none] }) { }", []],
    [
        'import foo X from "a"\nimport tool from "a"\nimport tool X "a"\nimport tool X from a',
        ['SYNTAX "foo"', 'SYNTAX "from"', 'SYNTAX "\\"a\\""', 'SYNTAX "a"'],
    ],
    ['import file X from "a" { a: ask }\nfunc f() { ] }', ['SYNTAX "]"']],
    ['import skill X from "a" { a: ask }\nfunc f() { ] }', ['SYNTAX "{"', 'SYNTAX "]"']],
    ['import tool A from "x" { send ask, arg: , 3: x }', ['SYNTAX "ask"', 'SYNTAX ","', 'SYNTAX "3"']],
    ['main agent A { x = 1\n use F as f\n func f() {}\n role "x" }', ['SYNTAX "x"', 'SYNTAX "role \\"x\\""']],
    ["shape S { a: , b: string c: number 5, d }", ['SYNTAX ","', 'SYNTAX "c"', 'SYNTAX "5"']],
    ["shape S string number\nfunc f() { ] }", ['SYNTAX "number"', 'SYNTAX "]"']],
    ["shape S { a: number = x }", ['SYNTAX "x"']],
    // clauses: a mistake costs its clause, to the next comma or line
    ["remit R { may Repo.read }\nfunc f() { ] }", ['SYNTAX "]"']],
    ['agent A { remit { may Repo.read in "src/**"\n spend 200k tokens } func f() { ] } }', ['SYNTAX "]"']],
    [
        'import tool A from "x" {\n send: ask\n arg: \n arg to: trusted\n find: }\nfunc f() { ] }',
        ['SYNTAX after "arg:"', 'SYNTAX "}"', 'SYNTAX "]"'],
    ],
    [
        'import tool A from "x" { arg to: , reads: , audience: 5, arg 1: from(x), trusted }',
        ['SYNTAX ","', 'SYNTAX ","', 'SYNTAX "5"', 'SYNTAX "x"'],
    ],
    ['import tool A from "x" { (a, b: c), send: ask {x, y} may, [1, 2] }', ['SYNTAX "("', 'SYNTAX "{"', 'SYNTAX "["']],
    [
        "remit R {\n Repo.read\n may\n ask Mail.send 5 b c\n never X\n}\nfunc f() { ] }",
        ['SYNTAX "Repo"', 'SYNTAX after "may"', 'SYNTAX "5"', 'SYNTAX "]"'],
    ],
    ["remit R { flow, may Repo.read, 5, Mail, ask X, spend a, 5, never Y, may Z }", ['SYNTAX "flow"', 'SYNTAX "5"', 'SYNTAX "a"']],
    ["remit R { may Repo.read, ask Mail.send, spend 10k tokens, 2 usd, never Bank, flow strict, may endorse }", []],
    ["remit { may Repo.read }\nfunc f() { ] }", ['SYNTAX "{"', 'SYNTAX "]"']],
    ["remit R\nfunc f() { ] }", ['SYNTAX after "R"', 'SYNTAX "]"']],
    ['import agent A from "./a.remit" { may Repo }\nfunc f() { ] }', ['SYNTAX "may"', 'SYNTAX "]"']],
    ["agent A { remit R remit { may X } func f() { ] } }", ['SYNTAX "remit"', 'SYNTAX "]"']],
    // braces that do not add up
    ["func f() {\n if a {\n  b\n}\nfunc g() { ] }", ['SYNTAX "func"', 'SYNTAX "]"']],
    ["main agent A {\n func f() {\n  if a {\n   b\n }\n func g() { ] }\n}\n", ['SYNTAX "func"', 'SYNTAX "]"']],
    ["main agent A {\n func f() { a }\n\nmain agent B { func g() { ] } }", ['SYNTAX "main"', 'SYNTAX "]"']],
    ['func f() {\n a\nimport tool X from "y"\nfunc g() { ] }', ['SYNTAX "import"', 'SYNTAX "]"']],
    ["func f() { a } }\nfunc g() { ] }", ['SYNTAX "}"', 'SYNTAX "]"']],
    ["func f() { a", ['SYNTAX after "a"']],
    ["agent A\n func f() { ] }\n func g() { }\n}", ['SYNTAX after "A"', 'SYNTAX "]"']],
    ['import tool A from\nimport tool B "b"', ['SYNTAX after "from"', 'SYNTAX "\\"b\\""']],
    ["func f(string a, b) { a }", ['SYNTAX "string a"']],
    ["agent A { def f() { a } func g() { ] } }", ['SYNTAX "def"', 'SYNTAX "]"']],
    ["agent A { role\n main func() { ] } }", ['SYNTAX after "role"', 'SYNTAX "]"']],
    // later versions
    ['test "t" { a ] }\nfunc f() { ] }', ['UNSUPPORTED "test \\"t\\""', 'SYNTAX "]"']],
    ['import agent F from "acp://x" {\n remit { may a.b, c in "src/**" }\n}\nfunc f() { F ] }', ['SYNTAX "]"']],
];

describe("errors in a file", () => {
    test.each(FILES)("%s", (text, expected) => {
        expect(marks(read(text))).toEqual(expected);
    });
});

test("what stands around an error is read", () => {
    const file = readBody("a = 1\nb = f(1 2\nc = 3\nd = [4, , 5]\nif e { ) g }\nh");
    expect(showBody(file)).toBe("(= a 1) (= b (call f 1 2)) (= c 3) (= d [4 MISSING 5]) (if e {g}) h");
});

test("a message says what was expected, what was found and what to do", () => {
    const first = (text: string) => {
        const { message, hint } = read(text).diagnostics[0] ?? { message: "", hint: "" };
        return [message, hint];
    };
    expect(first("func f() { for x in y { } }")).toEqual([
        "Expected `max` and a limit, found `{`.",
        "Every `for` names its limit: `max 10`.",
    ]);
    expect(first("func f() { return }")).toEqual(["Expected a value after `return`, found `}`.", "Write `return none` to return nothing."]);
    expect(first("func f() {\n if a {\n  b\n}\nfunc g() { }")).toEqual([
        "Expected `}`, found `func`.",
        "The bracket `{` was opened on line 1. Perhaps the `{` on line 2 is meant: its `}` on line 4 stands further left.",
    ]);
    expect(first("func f() { x = 2k }")).toEqual([
        "Invalid number literal '2k'.",
        "A unit follows `max`: `use log max 4k`. Elsewhere write the number out.",
    ]);
});

test("a brace that is missing before `else` or `catch` is one error, at that word", () => {
    const of = (text: string) => read(`func f(a) {\n${text}\n}\nfunc g() { 1 }\n`).diagnostics.map(({ message, hint }) => [message, hint]);
    expect(of("if a {\n    b\nelse {\n    c\n}")).toEqual([["Expected `}`, found `else`.", "The bracket `{` was opened on line 2."]]);
    expect(of("if a {\n    b\nelse if c {\n    d\n}")).toEqual([["Expected `}`, found `else`.", "The bracket `{` was opened on line 2."]]);
    expect(of("try {\n    b\ncatch e {\n    c\n}")).toEqual([["Expected `}`, found `catch`.", "The bracket `{` was opened on line 2."]]);
    expect(of("if a {\n    for x in a max 3 {\n        x\n} else {\n    c\n}").map(([message]) => message)).toEqual([
        "Expected `}`, found `else`.",
    ]);
    // Where the braces add up, the word itself is the slip.
    expect(of("if a { b } c\nelse { d }").map(([message]) => message)).toEqual(["This `else` has no `if`."]);
});

test("fixes of a slip in a word, a unit or a bracket leave a text without errors", () => {
    const cured = (text: string): string => {
        const file = read(text);
        expect([text, file.diagnostics.length]).toEqual([text, 1]);
        const after = applyFixes(text, file.diagnostics[0]?.fixes ?? []);
        expect([after, codes(read(after))]).toEqual([after, ""]);
        return after;
    };
    expect(cured('agent A { roel "x" func f() { 1 } }')).toContain('role "x"');
    expect(cured("func f() {\n x = [1, 2\n y = 3\n}")).toContain("[1, 2]");
    expect(cured("agent A { remit { spend 4 turn } func f() { 1 } }")).toContain("spend 4 turns");
    expect(cured("agent A { remit { spend 10 mins } func f() { 1 } }")).toContain("spend 10 min ");
    expect(cured('func f(x) { use x max 4k token as "x" }')).toContain("4k tokens as");
    expect(cured('func f(x) { use x as "y" x.trim() }')).toContain('as "y"\n x.trim()');
    expect(read("func f() { for i in 0..3 max 3 { i } }").diagnostics.map(({ message }) => message)).toEqual(["There are no ranges."]);
    expect(read('agent A { remit { ask Repo.write on "src/**" } func f() { 1 } }').diagnostics.map(({ hint }) => hint)).toEqual([
        'Which calls are meant is written with `in`: `Repo.write in "src/**"`.',
    ]);
});

test("safe fixes of errors leave a text without them", () => {
    for (const text of [
        "return",
        "a = 1; b = 2;",
        "x = a && b",
        "x\u00a0= 1",
        "repeat 3 { z }",
        "use one of { a: x\n b: y c: z\n} as l",
        "use one of { a: x, b: y,\n c: z\n} as l",
        'x = "\\d"',
    ]) {
        const file = readBody(text);
        expect(codes(file)).not.toBe("");
        const fixes = file.diagnostics.flatMap((diagnostic) => (diagnostic.fixes ?? []).filter((fix) => fix.safe));
        expect([text, codes(read(applyFixes(file.source.text, fixes)))]).toEqual([text, ""]);
    }
});

test("every code that reading gives is in the table, with its severity", () => {
    for (const [text] of [...BODIES.map(([body]) => [`func f() {\n${body}\n}`]), ...FILES] as [string][]) {
        for (const { code, severity, range } of read(text).diagnostics) {
            expect(severity).toBe(SYNTAX_CODES[code as keyof typeof SYNTAX_CODES].severity);
            expect(range.start <= range.end && range.end <= text.length).toBe(true);
        }
    }
});

test("reading stops after a thousand errors", () => {
    const file = read(`func f() {\n${"x = ]\n".repeat(3000)}}`);
    expect(file.diagnostics.length).toBe(MAX_ERRORS + 1);
    expect(file.diagnostics.at(-1)?.code).toBe("TOO_MANY_ERRORS");
    expect(read("$ ".repeat(5000)).diagnostics.length).toBe(MAX_ERRORS + 1);
});

// ---- depth -------------------------------------------------------------------------------------------------------

const DEEP: readonly (readonly [string, string, string, string])[] = [
    ["round brackets", "(", "a", ")"],
    ["lists", "[", "a", "]"],
    ["objects", "{ a: ", "b", "}"],
    ["calls", "f(", "a", ")"],
    ["indexes", "a[", "0", "]"],
    ["signs", "- ", "a", ""],
    ["negations", "not ", "a", ""],
    ["lambdas", "x => ", "a", ""],
    ["lambdas with brackets", "(x) => ", "a", ""],
    ["choices", "if a { ", "b", " }"],
    ["conditions", "if if ", "b", " { } { }"],
    ["tries", "try { ", "b", " } catch e { }"],
    ["loops", "parallel for a in b max 3 { ", "c", " }"],
    ["generates", "generate({ input: ", "a", " })"],
    ["spreads", "[...", "a", "]"],
];

describe("nesting ends in one error", () => {
    for (const size of [300, 10_000]) {
        test.each(DEEP)(`%s, ${size} deep`, (_, open, middle, close) => {
            for (const closes of [size, 0]) {
                const file = readBody(`x = ${open.repeat(size)}${middle}${close.repeat(closes)}`);
                expect(codes(file)).toBe("TOO_DEEP");
            }
        });
    }

    test.each([
        ["contracts", "list[", "string", "]"],
        ["groups of contracts", "(", "string", ")"],
        ["fields", "{ a: ", "string", "}"],
    ])("%s, 10,000 deep", (_, open, middle, close) => {
        for (const closes of [10_000, 0])
            expect(codes(read(`shape S ${open.repeat(10_000)}${middle}${close.repeat(closes)}`))).toBe("TOO_DEEP");
    });

    test.each([
        ["if", "if a { ", "} "],
        ["for", "for a in b max 3 { ", "} "],
        ["loop", "loop until a max 3 { ", "} "],
        ["repeat", "repeat * 3 { ", "} "],
        ["try", "try { ", "} catch { } "],
    ])("blocks of `%s`, 10,000 deep", (_, open, close) => {
        for (const closes of [10_000, 0]) expect(codes(readBody(open.repeat(10_000) + close.repeat(closes)))).toBe("TOO_DEEP");
    });

    test("a chain of 1,000 is read, one of 100,000 is one error", () => {
        for (const link of [" + a", ".b", "(c)", "[0]", " or a", "?.b"]) {
            expect(codes(readBody(`x = a${link.repeat(990)}`))).toBe("");
            expect(codes(readBody(`x = a${link.repeat(100_000)}`))).toBe("TOO_DEEP");
        }
    });

    test("chains inside brackets count together", () => {
        const level = (inner: string) => `(${inner}${" + a".repeat(500)})`;
        let text = "a";
        for (let i = 0; i < 200; i++) text = level(text);
        expect(codes(readBody(`x = ${text}`))).toBe("TOO_DEEP");
    });

    test("200 deep is read, and so is a long `else if`", () => {
        for (const [, open, middle, close] of DEEP.filter(([name]) => name !== "generates" && name !== "conditions")) {
            expect(codes(readBody(`x = ${open.repeat(100)}${middle}${close.repeat(100)}`))).toBe("");
        }
        expect(codes(readBody(`if a { }${" else if b { }".repeat(5000)}`))).toBe("");
    });

    test("what follows something too deep is still read", () => {
        const file = readBody(`x = ${"(".repeat(400)}a${")".repeat(400)}\ny = ]\nz`);
        expect(codes(file)).toBe("TOO_DEEP SYNTAX");
        expect(showBody(file).endsWith(" z")).toBe(true);
    });
});

// ---- hostile text ------------------------------------------------------------------------------------------------

const PIECES = [
    ..."{}()[],:.=!<>+-*/%|?&;#\"'\\ \n\r\t",
    ...'-> => == != <= >= ?. ?? ... += -= // /* */ """ 1 2k 3.5 9007199254740993 a b \u{1F600} é \u0000 \ufeff'.split(" "),
    ..."import main agent func use loop until repeat parallel for in return if else and or not generate from true false none list max".split(
        " ",
    ),
    ..."as one of empty selected model role description break continue raise try context image tokens keep priority with delegate".split(
        " ",
    ),
    ..."define catch shape remit memory temporal static dynamic test arg start end string tool".split(" "),
];
const soup = fc
    .array(fc.constantFrom(...PIECES), { maxLength: 80 })
    .chain((parts) =>
        fc.constantFrom(parts.join(""), parts.join(" "), `func f() { ${parts.join(" ")} }`, `agent A { ${parts.join(" ")} }`),
    );

test("no text makes reading throw, and every place reported lies in it", () => {
    const check = (text: string) => {
        const file = parse(source(text));
        for (const { range } of file.diagnostics)
            expect(range.start >= 0 && range.start <= range.end && range.end <= text.length).toBe(true);
    };
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), check), { numRuns: 1000 });
    fc.assert(fc.property(soup, check), { numRuns: 3000 });
});

test("a program cut off anywhere, or with one character changed, is read", () => {
    const text = readBody(BODIES.map(([body]) => body).join("\n")).source.text;
    for (let i = 0; i < text.length; i += 3) {
        parse(source(text.slice(0, i)));
        parse(source(`${text.slice(0, i)}${"{}()[]\"'"[i % 8]}${text.slice(i + 1)}`));
    }
});

test("long texts that a careless reader would go over again and again come to an end", () => {
    // Each of these was quadratic in some reader: many unclosed delimiters, many openers, many errors on one line.
    for (const piece of [
        '"\n\\',
        "'",
        '"""',
        "/*",
        "(",
        "[",
        "{",
        "{ a: ",
        ")",
        "}",
        "delegate x ",
        "x as y z ",
        "a => ",
        "func f() {\n",
        "if ",
        "use one of {",
        "\u{1F600}",
    ]) {
        const file = parse(source(`func f() {\n${piece.repeat(50_000)}`));
        expect(file.diagnostics.length).toBeLessThanOrEqual(MAX_ERRORS + 1);
    }
    const { diagnostics } = parse(source(`func f(a: string) {\n${"use a < 9\n".repeat(50_000)}}`));
    expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
});
