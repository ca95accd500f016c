/**
 * A call that a person allowed, and whose tool is not what it was then.
 *
 * Boundary: the question about it, and what a yes for the session tells the machine, which keeps what was allowed (`state/verdicts.ts`). What a tool
 * says now its performer knows.
 *
 * AV3: a call that was allowed is made only while the tool describes its method as it did when it was allowed; otherwise it is asked about again.
 */
import { type Json, shownUse } from "@remit/language";
import { calledMethod } from "../authority/methods.ts";
import type { AskRequest, Effect, Outcome, ToolRequest } from "../effect/effect.ts";
import { describedIn, REDESCRIBED } from "../state/verdicts.ts";

/** The question about a call whose tool is not what it was. */
export function changed({ path, principal, site, labels, request }: Effect): Effect {
    const { tool, uri, file, method = "", args = [], chosenBy = "program" } = request as unknown as ToolRequest;
    const about: Json = {
        principal,
        capability: `${tool}.${method}`,
        why: "changed",
        clause: null,
        ...{ kind: "tool", tool, uri, file, method, args, chosen_by: chosenBy },
        origins: { "*": [...labels] },
        site: site as unknown as Json,
    };
    const question = `${shownUse(`${tool}.${method}`, uri)} is not described as it was when it was allowed. May it be called all the same?`;
    const ask: AskRequest = { question, detail: about, options: ["once", "session", "deny", "abort"] };
    return { path: `${path}${REDESCRIBED}`, kind: "ask", principal, site, request: ask as unknown as Json, labels };
}

/** What the machine is told of an answer that holds for the rest of the run. */
export function kept(value: Json, answer: Outcome): Outcome {
    const described = describedIn(answer);
    return { ok: true, value, origins: ["user"], ...(described === "" ? {} : { described }) };
}

/** What the machine is told of a yes for the session: every such yes holds for the tool as it is now. */
export function redescribed(call: Effect, outcome: Outcome): Outcome | null {
    if (!outcome.ok || outcome.value !== "session") return null;
    return kept({ principal: call.principal, ...calledMethod(call) }, outcome);
}
