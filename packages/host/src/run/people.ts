/**
 * Input that a person gives.
 *
 * Boundary: from the caller's handlers to outcomes. Questions are in `approving.ts`.
 */
import type { InputRequest } from "@remit/machine";
import type { Performers } from "./host.ts";
import type { Handlers } from "./setup.ts";

export function people(on: Handlers): Performers {
    return {
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
