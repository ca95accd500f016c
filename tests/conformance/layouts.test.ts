/**
 * Whole programs in layouts that the grammar allows and few people write (sections 1.1 to 1.11 of the reference), in the current and in
 * each earlier spelling. Values, prompts and instructions are worked out from the rules.
 *
 * Why it is long: it is a list of programs.
 */
import { applyFixes, format, type Json, parse, source } from "@remit/language";
import { describe, expect, test } from "vitest";
import { type Reply, play } from "./harness.ts";

interface Program {
    readonly text: string;
    readonly input?: Json;
    readonly replies?: readonly Reply[];
    readonly files?: Readonly<Record<string, string>>;
    readonly env?: Readonly<Record<string, string>>;
    readonly value: Json;
    /** For each `generate`: `heading|source|text`. */
    readonly items?: readonly (readonly string[])[];
    readonly identities?: readonly string[];
    readonly warnings?: readonly string[];
}

const MODEL = 'import llm M from "openai://model-9"\n';
const AGENT = `${MODEL}main agent A {\n model M\n role "r"\n description "d"\n`;

const CURRENT: Readonly<Record<string, Program>> = {
    "comments between all tokens": {
        text: `// first
import // kind
llm // name
M // from
from // uri
"openai://model-9" // end
// between
main // word
agent // name
A // brace
{ // in
model // which
M // it
role // text
"r" // said
description "d"// glued
// before func
main func // no name
( // open
input // param
, // trailing
) // close
{ // body
x // target
= // is
[ // list
1 // one
, // comma
2, // two
] // closed
// a line
for // word
i // item
in // list
x // it
max // limit
10 // ten
{ // block
x // again
. // dot
add( // paren
i // arg
) // done
} // end
use // what
x // it
max // budget
4k // amount
as // label
nums // ends the line
generate( // paren
{ // brace
input // key
: // colon
"q" // value
, // comma
} // brace
) // paren
} // func
} // agent
// last`,
        replies: ["done"],
        value: "done",
        items: [["nums|x|[\n  1,\n  2,\n  1,\n  2\n]"]],
    },
    "a byte order mark, CR LF, tabs and empty lines": {
        text: `\ufeff${AGENT}
\tmain func(input {
\t\tname: string

\t\t// a comment
\t\ttags: list[list[string]]

\t}) {


\t\tuse input.name max 3 as\tname

\t\tuse input.tags\tas "the tags"

\t\tgenerate({\tinput:\t"q"\t}) -> {

\t\t\tok: boolean

\t\t\tnote

\t\t}
\t}
}
`.replaceAll("\n", "\r\n"),
        input: { name: "abcdef", tags: [["x"]] },
        replies: [{ ok: "TRUE", note: "n" }],
        value: { ok: true, note: "n" },
        items: [["name|input.name|abc", 'the tags|input.tags|[\n  [\n    "x"\n  ]\n]']],
    },
    "parallel for in if in loop in repeat, on one line": {
        text: `main agent{main func(input){out=[]n=0 repeat*2{loop until n>=3 max 5{n+=1 if n==2{r=parallel for x in input.xs max 2{if x>1{return x*10}y=x+n y}out.add(r)}else{out.add(n)}}n=0}out}}`,
        input: { xs: [1, 5, 9] },
        value: [1, [3, 50], 3, 1, [3, 50], 3],
    },
    "keywords as names of everything": {
        text: `main agent for {
            main func use(input) {
                import = 1  main = 2  agent = 3  func = 4  until = 5  from = 6  list = 7  max = 8  string = 9  number = 10  boolean = 11  json = 12
                o = { use: import, return: main, for: agent, if: func, in: until, generate: from, true: list, none: max, "not": string, parallel: number, model: boolean, role: json }
                o.loop = o.use + o.return
                o.and = o.for - o.if
                other.max(o.none, o.true).else
            }
        }
        agent other { func max(in, from) { { else: in * from, or: [in, from] } } }`,
        value: 56,
    },
    "chains and operators over lines": {
        text: `main agent A {
            main func(input) {
                total = input
                    .a
                    .b[0]
                    + 2
                    * 3
                    - 1
                flag = total
                    ==
                    11
                    and not
                    false
                    or input
                        .missing
                all = []
                all
                    .add(total)
                    .add(
                        flag
                    ).add({
                        k
                        :
                        [
                        ]
                    })
                all
            }
        }`,
        input: { a: { b: [6] } },
        value: [11, true, { k: [] }],
    },
    "use with every clause": {
        text: `import file Doc from "./doc.txt"
${AGENT}
    use Doc max 0.005k as "the document"
    use "literal"
    use { n: [1], d: Doc } as mixed
    main func(input) {
        use input.a max 2.5k
        use input . b as for
        use [ input.a , 'x' , 1.50 ] max 400 as 'single quoted'
        use { "key" : input.c [ 1 ] , other : none , } as "with \\"quotes\\""
        use input.n + 1 as sum } func unused() { 1 } }
`.replace("as sum }", 'as sum\n        generate({ input: "q" }) }'),
        files: { "doc.txt": "Hello, world" },
        input: { a: "A", b: true, c: [0, "one"], n: 1 },
        replies: ["ok"],
        value: "ok",
        items: [
            [
                "the document|Doc|Hello",
                '1|"literal"|literal',
                'mixed|{ n: [1], d: Doc }|{\n  "n": [\n    1\n  ],\n  "d": "Hello, world"\n}',
                "3|input.a|A",
                "for|input.b|true",
                'single quoted|[input.a, "x", 1.50]|[\n  "A",\n  "x",\n  1.5\n]',
                'with "quotes"|{ key: input.c[1], other: none }|{\n  "key": "one",\n  "other": null\n}',
                "sum|input.n + 1|2",
            ],
        ],
    },
    "use one of: names, budgets, places": {
        text: `import file Short from "./short.txt"
import file Long from "./long.txt"
${AGENT}
    use one of {
        short: Short
        long: Long max 4 selected
    } as style
    main func(input) {
        use one of { // comment
            empty: input.x

            max: input.y max 2 // budget
            selected: empty
        } as "evidence"
        first = generate({ input: "one" })
        if true {
            use one of {
                none: empty
                some: first
            } as memory
            use one of {
                a: first
                b: empty selected
            } as gone
        second = generate({ input: "two" }) return [first, second] }
    }
}`,
        files: { "short.txt": "s", "long.txt": "long text" },
        input: { x: "X", y: "YYY" },
        replies: ["r1", "r2"],
        value: ["r1", "r2"],
        items: [
            ["style|Long|long", "evidence|input.x|X"],
            ["style|Long|long", "evidence|input.x|X"],
        ],
    },
    strings: {
        text: `main agent A { main func(input) {
            a = "tab\\tquote\\"back\\\\slash\\n\\r'"
            b = 'it\\'s "so"'
            c = "raw
  line // no comment"
            d = "é → 日本 😀"
            e = "}" + '{' + "generate" + "//" + ""
            f = "a" + 1 + true + none + [1] + { a: 1 } + 1.50
            return [a, b, c, d, e, f]
        } }`,
        value: ["tab\tquote\"back\\slash\n\r'", 'it\'s "so"', "raw\n  line // no comment", "é → 日本 😀", "}{generate//", "a1true1.5"],
        warnings: ["LOST_IN_CONCAT"],
    },
    "agents of agents of files": {
        text: `import agent Outer from "./lib/outer.as"
import llm M from "openai://mine"
main agent A {
    model M role "main" description "m"
    use "mine" as own
    main func(input) {
        use input as input
        a = Outer(input)
        b = Outer.twice(a.n)
        return [a, b, generate({ input: "last" })]
    }
}`,
        files: {
            "lib/outer.as": `import agent Inner from "./deep/inner.as"
import file Note from "./note.json"
agent Outer {
    main func any(request {
        q: string
    }) { { n: Inner(request.q) + Note.add, q: request.q } }
    func twice(n) { n * 2 }
}
`,
            "lib/note.json": '{"add": 4}',
            "lib/deep/inner.as": `agent Inner { model M role "inner" description "i" use Facts as facts
    main func(q) { use q as q
        r = generate({ input: "count" }) -> {
            n: number
        }
        r.n } }
import file Facts from "facts.md"
import llm M from "openai://theirs"
`,
            "lib/deep/facts.md": "fact",
        },
        input: { q: "why" },
        replies: [{ n: "2.5" }, "end"],
        value: [{ n: 6.5, q: "why" }, 13, "end"],
        items: [
            ["facts|Facts|fact", "q|q|why"],
            ['own|"mine"|mine', 'input|input|{\n  "q": "why"\n}'],
        ],
        identities: ["inner/i", "main/m"],
    },
    "what a function gives": {
        text: `agent A {
            main func(input) { [last(1), assigned(1), branch(1), early(1), early(0), loops(1), nothing(), early(nested())] }
            func last(x) { y = x  y + 1 }
            func assigned(x) { x  y = x }
            func branch(x) { if x { x } }
            func early(x) { if x { for i in [1, 2] max 2 { if i == 2 { return i } } } 5 }
            func loops(x) { repeat * 2 { x } }
            func nothing() { }
            func nested() { return none  1 }
        }`,
        value: [2, null, null, 2, 5, null, null, 5],
        warnings: ["UNREACHABLE"],
    },
    "what is true": {
        text: `main agent A { main func(input) {
            seen = []
            for x in [none, false, 0, "", [], {}, "0", 1, true, [0], mark] max 20 { if x { seen.add(true) } else { seen.add(false) } }
            a = none or 0
            b = 1 and "x"
            c = false and input.absent
            d = true or input.absent
            e = not not input
            f = not 1 == 2
            seen.add(a).add(b).add(c).add(d).add(e).add(f)
        } func mark() { 1 } }`,
        value: [false, false, false, false, false, true, true, true, true, true, true, false, true, false, true, true, false],
    },
    "contracts in every position": {
        text: `${AGENT}
    main func start(input {
        a: string
        b: number
        c: boolean
        d: json
        e: list
        f: list[number]
        g: list[list[string]]
        max: string
    }) {
        one = generate({ input: "1" }) -> { }
        two = generate({ input: "2" }) -> {
            lone
            list: list
            string: list[boolean]
            for
            any: json
        }
        three = generate({ input: "3" }) -> { only }
        return [one, two, three.only, input.extra, input.max]
    }
}`,
        input: { a: "", b: 0, c: false, d: {}, e: [], f: [1], g: [["x"]], max: "m", extra: 1 },
        replies: [{}, { lone: "l", list: [1, "x"], string: ["true", false], for: "f", any: { k: [null] } }, { only: "o", more: 1 }],
        warnings: ["UNDECLARED_PROPERTY"],
        value: [{}, { lone: "l", list: [1, "x"], string: [true, false], for: "f", any: { k: [null] } }, "o", 1, "m"],
        items: [[], [], []],
    },
    "instructions that are no strings, and a second attempt": {
        text: `${AGENT} main func(input) {
            a = generate({ "input" : { task: "sum", of: [1, 2] } , attempts : 2 , strict : true , })->{
                n: number
            }
            b = generate({ temperature: 0.5, think: "low", debug: false, max_output: 1.5k, input: [1], })
            return [a, b]
        } }`,
        replies: [{ n: "3" }, { n: 3 }, "b"],
        value: [{ n: 3 }, "b"],
        items: [[], []],
    },
    "passed by reference, resolved late": {
        text: `${AGENT} main func(input) {
            log = []
            use log.summary as log
            use state.items[0].name as name
            1
        } }`
            .replace("log = []", 'log = [] state = { items: [{ name: "before" }] }')
            .replace(
                "            1\n",
                `            fill(log, state)
            first = generate({ input: "1" })
            state.items[0].name = "again"
            log = ["new"]
            if true { log = ["inner"]  second = generate({ input: "2" })  return [first, second, log, state.count] }
`,
            )
            .replace(/\} \}$/, '} func fill(l, s) { l.add("x") s.items[0].name = "after" s.count = l.length } }'),
        replies: ["r1", "r2"],
        value: ["r1", "r2", ["inner"], 1],
        items: [
            ['log|log.summary|[\n  "x"\n]', "name|state.items[0].name|after"],
            ['log|log.summary|[\n  "inner"\n]', "name|state.items[0].name|again"],
        ],
    },
    "configuration in functions and blocks": {
        text: `import llm M from "openai://a" import llm N from "openai://b"
main agent {
    model M
    role "agent"
    description "one"
    main func(input) {
        a = generate({ input: "1" })
        role 'function'
        if true {
            model N
            description "two
lines"
            b = generate({ input: "2" })
        }
        c = other()
        return [a, generate({ input: "3" }), c]
    }
    func other() { generate({ input: "4" }) }
}`,
        replies: ["a", "b", "c", "d"],
        value: ["a", "d", "c"],
        identities: ["agent/one", "function/two\nlines", "agent/one", "function/one"],
    },
    "nested parallel for with prompts of their own": {
        text: `${AGENT} main func(input) {
            use input.topic as topic
            rows = parallel for row in input.rows max 2 {
                use row.name as row
                cells = parallel for cell in row.cells max 9 { use cell max 1 as cell
                    generate({ input: "cell" }) -> {
                        n: number
                    } }
                sum = 0
                for c in cells max 9 { sum += c.n }
                { name: row.name, sum: sum, count: cells.length }
            }
            rows
        } }`,
        input: {
            topic: "t",
            rows: [
                { name: "a", cells: ["12"] },
                { name: "b", cells: [] },
                { name: "c", cells: [] },
            ],
        },
        replies: [{ n: 7 }],
        value: [
            { name: "a", sum: 7, count: 1 },
            { name: "b", sum: 0, count: 0 },
        ],
        items: [["topic|input.topic|t", "row|row.name|a", "cell|cell|1"]],
    },
    "memory and environment": {
        text: `import memory Notes from "file://notes.jsonl" import tool Env from 'env://process'
main agent A { main func(input) {
    name = Env.get({ name : "WHO" , }).value
    Notes.add({ kind: "person", text: "Name: " + name, })
    Notes.add({ kind: "other", text: "x" })
    found = Notes.query({ kind: "person", limit: 5 })
    none_found = Notes.query({ text: "NOBODY" })
    return [found[0].record.text, found.length, none_found.length, Notes.query({ text: "name:" }).length, Env.get({ name: "UNSET" }).value]
} }`,
        env: { WHO: "Ann" },
        value: ["Name: Ann", 1, 0, 1, null],
    },
};

