/** Calls of functions of modules whose types are known. */
import { expect, test } from "vitest";
import { check } from "../src/check/check.ts";
import type { Signature } from "../src/contract/signature.ts";
import { showContract } from "../src/contract/show.ts";
import { declaredOf } from "../src/declare/starts.ts";
import { loadProgram, type Members } from "../src/load/program.ts";

const add: Signature = {
    name: "add",
    params: [
        { name: "a", contract: { type: "number" } },
        { name: "b", contract: { type: "number" }, optional: true },
    ],
    result: { type: "number" },
};
const twice: Signature = { name: "twice", params: [{ name: "n", contract: { type: "number" } }], result: { type: "number" } };
const item = { type: "object", fields: [{ name: "id", contract: { type: "string" } }] } as const;
const find: Signature = { name: "find", params: [{ name: "input", contract: item }], result: { type: "optional", of: item } };
const all: Signature = { name: "all", params: [{ name: "ids", contract: { type: "string" }, rest: true }], result: { type: "list", item } };

function checked(body: string, open = false) {
    const text = `import tool T from "./tools.ts"\nmain func(x) {\n${body}\n}\n`;
    const members: Members = { signatures: [add, twice, find, all], open };
    const allowTool = () => ({ allowed: true, members }) as const;
    return check(loadProgram("main.remit", { read: () => text, resolve: (_from, uri) => uri, allowTool }));
}
const told = (body: string, open?: boolean): string[] =>
    checked(body, open).diagnostics.flatMap((one) => (one.severity === "error" ? [`${one.code}: ${one.message}`] : []));

test.each([
    ["T.add(1)", []],
    ["T.add(1, x)", []],
    ["T.twice({ n: 1 })", []],
    ["T.twice(x)", []],
    ["T.add(x)", []],
    ['T.find({ id: "a", more: 1 })', []],
    ['T.all("a", "b", "c")', []],
    ["T.all()", []],
    ['T.add("1")', ["CONTRACT_MISMATCH: 'a' of T.add(): a string is given where a number is wanted"]],
    ['T.twice({ n: "2" })', ["CONTRACT_MISMATCH: the argument of T.twice(): in 'n' a string is given where a number is wanted"]],
    ["T.twice({ m: 2 })", ["CONTRACT_MISMATCH: the argument of T.twice(): the field 'n' is missing"]],
    // `arg 2: trusted` binds a place: an object is no way around it
    ["T.add({ a: 1, b: 2 })", ["CONTRACT_MISMATCH: 'a' of T.add(): an object is given where a number is wanted"]],
    ["T.add()", ["INVALID_ARGUMENT_COUNT: T.add() takes 1 to 2 arguments, not 0"]],
    ["T.add(1, 2, 3)", ["INVALID_ARGUMENT_COUNT: T.add() takes 1 to 2 arguments, not 3"]],
    ["T.find({ name: 1 })", ["CONTRACT_MISMATCH: 'input' of T.find(): the field 'id' is missing"]],
    ['T.all("a", 2)', ["CONTRACT_MISMATCH: 'ids' of T.all(): a number is given where a string is wanted"]],
    ["T.ad(1)", ["UNKNOWN_METHOD: the tool 'T' has no method 'ad'"]],
    ["T.add(1).length", ["UNKNOWN_PROPERTY: a number has no property 'length'"]],
])("%s", (body, wanted) => {
    expect(told(body)).toEqual(wanted);
});

test("a module that may have more is asked when it runs, and what a function gives is known to callers of the program", () => {
    expect(told("T.other(1)", true)).toEqual([]);
    const { main } = declaredOf(checked('{ n: T.add(1), found: T.find({ id: "a" }), all: T.all() }'));
    expect(main === null ? "" : showContract(main.output)).toBe("{ n: number, found: { id: string }?, all: list[{ id: string }] }");
});
