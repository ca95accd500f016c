/**
 * The JSON Schema of a ledger event as the stream form has it, one a line.
 *
 * Boundary: the sealed event, whole or with parts removed. What each kind has in `data` is said in the documentation, not here; whether the
 * hashes fit is for `verifyChain`.
 */
import { EVENT_KINDS } from "../ledger/events.ts";
import { SALT_LENGTH, type SealedEvent } from "../ledger/seal.ts";
import { json, list, one, orNull, record, ref, type Schema, says, schemaOf, text } from "../shape/build.ts";
import { SITE } from "./effect.ts";

const PART_SALT = SALT_LENGTH / 3;
const HASH: Schema = { type: "string", pattern: "^[0-9a-f]{64}$" };

const EVENT = record<SealedEvent>(
    {
        seq: says({ type: "integer", minimum: 1 }, "place in the run's chain"),
        time: says({ type: "string", pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$" }, "ISO 8601, UTC"),
        run: text,
        path: text,
        parent: orNull(text),
        kind: one(EVENT_KINDS),
        principal: text,
        site: orNull(ref("Site")),
        labels: says(list(text), "sorted origins"),
        data: json,
        prev: says(ref("Hash"), "hash of the event before; zeros for the first"),
        hash: ref("Hash"),
        salt: says(
            { type: "string", pattern: `^(?:[0-9a-f]{${PART_SALT}}|-{${PART_SALT}}){3}$` },
            "a third for each part (labels, content, data); dashes where the part was removed",
        ),
    },
    { removed: ref("Removed") },
);

export function ledgerEventJsonSchema(): Schema {
    return schemaOf("ledger-event-1", "Remit ledger event", ["Event"], {
        Event: EVENT,
        Hash: HASH,
        Removed: says(
            record<NonNullable<SealedEvent["removed"]>>(
                {},
                { labels: ref("Hash"), content: { type: "string", pattern: "^(?:[0-9a-f]{64})?$" }, data: ref("Hash") },
            ),
            "commitments of removed parts; empty for content that the event did not have",
        ),
        Site: SITE,
    });
}
