/**
 * The contract of an example.
 *
 * The rules, which do not change: a text is `string`, a number `number`, true and false `boolean`; none says nothing and is `json`; a list
 * is `list[T]` with what all its items have in common, `list` where it is empty; an object has the fields that it has, all required. Items
 * of a list: equal contracts are one; lists are joined by their items, objects field by field, and a field that some lack is optional; none
 * beside others makes `T?`; what is left is a union in order of appearance. A value is never taken for the only one allowed: no literals are inferred.
 *
 * IE1: the example holds the contract inferred from it.
 */
import type { Contract, Field, Json } from "./contract.ts";
import { FORBIDDEN_NAMES } from "./open.ts";

const MAX_DEPTH = 64;

export function inferContract(example: Json): Contract {
    return widen(infer(example, 0));
}

const ANY: Contract = { type: "json" };
const NONE: Contract = { type: "none" };

/** With `none` where nothing but none was seen. */
function infer(value: Json, depth: number): Contract {
    if (value === null) return NONE;
    if (depth > MAX_DEPTH) return ANY;
    switch (typeof value) {
        case "string":
            return { type: "string" };
        case "number":
            return { type: "number" };
        case "boolean":
            return { type: "boolean" };
        default:
            break;
    }
    if (Array.isArray(value)) {
        if (value.length === 0) return { type: "list" };
        return { type: "list", item: common(value.map((item) => infer(item, depth + 1))) };
    }
    const fields: Field[] = Object.entries(value).map(([name, member]) => ({ name, contract: infer(member, depth + 1) }));
    return fields.some((field) => FORBIDDEN_NAMES.has(field.name)) ? ANY : { type: "object", fields };
}

/** What several contracts, at least one, have in common. */
function common(of: readonly Contract[]): Contract {
    const out: Contract[] = [];
    let none = false;
    const add = (c: Contract): void => {
        if (c.type === "union") for (const member of c.of) add(member);
        else if (c.type === "optional") {
            none = true;
            add(c.of);
        } else if (c.type === "none") none = true;
        else {
            const same = out.findIndex((other) => other.type === c.type);
            if (same < 0) out.push(c);
            else out[same] = joined(out[same] as Contract, c);
        }
    };
    for (const c of of) add(c);
    if (out.some((c) => c.type === "json")) return ANY;
    if (out.length === 0) return NONE;
    const all: Contract = out.length === 1 ? (out[0] as Contract) : { type: "union", of: out };
    return none ? { type: "optional", of: all } : all;
}

/** Two contracts of one type. */
function joined(a: Contract, b: Contract): Contract {
    if (a.type === "list" && b.type === "list") {
        if (a.item === undefined || b.item === undefined) return a.item === undefined ? b : a;
        return { type: "list", item: common([a.item, b.item]) };
    }
    if (a.type === "object" && b.type === "object") return { type: "object", fields: joinedFields(a.fields, b.fields) };
    return a;
}

function joinedFields(a: readonly Field[], b: readonly Field[]): Field[] {
    const others = new Map(b.map((field) => [field.name, field]));
    const mine = new Set(a.map((field) => field.name));
    const out = a.map((field): Field => {
        const other = others.get(field.name);
        if (other === undefined) return { ...field, optional: true };
        const contract = common([field.contract, other.contract]);
        const optional = field.optional === true || other.optional === true;
        return optional ? { name: field.name, contract, optional } : { name: field.name, contract };
    });
    for (const field of b) if (!mine.has(field.name)) out.push({ ...field, optional: true });
    return out;
}

/** `json` where nothing but none was seen. */
function widen(c: Contract): Contract {
    switch (c.type) {
        case "none":
            return ANY;
        case "list":
            return c.item === undefined ? c : { type: "list", item: widen(c.item) };
        case "object":
            return { type: "object", fields: c.fields.map((field) => ({ ...field, contract: widen(field.contract) })) };
        case "optional":
            return { type: "optional", of: widen(c.of) };
        case "union":
            return { type: "union", of: c.of.map(widen) };
        default:
            return c;
    }
}
