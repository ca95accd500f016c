/**
 * Failures as values: what `catch` binds and what `raise` makes.
 *
 * F1: a caught failure is an object `{kind, message, site, detail}` that carries the origins of what it shows.
 */
import type { Json, Site } from "@remit/language";
import type { Runtime } from "../builtin/builtin.ts";
import { Fail } from "../effect/failure.ts";
import { fromJson, toJson } from "../value/json.ts";
import { labelOf, rawOf } from "../value/operators.ts";
import { Labelled, Obj, type Value } from "../value/value.ts";

export function failureValue(rt: Runtime, fail: Fail): Value {
    const made = rt.heap.object([
        ["kind", fail.kind],
        ["message", fail.message],
        ["site", fail.site === null ? null : fromJson({ ...fail.site }, rt.heap)],
        ["detail", fail.detail === undefined ? null : fromJson(fail.detail, rt.heap)],
    ]);
    return fail.labels === 0 ? made : new Labelled(made, fail.labels);
}

/** A string is the message; an object is the detail, and its `message` the message if it is a string. */
export function raisedFailure(rt: Runtime, value: Value, site: Site | null): Fail {
    let json: Json;
    let labels = labelOf(value);
    try {
        const out = toJson(value, rt);
        json = out.json;
        labels = rt.labels.union(labels, out.labels);
    } catch (error) {
        if (error instanceof Fail && error.site === null) error.site = site;
        throw error;
    }
    if (typeof json === "string") return new Fail("raised", json, { site, labels });
    const raw = rawOf(value);
    const said = raw instanceof Obj ? raw.get("message") : undefined;
    const message = said === undefined ? null : rawOf(said);
    return new Fail("raised", typeof message === "string" ? message : JSON.stringify(json), { site, labels, detail: json });
}
