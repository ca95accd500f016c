/**
 * The one way in which an agent's session fails inside this folder.
 *
 * Boundary: a failure on its way to an outcome; what is said to whom is decided where it is thrown.
 */
import type { Json } from "@remit/language";
import type { Effect, Failure, FailureKind, Usage } from "@remit/machine";

export class AgentFail extends Error {
    override readonly name = "AgentFail";
    readonly kind: FailureKind;
    readonly hint: string | undefined;
    readonly detail: { readonly [key: string]: Json } | undefined;
    readonly usage: Usage | undefined;
    constructor(kind: FailureKind, message: string, more: Partial<Pick<AgentFail, "hint" | "detail" | "usage">> = {}) {
        super(message);
        this.kind = kind;
        this.hint = more.hint;
        this.detail = more.detail;
        this.usage = more.usage;
    }
}

export function failureOf(error: AgentFail, agent: string, effect: Effect): Failure {
    return {
        kind: error.kind,
        message: `Agent ${agent}: ${error.message}`,
        site: effect.site,
        ...(error.detail === undefined ? {} : { detail: error.detail as Json }),
        ...(error.hint === undefined ? {} : { hint: error.hint }),
    };
}
