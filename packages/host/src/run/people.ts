/**
 * Input that a person gives.
 *
 * Boundary: from the caller's handlers to outcomes. Questions are in `approving.ts`.
 */
import type { Program } from "@remit/language";
import type { InputRequest } from "@remit/machine";
import { shapesAt } from "../input/answer.ts";
import type { Performers } from "./host.ts";
import type { Handlers } from "./setup.ts";

/** `park`: what cannot be answered now waits. */
export function people(program: Program, on: Handlers, park: boolean): Performers {
    return {
        input: async (effect, io) => {
            const request = effect.request as unknown as InputRequest;
            const said =
                on.input === undefined
                    ? null
                    : await on.input(request, { effect, signal: io.signal, shapes: shapesAt(program, effect.site) });
            if (said !== null) return { ok: true, value: said, origins: ["user"] };
            if (on.input !== undefined || park) return { later: true };
            const message = `Missing input '${request.name}': no value was given, and there is no person to ask`;
            return { ok: false, failure: { kind: "contract", message, site: effect.site, hint: "give it with --input" } };
        },
    };
}
