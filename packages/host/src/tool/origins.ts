/**
 * A value and where parts of it come from, as a function of the calling program may say it.
 *
 * Boundary: a shape. What is said is added to `tool:NAME`, never in its place: a function cannot make its result more trusted.
 */
import { ToolFail } from "./tool.ts";

export type Parts = { readonly [pointer: string]: readonly string[] };

export class WithOrigins {
    readonly value: unknown;
    readonly parts: Parts;
    constructor(value: unknown, parts: Parts) {
        this.value = value;
        this.parts = parts;
    }
}

/**
 * Says where parts of a result come from: origins by JSON Pointer (RFC 6901), `""` for the whole. Throws where a pointer or an origin is none.
 *
 * `return withOrigins(mail, { "/body": ["sender:" + mail.from] })`
 */
export function withOrigins(value: unknown, parts: Parts): WithOrigins {
    for (const [pointer, origins] of Object.entries(parts)) {
        if (pointer !== "" && !pointer.startsWith("/")) throw new ToolFail(`'${pointer}' is no JSON Pointer; it begins with /`);
        if (!Array.isArray(origins) || !origins.every((one) => typeof one === "string" && one !== ""))
            throw new ToolFail(`the origins at '${pointer}' are not a list of texts`);
    }
    return new WithOrigins(value, parts);
}
