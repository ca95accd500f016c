/**
 * Idempotency keys: what is submitted again under a key is the same turn.
 *
 * Boundary: pure; whether a turn with the key is there, the session knows.
 */
import { defined, type Json } from "@remit/language";
import { canonicalJson } from "@remit/machine";
import { told } from "./pictures.ts";
import type { Submitted } from "./session.ts";
import type { Turn } from "./state.ts";

/** A key was used again for something else. */
export class KeyConflict extends Error {
    override readonly name = "KeyConflict";
}

/** Throws `KeyConflict` where the turn with the key is another one. */
export function checkSame(before: Turn, body: Submitted): void {
    const { text, input, inputOrigins, images, model } = before;
    const kept = defined({ text, input, inputOrigins, images, model });
    const again = defined({ ...body, images: body.images?.map(told) });
    if (canonicalJson(kept as Json) !== canonicalJson(again as unknown as Json)) throw new KeyConflict(before.id);
}
