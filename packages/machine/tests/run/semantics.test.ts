/** What programs mean: AgentScript's rules and Remit's additions, a line a case. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { evaluated, runText } from "./text.ts";

/** Statements, and the value of the last one or the failure. Run as closures and on frames. */
function cases(title: string, rows: readonly (readonly [string, Json])[], before = ""): void {
    describe(title, () => {
        test.each(rows)("%s", (statements, expected) => {
            for (const mode of ["closures", "frames"] as const) {
                expect(evaluated(statements, { before, unchecked: true, options: { mode } })).toEqual(expected);
                // The same inside a function that may run as closures.
                if (!/\binput\b/.test(statements)) {
                    const wrapped = `${before}\nfunc inner() {\n${statements}\n}`;
                    expect(evaluated("inner()", { before: wrapped, unchecked: true, options: { mode } })).toEqual(expected);
                }
            }
        });
    });
}

cases("arithmetic and text", [
    ["1 + 2 * 3", 7],
    ["(1 + 2) * 3", 9],
    ["7 % 3", 1],
    ["-7 % 3", -1],
    ["- (2 + 3)", -5],
    ["10 / 4", 2.5],
    ["0.1 + 0.2", 0.30000000000000004],
    ["1 / 0", "value: division by zero"],
    ["1 % 0", "value: division by zero"],
    ['"a" + "b"', "ab"],
    ['"a" + 1', "a1"],
    ['1 + "a"', "1a"],
    ['"a" + true', "atrue"],
    ['"a" + none', "a"],
    ['"a" + [1]', "a"],
    ['{ a: 1 } + "x"', "x"],
    ["1 + true", "value: operator '+' requires number operands"],
    ["none + 1", "value: operator '+' requires number operands"],
    ['"a" - 1', "value: operator '-' requires number operands"],
    ['"a" * 2', "value: operator '*' requires number operands"],
    ["true / 2", "value: operator '/' requires number operands"],
    ['"a" % 2', "value: operator '%' requires number operands"],
    ['-"a"', "value: operator '-' requires a number operand"],
    ["x = 1  x += 2  x -= 5  x", -2],
    ['s = "a"  s += 1  s', "a1"],
]);

cases("comparison and equality", [
    ["1 < 2", true],
    ["2 <= 2", true],
    ["1 > 2", false],
    ["3 >= 4", false],
    ['"a" < "b"', "value: operator '<' requires number operands"],
    ["1 < none", "value: operator '<' requires number operands"],
    ["1 == 1.0", true],
    ['1 == "1"', false],
    ["none == none", true],
    ["none == false", false],
    ["[1, { a: 2 }] == [1, { a: 2 }]", true],
    ["{ a: 1, b: 2 } == { b: 2, a: 1 }", true],
    ["{ a: 1 } == { a: 1, b: none }", false],
    ["[1, 2] == [2, 1]", false],
    ["[] == {}", false],
    ["[1] != [1]", false],
    ["a = []  a.add(a)  b = []  b.add(b)  a == b", true],
]);

cases(
    "whether a capability is there",
    [
        ["tool = T  tool == none", false],
        ["none != T", true],
        ["absent = none  T == absent", false],
        ["xs = [T]  xs[0] != none", true],
        ["xs = [T, none, T]  xs.filter((x) => x != none).length", 2],
        ["T == T", "violation.capability: T is a tool, which is never data"],
        ['T == ""', "violation.capability: T is a tool, which is never data"],
        ["[] != T", "violation.capability: T is a tool, which is never data"],
        ["xs = [T]  xs == none", "violation.capability: T is a tool, which is never data"],
    ],
    'import tool T from "mcp://t"',
);

cases("logic", [
    ["1 and 2", true],
    ['0 or ""', false],
    ["not []", true],
    ["not {}", false],
    ['not "x"', false],
    ["none or 3", true],
    ["false and missing_is_not_read()", false],
    ["none ?? 3", 3],
    ["false ?? 3", false],
    ["0 ?? none ?? 1", 0],
    ["{ a: 1 }?.b", null],
    ["none?.a", null],
    ["{ a: { b: 2 } }?.a?.b", 2],
    ["[1]?.b", "value: a list has no property 'b'"],
]);

