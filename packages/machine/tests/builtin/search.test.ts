/** Searching: what the engine's own search finds, in linear time. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { find, findAll } from "../../src/builtin/search.ts";

const letters = (maxLength: number) => fc.string({ unit: fc.constantFrom("a", "b"), maxLength });

test("finds what the engine finds, in texts that repeat themselves", () => {
    fc.assert(
        fc.property(letters(300), letters(5), fc.nat(120), fc.nat(120), letters(2), fc.nat(100), (start, unit, many, more, end, from) => {
            const text = start + unit.repeat(many) + start.slice(0, 4) + unit.repeat(more) + end;
            const part = unit.repeat(Math.ceil(33 / Math.max(1, unit.length)) + (many % 30)) + end;
            expect(find(text, part, from)).toBe(text.indexOf(part, from));
            if (part !== "") expect([...findAll(text, part)].length).toBe(text.split(part).length - 1);
        }),
        { numRuns: 2000 },
    );
});

test("finds any part of a text", () => {
    fc.assert(
        fc.property(letters(400), fc.nat(300), fc.nat(200), (text, at, length) => {
            const part = text.slice(at, at + 33 + length);
            expect(find(text, part)).toBe(text.indexOf(part));
        }),
        { numRuns: 2000 },
    );
});