/** Bodies in an earlier spelling; `input` is `{ a: "abcdef", xs: [1, 2, 3] }`; every `generate` is answered from `replies`. */
type Old = readonly [what: string, body: string, value: Json, items?: readonly (readonly string[])[], replies?: readonly Reply[]];

const OLD: Readonly<Record<string, readonly Old[]>> = {
    "1.0.0": [
        [
            "a budget",
            'use input.a < 0.003k\nreturn generate({ input: "q" }) { return { ok boolean } }',
            { ok: true },
            [["0|input.a|abc"]],
            [{ ok: true }],
        ],
        ["a budget glued", 'use input.a<2k\nreturn generate({ input: "q" })', "r", [["0|input.a|abcdef"]], ["r"]],
        ["an output limit", 'return generate({ input: "q", limit: 800 })', "r", [[]], ["r"]],
        ["options on lines", 'x = generate({\n input: "q"\n limit: 1k\n attempts: 2\n})\nreturn x', "r", [[]], ["r"]],
        ["a loop", "c = 0\nloop until c >= 2 < 6 { c = c + 1 }\nreturn c", 2],
        ["a loop that its limit ends", "c = 0\nloop until false < 4 {\n c += 1\n}\nreturn c", 4],
        ["a for", "s = 0\nfor x in input.xs < 2 { s = s + x }\nreturn s", 3],
        ["fields by lines", 'o = {\n a: 1\n "b": [1, 2]\n c: { d: none }\n}\nreturn o.b[1] + o.a', 3],
        ["fields by lines, commas among them", "o = {\n a: 1,\n b: 2\n c: 3,\n}\nreturn [o.a, o.b, o.c]", [1, 2, 3]],
        [
            "a contract with several fields",
            'return generate({ input: "q" }) { return { ok boolean\n n number\n tags list[string] } }',
            { ok: false, n: 2, tags: ["x"] },
            [[]],
            [{ ok: "false", n: "2", tags: ["x"] }],
        ],
    ],
    "0.1.3": [
        ["a label of words", 'use input.a as user question\ngenerate({ input: "q" })', "r", [["user question|input.a|abcdef"]], ["r"]],
        [
            "a budget and a label of words",
            'use input.a < 0.002k as the first two\ngenerate({ input: "q" })',
            "r",
            [["the first two|input.a|ab"]],
            ["r"],
        ],
        [
            "a label with a keyword and a number",
            'use input.a as step 2 of list\ngenerate({ input: "q" })',
            "r",
            [["step 2 of list|input.a|abcdef"]],
            ["r"],
        ],
        [
            "an arrow, fields on one line",
            'generate({ input: "q" }) -> { ok boolean  title string }',
            { ok: true, title: "t" },
            [[]],
            [{ ok: true, title: "t" }],
        ],
        [
            "an arrow, fields by lines",
            'generate({ input: "q" }) -> {\n ok boolean\n title string\n}',
            { ok: true, title: "t" },
            [[]],
            [{ ok: true, title: "t" }],
        ],
        ["max_output on lines", 'generate({\n input: "q"\n max_output: 2k\n})', "r", [[]], ["r"]],
        ["limit, the older name", 'generate({ input: "q"\n limit: 2k })', "r", [[]], ["r"]],
        ["the value of the last expression", "o = {\n a: 1\n b: 2\n}\no", { a: 1, b: 2 }],
        ["a loop in a loop", "n = 0\nfor x in input.xs < 2 {\n loop until n > 9 < 3 { n += x }\n}\nn", 9],
        ["a comment after a label", 'use input.a as the text // why\ngenerate({ input: "q" })', "r", [["the text|input.a|abcdef"]], ["r"]],
    ],
    "0.1.5": [
        [
            "max with names and types by pairs",
            'use input.a max 0.002k as two\ngenerate({ input: "q" }) -> {\n ok boolean\n n number\n}',
            { ok: true, n: 1 },
            [["two|input.a|ab"]],
            [{ ok: true, n: "1" }],
        ],
        [
            "a lone name among pairs",
            'generate({ input: "q" }) -> {\n ok boolean\n note\n}',
            { ok: true, note: "n" },
            [[]],
            [{ ok: true, note: "n" }],
        ],
        [
            "lists by pairs",
            'generate({ input: "q" }) -> {\n xs list[list[number]]\n any json\n}',
            { xs: [[1]], any: 2 },
            [[]],
            [{ xs: [["1"]], any: 2 }],
        ],
        ["less than compares", "n = 0\nfor x in input.xs max 3 { if x < 3 { n += x } }\nn", 3],
        ["a loop until less than", "n = 3\nloop until n < 2 max 5 { n -= 1 }\nn", 1],
        ["parallel for", "parallel for x in input.xs max 2 { x - 1 }", [0, 1]],
        [
            "a quoted label",
            'use input.a as "the text"\ngenerate({ input: "q" }) -> { ok boolean }',
            { ok: true },
            [["the text|input.a|abcdef"]],
            [{ ok: true }],
        ],
        ["pairs on one line", 'generate({ input: "q" }) -> { ok boolean  n number }', { ok: true, n: 4 }, [[]], [{ ok: true, n: 4 }]],
        [
            "pairs with comments",
            'generate({ input: "q" }) -> {\n // first\n ok boolean // is it\n\n n number // how many\n}',
            { ok: true, n: 4 },
            [[]],
            [{ ok: true, n: 4 }],
        ],
        [
            "keywords as names of fields",
            'generate({ input: "q" }) -> {\n for string\n list list\n max number\n}',
            { for: "f", list: [], max: 1 },
            [[]],
            [{ for: "f", list: [], max: 1 }],
        ],
    ],
};

