/** The grammar, rule by rule: source text and the tree it makes. Nothing here may give a diagnostic. */
import { describe, expect, test } from "vitest";
import type { tree } from "../../src/index.ts";
import { codes, read, readBody, showBody, showClause, showContract, showExpr, showFlow, showRemit } from "./show.ts";

const EXPRESSIONS: readonly (readonly [string, string])[] = [
    // literals
    ["42", "42"],
    ["3.25", "3.25"],
    ["007", "007"],
    ["9007199254740992", "9007199254740992"],
    ["true", "true"],
    ["false", "false"],
    ["none", "none"],
    [`"a"`, `"a"`],
    ["'a'", `"a"`],
    [`'it"s'`, `"it\\"s"`],
    [`"two\nlines"`, `"two\\nlines"`],
    [`"\\n\\r\\t\\\\\\"\\'"`, `"\\n\\r\\t\\\\\\"'"`],
    ['"\\u{41}\\u{1F600}"', `"A😀"`],
    ['"""a"""', '"a"'],
    ['"""\n    a\n      b\n\n    c\n    """', '"a\\n  b\\n\\nc"'],
    ['"""\r\n\ta\r\n\tb\r\n"""', '"a\\nb"'],
    ['"""first\n    second"""', '"first\\nsecond"'],
    ['"""a \\"""b\\n"""', '"a \\"\\"\\"b\\n"'],
    ['"""\n"""', '""'],
    // a token is told by its kind, not by its text
    [`"generate"`, `"generate"`],
    [`["}", ")", "empty"]`, `["}" ")" "empty"]`],
    // lists and objects
    ["[]", "[]"],
    ["[1, 2,]", "[1 2]"],
    ["[...a, 1, ...b]", "[...a 1 ...b]"],
    ["{}", "{}"],
    ["{ a: 1, 'b c': 2, }", "{a:1 b c:2}"],
    ["{ for: 1, if: 2, true: 3 }", "{for:1 if:2 true:3}"],
    ["{ ...a, b: 1 }", "{...a b:1}"],
    // postfix
    ["a.b.c", "(. (. a b) c)"],
    ["a.max.generate", "(. (. a max) generate)"],
    ["a?.b.c", "(. (?. a b) c)"],
    ["a[0][1]", "(@ (@ a 0) 1)"],
    ["f()", "(call f)"],
    ["f(1, a,)", "(call f 1 a)"],
    ["f (1)", "(call f 1)"],
    ["a.f(x)[0].y", "(. (@ (call (. a f) x) 0) y)"],
    ["f(log: a, repo: B)", "(call f log:a repo:B)"],
    ["1.text()", "(call (. 1 text))"],
    ["a\n    .b\n    .c()", "(call (. (. a b) c))"],
    ["a.\nb", "(. a b)"],
    // operators and precedence
    ["1 + 2 * 3", "(+ 1 (* 2 3))"],
    ["1 * 2 + 3", "(+ (* 1 2) 3)"],
    ["1 - 2 - 3", "(- (- 1 2) 3)"],
    ["8 / 4 / 2 % 3", "(% (/ (/ 8 4) 2) 3)"],
    ["a < b == c >= d", "(== (< a b) (>= c d))"],
    ["a < b < c", "(< (< a b) c)"],
    ["a or b and c", "(or a (and b c))"],
    ["a and b or c", "(or (and a b) c)"],
    ["a == b and c != d", "(and (== a b) (!= c d))"],
    ["not a == b", "(== (not a) b)"],
    ["not not a", "(not (not a))"],
    ["not a.b(c)", "(not (call (. a b) c))"],
    ["-1", "(- 1)"],
    ["- a.b", "(- (. a b))"],
    ["1 - -1", "(- 1 (- 1))"],
    ["a--b", "(- a (- b))"],
    ["-2 * 3", "(* (- 2) 3)"],
    ["a ?? b ?? c", "(?? (?? a b) c)"],
    ["a ?? b == c", "(?? a (== b c))"],
    ["a ?? b and c", "(and (?? a b) c)"],
    ["(1 + 2) * 3", "(* <(+ 1 2)> 3)"],
    ["((a))", "<<a>>"],
    ["(a).b", "(. <a> b)"],
    ["a\n+ b\n- c", "(- (+ a b) c)"],
    ["a +\nb", "(+ a b)"],
    ["a\nand b", "(and a b)"],
    ["f(\n    a\n    - b\n)", "(call f (- a b))"],
    // lambdas
    ["x => x", "(\\x x)"],
    ["(x) => x + 1", "(\\x (+ x 1))"],
    ["() => 1", "(\\ 1)"],
    ["(a, b) => a < b", "(\\a,b (< a b))"],
    ["xs.map(x => y => x + y)", "(call (. xs map) (\\x (\\y (+ x y))))"],
    ["[x => x, 1]", "[(\\x x) 1]"],
    ["(x => x)(1)", "(call <(\\x x)> 1)"],
    // if and try in expression position
    ["if a { 1 } else { 2 }", "(if a {1} else {2})"],
    ["if a { 1 } else if b { 2 }", "(if a {1} elif b {2})"],
    ["1 + if a { 1 } else { 2 }", "(+ 1 (if a {1} else {2}))"],
    ["try { f() } catch e { none }", "(try {(call f)} e {none})"],
    ["try { f() } catch { none }", "(try {(call f)} _ {none})"],
    // keywords read as variables
    ["list", "list"],
    ["max + from", "(+ max from)"],
    ["string", "string"],
    ["{ a: in }", "{a:in}"],
    // generate
    [`generate({ input: "q" })`, `(generate input:"q")`],
    [
        `generate({ input: "q", max_output: 2k, attempts: 3, strict: true, })`,
        `(generate input:"q" max_output:2000t attempts:3 strict:true)`,
    ],
    ["generate({ input: x, max_output: 800 })", "(generate input:x max_output:800t)"],
    ["generate({ input: x, max_output: 1.5k tokens })", "(generate input:x max_output:1500t)"],
    ["generate({ input: x, timeout: 30s })", "(generate input:x timeout:30000ms)"],
    ["generate({ input: x, timeout: 500ms, turns: 4 })", "(generate input:x timeout:500ms turns:4)"],
    ["generate({ input: x, timeout: 2 min })", "(generate input:x timeout:120000ms)"],
    ["generate({ input: x, timeout: 1.5h })", "(generate input:x timeout:5400000ms)"],
    ["generate({ input: x, tools: [Repo.read, Search], model: Big })", "(generate input:x tools:[(. Repo read) Search] model:Big)"],
    ["generate({ input: x }) -> { a: string }", "(generate input:x -> {a:string})"],
    ["generate({ input: x }) -> {\n a\n b: list[string]\n}", "(generate input:x -> {a b:list[string]})"],
    ["generate({ input: x }) -> Verdict", "(generate input:x -> Verdict)"],
    ["generate({ input: x }) -> list[Verdict]", "(generate input:x -> list[Verdict])"],
    [`generate({ input: x }) -> "a" | "b"`, `(generate input:x -> (or "a" "b"))`],
    ["generate({ input: x })\n-> { a: string }", "(generate input:x -> {a:string})"],
    ["generate({ input: x }) -> { a: string }.a", "(. (generate input:x -> {a:string}) a)"],
    // parallel for
    ["parallel for x in xs max 3 { x }", "(parallel x xs 3 {x})"],
    ["parallel for x in xs max 3 stop after 2 failures { x }", "(parallel x xs 3 stop:2 {x})"],
    ["parallel for x in xs max 3 stop after 1 failure { stop }", "(parallel x xs 3 stop:1 {stop})"],
    ["parallel for x in xs max 3 { y = 1 y }.length", "(. (parallel x xs 3 {(= y 1) y}) length)"],
];

