/** The one layout, and expressions on one line. */
import { describe, expect, test } from "vitest";
import { applyFixes, format, parse, printExpr, source, type tree } from "../../src/index.ts";
import { WORDS } from "../../src/syntax/tokens.ts";
import { bare, codes, read, readBody, showBody } from "./show.ts";

const MESSY = `// what this is
import tool A from "file://x"   // trailing
/* block */ import llm B from "local:"
// about the agent

// right above
main agent M { // opener
  model B // the model


  role 'r'
    /* of two
       lines */
  main func( input { question: string
     tags : list[string] } ) {  // body
    x = [1, // one
      /* two */ 2, 3 /* three */]
    y = a + // why
        b
    // own 1

    // own 2


    if a { // yes
        b } else if c {d} else { }
    // between
    w = {k: 1, // k
        // before l
        l: 2
        // last
    }
    foo
        // chained
        .bar(  1,2 )
    use x // budget
        max 2k
        as "y"
    use one of { a : empty
        b: x.y   max 500 selected }
      as slot
    text = """
  hello
    world

  end "quote" \\n
  """
    long = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa + bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb * ccccccccccccccccccccccccc - ddd
    v = if a {1} else {2}
    t = generate({input: "a",attempts:2}) -> {ok:boolean, why? : "low"|"high" "how bad"}
    items.map((q)=>q.name + 'x').filter(r => r.value>3)
    results = parallel for t in items max 4   stop after   1 failures { helper( t ) }
    try { f() } catch e { raise e.message }
    // last of all
  }
  func g(a,b:number=1)->string{ "}" }
  // end of agent
}
shape S { a: string }
// end of file
`;

const NEAT = `// what this is
import tool A from "file://x" // trailing
/* block */ import llm B from "local:"

// about the agent

// right above
main agent M { // opener
    model B // the model

    role 'r'

    /* of two
       lines */
    main func(input {
        question: string
        tags: list[string]
    }) { // body
        x = [
            1, // one
            /* two */ 2,
            3 /* three */
        ]
        y = a // why
            + b
        // own 1

        // own 2

        if a { // yes
            b
        } else if c {
            d
        } else {}
        // between
        w = {
            k: 1, // k
            // before l
            l: 2
            // last
        }
        foo // chained
            .bar(1, 2)
        use x max 2k as "y" // budget
        use one of {
            a: empty
            b: x.y max 500 selected
        } as slot
        text = """
            hello
              world

            end "quote" \\n
        """
        long = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
            + bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb * ccccccccccccccccccccccccc
            - ddd
        v = if a { 1 } else { 2 }
        t = generate({ input: "a", attempts: 2 }) -> {
            ok: boolean
            why?: "low" | "high" "how bad"
        }
        items.map((q) => q.name + 'x').filter((r) => r.value > 3)
        results = parallel for t in items max 4 stop after 1 failure {
            helper(t)
        }
        try {
            f()
        } catch e {
            raise e.message
        }
        // last of all
    }

    func g(a, b: number = 1) -> string {
        "}"
    }
    // end of agent
}

shape S { a: string }
// end of file
`;

test("a messy file comes out neat", () => {
    const file = read(MESSY);
    expect(file.diagnostics).toEqual([]);
    expect(format(file)).toBe(NEAT);
    expect(format(read(NEAT))).toBe(NEAT);
    expect(bare(read(NEAT))).toEqual(bare(file));
});

test("an AgentScript program stays one: contracts of several fields have one a line, without commas", () => {
    const text =
        'agent A {\n    func f(input { a: string\n b: number }) {\n        generate({ input: "q" }) -> { a\n b: list[json] }\n    }\n}\n';
    expect(format(read(text))).toBe(
        'agent A {\n    func f(input {\n        a: string\n        b: number\n    }) {\n        generate({ input: "q" }) -> {\n            a\n            b: list[json]\n        }\n    }\n}\n',
    );
});

