/**
 * Failures as values: what `catch` binds and what `raise` makes.
 *
 * FA1: a caught failure is an object `{kind, message, site, detail}` that carries the origins of what it shows.
 * FA2: a caught failure that is raised again keeps its kind, message and detail. The kinds of limits and violations are the machine's alone: code
 *     that raises one of them fails with `raised`.
 */
import { isObject, type Json, type Site } from "@remit/language";
import type { Runtime } from "../builtin/builtin.ts";
import { FAILURE_KINDS, type FailureKind } from "../effect/effect.ts";
import { Fail } from "../effect/failure.ts";
import { fromJson, toJson } from "../value/json.ts";
import { labelOf } from "../value/operators.ts";
import { Labelled, type Value } from "../value/value.ts";

export function failureValue(rt: Runtime, fail: Fail): Value {
    const made = rt.heap.object([
        ["kind", fail.kind],
        ["message", fail.message],
        ["site", fail.site === null ? null : fromJson({ ...fail.site }, rt.heap)],
        ["detail", fail.detail === undefined ? null : fromJson(fail.detail, rt.heap)],
    ]);
    return fail.labels === 0 ? made : new Labelled(made, fail.labels);
}

/** A string is the message; an object is a failure that was caught (FA2), or the detail, and its `message` the message if it is a string. */
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
    const { kind, message, detail } = isObject(json) ? json : ({} as { readonly [key: string]: Json });
    if (typeof message !== "string") return new Fail("raised", JSON.stringify(json), { site, labels, detail: json });
    if (!isFailure(kind) || !isCaught(json)) return new Fail("raised", message, { site, labels, detail: json });
    return new Fail(kind, message, { site, labels, ...(detail === undefined || detail === null ? {} : { detail }) });
}

/** As `failureValue` makes it: an object of the program's own that has a `kind` is none. */
function isCaught(json: Json): boolean {
    return Object.keys(json as object).join() === "kind,message,site,detail";
}

function isFailure(kind: Json | undefined): kind is FailureKind {
    return typeof kind === "string" && Object.hasOwn(FAILURE_KINDS, kind) && FAILURE_KINDS[kind as FailureKind] === "failure";
}
