/**
 * A contract as source text, on one line: `{ severity: "low" | "high", files?: list[string] = [] }`.
 *
 * Boundary: text only. Layout over several lines is the printer's.
 *
 * SHW1: the text parses to the same contract.
 */
import type { Contract, Field, Json } from "./contract.ts";
import { isIdentifier } from "./open.ts";
import { quoteString } from "../syntax/strings.ts";

const MAX_DEPTH = 300;

export function showContract(contract: Contract): string {
    return show(contract, 0);
}

function show(c: Contract, depth: number): string {
    if (depth > MAX_DEPTH) return "json";
    switch (c.type) {
        case "list":
            return c.item === undefined ? "list" : `list[${show(c.item, depth + 1)}]`;
        case "object":
            return c.fields.length === 0 ? "{}" : `{ ${c.fields.map((field) => showField(field, depth + 1)).join(", ")} }`;
        case "literal":
            return showJson(c.value);
        case "union":
            return c.of.map((member) => (member.type === "union" ? `(${show(member, depth + 1)})` : show(member, depth + 1))).join(" | ");
        case "optional":
            return c.of.type === "union" || c.of.type === "optional" ? `(${show(c.of, depth + 1)})?` : `${show(c.of, depth + 1)}?`;
        case "ref":
            return c.name;
        default:
            return c.type;
    }
}

function showField(field: Field, depth: number): string {
    const name = isIdentifier(field.name) ? field.name : quoteString(field.name, '"');
    const fallback = field.default === undefined ? "" : ` = ${showJson(field.default)}`;
    const description = field.description === undefined ? "" : ` ${quoteString(field.description, '"')}`;
    return `${name}${field.optional === true ? "?" : ""}: ${show(field.contract, depth)}${fallback}${description}`;
}

/** A JSON value as a literal of the language. */
export function showJson(value: Json, depth = 0): string {
    if (value === null || depth > MAX_DEPTH) return "none";
    if (typeof value === "string") return quoteString(value, '"');
    if (typeof value !== "object") return numberText(value);
    if (Array.isArray(value)) return `[${value.map((item) => showJson(item, depth + 1)).join(", ")}]`;
    const entries = Object.entries(value).map(
        ([key, item]) => `${isIdentifier(key) ? key : quoteString(key, '"')}: ${showJson(item, depth + 1)}`,
    );
    return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

/** Without an exponent; with a fraction where the language takes no whole number of that size. */
export function numberText(value: number | boolean): string {
    if (typeof value === "boolean") return String(value);
    if (Object.is(value, -0)) return "-0";
    const large = Number.isInteger(value) && Math.abs(value) > 2 ** 53 ? ".0" : "";
    const text = String(value);
    const found = /^(-?)(\d)(?:\.(\d+))?e([+-])(\d+)$/.exec(text);
    if (found === null) return text + large;
    const [, sign = "", head = "", tail = "", direction, power] = found;
    const digits = head + tail;
    const by = Number(power);
    if (direction === "-") return `${sign}0.${"0".repeat(by - 1)}${digits}`;
    return sign + digits + "0".repeat(Math.max(0, by - tail.length)) + large;
}
