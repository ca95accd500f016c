/** Programs that mean harm: none may hang, crash, leak or show a stack trace. */
import type { ExprForm, Json } from "@remit/language";
import { expect, test, vi } from "vitest";
import { Compiled, Machine, outsized } from "../../src/index.ts";
import { bin, func, lit, name, OPTIONS, program, runAll, set, stmt } from "./forms.ts";
import { body, evaluated, formOf } from "./text.ts";

const steps = { options: { limits: { steps: 300_000 } } };

test.each([
    ["an endless loop", "loop until false max 100000000 { x = 1 }", /^limit\.steps/],
    ["an empty endless loop", "repeat * 100000000 { }", /^limit\.steps/],
    ["nested loops", "repeat * 100000 { repeat * 100000 { repeat * 100000 { } } }", /^limit\.steps/],
    ["a loop in a lambda", "[1].map((x) => spin(x))", /^limit\.steps/],
    ["a list that feeds itself", "xs = [1]  repeat * 100 { xs = xs.concat(xs) }  xs.length", /^limit\.(bytes|steps)/],
    ["a string that doubles", 's = "ab"  repeat * 100 { s = s + s }  s.length', /^limit\.bytes/],
    ["endless recursion", "down(1)", /^limit\.depth/],
    ["recursion through a lambda", "through([1])", /^limit\.depth/],
    ["a value inside itself", "xs = []  xs.add(xs)  xs", /^value: this value contains itself/],
    ["a cycle in an equality", "xs = []  xs.add([xs])  ys = []  ys.add([ys])  xs == ys", /true/],
    ["the same, in an equality", "x = [1]  y = [1]  repeat * 60 { x = [x, x]  y = [y, y] }  x == y", /true/],
    ["a deep value", "x = []  repeat * 3000 { x = [x] }  x", /^value: this value is nested/],
    ["deep values compared", "x = []  y = []  repeat * 3000 { x = [x]  y = [y] }  x == y", /^value: values nested/],
])("%s", (_, statements, expected) => {
    const before =
        "func spin(x) { repeat * 100000000 { y = x } }\nfunc down(n) { down(n + 1) }\nfunc through(xs) { xs.map((x) => through(xs)) }";
    for (const mode of ["closures", "frames"] as const)
        expect(String(evaluated(statements, { before, unchecked: true, options: { ...steps.options, mode } }))).toMatch(expected);
});

test("a value that shares its parts is exponentially larger as JSON, and refused", () => {
    expect(evaluated("x = [1]  repeat * 60 { x = [x, x] }  x")).toMatch(/^limit\.bytes/);
});

test("an endless loop returns to its host at every slice", () => {
    const m = Machine.start(new Compiled(formOf(body("repeat * 100000000 { x = 1 }"))), { ...OPTIONS, slice: 10_000 });
    for (let i = 1; i <= 20; i++) {
        expect(m.advance().state).toBe("slice");
        expect(m.usage.steps).toBeLessThanOrEqual(i * 20_000);
    }
    m.cancel("");
    expect(m.advance().result).toMatchObject({ ok: false, failure: { kind: "cancelled" } });
});

test("failures that are caught are not searched for what was meant, which no step counts", () => {
    const compared = vi.spyOn(String.prototype, "toLowerCase");
    const keys = "o = {}  i = 0  loop until i >= 500 max 500 { o[`key number {i}`] = 1  i += 1 }";
    try {
        expect(evaluated(`${keys}  repeat * 20 { try { x = o["nothing alike"] } catch e { i = e.message } }  i`)).toMatch(/^Unknown/);
        const inside = 'parallel for y in [1] max 1 { o["nothing alike"] }';
        expect(evaluated(`${keys}  repeat * 20 { try { x = ${inside} } catch e { i = e.message } }  i`)).toMatch(/^parallel for failed/);
        expect(compared.mock.calls.length).toBeLessThan(500);
    } finally {
        compared.mockRestore();
    }
});

test("what comes from outside is measured however deep it is", () => {
    let deep: Json = "x".repeat(64 * 1024 * 1024 + 1);
    for (let i = 0; i < 100_000; i++) deep = i % 2 === 0 ? [deep] : { a: deep };
    expect(outsized(deep)).toMatch(/^a string may hold 67108864/);
});

test("names of a prototype are ordinary names", () => {
    for (const key of ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf"]) {
        expect(evaluated(`o = {}  o.${key} = 1  o.${key}`, { unchecked: true })).toBe(1);
        expect(evaluated(`o = { a: 1 }  o.${key}`, { unchecked: true })).toBe(`value: Unknown object property '${key}'`);
        expect(evaluated(`x = [1]  x.${key}`, { unchecked: true })).toMatch(/^value: a list has no property/);
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test("expressions as deep as the form allows", () => {
    let e: ExprForm = name("x");
    for (let i = 0; i < 400; i++) e = bin("+", e, lit(1));
    const p = program([func("main", ["input"], [set("x", lit(1)), stmt(e)])]);
    expect(runAll(p).result).toEqual({ ok: true, value: 401, origins: [] });
    let deep: ExprForm = name("x");
    for (let i = 0; i < 20_000; i++) deep = { kind: "unary", op: "not", value: deep };
    const { result } = runAll(program([func("main", ["input"], [set("x", lit(1)), stmt(deep)])]));
    expect(result).toMatchObject({ ok: false, failure: { kind: "limit.depth" } });
});

test("what only a broken form can say fails and does no harm", () => {
    const broken: [string, RegExp][] = [
        ["nothing", /Unknown name/],
        ["nothing(1)", /Unknown function/],
        ["[1](2)", /only a/],
        ["x = 1  x(2)", /only a function|not a function/],
        ["(x) => x", /lambda/],
        ["break", /stands in no loop/],
        ["T.a((x) => x)", /lambda/],
    ];
    for (const [statements, message] of broken)
        expect(evaluated(statements, { before: 'import tool T from "http://e.test"', unchecked: true })).toMatch(message);
});