describe("expressions", () => {
    test.each(EXPRESSIONS)("%s", (text, tree) => {
        const file = readBody(`value = ${text}`);
        expect([codes(file), showBody(file)]).toEqual(["", `(= value ${tree})`]);
    });
});

const STATEMENTS: readonly (readonly [string, string])[] = [
    ["", ""],
    ["a b c", "a b c"],
    ["a\nb", "a b"],
    ["x = 1 y = 2", "(= x 1) (= y 2)"],
    ["x += 1", "(+= x 1)"],
    ["x -= 1", "(-= x 1)"],
    ["x\n=\n1", "(= x 1)"],
    ["a.b.c = 1", "(= (. (. a b) c) 1)"],
    ["a[0] = 1", "(= (@ a 0) 1)"],
    ["a[0].b[1] += x", "(+= (@ (. (@ a 0) b) 1) x)"],
    ["{ a: 1 }", "{a:1}"],
    ["x = y { a: 1 }", "(= x y) {a:1}"],
    ["return x", "(return x)"],
    ["return\nx", "(return x)"],
    ["return none", "(return none)"],
    ["model M", "(model M)"],
    ["model M.x\nrole 'r' description \"d\"", `(model (. M x)) (role "r") (description "d")`],
    ["repeat * 3 { a }", "(repeat 3 {a})"],
    ["for x in xs max 3 { x }", "(for x xs 3 {x})"],
    ["for x in a.b(c) max 3 {}", "(for x (call (. a b) c) 3 {})"],
    ["for list in max max 3 {}", "(for list max 3 {})"],
    ["loop until a > 3 max 10 { a += 1 }", "(loop (> a 3) 10 {(+= a 1)})"],
    ["if a { b }", "(if a {b})"],
    ["if a { b } else { c }", "(if a {b} else {c})"],
    ["if a { b } else if c { d } else if e { f } else { g }", "(if a {b} elif c {d} elif e {f} else {g})"],
    ["if a { b }\nelse { c }", "(if a {b} else {c})"],
    ["if { a: 1 } { b }", "(if {a:1} {b})"],
    ["if a { }\n-1", "(if a {}) (- 1)"],
    ["try { f() } catch failure { raise failure.message }", "(try {(call f)} failure {(raise (. failure message))})"],
    ["try { x = 1 }\ncatch { }", "(try {(= x 1)} _ {})"],
    ['raise "no"', `(raise "no")`],
    ["raise { kind: 1 }", "(raise {kind:1})"],
    ["raise (x)", "(raise <x>)"],
    ["raise -1", "(raise (- 1))"],
    ["loop until false max 3 { break }", "(loop false 3 {BREAK})"],
    ["loop until false max 3 { if a { continue } break }", "(loop false 3 {(if a {CONTINUE}) BREAK})"],
    ["break\nx", "BREAK x"],
    ["if a { debugger } debugger", "(if a {DEBUGGER}) DEBUGGER"],
    // use
    ["use x", "(use x)"],
    ["use x max 4k", "(use x max:4000c)"],
    ["use x max 2.3k", "(use x max:2300c)"],
    ["use x max 500 as y", "(use x max:500c as:y)"],
    ["use x as user", "(use x as:user)"],
    ["use x as max", "(use x as:max)"],
    [`use x.y as "past observations"`, `(use (. x y) as:"past observations")`],
    ["use x\nmax 2k\nas y", "(use x max:2000c as:y)"],
    ["use x as y\nz", "(use x as:y) z"],
    ["if a { use x as y }", "(if a {(use x as:y)})"],
    ["use x < 200", "(use (< x 200))"],
    ["use a + b max 3", "(use (+ a b) max:3c)"],
    ["use x max 4k tokens", "(use x max:4000t)"],
    ["use x max 4k tokens keep end", "(use x max:4000t-end)"],
    ["use x max 4k keep end as y", "(use x max:4000c-end as:y)"],
    ["use x max 4k keep start", "(use x max:4000c)"],
    ['use x max 4k tokens keep end priority 3 as "y z"', `(use x max:4000t-end priority:3 as:"y z")`],
    ["use x priority 2", "(use x priority:2)"],
    ["use x priority 2 as y", "(use x priority:2 as:y)"],
    ["use image pic", "(use-image pic)"],
    ['use image "a.png" as shot', `(use-image "a.png" as:shot)`],
    ["use image pics[0]", "(use-image (@ pics 0))"],
    ["use one of {\n a: x\n b: y\n} as l", "(use-one a:x b:y as:l)"],
    ["use one of {\n none: empty\n c: x.y max 500\n v: z max 4k selected\n} as ev", "(use-one none:EMPTY c:(. x y)<500c v:z<4000c! as:ev)"],
    ["use one of {\n a: empty selected\n b: selected\n} as l", "(use-one a:EMPTY! b:selected as:l)"],
    ['use one of {\n a: "empty"\n b: y max 2k tokens keep end\n} priority 3 as l', `(use-one a:"empty" b:y<2000t-end priority:3 as:l)`],
    ["context max 20k tokens", "(context 20000t)"],
    ["context max 500", "(context 500c)"],
    // comments
    ["a // b\nc", "a c"],
    ["a /* b */ c /* d\ne */ f", "a c f"],
    ["a /* + */ - /* x */ b", "(- a b)"],
];

