/**
 * The JSON Schema of a snapshot: a moment of a run, as `remit snapshot` prints it.
 *
 * Boundary: one version of the document; what a program's own values hold is any JSON.
 */
import { SNAPSHOT_SHAPES } from "../run/snapshot.ts";
import { type Schema, schemaOf } from "../shape/build.ts";
import { SITE } from "./effect.ts";

export function snapshotJsonSchema(): Schema {
    return schemaOf("snapshot-1", "Remit snapshot", ["Snapshot"], { ...SNAPSHOT_SHAPES, Site: SITE });
}