async function run(program: Program): Promise<unknown> {
    const { text, value, items, identities, warnings, ...setting } = program;
    const played = await play(text, setting);
    const { prompts } = played;
    return {
        codes: played.codes,
        failure: played.failure?.message,
        value: played.value,
        warnings: [...new Set(played.warnings)].filter((code) => code !== "INSTRUCTION_DATA"),
        ...(items === undefined
            ? {}
            : { items: prompts.map((one) => one.items.map((item) => `${item.heading}|${item.source}|${item.text}`)) }),
        ...(identities === undefined ? {} : { identities: prompts.map(({ identity }) => `${identity.role}/${identity.description}`) }),
    };
}

const expected = ({ value, items, identities, warnings = [] }: Program): unknown => ({
    codes: [],
    failure: undefined,
    value,
    warnings,
    ...(items === undefined ? {} : { items }),
    ...(identities === undefined ? {} : { identities }),
});

describe("the current spelling", () => {
    test.each(Object.entries(CURRENT))("%s", async (_what, program) => {
        expect(await run(program)).toEqual(expected(program));
        const neat = { ...program, text: format(parse(source(program.text))) };
        expect(await run(neat)).toEqual(expected(program));
    });

    test("names are of ASCII letters: others are told once each, and labels may be anything", async () => {
        const played = await play(`${AGENT} main func(input) { größe = 1\n use input as "größe"\n generate({ input: "q" }) } }`);
        expect(played.codes).toEqual(["UNEXPECTED_CHARACTER"]);
    });
});

for (const [release, programs] of Object.entries(OLD))
    describe(`the spelling of ${release}`, () => {
        test.each(programs.map((row) => [row[0], row] as const))("%s", async (_what, row) => {
            const [, body, value, items, replies] = row;
            const text = `${AGENT} main func(input) {\n${body}\n}\n}\n`;
            const program: Program = {
                text,
                input: { a: "abcdef", xs: [1, 2, 3] },
                value,
                ...(items && { items }),
                ...(replies && { replies }),
            };
            const { diagnostics } = parse(source(text));
            const warnings = diagnostics.length > 0 ? ["OLD_SPELLING"] : [];
            expect(await run(program)).toEqual(expected({ ...program, warnings }));
            // Written as it is now it means the same, without a word.
            const fixed = applyFixes(
                text,
                diagnostics.flatMap((one) => one.fixes ?? []),
            );
            expect(await run({ ...program, text: format(parse(source(fixed))) })).toEqual(expected(program));
        });
    });