describe("statements", () => {
    test.each(STATEMENTS)("%s", (text, tree) => {
        const file = readBody(text);
        expect([codes(file), showBody(file)]).toEqual(["", tree]);
    });
});

const CONTRACTS: readonly (readonly [string, string])[] = [
    ["string", "string"],
    ["none", "none"],
    ["list", "list"],
    ["list[string]", "list[string]"],
    ["list[list[json]]", "list[list[json]]"],
    ["{}", "{}"],
    ["{ a: string }", "{a:string}"],
    ["{ a: string, b: number, }", "{a:string b:number}"],
    ["{\n a: string\n\n b\n}", "{a:string b}"],
    ["{ a?: string, b? }", "{a?:string b?}"],
    ["{ for: string, type: number }", "{for:string type:number}"],
    ['{ a: string = "x", b: number = -1, c: list[string] = [] }', `{a:string="x" b:number=(- 1) c:list[string]=[]}`],
    ['{ a: string "what it is"\n b "lone" }', "{a:string//what it is b//lone}"],
    ['{ a: number = 1 "d" }', "{a:number=1//d}"],
    ["{ a: { b: { c: boolean } } }", "{a:{b:{c:boolean}}}"],
    [`"low" | "high"`, `(or "low" "high")`],
    [`{ s: "low"\n | "high"\n t: string }`, `{s:(or "low" "high") t:string}`],
    ["1 | -2 | true | none", "(or 1 -2 true none)"],
    ["string?", "(opt string)"],
    ["list[string?]?", "(opt list[(opt string)])"],
    ["(string | number)?", "(opt (or string number))"],
    ["string | number?", "(or string (opt number))"],
    ["Verdict", "Verdict"],
    ["{ 'content-type': string }", "{content-type:string}"],
];

