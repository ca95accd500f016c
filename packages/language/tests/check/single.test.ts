/** One mistake, one error: at the place of the mistake, with words that say what to do. */
import { expect, test } from "vitest";
import { check, CODES, loadProgram, position } from "../../src/index.ts";
import { run } from "./cases.ts";

/** Before the body, which begins on line 10. */
const HEAD = `import llm M from "mock:"
import tool Repo from "file://workspace"
import memory Notes from "file://notes.jsonl"
import file Doc from "./doc.md"
main agent A {
    model M
    role "r"
    description "d"
    main func(input, xs) {
`;
const TAIL = "\n    }\n    func id(x) { x }\n}\n";
const ASK = '\ngenerate({ input: "x" })';

/** Around the range of a bound, which begins at column 67. */
const BOUND = 'import tool Pay from "mcp://p" agent A { remit { may Pay.go in n:';
const REST = "} main func(x) { Pay.go({ n: x }) } }";

/** Body; line of the body (0: the first) and column; code; a part of the message or of the advice. */
type Row = readonly [body: string, line: number, column: number, code: string, advice: string];

const BODIES: readonly Row[] = [
    [`use one of {\n a: input\n b: empty\n}${ASK}`, 3, 2, "SYNTAX", "Write `} as evidence` after the candidates."],
    [`use one of {\n a: input\n} as e${ASK}`, 0, 1, "INVALID_USE_ONE_OF", "needs at least two candidates"],
    [`use one of {\n a: input,\n b: empty\n} as e${ASK}`, 1, 10, "SYNTAX", "Candidates are separated by line breaks"],
    [`use one of { a: input b: empty } as e${ASK}`, 0, 23, "SYNTAX", "Expected a new line between candidates"],
    [`use one of {\n a\n b: empty\n} as e${ASK}`, 1, 3, "SYNTAX", "Write `name: expression` or `name: empty`."],
    [`use one of {\n a: input\n a: empty\n} as e${ASK}`, 2, 2, "DUPLICATE_USE_ONE_OF_CANDIDATE", "two candidates are called 'a'"],
    ['x = id("Dear {input}`, input)\ny = "b"\n[x, y]', 0, 8, "UNTERMINATED_STRING", 'Close it with `"`'],
    ['x = id(`Dear {input}", input)\ny = "b"\n[x, y]', 0, 8, "UNTERMINATED_STRING", "Close it with a backtick"],
    ['x = `Dear {input}"\ny = `Bye {input}`\n[x, y]', 0, 5, "UNTERMINATED_STRING", "Close it with a backtick"],
    ['x = `Dear {input}"\ny = "b"\nz = `x`\n[x, y, z]', 0, 5, "UNTERMINATED_STRING", "Close it with a backtick"],
    ["x = `Dear {input}'\ny = { a: `b {input}` }\n[x, y]", 0, 5, "UNTERMINATED_STRING", "Close it with a backtick"],
    ['w = `a\n{input}`\nx = `Dear {input}"\ny = `Bye {input}`\n[w, x, y]', 2, 5, "UNTERMINATED_STRING", "Close it with a backtick"],
    ["x = { [input]: 1 }", 0, 7, "SYNTAX", "`made[key] = value`"],
    ["x = input?[0]", 0, 10, "SYNTAX", "`x.get(key)` gives none"],
    ["x = input?.[0]", 0, 12, "SYNTAX", "`x.get(key)` gives none"],
    ['x = "a;b".csv()', 0, 11, "UNKNOWN_METHOD", 'csv.parse(text, ";")'],
    ['generate("x")', 0, 10, "SYNTAX", 'Write `generate({ input: "…" })`.'],
    ["generate(input)", 0, 10, "SYNTAX", 'Write `generate({ input: "…" })`.'],
    ["generate()", 0, 10, "SYNTAX", 'Write `generate({ input: "…" })`.'],
    ['generate { input: "x" }', 0, 10, "SYNTAX", 'Write `generate({ input: "…" })`.'],
    ['generate(input: "x")', 0, 10, "SYNTAX", 'Write `generate({ input: "…" })`.'],
    ["generate({})", 0, 1, "INVALID_GENERATE_INPUT", 'write generate({ input: "…" })'],
    ['generate({ input: "x" }\nid(1)', 0, 24, "SYNTAX", "The bracket `(` was opened on line 10."],
    ['generate({ input: "x" )', 0, 23, "SYNTAX", "Expected `,` or `}`"],
    ['generate({ input: "x" attempts: 2 })', 0, 23, "SYNTAX", "Insert a comma"],
    ['generate({ input: "x", tempreature: 1 })', 0, 24, "UNKNOWN_GENERATE_OPTION", "did you mean 'temperature'?"],
    ['x = generate({ input: "x" }) -> {\n a:\n b: number\n}\nx', 1, 4, "SYNTAX", "A contract is `string`"],
    ['x = generate({ input: "x" }) -> {\n a: int\n}\nx', 1, 5, "UNKNOWN_CONTRACT_TYPE", "did you mean 'number'?"],
    ['x = generate({ input: "x" }) -> {\n a: list<string>\n}\nx', 1, 5, "SYNTAX", "A list is written `list[string]`."],
    [`use input as system${ASK}`, 0, 14, "RESERVED_CONTEXT_LABEL", "choose another label"],
    [`use input as a max 2k${ASK}`, 0, 16, "SYNTAX", "The order is: expression, `max`, `keep`, `priority`, `as`."],
    [`use input max${ASK}`, 0, 14, "SYNTAX", "A budget is a number"],
    [`use input as${ASK}`, 0, 13, "SYNTAX", "A label is one name, or text in quotes"],
    [`use input max 2K${ASK}`, 0, 15, "INVALID_BUDGET_UNIT", "write 2k"],
    [`use input max 2k keep middle as a${ASK}`, 0, 23, "SYNTAX", "Expected `start` or `end` after `keep`"],
    [`use id(input)${ASK}`, 0, 5, "INVALID_USE_CALL", "assign the result to a name first"],
    [`use Repo${ASK}`, 0, 5, "INVALID_USE_RESOURCE", "use data that was got from it"],
    ["context 3k", 0, 9, "SYNTAX", "Write `context max 20k tokens`."],
    ["if input = 1 { id(1) }", 0, 10, "SYNTAX", "compare with `==`"],
    ["if input is none { id(1) }", 0, 10, "SYNTAX", "Compare with `==`."],
    ["if input is not none { id(1) }", 0, 10, "SYNTAX", "Compare with `!=`."],
    ["if input then { id(1) }", 0, 10, "SYNTAX", "Leave `then` out"],
    ["x = input <> 1\nid(x)", 0, 12, "SYNTAX", "Write `!=`."],
    ["x = 1\nx =+ 2", 1, 4, "SYNTAX", "Write `x += 1`"],
    ["id({ a: 1 if input else 2 })", 0, 11, "SYNTAX", "`if a { b } else { c }`"],
    ["x = max(1, ...xs)\nid(x)", 0, 12, "SYNTAX", "`xs.reduce((most, x) => max(most, x), xs[0])`"],
    ["id({ **input })", 0, 6, "SYNTAX", "`{ ...other, key: value }`"],
    ["paths == input\nid(paths)", 0, 1, "UNKNOWN_IDENTIFIER", "paths = …"],
    ["inptu == 1\nid(input)", 0, 1, "UNKNOWN_IDENTIFIER", "did you mean 'input'"],
    ['x = "abc\nid(x)', 0, 5, "UNTERMINATED_STRING", 'Close it with `"`.'],
    ["# comment\nid(1)", 0, 1, "UNEXPECTED_CHARACTER", "Write `//` instead of `#`."],
    ["id(@)", 0, 4, "UNEXPECTED_CHARACTER", "means nothing here"],
    ["id(input && xs)", 0, 10, "UNEXPECTED_CHARACTER", "Write `and`."],
    ["id(input || xs)", 0, 10, "UNEXPECTED_CHARACTER", "Write `or`."],
    ["id(input === 1)", 0, 10, "UNEXPECTED_CHARACTER", "Write `==`."],
    ["id(!input)", 0, 4, "SYNTAX", "Write `not` for a negation."],
    ["x = 1\nx++", 1, 3, "SYNTAX", "Write `x += 1`."],
    ["x = 1\nx *= 2", 1, 4, "SYNTAX", "only `+=` and `-=` join with it"],
    ["x = y = 1\nid(x)", 0, 7, "SYNTAX", "Expected a statement"],
    ["x =\ny = 1\nid(y)", 0, 4, "SYNTAX", "Expected a value after `=`"],
    ["x = 1 +\n", 0, 8, "SYNTAX", "Expected an expression"],
    ["x = input.\n", 0, 11, "SYNTAX", "Expected a property name after the dot"],
    ["x = xs.0\nid(x)", 0, 8, "SYNTAX", "read with an index"],
    ["x = [1, 2\nid(x)", 0, 10, "SYNTAX", "Expected `,` or `]`"],
    ["x = { a 1 }\nid(x)", 0, 9, "SYNTAX", "Expected `:` after the key `a`"],
    ["x = 1.\nid(x)", 0, 7, "SYNTAX", "Leave the point out"],
    ["x = .5\nid(x)", 0, 5, "SYNTAX", "A number begins with a digit: `0.5`."],
    ["x = 1e5\nid(x)", 0, 5, "INVALID_NUMBER", "Write the number out in decimal digits."],
    ["x = input ? 1 : 2\nid(x)", 0, 11, "SYNTAX", "A choice is written `if a { b } else { c }`."],
    ["x = [1].map((a) -> a)\nid(x)", 0, 17, "SYNTAX", "Write `(x) => x.name`."],
    ["let x = 1\nid(x)", 0, 1, "SYNTAX", "Leave the word out"],
    ["while input { id(1) }", 0, 1, "SYNTAX", "Write `loop until done max 10 { … }`"],
    ["if input { id(1) } elseif xs { id(2) }", 0, 20, "SYNTAX", "Write `else if x { … }`."],
    ["func f(x) { x }\nid(1)", 0, 1, "SYNTAX", "Move it out of this function"],
    ["throw input", 0, 1, "SYNTAX", "Write `raise`."],
    ["id(null)", 0, 4, "UNKNOWN_IDENTIFIER", "write none"],
    ["x = await id(1)\nid(x)", 0, 5, "UNKNOWN_IDENTIFIER", "a call waits for its result"],
    ["if input { return }\nid(1)", 0, 19, "SYNTAX", "Write `return none` to return nothing."],
    ["use xs maximum 4k as items\nid(1)", 0, 8, "SYNTAX", "A budget is written with `max`: `use log max 4k`."],
    ["for x in xs { id(x) }", 0, 13, "SYNTAX", "Every `for` names its limit"],
    ["for x in xs max input { id(x) }", 0, 17, "SYNTAX", "names its limit as a number"],
    ["for x of xs max 3 { id(x) }", 0, 7, "SYNTAX", "Write `for x in items max 10 { … }`."],
    ["repeat 3 { id(1) }", 0, 8, "SYNTAX", "Write `repeat * 3 { … }`."],
    ["repeat * 2k { id(1) }", 0, 10, "INVALID_NUMBER", "Write `repeat * 3 { … }`."],
    ["r = parallel xs max 3 { 1 }\nid(r)", 0, 14, "SYNTAX", "Write `parallel for item in items max 10 { … }`."],
    ["parallel for x in xs max 3 { y = x }", 0, 30, "INVALID_PARALLEL_FOR_BODY", "write y in a line of its own after it"],
    ["try { id(1) }\nid(2)", 0, 14, "SYNTAX", "Write `try { … } catch failure { … }`."],
    ["id(1))", 0, 6, "SYNTAX", "Leave it out, or open the bracket before it."],
    ['role = "x"\nid(1)', 0, 6, "SYNTAX", "A variable of that name can only be read"],
    [`model N${ASK}`, 0, 7, "UNKNOWN_MODEL", "add import llm N from"],
    ["idd(input)", 0, 1, "UNKNOWN_FUNCTION", "did you mean 'id'?"],
    ["id(nope)", 0, 4, "UNKNOWN_IDENTIFIER", "assign it first"],
    ["id(1, 2)", 0, 1, "INVALID_ARGUMENT_COUNT", "takes 1 argument, not 2"],
    ["Repo = 1", 0, 1, "IMMUTABLE_ASSIGNMENT", "choose another name"],
    ["time.today()", 0, 6, "UNKNOWN_METHOD", "it has now, parse, text, add, between"],
    ['Repo.raed({ path: "x" })', 0, 6, "UNKNOWN_METHOD", "did you mean 'read'?"],
    ["break", 0, 1, "BREAK_OUTSIDE_LOOP", "stands outside a loop"],
    ["y = xs.filter(func(x) { x.a == 1 })\nid(y)", 0, 15, "SYNTAX", "Write `x => x.name`"],
    ["y = xs.map(function (x) { return x.a })\nid(y)", 0, 12, "SYNTAX", "Write `x => x.name`"],
    ["y = xs.map(fn(x) { z = x  z })\nid(y)", 0, 12, "SYNTAX", "Write `x => x.name`"],
    ["y = xs.map(lambda x: x.a)\nid(y)", 0, 12, "SYNTAX", "Write `x => x.name`"],
    ["y = xs.map(x => { return x.a })\nid(y)", 0, 17, "SYNTAX", "The body of a lambda is one expression."],
    ["y = [x.a for x in xs]\nid(y)", 0, 10, "SYNTAX", "items.map(x => x.name)"],
    ["y = xs[0:2]\nid(y)", 0, 9, "SYNTAX", "Write `.slice(from, to)`"],
    ["y = 2 ** 3\nid(y)", 0, 8, "SYNTAX", "there are no powers"],
    ["for (const x of xs) { id(x) }", 0, 5, "SYNTAX", "Write `for x in items max 10 { … }`"],
    ["for (i = 0; i < 3; i++) { id(i) }", 0, 5, "SYNTAX", "Write `for x in items max 10 { … }`"],
    ["try { id(1) } catch (e) { id(e) }", 0, 21, "SYNTAX", "Write `catch e { … }`."],
    ['y = f"hi {input}"\nid(y)', 0, 5, "SYNTAX", "stands in backticks"],
    ["if not input in xs { id(1) }", 0, 14, "SYNTAX", "write items.any(x => x == item)"],
    ["match input { 1 => 2 }", 0, 1, "SYNTAX", "There is no such choice."],
    ["{ a, b } = input\nid(a)", 0, 1, "SYNTAX", "Write `a = x.a`"],
    ["[a, b] = xs\nid(b)", 0, 1, "SYNTAX", "Write `a = xs[0]`"],
    ["y: string = input\nid(y)", 0, 1, "SYNTAX", "A variable has no type of its own."],
    ["y := 1\nid(y)", 0, 1, "SYNTAX", "A name is assigned with `=`."],
    ["if input == 1 then id(1)", 0, 15, "SYNTAX", "A body stands in braces"],
    ["if (input == 1) id(1)", 0, 17, "SYNTAX", "A body stands in braces"],
    ["id(JSON.stringify(xs))", 0, 4, "UNKNOWN_IDENTIFIER", "json.text(value)"],
    ["id(Math.max(1, 2))", 0, 4, "UNKNOWN_IDENTIFIER", "write min(…) and max(…)"],
    ["id(parseInt(input))", 0, 4, "UNKNOWN_FUNCTION", "write number(…)"],
    ["try { id(1) } catch e { id(e) } finally { y = 2 }", 0, 33, "SYNTAX", "There is no `finally`."],
    ['generate({ prompt: "x" })', 0, 12, "UNKNOWN_GENERATE_OPTION", "write input"],
    ["generate({ messages: xs })", 0, 12, "UNKNOWN_GENERATE_OPTION", 'use x as "label"'],
    ['generate({ input: "x", schema: {} })', 0, 24, "UNKNOWN_GENERATE_OPTION", "the contract stands behind the call"],
    [`model "gpt-5-mini"${ASK}`, 0, 7, "INVALID_MODEL_REFERENCE", 'import llm Model from "openai://gpt-5-mini"'],
    ["y = typeof input\nid(y)", 0, 5, "UNKNOWN_IDENTIFIER", "a contract says what a value is"],
    ['csv = "a"\ncsv.parse(csv)', 1, 5, "UNKNOWN_METHOD", "hides the built-in csv.parse"],
    ['x = generate({ input: "x" }) -> {\n a: Optional[number]\n}\nx', 1, 5, "SYNTAX", "What may be none is written `string?`."],
    ['x = generate({ input: "x" }) -> {\n a: enum("b", "c")\n}\nx', 1, 5, "SYNTAX", 'Write `"low" | "high"`.'],
    ["y = for x in xs max 9 { x }\nid(y)", 0, 5, "SYNTAX", "Write `parallel for`"],
    ["return for x in [1, 2] max 9 { { a: x, b: [x] } }", 0, 8, "SYNTAX", "Write `parallel for`"],
    ["y = input in xs\nid(y)", 0, 11, "UNKNOWN_IDENTIFIER", "text.contains(part)"],
];