cases("members and items", [
    ["{ a: 1 }.a", 1],
    ["{ a: 1 }.b", "value: Unknown object property 'b'"],
    ["o = { a: 1 }  o.constructor", "value: Unknown object property 'constructor'"],
    ["o = { a: 1 }  o.__proto__", "value: Unknown object property '__proto__'"],
    ['o = {}  o["__proto__"] = { x: 1 }  o.keys()', ["__proto__"]],
    ['o = {}  o["__proto__"] = { x: 1 }  o?.x', null],
    ["o = {}  o.toString = 1  o.toString", 1],
    ["[1, 2].length", 2],
    ['"abc".length', 3],
    ["none.a", "value: none has no property 'a'"],
    ["n = 5  n.a", "value: a number has no property 'a'"],
    ["xs = [1, 2]  xs[1]", 2],
    ["xs = [1, 2]  xs[2]", "value: list index 2 is out of range (length 2)"],
    ["xs = [1, 2]  xs[-1]", "value: a list index must be a whole number from 0"],
    ["xs = [1, 2]  xs[0.5]", "value: a list index must be a whole number from 0"],
    ['xs = [1, 2]  xs["0"]', "value: a list index must be a whole number from 0"],
    ['o = { a: 1 }  o["a"]', 1],
    ['o = { a: 1 }  o["b"]', "value: Unknown object property 'b'"],
    ['"abc"[0]', "value: a string cannot be indexed"],
    ["xs = [1, 2]  xs[0] = 5  xs", [5, 2]],
    ["xs = [1, 2]  xs[2] = 5", "value: list index 2 is out of range (length 2)"],
    ["xs = [1, 2]  xs[1] += 5  xs", [1, 7]],
    ['o = {}  o["k"] = 1  o.k += 1  o', { k: 2 }],
    ["o = { b: 1, a: 2 }  o.c = 3  o.b = 4  o.keys()", ["b", "a", "c"]],
    ["xs = [1]  xs.a = 2", "value: property 'a' of a list cannot be assigned"],
    ["[...[1, 2], 3]", [1, 2, 3]],
    ["{ a: 1, ...{ a: 2, b: 3 } }", { a: 2, b: 3 }],
    ["[...1]", "value: a number cannot be spread into a list"],
    ["{ a: 1, a: 2 }", { a: 2 }],
    ["xs = []  ys = xs.add(1).add(2)  xs.add(3)  ys", [1, 2, 3]],
    ["o = { length: 7, keys: 3 }  return [o.length, o.keys]", [7, 3]],
    ["o = { keys: 3 }  o.keys()", "value: 'keys' of this object is not a function"],
    ["xs = [1]  xs.nothing()", "value: a list has no method 'nothing'"],
    ["o = {}  o.nothing()", "value: Unknown object property 'nothing'"],
]);

cases("statements", [
    ["if 1 { x = 1 }", null],
    ["x = 0  if false { x = 1 } else if true { x = 2 } else { x = 3 }  x", 2],
    ["x = 0  repeat * 3 { x += 1 }  x", 3],
    ["x = 0  for y in [1, 2, 3] max 2 { x += y }  x", 3],
    ["x = 0  for y in [1, 2, 3, 4] max 9 { if y == 2 { continue }  if y == 4 { break }  x += y }  x", 4],
    ["x = 0  loop until x >= 2 max 9 { x += 1 }  x", 2],
    ["x = 0  loop until false max 4 { x += 1 }  x", 4],
    ["for y in 3 max 2 { y }", "value: a loop needs a list, not a number"],
    ["xs = [1]  for y in xs max 10 { xs.add(y) }  xs", [1, 1]],
    ["x = 1", null],
    ["x = 1  x", 1],
    ["return 5  6", 5],
    ["if true { return 5 }  6", 5],
    ["for y in [1, 2] max 2 { return y }  6", 1],
    ["x = if 0 { 1 } else { 2 }  x", 2],
    ["x = if 0 { 1 }  x", null],
    ["x = if 1 { y = 2  y + 1 } else { 0 }  x", 3],
    ["x = if 1 { return 9 } else { 0 }  x", 9],
    ["x = 1  if true { x = 2  y = 3 }  x", 2],
]);

cases("failures", [
    ['try { raise "no" } catch e { return e.message }', "no"],
    ['try { raise "no" } catch e { return e.kind }', "raised"],
    ['try { raise { code: 7, message: "m" } } catch e { return [e.message, e.detail.code, e.kind] }', ["m", 7, "raised"]],
    ["x = try { 1 / 0 } catch e { e.kind }  x", "value"],
    ["x = try { 5 } catch e { 6 }  x", 5],
    ["try { x = [1][3] } catch { return 1 }  2", 1],
    ['raise "out"', "raised: out"],
    ['try { raise { message: "m", kind: "tool", n: 7 } } catch e { return [e.kind, e.message, e.detail.n] }', ["raised", "m", 7]],
    ['try { raise { kind: "tool", message: "m", site: none, detail: 7 } } catch e { return [e.kind, e.detail] }', ["tool", 7]],
    ["try { try { none.a } catch e { raise e } } catch f { return f.kind }", "value"],
    ["try { try { raise { code: 1 } } catch e { raise e } } catch f { return [f.kind, f.detail] }", ["raised", { code: 1 }]],
    [
        'try { raise { kind: "violation.remit", message: "m", site: none, detail: none } } catch e { return [e.kind, e.detail.kind] }',
        ["raised", "violation.remit"],
    ],
    ['try { raise { kind: "cancelled", message: "m", site: none, detail: none } } catch e { return e.kind }', "raised"],
    ['try { raise { message: "m", kind: "toString" } } catch e { return e.kind }', "raised"],
    ['try { try { raise "a" } catch e { raise e.message + "b" } } catch f { return f.message }', "ab"],
    ["x = 0  for i in [1, 2, 3] max 5 { try { if i == 2 { continue }  x += i  if i == 3 { break } } catch { x = 99 } }  x", 4],
    ["xs = []  try { xs.add(1)  xs[5] } catch { xs.add(2) }  xs", [1, 2]],
    ["try { return 1 } catch { return 2 }", 1],
]);

