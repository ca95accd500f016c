/**
 * Which method of which import a question or a call is about.
 *
 * Boundary: pure, over requests.
 */
import { isObject, type Json } from "@remit/language";
import type { Effect, ToolRequest } from "../effect/effect.ts";
import { aliasOfJson } from "./given.ts";

/** A method of an import. */
export interface MethodOf {
    readonly tool: string;
    readonly uri: string;
    readonly file: string;
    readonly method: string;
}

/** The tool's method that a question is about; null where it is about something else. */
export function askedMethod(detail: Json): MethodOf | null {
    if (!isObject(detail)) return null;
    const { tool, uri, file, method, kind = "tool" } = detail;
    if (typeof tool !== "string" || typeof uri !== "string" || typeof file !== "string" || typeof method !== "string") return null;
    return kind === "tool" ? { tool, uri, file, method } : null;
}

/** The method that a call calls: of the generic call of a tool server the one that it names. */
export function calledMethod({ kind, request }: Pick<Effect, "kind" | "request">): MethodOf | null {
    const { op, tool, uri, file, method, args = [] } = request as unknown as ToolRequest;
    if (kind !== "tool" || op !== "call" || method === undefined) return null;
    return { tool, uri, file, method: aliasOfJson(uri, method, args[0] ?? null)?.method ?? method };
}