describe("contracts", () => {
    test.each(CONTRACTS)("%s", (text, tree) => {
        const file = read(`shape S ${text}`);
        expect([codes(file), showContract((file.items[0] as tree.ShapeDecl).contract)]).toEqual(["", tree]);
    });
});

function showParams(func: tree.Func): string {
    const params = func.params.map(
        (p) => p.name.text + (p.contract ? `:${showContract(p.contract)}` : "") + (p.default ? `=${showExpr(p.default)}` : ""),
    );
    return `${func.main ? "main " : ""}${func.name?.text ?? "_"}(${params.join(" ")})${func.result ? showContract(func.result) : ""}`;
}

function showItem(item: tree.Item): string {
    switch (item.kind) {
        case "import": {
            const clauses = item.clauses?.map(showClause);
            const more = `${item.unconfined ? " unconfined" : ""}${item.remit ? ` remit${showRemit(item.remit)}` : ""}`;
            return `import ${item.what} ${item.name.text} ${item.uri.value}${more}${clauses ? ` {${clauses.join(" ")}}` : ""}`;
        }
        case "shape":
            return `shape ${item.name.text} ${showContract(item.contract)}`;
        case "func":
            return showParams(item);
        case "remit":
            return `remit ${item.name.text}${showRemit(item.body)}`;
        case "flow":
            return "flow strict";
        case "block":
            return showFlow(item);
        case "agent":
            return `${item.main ? "main " : ""}${item.name?.text ?? "_"}{${[...(item.remit ? [`remit${showRemit(item.remit)}`] : []), ...item.config.map((line) => line.kind), ...item.funcs.map(showParams)].join(" ")}}`;
    }
}