/** Whole files; here the line counts from 1. */
const FILES: readonly Row[] = [
    ['import tool R from\nimport tool S from "file://x"\nmain func() { S.read({ path: "x" }) }', 1, 19, "SYNTAX", "as a string"],
    ['import tol R from "file://x"\nmain func() { 1 }', 1, 8, "SYNTAX", "Did you mean `tool`?"],
    ['import Grep from "sh://grep"\nmain func() { 1 }', 1, 8, "SYNTAX", '`import tool Grep from "…"`'],
    ['import tool R from "file://x\nimport tool S from "file://x"\nmain func() { S }', 1, 20, "UNTERMINATED_STRING", "on its own line"],
    ["shape S\n    a: string\n}\nmain func(a: S) { a.a }", 1, 8, "SYNTAX", "Write `shape S { name: string }`."],
    ['shape S { a: "x" or "y" }\nmain func(a: S) { a.a }', 1, 18, "SYNTAX", "Choices are separated by `|`."],
    ['shape S { a: string, "why" }\nmain func(a: S) { a.a }', 1, 22, "SYNTAX", "without a comma"],
    ["shape S { a = string }\nmain func(a: S) { a.a }", 1, 13, "SYNTAX", "Write `a: string`."],
    ["func f(a?: string = none) { a }\nmain func() { f() }", 1, 9, "SYNTAX", "`a: string? = none`"],
    ["main func({ a: string }) { input.a }", 1, 11, "SYNTAX", "has a name before its contract"],
    ["main agent A { main func input { a: string }) { input.a } }", 1, 32, "SYNTAX", "Parameters stand in parentheses"],
    ["main agent A {\n remit { deny Repo.read }\n main func() { 1 }\n}", 2, 10, "SYNTAX", "Did you mean `never`?"],
    ["main agent A {\n remit: { may Repo }\n main func() { 1 }\n}", 2, 7, "SYNTAX", "Leave the colon out"],
    ["main agent A {\n remit { spend 6 turns 10 min }\n main func() { 1 }\n}", 2, 24, "SYNTAX", "A comma stands between amounts"],
    ['import tool R from "file://x" { ask write }\nmain func() { R.read({ path: "x" }) }', 1, 37, "SYNTAX", "`write: ask`"],
    ["main agent A\n main func() { 1 }\n}", 1, 13, "SYNTAX", "Expected `{` and the body of the agent"],
    ["main agent A {\n main func() { 1 }\n", 2, 19, "SYNTAX", "The bracket `{` was opened on line 1."],
    ["agent { main func() { 1 } }", 1, 7, "SYNTAX", "Only a `main agent` may have no name."],
    ["main agent A { main func { 1 } }", 1, 26, "SYNTAX", "`func f() { … }`"],
    ["main agent A { main func() { 1 } def f() { 1 } }", 1, 34, "SYNTAX", "Write `func`."],
    ['main agent A { main func() { 1 } role "x" }', 1, 34, "SYNTAX", "Move this line up."],
    ["main agent A {\n role\n main func() { 1 } }", 2, 6, "SYNTAX", 'Write `role "…"`.'],
    ["main agent A { main func(string a) { a } }", 1, 26, "SYNTAX", "Write `a: string`."],
    ["x = 1\nmain agent A { main func() { 1 } }", 1, 1, "SYNTAX", "There are no variables at the top of a file."],
    ["const x = 1\nmain agent A { main func() { 1 } }", 1, 1, "SYNTAX", "There are no variables at the top of a file."],
    ["x\nmain agent A { main func() { 1 } }", 1, 1, "SYNTAX", "Statements stand inside functions"],
    ["name: triage\nmodel: small\nsteps:\n  - prompt: hello\n", 1, 1, "SYNTAX", "This is no YAML."],
    ["from remit import agent\nmain func() { 1 }", 1, 1, "SYNTAX", "Write `import tool Name from"],
    ["import os\nmain func() { 1 }", 1, 8, "SYNTAX", "One of `tool`"],
    ["interface A { name: string }\nmain func() { 1 }", 1, 1, "SYNTAX", "`shape Order { id: string }`"],
    ["class A:\n  pass\nmain func() { 1 }", 1, 1, "SYNTAX", "there are no classes"],
    ["export func f(x) -> string { x }\nmain agent B { main func() { 1 } }", 1, 1, "SYNTAX", "functions need no `export`"],
    ["export default agent A { func f() { 1 } }\nmain agent B { main func() { 1 } }", 1, 1, "SYNTAX", "Leave the word out"],
    ['main agent A {\n system "x"\n main func() { 1 } }', 2, 2, "SYNTAX", 'Write `role "…"`'],
    ["main agent A {\n tools: []\n main func() { 1 } }", 2, 2, "SYNTAX", "tools: [Name]"],
    ["agent A { func f() { 1 } }\nmain func() { A.f() }", 2, 1, "DUPLICATE_MAIN_FUNC", "main agent Main { main func … }"],
    ["agent A { func f() { 1 } }\nagent B { func f() { 1 } }\nmain func() { A.f() }", 3, 1, "DUPLICATE_MAIN_FUNC", "main agent Main"],
    ["main agent A { main func() { 1 } }\nmain func() { 2 }", 2, 1, "DUPLICATE_MAIN_FUNC", "take the word `main` away"],
    [`${BOUND} (0; 60) ${REST}`, 1, 67, "SYNTAX", "in n: 0..60"],
    [`${BOUND} [0, 60] ${REST}`, 1, 67, "SYNTAX", "in n: 0..60"],
    ["main func(a: string[]) { a }", 1, 14, "SYNTAX", "A list is written `list[string]`."],
    ["main func(a: Array<number>) { a }", 1, 14, "SYNTAX", "A list is written `list[string]`."],
    ["main func(a: Dict[str, int]) { a }", 1, 14, "SYNTAX", "`json` where the keys are not known"],
];

