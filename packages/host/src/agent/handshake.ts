/**
 * Reading what an agent is sent (`remit-yield/1`, PROTOCOLS 4), as stubs and recordings need it.
 *
 * Boundary: JSON out of a prompt, and nothing decided. What is no handshake is null.
 */
import { type ExprForm, isObject, type Json, printFormExpr } from "@remit/language";
import type { AgentPart, AgentTurn } from "@remit/machine";

export type JsonObject = { readonly [key: string]: Json };

/** A part that holds a document of the protocol. */
export function handshakeOf(part: AgentPart): JsonObject | null {
    if (part.type !== "resource") return null;
    let json: Json;
    try {
        json = JSON.parse(part.text) as Json;
    } catch {
        // A resource of another kind.
        return null;
    }
    return isObject(json) && typeof json.format === "string" && json.format.startsWith("remit-yield/") ? json : null;
}

/** Names that the answer's parameters must have behind `agent`; null where a turn asks for no function, or does not say which. */
export function paramsOf(turn: AgentTurn): readonly string[] | null {
    for (const part of turn.prompt) {
        const params = handshakeOf(part)?.params;
        if (Array.isArray(params)) return params.map((one) => (isObject(one) && typeof one.name === "string" ? one.name : "_"));
    }
    return null;
}

/** A JSON value as source of the language. */
export function literalOf(json: Json): string {
    // control characters as the language escapes them, not as JSON does
    return printFormExpr(formOf(json)).replace(/\\\\|\\([bf]|u[0-9a-f]{4})/g, (all: string, code: string | undefined) =>
        code === undefined ? all : `\\u{${code === "b" ? "8" : code === "f" ? "c" : code.slice(1)}}`,
    );
}

function formOf(json: Json): ExprForm {
    if (Array.isArray(json)) return { kind: "list", items: json.map(formOf) };
    if (isObject(json))
        return { kind: "object", entries: Object.entries(json).map(([key, value]) => ({ kind: "entry", key, value: formOf(value) })) };
    return { kind: "literal", value: json as string | number | boolean | null };
}

export function functionText(params: readonly string[], body: string): string {
    return fenced(`func answer(${["agent", ...params].join(", ")}) {\n    ${body}\n}`);
}

/** In a fence that its text cannot end. */
export function fenced(source: string, tag = "remit"): string {
    let fence = "```";
    while (source.includes(fence)) fence += "`";
    return `${fence}${tag}\n${source}\n${fence}\n`;
}
