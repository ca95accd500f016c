/** What a person types, read against a contract (I1, I2). */
import type { Contract, Json } from "@remit/language";
import type { InputRequest } from "@remit/machine";
import fc from "fast-check";
import { expect, test } from "vitest";
import { expectedOf, readAnswer } from "../../src/input/answer.ts";
import { askField } from "../../src/input/ask.ts";

const string: Contract = { type: "string" };
const number: Contract = { type: "number" };
const level: Contract = {
    type: "union",
    of: [
        { type: "literal", value: "low" },
        { type: "literal", value: "high" },
        { type: "literal", value: 3 },
    ],
};

const cases: [string, Contract, Json | undefined][] = [
    ["hello world", string, "hello world"],
    ["42", string, "42"],
    ["true", string, "true"],
    ['"quoted"', string, "quoted"],
    ['say "x"', string, 'say "x"'],
    ["", string, ""],
    ["line\n", string, "line"],
    ["42", number, 42],
    [" -2.5e3 ", number, -2500],
    ["four", number, undefined],
    ["", number, undefined],
    ["yes", { type: "boolean" }, true],
    ["N", { type: "boolean" }, false],
    ["TRUE", { type: "boolean" }, true],
    ["1", { type: "boolean" }, undefined],
    ["[1, 2]", { type: "list" }, [1, 2]],
    ["1, 2", { type: "list" }, undefined],
    ['{"a": 1}', { type: "object", fields: [] }, { a: 1 }],
    ["[1]", { type: "object", fields: [] }, undefined],
    ['{"a": 1}', { type: "json" }, { a: 1 }],
    ["free", { type: "json" }, "free"],
    ["low", level, "low"],
    ["3", level, 3],
    ['"high"', level, undefined],
    ["middle", level, undefined],
    ["", { type: "optional", of: number }, null],
    ["7", { type: "optional", of: number }, 7],
    ["7", { type: "union", of: [string, number] }, 7],
    ["seven", { type: "union", of: [string, number] }, "seven"],
    ["low", { type: "ref", name: "Level" }, "low"],
    ["anything", { type: "ref", name: "Unknown" }, "anything"],
];

test.each(cases)("%j as %j", (text, contract, wanted) => {
    const read = readAnswer(text, contract, { Level: level });
    expect(read).toEqual(wanted === undefined ? { ok: false, message: `expected ${expectedOf(contract)}` } : { ok: true, value: wanted });
});

const row: Contract = { type: "object", fields: [{ name: "n", contract: number }] };
const inside: [string, Contract, string][] = [
    ['["a", 2]', { type: "list", item: string }, "expected a list, as JSON: the answer field must be a string: '[1]' is a number"],
    ["[3, 4]", { type: "optional", of: { type: "list", item: level } }, `one of "low", "high", 3: '[1]' is 4`],
    ['{"n": "x"}', row, "expected an object, as JSON: the answer field must be a number: 'n' is a string"],
    ["{}", row, "is missing required field 'n'"],
    ['[{"n": 1}, {"n": "x"}]', { type: "list", item: { type: "ref", name: "Row" } }, "'[1].n' is a string"],
];

test.each(inside)("I3: of %j it is said what does not fit", (text, contract, why) => {
    expect(readAnswer(text, contract, { Row: row })).toEqual({ ok: false, message: expect.stringContaining(why) });
});

test("I3: what holds its contract in another way is taken, and what a shape says that is not known is left to the machine", () => {
    const lists: Contract = { type: "union", of: [number, string].map((item) => ({ type: "list", item })) };
    expect(readAnswer('["a"]', lists)).toEqual({ ok: true, value: ["a"] });
    const unknown: Contract = { type: "list", item: { type: "ref", name: "Row" } };
    expect(readAnswer('[{"n": "x"}]', unknown)).toEqual({ ok: true, value: [{ n: "x" }] });
});

test("what is expected is said in words", () => {
    expect([string, number, level, { type: "optional", of: number } as const].map((one) => expectedOf(one))).toEqual([
        "text",
        "a number",
        '"low" or "high" or 3',
        "a number",
    ]);
});

test("no text and no circle of shapes makes it throw", () => {
    const circle = { A: { type: "ref", name: "A" } } as const;
    fc.assert(fc.property(fc.string(), (text) => typeof readAnswer(text, { type: "ref", name: "A" }, circle).ok === "boolean"));
});

test("a person is asked again, told why, and may give up", async () => {
    const request: InputRequest = { name: "input.n", contract: number };
    const { signal } = new AbortController();
    const lines = ["x", "7"];
    const told: (string | undefined)[] = [];
    const ask = async (_request: InputRequest, about: { readonly again?: string }) => {
        told.push(about.again);
        return lines.shift() ?? null;
    };
    expect(await askField(request, ask, { signal })).toEqual({ value: 7 });
    expect(told).toEqual([undefined, "expected a number"]);
    expect(await askField(request, ask, { signal })).toBe(null);
    expect(await askField(request, async () => "never", { signal })).toBe(null);
});
