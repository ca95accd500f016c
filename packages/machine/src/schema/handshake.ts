/**
 * The JSON Schema of the handshake of a yield: the document that an agent is sent (`agent/handshake.ts`).
 *
 * Boundary: one version of the document. What it answers with, as program form, is the language's `program-form-1`, which `answer.schema` names.
 */
import { HANDSHAKE, HANDSHAKE_SHAPES } from "../agent/handshake.ts";
import { type Schema, schemaOf } from "../shape/build.ts";

export function handshakeJsonSchema(): Schema {
    return schemaOf("remit-yield-1", `Remit yield handshake (${HANDSHAKE})`, ["Handshake"], HANDSHAKE_SHAPES);
}
