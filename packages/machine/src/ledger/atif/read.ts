/**
 * ATIF: reading trajectories of every version from 1.0 to 1.8.
 *
 * Boundary: from JSON to the one shape that the rest works with. Lax where Harbor's own reader is: a number in a text, another spelling of a
 * type of sound, a missing version.
 *
 * REA1: nothing is lost: what comes out equals what came in, but for nulls of absent fields and the laxities above.
 */
import type { Json } from "@remit/language";
import { type AtifCheckOptions, type AtifProblem, asBoolean, asInteger, asNumber, checkTrajectory } from "./check.ts";
import { audioType, type JsonObject, type Kind, SHAPES, type ShapeName, type Trajectory } from "./types.ts";

export type ReadTrajectory =
    | { readonly ok: true; readonly trajectory: Trajectory; readonly notes: readonly AtifProblem[] }
    | { readonly ok: false; readonly problems: readonly AtifProblem[] };

export function readTrajectory(given: Json, options: Omit<AtifCheckOptions, "writing"> = {}): ReadTrajectory {
    const problems = checkTrajectory(given, options);
    if (problems.some((one) => one.severity === "error")) return { ok: false, problems };
    const whole = normal({ schema_version: "ATIF-v1.8", ...(given as JsonObject) }, { shape: "Trajectory" });
    return { ok: true, trajectory: whole as unknown as Trajectory, notes: problems };
}

function normal(value: Json, as: Kind): Json {
    if (typeof as === "object") {
        if ("shape" in as) return fields(value as JsonObject, as.shape as ShapeName);
        if ("list" in as) return (value as Json[]).map((item) => normal(item, as.list));
        return value;
    }
    if (as === "integer") return asInteger(value) as number;
    if (as === "number") return asNumber(value) as number;
    if (as === "boolean") return asBoolean(value) as boolean;
    if (as === "effort") return typeof value === "string" ? value : (asNumber(value) as number);
    if (as === "content" && Array.isArray(value)) return value.map((part) => fields(part as JsonObject, "ContentPart"));
    return value;
}

function fields(value: JsonObject, name: ShapeName): Json {
    const table = SHAPES[name];
    const out: JsonObject = {};
    for (const key of Object.keys(value)) {
        const held = value[key] as Json;
        if (held === null) continue;
        out[key] = normal(held, table[key]?.kind ?? "object");
        if (name === "Source" && key === "media_type") out[key] = audioType(held as string) ?? held;
        if (name === "Trajectory" && key === "subagent_trajectories")
            out[key] = (out[key] as JsonObject[]).map((one) => ({ schema_version: "ATIF-v1.8", ...one }));
    }
    return out;
}
