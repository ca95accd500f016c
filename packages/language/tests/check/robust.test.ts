/** The checker on hostile programs: it never throws, ends, and says the same thing twice. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { check, type Diagnostic } from "../../src/index.ts";
import { caseFiles, load, readCases, run } from "./cases.ts";

const cases = caseFiles().flatMap(readCases);
const words =
    'agent main func use as max generate parallel for in loop until repeat if else return import tool llm from { } ( ) [ ] . , : = + - -> => ?. ?? ... "a" 1 x input none try catch raise break shape model role'.split(
        " ",
    );

function shown(diagnostics: readonly Diagnostic[]): string[] {
    return diagnostics.map((d) => `${d.file} ${d.range.start} ${d.range.end} ${d.code} ${d.message}`);
}

describe("never throws", () => {
    test("on programs with pieces cut out, put in and moved", () => {
        fc.assert(
            fc.property(
                fc.constantFrom(...cases),
                fc.array(fc.tuple(fc.nat(), fc.constantFrom("cut", "put", "twice"), fc.constantFrom(...words)), {
                    minLength: 1,
                    maxLength: 6,
                }),
                (one, edits) => {
                    const files = new Map(one.files);
                    for (const [at, what, word] of edits) {
                        const text = files.get(one.entry) as string;
                        const parts = text.split(/(\s+)/);
                        const index = at % Math.max(1, parts.length);
                        if (what === "cut") parts.splice(index, 1 + (at % 3));
                        else if (what === "put") parts.splice(index, 0, ` ${word} `);
                        else parts.splice(index, 0, ...parts.slice(index, index + 5));
                        files.set(one.entry, parts.join(""));
                    }
                    const first = check(load(files, one.entry));
                    expect(shown(check(load(files, one.entry)).diagnostics)).toEqual(shown(first.diagnostics));
                },
            ),
            { numRuns: 1500 },
        );
    });

    test("every range lies in its file", () => {
        for (const one of cases) {
            const program = check(load(one.files, one.entry));
            for (const d of program.diagnostics) {
                const length = one.files.get(d.file)?.length ?? 0;
                expect(d.range.start).toBeGreaterThanOrEqual(0);
                expect(d.range.end).toBeLessThanOrEqual(length);
                expect(d.range.end).toBeGreaterThanOrEqual(d.range.start);
            }
        }
    });
});

/** A program of many functions. */
function functions(count: number, body: (i: number) => string, main: string): string {
    const all: string[] = [];
    for (let i = 0; i < count; i++) all.push(`func f${i}(xs) { ${body(i)} }`);
    return `${all.join("\n")}\nmain func(input) { ${main} }`;
}

const errors = (text: string): string[] =>
    run(text)
        .diagnostics.filter((d) => d.severity === "error")
        .map((d) => d.code);

describe("ends", () => {
    test("on a chain of 5,000 functions, and says what the last one does", () => {
        const text = functions(
            5000,
            (i) => (i < 4999 ? `f${i + 1}(xs)` : "xs.add(1)"),
            "r = parallel for x in input max 3 { f0(input)  x }  r",
        );
        expect(errors(text)).toEqual(["PARALLEL_FOR_OUTER_MUTATION"]);
    });

    test("on a chain whose results are the parameter", () => {
        const text = functions(
            3000,
            (i) => (i < 2999 ? `f${i + 1}(xs)` : "xs"),
            "r = parallel for x in input max 3 { y = f0(input)  y.add(1)  x }  r",
        );
        expect(errors(text)).toEqual(["PARALLEL_FOR_OUTER_MUTATION"]);
    });

    test("on functions that all call one another", () => {
        const text = functions(60, (i) => Array.from({ length: 60 }, (_, j) => `f${(i * 7 + j) % 60}(xs)`).join("  "), "f0(input)");
        expect(errors(text)).toEqual([]);
    });

    test("on a loop that changes many names, each from the next", () => {
        const names = Array.from({ length: 300 }, (_, i) => `v${i}`);
        const text = `main func(input) {
            ${names.map((name, i) => `${name} = ${i % 2 === 0 ? "none" : '"a"'}`).join("\n")}
            loop until input max 3 {
                ${names.map((name, i) => `${name} = ${names[(i + 1) % names.length]}`).join("\n")}
                v0 = input
            }
            v299.anything
        }`;
        expect(errors(text)).toEqual([]);
    });

    test("on expressions as deep and as long as the parser lets pass", () => {
        const deep = (open: string, inner: string, close: string, count: number): string =>
            `${open.repeat(count)}${inner}${close.repeat(count)}`;
        const texts = [
            `main func(input) { x = ${deep("[", "1", "]", 240)}  x }`,
            `main func(input) { x = ${deep("(", "1", ")", 240)}  x }`,
            `main func(input) { ${deep("if input { ", "1", " }", 240)} }`,
            `main func(input) { x = ${"1 + ".repeat(990)}1  x }`,
            `main func(input) { x = input${".a".repeat(990)}  x }`,
            `main func(input) { x = input${".b()".repeat(490)}  x }`,
            `func f(x) { x }  main func(input) { x = ${deep("f(", "1", ")", 240)}  x }`,
            `main func(input) { x = ${deep("{ a: ", "1", " }", 240)}  x }`,
        ];
        for (const text of texts) expect(errors(text)).toEqual([]);
    });

    test("on functions that call the next one from deep inside", () => {
        const bodies: ((next: string) => string)[] = [
            (next) => `${next}${" + 1".repeat(980)}`,
            (next) => `${next}${".a".repeat(980)}`,
            (next) => `${next}${".b()".repeat(480)}`,
            (next) => `${"[".repeat(240)}${next}${"]".repeat(240)}`,
            (next) => `${"if xs { ".repeat(240)}${next}${"}".repeat(240)}`,
            (next) => `${"text(".repeat(240)}${next}${")".repeat(240)}`,
            (next) => `${"xs.map((x) => ".repeat(120)}${next}${")".repeat(120)}`,
        ];
        for (const body of bodies) expect(errors(functions(200, (i) => (i < 199 ? body(`f${i + 1}(xs)`) : "xs"), "f0(input)"))).toEqual([]);
    });

    test("on ten thousand errors", () => {
        const text = `main func(input) {\n${Array.from({ length: 10_000 }, (_, i) => `nope${i}(missing${i})`).join("\n")}\n}`;
        expect(errors(text)).toHaveLength(20_000);
    });

    test("on shapes that name one another in a long line and in a circle", () => {
        const shapes = Array.from({ length: 500 }, (_, i) => `shape S${i} { next: S${(i + 1) % 500}, list: list[S${i}] }`).join("\n");
        expect(errors(`${shapes}\nmain func(x: S0) { x.next.next.list[0].next }`)).toEqual(
            Array.from({ length: 500 }, () => "ENDLESS_SHAPE"),
        );
        const unions = Array.from({ length: 60 }, (_, i) => `shape U${i} U${i + 1} | U${i + 1}`).join("\n");
        expect(errors(`${unions}\nshape U60 { a: string }\nfunc f(x: U0) { x }\nmain func() { f(1) }`)).toEqual([]);
        const aliases = Array.from({ length: 500 }, (_, i) => `shape S${i} S${i + 1}`).join("\n");
        expect(errors(`${aliases}\nshape S500 { a: string }\nmain func(x: S0) { x.a }`)).toEqual([]);
    });
});
