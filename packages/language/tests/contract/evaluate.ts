/**
 * A JSON Schema evaluator for the keywords that our schemas use, straight from their definitions in draft 2020-12. Tests compare it with
 * the checker.
 */
import type { Json } from "../../src/contract/contract.ts";

type Schema = { [key: string]: Json };

export function validates(value: Json, schema: Json, root: Json = schema): boolean {
    const s = schema as Schema;
    if (typeof s.$ref === "string") {
        const name = s.$ref.slice("#/$defs/".length);
        if (!validates(value, ((root as Schema).$defs as Schema)[name] as Json, root)) return false;
    }
    if (s.not !== undefined && validates(value, s.not, root)) return false;
    if (s.type !== undefined && !(Array.isArray(s.type) ? s.type : [s.type]).some((type) => isType(value, type as string))) return false;
    if (s.enum !== undefined && !(s.enum as Json[]).includes(value)) return false;
    if (s.const !== undefined && s.const !== value) return false;
    if (s.oneOf !== undefined && (s.oneOf as Json[]).filter((member) => validates(value, member, root)).length !== 1) return false;
    if (typeof value === "number") {
        if (value < ((s.minimum ?? value) as number) || value > ((s.maximum ?? value) as number)) return false;
        if (s.exclusiveMinimum !== undefined && value <= (s.exclusiveMinimum as number)) return false;
    }
    if (typeof value === "string") {
        if ([...value].length < ((s.minLength ?? 0) as number)) return false;
        if (s.pattern !== undefined && !new RegExp(s.pattern as string, "u").test(value)) return false;
    }
    if (Array.isArray(value)) {
        if (value.length < ((s.minItems ?? 0) as number) || value.length > ((s.maxItems ?? value.length) as number)) return false;
    }
    if (s.anyOf !== undefined && !(s.anyOf as Json[]).some((member) => validates(value, member, root))) return false;
    if (Array.isArray(value) && s.items !== undefined && !value.every((item) => validates(item, s.items as Json, root))) return false;
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
        const properties = (s.properties ?? {}) as Schema;
        for (const name of (s.required ?? []) as string[]) if (!Object.hasOwn(value, name)) return false;
        for (const [name, member] of Object.entries(value)) {
            if (Object.hasOwn(properties, name)) {
                if (!validates(member, properties[name] as Json, root)) return false;
            } else if (s.additionalProperties === false) return false;
        }
    }
    return true;
}

function isType(value: Json, type: string): boolean {
    if (type === "null") return value === null;
    if (type === "array") return Array.isArray(value);
    if (type === "object") return value !== null && typeof value === "object" && !Array.isArray(value);
    if (type === "integer") return Number.isInteger(value);
    return typeof value === type;
}
