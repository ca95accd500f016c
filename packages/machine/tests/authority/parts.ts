/** Parts of a program that run elsewhere, carried out as a host does: each is a run of its own, and its outcome has what its end tells. */
import type { Json, Program } from "@remit/language";
import type { Effect, Outcome, RunRequest } from "../../src/index.ts";
import { type Asked, once } from "./running.ts";

export function partOf(form: Program, { request }: Effect, { options, ...how }: Asked): Outcome {
    const { entry, path, bindings, input, backend, evidence, uses, met, rows, under } = request as unknown as RunRequest;
    const more = {
        ...(evidence === undefined ? {} : { evidence }),
        ...(uses === undefined ? {} : { uses }),
        ...(met === undefined ? {} : { met }),
        ...(rows === undefined ? {} : { rows }),
        ...(under === undefined ? {} : { under }),
    };
    const part = { ...options, entry, path, bindings, backend, input: input.json, inputLabels: input.origins, ...more };
    const { result, events } = once(form, { ...how, options: part });
    const { labels, data } = events.at(-1) as { labels: readonly string[]; data: Json };
    const {
        uses: used,
        met: read,
        rows: came,
        bindings: gave,
    } = data as Pick<Outcome & { ok: true }, "uses" | "met" | "rows" | "bindings">;
    const end = {
        origins: [...labels],
        ...(used === undefined ? {} : { uses: used }),
        ...(read === undefined ? {} : { met: read }),
        ...(came === undefined ? {} : { rows: came }),
    };
    return result.ok
        ? { ok: true, value: result.value, ...end, ...(gave === undefined ? {} : { bindings: gave }) }
        : { ok: false, failure: result.failure, ...end };
}
