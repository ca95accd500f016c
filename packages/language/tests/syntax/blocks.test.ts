/** Blocks: what is read, what is said of mistakes, and how they are laid out. */
import { describe, expect, test } from "vitest";
import { applyFixes, format, parse, source, type tree } from "../../src/index.ts";
import { bare, marks, read, showFlow } from "./show.ts";

/** Stages of a block as they are read. */
const STAGES: readonly (readonly [string, string])[] = [
    ["echo", "echo"],
    ['echo "a"', '(echo "a")'],
    ["a >=> b >=> c", "(>=> a b c)"],
    ["a>=>b", "(>=> a b)"],
    ["a\n>=> b\n>=> c", "(>=> a b c)"],
    ["a >=>\n b", "(>=> a b)"],
    ["a <*> b <*> c", "(<*> a b c)"],
    ["a >=> b <*> c", "(<*> (>=> a b) c)"],
    ["a >=> ( b <*> c )", "(>=> a (<*> b c))"],
    ["( a <*> b ) >=> c", "(>=> (<*> a b) c)"],
    // grouping leaves no trace, a fan-out in a fan-out is a list in a list
    ["( ( a >=> b ) >=> c )", "(>=> a b c)"],
    ["a >=> ( b >=> ( c >=> d ) )", "(>=> a b c d)"],
    ["( ( ( a ) ) )", "a"],
    ["( a <*> b ) <*> c", "(<*> (<*> a b) c)"],
    ["( a ) >=> ( ( b <*> c ) )", "(>=> a (<*> b c))"],
    // arguments
    ['ask "what?" \'now\' """x"""', '(ask "what?" "now" "x")'],
    ['f 1 -2 2.5 true none [1, "a"] { a: 1 }', '(f 1 (- 2) 2.5 true none [1 "a"] {a:1})'],
    ["wait 30s >=> wait 2 min >=> wait 500ms >=> wait 1 h", "(>=> (wait 30000ms) (wait 120000ms) (wait 500ms) (wait 3600000ms))"],
    ["map Reviewer >=> map Repo.read >=> echo verdict", "(>=> (map Reviewer) (map (. Repo read)) (echo verdict))"],
    ['Repo.read "a" >=> Repo.list', '(>=> (Repo.read "a") Repo.list)'],
    ['ask\n"on the next line"', '(ask "on the next line")'],
    ["f()", "f"],
    ["f ( )", "f"],
    [
        'converge(question: "why?", researcher: R, threshold: 0.9, keep: "best")',
        '(converge question:"why?" researcher:R threshold:0.9 keep:"best")',
    ],
    ['converge ( question: "why?"\n max_rounds: 5\n)', '(converge question:"why?" max_rounds:5)'],
    ['tool_agent "x" (tools: [Search, Repo.read], max_steps: 3)', '(tool_agent "x" tools:[Search (. Repo read)] max_steps:3)'],
    ["wait(duration: 5 min)", "(wait duration:300000ms)"],
    [
        'fetch "u" with { timeout: 5 min, retries: 2, on_error: collect, credential: env("KEY") }',
        '(fetch "u" with:{timeout:300000ms retries:2 on_error:collect credential:(call env "KEY")})',
    ],
    ['fetch "u" with {\n timeout: 5s\n retries: 2\n}', '(fetch "u" with:{timeout:5000ms retries:2})'],
    ["f with {} >=> g", "(>=> f g)"],
    // words of the language are names
    ["read >=> list >=> generate >=> if >=> import >=> agent", "(>=> read list generate if import agent)"],
    ["memory >=> static >=> temporal(a: 1) >=> dynamic()", "(>=> memory static (temporal a:1) dynamic)"],
    // nested blocks
    ["a >=> temporal dynamic ( b <*> c ) as d >=> e", "(>=> a (temporal dynamic (<*> b c) as:d) e)"],
    ["memory static ( memory static ( a ) )", "(memory static (memory static a))"],
    ["a // one\n>=> /* two */ b", "(>=> a b)"],
];

describe("stages", () => {
    test.each(STAGES)("%s", (text, expected) => {
        const file = read(`memory static ( ${text} )`);
        expect([marks(file), showFlow((file.items[0] as tree.BlockDecl).body)]).toEqual([[], expected]);
    });
});

test("a block names its backend, its mode and its value, among other declarations", () => {
    const file = read("temporal dynamic ( a ) as b\nfunc f() { 1 }\nmemory static ( c )\nas d\nmemory static ( e )");
    expect(marks(file)).toEqual([]);
    expect(file.items.map((item) => (item.kind === "block" ? showFlow(item) : item.kind))).toEqual([
        "(temporal dynamic a as:b)",
        "func",
        "(memory static c as:d)",
        "(memory static e)",
    ]);
});