cases(
    "functions",
    [
        ["add(1, 2)", 3],
        ["[1, 2].map((x) => add(x, 1))", [2, 3]],
        ["[1, 2].map(double)", [2, 4]],
        ["add(add(1, 2), add(3, 4)) * add(0, 1)", 10],
        ["withDefault(1)", [1, { a: 2 }]],
        ["withDefault(1, 3)", [1, 3]],
        ["withDefault()", "value: withDefault expects 1 to 2 arguments, got 0"],
        ["add(1)", "value: add expects 2 arguments, got 1"],
        ["nothing(1)", "value: Unknown function 'nothing'"],
        ["even(10)", true],
        ["xs = [1]  grow(xs)  xs", [1, 9]],
        ["fact(20)", 2432902008176640000],
        ["x = []  y = [x.length, grow(x).length, x.length]  y", [0, 1, 1]],
        ["no_value()", null],
        ["early(1)", "yes"],
        ["early(0)", "no"],
        ["checked(2)", 4],
        ['checked("x")', "contract: argument 'n' of checked must be a number, not a string"],
        ["badResult()", "contract: result of badResult must be a string, not a number"],
        ["doubled([1, 2])", [2, 4]],
        ["badDoubled([1])", "contract: result of badDoubled field must be a string: '[0]' is a number"],
        ["filled({ a: 1 })", { a: 1, b: 5 }],
        ["o = { a: 1, b: 2 }  same(o).z = 3  o", { a: 1, b: 2, z: 3 }],
        ["json.parse(json.text({ a: if 1 < 2 { double(1) } else { 0 } })).a", 2],
        ["x = 1  json.text([try { x = 2  double(x) } catch { 0 }, x])", "[4,2]"],
    ],
    `
func add(a, b) { a + b }
func double(x) { x * 2 }
func withDefault(a, b = { a: 2 }) { [a, b] }
func even(n) { if n == 0 { return true }  odd(n - 1) }
func odd(n) { if n == 0 { return false }  even(n - 1) }
func grow(list) { list.add(9)  list }
func fact(n) { if n < 2 { return 1 }  n * fact(n - 1) }
func no_value() { x = 1 }
func early(x) { if x { return "yes" }  "no" }
func checked(n: number) { n * 2 }
func badResult() -> string { 5 }
func doubled(xs) -> list[number] { parallel for x in xs max 5 { double(x) } }
func badDoubled(xs) -> list[string] { all = parallel for x in xs max 5 { double(x) }  all }
func filled(o: { a: number, b: number = 5 }) { o }
func same(o: { a: number }) { o }
`,
);

describe("what was meant is said in the failure's hint", () => {
    test.each([
        ["input.files", "did you mean 'file'?"],
        ["input.zzz", "it has file, name, list; where it may be absent, ?.zzz gives none"],
        ['input["files"]', "did you mean 'file'?"],
        ["input.list.push(1)", "did you mean 'add'?"],
        ["input.list.includes(1)", "write any((item) => item == …)"],
        ["input.name.trimm()", "did you mean 'trim'?"],
        ["o = {}  o[input.name]", "the object is empty; where it may be absent, get(key) gives none"],
        ['input["a b"]', "it has file, name, list; where it may be absent, get(key) gives none"],
        ["input.list.constructor()", undefined],
    ])("%s", (statements, hint) => {
        const { result } = runText(`main func(input) { ${statements} }`, { options: { input: { file: 1, name: "n", list: [1] } } });
        expect(result.ok ? null : result.failure.hint).toBe(hint);
    });

    test("of many keys, and of long ones, only some is said", () => {
        const input = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${"k".repeat(60)}${i}`, i]));
        const { result } = runText("main func(input) { input.a }", { options: { input } });
        expect(result.ok ? null : result.failure.hint).toMatch(
            /^it has (k{40}…, ){7}k{40}…, and 12 more; where it may be absent, \?\.a gives none$/,
        );
    });
});

describe("between agents", () => {
    const agents = `
agent Helper {
  func twice(n: number) -> number { n * 2 }
  main func(input: { q: string }) { input.q + "!" }
}
`;
    test.each<readonly [string, Json]>([
        ['Helper({ q: "hi" })', "hi!"],
        ["Helper.twice(4)", 8],
        ['Helper.twice("4")', "contract: argument 'n' of twice must be a number"],
        ["Helper({ q: 1 })", "contract: argument 'input' of main .q must be a string"],
        ["xs = [Helper.twice(1), Helper.twice(2)]  xs", [2, 4]],
    ])("%s", (statements, expected) => {
        const value = evaluated(statements, { before: agents, unchecked: true });
        if (typeof expected === "string" && expected.startsWith("contract")) expect(String(value).split(":")[0]).toBe("contract");
        else expect(value).toEqual(expected);
    });
});
