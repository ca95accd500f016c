/** WST1: all but one thing about errors is as it was, for interceptors and converters of a team that run beside `remitRun`. */
import { afterEach, expect, test } from "vitest";
import { withoutStacks } from "../src/workflow/stacks.ts";

const Usual = globalThis.Error;
afterEach(() => {
    globalThis.Error = Usual;
});

test("WST1: an error without a text has the first line of a stack", () => {
    withoutStacks();
    const error = new Error();
    expect([error.stack, error.message, String(error), Object.keys(error)]).toEqual(["Error", "", "Error", []]);
    expect(error instanceof Error && error instanceof Usual).toBe(true);
});

test("WST1: any other error, and a class of errors that is made later, has its stack and its own prototype", () => {
    withoutStacks();
    class Late extends Error {
        override name = "Late";
    }
    const made = [new Late(), new Late("late"), new Error("text", { cause: 1 }), Error("called"), new TypeError()];
    for (const error of made) {
        expect(error.stack).toContain("stacks.test.ts");
        expect(error instanceof Error && error instanceof Usual).toBe(true);
    }
    expect(made.slice(0, 2).every((error) => error instanceof Late)).toBe(true);
    expect(made[2]?.cause).toBe(1);
    expect([Error.prototype, Error.name, Error.captureStackTrace]).toEqual([Usual.prototype, "Error", Usual.captureStackTrace]);
    const { stackTraceLimit } = Usual;
    Error.stackTraceLimit = 1;
    expect(Usual.stackTraceLimit).toBe(1);
    Usual.stackTraceLimit = stackTraceLimit;
});
