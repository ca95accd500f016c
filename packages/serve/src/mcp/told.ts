/**
 * What a client is told of a call: its value, its failure, a question of it, each in the protocol's shapes.
 *
 * Boundary: pure; from runs and questions to results.
 */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { RemitError, RunResult } from "@remit/host";
import { isObject, type Json, plain, safeJson } from "@remit/language";
import type { JsonObject } from "../faces/entries.ts";
import { reasonOf } from "../faces/reason.ts";
import type { Call, Question } from "./calls.ts";
import { statedOf } from "./stated.ts";

const MAX_SHOWN = 4000;

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
    const text = typeof value === "string" ? value : safeJson(value, 2);
    const structuredContent = stated(entry.outputOf(value), entry.output ?? {}) as JsonObject;
    return { content: [{ type: "text", text }], structuredContent, _meta: about };
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

/** A question as a form with one field, `decision`. */
export function formOf({ request }: Question) {
    const requestedSchema = {
        type: "object" as const,
        properties: { decision: { type: "string" as const, title: "Decision", enum: [...request.options] } },
        required: ["decision"],
    };
    return { message: messageOf(request), requestedSchema };
}

function messageOf({ question, detail, options }: Question["request"]): string {
    const args = isObject(detail) && Array.isArray(detail["args"]) ? detail["args"] : [];
    const shown = safeJson(args.length === 1 ? (args[0] as Json) : args, 2);
    const cut = shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}\n… ${shown.length - MAX_SHOWN} more characters` : shown;
    return `${reasonOf(
        question,
        detail,
        options.map((one) => [one, one]),
    )}\n${plain(cut)}`;
}

/** What the person answered to that form; an answer that is not of the form is a no, and a cancel ends the run. */
export function decisionOf(said: unknown): string {
    const { action, content } = (said ?? {}) as { readonly action?: unknown; readonly content?: unknown };
    if (action === "cancel") return "abort";
    return action === "accept" && isObject(content) ? String(content["decision"]) : "deny";
}
