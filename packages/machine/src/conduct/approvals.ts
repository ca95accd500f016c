/**
 * What a person allowed, and as what: the tool's own description of its method at that moment.
 *
 * Boundary: from questions and answers to whether a call is still what was allowed. What a tool says now its performer knows.
 *
 * AV3: a call that was allowed is made only while the tool describes its method as it did when it was allowed; otherwise it is asked about again.
 */
import { canonicalJson, isObject, type Json } from "@remit/language";
import { aliasOfJson } from "../authority/given.ts";
import type { AskRequest, Effect, ToolRequest } from "../effect/effect.ts";

/** A method of an import. */
export interface MethodOf {
    readonly tool: string;
    readonly uri: string;
    readonly file: string;
    readonly method: string;
}

/** A question that was answered with a yes. `schema`: hash of what the tool said of its method when it was asked. */
export interface Approval {
    readonly path: string;
    readonly detail: Json;
    readonly decision: string;
    readonly schema: string;
}

const AGAIN = /\/ask(?:\/changed)?$/;

export class Approvals {
    /** By path of the call. */
    private readonly once = new Map<string, Approval>();
    /** By principal and method. */
    private readonly sessions = new Map<string, Approval>();

    constructor(before: readonly Approval[] = []) {
        for (const one of before) this.keep(one);
    }

    keep(one: Approval): void {
        const method = askedMethod(one.detail);
        if (method === null || (one.decision !== "once" && one.decision !== "session")) return;
        this.once.set(one.path.replace(AGAIN, ""), one);
        if (one.decision === "session") this.sessions.set(keyOf((one.detail as { [key: string]: Json }).principal as Json, method), one);
    }

    /** The question of an effect was answered. */
    answered({ path, request }: Effect, value: Json, schema: string): void {
        const { detail } = request as unknown as AskRequest;
        this.keep({ path, detail, decision: String(value), schema });
    }

    /** What stands for a call that is about to be made; null where nobody was asked about it. */
    of(effect: Effect): Approval | null {
        const method = this.once.size + this.sessions.size === 0 ? null : calledMethod(effect);
        if (method === null) return null;
        return this.once.get(effect.path) ?? this.sessions.get(keyOf(effect.principal, method)) ?? null;
    }

    /** The call was made. */
    made(path: string): void {
        this.once.delete(path);
    }
}

/** The question about a call whose tool is not what it was. */
export function changed({ path, principal, site, labels, request }: Effect, { detail }: Approval): Effect {
    const { tool, method = "", args = [] } = request as unknown as ToolRequest;
    const before = isObject(detail) ? detail : {};
    const isSame = canonicalJson(args) === canonicalJson(before.args ?? []);
    const about: Json = { ...before, args, origins: isSame ? (before.origins ?? {}) : { "*": [...labels] }, why: "changed" };
    const question = `${tool}.${method} is not described as it was when it was allowed. May it be called all the same?`;
    const ask: AskRequest = { question, detail: about, options: ["once", "session", "deny", "abort"] };
    return { path: `${path}/ask/changed`, kind: "ask", principal, site, request: ask as unknown as Json, labels };
}

/** The tool's method that a question is about; null where it is about something else. */
export function askedMethod(detail: Json): MethodOf | null {
    if (!isObject(detail)) return null;
    const { tool, uri, file, method, kind = "tool" } = detail;
    if (typeof tool !== "string" || typeof uri !== "string" || typeof file !== "string" || typeof method !== "string") return null;
    return kind === "tool" ? { tool, uri, file, method } : null;
}

/** The method that a call calls: of the generic call of a tool server the one that it names. */
export function calledMethod({ kind, request }: Effect): MethodOf | null {
    const { op, tool, uri, file, method, args = [] } = request as unknown as ToolRequest;
    if (kind !== "tool" || op !== "call" || method === undefined) return null;
    return { tool, uri, file, method: aliasOfJson(uri, method, args[0] ?? null)?.method ?? method };
}

function keyOf(principal: Json, { tool, uri, file, method }: MethodOf): string {
    return canonicalJson([principal, tool, uri, file, method]);
}
