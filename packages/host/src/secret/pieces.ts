/**
 * JSON without the secrets in its texts: replaced for good, or by a reference that gives the same text back.
 *
 * Boundary: walks JSON; what a secret is, is the scrubber's.
 *
 * PI3: what holds no secret comes back as the same object: nothing is copied.
 * PI6: what is nested deeper than `MAX_NESTING` is refused with a `value` failure, not walked.
 * PI8: `revealed(concealed(x))` equals `x` for every JSON value, also one that looks like a concealed one: such an object is written as entries.
 */
import type { Json } from "@remit/language";
import { mapped as parts } from "@remit/machine";
import { RemitError } from "../failure/error.ts";

/** In the place of a secret: the name of its reference (`SecretRef`), and the form in which it stood there. */
export interface Piece {
    readonly $secret: string;
    readonly as: string;
}

/** Deeper than any value of a program may be nested; what the world says may be deeper than the stack. */
const MAX_NESTING = 1_000;
/** Of a text: its parts, texts and `Piece`s. */
const PIECES = "$pieces";
/** Of an object: its keys and values, where a key holds a secret or is one of these two. */
const ENTRIES = "$entries";

/** Whether `test` holds for a text of it, keys included. Makes nothing, so that what holds no secret costs little: it is nearly everything. */
export function holds(json: Json, test: (text: string) => boolean, depth = 0): boolean {
    if (typeof json === "string") return test(json);
    if (json === null || typeof json !== "object") return false;
    if (depth > MAX_NESTING) throw tooDeep();
    if (Array.isArray(json)) {
        for (let i = 0; i < json.length; i++) if (holds(json[i] as Json, test, depth + 1)) return true;
        return false;
    }
    for (const key in json) if (test(key) || holds((json as JsonObject)[key] as Json, test, depth + 1)) return true;
    return false;
}

/** Whether a key is one that a concealed value has, so that it is not left as it is (PI8). */
export function isReserved(key: string): boolean {
    return key === PIECES || key === ENTRIES;
}

/** With every text, keys included, as `text` gives it. */
export function mapped(json: Json, text: (text: string) => string): Json {
    return walked(json, text, (given, inner) =>
        Object.keys(given).some((key) => text(key) !== key) ? ownObject(entriesOf(given, text, inner)) : undefined,
    );
}

export function concealed(json: Json, pieces: (text: string) => string | readonly (string | Piece)[]): Json {
    const text = (given: string): Json => {
        const found = pieces(given);
        return typeof found === "string" ? found : { [PIECES]: found as unknown as Json[] };
    };
    const strange = (key: string): boolean => isReserved(key) || typeof pieces(key) !== "string";
    return walked(json, text, (given, inner) =>
        Object.keys(given).some(strange) ? { [ENTRIES]: entriesOf(given, text, inner) } : undefined,
    );
}

export function revealed(json: Json, secret: (piece: Piece) => string): Json {
    const text = (given: Json): string =>
        typeof given === "string"
            ? given
            : ((given as { [PIECES]: (string | Piece)[] })[PIECES] ?? [])
                  .map((one) => (typeof one === "string" ? one : secret(one)))
                  .join("");
    return walked(
        json,
        (given) => given,
        (given, inner) =>
            Object.hasOwn(given, PIECES)
                ? text(given)
                : Object.hasOwn(given, ENTRIES)
                  ? ownObject((given[ENTRIES] as [Json, Json][]).map(([key, value]) => [text(key), inner(value)]))
                  : undefined,
    );
}

type JsonObject = { readonly [key: string]: Json };

/** `instead`: what stands for an object, its values not yet done; `undefined`: it stands for itself. */
function walked(
    json: Json,
    text: (text: string) => Json,
    instead: (object: JsonObject, inner: (json: Json) => Json) => Json | undefined,
    depth = 0,
): Json {
    if (typeof json === "string") return text(json);
    if (json === null || typeof json !== "object") return json;
    if (depth > MAX_NESTING) throw tooDeep();
    const inner = (one: Json): Json => walked(one, text, instead, depth + 1);
    return (Array.isArray(json) ? undefined : instead(json, inner)) ?? parts(json, inner);
}

function tooDeep(): RemitError {
    return new RemitError({ kind: "value", message: `this value is nested more than ${MAX_NESTING} deep` });
}

function entriesOf<K extends Json>(given: JsonObject, key: (key: string) => K, inner: (json: Json) => Json): [K, Json][] {
    return Object.entries(given).map(([name, value]) => [key(name), inner(value)]);
}

/** `__proto__` is a key like any other. */
function ownObject(entries: readonly (readonly [string, Json])[]): Json {
    const made: { [key: string]: Json } = Object.create(null);
    for (const [key, value] of entries) made[key] = value;
    return made;
}
