/**
 * What a client is told of a call: its value, its failure, a question of it, each in the protocol's shapes.
 *
 * Boundary: pure; from runs and questions to results.
 */
import { type CallToolResult, isSpecType } from "@modelcontextprotocol/server";
import type { RemitError, RunResult } from "@remit/host";
import { isObject, type Json, plain, safeJson } from "@remit/language";
import type { JsonObject } from "../faces/entries.ts";
import type { Call } from "./calls.ts";
import { statedOf } from "./stated.ts";

/** `origins`: of what is told. */
export function resultOf(
    run: string,
    { result, origins }: { readonly result: RunResult; readonly origins: readonly string[] | undefined },
    { entry, origins: own }: Pick<Call, "entry" | "origins">,
): CallToolResult {
    const about = { "remit/run": run, ifc: { ...statedOf(origins, own) } };
    if (!result.ok) {
        const { kind = "error", message = "it failed", hint } = result.failure ?? {};
        return failed(hint === undefined ? message : `${message}\n${hint}`, { ...about, "remit/kind": kind });
    }
    const value = result.value ?? null;
    const parts = partsOf(value);
    // What a client is told of it as data beside its parts, only where the tool says what it gives.
    if (parts !== null && entry.output === undefined) return { content: parts, ...besides(value), _meta: about };
    const text = typeof value === "string" ? value : safeJson(value, 2);
    const structuredContent = stated(entry.outputOf(value), entry.output ?? {}) as JsonObject;
    return { content: parts ?? [{ type: "text", text }], structuredContent, _meta: about };
}

/**
 * TLD1: content of a client's own protocol goes out as it is, without what its maker says of it (`_meta`): labels are stated of the whole. Such content
 *     is what a tool of an MCP server gave, `{ content: […] }`, or a picture or a sound, `{ media_type, data }`. Null: the value is none.
 */
function partsOf(value: Json): CallToolResult["content"] | null {
    if (!isObject(value)) return null;
    const { media_type: mimeType, data, content } = value;
    if (typeof mimeType === "string" && typeof data === "string") {
        const kind = /^(image|audio)\//.exec(mimeType)?.[1];
        const part = { type: kind, mimeType, data };
        return isSpecType.ContentBlock(part) ? [part] : null;
    }
    if (!Array.isArray(content) || content.length === 0) return null;
    const parts = content.map((one) => withoutMeta(one));
    return parts.every((one) => isSpecType.ContentBlock(one)) ? parts : null;
}

/** Of what a tool of an MCP server gave, what is no part of its content. */
function besides(value: Json): Pick<CallToolResult, "structuredContent" | "isError"> {
    if (!isObject(value)) return {};
    const { structured, isError } = value;
    return { ...(isObject(structured) ? { structuredContent: structured } : {}), ...(isError === true ? { isError } : {}) };
}

/** Of a part, and of the resource in it. */
function withoutMeta(part: Json): Json {
    if (!isObject(part)) return part;
    const { _meta: _said, resource, ...rest } = part;
    return { ...rest, ...(resource === undefined ? {} : { resource: withoutMeta(resource) }) };
}

export function failed(message: string, about?: { readonly [key: string]: Json }): CallToolResult {
    return { isError: true, content: [{ type: "text", text: plain(message) }], ...(about === undefined ? {} : { _meta: { ...about } }) };
}

export function failedBy({ kind, failure: { message, hint } }: RemitError): CallToolResult {
    return failed(hint === undefined ? message : `${message}\n${hint}`, { "remit/kind": kind });
}

/** Fields that hold nothing are left out where the schema lets them be absent: there it has no word for nothing. */
function stated(value: Json, schema: Json): Json {
    if (!isObject(schema)) return value;
    if (Array.isArray(value)) return value.map((one) => stated(one, schema["items"] ?? {}));
    const { properties, required } = schema;
    if (!isObject(value) || !isObject(properties)) return value;
    const must = Array.isArray(required) ? required : [];
    const kept = Object.entries(value).filter(([name, one]) => one !== null || must.includes(name));
    return Object.fromEntries(
        kept.map(([name, one]) => [name, stated(one, Object.hasOwn(properties, name) ? (properties[name] as Json) : {})]),
    );
}
