/**
 * The JSON Schema of a ledger event as the stream form has it, one a line.
 *
 * Boundary: the sealed event, whole or with parts removed. What each kind has in `data` is said in the documentation, not here; whether the
 * hashes fit is for `verifyChain`.
 */
import { EVENT, HASH, REMOVED } from "../ledger/seal.ts";
import { type Schema, schemaOf } from "../shape/build.ts";
import { SITE } from "./effect.ts";

export function ledgerEventJsonSchema(): Schema {
    return schemaOf("ledger-event-1", "Remit ledger event", ["Event"], { Event: EVENT, Hash: HASH, Removed: REMOVED, Site: SITE });
}
