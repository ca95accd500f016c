/** Sections 1.1 and 1.2: lexis and grammar of AgentScript's current spelling, as whole programs. */
import { is, refused, rules, runs } from "./cases.ts";

const raw = String.raw;

rules("1.1 whitespace and comments", [
    ["newlines carry no meaning between statements", "a = 1 b = 2 a + b", is(3)],
    ["tabs, CR and LF are whitespace", "a = 1\r\n\tb = 2\r\n\ta\r\n\t+\r\n\tb", is(3)],
    ["a bare CR separates too", "a = 1\rb = 2\ra + b", is(3)],
    ["a comment ends with the line", "a = 1 // a = 2\na // }", is(1)],
    [
        "comments stand everywhere",
        "a // x\n= // x\n[ // x\n1 // x\n, // x\n2 // x\n] // x\nif // x\na // x\n{ // x\na // x\n. // x\nadd(3) // x\n} // x\na",
        is([1, 2, 3]),
    ],
    ["a comment at the end of the text without a newline", "main agent A { main func(input) { 1 } } // the end", is(1)],
    ["a comment mark inside a string is text", 'u = "http://x" u', is("http://x")],
    ["statements on one line", "x = [] x.add(1) x.add(2) x", is([1, 2])],
]);

rules("1.1 identifiers and keywords", [
    ["letters, digits and underscore", "_a1 = 1 B_2 = 2 _a1 + B_2", is(3)],
    ["case matters", "a = 1 A_ = 2 a", is(1)],
    [
        "keywords as variables",
        "list = [1] max = 2 import = 3 string = 4 main = 5 agent = 6 until = 7 list[0] + max + import + string + main + agent + until",
        is(28),
    ],
    [
        "more keywords as variables",
        "func = 1 number = 2 boolean = 3 json = 4 from = 5 as = 6 in = 7 one = 8 of = 9 empty = 10 selected = 11 func + number + boolean + json + from + as + in + one + of + empty + selected",
        is(66),
    ],
    [
        "keywords as properties",
        "o = { for: 1, if: 2, use: 3, none: 4, generate: 5, return: 6 } o.for + o.if + o.use + o.none + o.generate + o.return",
        is(21),
    ],
    ["a keyword as property that is written", "o = {} o.max = 1 o.model = 2 o.role = 3 o", is({ max: 1, model: 2, role: 3 })],
    [
        "keywords as parameters",
        "agent A { main func(list) { pick(list, 2) } func pick(for, max) { x = for.max + max x } }",
        is(3),
        { input: { max: 1 } },
    ],
    [
        "keywords as names of agents, functions and imports",
        'import tool max from "env://process"\nmain agent list { main func(input) { json(1) } func json(x) { number.string(x) } }\nagent number { func string(x) { x + max.get({ name: "N" }).value } }',
        is("15"),
        { env: { N: "5" } },
    ],
    [
        "keywords as labels",
        'use input.a as for\nuse input.b as max\nuse input.c as user\ngenerate({ input: "q" })',
        { value: "r", items: [["for|input.a|1", "max|input.b|2", "user|input.c|3"]] },
        { input: { a: 1, b: 2, c: 3 }, replies: ["r"] },
    ],
    ["a keyword as loop variable", "n = 0 for list in [1, 2] max 5 { n += list } n", is(3)],
    [
        "a keyword in a contract",
        'generate({ input: "q" }) -> {\n for: number\n max\n list: list[number]\n}',
        is({ for: 1, max: "m", list: [2] }),
        { replies: [{ for: 1, max: "m", list: [2] }] },
    ],
    [
        "Remit's own words stay names",
        "shape = 1 remit = 2 try = 3 catch = 4 raise = 5 test = 6 with = 7 keep = 8 priority = 9 tokens = 10 delegate = 11 skill = 12 shape + remit + try + catch + raise + test + with + keep + priority + tokens + delegate + skill",
        is(78),
    ],
    ["break and continue that are bound stay names", "break = 1 continue = 2 break + continue", is(3)],
    [
        "functions called like Remit's words",
        "agent A { main func(input) { raise(1) + try(2) + shape(3) + text(4) + number(5) } func raise(x) { x } func try(x) { x } func shape(x) { x } func text(x) { x * 10 } func number(x) { x * 100 } }",
        is(546),
    ],
    ["a variable called like a built-in", "json = { parse: 1 } text = 2 number = 3 json.parse + text + number", is(6)],
    ["model, role, description are reserved at the start of a statement", 'role = "x"', { codes: "SYNTAX" }],
    ["they are names elsewhere", "o = { role: 1 } a = [o.role] a", is([1])],
    ["no hyphen in identifiers", "a = 5 b = 2 a-b", is(3)],
]);

