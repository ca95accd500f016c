/**
 * Effects that a person answers.
 *
 * Boundary: from the caller's handlers to outcomes. Nobody there to answer means no.
 */
import type { AskRequest, Effect, InputRequest, Outcome } from "@remit/machine";
import type { Performers } from "./host.ts";
import type { Handlers } from "./setup.ts";

/** The questions of a program to a person, and the answer where nobody is there. */
export function people(on: Handlers): Performers {
    return {
        ask: async (effect, io) => {
            const request = effect.request as unknown as AskRequest;
            if (on.ask === undefined) return denied(effect, request);
            const said = await on.ask(request, { effect, signal: io.signal });
            if (said === null) return { later: true };
            if (!request.options.includes(said)) return denied(effect, request);
            return { ok: true, value: said, origins: ["user"] };
        },
        input: async (effect, io) => {
            const request = effect.request as unknown as InputRequest;
            const said = await on.input?.(request, { effect, signal: io.signal });
            if (said === null) return { later: true };
            if (said !== undefined) return { ok: true, value: said, origins: ["user"] };
            const message = `Missing input '${request.name}' and no interactive input provider is available`;
            return { ok: false, failure: { kind: "contract", message, site: effect.site, hint: "give it with --input" } };
        },
    };
}

/** Nobody there to answer means no. */
function denied(effect: Effect, request: AskRequest): Outcome {
    if (request.options.includes("deny")) return { ok: true, value: "deny", origins: [] };
    return { ok: false, failure: { kind: "denied", message: `nobody was there to answer: ${request.question}`, site: effect.site } };
}
