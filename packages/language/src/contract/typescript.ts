/**
 * A contract as a TypeScript type.
 *
 * Boundary: text only. Shapes keep their names; `typescriptDeclarations` declares them. `json` is `Json`, which the reader of the text
 * must have in scope.
 */
import type { Contract, Field, Shapes } from "./contract.ts";
import { isIdentifier, membersOf } from "./open.ts";

const MAX_DEPTH = 300;

/** The type as text; objects over several lines, indented by four spaces from `indent` levels on. */
export function typescriptType(contract: Contract, shapes: Shapes, indent = 0): string {
    return typeText(contract, shapes, indent, 0);
}

/** `export type Name = …;` for every shape, in order. */
export function typescriptDeclarations(shapes: Shapes): string {
    return Object.keys(shapes)
        .map((name) => `export type ${name} = ${typescriptType(shapes[name] as Contract, {})};\n`)
        .join("\n");
}

function typeText(c: Contract, shapes: Shapes, indent: number, depth: number): string {
    if (depth > MAX_DEPTH) return "Json";
    switch (c.type) {
        case "json":
            return "Json";
        case "none":
            return "null";
        case "literal":
            return JSON.stringify(c.value);
        case "ref":
            return c.name;
        case "list": {
            if (c.item === undefined) return "Json[]";
            const item = typeText(c.item, shapes, indent, depth + 1);
            const several = c.item.type === "union" || c.item.type === "optional";
            return several ? `(${item})[]` : `${item}[]`;
        }
        case "optional":
        case "union": {
            // Names are not followed, so that a union of shapes stays readable.
            const members = membersOf(c, {}).map((member) => typeText(member, shapes, indent, depth + 1));
            return members.length === 0 ? "never" : [...new Set(members)].join(" | ");
        }
        case "object":
            return objectText(c.fields, shapes, indent, depth);
        default:
            return c.type;
    }
}

function objectText(fields: readonly Field[], shapes: Shapes, indent: number, depth: number): string {
    if (fields.length === 0) return "{ [key: string]: Json }";
    const pad = "    ".repeat(indent + 1);
    const lines = fields.map((field) => {
        const name = isIdentifier(field.name) ? field.name : JSON.stringify(field.name);
        const optional = field.optional === true || field.default !== undefined ? "?" : "";
        return `${comment(field, pad)}${pad}${name}${optional}: ${typeText(field.contract, shapes, indent + 1, depth + 1)};`;
    });
    return `{\n${lines.join("\n")}\n${"    ".repeat(indent)}}`;
}

function comment(field: Field, pad: string): string {
    const parts: string[] = [];
    if (field.description !== undefined) parts.push(field.description.replaceAll("*/", "*\\/").replace(/\s*\n\s*/g, " "));
    if (field.default !== undefined) parts.push(`Default: ${JSON.stringify(field.default).replaceAll("*/", "*\\/")}.`);
    return parts.length === 0 ? "" : `${pad}/** ${parts.join(" ")} */\n`;
}
