/**
 * A value and where parts of it come from, as a function of the calling program may say it.
 *
 * Boundary: a shape. What is said is added to `tool:NAME`, never in its place: a function cannot make its result more trusted.
 */
import { ToolFail } from "./tool.ts";

export type Parts = { readonly [pointer: string]: readonly string[] };

/** A project's modules may have a copy of this package of their own: its class is another, its mark is this one. */
const MARK = Symbol.for("remit-lang:with-origins");

export class WithOrigins {
    readonly [MARK] = true;
    readonly value: unknown;
    readonly parts: Parts;
    constructor(value: unknown, parts: Parts) {
        this.value = value;
        this.parts = parts;
    }
}

/** What a function gave, where it says where parts of it come from. Throws `ToolFail` where a pointer or an origin is none. */
export function sourcedBy(gave: unknown): WithOrigins | null {
    if (gave instanceof WithOrigins) return gave;
    if (typeof gave !== "object" || gave === null || !Object.hasOwn(gave, MARK)) return null;
    const { value, parts } = gave as WithOrigins;
    return withOrigins(value, parts);
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

/** What a function failed with, and where what it tells comes from: added to `tool:NAME`, as for a value. */
export class FailedWithOrigins extends Error {
    override readonly name: string = "FailedWithOrigins";
    readonly [MARK] = true;
    readonly origins: readonly string[];
    constructor(message: string, origins: readonly string[]) {
        super(message);
        this.origins = origins;
    }
}

/** Origins that a function said of what it failed with. */
export function originsOfFailure(error: unknown): readonly string[] {
    if (!Error.isError(error) || !Object.hasOwn(error, MARK)) return [];
    const { origins } = error as FailedWithOrigins;
    return Array.isArray(origins) ? origins.filter((one) => typeof one === "string" && one !== "") : [];
}