function errors(text: string, firstLine: number): (readonly [number, number, string, string])[] {
    const program = run(text);
    return program.diagnostics
        .filter((one) => one.severity === "error")
        .map((one) => {
            const file = program.files.get(one.file);
            const { line, column } = position((file as NonNullable<typeof file>).source, one.range.start);
            const advice = [one.message, one.hint ?? CODES[one.code].hint ?? "", ...(one.fixes ?? []).map((fix) => fix.title)].join(" | ");
            return [line - firstLine, column, one.code, advice] as const;
        });
}

/** The advice is compared as a part. */
function compare(found: ReturnType<typeof errors>, [, line, column, code, advice]: Row): void {
    expect(found.map(([, , , text]) => [text.includes(advice) ? advice : text])).toEqual([[advice]]);
    expect(found.map(([a, b, c]) => [a, b, c])).toEqual([[line, column, code]]);
}

test.each(BODIES)("%s", (...row) => {
    compare(errors(HEAD + row[0] + TAIL, 10), row);
});

test.each(FILES)("%s", (...row) => {
    compare(errors(row[0], 0), row);
});

test.each([
    "fun twice(n) { n * 2 }\nmain func() { twice(1) }",
    "agnt A {\n func f() { 1 }\n}\nmain func() { A.f() }",
    "main agent {\n fun g() { 1 }\n main func() { g() }\n}",
    "main agent {\n main func() {\n  function f(a) { a }\n  f(1)\n }\n}",
    "main func() {\n x := 1\n x\n}",
    'import llm M from "mock:"\nmain agent {\n model M\n role "r"\n description "d"\n main func(x) {\n  use x\n  generate({ input: "x" }) -> T\n }\n}\nshap T { a: number }',
    'import llm M from "mock:"\nmain agent {\n modl M\n role "r"\n description "d"\n main func(x) {\n  use x\n  generate({ input: "x" })\n }\n}',
])("a name on a line that cannot be read is not missed as well: %s", (text) => {
    expect(errors(text, 0).map(([, , code]) => code)).toEqual(["SYNTAX"]);
});

