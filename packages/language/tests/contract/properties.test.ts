/** Invariants of contracts (ZE1, SE2, K1, E1, E2 …) on random contracts and values. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkValue } from "../../src/contract/check.ts";
import { acceptValue, coerceValue } from "../../src/contract/coerce.ts";
import type { Contract, Json } from "../../src/contract/contract.ts";
import { contractOf } from "../../src/contract/from-tree.ts";
import { inferContract } from "../../src/contract/infer.ts";
import { takesNone } from "../../src/contract/open.ts";
import { toJsonSchema } from "../../src/contract/schema.ts";
import { showContract } from "../../src/contract/show.ts";
import { zeroValue } from "../../src/contract/zero.ts";
import { parse } from "../../src/syntax/parse/parse.ts";
import { source } from "../../src/text/source.ts";
import { anyContract, anyValue, SHAPES, holding } from "./arbitrary.ts";
import { validates } from "./evaluate.ts";

const RUNS = { numRuns: 500 };
const contractAndValue = anyContract.chain((contract) => fc.tuple(fc.constant(contract), fc.oneof(holding(contract, SHAPES), anyValue)));

/** Without fields that hold none in the place of nothing (K4), wherever the contract decides it alone: no unions. */
function hasDoubtfulNone(value: Json, contract: Contract): boolean {
    if (contract.type === "ref") return hasDoubtfulNone(value, SHAPES[contract.name] as Contract);
    if (contract.type === "optional") return hasDoubtfulNone(value, contract.of);
    if (contract.type === "union") return contract.of.some((of) => hasDoubtfulNone(value, of));
    if (contract.type === "list")
        return (
            Array.isArray(value) && contract.item !== undefined && value.some((item) => hasDoubtfulNone(item, contract.item as Contract))
        );
    if (contract.type !== "object" || value === null || typeof value !== "object" || Array.isArray(value)) return false;
    return contract.fields.some((field) => {
        if (!Object.hasOwn(value, field.name)) return false;
        const own = value[field.name] as Json;
        const absent = field.optional === true || field.default !== undefined;
        return (absent && own === null && !takesNone(field.contract, SHAPES)) || hasDoubtfulNone(own, field.contract);
    });
}

describe("contracts", () => {
    test("a value made from a contract holds it, in strict mode too", () => {
        const made = anyContract.chain((contract) => fc.tuple(fc.constant(contract), holding(contract, SHAPES)));
        fc.assert(
            fc.property(made, ([contract, value]) => {
                const found = checkValue(contract, value, SHAPES, { strict: true });
                expect(found.ok ? null : found.message).toBeNull();
            }),
            RUNS,
        );
    });

    test("ZE1: the zero value holds its contract", () => {
        fc.assert(
            fc.property(anyContract, (contract) => {
                const zero = zeroValue(contract, SHAPES);
                expect(zero).toBeDefined();
                expect(checkValue(contract, zero, SHAPES, { strict: true }).ok).toBe(true);
            }),
            RUNS,
        );
    });

    test("SE2: the JSON Schema and the strict check agree", () => {
        fc.assert(
            fc.property(contractAndValue, ([contract, value]) => {
                fc.pre(!hasDoubtfulNone(value, contract));
                expect(validates(value, toJsonSchema(contract, SHAPES))).toBe(checkValue(contract, value, SHAPES, { strict: true }).ok);
            }),
            { numRuns: 1500 },
        );
    });

    test("K1: checking changes nothing, and what it gives back holds as it is", () => {
        fc.assert(
            fc.property(contractAndValue, ([contract, value]) => {
                const before = JSON.stringify(value);
                const found = checkValue(contract, value, SHAPES);
                expect(JSON.stringify(value)).toBe(before);
                if (found.ok) expect(checkValue(contract, found.value, SHAPES)).toEqual({ ok: true, value: found.value });
                else expect(found.errors.length).toBeGreaterThan(0);
            }),
            RUNS,
        );
    });

    test("E1, E2: coercion changes nothing that holds, never its argument, and once is enough", () => {
        fc.assert(
            fc.property(contractAndValue, ([contract, value]) => {
                const before = JSON.stringify(value);
                const once = coerceValue(contract, value, SHAPES);
                expect(JSON.stringify(value)).toBe(before);
                expect(coerceValue(contract, once, SHAPES)).toEqual(once);
                if (checkValue(contract, value, SHAPES).ok) expect(once).toBe(value);
                if (acceptValue(contract, value, SHAPES, { strict: true }).ok) expect(acceptValue(contract, value, SHAPES).ok).toBe(true);
            }),
            RUNS,
        );
    });

    test("IE1: an example holds the contract inferred from it", () => {
        fc.assert(
            fc.property(anyValue, (example) => {
                const found = checkValue(inferContract(example), example, {});
                expect(found.ok ? null : found.message).toBeNull();
            }),
            { numRuns: 1000 },
        );
    });

    test("SHW1: a contract shown as source text reads as the same contract", () => {
        fc.assert(
            fc.property(anyContract, (contract) => {
                const text = `shape It ${showContract({ type: "object", fields: [{ name: "it", contract }] })}`;
                const file = parse(source(text));
                expect(file.diagnostics).toEqual([]);
                const shape = file.items[0];
                if (shape?.kind !== "shape") throw new Error("no shape");
                expect(contractOf(shape.contract)).toEqual({ type: "object", fields: [{ name: "it", contract }] });
            }),
            RUNS,
        );
    });

    test("nothing that is thrown at a contract throws", () => {
        fc.assert(
            fc.property(
                anyContract,
                fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
                (contract, value) => {
                    const found = acceptValue(contract, value, SHAPES);
                    expect(typeof found.ok).toBe("boolean");
                },
            ),
            RUNS,
        );
    });
});
