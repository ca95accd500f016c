/** PRG1: a program of a ledger is compared with its hash once for each text, and never for another text. */
import { createHash } from "node:crypto";
import { canonicalJson, type Json } from "@remit/language";
import { expect, test } from "vitest";
import { programIn } from "../../src/ledger/programs.ts";

const form = (n: number): Json => ({
    format: "remit-program/1",
    files: [{ file: `${n}.remit`, imports: [], shapes: [], funcs: [], agents: [] }],
});
const hashOf = (value: Json): string => createHash("sha256").update(canonicalJson(value)).digest("hex");

test("of the same text it is the same program", () => {
    const [text, hash] = [JSON.stringify(form(1)), hashOf(form(1))];
    const first = programIn(text, hash);
    expect(first).toEqual(form(1));
    expect(programIn(text, hash)).toBe(first);
});

test("a changed text of a hash that is known is none, and takes nothing from the right one", () => {
    const [text, hash] = [JSON.stringify(form(2)), hashOf(form(2))];
    const right = programIn(text, hash);
    expect(programIn(JSON.stringify(form(3)), hash)).toBe(null);
    expect(programIn(text, hash)).toBe(right);
    expect(programIn(text, hashOf(form(3)))).toBe(null);
    expect(() => programIn("{", hash)).toThrow(SyntaxError);
});

test("those that were not asked for lately are read again", () => {
    const [text, hash] = [JSON.stringify(form(4)), hashOf(form(4))];
    const first = programIn(text, hash);
    for (let n = 100; n < 200; n++) programIn(JSON.stringify(form(n)), hashOf(form(n)));
    const again = programIn(text, hash);
    expect(again).toEqual(first);
    expect(again).not.toBe(first);
});
