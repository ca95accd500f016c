/**
 * What a function gives, as a contract, so that its callers outside the program have a type.
 *
 * Boundary: from the checker's types to contracts. Where a contract is declared it is that one; else what the walk has found.
 *
 * RSL1: a contract says no more than is true: what an assignment may have changed since is `json`.
 */
import type { Contract, Field, Shapes } from "../contract/contract.ts";
import { contractOf } from "../contract/from-tree.ts";
import type { Checking, FileScope, FuncInfo } from "../scope/model.ts";
import { FROM_FIELD, FROM_LIST, type Type } from "../scope/types.ts";

const JSON_VALUE: Contract = { type: "json" };
const ANY_OBJECT: Contract = { type: "object", fields: [] };
/** Types and contracts in one result; a list of shapes that name one another would be longer than of use. */
const MAX_NODES = 500;
const MAX_DEPTH = 12;

type Changes = Pick<Checking, "assigned" | "anyAssigned" | "itemsAssigned" | "objectsChange" | "listsChange">;

interface Reading {
    readonly changes: Changes;
    /** Whose shapes keep their names. */
    readonly file: FileScope;
    left: number;
}

/** Names in it are shapes of the function's own file. */
export function resultOf(func: FuncInfo, changes: Changes): Contract {
    const { node, file } = func;
    return node.result === undefined ? fromType(func.result, { changes, file, left: MAX_NODES }, 0) : contractOf(node.result);
}

/** Shapes of a file by name. */
export function shapesOf(file: FileScope): Shapes {
    return Object.fromEntries([...file.shapes].map(([name, { contract }]) => [name, contractOf(contract)]));
}

function fromType(type: Type, x: Reading, depth: number): Contract {
    const { changes } = x;
    if (--x.left < 0 || depth > MAX_DEPTH || type.cap !== null) return JSON_VALUE;
    if ((type.soft & FROM_FIELD) !== 0 && (changes.objectsChange || changes.anyAssigned)) return JSON_VALUE;
    if ((type.soft & FROM_LIST) !== 0 && (changes.listsChange || changes.itemsAssigned)) return JSON_VALUE;
    const contract = present(type, x, depth);
    return type.optional && contract.type !== "json" ? { type: "optional", of: contract } : contract;
}

function present(type: Type, x: Reading, depth: number): Contract {
    switch (type.kind) {
        case "string":
            return type.values === null || type.values.length === 0
                ? { type: "string" }
                : { type: "union", of: type.values.map((value) => ({ type: "literal", value })) };
        case "number":
        case "boolean":
        case "none":
            return { type: type.kind };
        case "list": {
            const known = type.item !== null && !x.changes.listsChange && !x.changes.itemsAssigned;
            return known ? { type: "list", item: fromType(type.item as Type, x, depth + 1) } : { type: "list" };
        }
        case "object":
            return object(type, x, depth);
        default:
            return JSON_VALUE;
    }
}

function object(type: Type, x: Reading, depth: number): Contract {
    const { assigned, anyAssigned, objectsChange } = x.changes;
    if (type.contract !== null && type.file !== null) {
        if (objectsChange || anyAssigned) return ANY_OBJECT;
        const { contract, file } = type;
        if (file !== x.file) return inlined(contractOf(contract), shapesOf(file), x, depth);
        const [name] = [...file.shapes].find(([, shape]) => shape.contract === contract) ?? [];
        return name === undefined ? contractOf(contract) : { type: "ref", name };
    }
    if (type.fields === null || anyAssigned) return ANY_OBJECT;
    const fields = [...type.fields].map(
        ([name, of]): Field => ({ name, contract: assigned.has(name) ? JSON_VALUE : fromType(of, x, depth + 1) }),
    );
    return { type: "object", fields };
}

/** A contract of another file, whose names mean nothing here. */
function inlined(contract: Contract, shapes: Shapes, x: Reading, depth: number): Contract {
    if (--x.left < 0 || depth > MAX_DEPTH) return JSON_VALUE;
    const inner = (one: Contract): Contract => inlined(one, shapes, x, depth + 1);
    switch (contract.type) {
        case "ref":
            return Object.hasOwn(shapes, contract.name) ? inner(shapes[contract.name] as Contract) : JSON_VALUE;
        case "list":
            return contract.item === undefined ? contract : { type: "list", item: inner(contract.item) };
        case "optional":
            return { type: "optional", of: inner(contract.of) };
        case "union":
            return { type: "union", of: contract.of.map(inner) };
        case "object":
            return { type: "object", fields: contract.fields.map((field) => ({ ...field, contract: inner(field.contract) })) };
        default:
            return contract;
    }
}