const ITEMS: readonly (readonly [string, string])[] = [
    ["", ""],
    ["\ufeff// only a comment", ""],
    [`import tool A from "file://workspace"`, "import tool A file://workspace"],
    [`import llm A from 'openai://x' import file B from "./b.md"`, "import llm A openai://x|import file B ./b.md"],
    [`import memory from from "file://m.jsonl"`, "import memory from file://m.jsonl"],
    [`import agent agent from "./w.as"`, "import agent agent ./w.as"],
    [`import skill Triage from "./skills/triage"`, "import skill Triage ./skills/triage"],
    [`import tool Mail from "mcp://mail" { send: ask, arg to: trusted }`, "import tool Mail mcp://mail {send:ask arg to:trusted}"],
    [`import tool Mail from "mcp://mail" {\n arg: ask\n read: may\n}`, "import tool Mail mcp://mail {arg:ask read:may}"],
    ["shape S { a: string }", "shape S {a:string}"],
    ['shape Level "low" | "high"', `shape Level (or "low" "high")`],
    ["func f() {}", "f()"],
    ["func f(a, b,) {}", "f(a b)"],
    ["func for(if, in) {}", "for(if in)"],
    ["main func(input { a: string }) {}", "main _(input:{a:string})"],
    [
        'func f(a: string, b number = 1, c = "x", d: list[string]?) -> list[S] {}',
        `f(a:string b:number=1 c="x" d:(opt list[string]))list[S]`,
    ],
    ["agent A {}", "A{}"],
    ["main agent {}", "main _{}"],
    [
        'main agent A { model M role "r" description "d" use F as f\ncontext max 2k main func() {} func g(x) {} }',
        "main A{config config config use context main _() g(x)}",
    ],
    [
        "agent shape {} func remit() {} func memory() {} agent temporal {} func test() {} shape shape {}",
        "shape{}|remit()|memory()|temporal{}|test()|shape shape {}",
    ],
    [`agent A { func f() {} }\nimport llm M from "local:"\nfunc g() {}`, "A{f()}|import llm M local:|g()"],
];

describe("files", () => {
    test.each(ITEMS)("%s", (text, tree) => {
        const file = read(text);
        expect([codes(file), file.items.map(showItem).join("|")]).toEqual(["", tree]);
    });
});

test("line breaks of every kind are read alike", () => {
    const text =
        'main agent M {\n    main func(x) {\n        // c\n        y = [\n            1,\n            2\n        ]\n        use y as "a"\n        z\n    }\n}\n';
    const shape = (t: string) => JSON.stringify(read(t).items, (key, value) => (key === "range" ? undefined : value));
    expect(shape(text.replaceAll("\n", "\r\n"))).toBe(shape(text));
    expect(shape(text.replaceAll("\n", "\r"))).toBe(shape(text));
});

test("ranges begin and end with the tokens of their node", () => {
    const file = readBody("x = f(a, [1, 2]).b + -c");
    const text = file.source.text;
    const statement = (file.items[0] as tree.Func).body.statements[0] as tree.Assign;
    const at = (node: { range: { start: number; end: number } }) => text.slice(node.range.start, node.range.end);
    const sum = statement.value as tree.Binary;
    const member = sum.left as tree.Member;
    const call = member.object as tree.Call;
    expect([at(statement), at(sum), at(member), at(call), at(sum.right)]).toEqual([
        "x = f(a, [1, 2]).b + -c",
        "f(a, [1, 2]).b + -c",
        "f(a, [1, 2]).b",
        "f(a, [1, 2])",
        "-c",
    ]);
    expect(call.args.map(at)).toEqual(["a", "[1, 2]"]);
    expect(at(file.items[0] as tree.Func)).toBe(text);
});

test("comments are kept in order, with whether they have their line to themselves", () => {
    const file = read("// a\nfunc f() { // b\n    /* c */ x /* d\n e */\n}\n// f");
    expect(file.comments.map((comment) => [comment.text, comment.ownLine])).toEqual([
        ["// a", true],
        ["// b", false],
        ["/* c */", true],
        ["/* d\n e */", false],
        ["// f", true],
    ]);
});