test("an object contract of a parameter keeps its colon, or goes without, as it was written", () => {
    for (const text of [
        "main func(input: { a: string }) {\n    input\n}\n",
        "main func(input { a: string }) {\n    input\n}\n",
        "main func(input: {\n    a: string\n    b: number\n}) {\n    input\n}\n",
        "func f(first: { a: string }, second { b: number }) {}\n",
    ])
        expect(format(read(text))).toBe(text);
});

test("lines that all end in CR LF still do after formatting, and what they say is the same", () => {
    for (const text of [MESSY, 'func f() {\n  x = "a\\nb" y = \'c\'\n/* d\n  e */ z = """\n    one\n      two\n    """\n}\n']) {
        const crlf = text.replace(/\n/g, "\r\n");
        const out = format(parse(source(crlf)));
        expect(out).toBe(format(parse(source(text))).replace(/\n/g, "\r\n"));
        expect(format(parse(source(out)))).toBe(out);
        expect(bare(parse(source(out)))).toEqual(bare(parse(source(crlf))));
    }
    expect(format(parse(source("func f() {\r\nx\n}\r\n")))).toBe("func f() {\n    x\n}\n");
    expect(format(parse(source("func f() {\rx\r}\r")))).toBe("func f() {\n    x\n}\n");
});

test("a fix that begins a line does so as the file does", () => {
    const text = "func f() {\r\n    use one of { a: x\r\n b: y c: z } as l\r\n}\r\n";
    const fixes = parse(source(text)).diagnostics.flatMap((one) => one.fixes ?? []);
    const fixed = applyFixes(text, fixes);
    expect(fixed).toContain("b: y\r\n c: z");
    expect(format(parse(source(fixed)))).not.toMatch(/[^\r]\n/);
});

test("a byte order mark goes; the text of strings stays", () => {
    expect(format(parse(source('\ufefffunc f() {\r\n\tx = "a\r\nb"\r\n\t// c\r\n}\r\n')))).toBe(
        'func f() {\r\n    x = "a\r\nb"\r\n    // c\r\n}\r\n',
    );
});

test("an empty file stays empty, and one of comments alone keeps them", () => {
    expect(format(read(""))).toBe("");
    expect(format(read("\n\n"))).toBe("");
    expect(format(read("// a\n\n\n// b"))).toBe("// a\n\n// b\n");
});

test("a file with an error is given back as it is", () => {
    const text = "func f() { x = ] // keep\n}";
    expect(format(read(text))).toBe(text);
});

test("a file whose layout could not be read again is given back as it is", () => {
    const file = read("func f() {\n    x = [a // keep\n        .b]\n}");
    // No text is read as a name with a space in it.
    const items = JSON.parse(JSON.stringify(file.items), (_, value) => (value?.kind === "ident" ? { ...value, name: "a a" } : value));
    expect(format({ ...file, items })).toBe(file.source.text);
});

/** Places in brackets where a line may break, or a comment stand, around a word or after a property of that name. */
const BROKEN = [
    "[W\n(y)]",
    "[W // c\n(y)]",
    "[W /* c */ (y)]",
    "[W\n[y]]",
    "[W\n()]",
    "[W // c\n.a]",
    "[\nW(y)]",
    "f(W\n(y))",
    "{ a: W\n(y) }",
    "[a.W\n(y, z)]",
    "[a.W // c\n(y)]",
    "[a\n.W\n[y]]",
];

test("formatting joins and breaks lines in brackets without another reading of any word", () => {
    let compared = 0;
    for (const word of WORDS)
        for (const place of BROKEN) {
            const file = readBody(`x = ${place.replace("W", word)}`);
            if (file.diagnostics.some((diagnostic) => diagnostic.severity === "error")) continue;
            const text = format(file);
            const again = read(text);
            expect([text, codes(again), showBody(again)]).toEqual([text, "", showBody(file)]);
            expect(format(again)).toBe(text);
            compared++;
        }
    // All but the words that begin no call, `generate` and `true` among them.
    expect(compared).toBeGreaterThan(WORDS.length * 10);
});

test("formatting writes earlier spellings as they are written now", () => {
    expect(format(readBody("use x < 2k as user question\nx = {\n a: 1\n b: 2\n}"))).toBe(
        'func f() {\n    use x max 2k as "user question"\n    x = { a: 1, b: 2 }\n}\n',
    );
});

