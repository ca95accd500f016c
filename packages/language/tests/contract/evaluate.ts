/**
 * A JSON Schema evaluator for the keywords that contracts use, straight from their definitions in draft 2020-12. Tests compare it with
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
    return typeof value === type;
}