rules("1.1 strings", [
    ["double and single quotes", `"a" + 'b'`, is("ab")],
    ["the other quote is text", `"it's" + 'a "b"'`, is('it\'sa "b"')],
    ["raw newlines", '"a\nb\n  c"', is("a\nb\n  c")],
    ["raw newlines in single quotes", "'a\nb'", is("a\nb")],
    ["escapes", raw`"\n\r\t\\\"\'"`, is("\n\r\t\\\"'")],
    ["any other escaped character stands for itself", raw`"\a\z\/"`, { ...is("az/"), warns: "UNKNOWN_ESCAPE" }],
    ["no interpolation", 'x = 1 "{x} ${x} $x"', is("{x} ${x} $x")],
    [
        "a string equal to a keyword or symbol is a string",
        's = "generate" t = "}" u = "{"\n[s, t, u, "empty", "use", "("]',
        is(["generate", "}", "{", "empty", "use", "("]),
    ],
    [
        'a string "empty" as a candidate value',
        'use one of {\n a: "empty"\n b: "x"\n} as l\ngenerate({ input: "q" })',
        { items: [['l|"empty"|empty']], value: "r" },
        { replies: ["r"] },
    ],
    ["an unterminated string is an error", 'x = "abc', refused("UNTERMINATED_STRING")],
    ["text beyond ASCII", '"é漢😀"', is("é漢😀")],
    ["an empty string", "''", is("")],
]);

rules("1.1 numbers", [
    ["digits and a fraction", "[0, 7, 1.5, 0.25, 007]", is([0, 7, 1.5, 0.25, 7])],
    ["a unit on an expression's number is an error", "2k", refused("INVALID_NUMBER")],
    ["a unit is glued to its number", "x = 300ms", refused("INVALID_NUMBER")],
    ["no exponent", "1e3", refused("INVALID_NUMBER")],
    ["no hex", "0x10", refused("INVALID_NUMBER")],
    ["no underscore", "1_000", refused("INVALID_NUMBER")],
    ["minus is written as a difference", "0 - 1", is(-1)],
    ["a member after a number's digits needs them", "[1, 2].length", is(2)],
]);

rules("1.2 expressions", [
    [
        "precedence: or, and, equality, comparison, sum, product, not",
        "[1 + 2 * 3, 1 + 4 / 2, not 0 == 1, 1 < 2 == true, 1 or 0 and 0, 2 + 3 < 4 + 2]",
        is([7, 3, false, true, true, true]),
    ],
    ["not binds closer than equality", "not true == false", is(true)],
    ["left-associative", "[10 - 3 - 2, 16 / 4 / 2, 2 - 3 + 4]", is([5, 2, 3])],
    ["comparisons chain and then fail on types", "x = 1 x < 2 < 3", { codes: "INVALID_OPERAND" }],
    ["an expression goes on over a newline before an operator", "a = 1\n+ 2\n* 3\na", is(7)],
    ["… before a dot", "xs = []\nxs\n.add(1)\n.add(2)\nxs", is([1, 2])],
    ["… after an operator", "1 +\n2", is(3)],
    ["… with a leading minus", "a = 5\n- 2\na", is(3)],
    ["a brace at the start of a statement is an object", "{ a: 1 }", is({ a: 1 })],
    ["an object among statements", "x = 1 { a: x } x", is(1)],
    ["an empty object", "{}", is({})],
    ["keys: names, keywords, strings", "{ a: 1, for: 2, 'c d': 3, \"e\": 4 }", is({ a: 1, for: 2, "c d": 3, e: 4 })],
    ["trailing commas", "agent A { main func(input,) { f(1, 2,) } func f(a, b,) { [a, b, { c: 3, },] } }", is([1, 2, { c: 3 }])],
    ["calls, members and indices chain", "agent A { main func(input) { f({ a: [[1, 2]] }).a[0][1] } func f(x) { x } }", is(2)],
    ["a call on the result of a call is refused", "agent A { main func(input) { f()() } func f() { 1 } }", refused("NOT_CALLABLE")],
    ["a call on an item is refused", "xs = [1] xs[0]()", refused("NOT_CALLABLE")],
    ["calling a local is refused", "x = 1 x()", refused("NOT_CALLABLE")],
]);

