/** Y1–Y3: what a run holds is bounded, at the same step however it runs; what it has let go does not count. */
import { describe, expect, test } from "vitest";
import { runAll } from "./forms.ts";
import { body, formOf } from "./text.ts";

const limits = { memory: 512 * 1024 };

const both = (statements: string): string[] => [body(statements), body("f()", `func f() {\n${statements}\n}`)];

/** The result however it is run: `ok`, or where and how it failed. */
function ends(statements: string, memory = limits.memory): unknown {
    const found = both(statements).map((text) => {
        const p = formOf(text);
        const ran = [
            runAll(p, { options: { limits: { memory } } }),
            runAll(p, { options: { limits: { memory }, slice: 3000 } }),
            runAll(p, { options: { limits: { memory }, mode: "frames" } }),
            runAll(p, { options: { limits: { memory }, slice: 5000 }, saving: 4 }),
        ].map(({ result, steps }) => JSON.stringify({ result, steps }));
        expect(new Set(ran).size).toBe(1);
        return JSON.parse(ran[0] as string) as { result: { ok: boolean; value?: unknown; failure?: { kind: string; detail: unknown } } };
    });
    return found.map(({ result }) => (result.ok ? result.value : [result.failure?.kind, result.failure?.detail]))[0];
}

const FAILED = ["limit.bytes", { meter: "memory", limit: limits.memory }];

describe("ends a run that holds too much", () => {
    test.each([
        ["a list that grows", "xs = []  loop until false max 1000000 { xs.add(1) }"],
        ["lists of lists", "xs = [1]  repeat * 30 { xs = [xs.summary, xs.summary] }"],
        ["a chain", "x = none  repeat * 1000000 { x = { next: x } }"],
        ["large literals", "xs = []  repeat * 100000 { xs.add([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) }"],
        ["long texts", 's = "abcdefgh"  repeat * 9 { s = s + s }  xs = []  repeat * 5000 { xs.add((s + xs.length).upper()) }'],
        [
            "texts that were joined, once they are looked at",
            's = "abcdefgh"  repeat * 9 { s = s + s }  xs = []  repeat * 500 { xs.add(s + xs.length) }  n = 0  for x in xs max 1000 { if x.contains("?") { n += 1 } }',
        ],
    ])("%s", (_, statements) => expect(ends(statements)).toEqual(FAILED));

    test("also where one instruction makes it", () => {
        const statements =
            's = "abcdefgh"  repeat * 9 { s = s + s }  xs = "0123456789".split("")  xs.map((a) => xs.map((b) => xs.map((c) => s.upper()))).length';
        expect(ends(statements)).toEqual(FAILED);
    });
});

describe("lets a run go on that lets go", () => {
    test.each([
        ["lists", "n = 0  repeat * 3000 { xs = [1, 2, 3, 4, 5, 6, 7, 8]  n += xs.length }  n", 24_000],
        ["texts", 's = "abcdefgh"  repeat * 9 { s = s + s }  n = 0  repeat * 300 { n += s.upper().length }  n', 300 * 8 * 512],
        [
            "one text in many places",
            's = "abcdefgh"  repeat * 9 { s = s + s }  xs = []  repeat * 300 { xs.add({ s: s }) }  n = 0  for x in xs max 1000 { if x.s.contains("?") { n += 1 } }  n',
            0,
        ],
        [
            "the same text made many times",
            's = "abcdefgh"  repeat * 9 { s = s + s }  xs = []  repeat * 200 { xs.add(s.upper()) }  xs.length',
            200,
        ],
        ["a text that grows", 's = ""  repeat * 3000 { s = s + "x" }  s.length', 3000],
    ])("%s", (_, statements, value) => expect(ends(statements)).toBe(value));
});

test("a small part does not hold the large text that it was cut from, and is as it was", () => {
    const value = ends(
        's = ("abcdefghijklmnop" + "qrstuvwxyz0123456789").upper()  repeat * 10 { s = s + s }  [s.slice(3, 20), s.split("9").first().slice(0, 20)]',
    );
    expect(value).toEqual(["DEFGHIJKLMNOPQRST", "ABCDEFGHIJKLMNOPQRST"]);
});
