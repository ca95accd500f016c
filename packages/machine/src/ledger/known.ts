/**
 * Reading documents that were stored: one that a later version wrote is refused by the name of what it has and this version does not know.
 *
 * Boundary: the outermost fields and the closed words (kinds) of effects, outcomes, failures and events. Whether a value fits is for
 * who uses it; the published schemas say all of it.
 *
 * V1: a document with a field, kind or version that is not named here is an error, never read as if it were not there (`whatIsNew` gives a text).
 */
import { isObject, type Json } from "@remit/language";
import { effectShape, EFFECT_KINDS, FAILURE, FAILURE_KINDS, OUTCOMES, REQUESTS } from "../effect/effect.ts";
import { USAGE } from "../effect/usage.ts";
import { json as anything, one, type Schema } from "../shape/build.ts";
import { EVENT_KINDS } from "./events.ts";
import { EVENT } from "./seal.ts";

const EFFECT = effectShape(one(EFFECT_KINDS), anything);
const EVENT_KIND: ReadonlySet<string> = new Set(EVENT_KINDS);
type JsonObject = { readonly [key: string]: Json };

/** The first field of a document that its shape has not, or has and the document does not. */
export function fields(json: JsonObject, { properties, required }: Schema): string | null {
    for (const key of Object.keys(json)) if (!Object.hasOwn(properties as Schema, key)) return `it has a field '${key.slice(0, 40)}'`;
    for (const key of required as string[]) if (json[key] === undefined) return `it has no field '${key}'`;
    return null;
}

function unknownKind({ kind }: JsonObject, known: (kind: string) => boolean): string | null {
    return typeof kind === "string" && known(kind) ? null : `its kind is ${JSON.stringify(kind)?.slice(0, 40)}`;
}

/** What in a stored document this version does not know, as the end of a sentence; null where it knows all of it. */
export const whatIsNew = {
    effect: (json: Json): string | null =>
        isObject(json) ? (fields(json, EFFECT) ?? unknownKind(json, (kind) => Object.hasOwn(REQUESTS, kind))) : "it is no object",
    outcome: (json: Json): string | null => {
        if (!isObject(json)) return "it is no object";
        if (typeof json.ok !== "boolean") return "it does not say whether it is ok";
        const found = fields(json, json.ok ? OUTCOMES.done : OUTCOMES.failed);
        if (found !== null) return found;
        const usage = json.usage === undefined ? null : isObject(json.usage) ? fields(json.usage, USAGE) : "it is no object";
        if (usage !== null) return `of its usage ${usage}`;
        const failure = json.ok ? null : whatIsNew.failure(json.failure as Json);
        return failure === null ? null : `of its failure ${failure}`;
    },
    failure: (json: Json): string | null =>
        isObject(json) ? (fields(json, FAILURE) ?? unknownKind(json, (kind) => Object.hasOwn(FAILURE_KINDS, kind))) : "it is no object",
    event: (json: Json): string | null =>
        isObject(json) ? (fields(json, EVENT) ?? unknownKind(json, (kind) => EVENT_KIND.has(kind))) : "it is no object",
};
