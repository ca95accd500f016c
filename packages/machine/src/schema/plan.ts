/**
 * The JSON Schema of the plan of a block, which people and other programs read before anything runs.
 *
 * Boundary: the document. What it must be besides to run is `plan/validate.ts`.
 */
import { PLAN_SHAPES } from "../plan/plan.ts";
import { type Schema, schemaOf } from "../shape/build.ts";
import { SITE } from "./effect.ts";

export function planJsonSchema(): Schema {
    return schemaOf("plan-1", "Remit plan of a block", ["Plan"], { ...PLAN_SHAPES, Site: SITE });
}
