/**
 * Reading documents that were stored: one that a later version wrote is refused by the name of what it has and this version does not know.
 *
 * Boundary: the outermost fields and the closed words (kinds) of effects, outcomes, failures and events. Whether a value fits is for
 * who uses it; the published schemas say all of it.
 *
 * V1: a document with a field, kind or version that is not named here is an error, never read as if it were not there (`whatIsNew` gives a text).
 */
import { isObject, type Json } from "@remit/language";
import { type Effect, type EffectKind, FAILURE_KINDS, type Failure, type Outcome, type Usage } from "../effect/effect.ts";
import { EVENT_KINDS, type MachineEvent } from "./events.ts";
import type { SealedEvent } from "./seal.ts";

/** Every field of a document: true where it is always there. */
type Fields<T> = { readonly [K in keyof T]-?: boolean };

const EFFECT: Fields<Effect> = {
    path: true,
    kind: true,
    principal: true,
    site: true,
    request: true,
    labels: true,
    deadline: false,
    attempt: false,
    allowed: false,
};
const EFFECT_KINDS: { readonly [K in EffectKind]: true } = {
    model: true,
    tool: true,
    agent: true,
    author: true,
    ask: true,
    input: true,
    recall: true,
    remember: true,
    sleep: true,
    clock: true,
    random: true,
};
const DONE: Fields<Extract<Outcome, { readonly ok: true }>> = { ok: true, value: true, origins: true, parts: false, usage: false };
const FAILED: Fields<Extract<Outcome, { readonly ok: false }>> = { ok: true, failure: true, origins: false, usage: false };
const FAILURE: Fields<Failure> = { kind: true, message: true, site: false, detail: false, hint: false };
const USAGE: Fields<Usage> = { input: false, cached: false, output: false, reasoning: false, usd: false };
const MACHINE_EVENT: Fields<MachineEvent> = { path: true, parent: true, kind: true, principal: true, site: true, labels: true, data: true };
const EVENT: Fields<SealedEvent> = {
    ...MACHINE_EVENT,
    seq: true,
    time: true,
    run: true,
    prev: true,
    hash: true,
    salt: false,
    removed: false,
};
const EVENT_KIND: ReadonlySet<string> = new Set(EVENT_KINDS);
type JsonObject = { readonly [key: string]: Json };

/** The first field of a document that is not known, or known and not there. */
export function fields(json: JsonObject, known: { readonly [key: string]: boolean }): string | null {
    for (const key of Object.keys(json)) if (!Object.hasOwn(known, key)) return `it has a field '${key.slice(0, 40)}'`;
    for (const key of Object.keys(known)) if (known[key] === true && json[key] === undefined) return `it has no field '${key}'`;
    return null;
}

function word(json: JsonObject, key: string, known: (word: string) => boolean): string | null {
    const said = json[key];
    return typeof said === "string" && known(said) ? null : `its ${key} is ${JSON.stringify(said)?.slice(0, 40)}`;
}

/** What in a stored document this version does not know, as the end of a sentence; null where it knows all of it. */
export const whatIsNew = {
    effect: (json: Json): string | null =>
        isObject(json) ? (fields(json, EFFECT) ?? word(json, "kind", (kind) => Object.hasOwn(EFFECT_KINDS, kind))) : "it is no object",
    outcome: (json: Json): string | null => {
        if (!isObject(json)) return "it is no object";
        if (typeof json.ok !== "boolean") return "it does not say whether it is ok";
        const found = fields(json, json.ok ? DONE : FAILED);
        if (found !== null) return found;
        const usage = json.usage === undefined ? null : isObject(json.usage) ? fields(json.usage, USAGE) : "it is no object";
        if (usage !== null) return `of its usage ${usage}`;
        const failure = json.ok ? null : whatIsNew.failure(json.failure as Json);
        return failure === null ? null : `of its failure ${failure}`;
    },
    failure: (json: Json): string | null =>
        isObject(json) ? (fields(json, FAILURE) ?? word(json, "kind", (kind) => Object.hasOwn(FAILURE_KINDS, kind))) : "it is no object",
    event: (json: Json): string | null =>
        isObject(json) ? (fields(json, EVENT) ?? word(json, "kind", (kind) => EVENT_KIND.has(kind))) : "it is no object",
};
