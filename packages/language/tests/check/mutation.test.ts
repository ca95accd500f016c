/**
 * Real programs with something wrong in them: tokens lost, doubled and swapped, brackets too many and too few. Reading, checking and
 * formatting end, places lie in the text, formatting settles, and one lost bracket does not bury its reader.
 */
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { check, type Diagnostic, format, loadProgram, parse, source } from "../../src/index.ts";
import { lex } from "../../src/syntax/lexer.ts";
import { T } from "../../src/syntax/tokens.ts";
import { bare } from "../syntax/show.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const PROGRAMS = globSync("{examples,tests}/**/*.{as,remit}", { cwd: ROOT, exclude: (name) => name.includes("node_modules") })
    .sort()
    .map((name) => ({ name, text: readFileSync(ROOT + name, "utf8") }));

/** Numbers from 0 to below 1, the same ones for the same seed. */
function numbers(seed: number): () => number {
    let state = seed;
    return () => {
        state = (state + 0x6d2b79f5) | 0;
        let t = Math.imul(state ^ (state >>> 15), 1 | state);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

function diagnose(text: string): readonly Diagnostic[] {
    return check(
        loadProgram("m.as", {
            read: (path) => (path === "m.as" ? text : null),
            resolve: () => null,
            allowTool: () => ({ allowed: true }),
        }),
    ).diagnostics;
}

const errors = (text: string): number =>
    diagnose(text).filter((one) => one.severity === "error" && one.code !== "IMPORT_OUTSIDE_TREE").length;

function mutated(text: string, next: () => number): string {
    const { tokens } = lex(source(text));
    const any = (): number => Math.floor(next() * Math.max(1, tokens.count - 1));
    const i = any();
    const [from, to] = [tokens.start[i] as number, tokens.end[i] as number];
    const token = text.slice(from, to);
    switch (Math.floor(next() * 4)) {
        case 0:
            return text.slice(0, from) + text.slice(to);
        case 1:
            return `${text.slice(0, to)} ${token}${text.slice(to)}`;
        case 2: {
            const j = any();
            const [a, b] = i < j ? [i, j] : [j, i];
            if (a === b) return text;
            const [one, two] = [a, b].map((at) => text.slice(tokens.start[at], tokens.end[at]));
            return text.slice(0, tokens.start[a]) + two + text.slice(tokens.end[a], tokens.start[b]) + one + text.slice(tokens.end[b]);
        }
        default: {
            const piece = ["{", "}", "(", ")", "[", "]", '"', "// c\n", " as x", "\n"][Math.floor(next() * 10)];
            return text.slice(0, from) + piece + text.slice(from);
        }
    }
}

test("what is wrong is told, whatever it is", () => {
    const next = numbers(20);
    for (let round = 0; round < 1500; round++) {
        let { text } = PROGRAMS[Math.floor(next() * PROGRAMS.length)] as (typeof PROGRAMS)[number];
        for (let edits = Math.floor(next() * 3); edits >= 0; edits--) text = mutated(text, next);
        for (const { range } of diagnose(text)) expect(range.start >= 0 && range.start <= range.end && range.end <= text.length).toBe(true);
        const tree = parse(source(text));
        if (tree.diagnostics.some((one) => one.severity === "error")) continue;
        const out = format(tree);
        const again = parse(source(out));
        expect([text, bare(again)]).toEqual([text, bare(tree)]);
        expect([text, format(again)]).toEqual([text, out]);
    }
});

describe("one bracket less", () => {
    test.each(PROGRAMS.filter(({ text }) => text.split("\n").length > 25))("$name", ({ text }) => {
        const before = errors(text);
        const { tokens } = lex(source(text));
        const counts: number[] = [];
        for (let i = 0; i < tokens.count; i++) {
            const kind = tokens.kind[i] as number;
            if (kind < T.LBrace || kind > T.RBracket) continue;
            counts.push(errors(text.slice(0, tokens.start[i]) + text.slice(tokens.end[i])) - before);
        }
        const many = counts.filter((count) => count > 5).length;
        expect(many / counts.length).toBeLessThan(0.04);
        expect(Math.max(...counts)).toBeLessThanOrEqual(12);
    });
});

test("a quote that is not closed is found on its line", () => {
    const lines = ["main func(input) {", '    a = "one', '    b = "two"', "    c = 'three'", "    a + b + c", "}"];
    expect(diagnose(lines.join("\n")).map(({ code, range }) => [code, range.start])).toEqual([["UNTERMINATED_STRING", 27]]);
});

test.each(["shape A A", "shape A A?", "shape A B\nshape B A", 'shape A A | "x"'])(
    "a shape that is only itself ends the check: %s",
    (shapes) => {
        expect(Array.isArray(diagnose(`${shapes}\nmain func(n: number) -> A { n }\n`))).toBe(true);
    },
);
