/**
 * Contracts as written, as contracts.
 *
 * Boundary: says nothing about what is wrong with them (the checker does); what cannot be read is `json`.
 */
import type { ContractNode, Expr } from "../syntax/tree.ts";
import type { Contract, Field, Json } from "./contract.ts";
import { setOwn } from "./open.ts";

const NAMED: Readonly<Record<string, Contract>> = {
    string: { type: "string" },
    number: { type: "number" },
    boolean: { type: "boolean" },
    json: { type: "json" },
    none: { type: "none" },
    list: { type: "list" },
};

/** Names of contracts that no shape can have. */
export const CONTRACT_NAMES: readonly string[] = Object.keys(NAMED);

export function contractOf(node: ContractNode): Contract {
    switch (node.kind) {
        case "c.name":
            return Object.hasOwn(NAMED, node.name.text) ? (NAMED[node.name.text] as Contract) : { type: "ref", name: node.name.text };
        case "c.list":
            return { type: "list", item: contractOf(node.item) };
        case "c.literal":
            return node.value === null ? { type: "none" } : { type: "literal", value: node.value };
        case "c.optional":
            return { type: "optional", of: contractOf(node.of) };
        case "c.union":
            return { type: "union", of: node.members.map(contractOf) };
        case "c.object":
            return { type: "object", fields: node.fields.map(fieldOf) };
    }
}

function fieldOf(field: (ContractNode & { kind: "c.object" })["fields"][number]): Field {
    const fallback = field.default === undefined ? undefined : literalOf(field.default);
    return {
        name: field.name.text,
        contract: field.type === undefined ? { type: "string" } : contractOf(field.type),
        ...(field.optional ? { optional: true as const } : {}),
        ...(fallback === undefined ? {} : { default: fallback }),
        ...(field.description === undefined ? {} : { description: field.description.value }),
    };
}

/** The JSON value of a literal expression; undefined for what is none. */
export function literalOf(expr: Expr): Json | undefined {
    switch (expr.kind) {
        case "string":
        case "number":
        case "bool":
            return expr.value;
        case "none":
            return null;
        case "paren":
            return literalOf(expr.value);
        case "unary":
            return expr.op === "-" && expr.value.kind === "number" ? -expr.value.value : undefined;
        case "list": {
            const out: Json[] = [];
            for (const item of expr.items) {
                const value = item.kind === "spread" ? undefined : literalOf(item);
                if (value === undefined) return undefined;
                out.push(value);
            }
            return out;
        }
        case "object": {
            const out: { [key: string]: Json } = {};
            for (const entry of expr.entries) {
                const value = entry.kind === "spread" ? undefined : literalOf(entry.value);
                if (value === undefined || entry.kind === "spread") return undefined;
                setOwn(out, entry.key.text, value);
            }
            return out;
        }
        default:
            return undefined;
    }
}
