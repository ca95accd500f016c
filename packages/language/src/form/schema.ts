/**
 * The JSON Schema of the program form (draft 2020-12), made from the same table as the validator.
 *
 * Boundary: structure only. Names in scope, loops around `break` and the caps are not in the schema; the validator has them.
 */
import type { Json } from "../contract/contract.ts";
import { FORBIDDEN_NAMES } from "../contract/open.ts";
import { FORM } from "./form.ts";
import { GROUPS, type GroupName, type Keys, NEVER_VARIABLES, NODES, RECORDS, type RecordName, type Rule } from "./table.ts";

type JsonObject = { [key: string]: Json };

export const PROGRAM_SCHEMA_ID = "urn:remit:schema:program-form-1";

/** The schema of a whole program. */
export function programJsonSchema(): JsonObject {
    return {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $id: PROGRAM_SCHEMA_ID,
        title: `Remit program form (${FORM})`,
        $ref: "#/$defs/Program",
        $defs: definitions(),
    };
}

function definitions(): JsonObject {
    const defs: JsonObject = {
        name: nameSchema([]),
        variable: nameSchema([...NEVER_VARIABLES]),
        key: { type: "string", not: { enum: [...FORBIDDEN_NAMES] } },
    };
    for (const name of Object.keys(RECORDS)) defs[name] = objectSchema(RECORDS[name as RecordName]);
    for (const [table, kinds] of Object.entries(NODES))
        for (const [kind, keys] of Object.entries(kinds))
            defs[nodeName(table, kind)] = objectSchema(keys, table === "contract" ? "type" : "kind", kind);
    for (const name of Object.keys(GROUPS)) {
        const { kinds } = GROUPS[name as GroupName];
        defs[name] = { oneOf: kinds.map((kind) => ({ $ref: `#/$defs/${nodeName(tableOf(name as GroupName, kind), kind)}` })) };
    }
    return defs;
}

/** `statement.if`, `expression.if.expr`, `contract.list`. */
function nodeName(table: string, kind: string): string {
    return `${table}.${kind}`;
}

function tableOf(group: GroupName, kind: string): string {
    if (group === "statement" || group === "setting") return "statement";
    if (group === "contract" || group === "clause" || group === "flow" || group === "value") return group;
    if (group === "block") return "flow";
    return Object.hasOwn(NODES.part, kind) ? "part" : "expression";
}

function nameSchema(words: readonly string[]): JsonObject {
    return { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_]*$", not: { enum: [...FORBIDDEN_NAMES, ...words] } };
}

function objectSchema(keys: Keys, discriminator?: string, kind?: string): JsonObject {
    const properties: JsonObject = {};
    const required: string[] = [];
    if (discriminator !== undefined && kind !== undefined) {
        properties[discriminator] = { const: kind };
        required.push(discriminator);
    }
    for (const [key, { rule, required: needed, says }] of Object.entries(keys)) {
        const schema = ruleSchema(rule);
        properties[key] = says === undefined ? schema : { ...schema, description: says };
        if (needed) required.push(key);
    }
    return { type: "object", properties, required, additionalProperties: false };
}

const LARGEST = Number.MAX_SAFE_INTEGER;

function ruleSchema(rule: Rule): JsonObject {
    switch (rule.rule) {
        case "text":
            return {
                type: "string",
                ...(rule.min === undefined ? {} : { minLength: rule.min }),
                ...(rule.pattern === undefined ? {} : { pattern: rule.pattern.source }),
            };
        case "name":
        case "variable":
        case "key":
            return { $ref: `#/$defs/${rule.rule}` };
        case "integer":
            return { type: "integer", minimum: rule.min, maximum: LARGEST };
        case "number":
            return {
                type: "number",
                ...(rule.min === undefined ? {} : { minimum: rule.min }),
                ...(rule.above === undefined ? {} : { exclusiveMinimum: rule.above }),
            };
        case "boolean":
            return { type: "boolean" };
        case "one":
            return rule.of.length === 1 ? { const: rule.of[0] as Json } : { enum: [...rule.of] };
        case "literal":
            return { type: rule.expression ? ["string", "number", "boolean", "null"] : ["string", "number", "boolean"] };
        case "json":
            return {};
        case "list":
            return {
                type: "array",
                items: ruleSchema(rule.of),
                ...(rule.min === undefined ? {} : { minItems: rule.min }),
                ...(rule.max === undefined ? {} : { maxItems: rule.max }),
            };
        case "record":
            return { $ref: `#/$defs/${rule.of}` };
        case "node":
            return { $ref: `#/$defs/${rule.of}` };
    }
}