rules("1.2 statements", [
    ["return always has an expression", "return none", is(null)],
    ["an assignment's target is a name or a member", "1 = 2", { codes: "INVALID_ASSIGNMENT_TARGET" }],
    ["if and else", 'if input.a { x = 1 return x } else { return "no" }', is("no"), { input: { a: 0 } }],
    ["else if is written nested in the original", "x = 3 y = 0 if x == 1 { y = 1 } else { if x == 3 { y = 2 } } y", is(2)],
    ["limits are integer literals: a name is none", "n = 3 for x in [1] max n { x }", { codes: "SYNTAX" }],
    ["limits are mandatory", "for x in [1] { x }", { codes: "SYNTAX" }],
    ["a loop needs its limit", "loop until true { 1 }", { codes: "SYNTAX" }],
    ["for needs more than 0", "for x in [1] max 0 { x }", refused("INVALID_ITERATION_LIMIT")],
    ["parallel for needs more than 0", "parallel for x in [1] max 0 { x }", refused("INVALID_PARALLEL_FOR_LIMIT")],
    ["a fraction is no limit", "for x in [1] max 1.5 { x }", { codes: "INVALID_ITERATION_LIMIT" }],
    ["empty blocks", "if true { } else { } repeat * 2 { } for x in [1] max 1 { } loop until true max 1 { } 1", is(1)],
    ["an agent's config and use stand before its functions", 'main agent A { main func(input) { 1 } role "x" }', { codes: "SYNTAX" }],
    ["an unnamed agent needs main", "agent { main func(input) { 1 } }", { codes: "SYNTAX" }],
    ["an unnamed function needs main", "agent A { func(input) { 1 } main func m(x) { x } }", { codes: "SYNTAX" }],
    [
        "imports and agents in any order",
        'main agent A { main func(input) { E.get({ name: "N" }).value } }\nimport tool E from "env://process"',
        is("5"),
        { env: { N: "5" } },
    ],
    ["a program of comments and imports alone has no agent", 'import llm M from "mock:"\n// nothing', { codes: "MISSING_MAIN_AGENT" }],
    ["every error of a file is told at once", "x = nope y = other z(1)", refused("UNKNOWN_IDENTIFIER UNKNOWN_IDENTIFIER UNKNOWN_FUNCTION")],
]);

rules("1.2 use and labels", [
    [
        "a label ends its line",
        'use input.a as q\nuse input.b as r\ngenerate({ input: "x" })',
        { items: [["q|input.a|1", "r|input.b|2"]] },
        { input: { a: 1, b: 2 }, replies: ["r"] },
    ],
    ["a label may be followed by a brace", "if true { use input.a as q }\n1", runs, { input: { a: 1 } }],
    [
        "a label may be a string",
        'use input.a as "the q"\ngenerate({ input: "x" })',
        { items: [["the q|input.a|1"]] },
        { input: { a: 1 }, replies: ["r"] },
    ],
    [
        "a comment may follow a label",
        'use input.a as q // why\ngenerate({ input: "x" })',
        { items: [["q|input.a|1"]] },
        { input: { a: 1 }, replies: ["r"] },
    ],
    [
        "use without a label needs no newline",
        'use input.a use input.b generate({ input: "x" })',
        { items: [["0|input.a|1", "1|input.b|2"]] },
        { input: { a: 1, b: 2 }, replies: ["r"] },
    ],
    [
        "a budget with a fraction",
        'use input.a max 0.005k\ngenerate({ input: "x" })',
        { items: [["0|input.a|abcde"]] },
        { input: { a: "abcdefgh" }, replies: ["r"] },
    ],
    ["as before max was never accepted", "use input.a as q max 2k\n1", { codes: "SYNTAX" }],
    ["one of: fewer than two candidates", "use one of {\n a: input.a\n} as q\n1", refused("INVALID_USE_ONE_OF")],
    ["one of: the label is mandatory", "use one of {\n a: input.a\n b: empty\n}\n1", refused("SYNTAX")],
    ["one of: no commas", "use one of {\n a: input.a,\n b: empty\n} as q\n1", { codes: "SYNTAX" }],
    [
        "one as an ordinary name after use",
        'one = input.a use one generate({ input: "x" })',
        { items: [["0|one|1"]] },
        { input: { a: 1 }, replies: ["r"] },
    ],
    [
        "contract entries: commas are an error of the original, read here",
        'generate({ input: "x" }) -> { a: string, b: number }',
        is({ a: "s", b: 1 }),
        { replies: [{ a: "s", b: 1 }] },
    ],
    ["contract: an unknown type", 'generate({ input: "x" }) -> {\n a: text\n}', refused("UNKNOWN_CONTRACT_TYPE")],
    ["contract: an empty one", 'generate({ input: "x" }) -> {}', is({}), { replies: ["{}"] }],
    ["generate: max_output takes a budget literal", 'generate({ input: "x", max_output: 2k })', is("r"), { replies: ["r"] }],
    ["generate: trailing comma, any order, keyword keys", 'generate({ attempts: 2, input: "x", })', is("r"), { replies: ["r"] }],
    ["generate needs braces", 'generate("x")', refused("SYNTAX")],
]);
