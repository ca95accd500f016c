/**
 * A contract as a TypeScript type.
 *
 * Boundary: text only. Shapes keep their names; `typescriptDeclarations` declares them. `json` is `Json`, which the reader of the text
 * must have in scope.
 */
import type { Contract, Field, Shapes } from "./contract.ts";
import { isIdentifier, membersOf } from "./open.ts";

const MAX_DEPTH = 300;

export interface TypeTextOptions {
    /** Levels of four spaces from which on objects are indented. */
    readonly indent?: number;
    /** The type of a value that has passed the contract: a field with a default is there. Otherwise it may be left out. */
    readonly passed?: boolean;
    /** What stands for `json`. */
    readonly json?: string;
    /** What stands for a shape. */
    readonly nameOf?: (shape: string) => string;
}

/** The type as text; objects over several lines. */
export function typescriptType(contract: Contract, options: TypeTextOptions = {}): string {
    return typeText(contract, options, options.indent ?? 0, 0);
}

/** `export type Name = …;` for every shape, in order. */
export function typescriptDeclarations(shapes: Shapes): string {
    return Object.keys(shapes)
        .map((name) => `export type ${name} = ${typescriptType(shapes[name] as Contract)};\n`)
        .join("\n");
}

function typeText(c: Contract, o: TypeTextOptions, indent: number, depth: number): string {
    const json = o.json ?? "Json";
    if (depth > MAX_DEPTH) return json;
    switch (c.type) {
        case "json":
            return json;
        case "none":
            return "null";
        case "literal":
            return JSON.stringify(c.value);
        case "ref":
            return o.nameOf?.(c.name) ?? c.name;
        case "list": {
            if (c.item === undefined) return `${json}[]`;
            const item = typeText(c.item, o, indent, depth + 1);
            const several = c.item.type === "union" || c.item.type === "optional";
            return several ? `(${item})[]` : `${item}[]`;
        }
        case "optional":
        case "union": {
            // Names are not followed, so that a union of shapes stays readable.
            const members = membersOf(c, {}).map((member) => typeText(member, o, indent, depth + 1));
            return members.length === 0 ? "never" : [...new Set(members)].join(" | ");
        }
        case "object":
            return objectText(c.fields, o, indent, depth);
        default:
            return c.type;
    }
}

function objectText(fields: readonly Field[], o: TypeTextOptions, indent: number, depth: number): string {
    if (fields.length === 0) return `{ [key: string]: ${o.json ?? "Json"} }`;
    const pad = "    ".repeat(indent + 1);
    const lines = fields.map((field) => {
        const name = isIdentifier(field.name) ? field.name : JSON.stringify(field.name);
        const absent = field.default === undefined ? field.optional === true : o.passed !== true;
        return `${comment(field, pad)}${pad}${name}${absent ? "?" : ""}: ${typeText(field.contract, o, indent + 1, depth + 1)};`;
    });
    return `{\n${lines.join("\n")}\n${"    ".repeat(indent)}}`;
}

function comment(field: Field, pad: string): string {
    const parts: string[] = [];
    if (field.description !== undefined) parts.push(inComment(field.description));
    if (field.default !== undefined) parts.push(`Default: ${inComment(JSON.stringify(field.default))}.`);
    return parts.length === 0 ? "" : `${pad}/** ${parts.join(" ")} */\n`;
}

/** One line that cannot end the comment it stands in. */
export function inComment(text: string): string {
    return text.replaceAll("*/", "*\\/").replace(/\s*[\n\r\u2028\u2029]\s*/g, " ");
}