/** A file, its errors, and what its first fix makes of it. */
const ERRORS: [text: string, expected: string[], fixed?: string][] = [
    // the head
    ["static memory ( a )", ['SYNTAX "static memory"'], "memory static ( a )"],
    ["dynamic temporal ( a ) as b\nfunc f() { ] }", ['SYNTAX "dynamic temporal"', 'SYNTAX "]"']],
    ["temporal ( a )", ['SYNTAX "("'], "temporal static ( a )"],
    ["dynamic ( a )", ['SYNTAX "dynamic"'], "memory dynamic ( a )"],
    ["sibyl static ( a )", ['SYNTAX "sibyl"'], "temporal static ( a )"],
    ["memroy static ( a )", ['SYNTAX "memroy"'], "memory static ( a )"],
    ["memory statik ( a )", ['SYNTAX "statik"'], "memory static ( a )"],
    ["cloud static ( a )", ['SYNTAX "cloud"']],
    ["memory static a >=> b\nfunc f() { ] }", ['SYNTAX "a"', 'SYNTAX "]"']],
    ["memory static", ['SYNTAX after "static"']],
    ["memory static ( a ) as\nfunc f() { ] }", ['SYNTAX after "as"', 'SYNTAX "]"']],
    ["memory static ( a ) as", ['SYNTAX after "as"']],
    // stages
    ["memory static ( )", ['SYNTAX ")"']],
    ["memory static ( a >=> )", ['SYNTAX ")"']],
    ["memory static ( >=> a )", ['SYNTAX ">="']],
    ["memory static ( a >=> ( ) >=> b )", ['SYNTAX ")"']],
    ['memory static ( "text" >=> a )', ['SYNTAX "\\"text\\""'], 'memory static ( echo "text" >=> a )'],
    ['memory static ( save("x") )', ['SYNTAX "(\\"x\\")"'], 'memory static ( save "x" )'],
    ['memory static ( save("x", "y") >=> b )', ['SYNTAX "(\\"x\\", \\"y\\")"']],
    ["memory static ( f(a: ) )", ['SYNTAX ")"']],
    ["memory static ( f(a: 1 b: 2) )", ['SYNTAX "b"'], "memory static ( f(a: 1, b: 2) )"],
    ["memory static ( f(a: 1 )", ['SYNTAX after ")"'], "memory static ( f(a: 1 ))"],
    ["memory static ( a with { timeout 3s } )", ['SYNTAX "3s"']],
    ["memory static ( a as b >=> c )", ['SYNTAX "as"']],
    // joins
    ["memory static ( a -> b )", ['SYNTAX "->"'], "memory static ( a >=> b )"],
    ["memory static ( a => b )", ['SYNTAX "=>"'], "memory static ( a >=> b )"],
    ["memory static ( a | b )", ['SYNTAX "|"'], "memory static ( a >=> b )"],
    ["memory static ( a |> b )", ['SYNTAX "|>"'], "memory static ( a >=> b )"],
    ["memory static ( a >> b )", ['SYNTAX ">>"'], "memory static ( a >=> b )"],
    ["memory static ( a >>> b )", ['SYNTAX ">>>"'], "memory static ( a >=> b )"],
    ["memory static ( a >= b )", ['SYNTAX ">="'], "memory static ( a >=> b )"],
    ["memory static ( a >>= b )", ['SYNTAX ">>="'], "memory static ( a >=> b )"],
    ["memory static ( a > => b )", ['SYNTAX "> =>"'], "memory static ( a >=> b )"],
    ["memory static ( a >= > b )", ['SYNTAX ">= >"'], "memory static ( a >=> b )"],
    ["memory static ( a > = > b )", ['SYNTAX "> = >"'], "memory static ( a >=> b )"],
    ["memory static ( a < * > b )", ['SYNTAX "< * >"'], "memory static ( a <*> b )"],
    ["memory static ( a <> b )", ['SYNTAX "<>"'], "memory static ( a <*> b )"],
    ["memory static ( a <|> b )", ['SYNTAX "<|>"'], "memory static ( a <*> b )"],
    ["memory static ( a, b )", ['SYNTAX ","']],
    ["memory static ( a\n b )", ['SYNTAX after "a"'], "memory static ( a >=>\n b )"],
    ["memory static ( a ( b <*> c ) )", ['SYNTAX "("'], "memory static ( a >=> ( b <*> c ) )"],
    ["memory static ( a + b )", ['SYNTAX "+"']],
    ["memory static ( a -> b | c\n d, e )", ['SYNTAX "->"', 'SYNTAX "|"', 'SYNTAX after "c"', 'SYNTAX ","']],
    // brackets
    ["memory static ( a >=> b\n\nmain agent X { main func() { ] } }", ['SYNTAX after "b"', 'SYNTAX "]"']],
    ["memory static ( ( a <*> b >=> c )\nfunc f() { ] }", ['SYNTAX after ")"', 'SYNTAX "]"']],
    ["memory static ( a ) )\nfunc f() { ] }", ['SYNTAX ")"', 'SYNTAX "]"']],
    // numbers that are none must not become names of verbs
    ["memory static ( wait 1e999 )", ['INVALID_NUMBER "1e999"']],
    ["memory static ( f 0x10 1_000 1abc )", ['INVALID_NUMBER "0x10"', 'INVALID_NUMBER "1_000"', 'INVALID_NUMBER "1abc"']],
    ["memory static ( f -.5 )", ['SYNTAX "."']],
    ["memory static ( f .5 )", ['SYNTAX "."']],
    ["memory static ( wait 5m )", ['INVALID_NUMBER "5m"']],
    ["memory static ( f 99999999999999999999 )", ['NUMBER_TOO_LARGE "99999999999999999999"']],
    // without the two words
    ['( read "a" >=> save "b" )\nfunc f() { ] }', ['SYNTAX "("', 'SYNTAX "]"'], 'memory static ( read "a" >=> save "b" )\nfunc f() { ] }'],
    ['read "a" >=> save "b"\nfunc f() { ] }', ['SYNTAX "read"', 'SYNTAX "]"']],
    // the s-expressions of the original: one error each file
    ['(block :backend temporal (pipe (echo "a") echo))', ['SYNTAX "("']],
    ['; a comment, "open\n// and one\n(script (par a b))\n(pipe (when "a > 5") github/clone)', ['SYNTAX "("']],
    ['(echo "a")', ['SYNTAX "("']],
    ["(pipe a b", ['SYNTAX "("']],
    ["func f() { 1 }\n(pipe a b)\n(par c d)\nfunc g() { ] }", ['SYNTAX "("', 'SYNTAX "]"']],
];

