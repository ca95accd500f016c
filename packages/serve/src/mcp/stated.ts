/**
 * What is stated of a result to the client of an MCP server: `_meta.ifc`, as such servers state it and Remit reads it.
 *
 * Boundary: pure; the origins of a run's value in, two words out.
 *
 * STL1: what is not known to come from the caller's own words, the program or an endorsement is stated as not trusted; a model's own origin counts for nothing
 *     beside what it read. A value that some alone may read is private. Of a result whose origins are not known both are stated.
 */

/** In the words of `_meta.ifc`. */
export interface Stated {
    readonly integrity: "trusted" | "untrusted";
    readonly confidentiality: "public" | "private";
}

/** `origins`: undefined where they are not known; `own`: of the caller's arguments, whose labels the caller knows itself. */
export function statedOf(origins: readonly string[] | undefined, own: readonly string[]): Stated {
    const said = origins?.map((one) => one.replace(/^choice:/, ""));
    const isTrusted = said?.every(
        (one) => one === "user" || own.includes(one) || ["endorsed:", "model:", "only:"].some((prefix) => one.startsWith(prefix)),
    );
    const isPublic = said?.every((one) => !one.startsWith("only:"));
    return { integrity: isTrusted === true ? "trusted" : "untrusted", confidentiality: isPublic === true ? "public" : "private" };
}
