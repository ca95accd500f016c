/**
 * Random contracts, values that hold them, and values that may not.
 */
import fc from "fast-check";
import type { Contract, Field, Json, Shapes } from "../../src/contract/contract.ts";

export const SHAPES: Shapes = {
    Point: {
        type: "object",
        fields: [
            { name: "x", contract: { type: "number" } },
            { name: "y", contract: { type: "number" }, default: 0 },
        ],
    },
    Tree: {
        type: "object",
        fields: [
            { name: "name", contract: { type: "string" } },
            { name: "children", contract: { type: "list", item: { type: "ref", name: "Tree" } }, optional: true },
        ],
    },
    Level: {
        type: "union",
        of: [
            { type: "literal", value: "low" },
            { type: "literal", value: "high" },
        ],
    },
    Chain: {
        type: "union",
        of: [{ type: "none" }, { type: "object", fields: [{ name: "next", contract: { type: "ref", name: "Chain" } }] }],
    },
};

const fieldName = fc.constantFrom("a", "b", "c", "count", "list", "odd key", "é");
const literal = fc.constantFrom<string | number | boolean>("low", "high", "", 'a "b"', 1, -2.5, true, false);

function fieldsOf(contract: fc.Arbitrary<Contract>): fc.Arbitrary<Field[]> {
    const field = fc
        .record({
            name: fieldName,
            contract,
            mode: fc.constantFrom("required", "optional", "default"),
            description: fc.option(fc.string(), { nil: undefined }),
        })
        .chain(({ name, contract: of, mode, description }): fc.Arbitrary<Field> => {
            const remark = description === undefined ? {} : { description };
            if (mode === "default") return holding(of, SHAPES).map((value) => ({ name, contract: of, default: value, ...remark }));
            return fc.constant(mode === "optional" ? { name, contract: of, optional: true, ...remark } : { name, contract: of, ...remark });
        });
    return fc.uniqueArray(field, { selector: (one) => one.name, maxLength: 4 });
}

const tied = fc.letrec<{ contract: Contract }>((tie) => ({
    contract: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.constantFrom<Contract>(
            { type: "string" },
            { type: "number" },
            { type: "boolean" },
            { type: "json" },
            { type: "none" },
            { type: "list" },
        ),
        literal.map((value): Contract => ({ type: "literal", value })),
        fc.constantFrom(...Object.keys(SHAPES)).map((name): Contract => ({ type: "ref", name })),
        tie("contract").map((item): Contract => ({ type: "list", item })),
        tie("contract").map((of): Contract => ({ type: "optional", of })),
        fc.array(tie("contract"), { minLength: 2, maxLength: 3 }).map((of): Contract => ({ type: "union", of })),
        fieldsOf(tie("contract")).map((fields): Contract => ({ type: "object", fields })),
    ),
}));

export const anyContract: fc.Arbitrary<Contract> = tied.contract;

const KEYS = fc.constantFrom("a", "b", "c", "count", "list", "odd key", "é", "x", "y", "name", "children", "next", "extra");

/** Values with the names that the contracts use, so that near misses are common. */
export const anyValue: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.constantFrom<Json>(null, true, false, 0, 1, -2.5, "low", "high", "", "42", " TRUE ", "1e3"),
        fc.string().map((text): Json => text),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((n): Json => (n === 0 ? 0 : n)),
        fc.array(tie("value"), { maxLength: 3 }).map((list): Json => list),
        fc.dictionary(KEYS, tie("value"), { maxKeys: 4 }).map((object): Json => ({ ...object })),
    ),
})).value;

/** Values that hold the contract; declared fields only, and never none in the place of nothing. */
export function holding(contract: Contract, shapes: Shapes, depth = 0): fc.Arbitrary<Json> {
    switch (contract.type) {
        case "string":
            return fc.string();
        case "number":
            return fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n));
        case "boolean":
            return fc.boolean();
        case "json":
            return anyValue;
        case "none":
            return fc.constant(null);
        case "literal":
            return fc.constant(contract.value);
        case "list":
            return depth > 3
                ? fc.constant([])
                : fc.array(contract.item === undefined ? anyValue : holding(contract.item, shapes, depth + 1), { maxLength: 3 });
        case "optional":
            return depth > 3 ? fc.constant(null) : fc.oneof(fc.constant(null), holding(contract.of, shapes, depth + 1));
        case "union":
            return depth > 3
                ? holding(contract.of[0] as Contract, shapes, depth + 1)
                : fc.oneof(...contract.of.map((of) => holding(of, shapes, depth + 1)));
        case "ref":
            return holding(shapes[contract.name] as Contract, shapes, depth + 1);
        case "object": {
            const model: { [name: string]: fc.Arbitrary<Json | undefined> } = {};
            for (const field of contract.fields) {
                const value = holding(field.contract, shapes, depth + 1);
                const absent = field.optional === true || field.default !== undefined;
                // none in an optional field counts as absent where the contract takes no none; left to tests of their own.
                model[field.name] = absent ? (depth > 3 ? fc.constant(undefined) : fc.option(value, { nil: undefined })) : value;
            }
            return fc
                .record(model)
                .map((object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Json);
        }
    }
}