test("what does not fit is broken at its own brackets", () => {
    const long = "a".repeat(60);
    expect(format(readBody(`x = f({ ${long}: 1, b: [${long}, ${long}] })`))).toBe(
        `func f() {\n    x = f({\n        ${long}: 1,\n        b: [\n            ${long},\n            ${long}\n        ]\n    })\n}\n`,
    );
    expect(format(readBody(`f(${long}, ${long})`))).toBe(`func f() {\n    f(\n        ${long},\n        ${long}\n    )\n}\n`);
});

test("trees that no text stands behind are written so that they are read back", () => {
    const range = { start: 0, end: 0 };
    const ident = (name: string): tree.Expr => ({ kind: "ident", range, name });
    const number = (value: number): tree.Expr => ({ kind: "number", range, value, text: String(value) });
    const minus: tree.Expr = { kind: "unary", range, op: "-", value: ident("x") };
    const sum: tree.Expr = { kind: "binary", range, op: "+", left: ident("a"), right: ident("b") };
    const values: tree.Expr[] = [
        minus,
        minus,
        { kind: "binary", range, op: "*", left: sum, right: sum },
        { kind: "member", range, object: sum, name: { range, text: "c" }, safe: false },
        { kind: "member", range, object: ident("return"), name: { range, text: "c" }, safe: false },
        number(-1),
        number(1e21),
        number(1e-7),
        number(0.1),
    ];
    const body = { range, statements: values.map((value): tree.Stmt => ({ kind: "expr", range, value })) };
    const func: tree.Func = { kind: "func", range, main: false, name: { range, text: "f" }, params: [], body };
    const text = format({ source: source(""), items: [func], comments: [], diagnostics: [] });
    expect(text.split("\n").slice(1, -2)).toEqual([
        "    -x",
        "    (-x)",
        "    (a + b) * (a + b)",
        "    (a + b).c",
        "    (return.c)",
        "    (-1)",
        "    1000000000000000000000.0",
        "    0.0000001",
        "    0.1",
    ]);
    expect(read(text).diagnostics.filter((diagnostic) => diagnostic.severity === "error")).toEqual([]);
});

const LINES: readonly (readonly [string, string])[] = [
    ["a . b [ 0 ]", "a.b[0]"],
    ["{k:v,'l m':2,'n':3}", '{ k: v, "l m": 2, n: 3 }'],
    ["{}", "{}"],
    ["[x,y , z]", "[x, y, z]"],
    ["x+y", "x + y"],
    ["'it\"s'", '"it\\"s"'],
    ['"two\nlines"', '"two\\nlines"'],
    ["2.50", "2.50"],
    ["none", "none"],
    ["(a + b) * c", "(a + b) * c"],
    ["(a * b) + c", "a * b + c"],
    ["((a)).b", "a.b"],
    ["a - (b - c)", "a - (b - c)"],
    ["not (a and b)", "not (a and b)"],
    ["-(-a)", "- -a"],
    ["x?.y ?? 1", "x?.y ?? 1"],
    ["if a { 1 } else { 2 }", "if a { 1 } else { 2 }"],
    ["Repo.only(read)", "Repo.only(read)"],
    ["(Repo.only)(read)", "(Repo.only)(read)"],
    ["Repo.only((read), write)", "(Repo.only)(read, write)"],
    ["Repo.only(read, 1)", "Repo.only(read, 1)"],
];

describe("expressions on one line", () => {
    test.each(LINES)("%s", (text, line) => {
        const func = readBody(`x = ${text}`).items[0] as tree.Func;
        expect(printExpr((func.body.statements[0] as tree.Assign).value)).toBe(line);
    });
});

test("fixes are applied in one pass over the text", () => {
    const file = readBody("use a < 2k\nuse b < 3k");
    const fixes = file.diagnostics.flatMap((diagnostic) => diagnostic.fixes ?? []);
    expect(applyFixes(file.source.text, fixes)).toBe("func f() {\nuse a max 2k\nuse b max 3k\n}");
    expect(applyFixes("unchanged", [])).toBe("unchanged");
});
