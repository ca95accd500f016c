/**
 * The JSON Schema of a continuation: a whole image, or a delta that follows the document before it.
 *
 * Boundary: puts the shapes of `run/document.ts` together with those of effects.
 */
import type { ModelTurn } from "../effect/effect.ts";
import { CONTINUATION, type PendingDoc, SHAPES } from "../run/document.ts";
import { any, count, is, list, number, record, ref, type Schema, says, schemaOf, text } from "../shape/build.ts";
import { EFFECT_DEFS, effectOf } from "./effect.ts";

/** A model's turn whose request follows from the state of its `generate`. */
const TURN = effectOf("model", record<Pick<ModelTurn, "op" | "maxOutput">>({ op: is("turn") }, { maxOutput: number }));

/** Images and deltas, with the definitions of effects and outcomes that stand in them. */
export function continuationJsonSchema(): Schema {
    return schemaOf("continuation-1", `Remit continuation (${CONTINUATION.engine})`, ["Image", "Delta"], {
        ...SHAPES,
        Pending: record<PendingDoc>(
            {
                effect: any(ref("Effect"), TURN),
                fiber: count,
                slot: count,
                origin: text,
                account: says(count, "that pays"),
                held: says(list(number), "tokens and millionths of a dollar reserved in that account, then in those around it"),
            },
            {
                timer: says(count, "account whose time this is"),
                waits: says(count, "it is not asked for yet: account whose turns in flight have to be settled first"),
            },
        ),
        ...EFFECT_DEFS,
    });
}