test("what is right around a mistake is still looked at", () => {
    const found = errors(
        `${HEAD}use one of {\n a: input\n b: empty\n}\nid(nope)\nif input {\n generate("x")\n gone(1)\n}\nfor x xs max 3 {\n id(lost)\n}${TAIL}`,
        10,
    );
    expect(found.map(([line, , code]) => [line, code])).toEqual([
        [3, "SYNTAX"],
        [4, "UNKNOWN_IDENTIFIER"],
        [6, "SYNTAX"],
        [7, "UNKNOWN_FUNCTION"],
        [9, "SYNTAX"],
        [10, "UNKNOWN_IDENTIFIER"],
    ]);
});

test.each(["fn(2) { a: 1 }", "func(2) { a: 1 }\n", "fn(2)\n{ a: 1 }", "x = { a: 1 }\n[fn, func] == [1]\nx"])(
    "what only looks like another language's is read as AgentScript reads it: %s",
    (body) => {
        expect(errors(`main agent {\n main func() {\n fn = 1\n func = 2\n ${body}\n }\n}`, 0).map(([, , code]) => code)).not.toContain(
            "SYNTAX",
        );
    },
);

test("reduce with wrong arguments says which it takes, and in which order", () => {
    const told = (call: string) => {
        const text = `main func() { [1, 2].${call} }`;
        return check(loadProgram("main.remit", { read: () => text, resolve: () => null })).diagnostics.map((one) => [one.code, one.hint]);
    };
    const order = "write `reduce((made, item) => …, first)`: the function, and behind it what it begins with";
    expect(told("reduce((made, item) => made + item)")).toEqual([["INVALID_ARGUMENT_COUNT", order]]);
    expect(told("reduce(0, (made, item) => made + item)")).toEqual([["LAMBDA_PLACE", order]]);
    expect(told("reduce((made, item) => made + item, 0)")).toEqual([]);
});