describe("errors", () => {
    for (const [text, expected, fixed] of ERRORS)
        test(text, () => {
            const file = read(text);
            expect(marks(file)).toEqual(expected);
            const [first] = file.diagnostics;
            if (fixed !== undefined) expect(applyFixes(text, first?.fixes ?? [])).toBe(fixed);
            expect(first?.hint ?? first?.message).toMatch(/[a-z]/);
        });

    test("what a bracket 10,000 deep holds is refused, not followed", () => {
        const deep = (open: string, close: string) => read(`memory static ( ${open.repeat(10_000)}a${close.repeat(10_000)} )`);
        expect(deep("( ", " )").diagnostics.map((d) => d.code)).toEqual(["TOO_DEEP"]);
        expect(deep("b <*> ( ", " )").diagnostics.map((d) => d.code)).toEqual(["TOO_DEEP"]);
        expect(deep("memory static ( ", " )").diagnostics.map((d) => d.code)).toEqual(["TOO_DEEP"]);
        expect(deep("f(a: [", "])").diagnostics.map((d) => d.code)).toEqual(["TOO_DEEP"]);
        expect(read(`(pipe ${"(pipe ".repeat(10_000)}`).diagnostics.map((d) => d.code)).toEqual(["SYNTAX"]);
    });

    test("10,000 stages and 10,000 branches are read", () => {
        const stages = Array.from({ length: 10_000 }, (_, i) => `echo "${i}"`);
        for (const join of [" >=> ", " <*> "]) {
            const file = read(`memory static ( ${stages.join(join)} )`);
            expect(marks(file)).toEqual([]);
            expect(parse(source(format(file))).items).toHaveLength(1);
        }
    });
});

const LAYOUTS: readonly (readonly [string, string])[] = [
    ["memory   static(a>=>b)as c", "memory static ( a >=> b ) as c"],
    ["memory static ( ( ( a <*> b ) ) )", "memory static ( a <*> b )"],
    ["memory static ( ( ( a <*> b ) >=> c ) )", "memory static ( ( a <*> b ) >=> c )"],
    ["memory static ( f( a : 1\n b : 2 ) with{timeout:5 min} )", "memory static ( f(a: 1, b: 2) with { timeout: 5min } )"],
    [
        `temporal static ( ( read "build.log" <*> read "CHANGELOG.md" ) >=> Release >=> save "verdict.json" ) as verdict`,
        `temporal static (
    ( read "build.log" <*> read "CHANGELOG.md" ) >=> Release >=> save "verdict.json"
) as verdict`,
    ],
    [
        `memory static ( ( read "a-rather-long-name-of-a-file.md" >=> summarize <*> fetch "https://example.com/a/long/address" >=> summarize ) >=> merge )`,
        `memory static (
    (
        read "a-rather-long-name-of-a-file.md" >=> summarize
        <*> fetch "https://example.com/a/long/address" >=> summarize
    )
    >=> merge
)`,
    ],
    [
        `memory static ( // opens
// first
read "a" // read
>=> b // then
// between
>=> ( c // left
<*> d // right
) // after
// last
) as e // end`,
        `memory static ( // opens
    // first
    read "a" // read
    >=> b // then
    // between
    >=> (
        c // left
        <*> d // right
    ) // after
    // last
) as e // end`,
    ],
    [
        `memory static ( ask """
  a long
    prompt
""" >=> b )`,
        `memory static (
    ask """
        a long
          prompt
    """
    >=> b
)`,
    ],
];

describe("layout", () => {
    test.each(LAYOUTS)("%s", (text, expected) => {
        const file = read(text);
        expect(marks(file)).toEqual([]);
        expect(format(file)).toBe(`${expected}\n`);
        const again = read(expected);
        expect(format(again)).toBe(`${expected}\n`);
        expect(plain(again)).toEqual(plain(file));
    });
});

/** Block strings keep their style, and their place in the file is none of the tree's. */
const plain = (file: tree.File): unknown => bare(file);
